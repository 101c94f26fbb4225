#include "runtime/exec/buckets.hpp"
#include "runtime/exec/plan_bytes.hpp"
#include "runtime/exec/plan_cache.hpp"

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <latch>
#include <thread>

using namespace troupe;

namespace {

std::vector<shape> dims_of(std::int64_t rows) {
  return {shape{rows, 3}};
}

result<exec::plan_cache::plan_ptr> make_empty() {
  return std::make_shared<const plan::plan>();
}

} // namespace

BOOST_AUTO_TEST_SUITE(plan_cache)

BOOST_AUTO_TEST_CASE(a_plan_is_made_once_and_found_again) {
  exec::plan_cache cache{4};
  BOOST_TEST(!cache.find(dims_of(1)));
  const auto made = cache.find_or_make(dims_of(1), make_empty);
  BOOST_REQUIRE(made.has_value());
  BOOST_TEST(cache.find(dims_of(1)) == *made);
  const auto again = cache.find_or_make(dims_of(1), make_empty);
  BOOST_TEST(*again == *made);
  BOOST_TEST(!cache.find(dims_of(2)));
}

BOOST_AUTO_TEST_CASE(dims_that_only_look_alike_are_told_apart) {
  exec::plan_cache cache{4};
  const std::vector<shape> one{shape{2, 1}, shape{3}};
  const std::vector<shape> other{shape{2}, shape{1, 3}};
  BOOST_TEST(cache.find_or_make(one, make_empty).has_value());
  BOOST_TEST(!cache.find(other));
}

BOOST_AUTO_TEST_CASE(the_least_recently_used_plan_leaves_a_full_cache) {
  exec::plan_cache cache{2};
  for (auto rows : {1, 2})
    BOOST_TEST(cache.find_or_make(dims_of(rows), make_empty).has_value());
  BOOST_TEST(cache.find(dims_of(1)) != nullptr);
  BOOST_TEST(cache.find_or_make(dims_of(3), make_empty).has_value());
  BOOST_TEST(cache.size() == 2u);
  BOOST_TEST(cache.find(dims_of(1)) != nullptr);
  BOOST_TEST(cache.find(dims_of(2)) == nullptr);
}

BOOST_AUTO_TEST_CASE(plans_of_several_models_share_a_budget_and_the_longest_unused_leaves) {
  constexpr std::size_t each = 1000;
  const auto make = [] {
    auto made = std::make_shared<plan::plan>();
    made->constants.push_back(std::make_shared<const tensor>(
        tensor{dtype::uint8, {each}, copy_of(std::vector<std::byte>(each))}));
    return result<exec::plan_cache::plan_ptr>{std::move(made)};
  };
  const auto one = exec::plan_bytes(**make());
  BOOST_TEST(one >= each);
  BOOST_TEST(one < 2 * each);
  const auto budget = std::make_shared<exec::plan_budget>(3 * one);
  exec::plan_cache first{64, budget};
  {
    exec::plan_cache second{64, budget};
    BOOST_TEST(first.find_or_make(dims_of(1), make).has_value());
    BOOST_TEST(second.find_or_make(dims_of(1), make).has_value());
    BOOST_TEST(first.find_or_make(dims_of(2), make).has_value());
    BOOST_TEST(budget->used() == 3 * one);
    BOOST_TEST(first.find(dims_of(1)) != nullptr);
    BOOST_TEST(first.find_or_make(dims_of(3), make).has_value());
    BOOST_TEST(budget->used() == 3 * one);
    BOOST_TEST(second.size() == 0u); // its plan was the one unused for longest
    BOOST_TEST(second.find_or_make(dims_of(1), make).has_value());
    BOOST_TEST(first.find(dims_of(2)) == nullptr);
    BOOST_TEST(first.find(dims_of(1)) != nullptr);
  }
  BOOST_TEST(budget->used() == 2 * one); // a model that goes takes its plans along
}

