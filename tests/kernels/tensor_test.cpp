#include "kernels/device/weight_cache.hpp"
#include "kernels/tensor/half.hpp"
#include "kernels/tensor/tensor.hpp"

#include <boost/test/unit_test.hpp>

#include <bit>
#include <cmath>
#include <limits>

using namespace troupe;

BOOST_AUTO_TEST_CASE(every_half_survives_the_way_through_float) {
  for (std::uint32_t bits = 0; bits <= 0xffffU; ++bits) {
    half stored;
    stored.bits = static_cast<std::uint16_t>(bits);
    const float value = static_cast<float>(stored);
    const half back{value};
    if (std::isnan(value))
      BOOST_TEST(std::isnan(static_cast<float>(back)));
    else if (back.bits != stored.bits)
      BOOST_ERROR("half " << bits << " came back as " << back.bits);
  }
}

BOOST_AUTO_TEST_CASE(floats_round_to_the_nearest_even_half) {
  const auto bits = [](float value) { return half{value}.bits; };
  BOOST_TEST(bits(1.0F) == 0x3c00);
  BOOST_TEST(bits(1.0F + 0x1p-11F) == 0x3c00);            // a tie, down to even
  BOOST_TEST(bits(1.0F + 3 * 0x1p-11F) == 0x3c02);        // a tie, up to even
  BOOST_TEST(bits(1.0F + 0x1p-11F + 0x1p-20F) == 0x3c01); // just above a tie
  BOOST_TEST(bits(65504.0F) == 0x7bff);
  BOOST_TEST(bits(65519.0F) == 0x7bff);
  BOOST_TEST(bits(65520.0F) == 0x7c00);
  BOOST_TEST(bits(0x1p-24F) == 0x0001);
  BOOST_TEST(bits(0x1p-25F) == 0x0000); // a tie, down to even
  BOOST_TEST(bits(-0x1.8p-25F) == 0x8001);
  BOOST_TEST(bits(-std::numeric_limits<float>::infinity()) == 0xfc00);
}

BOOST_AUTO_TEST_CASE(floats_round_to_the_nearest_even_bfloat16) {
  const auto bits = [](float value) { return bfloat16{value}.bits; };
  BOOST_TEST(bits(1.0F) == 0x3f80);
  BOOST_TEST(bits(std::bit_cast<float>(0x3f808000U)) == 0x3f80); // a tie, down to even
  BOOST_TEST(bits(std::bit_cast<float>(0x3f818000U)) == 0x3f82); // a tie, up to even
  BOOST_TEST(bits(std::numeric_limits<float>::max()) == 0x7f80);
  BOOST_TEST(std::isnan(static_cast<float>(bfloat16{std::bit_cast<float>(0x7f800001U)})));
}

BOOST_AUTO_TEST_CASE(element_counts_refuse_what_overflows) {
  BOOST_TEST(*checked_element_count(shape{}) == 1);
  BOOST_TEST(*checked_element_count(shape{2, 3}) == 6);
  BOOST_TEST(*checked_element_count(shape{0, 1 << 30}) == 0);
  BOOST_TEST(!checked_element_count(shape{0, 1 << 30, 1 << 30, 1 << 30})); // whatever the order
  BOOST_TEST(!checked_element_count(shape{-1}));
  BOOST_TEST(!checked_element_count(shape{1 << 30, 1 << 30, 1 << 30}));
  BOOST_TEST(!checked_element_count(shape{5}, 4));
}

BOOST_AUTO_TEST_CASE(blocked_layouts_pad_their_channels) {
  BOOST_TEST((tensor_desc{dtype::float32, {1, 3, 2, 2}}.bytes() == 48U));
  BOOST_TEST((tensor_desc{dtype::float32, {1, 3, 2, 2}, layout::blocked8}.bytes() == 128U));
  BOOST_TEST((tensor_desc{dtype::float32, {2, 16, 1, 1}, layout::blocked16}.bytes() == 128U));
}

BOOST_AUTO_TEST_CASE(datatype_names_are_the_protocols) {
  for (int i = 0; i <= static_cast<int>(dtype::string); ++i) {
    const auto type = static_cast<dtype>(i);
    const auto parsed = parse_dtype(to_string(type));
    BOOST_REQUIRE(parsed);
    BOOST_TEST((*parsed == type));
  }
  const auto unknown = parse_dtype("FLOAT");
  BOOST_REQUIRE(!unknown);
  BOOST_TEST(unknown.error().text.find("FP32") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_weight_is_packed_once_per_form) {
  weight_cache cache;
  const auto weight = std::make_shared<const tensor>();
  int packed = 0;
  const auto fill = [&](std::span<std::byte> room) -> result<void> {
    ++packed;
    room[0] = std::byte{7};
    return {};
  };
  BOOST_TEST(!cache.pinned_form(weight.get()));
  const auto first = cache.find_or_pack(weight, "a", 64, fill);
  const auto again = cache.find_or_pack(weight, "a", 64, fill);
  const auto other = cache.find_or_pack(weight, "b", 128, fill);
  BOOST_REQUIRE((first && again && other));
  BOOST_TEST(packed == 2);
  BOOST_TEST(first->data() == again->data());
  BOOST_TEST(*cache.pinned_form(weight.get()) == "a");
  BOOST_TEST(cache.bytes() == 192U);
  const auto failed = cache.find_or_pack(weight, "c", 8, [](std::span<std::byte>) -> result<void> {
    return fail(errc::internal, "cannot");
  });
  BOOST_TEST(!failed);
  BOOST_TEST(cache.bytes() == 192U);
}
