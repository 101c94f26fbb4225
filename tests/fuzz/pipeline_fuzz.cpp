// The file that declares a pipeline: read, and compiled against models that are not there. What
// compiles is a plan whose steps only look at what is made before them.

#include "runtime/pipeline/parse.hpp"
#include "runtime/pipeline/plan.hpp"
#include "tests/runtime/pipeline/signatures.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace pipeline = troupe::pipeline;

namespace {

void require(bool holds) {
  if (!holds)
    std::abort();
}

void check(const pipeline::plan& made) {
  std::vector<bool> there(made.values.size(), false);
  require(made.io.inputs.size() <= there.size());
  std::fill_n(there.begin(), made.io.inputs.size(), true);
  for (const auto& step : made.steps) {
    for (const auto& input : step.inputs)
      require(there.at(input.value));
    if (step.when)
      require(there.at(step.when->value) && step.when->same_question(*step.when));
    for (const auto& output : step.outputs) {
      require(!output.otherwise || there.at(*output.otherwise));
      there.at(output.value) = true;
    }
  }
  for (const auto output : made.outputs)
    require(there.at(output));
  for (const auto& value : made.values)
    require(value.dims.size() == value.dim_names.size());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto declared = pipeline::parse(text, "p.toml");
  if (!declared) {
    require(declared.error().code == troupe::errc::invalid_argument
            && !declared.error().text.empty());
    return 0;
  }
  const auto made = pipeline::compile(*declared, troupe::test::models);
  if (made)
    check(**made);
  else
    require(made.error().code != troupe::errc::internal && !made.error().text.empty());
  return 0;
}
