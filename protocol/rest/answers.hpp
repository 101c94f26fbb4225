#pragma once

// The JSON answers that are off the hot path.

#include "protocol/rest/response.hpp"
#include "protocol/service.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace troupe::protocol::rest {

/// {"live": true}; 503 if not.
[[nodiscard]] response live_answer(bool live);
[[nodiscard]] response ready_answer(bool ready);
[[nodiscard]] response model_ready_answer(std::string_view model, bool ready);
[[nodiscard]] response server_answer();
[[nodiscard]] response metadata_answer(const model_metadata& model);
[[nodiscard]] response index_answer(const std::vector<model_index_entry>& models, bool ready_only);
[[nodiscard]] response statistics_answer(const std::vector<model_statistics>& models);

/// The body of a repository request: empty, or an object.
struct repository_request {
  bool ready_only = false; ///< of an index
};

/// invalid_argument if it is no object; unimplemented if it carries a model's configuration or
/// files.
[[nodiscard]] result<repository_request> decode_repository(std::string_view json);

} // namespace troupe::protocol::rest
