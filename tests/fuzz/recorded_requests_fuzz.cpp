// The requests that a server kept beside its capture, or anything else in their place: looked
// through, and each read with its payloads, of which no more is taken than there is.

#include "protocol/msgpack/recorded_requests.hpp"

#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

namespace rpc = troupe::protocol::rpc;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto from =
      std::make_unique<std::istringstream>(std::string{reinterpret_cast<const char*>(data), size});
  auto read = rpc::recorded_requests::over(std::move(from), "requests");
  if (!read) {
    if (read.error().code != troupe::errc::invalid_argument || read.error().text.empty())
      std::abort();
    return 0;
  }
  std::size_t bytes = read->cut_off();
  for (const auto& entry : read->entries()) {
    const auto one = read->load(entry);
    if (!one)
      std::abort();
    for (const auto& input : one->inputs)
      bytes += input.value.data.size();
  }
  if (bytes > size)
    std::abort();
  return 0;
}
