#pragma once

#include "kernels/cpu/value_kernel.hpp"
#include "kernels/tensor/byte_strings.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::tests {

/// A call of a value kernel, as data.
struct value_case {
  std::string_view op_type;
  int version = 0;
  attribute_map attributes{};
  std::vector<datum> inputs{};
  std::size_t outputs = 1;
  std::vector<std::optional<dtype>> types{};
  std::string_view domain{};

  [[nodiscard]] result<std::vector<datum>> run() const {
    const auto* entry = cpu::value_kernel_for(domain, op_type);
    BOOST_REQUIRE(entry != nullptr);
    const auto wanted = std::make_unique<bool[]>(outputs);
    std::fill_n(wanted.get(), outputs, true);
    return entry->run({op_type, version, attributes, inputs, {wanted.get(), outputs}, types});
  }
};

template <class T>
[[nodiscard]] tensor of_elements(dtype type, shape dims, const std::vector<T>& elements) {
  return {type, std::move(dims), copy_of(std::as_bytes(std::span<const T>{elements}))};
}
[[nodiscard]] inline tensor floats(shape dims, const std::vector<float>& elements) {
  return of_elements(dtype::float32, std::move(dims), elements);
}
[[nodiscard]] inline tensor integers(shape dims, const std::vector<std::int64_t>& elements) {
  return of_elements(dtype::int64, std::move(dims), elements);
}
[[nodiscard]] inline tensor truths(shape dims, const std::vector<std::uint8_t>& elements) {
  return of_elements(dtype::boolean, std::move(dims), elements);
}
[[nodiscard]] inline tensor texts(shape dims, const std::vector<std::string>& elements) {
  auto packed = pack_strings(elements).value();
  packed.dims = std::move(dims);
  return packed;
}

/// Checks type, dims and bytes.
inline void check_equal(const datum& found, const tensor& expected) {
  const auto* made = std::get_if<tensor>(&found);
  BOOST_REQUIRE(made != nullptr);
  BOOST_TEST(to_string(made->type) == to_string(expected.type));
  BOOST_TEST(to_string(made->dims) == to_string(expected.dims));
  BOOST_TEST(std::ranges::equal(made->data.view, expected.data.view));
}

} // namespace troupe::tests
