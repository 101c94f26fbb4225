// Files that `troupe run` and `troupe infer` are given: a tensor whose data is as long as its type
// and dims say, or an error, whatever the bytes.

#include "apps/common/npy.hpp"
#include "kernels/tensor/byte_strings.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto made = troupe::apps::parse_npy(troupe::copy_of(std::as_bytes(std::span{data, size})));
  if (!made) {
    if (made.error().text.empty())
      std::abort();
    return 0;
  }
  if (made->type == troupe::dtype::string) {
    if (!troupe::unpack_strings(*made))
      std::abort();
    return 0;
  }
  const auto elements = troupe::checked_element_count(made->dims);
  if (!elements
      || made->data.size() != static_cast<std::size_t>(*elements) * troupe::size_of(made->type))
    std::abort();
  return 0;
}
