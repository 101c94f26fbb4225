#pragma once

// A matrix product whose right-hand side is constant and was packed beforehand: MatMul, Gemm and
// pointwise convolutions.

#include "kernels/cpu/fused_steps.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace troupe::cpu::packed_product {

inline constexpr std::int64_t least_rows = 24; ///< in a whole number of tiles of any width

/// How many rows of `inner` elements meet a panel together: as many as the second-level cache has
/// room for beside it.
[[nodiscard]] constexpr std::int64_t group_rows_for(std::int64_t inner) noexcept {
  constexpr std::int64_t room = 36 * 1024, most = 96; // floats; rows
  return std::clamp(room / std::max<std::int64_t>(inner, 1) / least_rows * least_rows, least_rows,
                    most);
}

/// Columns of the right-hand side side by side, in vectors; stored a row after the other.
struct panel {
  std::int64_t first = 0; ///< column
  std::int64_t vectors = 0;
};

/// How the right-hand matrix [inner, columns] lies once packed: panel after panel. Follows from the
/// matrix and the instruction set alone, so that products of any number of rows share it.
struct packing {
  std::int64_t inner = 0;
  std::int64_t columns = 0;
  std::int64_t lanes = 1;
  std::vector<panel> panels = {};

  [[nodiscard]] std::int64_t size() const noexcept; ///< in floats
};

[[nodiscard]] packing plan_packing(std::int64_t inner, std::int64_t columns);

/// Where element (k, n) of the matrix lies before: `from[k * row_stride + n * column_stride]`.
struct plain_matrix {
  const float* from = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
};
void pack(const packing& of, const plain_matrix& matrix, float* to);

/// A product of `rows` rows; they lie `left_stride` and `out_stride` floats apart.
struct product {
  packing right = {};
  fused_steps fused = {};
  std::int64_t rows = 0;
  std::int64_t left_stride = 0;
  std::int64_t out_stride = 0;

  /// Floats of workspace for each member of the team.
  [[nodiscard]] std::int64_t workspace() const noexcept;
};

struct tensors {
  const float* left = nullptr;
  const float* right = nullptr; ///< as `pack` wrote it
  const float* bias = nullptr;  ///< a value per column; may be null
  float* out = nullptr;
  std::array<const float*, fused_steps::limit> operands{};
};

/// Floats in a vector of the instruction set in use.
[[nodiscard]] std::int64_t vector_lanes();

/// Vectors in a panel that keep the registers of the instruction set in use busy; the wider one
/// takes fewer rows at a time.
struct panel_vectors {
  std::int64_t wide = 0;
  std::int64_t narrow = 0;
};
[[nodiscard]] panel_vectors best_vectors();

/// Computes rows [first_row, last_row) of what member `member` of `members` has of the columns.
void run(const product& of, const tensors& with, std::int64_t member, std::int64_t members,
         float* workspace);

} // namespace troupe::cpu::packed_product
