#include "tests/kernels/candidate_runner.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe::tests {
namespace {

BOOST_AUTO_TEST_SUITE(reorder_onednn)

BOOST_AUTO_TEST_CASE(layouts_change_and_values_do_not) {
  for (const auto& dims : std::vector<shape>{
           {1, 3, 31, 17}, {2, 24, 5, 7}, {3, 200, 1, 1}, {2, 5, 19}, {1, 1, 4, 4}, {3, 7, 1}})
    for (const auto& [from, to] : {std::pair{layout::row_major, layout::channels_last},
                                   std::pair{layout::channels_last, layout::row_major}})
      check_candidates({.op_type = "Reorder",
                        .attributes = {},
                        .inputs = {dims},
                        .constant = {false},
                        .output = dims,
                        .format = from,
                        .domain = "troupe",
                        .output_format = to},
                       "onednn");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace troupe::tests
