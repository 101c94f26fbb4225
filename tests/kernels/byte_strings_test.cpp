#include "kernels/tensor/byte_strings.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace troupe;

namespace {

tensor packed(const std::string& bytes, shape dims) {
  return {dtype::string, std::move(dims), copy_of(std::as_bytes(std::span{bytes}))};
}

void check_refused(const tensor& from, const std::string& part) {
  auto refused = unpack_strings(from);
  BOOST_REQUIRE(!refused);
  BOOST_TEST((refused.error().code == errc::invalid_argument));
  BOOST_TEST(refused.error().text.find(part) != std::string::npos, refused.error().text);
}

} // namespace

BOOST_AUTO_TEST_SUITE(byte_strings)

BOOST_AUTO_TEST_CASE(elements_survive_packing) {
  const std::vector<std::string> elements{"", "text", std::string("\0\xff", 2),
                                          std::string(300, 'x')};
  auto made = pack_strings(elements).value();
  BOOST_TEST((made.dims == shape{4}));
  auto found = unpack_strings(made).value();
  BOOST_REQUIRE(found.size() == elements.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    BOOST_TEST(found[i] == elements[i]);
  BOOST_TEST(unpack_strings(pack_strings({}).value()).value().empty());
}

BOOST_AUTO_TEST_CASE(lengths_are_little_endian) {
  auto made = pack_strings(std::vector<std::string>{std::string(258, 'a')}).value();
  BOOST_TEST(std::to_integer<int>(made.data.view[0]) == 2);
  BOOST_TEST(std::to_integer<int>(made.data.view[1]) == 1);
  BOOST_TEST(std::to_integer<int>(made.data.view[3]) == 0);
}

BOOST_AUTO_TEST_CASE(lengths_that_point_past_the_end_are_refused) {
  check_refused(packed(std::string("\x05\0\0\0abcd", 8), {1}), "claims 5 bytes, 4 are left");
  check_refused(packed(std::string("\xff\xff\xff\xff", 4), {1}), "claims 4294967295 bytes");
  check_refused(packed(std::string("\x01\0", 2), {1}), "2 bytes left, its length takes 4");
}

BOOST_AUTO_TEST_CASE(the_number_of_elements_is_that_of_the_dims) {
  const std::string two("\x01\0\0\0a\0\0\0\0", 9);
  BOOST_TEST(unpack_strings(packed(two, {2, 1})).value().size() == 2u);
  check_refused(packed(two, {3}), "has 3 elements, its data 2");
  check_refused(packed(two, {1}), "has 1 elements, its data more");
  check_refused(packed(std::string(1000, '\0'), {0}), "has 0 elements, its data more");
}

BOOST_AUTO_TEST_CASE(other_types_are_refused) {
  check_refused({dtype::uint8, {0}, {}}, "expected a tensor of BYTES, got UINT8");
}

BOOST_AUTO_TEST_SUITE_END()
