#pragma once

#include "protocol/service.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace troupe::bench {

/// Inputs for a model: from files where given ("name=FILE", .npy or else one element of BYTES),
/// else seeded random numbers of the shape given ("name=1,3,48,320") or of the model's own with 1
/// for every free size. Floats lie in [0, 1), integers in [0, 100). invalid_argument for an unknown
/// name, and for BYTES without a file.
[[nodiscard]] result<std::vector<protocol::named_tensor>>
make_inputs(const protocol::model_metadata& model, const std::vector<std::string>& shapes,
            const std::vector<std::string>& files, std::uint64_t seed);

} // namespace troupe::bench
