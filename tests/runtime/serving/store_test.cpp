#include "runtime/store/lease.hpp"
#include "runtime/store/ledger.hpp"
#include "tests/runtime/serving/counting_device.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::store;
using troupe::test::counting_device;
using troupe::test::heap_block;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t page = 4096;
const time_point start{1h};

struct books {
  counting_device on;
  ledger of{on, {.budget_bytes = 4 * page, .idle_expiry = 10s, .max_waiting = 2}};
};

} // namespace

BOOST_AUTO_TEST_CASE(size_classes_are_quarters_of_powers_of_two) {
  BOOST_TEST(size_class(1) == 4096u);
  BOOST_TEST(size_class(4096) == 4096u);
  BOOST_TEST(size_class(4097) == 5120u);
  BOOST_TEST(size_class(8192) == 8192u);
  BOOST_TEST(size_class(8193) == 10240u);
}

BOOST_FIXTURE_TEST_SUITE(device_ledger, books)

BOOST_AUTO_TEST_CASE(books_of_host_memory_are_of_the_same_kind) {
  ledger pinned{on, {.budget_bytes = 2 * page}, memory_kind::host};
  auto block = *pinned.lease(1, 100, start);
  BOOST_TEST(on.alive_on_host.bytes == page);
  BOOST_TEST(on.alive.bytes == 0u);
  const auto refused = pinned.lease(2, 3 * page, start);
  BOOST_REQUIRE(!refused);
  BOOST_TEST(refused.error().text.starts_with("pinned host memory"));
  BOOST_TEST(pinned.give_back(std::move(block), start).empty());
  pinned.expire(start + 10s);
  BOOST_TEST(on.alive_on_host.bytes == 0u);
}

BOOST_AUTO_TEST_CASE(a_free_block_is_lent_again) {
  auto block = *of.lease(1, 100, start);
  auto* first = block.get();
  BOOST_TEST(of.give_back(std::move(block), start).empty());
  const auto again = *of.lease(2, 200, start);
  BOOST_TEST(again.get() == first);
  BOOST_TEST(on.alive.blocks == 1);
}

BOOST_AUTO_TEST_CASE(who_finds_no_room_waits_and_is_served_in_order) {
  auto all = *of.lease(1, 4 * page, start);
  BOOST_TEST((*of.lease(2, page, start)) == nullptr);
  BOOST_TEST((*of.lease(3, page, start)) == nullptr);
  BOOST_TEST((of.lease(4, page, start).error().code == errc::resource_exhausted));
  const auto grants = of.give_back(std::move(all), start);
  BOOST_REQUIRE(grants.size() == 2u);
  BOOST_TEST(grants[0].waiter == 2u);
  BOOST_TEST(grants[1].waiter == 3u);
  BOOST_TEST(of.leased_bytes() == 2 * page);
}

BOOST_AUTO_TEST_CASE(weights_that_are_gone_without_a_word_make_room_for_others) {
  auto held = *of.reserve(4 * page);
  BOOST_TEST((of.reserve(page).error().code == errc::resource_exhausted));
  held = nullptr;
  BOOST_TEST(of.reserve(4 * page).has_value());
}

BOOST_AUTO_TEST_CASE(what_is_kept_for_long_leaves_room_for_what_comes_and_goes) {
  auto batch = *of.lease(1, 2 * page, start);
  std::vector<std::shared_ptr<buffer>> kept{*of.lease_for_long(100), *of.lease_for_long(100)};
  BOOST_TEST(kept[1]->size() == page);
  BOOST_TEST((of.lease_for_long(100).error().code == errc::resource_exhausted));
  BOOST_TEST((of.lease(2, 3 * page, start).error().code == errc::resource_exhausted));
  BOOST_TEST((of.reserve(page).error().code == errc::resource_exhausted));
  (void)of.give_back(std::move(kept.back()), start);
  kept.pop_back();
  kept.push_back(*of.lease_for_long(100));
  BOOST_TEST(on.alive.blocks == 3);
  BOOST_TEST((*of.lease(3, 2 * page, start)) == nullptr);
  kept.clear();                                     // lost
  BOOST_TEST((*of.lease_for_long(100)) == nullptr); // somebody waits
  BOOST_TEST(of.give_back(std::move(batch), start).size() == 1u);
  BOOST_TEST(of.leased_bytes() == 2 * page);
}

BOOST_AUTO_TEST_CASE(nobody_overtakes_a_large_request_that_waits) {
  auto some = *of.lease(1, 2 * page, start);
  BOOST_TEST((*of.lease(2, 4 * page, start)) == nullptr);
  BOOST_TEST((*of.lease(3, page, start)) == nullptr);
  of.forget(2);
  const auto grants = of.give_back(std::move(some), start);
  BOOST_REQUIRE(grants.size() == 1u);
  BOOST_TEST(grants[0].waiter == 3u);
}

