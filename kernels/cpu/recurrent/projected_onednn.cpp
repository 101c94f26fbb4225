// Recurrent layers in FP32 whose weights are initializers: what the inputs add to the gates is one
// product over all steps, what the state adds one product a step, both with weights packed for
// oneDNN. Everything else of a step is a pass over rows that lie in the nearest cache.

#include "kernels/cpu/elementwise/step.hpp"
#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/onednn_kernels.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/recurrent/form.hpp"
#include "kernels/cpu/recurrent/weight_product.hpp"
#include "kernels/cpu/rows/rows.hpp"
#include "kernels/cpu/spec.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::cpu::onednn {

namespace {

std::optional<step> step_of(const activation& of) {
  using kind = activation::kind;
  const auto alpha = static_cast<float>(of.alpha);
  const auto beta = static_cast<float>(of.beta);
  switch (of.what) {
    case kind::affine: return step{step_kind::linear, alpha, beta};
    case kind::elu: return step{step_kind::elu, alpha};
    case kind::hard_sigmoid: return step{step_kind::hard_sigmoid, alpha, beta};
    case kind::leaky_relu: return step{step_kind::leaky_relu, alpha};
    case kind::relu: return step{step_kind::relu};
    case kind::sigmoid: return step{step_kind::sigmoid};
    case kind::tanh: return step{step_kind::tanh};
    default: return std::nullopt;
  }
}

/// One direction's products. The state's are two where a GRU resets the state before its weights.
struct direction_products {
  weight_product input;
  weight_product state;
  std::optional<weight_product> candidate;
  std::vector<step> activations;
};

/// Where a launch keeps what it works on, in floats from the start of the workspace.
struct room_plan {
  std::size_t from_input = 0; ///< [steps * batch, gates * hidden]
  std::size_t from_state = 0; ///< [batch, gates * hidden]
  std::size_t bias = 0;       ///< of the gates, then of the candidate's state alone
  std::size_t h = 0;          ///< [batch, hidden], as all behind it
  std::size_t c = 0;
  std::size_t spare = 0;
  std::size_t scratch = 0;
  std::size_t bytes = 0;
};

class layer {
public:
  layer(recurrent_form form, std::vector<direction_products> products, int threads)
      : form_{std::move(form)}, products_{std::move(products)}, threads_{threads} {
    const auto gates = static_cast<std::size_t>(form_.gates() * form_.hidden);
    const auto states = static_cast<std::size_t>(form_.batch * form_.hidden);
    std::size_t next = 0;
    const auto take = [&](std::size_t floats) {
      const auto start = next;
      next += (floats + 15) / 16 * 16;
      return start;
    };
    room_.from_input = take(static_cast<std::size_t>(form_.steps * form_.batch) * gates);
    room_.from_state = take(static_cast<std::size_t>(form_.batch) * gates);
    room_.bias = take(2 * gates);
    room_.h = take(states);
    room_.c = take(states);
    room_.spare = take(states);
    room_.scratch = next;
    std::size_t scratch = 0;
    for (const auto& each : products_)
      scratch = std::max({scratch, each.input.scratch(), each.state.scratch(),
                          each.candidate ? each.candidate->scratch() : 0});
    room_.bytes = next * sizeof(float) + scratch;
  }

  std::size_t workspace_bytes() const { return room_.bytes; }

  result<void> run(const kernel_args& args) const {
    for (std::int64_t direction = 0; direction < form_.directions; ++direction)
      if (auto done = run_direction(direction, args); !done)
        return done;
    return {};
  }

private:
  struct view {
    const kernel_args& args;
    const direction_products& with;
    std::int64_t direction;
    float* from_input;
    float* from_state;
    float* bias;
    float* h;
    float* c;
    float* spare;
    std::byte* scratch;
    const float* peepholes; ///< null without
  };

