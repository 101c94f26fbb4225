// Fourier transforms of an axis, and of windowed frames of a signal. The last axis holds real and
// imaginary parts, or reals alone. ONNX: DFT-17, DFT-20, STFT-17.

#include "kernels/cpu/fourier/transform.hpp"

#include "kernels/cpu/kernel_function.hpp"
#include "kernels/cpu/numbers.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/reference_kernels.hpp"

#include <algorithm>
#include <memory>

namespace troupe::cpu {

namespace {

using number = fourier_transform::number;

// Longer ones are refused before tables are made for them.
constexpr std::int64_t longest = std::int64_t{1} << 26;

/// Which rows are transformed, and how they are read and written.
struct spectrum_form {
  std::shared_ptr<const fourier_transform> by;
  std::int64_t rows = 0;
  std::int64_t threads = 1;

  std::size_t room() const { return 2 * static_cast<std::size_t>(by->length()) + by->scratch(); }
  std::size_t workspace_bytes() const {
    return room() * static_cast<std::size_t>(threads) * sizeof(number);
  }

  // `read(row, numbers)` fills a row, `write(row, numbers)` takes its transform.
  template <class Read, class Write>
  void run(const kernel_args& args, const Read& read, const Write& write) const {
    const auto length = by->length();
    parallel_for(static_cast<int>(threads), threads, rows * length * 8 / threads,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (auto share = begin; share < end; ++share) {
                     auto* from = reinterpret_cast<number*>(args.workspace.data())
                                  + static_cast<std::size_t>(share) * room();
                     auto* to = from + length;
                     for (auto row = rows * share / threads; row < rows * (share + 1) / threads;
                          ++row) {
                       std::fill_n(from, length, number{});
                       read(row, from);
                       by->run(from, to, to + length);
                       write(row, to);
                     }
                   }
                 });
  }
};

number element(const numbers_in& x, std::int64_t at, bool complex) {
  return {x[complex ? 2 * at : at], complex ? x[2 * at + 1] : 0.0};
}

void store(const numbers_out& y, std::int64_t at, bool complex, number value) {
  y.set(complex ? 2 * at : at, value.real());
  if (complex)
    y.set(2 * at + 1, value.imag());
}

// A real signal's half of a spectrum to the whole of it.
void mirror(number* values, std::int64_t length) {
  values[0].imag(0);
  for (std::int64_t k = 1; 2 * k <= length; ++k) {
    if (2 * k == length)
      values[k].imag(0);
    values[length - k] = std::conj(values[k]);
  }
}

} // namespace

