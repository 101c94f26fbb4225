// Models are untrusted files: import and shape inference answer a graph or an error, whatever the
// bytes.

#include "runtime/graph/infer.hpp"
#include "runtime/onnx/import.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto graph = troupe::onnx::import_bytes(troupe::copy_of(std::as_bytes(std::span{data, size})));
  if (graph)
    (void)troupe::graph::infer_all(*graph);
  else if (graph.error().text.empty())
    std::abort();
  return 0;
}
