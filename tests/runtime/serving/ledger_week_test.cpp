// A week in the life of a device's books, in virtual time: models that change daily and batches of
// all sizes, by day and by night, seeded. What the device holds must not grow with its history.

#include "runtime/store/ledger.hpp"
#include "runtime/store/size_class.hpp"
#include "tests/runtime/serving/counting_device.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <random>
#include <vector>

using namespace troupe;
using namespace troupe::store;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t budget = 384 * mebibyte;
constexpr auto idle_expiry = 10s;
constexpr int days = 7;

class week {
public:
  explicit week(std::uint64_t seed) : dice_(seed) {}

  struct day_report {
    double most_overhead = 0;  ///< bytes lent for each byte that was asked for, at worst
    double usual_overhead = 0; ///< on average
    int most_blocks = 0;       ///< that the device had out
    std::size_t left_at_night = 0;
    std::size_t batches = 0;
    std::size_t waited = 0; ///< of them, for memory
  };

  std::array<day_report, days> run() {
    for (int day = 0; day < days; ++day) {
      change_models();
      report_ = {};
      samples_ = 0;
      live_through(24h * day + 1h, 16h);
      report_.usual_overhead /= static_cast<double>(std::max<std::size_t>(samples_, 1));
      night(24h * (day + 1));
      reports_[static_cast<std::size_t>(day)] = report_;
    }
    return reports_;
  }

private:
  struct held {
    std::shared_ptr<buffer> block;
    std::size_t asked = 0;
  };

  double uniform() { return std::uniform_real_distribution<>{0, 1}(dice_); }

  // Other plans, of other sizes; weights of a quarter of the budget, in a few models.
  void change_models() {
    weights_.clear();
    for (auto& one : plans_)
      one = static_cast<std::size_t>(std::exp(std::log(2e4) + uniform() * std::log(1e4)));
    for (int i = 0; i < 4; ++i) {
      auto made = books_.reserve(static_cast<std::size_t>(uniform() * budget / 16));
      BOOST_REQUIRE(made);
      weights_.push_back(std::move(*made));
    }
  }

  // Batches come in waves and stay for milliseconds to seconds.
  void live_through(duration from, duration time) {
    now_ = time_point{from};
    for (const auto end = now_ + time; now_ < end;) {
      const auto hour =
          std::chrono::duration<double, std::ratio<3600>>(now_ - time_point{}).count();
      const auto pause = 0.5 + 20 * std::pow(std::sin(hour), 8);
      now_ += std::chrono::duration_cast<duration>(
          std::chrono::duration<double>(std::exponential_distribution<>{1 / pause}(dice_)));
      end_batches(now_);
      books_.expire(now_);
      ask();
      check();
    }
  }

  void ask() {
    const auto bytes = plans_[dice_() % plans_.size()];
    const auto waiter = ++last_waiter_;
    auto block = books_.lease(waiter, bytes, now_);
    if (!block) {
      BOOST_TEST((block.error().code == errc::resource_exhausted));
      return;
    }
    ++report_.batches;
    asked_[waiter] = bytes;
    if (*block)
      return begin(waiter, std::move(*block));
    waiting_.push_back(waiter);
    ++report_.waited;
  }

  void begin(std::uint64_t waiter, std::shared_ptr<buffer> block) {
    const auto bytes = asked_.extract(waiter).mapped();
    BOOST_TEST_REQUIRE(block->size() >= bytes);
    const auto takes = std::chrono::duration<double>(std::exp(-4 + 5 * uniform()));
    asked_bytes_ += bytes;
    running_.emplace(now_ + std::chrono::duration_cast<duration>(takes),
                     held{std::move(block), bytes});
  }

