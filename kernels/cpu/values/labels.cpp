// Lookups in lists of categories. ONNX: ai.onnx.ml LabelEncoder-1, -2 and -4, CategoryMapper-1,
// OneHotEncoder-1, and ArrayFeatureExtractor-1 for strings.

#include "kernels/cpu/value_arguments.hpp"
#include "kernels/cpu/value_kernels.hpp"
#include "kernels/tensor/byte_strings.hpp"

#include <bit>
#include <cmath>
#include <string>
#include <unordered_map>

namespace troupe::cpu {

namespace {

using texts = std::vector<std::string>;

// The list in `prefix`_tensor, _strings, _int64s or _floats; nothing if none is written.
result<std::optional<tensor>> list_in(const attribute_map& attributes, const std::string& prefix) {
  if (const auto* written = attributes.find<tensor>(prefix + "_tensor"))
    return std::optional{*written};
  if (const auto* strings = attributes.find<texts>(prefix + "_strings")) {
    auto packed = pack_strings(*strings);
    return packed ? result<std::optional<tensor>>{*std::move(packed)} : propagate(packed);
  }
  const auto numbers = [&](dtype type, const auto& content) {
    const std::int64_t count[] = {static_cast<std::int64_t>(content.size())};
    using element = typename std::remove_cvref_t<decltype(content)>::value_type;
    return std::optional{make_tensor(type, count, std::span<const element>{content})};
  };
  if (const auto* integers = attributes.find<std::vector<std::int64_t>>(prefix + "_int64s"))
    return numbers(dtype::int64, *integers);
  if (const auto* floats = attributes.find<std::vector<float>>(prefix + "_floats"))
    return numbers(dtype::float32, *floats);
  return std::nullopt;
}

// What stands for a key that is not in the list, as a list of one.
result<tensor> default_of(const attribute_map& attributes, dtype type) {
  constexpr std::int64_t one[] = {1};
  if (const auto* written = attributes.find<tensor>("default_tensor"))
    if (written->type == type && element_count(written->dims) == 1)
      return *written;
  switch (type) {
    case dtype::string: {
      const texts text{attributes.text("default_string", "_Unused")};
      return pack_strings(text);
    }
    case dtype::int64: {
      const std::int64_t number[] = {attributes.integer("default_int64", -1)};
      return make_integers(one, number);
    }
    case dtype::float32: {
      const float number[] = {attributes.real("default_float", -0.0F)};
      return make_tensor<float>(type, one, number);
    }
    case dtype::float64: {
      const double number[] = {-0.0};
      return make_tensor<double>(type, one, number);
    }
    case dtype::int32: {
      const std::int32_t number[] = {-1};
      return make_tensor<std::int32_t>(type, one, number);
    }
    case dtype::int16: {
      const std::int16_t number[] = {-1};
      return make_tensor<std::int16_t>(type, one, number);
    }
    default: return fail(errc::unimplemented, "values of {} are not supported", to_string(type));
  }
}

// Equal numbers with equal bits: one zero, one NaN.
template <class T>
tensor with_one_zero(const tensor& from) {
  std::vector<T> numbers;
  for (const auto number : elements_of<T>(from.data))
    numbers.push_back(number == 0          ? T{0}
                      : std::isnan(number) ? std::numeric_limits<T>::quiet_NaN()
                                           : number);
  return make_tensor<T>(from.type, from.dims, numbers);
}

tensor comparable(const tensor& from) {
  if (from.type == dtype::float32)
    return with_one_zero<float>(from);
  return from.type == dtype::float64 ? with_one_zero<double>(from) : from;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The place in `keys` of each element of `of`, -1 for one that is not there. Of equal keys the last
// one counts.
result<std::vector<std::int64_t>> places_in(const tensor& keys, const tensor& of) {
  if (keys.type != of.type)
    return fail(errc::invalid_argument, "an input of {}, the type of the keys, expected, {} found",
                to_string(keys.type), to_string(of.type));
  const auto known = comparable(keys);
  const auto asked = comparable(of);
  const auto key_runs = element_runs::of(known);
  const auto runs = element_runs::of(asked);
  if (!key_runs || !runs)
    return key_runs ? propagate(runs) : propagate(key_runs);
  std::unordered_map<std::string_view, std::int64_t> places;
  for (std::int64_t i = 0; i < element_count(keys.dims); ++i)
    places[text_of(key_runs->run(i, 1))] = i;
  std::vector<std::int64_t> found;
  for (std::int64_t i = 0; i < element_count(of.dims); ++i) {
    const auto at = places.find(text_of(runs->run(i, 1)));
    found.push_back(at == places.end() ? -1 : at->second);
  }
  return found;
}

result<std::vector<datum>> looked_up(const tensor& x, const tensor& keys, const tensor& values,
                                     const tensor& fallback) {
  if (element_count(keys.dims) != element_count(values.dims))
    return fail(errc::invalid_argument, "as many values as keys expected, {} and {} found",
                element_count(values.dims), element_count(keys.dims));
  const auto places = places_in(keys, x);
  const auto from = element_runs::of(values);
  const auto otherwise = element_runs::of(fallback);
  if (!places)
    return propagate(places);
  if (!from || !otherwise)
    return from ? propagate(otherwise) : propagate(from);
  std::vector<std::span<const std::byte>> runs;
  for (const auto place : *places)
    runs.push_back(place < 0 ? otherwise->run(0, 1) : from->run(place, 1));
  return std::vector<datum>{join_runs(values.type, x.dims, runs)};
}

// 0, 1, 2, …
tensor counted(std::size_t count) {
  std::vector<std::int64_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i)
    numbers[i] = static_cast<std::int64_t>(i);
  const std::int64_t dims[] = {static_cast<std::int64_t>(count)};
  return make_integers(dims, numbers);
}

result<std::vector<datum>> by_lists(const value_call& of, const tensor& x, const tensor& numbers,
                                    const texts& strings) {
  const auto packed = pack_strings(strings);
  const bool to_text = x.type != dtype::string;
  const auto fallback = default_of(of.attributes, to_text ? dtype::string : dtype::int64);
  if (!packed || !fallback)
    return packed ? propagate(fallback) : propagate(packed);
  return to_text ? looked_up(x, numbers, *packed, *fallback)
                 : looked_up(x, *packed, numbers, *fallback);
}

} // namespace

result<std::vector<datum>> run_label_encoder(const value_call& of) {
  const auto x = tensor_in(of, 0);
  if (!x)
    return propagate(x);
  if (of.version < 2) {
    const auto strings = of.attributes.get<texts>("classes_strings", {});
    return by_lists(of, **x, counted(strings.size()), strings);
  }
  const auto keys = list_in(of.attributes, "keys");
  const auto values = list_in(of.attributes, "values");
  if (!keys || !values)
    return keys ? propagate(values) : propagate(keys);
  if (!*keys || !*values)
    return fail(errc::invalid_argument, "attributes keys_… and values_… expected");
  const auto fallback = default_of(of.attributes, (*values)->type);
  return fallback ? looked_up(**x, **keys, **values, *fallback) : propagate(fallback);
}

result<std::vector<datum>> run_category_mapper(const value_call& of) {
  const auto x = tensor_in(of, 0);
  if (!x)
    return propagate(x);
  const auto numbers = of.attributes.integers("cats_int64s");
  const std::int64_t count[] = {static_cast<std::int64_t>(numbers.size())};
  return by_lists(of, **x, make_integers(count, numbers),
                  of.attributes.get<texts>("cats_strings", {}));
}

result<std::vector<datum>> run_one_hot_encoder_of_strings(const value_call& of) {
  const auto x = tensor_in(of, 0);
  const auto keys = list_in(of.attributes, "cats");
  if (!x || !keys)
    return x ? propagate(keys) : propagate(x);
  if (!*keys)
    return fail(errc::invalid_argument, "attribute cats_strings expected");
  const auto places = places_in(**keys, **x);
  if (!places)
    return propagate(places);
  const auto categories = element_count((*keys)->dims);
  auto dims = (*x)->dims;
  dims.push_back(categories);
  if (auto count = checked_element_count(dims); !count)
    return propagate(count);
  std::vector<float> ones(static_cast<std::size_t>(element_count(dims)), 0.0F);
  for (std::size_t i = 0; i < places->size(); ++i) {
    if ((*places)[i] >= 0)
      ones[i * static_cast<std::size_t>(categories) + static_cast<std::size_t>((*places)[i])] = 1;
    else if (of.attributes.integer("zeros", 1) == 0)
      return fail(errc::invalid_argument, "element {} is none of the {} categories", i, categories);
  }
  return std::vector<datum>{make_tensor<float>(dtype::float32, dims, ones)};
}

result<std::vector<datum>> run_array_feature_extractor(const value_call& of) {
  const auto x = tensor_in(of, 0);
  const auto picked = tensor_in(of, 1);
  if (!x || !picked)
    return x ? propagate(picked) : propagate(x);
  const auto indices = integers_in(**picked);
  const auto elements = element_runs::of(**x);
  if (!indices || !elements)
    return indices ? propagate(elements) : propagate(indices);
  auto dims = (*x)->dims;
  if (dims.empty())
    return fail(errc::invalid_argument, "input 0 of rank 1 or more expected, a scalar found");
  const auto columns = dims.back();
  const auto rows = element_count(std::span<const std::int64_t>{dims}.first(dims.size() - 1));
  if (dims.size() == 1)
    dims.insert(dims.begin(), 1);
  dims.back() = static_cast<std::int64_t>(indices->size());
  for (const auto index : *indices)
    if (index < 0 || index >= columns)
      return fail(errc::invalid_argument, "index in [0, {}) expected, {} found", columns, index);
  std::vector<std::span<const std::byte>> runs;
  for (std::int64_t row = 0; row < rows; ++row)
    for (const auto index : *indices)
      runs.push_back(elements->run(row * columns + index, 1));
  return std::vector<datum>{join_runs((*x)->type, dims, runs)};
}

} // namespace troupe::cpu
