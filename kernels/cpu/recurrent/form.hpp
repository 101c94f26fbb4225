#pragma once

#include "kernels/cpu/candidate.hpp"
#include "kernels/cpu/recurrent/activations.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace troupe::cpu {

/// What a node of RNN, GRU or LSTM says. Axes as the operator's `layout` orders them are hidden
/// behind the offsets below.
struct recurrent_form {
  enum class kind : std::uint8_t { rnn, gru, lstm };

  kind what = kind::rnn;
  std::int64_t steps = 0;
  std::int64_t batch = 0;
  std::int64_t input = 0;
  std::int64_t hidden = 0;
  std::int64_t directions = 1;
  bool first_backward = false;
  bool batch_first = false; ///< layout 1
  bool linear_before_reset = false;
  bool input_forget = false;
  double clip = std::numeric_limits<double>::infinity();
  std::vector<activation> activations; ///< of each direction one after the other

  [[nodiscard]] std::int64_t gates() const noexcept {
    return what == kind::rnn ? 1 : what == kind::gru ? 3 : 4;
  }
  [[nodiscard]] bool backward(std::int64_t direction) const noexcept {
    return first_backward || direction == 1;
  }
  [[nodiscard]] const activation& activation_of(std::int64_t direction, std::size_t index) const {
    return activations[static_cast<std::size_t>(direction)
                           * (activations.size() / static_cast<std::size_t>(directions))
                       + index];
  }

  /// First element of a row: of X, of Y, and of initial and last states.
  [[nodiscard]] std::int64_t x_at(std::int64_t step, std::int64_t row) const noexcept {
    return (batch_first ? row * steps + step : step * batch + row) * input;
  }
  [[nodiscard]] std::int64_t y_at(std::int64_t step, std::int64_t direction,
                                  std::int64_t row) const noexcept {
    return (batch_first ? (row * steps + step) * directions + direction
                        : (step * directions + direction) * batch + row)
           * hidden;
  }
  [[nodiscard]] std::int64_t state_at(std::int64_t direction, std::int64_t row) const noexcept {
    return (batch_first ? row * directions + direction : direction * batch + row) * hidden;
  }
};

/// ONNX: RNN-22, GRU-22, LSTM-22 and those before. The reason when shapes or attributes do not fit.
[[nodiscard]] tl::expected<recurrent_form, std::string> recurrent_form_of(const kernel_spec& spec);

/// Steps of each row of the batch: what `sequence_lens` says, else all. invalid_argument when one
/// is not in [0, steps].
[[nodiscard]] result<std::int64_t> steps_of_row(const recurrent_form& form, const kernel_args& args,
                                                std::int64_t row);

} // namespace troupe::cpu