  view view_of(std::int64_t direction, const kernel_args& args) const {
    auto* room = reinterpret_cast<float*>(args.workspace.data());
    return {args,
            products_[static_cast<std::size_t>(direction)],
            direction,
            room + room_.from_input,
            room + room_.from_state,
            room + room_.bias,
            room + room_.h,
            room + room_.c,
            room + room_.spare,
            reinterpret_cast<std::byte*>(room + room_.scratch),
            has_data(args, 7) ? args.inputs[7].as<const float>() + direction * 3 * form_.hidden
                              : nullptr};
  }

  bool resets_behind_weights() const {
    return form_.what == recurrent_form::kind::gru && form_.linear_before_reset;
  }

  // Both biases are added to the inputs' part, but for that of a candidate's state which the reset
  // gate multiplies.
  void fill_bias(const view& at) const {
    const auto gates = form_.gates() * form_.hidden;
    std::fill_n(at.bias, 2 * gates, 0.0F);
    if (!has_data(at.args, 3))
      return;
    const auto* given = at.args.inputs[3].as<const float>() + at.direction * 2 * gates;
    const auto apart = resets_behind_weights() ? 2 * form_.hidden : gates;
    for (std::int64_t i = 0; i < gates; ++i) {
      at.bias[i] = given[i] + (i < apart ? given[gates + i] : 0.0F);
      at.bias[gates + i] = i < apart ? 0.0F : given[gates + i];
    }
  }

  void load_state(const view& at, std::size_t input, float* to) const {
    for (std::int64_t row = 0; row < form_.batch; ++row)
      if (has_data(at.args, input))
        std::copy_n(at.args.inputs[input].as<const float>() + form_.state_at(at.direction, row),
                    form_.hidden, to + row * form_.hidden);
      else
        std::fill_n(to + row * form_.hidden, form_.hidden, 0.0F);
  }

  void store_state(const view& at, const float* from, std::size_t output) const {
    if (output >= at.args.outputs.size() || at.args.outputs[output].data == nullptr)
      return;
    for (std::int64_t row = 0; row < form_.batch; ++row)
      std::copy_n(from + row * form_.hidden, form_.hidden,
                  at.args.outputs[output].as<float>() + form_.state_at(at.direction, row));
  }

  result<void> run_direction(std::int64_t direction, const kernel_args& args) const {
    const auto at = view_of(direction, args);
    const auto gates = form_.gates() * form_.hidden;
    fill_bias(at);
    load_state(at, 5, at.h);
    load_state(at, 6, at.c);
    if (auto done = at.with.input.run(args.inputs[0].as<const float>(), at.from_input, at.scratch);
        !done)
      return done;
    parallel_for(threads_, form_.steps * form_.batch, gates,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (auto row = begin; row < end; ++row)
                     add_row(at.bias, at.from_input + row * gates, static_cast<std::size_t>(gates));
                 });
    for (std::int64_t done = 0; done < form_.steps; ++done)
      if (auto stepped = run_step_of_all(at, done); !stepped)
        return stepped;
    store_state(at, at.h, 1);
    store_state(at, at.c, 2);
    return {};
  }

  result<void> run_step_of_all(const view& at, std::int64_t done) const {
    const auto gates = form_.gates() * form_.hidden;
    if (auto multiplied = at.with.state.run(at.h, at.from_state, at.scratch); !multiplied)
      return multiplied;
    if (at.with.candidate) {
      for (std::int64_t row = 0; row < form_.batch; ++row)
        reset_state(at, row, done);
      if (auto multiplied = at.with.candidate->run(at.spare, candidates(at), at.scratch);
          !multiplied)
        return multiplied;
    }
    auto* y = at.args.outputs[0].data == nullptr ? nullptr : at.args.outputs[0].as<float>();
    for (std::int64_t row = 0; row < form_.batch; ++row) {
      const auto steps = steps_of_row(form_, at.args, row);
      if (!steps)
        return propagate(steps);
      if (done >= *steps) {
        if (y != nullptr)
          std::fill_n(y + form_.y_at(done, at.direction, row), form_.hidden, 0.0F);
        continue;
      }
      const auto step = form_.backward(at.direction) ? *steps - 1 - done : done;
      const auto* input = at.from_input + form_.x_at(step, row) / form_.input * gates;
      auto* h = at.h + row * form_.hidden;
      switch (form_.what) {
        case recurrent_form::kind::rnn: rnn(at, row, input, h); break;
        case recurrent_form::kind::gru: gru(at, row, input, h); break;
        case recurrent_form::kind::lstm: lstm(at, row, input, h); break;
      }
      if (y != nullptr)
        std::copy_n(h, form_.hidden, y + form_.y_at(step, at.direction, row));
    }
    return {};
  }

