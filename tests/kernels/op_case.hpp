#pragma once

#include "kernels/cpu/candidate.hpp"
#include "kernels/cpu/number_types.hpp"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe::tests {

/// A node with typed inputs written out and answers known by hand. `check` runs every candidate of
/// the operator that takes the node and compares each with the answer.
class op_case {
public:
  op_case(std::string op_type, int version) : op_type_{std::move(op_type)}, version_{version} {}

  op_case& attribute(std::string name, troupe::attribute value) {
    attributes_.set(std::move(name), std::move(value));
    return *this;
  }
  /// `constant` inputs are initializers, which a kernel may read when it is made.
  template <class T>
  op_case& input(shape dims, const std::vector<T>& values, bool constant = false) {
    return add_input(type_of<T>(), std::move(dims), std::as_bytes(std::span{values}), constant);
  }
  op_case& truth(shape dims, const std::vector<std::uint8_t>& values) {
    return add_input(dtype::boolean, std::move(dims), std::as_bytes(std::span{values}), false);
  }
  op_case& absent();
  op_case& in_domain(std::string domain) {
    domain_ = std::move(domain);
    return *this;
  }
  /// Layout of input 0 and output 0. Values stay written row-major.
  op_case& in_layout(layout input, layout output) {
    input_layout_ = input;
    output_layout_ = output;
    return *this;
  }

  /// Every candidate answers `expected`, within `tolerance` times the larger of 1 and the value.
  template <class T>
  void check(shape dims, const std::vector<T>& expected, double tolerance = 0) const {
    check_all({{type_of<T>(), std::move(dims)}},
              [&](const std::vector<std::vector<std::byte>>& found) {
                compare(expected, found[0], tolerance);
              });
  }
  /// The same for a BOOL output.
  void check_truth(shape dims, const std::vector<std::uint8_t>& expected) const;
  /// For several outputs of one type.
  template <class T>
  void check_outputs(const std::vector<shape>& dims, const std::vector<std::vector<T>>& expected,
                     double tolerance = 0) const {
    std::vector<tensor_desc> descs;
    for (const auto& each : dims)
      descs.push_back({type_of<T>(), each});
    check_all(descs, [&](const std::vector<std::vector<std::byte>>& found) {
      for (std::size_t i = 0; i < expected.size(); ++i)
        compare(expected[i], found[i], tolerance);
    });
  }
  /// No candidate takes it; the joined reasons.
  [[nodiscard]] std::string refusal(dtype type, shape dims) const;
  /// The error of the first candidate when launched.
  [[nodiscard]] std::string launch_error(dtype type, shape dims) const;

  template <class T>
  static constexpr dtype type_of() {
    if constexpr (std::is_same_v<T, float>)
      return dtype::float32;
    else if constexpr (std::is_same_v<T, double>)
      return dtype::float64;
    else if constexpr (std::is_same_v<T, std::int64_t>)
      return dtype::int64;
    else if constexpr (std::is_same_v<T, std::int32_t>)
      return dtype::int32;
    else if constexpr (std::is_same_v<T, std::uint8_t>)
      return dtype::uint8;
    else if constexpr (std::is_same_v<T, std::int8_t>)
      return dtype::int8;
    else
      return dtype::float16;
  }

private:
  struct given_input {
    bool present = true;
    bool constant = false;
    tensor content;
  };
  using outputs = std::vector<std::vector<std::byte>>;
  using verdict = std::function<void(const outputs&)>;

  op_case& add_input(dtype type, shape dims, std::span<const std::byte> bytes, bool constant);
  void check_all(std::vector<tensor_desc> output, const verdict& judge) const;
  result<outputs> run(std::span<const cpu::candidate> candidates,
                      std::vector<tensor_desc> output) const;

  template <class T>
  static void compare(const std::vector<T>& expected, const std::vector<std::byte>& found,
                      double tolerance) {
    BOOST_REQUIRE_EQUAL(found.size(), expected.size() * sizeof(T));
    std::vector<T> values(expected.size());
    if (!found.empty())
      std::memcpy(values.data(), found.data(), found.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto wanted = static_cast<double>(static_cast<cpu::computed<T>>(expected[i]));
      const auto got = static_cast<double>(static_cast<cpu::computed<T>>(values[i]));
      const bool same = wanted == got || (std::isnan(wanted) && std::isnan(got))
                        || std::abs(wanted - got) <= tolerance * std::max(1.0, std::abs(wanted));
      BOOST_TEST(same, "element " << i << " is " << got << ", expected " << wanted);
    }
  }

  std::string op_type_;
  std::string domain_;
  int version_;
  attribute_map attributes_;
  std::vector<given_input> inputs_;
  layout input_layout_ = layout::row_major;
  layout output_layout_ = layout::row_major;
};

/// 0, 1, 2, …
std::vector<float> counted(std::int64_t count);

} // namespace troupe::tests