made_kernel make_reference_dft(const kernel_spec& spec, weight_cache&) {
  if (auto why = not_floating(spec, 0, 1))
    return decline("{}", *why);
  const auto& dims = spec.inputs[0].desc.dims;
  const auto& out = spec.outputs[0].dims;
  if (dims.size() < 2 || dims.back() < 1 || dims.back() > 2 || out.size() != dims.size())
    return decline("a last axis of 1 or 2 expected, {} found", to_string(dims));
  std::int64_t written = spec.version < 20 ? spec.attributes->integer("axis", 1) : -2;
  if (has_input(spec, 2)) {
    const auto given = constant_integers(spec, 2);
    if (!given || given->size() != 1)
      return decline("the axis is not an initializer");
    written = given->front();
  }
  const auto axis = axis_index(written, dims.size());
  if (!axis || *axis + 1 == dims.size())
    return decline("axis {} is out of range for {}", written, to_string(dims));
  const bool inverse = spec.attributes->integer("inverse", 0) != 0;
  const bool onesided = spec.attributes->integer("onesided", 0) != 0;
  std::int64_t length = inverse && onesided ? 2 * (dims[*axis] - 1) : dims[*axis];
  if (has_input(spec, 1)) {
    const auto given = constant_integers(spec, 1);
    if (!given || given->size() != 1)
      return decline("the length is not an initializer");
    length = given->front();
  }
  const auto bins = onesided && !inverse ? length / 2 + 1 : length;
  if (length < 1 || length > longest || out[*axis] != bins)
    return decline("an output of {} along axis {} expected, {} found", bins, *axis, out[*axis]);
  const auto inner = element_count({dims.data() + *axis + 1, dims.size() - *axis - 2});
  spectrum_form form{std::make_shared<const fourier_transform>(length, inverse),
                     element_count({dims.data(), *axis}) * inner, spec.threads};
  const bool half = onesided && inverse;
  const auto given = std::min(dims[*axis], half ? length / 2 + 1 : length);
  return make_kernel({.workspace_bytes = form.workspace_bytes()},
                     [=, size = dims[*axis], from_complex = dims.back() == 2,
                      to_complex = out.back() == 2](const kernel_args& args) {
                       const auto x = input_numbers(args, 0);
                       const auto y = output_numbers(args, 0);
                       form.run(
                           args,
                           [&](std::int64_t row, number* values) {
                             const auto start = row / inner * size * inner + row % inner;
                             for (std::int64_t i = 0; i < given; ++i)
                               values[i] = element(x, start + i * inner, from_complex);
                             if (half)
                               mirror(values, length);
                           },
                           [&](std::int64_t row, const number* values) {
                             const auto start = row / inner * bins * inner + row % inner;
                             for (std::int64_t i = 0; i < bins; ++i)
                               store(y, start + i * inner, to_complex, values[i]);
                           });
                     });
}

made_kernel make_reference_stft(const kernel_spec& spec, weight_cache&) {
  for (std::size_t input : {0U, 2U})
    if (auto why = not_floating(spec, input, input + 1))
      return decline("{}", *why);
  const auto& dims = spec.inputs[0].desc.dims;
  const auto& out = spec.outputs[0].dims;
  if (dims.size() != 3 || dims.back() < 1 || dims.back() > 2 || out.size() != 4)
    return decline("a signal [batch, length, 1 or 2] expected, {} found", to_string(dims));
  const auto hop = constant_integers(spec, 1);
  if (!hop || hop->size() != 1 || hop->front() < 1)
    return decline("the step between frames is not an initializer of 1 or more");
  auto length = has_input(spec, 2) ? spec.inputs[2].desc.elements() : dims[1];
  if (has_input(spec, 3)) {
    const auto given = constant_integers(spec, 3);
    if (!given || given->size() != 1)
      return decline("the length of a frame is not an initializer");
    length = given->front();
  }
  const auto frames = out[1];
  const auto bins = out[2];
  if (length < 1 || length > longest || length > dims[1] || bins > length
      || (frames > 1 && hop->front() > (dims[1] - length) / (frames - 1))
      || (has_input(spec, 2) && spec.inputs[2].desc.elements() != length))
    return decline("{} frames of {} do not fit the signal {} and the window", frames, length,
                   to_string(dims));
  spectrum_form form{std::make_shared<const fourier_transform>(length, false), dims[0] * frames,
                     spec.threads};
  return make_kernel({.workspace_bytes = form.workspace_bytes()},
                     [=, step = hop->front(), signal = dims[1],
                      complex = dims.back() == 2](const kernel_args& args) {
                       const auto x = input_numbers(args, 0);
                       const auto window = input_numbers(args, 2);
                       const auto y = output_numbers(args, 0);
                       form.run(
                           args,
                           [&](std::int64_t row, number* values) {
                             const auto start = row / frames * signal + row % frames * step;
                             for (std::int64_t i = 0; i < length; ++i)
                               values[i] =
                                   element(x, start + i, complex) * (window ? window[i] : 1.0);
                           },
                           [&](std::int64_t row, const number* values) {
                             for (std::int64_t i = 0; i < bins; ++i)
                               store(y, row * bins + i, true, values[i]);
                           });
                     });
}

} // namespace troupe::cpu
