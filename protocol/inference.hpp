#pragma once

// The domain's message: what every protocol decodes into and every stage works on. Free of CAF and
// of any wire format.

#include "kernels/base/clock.hpp"
#include "kernels/tensor/tensor.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace troupe::protocol {

/// A request or tensor parameter, as KServe v2 has them.
using parameter = std::variant<bool, std::int64_t, double, std::string>;
using parameter_map = std::map<std::string, parameter, std::less<>>;

struct named_tensor {
  std::string name;
  tensor value;
  parameter_map parameters;
};

struct requested_output {
  std::string name;
  parameter_map parameters;
};

/// One inference request. Tensor payloads are views that keep the receive buffer alive: decoding
/// copies none of them.
struct inference_request {
  std::string model_name;
  std::string model_version; ///< empty: the server chooses
  std::string id;            ///< the client's own label, returned as it came
  parameter_map parameters;
  std::vector<named_tensor> inputs;
  std::vector<requested_output> outputs; ///< empty: all outputs

  std::uint32_t priority = 0;           ///< 0 = the model's default, 1 = highest
  std::optional<time_point> deadline{}; ///< on the monotonic clock; none = the server's default
};

/// One part of an answer; the final part ends the request.
struct inference_response {
  std::string model_name;
  std::string model_version;
  std::string id;
  parameter_map parameters;
  std::vector<named_tensor> outputs;
};

using response_part = result<inference_response>;

} // namespace troupe::protocol
