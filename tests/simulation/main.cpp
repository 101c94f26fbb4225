// simulation_test [--first SEED] [--count N] [--trace]
// One world for every seed; a seed that fails is named, and does the same again.

#define BOOST_TEST_NO_MAIN
#define BOOST_TEST_ALTERNATIVE_INIT_API
#include "tests/simulation/random_world.hpp"

#include <boost/test/results_collector.hpp>
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace {

std::uint64_t first_seed = 1;
std::uint64_t count = 1000;
bool traced = false;

boost::unit_test::counter_t failures() {
  namespace boost_test = boost::unit_test;
  const auto current = boost_test::framework::current_test_case().p_id;
  return boost_test::results_collector.results(current).p_assertions_failed;
}

void run_seeds() {
  for (auto seed = first_seed; seed < first_seed + count; ++seed) {
    const auto before = failures();
    BOOST_TEST_CONTEXT("seed " << seed) {
      troupe::test::random_world world{seed, traced ? &std::cerr : nullptr};
      world.run();
    }
    if (failures() > before)
      std::cerr << "seed " << seed << " failed; again: simulation_test --first " << seed
                << " --count 1 --trace\n";
  }
}

bool add_tests() {
  boost::unit_test::framework::master_test_suite().add(
      BOOST_TEST_CASE_NAME(&run_seeds, "every_seed_keeps_what_must_hold"));
  return true;
}

} // namespace

int main(int argc, char** argv) {
  spdlog::set_level(spdlog::level::off); // deaths are what this is about
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--first" && i + 1 < argc)
      first_seed = std::strtoull(argv[++i], nullptr, 10);
    else if (word == "--count" && i + 1 < argc)
      count = std::strtoull(argv[++i], nullptr, 10);
    else if (word == "--trace")
      traced = true;
    else {
      std::cerr << "usage: simulation_test [--first SEED] [--count N] [--trace]\n";
      return 2;
    }
  }
  char* plain[] = {argv[0], nullptr};
  return boost::unit_test::unit_test_main(&add_tests, 1, plain);
}
