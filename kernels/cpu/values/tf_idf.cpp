// ONNX: TfIdfVectorizer-9. Counts the n-grams of a pool in each row; the items of an n-gram may
// stand up to max_skip_count apart, single items count once.

#include "kernels/cpu/value_arguments.hpp"
#include "kernels/cpu/value_kernels.hpp"
#include "kernels/tensor/byte_strings.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace troupe::cpu {

namespace {

template <class Item>
struct pool {
  std::map<std::vector<Item>, std::vector<std::size_t>> ids; ///< an n-gram may stand there twice
  std::int64_t shortest = 1;
  std::int64_t longest = 1;
  std::int64_t skips = 0;
  std::vector<std::int64_t> places; ///< by id: column of the output
  std::int64_t width = 0;
};

template <class Item>
result<pool<Item>> read_pool(const attribute_map& from, const std::vector<Item>& items) {
  pool<Item> made;
  made.shortest = from.integer("min_gram_length", 1);
  made.longest = from.integer("max_gram_length", 1);
  made.skips = from.integer("max_skip_count", 0);
  made.places = from.integers("ngram_indexes");
  const auto starts = from.integers("ngram_counts");
  if (made.shortest < 1 || made.longest < made.shortest || made.skips < 0
      || made.longest > static_cast<std::int64_t>(starts.size()))
    return fail(errc::invalid_argument,
                "gram lengths in [1, {}] and a skip count of at least 0 expected, {} to {} and {} "
                "found",
                starts.size(), made.shortest, made.longest, made.skips);
  constexpr std::int64_t widest = std::int64_t{1} << 31;
  for (auto place : made.places) {
    if (place < 0 || place >= widest)
      return fail(errc::invalid_argument, "ngram_indexes in [0, {}) expected, {} found", widest,
                  place);
    made.width = std::max(made.width, place + 1);
  }
  std::size_t id = 0;
  const auto size = static_cast<std::int64_t>(items.size());
  for (std::size_t length = 1; length <= starts.size(); ++length) {
    const auto first = starts[length - 1];
    const auto end = length < starts.size() ? starts[length] : size;
    const auto step = static_cast<std::int64_t>(length);
    if (first < 0 || end < first || end > size || (end - first) % step != 0)
      return fail(errc::invalid_argument, "ngram_counts do not cut the pool of {} items", size);
    for (auto at = items.begin() + first; at != items.begin() + end; at += step)
      made.ids[std::vector<Item>(at, at + step)].push_back(id++);
  }
  if (id != made.places.size())
    return fail(errc::invalid_argument, "{} ngram_indexes expected, {} found", id,
                made.places.size());
  return made;
}

template <class Item>
void count(const pool<Item>& of, std::span<const Item> row, std::vector<float>& to) {
  const auto size = static_cast<std::int64_t>(row.size());
  for (auto length = of.shortest; length <= of.longest; ++length)
    for (std::int64_t stride = 1; stride <= (length == 1 ? 1 : of.skips + 1); ++stride) {
      if (length > 1 && stride > (size - 1) / (length - 1))
        break; // no n-gram of this stride fits the row
      for (std::int64_t first = 0; first + (length - 1) * stride < size; ++first) {
        std::vector<Item> gram;
        for (std::int64_t at = 0; at < length; ++at)
          gram.push_back(row[static_cast<std::size_t>(first + at * stride)]);
        if (const auto known = of.ids.find(gram); known != of.ids.end())
          for (auto id : known->second)
            to[static_cast<std::size_t>(of.places[id])] += 1;
      }
    }
}

template <class Item>
result<std::vector<datum>> vectorize(const value_call& of, const tensor& from,
                                     const std::vector<Item>& pool_items,
                                     std::span<const Item> items) {
  auto known = read_pool(of.attributes, pool_items);
  if (!known)
    return propagate(known);
  const auto mode = of.attributes.text("mode");
  const auto weights = of.attributes.get<std::vector<float>>("weights", {});
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return fail(errc::invalid_argument, "mode TF, IDF or TFIDF expected, '{}' found", mode);
  if (!weights.empty() && weights.size() != known->places.size())
    return fail(errc::invalid_argument, "{} weights expected, {} found", known->places.size(),
                weights.size());
  std::vector<float> weight(static_cast<std::size_t>(known->width), 1.0F);
  for (std::size_t id = 0; id < weights.size(); ++id)
    weight[static_cast<std::size_t>(known->places[id])] = weights[id];
  const auto rows = from.dims.size() == 2 ? from.dims[0] : 1;
  const auto length = static_cast<std::size_t>(from.dims.back());
  shape dims{known->width};
  if (from.dims.size() == 2)
    dims.insert(dims.begin(), rows);
  if (auto count = checked_element_count(dims); !count)
    return propagate(count);
  std::vector<float> all;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::vector<float> counts(static_cast<std::size_t>(known->width), 0.0F);
    count(*known, items.subspan(static_cast<std::size_t>(row) * length, length), counts);
    for (std::size_t at = 0; at < counts.size(); ++at) {
      const float occurs = mode == "IDF" ? static_cast<float>(counts[at] > 0) : counts[at];
      all.push_back(mode == "TF" ? counts[at] : occurs * weight[at]);
    }
  }
  return std::vector<datum>{make_tensor<float>(dtype::float32, dims, all)};
}

} // namespace

result<std::vector<datum>> run_tf_idf_vectorizer(const value_call& of) {
  auto from = tensor_in(of, 0);
  if (!from)
    return propagate(from);
  if ((*from)->dims.empty() || (*from)->dims.size() > 2)
    return fail(errc::invalid_argument, "dims [C] or [N,C] expected, {} found",
                to_string((*from)->dims));
  if ((*from)->type == dtype::string) {
    auto items = unpack_strings(**from);
    if (!items)
      return propagate(items);
    const std::vector<std::string> owned{items->begin(), items->end()};
    return vectorize<std::string>(
        of, **from, of.attributes.get<std::vector<std::string>>("pool_strings", {}), owned);
  }
  auto items = integers_in(**from);
  if (!items)
    return propagate(items);
  return vectorize<std::int64_t>(of, **from, of.attributes.integers("pool_int64s"), *items);
}

} // namespace troupe::cpu
