#pragma once

#include "kernels/base/result.hpp"
#include "kernels/tensor/shared_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace troupe::protocol::rest {

/// An HTTP answer before it is sent: a text, and behind it tensors that are shared and not copied.
struct response {
  int status = 200;
  std::string body; ///< JSON, or empty
  std::vector<shared_bytes> tail;
  bool has_tail = false; ///< the binary extension, even if all tensors are empty
  std::uint32_t retry_after_ms = 0;
  std::string allow; ///< the method to use, with 405

  [[nodiscard]] std::size_t bytes() const noexcept;
};

/// The HTTP status of a failure (docs/architecture.md). With `as_triton`, resource_exhausted and
/// deadline_exceeded are 503, which clients made for Triton retry on.
[[nodiscard]] int status_of(errc code, bool as_triton) noexcept;

/// {"error": text} with the failure's status.
[[nodiscard]] response error_response(const error& failure, bool as_triton);
[[nodiscard]] response error_response(int status, std::string_view text);

/// Status line and header fields, with the empty line. A retry hint is rounded up to whole seconds.
[[nodiscard]] std::string format_head(const response& answer, bool keep_alive);

} // namespace troupe::protocol::rest
