// A model's config.pbtxt: parsed, and put over the signature of a model file that has all the
// tensors it speaks of; over other models if it declares an ensemble.

#include "runtime/pipeline/plan.hpp"
#include "runtime/repository/configure.hpp"
#include "runtime/repository/ensemble.hpp"
#include "runtime/repository/instances.hpp"
#include "tests/runtime/pipeline/signatures.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace repository = troupe::repository;

namespace {

using ports = std::vector<troupe::tensor_signature>;

void require(bool holds) {
  if (!holds)
    std::abort();
}

template <class T>
void check(const troupe::result<T>& made) {
  require(made || (made.error().code != troupe::errc::internal && !made.error().text.empty()));
}

void add(ports& to, const std::string& name, troupe::dtype type, std::vector<std::int64_t> dims,
         bool batched) {
  if (std::any_of(to.begin(), to.end(), [&](const auto& one) { return one.name == name; }))
    return;
  if (batched)
    dims.insert(dims.begin(), -1);
  auto made = troupe::test::port(name, type, std::move(dims));
  std::fill(made.dim_names.begin(), made.dim_names.end(), "axis");
  to.push_back(std::move(made));
}

// As a file might declare them that was made for this configuration.
troupe::signature declared_for(const repository::model_config& said) {
  const bool batched = said.max_batch_size.value_or(0) > 0;
  troupe::signature made;
  for (const auto& one : said.inputs)
    add(made.inputs, one.name, one.type.value_or(troupe::dtype::float32), one.dims, batched);
  for (const auto& one : said.outputs)
    add(made.outputs, one.name, one.type.value_or(troupe::dtype::float32), one.dims, batched);
  if (!said.sequences)
    return made;
  for (const auto& one : said.sequences->controls)
    add(made.inputs, one.input, one.type, {1}, batched);
  for (const auto& one : said.sequences->states) {
    const auto type = one.type.value_or(troupe::dtype::float32);
    add(made.inputs, one.input, type, one.dims, batched);
    add(made.outputs, one.output, type, one.dims, batched);
  }
  return made;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  auto config = repository::parse_model_config(text, "config.pbtxt");
  check(config);
  if (!config)
    return 0;
  for (auto& one : config->outputs)
    one.label_file.clear(); // no files in here
  const repository::model_folder folder{"m", "/nowhere", std::move(*config), {}};
  check(repository::instances_on(folder, {"cpu", "cuda", "cuda"}));
  if (folder.config.ensemble) {
    const auto steps = repository::ensemble_of(folder);
    check(steps);
    if (steps)
      check(troupe::pipeline::compile(*steps, troupe::test::models));
    return 0;
  }
  check(repository::batch_buckets(folder));
  check(repository::batch_invariant(folder, true));
  const auto made = repository::configure(folder, declared_for(folder.config), "", {});
  check(made);
  if (made)
    require(made->batching.min_rows <= made->batching.max_rows && made->batching.max_rows >= 1);
  return 0;
}
