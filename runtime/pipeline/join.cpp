#include "runtime/batching/join_rows.hpp"
#include "runtime/pipeline/run.hpp"

#include <algorithm>

namespace troupe::pipeline {

namespace {

// Of no calls: no rows of what the model would have given, as far as it says.
tensor no_rows(const tensor_signature& of) {
  tensor made;
  made.type = of.type;
  for (auto size : of.dims)
    made.dims.push_back(std::max<std::int64_t>(size, 0));
  if (made.dims.empty())
    made.dims.push_back(0);
  made.dims[0] = 0;
  return made;
}

tensor counted(const std::vector<std::vector<tensor>>& parts) {
  std::vector<std::int64_t> rows;
  for (const auto& part : parts)
    rows.push_back(part.front().dims[0]);
  return {dtype::int64,
          {static_cast<std::int64_t>(rows.size())},
          copy_of(std::as_bytes(std::span{rows}))};
}

} // namespace

std::size_t join_work::bytes() const noexcept {
  std::size_t all = 0;
  for (const auto& part : parts)
    for (const auto& output : part)
      all += output.data.size();
  return all;
}

result<std::vector<tensor>> join_work::joined() const {
  const auto& about = of->steps[step];
  std::vector<tensor> made;
  for (std::size_t i = 0; i < about.outputs.size(); ++i) {
    const auto& output = about.outputs[i];
    const auto& value = of->values[output.value];
    if (output.port.empty()) {
      made.push_back(counted(parts));
      continue;
    }
    if (parts.empty()) {
      made.push_back(no_rows(value));
      continue;
    }
    std::vector<const tensor*> rows;
    for (const auto& part : parts)
      rows.push_back(&part[i]);
    auto whole = batching::join_rows(rows);
    if (!whole)
      return fail(errc::failed_precondition, "step \"{}\": tensor \"{}\": {}", about.name,
                  value.name, whole.error().text);
    made.push_back(std::move(*whole));
  }
  return made;
}

} // namespace troupe::pipeline
