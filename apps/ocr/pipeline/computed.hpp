#pragma once

#include "kernels/base/result.hpp"

#include <exception>
#include <new>
#include <type_traits>

namespace troupe::ocr {

/// Calls a computation on the pool; what it throws (OpenCV reports that way, and memory may run out
/// on a large image) becomes an error, so that the request learns of it.
template <class Work>
[[nodiscard]] std::invoke_result_t<Work> computed(Work&& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return fail(errc::resource_exhausted, "out of memory for the image");
  } catch (const std::exception& thrown) {
    return fail(errc::internal, "image processing failed: {}", thrown.what());
  }
}

} // namespace troupe::ocr
