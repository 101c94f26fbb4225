// Models are untrusted files: import, shape inference, the proof of rows and the passes answer a
// graph or an error, whatever the bytes.

#include "runtime/graph/row_flow.hpp"
#include "runtime/onnx/import.hpp"
#include "runtime/passes/pass_gate.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto graph = troupe::onnx::import_bytes(troupe::copy_of(std::as_bytes(std::span{data, size})));
  if (!graph) {
    if (graph.error().text.empty())
      std::abort();
    return 0;
  }
  (void)troupe::graph::rows_independent(*graph);
  troupe::passes::pass_options options;
  options.verify = true;
  const auto reports = troupe::passes::run_passes(*graph, options);
  // What the model says may be wrong; what the passes made of it must not be.
  if (!reports && reports.error().code == troupe::errc::internal)
    std::abort();
  return 0;
}
