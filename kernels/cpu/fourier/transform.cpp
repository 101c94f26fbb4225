#include "kernels/cpu/fourier/transform.hpp"

#include <algorithm>
#include <numbers>

namespace troupe::cpu {

namespace {

using number = fourier_transform::number;

// Without the checks for infinities of the operator.
number multiply(number a, number b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

} // namespace

fourier_transform::fourier_transform(std::int64_t length, bool inverse)
    : length_{length}, inverse_{inverse} {
  auto rest = length;
  for (std::int64_t factor = 2; rest > 1; ++factor) {
    if (factor * factor > rest)
      factor = rest;
    for (; rest % factor == 0; rest /= factor)
      factors_.push_back(factor);
  }
  if (!factors_.empty())
    scratch_ = static_cast<std::size_t>(factors_.back());
  roots_.reserve(static_cast<std::size_t>(length));
  const double direction = inverse ? 1 : -1;
  for (std::int64_t k = 0; k < length; ++k)
    roots_.push_back(std::polar(1.0, direction * 2 * std::numbers::pi * static_cast<double>(k)
                                         / static_cast<double>(length)));
}

void fourier_transform::run(const number* from, number* to, number* scratch) const {
  step(0, length_, 1, from, to, scratch);
  if (inverse_)
    std::for_each(to, to + length_, [&](number& value) { value /= static_cast<double>(length_); });
}

// Transforms the `size` numbers that lie `stride` apart: those of each residue by the factor first,
// then all of them together.
void fourier_transform::step(std::size_t factor, std::int64_t size, std::int64_t stride,
                             const number* from, number* to, number* scratch) const {
  if (size == 1) {
    *to = *from;
    return;
  }
  const auto parts = factors_[factor];
  const auto part = size / parts;
  for (std::int64_t r = 0; r < parts; ++r)
    step(factor + 1, part, stride * parts, from + r * stride, to + r * part, scratch);
  const auto root = [&](std::int64_t k) { return roots_[static_cast<std::size_t>(k * stride)]; };
  for (std::int64_t k = 0; k < part; ++k) {
    if (parts == 2) {
      const auto odd = multiply(to[part + k], root(k));
      to[part + k] = to[k] - odd;
      to[k] += odd;
      continue;
    }
    for (std::int64_t r = 0; r < parts; ++r)
      scratch[r] = multiply(to[r * part + k], root(r * k));
    for (std::int64_t q = 0; q < parts; ++q) {
      number sum = scratch[0];
      for (std::int64_t r = 1; r < parts; ++r)
        sum += multiply(scratch[r], root(r * q % parts * part));
      to[q * part + k] = sum;
    }
  }
}

} // namespace troupe::cpu
