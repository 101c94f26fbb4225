#include "runtime/exec/plan_bytes.hpp"

namespace troupe::exec {
namespace {

/// oneDNN does not say what a primitive holds. Measured as growth of the process over 60 shapes
/// each of two OCR networks and a ResNet-50 (oneDNN 2.6, AVX-512): 102 to 121 KiB.
constexpr std::size_t onednn_primitive_bytes = std::size_t{112} << 10;
/// The kernel objects of others, control blocks and the like.
constexpr std::size_t small_kernel_bytes = std::size_t{1} << 10;

std::size_t bytes_of(const plan::step& step) {
  auto bytes = sizeof step + step.node.capacity() + step.op_type.capacity();
  bytes += (step.inputs.capacity() + step.outputs.capacity()) * sizeof(plan::argument);
  bytes += (step.inputs.size() + step.outputs.size()) * sizeof(tensor_view); // of the run state
  for (const auto& one : step.declined)
    bytes += sizeof one + one.name.capacity() + one.reason.capacity();
  const bool generated = step.run && step.run->name().find("onednn") != std::string::npos;
  return bytes + (generated ? onednn_primitive_bytes : small_kernel_bytes);
}

} // namespace

std::size_t plan_bytes(const plan::plan& of) noexcept {
  std::size_t bytes = sizeof of;
  for (const auto& step : of.steps)
    bytes += bytes_of(step);
  for (const auto& constant : of.constants)
    if (constant.use_count() == 1) // a weight is the model's too
      bytes += sizeof *constant + constant->data.size();
  return bytes;
}

} // namespace troupe::exec
