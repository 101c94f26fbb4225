#pragma once

#include "kernels/base/error.hpp"

#include <fmt/format.h>
#include <tl/expected.hpp>

#include <utility>

namespace troupe {

/// A value or the error that took its place.
template <class T>
using result = tl::expected<T, error>;

/// An error whose text is formatted; converts to any `result<T>`.
template <class... Args>
[[nodiscard]] tl::unexpected<error> fail(errc code, fmt::format_string<Args...> text,
                                         Args&&... args) {
  return tl::unexpected<error>{error{code, fmt::format(text, std::forward<Args>(args)...)}};
}

/// Hands the error of a failed result on to a result of another type.
template <class T>
[[nodiscard]] tl::unexpected<error> propagate(result<T>&& failed) {
  return tl::unexpected<error>{std::move(failed).error()};
}

template <class T>
[[nodiscard]] tl::unexpected<error> propagate(const result<T>& failed) {
  return tl::unexpected<error>{failed.error()};
}

} // namespace troupe
