#include "actors/complete_inputs.hpp"

#include "actors/request_lengths.hpp"
#include "kernels/tensor/byte_strings.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace troupe::actors {

result<void> complete_inputs(job::impl& asked) {
  const auto& model = *asked.model;
  asked.before_completion = asked.request.inputs;
  for (std::size_t i = 0; i < asked.request.inputs.size(); ++i) {
    auto& input = asked.request.inputs[i];
    const auto& declared = model.io.inputs[i];
    if (declared.type == dtype::string && !left_out(input)) {
      if (auto elements = unpack_strings(input.value); !elements)
        return fail(errc::invalid_argument, "model {}: input \"{}\": {}", model.name, input.name,
                    elements.error().text);
    }
    if (!left_out(input) || is_hosted(model))
      continue; // a stage sees for itself what was left out
    if (declared.any_rank)
      return fail(errc::invalid_argument,
                  "model {}: input \"{}\" was left out and has no fixed shape to be filled",
                  model.name, declared.name);
    shape dims(declared.dims.begin(), declared.dims.end());
    if (model.io.max_batch_size > 0 && !dims.empty())
      dims[0] = asked.rows;
    const auto& lengths = model.settings.padding.lengths;
    for (std::size_t one = 0; one < lengths.size(); ++one)
      for (const auto& [index, axis] : lengths[one].inputs)
        if (index == i)
          dims[axis] = asked.lengths[one];
    for (auto size : dims)
      if (size < 0)
        return fail(errc::invalid_argument,
                    "model {}: input \"{}\" was left out and has no fixed shape to be filled: {}",
                    model.name, declared.name, to_string(std::span{declared.dims}));
    if (is_mask(model, i)) {
      input.value = batching::filled(declared.type, dims, 1);
      continue;
    }
    const auto width = size_of(declared.type);
    const auto bytes = static_cast<std::size_t>(element_count(dims)) * width;
    auto block = allocate_aligned(bytes);
    if (declared.default_value.size() != width)
      std::memset(block.get(), 0, bytes);
    else
      for (std::size_t at = 0; at < bytes; at += width)
        std::memcpy(block.get() + at, declared.default_value.data(), width);
    const auto* data = block.get();
    input.value = tensor{declared.type, std::move(dims), {std::move(block), {data, bytes}}};
  }
  set_key(asked);
  return {};
}

std::vector<named_tensor> inputs_as_sent(const job::impl& asked) {
  auto inputs = asked.before_completion.empty() ? asked.request.inputs : asked.before_completion;
  std::erase_if(inputs, [&](const auto& input) {
    const auto& declared = asked.model->io.inputs;
    return left_out(input) || std::any_of(declared.begin(), declared.end(), [&](const auto& one) {
             return one.internal && one.name == input.name;
           });
  });
  return inputs;
}

void restore_inputs(job::impl& asked) {
  asked.request.inputs = inputs_as_sent(asked);
  asked.before_completion.clear();
}

} // namespace troupe::actors
