#pragma once

// A matrix product by Strassen's scheme in Winograd's form, one level deep: the matrices are cut in
// quarters and seven products of quarters do the work of eight. The right-hand side is constant, so
// that its sums are packed beforehand; those of the left are made for a few rows at a time, and
// most of those of the results are made where a register tile begins. Rounding errors grow by about
// a factor of two against the plain product (Higham, Accuracy and Stability of Numerical
// Algorithms, 2nd ed., section 23.2.2).

#include "kernels/cpu/matmul/packed_product.hpp"

namespace troupe::cpu::strassen {

inline constexpr std::int64_t factors = 7; ///< sums of quarters on either side

/// How the right-hand matrix lies once packed: for each panel of a quarter the seven sums one after
/// the other, then the columns that are left, as a packed product has them.
struct packing {
  std::int64_t inner = 0;
  std::int64_t columns = 0;
  packed_product::packing quarter = {}; ///< of [inner / 2, columns of a quarter]
  packed_product::packing rest = {};    ///< of [inner, columns left]; may be empty

  [[nodiscard]] std::int64_t size() const noexcept; ///< in floats
  /// Whether there are quarters: `inner` is even and there are enough columns.
  [[nodiscard]] bool possible() const noexcept { return quarter.columns > 0; }
};

[[nodiscard]] packing plan_packing(std::int64_t inner, std::int64_t columns);
void pack(const packing& of, const packed_product::plain_matrix& matrix, float* to);

/// A product of `rows` rows that lie `inner` floats apart, into rows `columns` apart. Rows are
/// paired within their item alone, so that an item's bits do not depend on how many there are.
struct product {
  packing right = {};
  fused_steps fused = {};
  std::int64_t rows = 0;
  std::int64_t rows_of_item = 0;
  packed_product::product rest = {}; ///< the columns that are left

  product(packing packed, const fused_steps& then, std::int64_t rows_of_all,
          std::int64_t rows_of_one);

  /// Floats of workspace for each member of the team.
  [[nodiscard]] std::int64_t workspace() const noexcept;
};

/// An item is cut into blocks of so many rows; the last one takes what is left, from half of that
/// to one and a half. The team shares the blocks of all items.
inline constexpr std::int64_t block_rows = 48;
[[nodiscard]] constexpr std::int64_t blocks_of_item(std::int64_t rows) noexcept {
  return rows < block_rows ? 1 : (rows + block_rows / 2) / block_rows;
}

/// Computes what member `member` of `members` has of the rows. Bits do not depend on `members`.
void run(const product& of, const packed_product::tensors& with, std::int64_t member,
         std::int64_t members, float* workspace);

} // namespace troupe::cpu::strassen
