#include "runtime/batching/padding.hpp"

#include "kernels/tensor/half.hpp"

#include <boost/test/unit_test.hpp>

#include <numeric>
#include <vector>

using namespace troupe;
using namespace troupe::batching;

namespace {

template <class T>
tensor counting(dtype type, shape dims) {
  std::vector<T> values(static_cast<std::size_t>(element_count(dims)));
  std::iota(values.begin(), values.end(), T{1});
  return {type, std::move(dims), copy_of(std::as_bytes(std::span{values.data(), values.size()}))};
}

template <class T>
std::vector<T> content(const tensor& of) {
  const auto values = elements_of<T>(of.data);
  return {values.begin(), values.end()};
}

} // namespace

BOOST_AUTO_TEST_SUITE(padding_of_tensors)

BOOST_AUTO_TEST_CASE(keeps_what_there_is_and_fills_the_rest) {
  const auto made = resized(counting<std::int64_t>(dtype::int64, {2, 2}), {2, 3}, -1);
  BOOST_TEST((made.dims == shape{2, 3}));
  BOOST_TEST((content<std::int64_t>(made) == std::vector<std::int64_t>{1, 2, -1, 3, 4, -1}));
}

BOOST_AUTO_TEST_CASE(cuts_as_it_pads) {
  const auto grown = resized(counting<float>(dtype::float32, {2, 2, 3}), {2, 4, 5}, 9);
  const auto back = resized(grown, {2, 2, 3}, 0);
  BOOST_TEST(content<float>(back) == content<float>(counting<float>(dtype::float32, {2, 2, 3})),
             boost::test_tools::per_element());
  BOOST_TEST(content<float>(grown)[3] == 9.0f);
  BOOST_TEST(content<float>(grown)[39] == 9.0f);
}

BOOST_AUTO_TEST_CASE(rounds_and_saturates_to_the_type) {
  BOOST_TEST((content<std::uint8_t>(filled(dtype::uint8, {2}, 300))
              == std::vector<std::uint8_t>{255, 255}));
  BOOST_TEST(
      (content<std::uint8_t>(filled(dtype::boolean, {2}, 1)) == std::vector<std::uint8_t>{1, 1}));
  const auto halves = filled(dtype::float16, {3}, 0.5);
  BOOST_TEST(static_cast<float>(elements_of<half>(halves.data)[2]) == 0.5f);
}

BOOST_AUTO_TEST_CASE(of_nothing_is_all_padding) {
  const auto made = resized(counting<float>(dtype::float32, {1, 0}), {1, 2}, 3);
  BOOST_TEST((content<float>(made) == std::vector<float>{3, 3}));
  BOOST_TEST(resized(made, {1, 0}, 0).data.size() == 0u);
}

BOOST_AUTO_TEST_CASE(lengths_go_to_the_next_bucket) {
  padded_length length;
  BOOST_TEST(length.bucket(0) == 0);
  BOOST_TEST(length.bucket(1) == 1);
  BOOST_TEST(length.bucket(5) == 8);
  length.lengths = {10, 100};
  BOOST_TEST(length.bucket(10) == 10);
  BOOST_TEST(length.bucket(11) == 100);
  BOOST_TEST(length.bucket(101) == 101);
}

BOOST_AUTO_TEST_SUITE_END()
