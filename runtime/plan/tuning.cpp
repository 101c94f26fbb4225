#include "runtime/plan/tuning.hpp"

#include "runtime/plan/measure.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <system_error>
#include <utility>

namespace troupe::plan {
namespace {

using std::chrono::nanoseconds;

// A candidate so slow at its first run is not worth more of them.
constexpr nanoseconds slowest = std::chrono::seconds{2};
constexpr int hopeless = 4; ///< times the best one so far
// The table's order stands unless a later candidate is faster by more than noise.
constexpr double clearly = 0.95;

std::string text_of(const tensor_desc& of) {
  return fmt::format("{}{}/{}", to_string(of.type), to_string(of.dims),
                     static_cast<int>(of.format));
}

template <class T>
std::string text_of(const T& value) {
  if constexpr (std::is_same_v<T, tensor>)
    return text_of(tensor_desc{value.type, value.dims});
  else
    return fmt::format(
        "{}", nlohmann::json(value).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
}

/// All that a kernel's time may depend on.
std::string key_of(const kernel_spec& spec) {
  auto key = fmt::format("{}:{}-{}", spec.domain, spec.op_type, spec.version);
  for (const auto& [name, value] : *spec.attributes)
    key += fmt::format(" {}={}", name,
                       std::visit([](const auto& held) { return text_of(held); }, value));
  for (const auto& input : spec.inputs)
    key += fmt::format(" <{}{}", input.present ? text_of(input.desc) : "",
                       input.constant ? "const" : "");
  for (const auto& output : spec.outputs)
    key += " >" + text_of(output);
  for (const auto& step : spec.post_ops)
    key += fmt::format(" +{}@{}", static_cast<int>(step.kind), step.operand);
  return key + fmt::format(" x{}", spec.threads);
}

std::string fastest_of(const kernel_spec& spec, device& on) {
  std::string best;
  auto best_time = nanoseconds::max();
  for (const auto& name : on.candidates(spec)) {
    auto asked = spec;
    asked.prefer = name;
    weight_cache apart;
    const auto choice = on.choose_kernel(asked, apart);
    if (!choice || choice->candidate != name)
      continue;
    const auto limit = best.empty() ? slowest : std::min(slowest, best_time * hopeless);
    const auto took = measure(*choice->chosen, spec, on, limit);
    if (took && (best.empty() || *took < best_time * clearly)) {
      best = name;
      best_time = *took;
    }
  }
  return best;
}

} // namespace

tuning::tuning(std::filesystem::path file, std::string model)
    : file_{std::move(file)}, model_{std::move(model)} {}

result<std::shared_ptr<tuning>> tuning::open(std::filesystem::path file, const device& on) {
  std::shared_ptr<tuning> made{new tuning{std::move(file), on.properties().model}};
  std::ifstream stored{made->file_};
  if (!stored)
    return made;
  const auto document = nlohmann::json::parse(stored, nullptr, false);
  const auto is_table = document.is_object() && document.contains("device")
                        && document["device"].is_string() && document.contains("choices")
                        && document["choices"].is_object();
  if (!is_table)
    return fail(errc::invalid_argument, "{}: expected a table of choices, as tuning writes it",
                made->file_.string());
  if (document["device"] != made->model_)
    return made;
  for (const auto& [key, name] : document["choices"].items())
    if (name.is_string())
      made->fastest_.emplace(key, name.get<std::string>());
  return made;
}

std::string tuning::candidate_for(const kernel_spec& spec, device& on) {
  if (!on.properties().host_visible || on.candidates(spec).size() < 2)
    return {};
  auto key = key_of(spec);
  {
    const std::lock_guard lock{mutex_};
    if (const auto known = fastest_.find(key); known != fastest_.end())
      return known->second;
  }
  auto best = fastest_of(spec, on);
  const std::lock_guard lock{mutex_};
  changed_ = true;
  return fastest_.emplace(std::move(key), std::move(best)).first->second;
}

result<void> tuning::save() {
  const std::lock_guard lock{mutex_};
  if (!changed_)
    return {};
  const nlohmann::json document{{"device", model_}, {"choices", fastest_}};
  const auto fresh = file_.string() + ".new";
  {
    std::ofstream to{fresh};
    to << document.dump(1) << '\n';
    if (!to.flush())
      return fail(errc::unavailable, "{}: cannot be written", fresh);
  }
  std::error_code failed;
  std::filesystem::rename(fresh, file_, failed);
  if (failed)
    return fail(errc::unavailable, "{}: cannot be replaced: {}", file_.string(), failed.message());
  changed_ = false;
  return {};
}

std::size_t tuning::size() const {
  const std::lock_guard lock{mutex_};
  return fastest_.size();
}

} // namespace troupe::plan
