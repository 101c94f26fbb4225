#pragma once

// Signatures of models that are not there, and pipelines over them.

#include "runtime/pipeline/parse.hpp"
#include "runtime/pipeline/plan.hpp"

#include <boost/test/unit_test.hpp>

#include <map>
#include <string>

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

inline result<std::shared_ptr<const pipeline::plan>> compiled(const std::string& text) {
  auto parsed = pipeline::parse(text, "p.toml");
  if (!parsed)
    return propagate(std::move(parsed));
  return pipeline::compile(*parsed, models);
}

inline std::shared_ptr<const pipeline::plan> plan_of(const std::string& text) {
  auto made = compiled(text);
  BOOST_REQUIRE_MESSAGE(made, (made ? "" : made.error().text));
  return *made;
}

/// The error's text.
inline std::string refusal(const std::string& text) {
  const auto made = compiled(text);
  return made ? "accepted" : made.error().text;
}

} // namespace troupe::test