  void activate(const view& at, std::size_t which, float* values, std::int64_t count) const {
    const auto size = static_cast<std::size_t>(count);
    if (std::isfinite(form_.clip)) {
      const auto bound = static_cast<float>(form_.clip);
      run_step({step_kind::clip, -bound, bound}, values, nullptr, false, values, size);
    }
    run_step(at.with.activations[which], values, nullptr, false, values, size);
  }

  void rnn(const view& at, std::int64_t row, const float* input, float* h) const {
    auto* gate = at.from_state + row * form_.hidden;
    add_row(input, gate, static_cast<std::size_t>(form_.hidden));
    activate(at, 0, gate, form_.hidden);
    std::copy_n(gate, form_.hidden, h);
  }

  // The candidates of a GRU that resets first lie behind all update and reset gates.
  float* candidates(const view& at) const { return at.from_state + form_.batch * 2 * form_.hidden; }

  // Of such a GRU: gates z and r, and the state behind r, once the step's row is known to run.
  void reset_state(const view& at, std::int64_t row, std::int64_t done) const {
    const auto steps = steps_of_row(form_, at.args, row);
    const bool runs = steps && done < *steps;
    const auto* h = at.h + row * form_.hidden;
    auto* kept = at.spare + row * form_.hidden;
    if (!runs) {
      std::copy_n(h, form_.hidden, kept);
      return;
    }
    const auto step = form_.backward(at.direction) ? *steps - 1 - done : done;
    const auto* input =
        at.from_input + form_.x_at(step, row) / form_.input * form_.gates() * form_.hidden;
    auto* gates = at.from_state + row * 2 * form_.hidden;
    add_row(input, gates, static_cast<std::size_t>(2 * form_.hidden));
    activate(at, 0, gates, 2 * form_.hidden);
    for (std::int64_t i = 0; i < form_.hidden; ++i)
      kept[i] = gates[form_.hidden + i] * h[i];
  }

  void gru(const view& at, std::int64_t row, const float* input, float* h) const {
    const auto size = form_.hidden;
    float* update = nullptr;
    float* candidate = nullptr;
    if (at.with.candidate) {
      update = at.from_state + row * 2 * size;
      candidate = candidates(at) + row * size;
    } else {
      update = at.from_state + row * 3 * size;
      candidate = update + 2 * size;
      add_row(input, update, static_cast<std::size_t>(2 * size));
      activate(at, 0, update, 2 * size);
      const auto* bias = at.bias + 5 * size;
      for (std::int64_t i = 0; i < size; ++i)
        candidate[i] = update[size + i] * (candidate[i] + bias[i]);
    }
    add_row(input + 2 * size, candidate, static_cast<std::size_t>(size));
    activate(at, 1, candidate, size);
    for (std::int64_t i = 0; i < size; ++i)
      h[i] = candidate[i] + update[i] * (h[i] - candidate[i]);
  }

