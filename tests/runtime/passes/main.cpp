#define BOOST_TEST_MODULE runtime_passes
#include <boost/test/unit_test.hpp>
