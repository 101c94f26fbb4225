#include "runtime/onnx/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace troupe::onnx {

namespace {

constexpr std::uint64_t window_bytes = 16 * 1024;

class file_source final : public byte_source {
public:
  file_source(int descriptor, std::uint64_t size, std::string name)
      : descriptor_{descriptor}, size_{size}, name_{std::move(name)} {}
  ~file_source() override { ::close(descriptor_); }
  file_source(const file_source&) = delete;
  file_source& operator=(const file_source&) = delete;

  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }

  [[nodiscard]] result<void> read(std::uint64_t offset, std::span<std::byte> to) override {
    while (!to.empty()) {
      const auto got = ::pread(descriptor_, to.data(), to.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        return fail(errc::internal, "cannot read '{}': {}", name_, std::strerror(errno));
      if (got == 0)
        return fail(errc::invalid_argument, "'{}' ends at byte {}: {} more expected", name_, offset,
                    to.size());
      offset += static_cast<std::uint64_t>(got);
      to = to.subspan(static_cast<std::size_t>(got));
    }
    return {};
  }

private:
  int descriptor_;
  std::uint64_t size_;
  std::string name_;
};

class memory_source final : public byte_source {
public:
  explicit memory_source(shared_bytes bytes) : bytes_{std::move(bytes)} {}

  [[nodiscard]] std::uint64_t size() const noexcept override { return bytes_.size(); }

  [[nodiscard]] result<void> read(std::uint64_t offset, std::span<std::byte> to) override {
    if (offset > bytes_.size() || to.size() > bytes_.size() - offset)
      return fail(errc::invalid_argument, "the model ends at byte {}: {} bytes expected from {} on",
                  bytes_.size(), to.size(), offset);
    if (!to.empty())
      std::memcpy(to.data(), bytes_.data() + offset, to.size());
    return {};
  }

  [[nodiscard]] result<shared_bytes> payload(std::uint64_t offset, std::uint64_t bytes) override {
    const bool inside = offset <= bytes_.size() && bytes <= bytes_.size() - offset;
    if (inside && reinterpret_cast<std::uintptr_t>(bytes_.data() + offset) % tensor_alignment == 0)
      return shared_bytes{bytes_.owner, bytes_.view.subspan(offset, bytes)};
    return byte_source::payload(offset, bytes);
  }

private:
  shared_bytes bytes_;
};

} // namespace

result<shared_bytes> byte_source::payload(std::uint64_t offset, std::uint64_t bytes) {
  if (offset > size() || bytes > size() - offset)
    return fail(errc::invalid_argument, "the data ends at byte {}: {} bytes expected from {} on",
                size(), bytes, offset);
  auto block = allocate_aligned(bytes);
  const std::span<std::byte> room{block.get(), static_cast<std::size_t>(bytes)};
  if (auto done = read(offset, room); !done)
    return propagate(done);
  return shared_bytes{std::move(block), room};
}

result<std::unique_ptr<byte_source>> open_file(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return fail(errno == ENOENT ? errc::not_found : errc::invalid_argument, "cannot open '{}': {}",
                file.string(), std::strerror(errno));
  struct stat about {};
  if (::fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) {
    ::close(descriptor);
    return fail(errc::invalid_argument, "'{}' is not a regular file", file.string());
  }
  return std::make_unique<file_source>(descriptor, static_cast<std::uint64_t>(about.st_size),
                                       file.string());
}

std::unique_ptr<byte_source> in_memory(shared_bytes bytes) {
  return std::make_unique<memory_source>(std::move(bytes));
}

result<std::byte> byte_reader::next() {
  if (position_ < window_start_ || position_ - window_start_ >= window_.size()) {
    if (position_ >= of_.size())
      return fail(errc::invalid_argument, "the model ends at byte {}, in the middle of a field",
                  of_.size());
    window_.resize(std::min(window_bytes, of_.size() - position_));
    window_start_ = position_;
    if (auto done = of_.read(position_, window_); !done)
      return propagate(done);
  }
  return window_[position_++ - window_start_];
}

result<void> byte_reader::append(std::uint64_t count, std::string& to) {
  if (position_ > of_.size() || count > of_.size() - position_)
    return fail(errc::invalid_argument, "the model ends at byte {}: {} bytes expected from {} on",
                of_.size(), count, position_);
  const auto before = to.size();
  to.resize(before + count);
  const bool buffered =
      position_ >= window_start_ && position_ - window_start_ + count <= window_.size();
  if (buffered) {
    std::memcpy(to.data() + before, window_.data() + (position_ - window_start_), count);
  } else {
    const std::span<char> room{to.data() + before, static_cast<std::size_t>(count)};
    if (auto done = of_.read(position_, std::as_writable_bytes(room)); !done)
      return propagate(done);
  }
  position_ += count;
  return {};
}

} // namespace troupe::onnx
