// POSIX calls instead of a stream: the file is nobody else's from its first moment, and a frame
// goes out as the pieces it is made of.

#include "actors/payload_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace troupe::actors {

namespace {

constexpr std::size_t most_pieces = 512; // of one call; Linux takes 1024

// Drops what has been written from the front.
void advance(std::vector<iovec>& pieces, std::size_t& first, std::size_t written) {
  while (written > 0) {
    auto& piece = pieces[first];
    const auto part = std::min(written, piece.iov_len);
    piece.iov_base = static_cast<char*>(piece.iov_base) + part;
    piece.iov_len -= part;
    written -= part;
    first += piece.iov_len == 0;
  }
}

} // namespace

result<std::unique_ptr<payload_file>> payload_file::create(const std::filesystem::path& file) {
  constexpr mode_t owner_only = S_IRUSR | S_IWUSR;
  const int descriptor =
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, owner_only);
  if (descriptor < 0)
    return fail(errc::invalid_argument, "capture: {} cannot be written: {}", file.string(),
                std::strerror(errno));
  std::unique_ptr<payload_file> made{new payload_file{descriptor}};
  struct stat about {};
  if (::fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode))
    return fail(errc::invalid_argument, "capture: {} is no file", file.string());
  // One that was there before may have been open to others.
  if (::fchmod(descriptor, owner_only) != 0 || ::ftruncate(descriptor, 0) != 0)
    return fail(errc::invalid_argument, "capture: {} cannot be made its owner's alone: {}",
                file.string(), std::strerror(errno));
  return made;
}

payload_file::~payload_file() {
  ::close(descriptor_);
}

result<void> payload_file::append(std::span<const protocol::rpc::outgoing_frame> frames) {
  std::vector<iovec> pieces;
  std::uint64_t bytes = 0;
  for (const auto& frame : frames) {
    for (const auto& piece : frame.pieces())
      pieces.push_back({const_cast<std::byte*>(piece.data()), piece.size()});
    bytes += frame.bytes();
  }
  for (std::size_t first = 0; first < pieces.size();) {
    const auto count = std::min(pieces.size() - first, most_pieces);
    const auto written = ::writev(descriptor_, &pieces[first], static_cast<int>(count));
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0) {
      const auto why = written < 0 ? std::strerror(errno) : "nothing was written";
      if (::ftruncate(descriptor_, static_cast<off_t>(bytes_)) != 0)
        return fail(errc::internal, "{}; the file ends within a frame", why);
      return fail(errc::internal, "{}", why);
    }
    advance(pieces, first, static_cast<std::size_t>(written));
  }
  bytes_ += bytes;
  return {};
}

} // namespace troupe::actors
