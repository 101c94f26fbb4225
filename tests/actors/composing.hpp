#pragma once

#include "actors/orders.hpp"
#include "runtime/pipeline/parse.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace troupe::test {

/// What loads the pipeline that a text declares.
inline actors::loader pipeline_of(const std::string& text,
                                  std::map<std::string, actors::composition::part> brings = {}) {
  return [=]() -> result<std::vector<actors::loaded_model>> {
    auto declared = pipeline::parse(text, "p.toml");
    if (!declared)
      return propagate(std::move(declared));
    std::vector<actors::loaded_model> made(1);
    made[0].version = "1";
    made[0].composed =
        std::make_shared<actors::composition>(actors::composition{std::move(*declared), brings});
    return made;
  };
}

/// Of the identity model `m`: once with all rows, then row by row.
inline const std::string twice_through_m = R"(
max_active = 4
max_in_flight = 3
inputs = ["in"]
outputs = ["out"]
[[step]]
name = "first"
model = "m"
inputs = { x = "in" }
outputs = { y = "between" }
[[step]]
name = "second"
model = "m"
inputs = { x = "between" }
outputs = { y = "out" }
each_row_of = ["between"]
)";

} // namespace troupe::test
