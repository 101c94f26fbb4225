#include "bench/serve/load_input.hpp"

#include "apps/common/npy.hpp"
#include "kernels/tensor/byte_strings.hpp"
#include "kernels/tensor/half.hpp"

#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <span>

namespace troupe::bench {
namespace {

/// The value of the last "name=VALUE" among `given`.
std::optional<std::string> value_for(const std::string& name,
                                     const std::vector<std::string>& given) {
  std::optional<std::string> found;
  for (const auto& each : given)
    if (each.starts_with(name + '='))
      found = each.substr(name.size() + 1);
  return found;
}

result<void> all_known(const protocol::model_metadata& model,
                       const std::vector<std::string>& given) {
  for (const auto& each : given) {
    bool known = false;
    for (const auto& input : model.inputs)
      known = known || each.starts_with(input.name + '=');
    if (!known)
      return fail(errc::invalid_argument, "\"{}\": model \"{}\" has no such input", each,
                  model.name);
  }
  return {};
}

result<shape> parse_shape(const std::string& text) {
  shape dims;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    std::int64_t size = 0;
    const auto [stop, ec] = std::from_chars(at, end, size);
    if (ec != std::errc{} || size < 0 || (stop < end && *stop != ',') || stop + 1 == end)
      return fail(errc::invalid_argument, "\"{}\" is no shape such as 1,3,224,224", text);
    dims.push_back(size);
    at = stop < end ? stop + 1 : stop;
  }
  return dims;
}

result<tensor> read_file(const std::string& file) {
  if (file.ends_with(".npy"))
    return apps::read_npy(file);
  std::ifstream stream{file, std::ios::binary};
  std::string bytes{std::istreambuf_iterator<char>{stream}, {}};
  if (!stream)
    return fail(errc::not_found, "cannot read \"{}\"", file);
  return pack_strings(std::span{&bytes, 1});
}

template <class T, class From>
void fill(std::byte* block, std::size_t count, From&& next) {
  auto* const out = reinterpret_cast<T*>(block);
  for (std::size_t i = 0; i < count; ++i)
    out[i] = static_cast<T>(next());
}

result<tensor> random_tensor(dtype type, shape dims, std::mt19937_64& random) {
  const auto counted = checked_element_count(dims, std::int64_t{1} << 30);
  if (!counted)
    return propagate(counted);
  const auto count = static_cast<std::size_t>(*counted);
  auto block = allocate_aligned(count * size_of(type));
  std::byte* const data = block.get();
  const auto real = [&] { return std::uniform_real_distribution<float>{0, 1}(random); };
  const auto whole = [&] { return random() % 100; };
  switch (type) {
    case dtype::boolean: fill<std::uint8_t>(data, count, [&] { return random() % 2; }); break;
    case dtype::uint8:
    case dtype::int8: fill<std::uint8_t>(data, count, whole); break;
    case dtype::uint16:
    case dtype::int16: fill<std::uint16_t>(data, count, whole); break;
    case dtype::uint32:
    case dtype::int32: fill<std::uint32_t>(data, count, whole); break;
    case dtype::uint64:
    case dtype::int64: fill<std::uint64_t>(data, count, whole); break;
    case dtype::float16: fill<half>(data, count, real); break;
    case dtype::bfloat16: fill<bfloat16>(data, count, real); break;
    case dtype::float32: fill<float>(data, count, real); break;
    case dtype::float64: fill<double>(data, count, real); break;
    case dtype::string: return fail(errc::invalid_argument, "BYTES need a file: --input NAME=FILE");
  }
  return tensor{type, std::move(dims), {std::move(block), {data, count * size_of(type)}}};
}

result<tensor> make_one(const protocol::tensor_metadata& input,
                        const std::vector<std::string>& shapes,
                        const std::vector<std::string>& files, std::mt19937_64& random) {
  if (const auto file = value_for(input.name, files))
    return read_file(*file);
  const auto type = parse_dtype(input.datatype);
  if (!type)
    return propagate(type);
  shape dims;
  if (const auto text = value_for(input.name, shapes)) {
    auto given = parse_shape(*text);
    if (!given)
      return propagate(given);
    dims = std::move(*given);
  } else {
    for (const auto size : input.shape)
      dims.push_back(size < 0 ? 1 : size);
  }
  return random_tensor(*type, std::move(dims), random);
}

} // namespace

result<std::vector<protocol::named_tensor>> make_inputs(const protocol::model_metadata& model,
                                                        const std::vector<std::string>& shapes,
                                                        const std::vector<std::string>& files,
                                                        std::uint64_t seed) {
  for (const auto* given : {&shapes, &files})
    if (auto known = all_known(model, *given); !known)
      return propagate(known);
  std::mt19937_64 random{seed};
  std::vector<protocol::named_tensor> made;
  for (const auto& input : model.inputs) {
    auto value = make_one(input, shapes, files, random);
    if (!value)
      return fail(value.error().code, "input \"{}\": {}", input.name, value.error().text);
    made.push_back({input.name, std::move(*value), {}});
  }
  return made;
}

} // namespace troupe::bench
