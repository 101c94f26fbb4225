#include "runtime/pipeline/parse.hpp"

#include "runtime/pipeline/toml_table.hpp"

#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

namespace troupe::pipeline {

namespace {

constexpr std::size_t max_text = std::size_t{1} << 20;

// "when" and "unless": a BOOL tensor's name, or { tensor = "score", at_least = 0.5 }.
result<condition> read_condition(const toml_table& in, std::string_view key, bool wanted) {
  condition made;
  made.wanted = wanted;
  if (auto name = in.text_if(key)) {
    made.tensor = std::move(*name);
    return made;
  }
  auto table = in.table(key);
  if (!table)
    return propagate(std::move(table));
  auto tensor = table->text("tensor");
  if (!tensor)
    return propagate(std::move(tensor));
  made.tensor = std::move(*tensor);
  static constexpr std::array<std::pair<std::string_view, comparison>, 5> known{
      {{"equal", comparison::equal},
       {"less", comparison::less},
       {"greater", comparison::greater},
       {"at_most", comparison::at_most},
       {"at_least", comparison::at_least}}};
  bool compared = false;
  for (const auto& [word, how] : known) {
    if (!table->has(word))
      continue;
    if (compared)
      return table->wrong("expected one comparison, there are several");
    auto number = table->number(word);
    if (!number)
      return propagate(std::move(number));
    if (std::isnan(*number))
      return table->wrong(fmt::format("{}: no comparison with nan holds", word));
    compared = true;
    made.how = how;
    made.number = *number;
  }
  if (auto ok = table->nothing_else(); !ok)
    return propagate(std::move(ok));
  return made;
}

// Names alone, or a table from the model's names to the pipeline's.
result<std::vector<connection>> read_connections(const toml_table& in, std::string_view key) {
  std::vector<connection> made;
  if (!in.has(key))
    return made;
  if (in.is_list(key)) {
    auto names = in.texts(key);
    if (!names)
      return propagate(std::move(names));
    for (auto& name : *names)
      made.push_back({name, name});
    return made;
  }
  auto pairs = in.pairs(key);
  if (!pairs)
    return propagate(std::move(pairs));
  for (auto& [port, tensor] : *pairs)
    made.push_back({port, tensor});
  return made;
}

result<step_definition> read_step(const toml_table& in) {
  step_definition made;
  auto model = in.text("model");
  if (!model)
    return propagate(std::move(model));
  made.model = std::move(*model);
  auto name = in.text_or("name", made.model);
  if (!name)
    return propagate(std::move(name));
  made.name = std::move(*name);
  toml_table step = in.named("step \"" + made.name + "\"");
  auto read = [&]() -> result<void> {
    if (step.has("version")) {
      auto version = step.text_or_integer("version");
      if (!version)
        return propagate(std::move(version));
      made.version = std::move(*version);
    }
    auto inputs = read_connections(step, "inputs");
    if (!inputs)
      return propagate(std::move(inputs));
    made.inputs = std::move(*inputs);
    auto outputs = read_connections(step, "outputs");
    if (!outputs)
      return propagate(std::move(outputs));
    made.outputs = std::move(*outputs);
    if (step.has("each_row_of")) {
      auto cut = step.texts("each_row_of");
      if (!cut)
        return propagate(std::move(cut));
      made.each_row_of = std::move(*cut);
    }
    if (step.has("rows") && made.each_row_of.empty())
      return step.wrong("rows says nothing without each_row_of");
    auto rows = step.integer("rows", 1, 1 << 20, made.rows);
    if (!rows)
      return propagate(std::move(rows));
    made.rows = *rows;
    if (step.has("row_counts")) {
      auto counts = step.text("row_counts");
      if (!counts)
        return propagate(std::move(counts));
      made.row_counts = std::move(*counts);
    }
    if (step.has("when") && step.has("unless"))
      return step.wrong("expected when or unless, there are both");
    for (const bool wanted : {true, false}) {
      const auto* key = wanted ? "when" : "unless";
      if (!step.has(key))
        continue;
      auto when = read_condition(step, key, wanted);
      if (!when)
        return propagate(std::move(when));
      made.when = std::move(*when);
    }
    if (step.has("otherwise")) {
      auto otherwise = step.pairs("otherwise");
      if (!otherwise)
        return propagate(std::move(otherwise));
      made.otherwise.insert(otherwise->begin(), otherwise->end());
    }
    return step.nothing_else();
  };
  if (auto ok = read(); !ok)
    return propagate(std::move(ok));
  return made;
}

result<border_tensor> read_border(const toml_table& in, bool output) {
  border_tensor made;
  auto name = in.text("name");
  if (!name)
    return propagate(std::move(name));
  made.name = made.tensor = std::move(*name);
  const auto tensor = in.named((output ? "output \"" : "input \"") + made.name + "\"");
  if (output) {
    auto source = tensor.text_or("tensor", made.name);
    if (!source)
      return propagate(std::move(source));
    made.tensor = std::move(*source);
  }
  if (tensor.has("datatype")) {
    auto type =
        tensor.text("datatype").and_then([](const std::string& text) { return parse_dtype(text); });
    if (!type)
      return tensor.wrong("datatype: " + type.error().text);
    made.type = *type;
  }
  if (tensor.has("shape")) {
    auto dims = tensor.integers("shape", -1);
    if (!dims)
      return propagate(std::move(dims));
    made.dims = std::move(*dims);
  }
  auto optional = tensor.flag("optional", false);
  if (!optional)
    return propagate(std::move(optional));
  made.optional = *optional;
  if (auto ok = tensor.nothing_else(); !ok)
    return propagate(std::move(ok));
  return made;
}

result<std::vector<border_tensor>> read_borders(const toml_table& in, std::string_view key) {
  auto entries = in.names_or_tables(key);
  if (!entries)
    return propagate(std::move(entries));
  std::vector<border_tensor> made;
  for (const auto& entry : *entries) {
    if (const auto* name = std::get_if<std::string>(&entry)) {
      made.push_back({*name, *name, {}});
      continue;
    }
    auto one = read_border(std::get<toml_table>(entry), key == "outputs");
    if (!one)
      return propagate(std::move(one));
    made.push_back(std::move(*one));
  }
  return made;
}

result<definition> read_definition(const toml_table& in, const std::filesystem::path& origin) {
  definition made;
  made.origin = origin.string();
  auto inputs = read_borders(in, "inputs");
  if (!inputs)
    return propagate(std::move(inputs));
  made.inputs = std::move(*inputs);
  auto outputs = read_borders(in, "outputs");
  if (!outputs)
    return propagate(std::move(outputs));
  made.outputs = std::move(*outputs);
  auto steps = in.names_or_tables("step");
  if (!steps)
    return propagate(std::move(steps));
  for (const auto& entry : *steps) {
    if (!std::holds_alternative<toml_table>(entry))
      return in.wrong("step: expected tables, [[step]]");
    auto one = read_step(std::get<toml_table>(entry));
    if (!one)
      return propagate(std::move(one));
    made.steps.push_back(std::move(*one));
  }
  const auto most = std::int64_t{1} << 20;
  auto active = in.integer("max_active", 1, most, static_cast<std::int64_t>(made.max_active));
  auto in_flight =
      in.integer("max_in_flight", 1, most, static_cast<std::int64_t>(made.max_in_flight));
  auto fan_out = in.integer("max_fan_out", 1, most, made.max_fan_out);
  for (auto* number : {&active, &in_flight, &fan_out})
    if (!*number)
      return propagate(std::move(*number));
  made.max_active = static_cast<std::size_t>(*active);
  made.max_in_flight = static_cast<std::size_t>(*in_flight);
  made.max_fan_out = *fan_out;
  if (in.has("models")) {
    auto models = in.pairs("models");
    if (!models)
      return propagate(std::move(models));
    for (auto& [name, file] : *models)
      made.models.emplace(name, origin.parent_path() / file);
  }
  if (auto ok = in.nothing_else(); !ok)
    return propagate(std::move(ok));
  return made;
}

} // namespace

result<definition> parse(std::string_view text, const std::filesystem::path& origin) {
  if (text.size() > max_text)
    return fail(errc::invalid_argument, "{}: expected at most {} bytes, got {}", origin.string(),
                max_text, text.size());
  auto table = toml_table::parse(text, origin.string());
  if (!table)
    return propagate(std::move(table));
  return read_definition(*table, origin);
}

result<definition> read_file(const std::filesystem::path& file) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(file, failed))
    return fail(errc::not_found, "no file {}", file.string());
  std::ifstream in{file, std::ios::binary};
  std::string text(max_text + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad() || !in.eof())
    return fail(errc::invalid_argument, "{}: expected a readable file of at most {} bytes",
                file.string(), max_text);
  text.resize(static_cast<std::size_t>(in.gcount()));
  return parse(text, file);
}

} // namespace troupe::pipeline
