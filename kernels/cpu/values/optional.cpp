// ONNX: Optional-15, OptionalHasElement-15 and -18, OptionalGetElement-15 and -18. Since 18 the
// latter two take tensors and sequences as they are, which are never empty.

#include "kernels/cpu/value_arguments.hpp"
#include "kernels/cpu/value_kernels.hpp"

namespace troupe::cpu {

result<std::vector<datum>> run_optional(const value_call& of) {
  return std::vector<datum>{of.has(0) ? of.inputs[0] : datum{}};
}

result<std::vector<datum>> run_optional_has_element(const value_call& of) {
  return std::vector<datum>{make_boolean(of.has(0))};
}

result<std::vector<datum>> run_optional_get_element(const value_call& of) {
  if (!of.has(0))
    return fail(errc::invalid_argument, "the optional is empty");
  return std::vector<datum>{of.inputs[0]};
}

} // namespace troupe::cpu
