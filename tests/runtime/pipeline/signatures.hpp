#pragma once

// Signatures of models that are not there.

#include "kernels/base/result.hpp"
#include "runtime/exec/signature.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace troupe::test {

inline tensor_signature port(std::string name, dtype type, std::vector<std::int64_t> dims) {
  tensor_signature made;
  made.name = std::move(name);
  made.type = type;
  made.dim_names.resize(dims.size());
  made.dims = std::move(dims);
  return made;
}

/// Of the server's own: nobody else gives or takes it.
inline tensor_signature internal_port(std::string name, dtype type,
                                      std::vector<std::int64_t> dims) {
  auto made = port(std::move(name), type, std::move(dims));
  made.internal = true;
  return made;
}

/// detect: an image to boxes, scores and whether there is anything; read: boxes to text; shout:
/// text to text; sum: a stateful model.
inline result<signature> models(const std::string& model, const std::string& version) {
  using enum dtype;
  static const std::map<std::string, signature> known{
      {"detect",
       {{port("x", float32, {-1, 3})},
        {port("boxes", float32, {-1, 4}), port("score", float32, {1}), port("any", boolean, {1})},
        0}},
      {"read", {{port("crop", float32, {-1, 4})}, {port("text", string, {-1})}, 8}},
      {"whole", {{port("x", float32, {-1, 3})}, {port("text", string, {-1})}, 8}},
      {"shout", {{port("in", string, {-1})}, {port("out", string, {-1})}, 0}},
      {"sum",
       {{port("x", float32, {-1, 3}), internal_port("START", boolean, {-1, 1})},
        {port("y", float32, {-1, 3}), internal_port("state", float32, {-1, 3})},
        8}},
      {"one_row", {{port("x", float32, {1, 3})}, {port("y", float32, {1, 3})}, 0}},
      {"total", {{port("x", float32, {-1, 3})}, {port("y", float64, {})}, 0}},
  };
  const auto at = known.find(model);
  if (at == known.end() || version == "9")
    return fail(errc::not_found, "model {}: not found", model);
  return at->second;
}

} // namespace troupe::test
