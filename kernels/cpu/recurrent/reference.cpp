// Recurrent layers step by step, in double. ONNX: RNN-22, GRU-22, LSTM-22 and those before.

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/numbers.hpp"
#include "kernels/cpu/recurrent/form.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <algorithm>

namespace troupe::cpu {

namespace {

/// One row of the batch in one direction.
class recurrence {
public:
  recurrence(const recurrent_form& form, const kernel_args& args, std::int64_t direction,
             double* room)
      : form_{form}, direction_{direction}, x_{input_numbers(args, 0)}, w_{input_numbers(args, 1)},
        r_{input_numbers(args, 2)}, b_{input_numbers(args, 3)}, p_{input_numbers(args, 7)},
        h_{room}, c_{room + form.hidden}, next_{room + 2 * form.hidden}, gates_{room
                                                                                + 3 * form.hidden} {
  }

  double* h() { return h_; }
  double* c() { return c_; }

  void step(std::int64_t x) {
    switch (form_.what) {
      case recurrent_form::kind::rnn: rnn(x); break;
      case recurrent_form::kind::gru: gru(x); break;
      case recurrent_form::kind::lstm: lstm(x); break;
    }
  }

  static std::size_t room(const recurrent_form& form) {
    return static_cast<std::size_t>((3 + form.gates()) * form.hidden);
  }

private:
  double bias(std::int64_t row, bool recurrent) const {
    const auto size = form_.gates() * form_.hidden;
    return b_ ? b_[direction_ * 2 * size + (recurrent ? size : 0) + row] : 0.0;
  }
  // Row `row` of the input's weights times the input, and its bias.
  double from_input(std::int64_t row, std::int64_t x) const {
    double sum = bias(row, false);
    const auto start = (direction_ * form_.gates() * form_.hidden + row) * form_.input;
    for (std::int64_t i = 0; i < form_.input; ++i)
      sum += w_[start + i] * x_[x + i];
    return sum;
  }
  double from_state(std::int64_t row, const double* state) const {
    double sum = bias(row, true);
    const auto start = (direction_ * form_.gates() * form_.hidden + row) * form_.hidden;
    for (std::int64_t i = 0; i < form_.hidden; ++i)
      sum += r_[start + i] * state[i];
    return sum;
  }
  double activate(std::size_t which, double value) const {
    return form_.activation_of(direction_, which)(std::clamp(value, -form_.clip, form_.clip));
  }
  double peephole(std::int64_t gate, std::int64_t i, double cell) const {
    return p_ ? p_[(direction_ * 3 + gate) * form_.hidden + i] * cell : 0.0;
  }

  void rnn(std::int64_t x) {
    for (std::int64_t i = 0; i < form_.hidden; ++i)
      next_[i] = activate(0, from_input(i, x) + from_state(i, h_));
    std::copy_n(next_, form_.hidden, h_);
  }

  // Gates z, r, h.
  void gru(std::int64_t x) {
    const auto size = form_.hidden;
    for (std::int64_t i = 0; i < 2 * size; ++i)
      gates_[i] = activate(0, from_input(i, x) + from_state(i, h_));
    double* reset = gates_ + size;
    double* reset_state = gates_ + 2 * size;
    for (std::int64_t i = 0; i < size; ++i)
      reset_state[i] = reset[i] * h_[i];
    for (std::int64_t i = 0; i < size; ++i) {
      const auto row = 2 * size + i;
      const double state =
          form_.linear_before_reset ? reset[i] * from_state(row, h_) : from_state(row, reset_state);
      const double candidate = activate(1, from_input(row, x) + state);
      next_[i] = (1 - gates_[i]) * candidate + gates_[i] * h_[i];
    }
    std::copy_n(next_, size, h_);
  }

  // Gates i, o, f, c.
  void lstm(std::int64_t x) {
    const auto size = form_.hidden;
    for (std::int64_t i = 0; i < 4 * size; ++i)
      gates_[i] = from_input(i, x) + from_state(i, h_);
    for (std::int64_t i = 0; i < size; ++i) {
      const double in = activate(0, gates_[i] + peephole(0, i, c_[i]));
      const double forget =
          form_.input_forget ? 1 - in : activate(0, gates_[2 * size + i] + peephole(2, i, c_[i]));
      c_[i] = forget * c_[i] + in * activate(1, gates_[3 * size + i]);
      const double out = activate(0, gates_[size + i] + peephole(1, i, c_[i]));
      h_[i] = out * activate(2, c_[i]);
    }
  }

  const recurrent_form& form_;
  std::int64_t direction_;
  numbers_in x_, w_, r_, b_, p_;
  double* h_;
  double* c_;
  double* next_;
  double* gates_;
};

void load(const numbers_in& from, std::int64_t at, std::int64_t count, double* to) {
  for (std::int64_t i = 0; i < count; ++i)
    to[i] = from ? from[at + i] : 0.0;
}

void store(const double* from, std::int64_t count, const numbers_out& to, std::int64_t at) {
  for (std::int64_t i = 0; to && i < count; ++i)
    to.set(at + i, from == nullptr ? 0.0 : from[i]);
}

result<void> run(const recurrent_form& form, const kernel_args& args) {
  const auto y = output_numbers(args, 0);
  auto* room = reinterpret_cast<double*>(args.workspace.data());
  for (std::int64_t direction = 0; direction < form.directions; ++direction)
    for (std::int64_t row = 0; row < form.batch; ++row) {
      const auto steps = steps_of_row(form, args, row);
      if (!steps)
        return propagate(steps);
      recurrence at{form, args, direction, room};
      const auto state = form.state_at(direction, row);
      load(input_numbers(args, 5), state, form.hidden, at.h());
      load(input_numbers(args, 6), state, form.hidden, at.c());
      for (std::int64_t done = 0; done < *steps; ++done) {
        const auto step = form.backward(direction) ? *steps - 1 - done : done;
        at.step(form.x_at(step, row));
        store(at.h(), form.hidden, y, form.y_at(step, direction, row));
      }
      for (auto step = *steps; step < form.steps; ++step)
        store(nullptr, form.hidden, y, form.y_at(step, direction, row));
      store(at.h(), form.hidden, output_numbers(args, 1), state);
      store(at.c(), form.hidden, output_numbers(args, 2), state);
    }
  return {};
}

} // namespace

made_kernel make_reference_recurrent(const kernel_spec& spec, weight_cache&) {
  for (const auto& [first, last] : {std::pair{0, 4}, std::pair{5, 8}})
    if (auto why =
            not_floating(spec, static_cast<std::size_t>(first), static_cast<std::size_t>(last)))
      return decline("{}", *why);
  auto form = recurrent_form_of(spec);
  if (!form)
    return tl::unexpected{std::move(form).error()};
  const auto bytes = recurrence::room(*form) * sizeof(double);
  return make_kernel(
      {.workspace_bytes = bytes},
      [form = *std::move(form)](const kernel_args& args) { return run(form, args); });
}

} // namespace troupe::cpu
