#pragma once

#include "kernels/cpu/candidate.hpp"

#include <vector>

namespace troupe::cpu {

/// Slices of a tensor named by tuples of indices: what GatherND and ScatterND share.
struct index_tuples {
  std::int64_t batches = 1;          ///< of leading axes that data and indices have in common
  std::int64_t tuples = 1;           ///< of each batch
  std::int64_t batch_elements = 1;   ///< of the data
  std::int64_t slice_elements = 1;   ///< that a tuple names
  std::vector<std::int64_t> sizes;   ///< of the axes that a tuple indexes
  std::vector<std::int64_t> strides; ///< of those axes, in elements

  [[nodiscard]] std::int64_t slices() const noexcept { return batches * tuples; }

  /// Where slice `which` begins in the data, in elements; `indices` have been checked.
  [[nodiscard]] std::int64_t offset(const std::int64_t* indices, std::int64_t which) const {
    const auto* tuple = indices + which * static_cast<std::int64_t>(sizes.size());
    std::int64_t at = which / tuples * batch_elements;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      at += (tuple[i] < 0 ? tuple[i] + sizes[i] : tuple[i]) * strides[i];
    return at;
  }

  /// invalid_argument unless every index is in range.
  [[nodiscard]] result<void> check(const std::int64_t* indices, std::string_view op_type) const;
};

/// From the node's data and INT64 indices; the reason when ranks do not fit.
[[nodiscard]] tl::expected<index_tuples, std::string> index_tuples_of(const kernel_spec& spec,
                                                                      std::int64_t batch_axes);

} // namespace troupe::cpu
