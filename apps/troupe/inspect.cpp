#include "apps/troupe/commands.hpp"
#include "apps/troupe/engine.hpp"
#include "apps/troupe/inspect_report.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>
#include <memory>

namespace troupe::cli {
namespace {

struct options {
  engine_options engine;
  bool planned = false;
  bool json = false;
  std::string svg;
};

result<void> write_text(const std::string& file, const std::string& text) {
  std::ofstream out{file};
  out << text;
  out.close();
  if (!out)
    return troupe::fail(errc::internal, "cannot write '{}'", file);
  return {};
}

result<void> inspect(const options& with) {
  auto model = load_engine(with.engine);
  if (!model)
    return propagate(model);
  std::shared_ptr<const plan::plan> plan;
  if (with.planned || !with.svg.empty()) {
    auto made = (*model)->make_plan(input_dims((*model)->io(), with.engine));
    if (!made)
      return propagate(made);
    plan = *std::move(made);
  }
  if (!with.svg.empty()) {
    if (auto written = write_text(with.svg, memory_svg(with.engine.model, *plan)); !written)
      return written;
  }
  const auto text = with.json
                        ? inspect_json(**model, plan.get())
                                  .dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
                              + '\n'
                        : inspect_text(**model, plan.get());
  std::fputs(text.c_str(), stdout);
  return {};
}

} // namespace

action add_inspect(CLI::App& command) {
  auto with = std::make_shared<options>();
  add_model_options(command, with->engine);
  add_shape_options(command, with->engine);
  command.add_flag("--plan", with->planned,
                   "Also make a plan and show its kernels, why others were declined, its memory");
  auto* json = command.add_flag("--json", with->json, "Print one JSON document");
  command.add_option("--svg", with->svg, "Draw the memory of the plan into this file")
      ->type_name("FILE")
      ->excludes(json);
  return [with] {
    const auto done = inspect(*with);
    return done ? 0 : fail(done.error());
  };
}

} // namespace troupe::cli
