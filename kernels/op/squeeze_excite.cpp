#include "kernels/op/squeeze_excite.hpp"

namespace troupe::squeeze_excite {

namespace {

std::string kinds_of(std::string_view name) {
  return std::string{name} + "_kinds";
}

std::string numbers_of(std::string_view name) {
  return std::string{name} + "_numbers";
}

} // namespace

void set_steps(attribute_map& in, std::string_view name, std::span<const post_op> steps) {
  std::vector<std::int64_t> kinds;
  std::vector<float> numbers;
  for (const auto& step : steps) {
    kinds.push_back(static_cast<std::int64_t>(step.kind));
    numbers.insert(numbers.end(), {step.alpha, step.beta});
  }
  in.set(kinds_of(name), std::move(kinds));
  in.set(numbers_of(name), std::move(numbers));
}

std::vector<post_op> steps_in(const attribute_map& from, std::string_view name) {
  const auto kinds = from.integers(kinds_of(name));
  const auto numbers = from.get<std::vector<float>>(numbers_of(name), {});
  std::vector<post_op> steps;
  constexpr auto last = static_cast<std::int64_t>(post_op_kind::gelu_tanh);
  for (std::size_t i = 0; i < kinds.size() && 2 * i + 1 < numbers.size(); ++i)
    if (kinds[i] >= 0 && kinds[i] <= last)
      steps.push_back({static_cast<post_op_kind>(kinds[i]), numbers[2 * i], numbers[2 * i + 1]});
  return steps;
}

} // namespace troupe::squeeze_excite
