#pragma once

#include "kernels/op/attributes.hpp"

#include <tl/expected.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace troupe::cpu {

/// What classifiers and regressors of ai.onnx.ml do to the scores of a row.
enum class post_transform : std::uint8_t { none, logistic, softmax, softmax_zero, probit };

/// Of the attribute `post_transform`; the reason when it has no such name.
[[nodiscard]] tl::expected<post_transform, std::string>
post_transform_of(const attribute_map& attributes);

/// Of the scores of one row.
void apply(post_transform transform, std::span<double> scores);

} // namespace troupe::cpu
