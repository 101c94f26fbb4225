#include "apps/ocr/image/exif.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace troupe::ocr {
namespace {

constexpr std::size_t preamble = 6; // "Exif" and two zero bytes
constexpr std::uint32_t orientation_tag = 0x0112;

// A TIFF structure of either byte order; reads past the end give 0, which no caller takes for a
// find.
class tiff_bytes {
public:
  explicit tiff_bytes(std::span<const std::byte> bytes) noexcept
      : bytes_(bytes), little_(!bytes.empty() && bytes[0] == std::byte{'I'}) {}

  [[nodiscard]] std::uint32_t number(std::size_t at, std::size_t size) const noexcept {
    if (at > bytes_.size() || bytes_.size() - at < size)
      return 0;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      auto byte = std::to_integer<std::uint32_t>(bytes_[at + i]);
      value |= byte << (8 * (little_ ? i : size - 1 - i));
    }
    return value;
  }

private:
  std::span<const std::byte> bytes_;
  bool little_;
};

} // namespace

int exif_orientation(std::span<const std::byte> segment) noexcept {
  if (segment.size() < preamble || std::memcmp(segment.data(), "Exif\0\0", preamble) != 0)
    return 1;
  tiff_bytes tiff{segment.subspan(preamble)};
  std::size_t directory = tiff.number(4, 4);
  auto entries = tiff.number(directory, 2); // at most 65535
  for (std::uint32_t i = 0; i < entries; ++i) {
    auto entry = directory + 2 + std::size_t{i} * 12;
    if (tiff.number(entry, 2) != orientation_tag)
      continue;
    auto value = tiff.number(entry + 8, 2);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

image upright(image stored, int orientation) {
  if (orientation <= 1 || orientation > 8)
    return stored;
  bool swapped = orientation >= 5;
  bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  bool from_bottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  image turned(swapped ? stored.height : stored.width, swapped ? stored.width : stored.height);
  for (int y = 0; y < turned.height; ++y) {
    auto* to = turned.row(y);
    for (int x = 0; x < turned.width; ++x, to += 3) {
      int column = swapped ? y : x;
      int line = swapped ? x : y;
      if (from_right)
        column = stored.width - 1 - column;
      if (from_bottom)
        line = stored.height - 1 - line;
      std::copy_n(std::as_const(stored).row(line) + std::ptrdiff_t{column} * 3, 3, to);
    }
  }
  return turned;
}

} // namespace troupe::ocr
