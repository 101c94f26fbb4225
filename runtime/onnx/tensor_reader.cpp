#include "runtime/onnx/tensor_reader.hpp"

#include "runtime/graph/onnx_type.hpp"
#include "runtime/onnx/onnx.pb.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

namespace troupe::onnx {

namespace fs = std::filesystem;

namespace {

static_assert(std::endian::native == std::endian::little, "ONNX stores raw data little-endian");

// Converts each element of a typed field to T. Narrow types travel as int32: the low bits count.
template <class T, class Field>
shared_bytes packed(const Field& field) {
  auto block = allocate_aligned(static_cast<std::size_t>(field.size()) * sizeof(T));
  auto* out = reinterpret_cast<T*>(block.get());
  for (const auto& element : field)
    *out++ = static_cast<T>(element);
  const std::byte* data = block.get();
  return {std::move(block), {data, static_cast<std::size_t>(field.size()) * sizeof(T)}};
}

template <class Field>
shared_bytes booleans(const Field& field) {
  auto block = allocate_aligned(static_cast<std::size_t>(field.size()));
  std::transform(field.begin(), field.end(), block.get(),
                 [](auto element) { return std::byte{element != 0}; });
  const std::byte* data = block.get();
  return {std::move(block), {data, static_cast<std::size_t>(field.size())}};
}

result<shared_bytes> strings(const TensorProto& from) {
  std::size_t bytes = 0;
  for (const auto& element : from.string_data())
    bytes += element.size() + sizeof(std::uint32_t);
  auto block = allocate_aligned(bytes);
  auto* out = block.get();
  for (const auto& element : from.string_data()) {
    const auto length = static_cast<std::uint32_t>(element.size());
    std::memcpy(out, &length, sizeof length);
    std::memcpy(out + sizeof length, element.data(), element.size());
    out += sizeof length + element.size();
  }
  const std::byte* data = block.get();
  return shared_bytes{std::move(block), {data, bytes}};
}

// The field of the message that holds this type's elements, and how many it has.
std::int64_t field_elements(const TensorProto& from, dtype type) {
  switch (type) {
    case dtype::float32: return from.float_data_size();
    case dtype::float64: return from.double_data_size();
    case dtype::int64: return from.int64_data_size();
    case dtype::uint32:
    case dtype::uint64: return from.uint64_data_size();
    case dtype::string: return from.string_data_size();
    default: return from.int32_data_size();
  }
}

result<shared_bytes> field_data(const TensorProto& from, dtype type) {
  switch (type) {
    case dtype::float32: return packed<float>(from.float_data());
    case dtype::float64: return packed<double>(from.double_data());
    case dtype::int64: return packed<std::int64_t>(from.int64_data());
    case dtype::uint64: return packed<std::uint64_t>(from.uint64_data());
    case dtype::uint32: return packed<std::uint32_t>(from.uint64_data());
    case dtype::int32: return packed<std::int32_t>(from.int32_data());
    case dtype::int16:
    case dtype::uint16:
    case dtype::float16:
    case dtype::bfloat16: return packed<std::uint16_t>(from.int32_data());
    case dtype::int8:
    case dtype::uint8: return packed<std::uint8_t>(from.int32_data());
    case dtype::boolean: return booleans(from.int32_data());
    case dtype::string: return strings(from);
  }
  return fail(errc::internal, "no field for dtype {}", to_string(type));
}

result<void> check_booleans(const tensor& read) {
  const auto is_bad = [](std::byte element) { return std::to_integer<int>(element) > 1; };
  if (read.type == dtype::boolean && std::ranges::any_of(read.data.view, is_bad))
    return fail(errc::invalid_argument, "a BOOL element is neither 0 nor 1");
  return {};
}

const std::string* external_entry(const TensorProto& from, std::string_view key) {
  for (const auto& entry : from.external_data())
    if (entry.key() == key)
      return &entry.value();
  return nullptr;
}

result<std::uint64_t> external_number(const TensorProto& from, std::string_view key,
                                      std::uint64_t fallback) {
  const auto* text = external_entry(from, key);
  if (text == nullptr)
    return fallback;
  std::uint64_t value = 0;
  const auto* end = text->data() + text->size();
  if (auto [at, code] = std::from_chars(text->data(), end, value); code != std::errc{} || at != end)
    return fail(errc::invalid_argument, "external data {} '{}' is not a number", key,
                text->substr(0, 32));
  return value;
}

bool lies_in(const fs::path& target, const fs::path& folder) {
  std::error_code failed;
  const auto root = fs::canonical(folder, failed);
  return !failed && std::ranges::mismatch(root, target).in1 == root.end();
}

// The real path of the first file of that name, which must lie where it may.
result<fs::path> find(const fs::path& location, const external_places& in) {
  std::error_code failed;
  for (const auto& folder : in.beside) {
    auto target = fs::canonical(folder / location, failed);
    if (failed)
      continue;
    if (std::ranges::any_of(in.within, [&](const auto& root) { return lies_in(target, root); }))
      return target;
    return fail(errc::invalid_argument,
                "external data '{}' leads out of the model's directory: it is '{}'",
                location.string(), target.string());
  }
  return fail(errc::not_found, "cannot find external data '{}' in {}: {}", location.string(),
              in.beside.front().string(), failed.message());
}

} // namespace

result<std::shared_ptr<const tensor>> tensor_reader::read(const TensorProto& from) {
  const auto named = [&](error failure) {
    failure.text = fmt::format("tensor '{}': {}", from.name(), failure.text);
    return tl::unexpected{std::move(failure)};
  };
  auto made = std::make_shared<tensor>();
  auto type = graph::dtype_of_onnx(from.data_type());
  if (!type)
    return named(type.error());
  made->type = *type;
  made->dims.assign(from.dims().begin(), from.dims().end());
  auto count = checked_element_count(made->dims);
  if (!count)
    return named(count.error());
  if (from.has_segment())
    return named({errc::unimplemented, "it is stored in segments"});

  const bool is_external = from.data_location() == TensorProto::EXTERNAL;
  const bool is_raw = from.has_payload_offset();
  result<shared_bytes> data;
  if (is_external || is_raw) {
    if (*type == dtype::string)
      return named({errc::invalid_argument, "strings cannot be stored as raw bytes"});
    const auto bytes = static_cast<std::uint64_t>(*count) * size_of(*type);
    if (!is_external && from.payload_size() != bytes)
      return named({errc::invalid_argument,
                    fmt::format("{} of {} need {} bytes: raw_data has {}", to_string(made->dims),
                                to_string(*type), bytes, from.payload_size())});
    data = is_external ? external(from, bytes) : model_.payload(from.payload_offset(), bytes);
  } else {
    if (field_elements(from, *type) != *count)
      return named(
          {errc::invalid_argument,
           fmt::format("{} of {} need {} elements: its data field has {}", to_string(made->dims),
                       to_string(*type), *count, field_elements(from, *type))});
    data = field_data(from, *type);
  }
  if (!data)
    return named(data.error());
  made->data = std::move(*data);
  if (auto good = check_booleans(*made); !good)
    return named(good.error());
  return made;
}

result<shared_bytes> tensor_reader::external(const TensorProto& from, std::uint64_t bytes) {
  const auto* location = external_entry(from, "location");
  if (location == nullptr)
    return fail(errc::invalid_argument, "it is external but names no location");
  auto offset = external_number(from, "offset", 0);
  auto length = external_number(from, "length", bytes);
  if (!offset)
    return propagate(offset);
  if (!length)
    return propagate(length);
  if (*length != bytes)
    return fail(errc::invalid_argument, "its dims need {} bytes: external data has length {}",
                bytes, *length);
  auto file = external_file(*location);
  if (!file)
    return propagate(file);
  return (*file)->payload(*offset, bytes);
}

result<byte_source*> tensor_reader::external_file(const std::string& location) {
  if (auto known = files_.find(location); known != files_.end())
    return known->second.get();
  const fs::path relative{location};
  const bool climbs = std::ranges::find(relative, fs::path{".."}) != relative.end();
  if (location.empty() || location.find('\0') != std::string::npos || relative.is_absolute()
      || climbs)
    return fail(errc::invalid_argument,
                "external data location '{}' is not a path below the model's directory", location);
  if (places_.beside.empty())
    return fail(errc::invalid_argument, "external data '{}' needs a model that is a file",
                location);
  auto target = find(relative, places_);
  if (!target)
    return propagate(target);
  auto opened = open_file(*target);
  if (!opened)
    return propagate(opened);
  return files_.emplace(location, std::move(*opened)).first->second.get();
}

external_places external_places::of_file(const fs::path& model, const fs::path& repository) {
  external_places made = of_folder(model.has_parent_path() ? model.parent_path() : ".");
  std::error_code failed;
  const auto real = fs::canonical(model, failed);
  if (!failed) {
    made.beside.push_back(real.parent_path());
    made.within.push_back(real.parent_path());
  }
  if (!repository.empty())
    made.within.push_back(repository);
  return made;
}

external_places external_places::of_folder(const fs::path& folder) {
  if (folder.empty())
    return {};
  return {{folder}, {folder}};
}

} // namespace troupe::onnx