  void end_batches(time_point until) {
    while (!running_.empty() && running_.begin()->first <= until) {
      const auto at = running_.begin()->first;
      auto over = running_.extract(running_.begin());
      asked_bytes_ -= over.mapped().asked;
      const auto size = over.mapped().block->size();
      given_back_.push_back({at, size});
      for (auto& one : books_.give_back(std::move(over.mapped().block), at)) {
        BOOST_TEST_REQUIRE(!waiting_.empty());
        BOOST_TEST_REQUIRE(one.waiter == waiting_.front(), "who waits is served in order");
        waiting_.pop_front();
        BOOST_TEST_REQUIRE(!!one.block);
        begin(one.waiter, std::move(one.block));
      }
    }
  }

  void check() {
    const auto lent = books_.leased_bytes();
    BOOST_TEST_REQUIRE(lent + books_.free_bytes() == device_.alive.bytes);
    BOOST_TEST_REQUIRE(device_.alive.bytes + books_.reserved_bytes() <= budget);
    // What lies idle was in use a moment ago.
    while (!given_back_.empty() && given_back_.front().first < now_ - idle_expiry)
      given_back_.pop_front();
    std::size_t lately = 0;
    for (const auto& [at, size] : given_back_)
      lately += size;
    BOOST_TEST_REQUIRE(books_.free_bytes() <= lately);
    if (asked_bytes_ == 0)
      return;
    const auto overhead = static_cast<double>(lent) / static_cast<double>(asked_bytes_);
    report_.most_overhead = std::max(report_.most_overhead, overhead);
    report_.usual_overhead += overhead;
    report_.most_blocks = std::max(report_.most_blocks, device_.alive.blocks);
    ++samples_;
  }

  // Nobody asks for a while: everything goes back to the device.
  void night(duration until) {
    end_batches(now_ + 1h);
    BOOST_TEST(waiting_.empty());
    now_ = time_point{until};
    BOOST_TEST(!books_.expire(now_));
    report_.left_at_night = device_.alive.bytes;
  }

  std::mt19937_64 dice_;
  test::counting_device device_;
  ledger books_{device_, {.budget_bytes = budget, .idle_expiry = idle_expiry, .max_waiting = 64}};
  time_point now_{};
  std::array<std::size_t, 12> plans_{};
  std::vector<std::shared_ptr<reservation>> weights_;
  std::multimap<time_point, held> running_; ///< by their ends
  std::map<std::uint64_t, std::size_t> asked_;
  std::deque<std::uint64_t> waiting_;
  std::deque<std::pair<time_point, std::size_t>> given_back_;
  std::size_t asked_bytes_ = 0;
  std::uint64_t last_waiter_ = 0;
  std::size_t samples_ = 0;
  day_report report_;
  std::array<day_report, days> reports_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(device_ledger_for_a_week)

// The size class adds a quarter at most to what is large, and a block of up to twice the class may
// serve: two and a half times is the most that one lease can take.
BOOST_AUTO_TEST_CASE(what_the_device_holds_does_not_grow_with_its_history) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    BOOST_TEST_CONTEXT("seed " << seed) {
      const auto reports = week{seed}.run();
      double first = 0;
      double last = 0;
      std::size_t waited = 0;
      for (const auto& one : reports) {
        BOOST_TEST_MESSAGE(one.batches << " batches, " << one.waited << " waited; lent for asked "
                                       << one.usual_overhead << " on average, " << one.most_overhead
                                       << " at worst, " << one.most_blocks << " blocks at most");
        BOOST_TEST(one.batches > 10'000u);
        waited += one.waited;
        BOOST_TEST(one.most_overhead <= 2.5);
        BOOST_TEST(one.usual_overhead <= 1.5);
        BOOST_TEST(one.left_at_night == 0u);
      }
      for (std::size_t i = 0; i < 3; ++i) {
        first += reports[i].usual_overhead;
        last += reports[days - 1 - i].usual_overhead;
      }
      BOOST_TEST(last <= 1.15 * first);
      BOOST_TEST(waited > 0u, "memory was short at times");
    }
}

BOOST_AUTO_TEST_SUITE_END()
