#include "runtime/plan/memory.hpp"

#include <boost/test/unit_test.hpp>

#include <random>

using namespace troupe;

namespace {

std::vector<plan::lifetime> random_lifetimes(std::mt19937& random, std::size_t count) {
  std::vector<plan::lifetime> made;
  for (std::size_t index = 0; index < count; ++index) {
    const std::size_t first = random() % 60;
    made.push_back({first, first + random() % 12, random() % 5 == 0 ? 0 : random() % 5000});
  }
  return made;
}

bool meet(const plan::lifetime& one, const plan::lifetime& other) {
  return one.first <= other.last && other.first <= one.last;
}

} // namespace

BOOST_AUTO_TEST_SUITE(memory)

BOOST_AUTO_TEST_CASE(blocks_alive_at_the_same_step_never_overlap) {
  std::mt19937 random{7};
  for (int round = 0; round < 200; ++round) {
    const auto blocks = random_lifetimes(random, 1 + random() % 80);
    const auto packed = plan::pack(blocks);
    for (std::size_t a = 0; a < blocks.size(); ++a) {
      BOOST_REQUIRE_EQUAL(packed.offsets[a] % 64, 0u);
      BOOST_REQUIRE_LE(packed.offsets[a] + blocks[a].bytes, packed.total);
      for (std::size_t b = 0; b < a; ++b)
        if (meet(blocks[a], blocks[b]) && blocks[a].bytes > 0 && blocks[b].bytes > 0)
          BOOST_REQUIRE(packed.offsets[a] + blocks[a].bytes <= packed.offsets[b]
                        || packed.offsets[b] + blocks[b].bytes <= packed.offsets[a]);
    }
    BOOST_REQUIRE_GE(packed.total, plan::live_bound(blocks));
  }
}

BOOST_AUTO_TEST_CASE(a_chain_needs_no_more_than_its_two_largest_neighbours) {
  const std::vector<plan::lifetime> chain{{0, 1, 640}, {1, 2, 1280}, {2, 3, 640}, {3, 4, 64}};
  const auto packed = plan::pack(chain);
  BOOST_TEST(packed.total == 1920u);
  BOOST_TEST(plan::live_bound(chain) == 1920u);
}

BOOST_AUTO_TEST_CASE(a_block_takes_the_smallest_gap_that_fits) {
  // At step 1 the two long blocks leave gaps of 256 and 128 bytes behind the blocks of step 0.
  const std::vector<plan::lifetime> blocks{{0, 9, 1024}, {0, 0, 256}, {0, 9, 255},
                                           {0, 0, 128},  {0, 9, 127}, {1, 1, 100}};
  const auto packed = plan::pack(blocks);
  BOOST_TEST(packed.total == plan::live_bound(blocks));
  BOOST_TEST(packed.offsets[5] == packed.offsets[3]);
}

BOOST_AUTO_TEST_CASE(nothing_needs_no_memory) {
  BOOST_TEST(plan::pack({}).total == 0u);
  BOOST_TEST(plan::live_bound({}) == 0u);
  const std::vector<plan::lifetime> empty{{0, 3, 0}};
  BOOST_TEST(plan::pack(empty).total == 0u);
}

BOOST_AUTO_TEST_CASE(the_same_blocks_are_always_packed_alike) {
  std::mt19937 random{3};
  const auto blocks = random_lifetimes(random, 100);
  BOOST_TEST(plan::pack(blocks).offsets == plan::pack(blocks).offsets,
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