BOOST_AUTO_TEST_CASE(what_can_never_be_granted_is_refused_at_once) {
  BOOST_TEST((of.lease(1, 5 * page, start).error().code == errc::resource_exhausted));
}

BOOST_AUTO_TEST_CASE(idle_blocks_make_room_and_expire) {
  BOOST_TEST(of.give_back(*of.lease(1, page, start), start).empty());
  BOOST_TEST((*of.lease(2, 4 * page, start)) != nullptr); // and is let go at once
  BOOST_TEST(of.free_bytes() == 0u);
  BOOST_TEST(of.give_back(*of.lease(3, page, start), start).empty());
  BOOST_TEST((*of.expire(start + 9s) == start + 10s));
  BOOST_TEST(!of.expire(start + 10s).has_value());
  BOOST_TEST(of.free_bytes() == 0u);
}

BOOST_AUTO_TEST_CASE(idle_blocks_go_where_the_device_has_less_than_the_budget_says) {
  on.there_is = 2 * page;
  BOOST_TEST(of.give_back(*of.lease(1, page, start), start).empty());
  const auto held = *of.lease(2, 2 * page, start);
  BOOST_TEST(held != nullptr);
  BOOST_TEST(of.free_bytes() == 0u);
  BOOST_TEST(on.alive.bytes == 2 * page);
}

BOOST_AUTO_TEST_CASE(weights_and_blocks_share_one_budget) {
  auto weights = of.reserve(3 * page);
  BOOST_TEST(weights.has_value());
  const auto refused = of.reserve(2 * page);
  BOOST_TEST((refused.error().code == errc::resource_exhausted));
  BOOST_TEST(refused.error().retry_after_ms == 0u, "weights that are in the way stay");
  BOOST_TEST((of.lease(1, 2 * page, start).error().code == errc::resource_exhausted));
  weights->reset();
  BOOST_TEST(of.audit().empty());
  BOOST_TEST(of.reserved_bytes() == 0u);
  BOOST_TEST((*of.lease(1, 2 * page, start)) != nullptr);
}

BOOST_AUTO_TEST_CASE(weights_may_ask_again_where_only_blocks_that_are_lent_are_in_the_way) {
  auto block = *of.lease(1, 2 * page, start);
  BOOST_TEST(of.reserve(3 * page).error().retry_after_ms > 0u);
  BOOST_TEST(of.give_back(std::move(block), start).empty());
  BOOST_TEST(of.reserve(3 * page).has_value());
}

BOOST_AUTO_TEST_CASE(a_block_that_is_lost_makes_room_for_who_waits) {
  auto all = *of.lease(1, 4 * page, start);
  BOOST_TEST((*of.lease(2, page, start)) == nullptr);
  BOOST_TEST(of.audit().empty());
  all.reset();
  const auto grants = of.audit();
  BOOST_REQUIRE(grants.size() == 1u);
  BOOST_TEST(grants[0].waiter == 2u);
  BOOST_TEST(of.leased_bytes() == page);
}

BOOST_AUTO_TEST_CASE(a_block_of_other_books_is_no_block_of_these) {
  heap_block::totals others;
  BOOST_TEST(of.give_back(std::make_shared<heap_block>(page, others), start).empty());
  BOOST_TEST(of.free_bytes() == 0u);
  BOOST_TEST(others.blocks == 0);
}

BOOST_AUTO_TEST_CASE(weights_that_are_gone_refuse_nobody_even_if_nobody_told_of_them) {
  auto weights = of.reserve(4 * page);
  BOOST_REQUIRE(weights.has_value());
  weights->reset();
  const auto block = of.lease(1, page, start);
  BOOST_REQUIRE(block.has_value());
  BOOST_TEST((*block != nullptr));
  BOOST_TEST(of.reserved_bytes() == 0u);
}

BOOST_AUTO_TEST_CASE(the_end_of_a_reservation_is_told) {
  bool told = false;
  BOOST_TEST(of.reserve(page, [&] { told = true; }).has_value());
  BOOST_TEST(told);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(a_lease_gives_its_block_back_when_it_ends) {
  heap_block::totals alive;
  std::shared_ptr<buffer> returned;
  {
    lease held{std::make_shared<heap_block>(64, alive),
               [&](std::shared_ptr<buffer> block) { returned = std::move(block); }};
    BOOST_TEST(held.size() == 64u);
    BOOST_TEST(!returned);
  }
  BOOST_TEST(returned != nullptr);
}
