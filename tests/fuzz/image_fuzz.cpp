// Image files of strangers: whatever comes, an image within the limits or an error.

#include "apps/ocr/image/decode.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const troupe::ocr::decode_limits limits{2048, 1'000'000};
  auto read = troupe::ocr::decode_image(std::as_bytes(std::span{data, size}), limits);
  if (read) {
    auto expected = std::size_t{3} * static_cast<std::size_t>(read->width)
                    * static_cast<std::size_t>(read->height);
    if (read->empty() || read->pixels.size() != expected || read->width > limits.max_side
        || read->height > limits.max_side)
      std::abort();
  } else if (read.error().text.empty()) {
    std::abort();
  }
  return 0;
}
