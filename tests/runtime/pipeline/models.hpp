#pragma once

// Pipelines over models that are not there.

#include "runtime/pipeline/parse.hpp"
#include "runtime/pipeline/plan.hpp"
#include "tests/runtime/pipeline/signatures.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace troupe::test {

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