  // Gates i, o, f, c.
  void lstm(const view& at, std::int64_t row, const float* input, float* h) const {
    const auto size = form_.hidden;
    auto* in = at.from_state + row * 4 * size;
    auto* out = in + size;
    auto* forget = in + 2 * size;
    auto* candidate = in + 3 * size;
    auto* c = at.c + row * size;
    add_row(input, in, static_cast<std::size_t>(4 * size));
    const auto* p = at.peepholes;
    for (std::int64_t i = 0; p != nullptr && i < size; ++i) {
      in[i] += p[i] * c[i];
      forget[i] += p[2 * size + i] * c[i];
    }
    activate(at, 0, in, p == nullptr ? 3 * size : size);
    if (p != nullptr)
      activate(at, 0, forget, size);
    activate(at, 1, candidate, size);
    for (std::int64_t i = 0; i < size; ++i)
      c[i] = (form_.input_forget ? 1 - in[i] : forget[i]) * c[i] + in[i] * candidate[i];
    if (p != nullptr) {
      for (std::int64_t i = 0; i < size; ++i)
        out[i] += p[size + i] * c[i];
      activate(at, 0, out, size);
    }
    std::copy_n(c, size, h);
    activate(at, 2, h, size);
    for (std::int64_t i = 0; i < size; ++i)
      h[i] *= out[i];
  }

  recurrent_form form_;
  std::vector<direction_products> products_;
  int threads_;
  room_plan room_;
};

attempted<direction_products> products_of(const recurrent_form& form, const kernel_spec& spec,
                                          weight_cache& weights, std::int64_t direction) {
  const auto gates = form.gates() * form.hidden;
  const auto first = direction * gates;
  const auto& w = spec.inputs[1].constant;
  const auto& r = spec.inputs[2].constant;
  const bool reset_first = form.what == recurrent_form::kind::gru && !form.linear_before_reset;
  const auto of_state = reset_first ? 2 * form.hidden : gates;
  auto input =
      weight_product::make(form.steps * form.batch, {w, first, gates, form.input}, weights);
  auto state = weight_product::make(form.batch, {r, first, of_state, form.hidden}, weights);
  if (!input || !state)
    return tl::unexpected{!input ? input.error() : state.error()};
  direction_products made{*std::move(input), *std::move(state), std::nullopt, {}};
  if (reset_first) {
    auto candidate =
        weight_product::make(form.batch, {r, first + of_state, form.hidden, form.hidden}, weights);
    if (!candidate)
      return tl::unexpected{candidate.error()};
    made.candidate = *std::move(candidate);
  }
  const auto count = form.activations.size() / static_cast<std::size_t>(form.directions);
  for (std::size_t index = 0; index < count; ++index) {
    const auto one = step_of(form.activation_of(direction, index));
    if (!one)
      return decline("an activation has no vectorised step");
    made.activations.push_back(*one);
  }
  return made;
}

} // namespace
} // namespace troupe::cpu::onednn

namespace troupe::cpu {

made_kernel make_onednn_recurrent(const kernel_spec& spec, weight_cache& weights) {
  for (std::size_t i = 0; i < spec.inputs.size(); ++i)
    if (i != 4 && spec.inputs[i].present && spec.inputs[i].desc.type != dtype::float32)
      return decline("input {} is {}, not FP32", i, to_string(spec.inputs[i].desc.type));
  if (auto why = not_row_major(spec))
    return decline("{}", *why);
  if (!spec.inputs[1].constant || !spec.inputs[2].constant)
    return decline("the weights are not initializers");
  auto form = recurrent_form_of(spec);
  if (!form)
    return tl::unexpected{std::move(form).error()};
  if (form->steps == 0 || form->batch == 0 || form->input == 0 || form->hidden == 0)
    return decline("an axis is empty");
  std::vector<onednn::direction_products> products;
  for (std::int64_t direction = 0; direction < form->directions; ++direction) {
    auto made = onednn::products_of(*form, spec, weights, direction);
    if (!made)
      return tl::unexpected{std::move(made).error()};
    products.push_back(*std::move(made));
  }
  auto with =
      std::make_shared<const onednn::layer>(*std::move(form), std::move(products), spec.threads);
  return make_kernel(
      {.name = "onednn:projected", .workspace_bytes = with->workspace_bytes(), .unread = 0b110},
      [with](const kernel_args& args) { return with->run(args); });
}

} // namespace troupe::cpu
