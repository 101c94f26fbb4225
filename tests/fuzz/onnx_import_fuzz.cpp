// Models are untrusted files: import, shape inference, the proof of rows and the passes, which
// compute what follows from constants, answer a graph or an error, whatever the bytes.

#include "kernels/cpu/cpu_device.hpp"
#include "runtime/graph/row_flow.hpp"
#include "runtime/onnx/import.hpp"
#include "runtime/passes/pass_gate.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto device = troupe::cpu::make_cpu_device({.threads = 1});
  auto graph = troupe::onnx::import_bytes(troupe::copy_of(std::as_bytes(std::span{data, size})));
  if (!graph) {
    if (graph.error().text.empty())
      std::abort();
    return 0;
  }
  (void)troupe::graph::rows_independent(*graph);
  troupe::passes::pass_options options;
  options.verify = true;
  options.on = device->get();
  const auto reports = troupe::passes::run_passes(*graph, options);
  // What the model says may be wrong; what the passes made of it must not be.
  if (!reports && reports.error().code == troupe::errc::internal)
    std::abort();
  return 0;
}
