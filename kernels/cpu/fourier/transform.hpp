#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace troupe::cpu {

/// The discrete Fourier transform of one length, made once and run any number of times: Cooley and
/// Tukey's decomposition by the length's prime factors, so that a length of small factors takes
/// length * (sum of factors) steps and a prime one length^2.
class fourier_transform {
public:
  using number = std::complex<double>;

  /// `length` is at least 1. The inverse divides by it.
  fourier_transform(std::int64_t length, bool inverse);

  [[nodiscard]] std::int64_t length() const noexcept { return length_; }
  /// Numbers that `run` needs to work with.
  [[nodiscard]] std::size_t scratch() const noexcept { return scratch_; }

  /// `from` and `to` have `length` numbers and do not overlap.
  void run(const number* from, number* to, number* scratch) const;

private:
  void step(std::size_t factor, std::int64_t size, std::int64_t stride, const number* from,
            number* to, number* scratch) const;

  std::int64_t length_;
  bool inverse_;
  std::size_t scratch_ = 0;
  std::vector<std::int64_t> factors_;
  std::vector<number> roots_; ///< of unity: e^(-2 pi i k / length), or its conjugate
};

} // namespace troupe::cpu
