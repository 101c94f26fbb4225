// The .npy format, as numpy.lib.format documents it: a magic, a version, the length of a header,
// the header (a Python dict in text) padded so that the data is aligned, the data.

#include "apps/common/npy.hpp"

#include "apps/common/npy_dict.hpp"
#include "kernels/tensor/byte_strings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::apps {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t max_header_bytes = 64 << 10;

struct type_name {
  dtype type;
  std::string_view descr;
};

constexpr std::array type_names{type_name{dtype::boolean, "|b1"}, type_name{dtype::uint8, "|u1"},
                                type_name{dtype::uint16, "<u2"},  type_name{dtype::uint32, "<u4"},
                                type_name{dtype::uint64, "<u8"},  type_name{dtype::int8, "|i1"},
                                type_name{dtype::int16, "<i2"},   type_name{dtype::int32, "<i4"},
                                type_name{dtype::int64, "<i8"},   type_name{dtype::float16, "<f2"},
                                type_name{dtype::float32, "<f4"}, type_name{dtype::float64, "<f8"}};

/// Length of the header's text and where it begins.
result<std::pair<std::size_t, std::size_t>> header_extent(std::span<const std::byte> file) {
  const auto byte_at = [&](std::size_t index) { return std::to_integer<std::size_t>(file[index]); };
  if (file.size() < 10 || std::memcmp(file.data(), magic.data(), magic.size()) != 0)
    return troupe::fail(errc::invalid_argument, "it is no .npy file");
  const auto version = byte_at(6);
  if (version < 1 || version > 3)
    return troupe::fail(errc::invalid_argument, ".npy version {} is not known", version);
  const std::size_t begin = version == 1 ? 10 : 12;
  if (file.size() < begin)
    return troupe::fail(errc::invalid_argument, "it ends inside its header");
  auto bytes = byte_at(8) | byte_at(9) << 8;
  if (version > 1)
    bytes |= byte_at(10) << 16 | byte_at(11) << 24;
  if (bytes > max_header_bytes || bytes > file.size() - begin)
    return troupe::fail(errc::invalid_argument, "it claims a header of {} bytes", bytes);
  return std::pair{begin, bytes};
}

/// Fixed-size elements ("|S8", "|V8") as byte strings.
result<tensor> parse_strings(const npy_dict& of, std::span<const std::byte> data) {
  const std::string_view digits = std::string_view{of.descr}.substr(2);
  std::size_t width = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), width);
  const auto count = checked_element_count(of.dims);
  if (failure != std::errc{} || end != digits.data() + digits.size() || !count)
    return troupe::fail(errc::invalid_argument, "element type '{}' and shape {} make no sense",
                        of.descr, to_string(of.dims));
  std::size_t expected = 0;
  if (__builtin_mul_overflow(width, static_cast<std::size_t>(*count), &expected)
      || expected != data.size() || (width == 0 && *count > 0))
    return troupe::fail(errc::invalid_argument, "{} elements of '{}' do not fill {} bytes", *count,
                        of.descr, data.size());
  std::vector<std::string> elements;
  elements.reserve(static_cast<std::size_t>(*count));
  for (std::size_t at = 0; at < data.size(); at += width) {
    std::string element{reinterpret_cast<const char*>(data.data() + at), width};
    if (of.descr[1] == 'S')
      element.erase(element.find_last_not_of('\0') + 1);
    elements.push_back(std::move(element));
  }
  auto packed = pack_strings(elements);
  if (packed)
    packed->dims = of.dims;
  return packed;
}

} // namespace

std::optional<std::string> npy_descr(dtype type) {
  const auto* known = std::ranges::find(type_names, type, &type_name::type);
  if (known == type_names.end())
    return std::nullopt;
  return std::string{known->descr};
}

result<tensor> parse_npy(shared_bytes file) {
  const auto extent = header_extent(file.view);
  if (!extent)
    return propagate(extent);
  const auto [begin, bytes] = *extent;
  const std::string_view text{reinterpret_cast<const char*>(file.data()) + begin, bytes};
  const auto read = parse_npy_dict(text);
  if (!read)
    return propagate(read);
  if (read->fortran_order)
    return troupe::fail(errc::invalid_argument,
                        "it is in Fortran order; numpy.ascontiguousarray makes it C order");
  const auto data = file.view.subspan(begin + bytes);
  if (read->descr.starts_with("|S") || read->descr.starts_with("|V"))
    return parse_strings(*read, data);
  const auto* known = std::ranges::find(type_names, read->descr, &type_name::descr);
  if (known == type_names.end())
    return troupe::fail(errc::invalid_argument, "elements of type '{}' are not read", read->descr);
  const auto count = checked_element_count(read->dims);
  if (!count)
    return propagate(count);
  const auto expected = static_cast<std::size_t>(*count) * size_of(known->type);
  if (data.size() != expected)
    return troupe::fail(errc::invalid_argument, "shape {} of '{}' takes {} bytes, but {} follow",
                        to_string(read->dims), read->descr, expected, data.size());
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(data.data()) % tensor_alignment == 0;
  return tensor{known->type, read->dims,
                is_aligned ? shared_bytes{std::move(file.owner), data} : copy_of(data)};
}

result<tensor> read_npy(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary | std::ios::ate};
  const auto end = in ? static_cast<std::streamoff>(in.tellg()) : -1;
  if (end < 0)
    return troupe::fail(errc::not_found, "cannot read '{}'", file.string());
  const auto bytes = static_cast<std::size_t>(end);
  auto block = allocate_aligned(bytes);
  in.seekg(0);
  if (!in.read(reinterpret_cast<char*>(block.get()), end))
    return troupe::fail(errc::internal, "reading '{}' failed", file.string());
  const std::span<const std::byte> content{block.get(), bytes};
  auto made = parse_npy({std::move(block), content});
  if (!made)
    return troupe::fail(made.error().code, "'{}': {}", file.string(), made.error().text);
  return made;
}

std::string npy_header(dtype type, std::span<const std::int64_t> dims) {
  std::string sizes;
  for (auto size : dims)
    sizes += std::to_string(size) + (dims.size() == 1 ? "," : ", ");
  if (dims.size() > 1)
    sizes.erase(sizes.size() - 2);
  auto text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                          npy_descr(type).value_or(""), sizes);
  constexpr std::size_t before = 10;
  const auto unpadded = before + text.size() + 1;
  text.append((tensor_alignment - unpadded % tensor_alignment) % tensor_alignment, ' ');
  text += '\n';
  std::string made{magic};
  made += '\1';
  made += '\0';
  made += static_cast<char>(text.size() & 0xff);
  made += static_cast<char>(text.size() >> 8);
  return made + text;
}

} // namespace troupe::apps
