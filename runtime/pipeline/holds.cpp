#include "runtime/pipeline/holds.hpp"

#include "kernels/cpu/number_types.hpp"

#include <cstring>

namespace troupe::pipeline {

namespace {

bool compare(double value, comparison how, double number) noexcept {
  switch (how) {
    case comparison::is_true: return value != 0;
    case comparison::equal: return value == number;
    case comparison::less: return value < number;
    case comparison::greater: return value > number;
    case comparison::at_most: return value <= number;
    case comparison::at_least: return value >= number;
  }
  return false;
}

double first_element(const tensor& of) {
  double value = 0;
  if (of.type == dtype::boolean)
    return std::to_integer<int>(of.data.data()[0]);
  cpu::visit_number(of.type, [&](auto tag) {
    typename decltype(tag)::type element;
    std::memcpy(&element, of.data.data(), sizeof element); // a row's memory need not be aligned
    value = static_cast<double>(static_cast<cpu::computed<decltype(element)>>(element));
  });
  return value;
}

} // namespace

result<bool> holds(const step_condition& asked, const tensor& of) {
  if (element_count(of.dims) != 1)
    return fail(errc::failed_precondition, "expected one element, got shape {}",
                to_string(of.dims));
  return compare(first_element(of), asked.how, asked.number) == asked.wanted;
}

} // namespace troupe::pipeline
