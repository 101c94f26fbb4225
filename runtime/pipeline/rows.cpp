#include "runtime/pipeline/rows.hpp"

#include "kernels/tensor/byte_strings.hpp"
#include "runtime/batching/padding.hpp"

#include <utility>

namespace troupe::pipeline {

result<void> check_payload(const tensor& of) {
  const auto elements = checked_element_count(of.dims);
  if (!elements)
    return propagate(elements);
  if (of.type == dtype::string) {
    if (auto texts = unpack_strings(of); !texts)
      return propagate(std::move(texts));
    return {};
  }
  const auto bytes = static_cast<std::size_t>(*elements) * size_of(of.type);
  if (of.data.size() != bytes)
    return fail(errc::invalid_argument, "shape {} of {} takes {} bytes, got {}", to_string(of.dims),
                to_string(of.type), bytes, of.data.size());
  return {};
}

result<row_cutter> row_cutter::over(tensor whole) {
  if (whole.dims.empty())
    return fail(errc::invalid_argument, "a scalar has no rows");
  row_cutter made{std::move(whole)};
  if (made.whole_.type != dtype::string)
    return made;
  const auto texts = unpack_strings(made.whole_);
  if (!texts)
    return propagate(texts);
  if (texts->empty())
    return made; // maybe of more rows than could be listed
  const auto rows = static_cast<std::size_t>(made.rows());
  const auto* data = reinterpret_cast<const char*>(made.whole_.data.data());
  for (std::size_t row = 0; row < rows; ++row) // a text lies 4 bytes behind its element's beginning
    made.begins_.push_back(
        static_cast<std::size_t>((*texts)[row * (texts->size() / rows)].data() - data) - 4);
  made.begins_.push_back(made.whole_.data.size());
  return made;
}

tensor row_cutter::cut(std::int64_t first, std::int64_t count) const {
  if (whole_.type != dtype::string)
    return batching::rows_of(whole_, first, count);
  tensor made = whole_;
  made.dims[0] = count;
  if (begins_.empty())
    return made;
  const auto begin = begins_[static_cast<std::size_t>(first)];
  const auto end = begins_[static_cast<std::size_t>(first + count)];
  made.data.view = whole_.data.view.subspan(begin, end - begin);
  return made;
}

} // namespace troupe::pipeline
