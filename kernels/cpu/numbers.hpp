#pragma once

#include "kernels/cpu/spec.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace troupe::cpu {

/// Elements of a tensor of any numeric type or BOOL, read as doubles: for kernels whose loops are
/// not worth an instantiation per datatype. 64-bit integers beyond 2^53 lose their last bits.
struct numbers_in {
  const std::byte* data = nullptr;
  double (*read)(const std::byte* data, std::int64_t index) = nullptr;

  double operator[](std::int64_t index) const { return read(data, index); }
  explicit operator bool() const noexcept { return data != nullptr; }
};

/// The same for writing: a double is rounded once, saturated where the type is an integer.
struct numbers_out {
  std::byte* data = nullptr;
  void (*write)(std::byte* data, std::int64_t index, double value) = nullptr;

  void set(std::int64_t index, double value) const { write(data, index, value); }
  explicit operator bool() const noexcept { return data != nullptr; }
};

/// The view's type is numeric or BOOL, or it has no data.
[[nodiscard]] numbers_in numbers_of(const tensor_view& from);
[[nodiscard]] numbers_out numbers_to(const tensor_view& to);

/// Input or output `index` of a launch; one without data where it is absent or unwanted.
[[nodiscard]] numbers_in input_numbers(const kernel_args& args, std::size_t index);
[[nodiscard]] numbers_out output_numbers(const kernel_args& args, std::size_t index);

/// Why a node is not one of row-major floating-point tensors alone, or nothing. Only inputs
/// [first, last) and the wanted outputs are looked at.
[[nodiscard]] std::optional<std::string> not_floating(const kernel_spec& spec,
                                                      std::size_t first = 0, std::size_t last = 64);

/// Why a present input or wanted output is not row-major or has elements that are no numbers.
[[nodiscard]] std::optional<std::string> not_numbers(const kernel_spec& spec);

} // namespace troupe::cpu
