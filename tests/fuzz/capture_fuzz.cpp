// The file that a server recorded, or anything else: read whole, and turned into a scenario. What
// is read can be written.

#include "actors/simulation/replay.hpp"
#include "runtime/capture/reader.hpp"

#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

using namespace troupe;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::istringstream from{text};
  capture::reader records{from};
  for (;;) {
    const auto next = records.next();
    if (!next && next.error().text.empty())
      std::abort();
    if (!next || !*next)
      break;
    if (capture::to_line(**next).back() != '\n')
      std::abort();
  }
  std::istringstream again{text};
  if (const auto whole = actors::simulation::read_capture(again))
    (void)actors::simulation::scenario_of(*whole, {});
  return 0;
}
