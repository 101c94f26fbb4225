#pragma once

#include <boost/container/small_vector.hpp>

#include <span>

namespace troupe {

/// A vector whose first `Inline` elements need no allocation. Boost 1.74's iterators do not model
/// the standard's contiguous ones, so the conversion to a span is spelled out here.
template <class T, std::size_t Inline>
class small_vector : public boost::container::small_vector<T, Inline> {
public:
  using boost::container::small_vector<T, Inline>::small_vector;

  operator std::span<const T>() const noexcept { return {this->data(), this->size()}; } // NOLINT
  operator std::span<T>() noexcept { return {this->data(), this->size()}; }             // NOLINT
};

} // namespace troupe
