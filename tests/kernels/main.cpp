#include "kernels/cpu/isa.hpp"

#define BOOST_TEST_MODULE kernels
#include <boost/test/unit_test.hpp>

namespace {

/// Kernels that are made without a device dispatch as TROUPE_MAX_ISA says, too.
struct capped_isa {
  capped_isa() { BOOST_REQUIRE(troupe::cpu::apply_isa_cap().has_value()); }
};
BOOST_TEST_GLOBAL_FIXTURE(capped_isa);

} // namespace