BOOST_AUTO_TEST_CASE(a_plan_larger_than_the_budget_is_kept_until_the_next_one) {
  const auto budget = std::make_shared<exec::plan_budget>(1);
  exec::plan_cache cache{64, budget};
  const auto first = cache.find_or_make(dims_of(1), make_empty);
  BOOST_REQUIRE(first.has_value());
  BOOST_TEST(cache.holds(**first));
  BOOST_TEST(cache.find_or_make(dims_of(2), make_empty).has_value());
  BOOST_TEST(cache.size() == 1u);
  BOOST_TEST(!cache.holds(**first));
}

BOOST_AUTO_TEST_CASE(a_weight_that_the_model_shares_is_not_counted) {
  const auto weight = std::make_shared<const tensor>(
      tensor{dtype::uint8, {1 << 20}, copy_of(std::vector<std::byte>(1 << 20))});
  plan::plan shares;
  shares.constants.push_back(weight);
  BOOST_TEST(exec::plan_bytes(shares) < std::size_t{1} << 16);
}

BOOST_AUTO_TEST_CASE(callers_with_one_shape_make_one_plan) {
  exec::plan_cache cache{4};
  std::atomic<int> made{0};
  std::latch all_here{4};
  std::vector<exec::plan_cache::plan_ptr> got(4);
  std::vector<std::thread> callers;
  for (std::size_t index = 0; index < got.size(); ++index)
    callers.emplace_back([&, index] {
      all_here.arrive_and_wait();
      got[index] = *cache.find_or_make(dims_of(1), [&] {
        ++made;
        return make_empty();
      });
    });
  for (auto& caller : callers)
    caller.join();
  BOOST_TEST(made == 1);
  for (const auto& one : got)
    BOOST_TEST(one == got[0]);
}

BOOST_AUTO_TEST_CASE(finding_one_plan_does_not_wait_for_the_making_of_another) {
  exec::plan_cache cache{4};
  BOOST_TEST(cache.find_or_make(dims_of(1), make_empty).has_value());
  const auto made = cache.find_or_make(dims_of(2), [&] {
    BOOST_TEST(cache.find(dims_of(1)) != nullptr); // would hang if the lock were held
    return make_empty();
  });
  BOOST_TEST(made.has_value());
}

BOOST_AUTO_TEST_CASE(a_failure_reaches_the_caller_and_is_not_kept) {
  exec::plan_cache cache{4};
  const auto failed = cache.find_or_make(dims_of(1), []() -> result<exec::plan_cache::plan_ptr> {
    return fail(errc::unimplemented, "no kernel for it");
  });
  BOOST_REQUIRE(!failed.has_value());
  BOOST_TEST(failed.error().text == "no kernel for it");
  BOOST_TEST(cache.size() == 0u);
  BOOST_TEST(cache.find_or_make(dims_of(1), make_empty).has_value());
}

BOOST_AUTO_TEST_CASE(an_exception_becomes_an_error_and_frees_those_who_wait) {
  exec::plan_cache cache{4};
  const auto failed = cache.find_or_make(
      dims_of(1), []() -> result<exec::plan_cache::plan_ptr> { throw std::bad_alloc{}; });
  BOOST_REQUIRE(!failed.has_value());
  BOOST_CHECK(failed.error().code == errc::internal);
  BOOST_TEST(cache.find_or_make(dims_of(1), make_empty).has_value());
}

BOOST_AUTO_TEST_CASE(buckets_are_powers_of_two_and_what_is_configured) {
  const std::vector<std::int64_t> configured{24, 6, 0};
  const exec::batch_buckets buckets{configured};
  BOOST_TEST(buckets.holding(1) == 1);
  BOOST_TEST(buckets.holding(3) == 4);
  BOOST_TEST(buckets.holding(5) == 6);
  BOOST_TEST(buckets.holding(7) == 8);
  BOOST_TEST(buckets.holding(17) == 24);
  BOOST_TEST(buckets.holding(25) == 32);
  BOOST_TEST(exec::batch_buckets{}.holding(100) == 128);
}

BOOST_AUTO_TEST_SUITE_END()
