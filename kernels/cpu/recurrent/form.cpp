#include "kernels/cpu/recurrent/form.hpp"

#include "kernels/cpu/spec.hpp"

namespace troupe::cpu {

namespace {

using kind = recurrent_form::kind;

std::vector<activation> default_activations(kind what) {
  const activation sigmoid{activation::kind::sigmoid};
  const activation tanh{activation::kind::tanh};
  switch (what) {
    case kind::rnn: return {tanh};
    case kind::gru: return {sigmoid, tanh};
    case kind::lstm: return {sigmoid, tanh, tanh};
  }
  return {};
}

std::optional<std::string> wrong_shapes(const kernel_spec& spec, const recurrent_form& form) {
  const auto expect = [&](std::size_t input, shape dims) -> std::optional<std::string> {
    if (!has_input(spec, input) || spec.inputs[input].desc.dims == dims)
      return std::nullopt;
    return fmt::format("input {} of {} expected, {} found", input, to_string(dims),
                       to_string(spec.inputs[input].desc.dims));
  };
  const auto gates = form.gates() * form.hidden;
  const shape state = form.batch_first ? shape{form.batch, form.directions, form.hidden}
                                       : shape{form.directions, form.batch, form.hidden};
  for (auto&& wrong :
       {expect(1, {form.directions, gates, form.input}),
        expect(2, {form.directions, gates, form.hidden}), expect(3, {form.directions, 2 * gates}),
        expect(4, {form.batch}), expect(5, state), expect(6, state),
        expect(7, {form.directions, 3 * form.hidden})})
    if (wrong)
      return wrong;
  return std::nullopt;
}

} // namespace

tl::expected<recurrent_form, std::string> recurrent_form_of(const kernel_spec& spec) {
  recurrent_form form;
  form.what = spec.op_type == "LSTM" ? kind::lstm : spec.op_type == "GRU" ? kind::gru : kind::rnn;
  const auto& x = spec.inputs[0].desc.dims;
  const auto& r = spec.inputs[2].desc.dims;
  if (x.size() != 3 || r.size() != 3)
    return decline("inputs 0 and 2 of rank 3 expected, {} and {} found", to_string(x),
                   to_string(r));
  const auto& attributes = *spec.attributes;
  form.batch_first = attributes.integer("layout", 0) != 0;
  form.steps = x[form.batch_first ? 1 : 0];
  form.batch = x[form.batch_first ? 0 : 1];
  form.input = x[2];
  form.hidden = r[2];
  const auto direction = attributes.text("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return decline("direction forward, reverse or bidirectional expected, '{}' found", direction);
  form.directions = direction == "bidirectional" ? 2 : 1;
  form.first_backward = direction == "reverse";
  form.linear_before_reset = attributes.integer("linear_before_reset", 0) != 0;
  form.input_forget = attributes.integer("input_forget", 0) != 0;
  if (attributes.has("clip"))
    form.clip = static_cast<double>(attributes.real("clip", 0.0F));
  auto activations = activations_of(attributes, default_activations(form.what),
                                    static_cast<std::size_t>(form.directions));
  if (!activations)
    return tl::unexpected{std::move(activations).error()};
  form.activations = *std::move(activations);
  if (attributes.integer("hidden_size", form.hidden) != form.hidden)
    return decline("a hidden size of {} expected, {} found", attributes.integer("hidden_size", 0),
                   form.hidden);
  if (auto wrong = wrong_shapes(spec, form))
    return decline("{}", *wrong);
  if (has_input(spec, 4) && spec.inputs[4].desc.type != dtype::int32)
    return decline("sequence lengths of INT32 expected, {} found",
                   to_string(spec.inputs[4].desc.type));
  return form;
}

result<std::int64_t> steps_of_row(const recurrent_form& form, const kernel_args& args,
                                  std::int64_t row) {
  if (!has_data(args, 4))
    return form.steps;
  const std::int64_t steps = args.inputs[4].as<const std::int32_t>()[row];
  if (steps < 0 || steps > form.steps)
    return fail(errc::invalid_argument, "sequence lengths in [0, {}] expected, {} found",
                form.steps, steps);
  return steps;
}

} // namespace troupe::cpu
