#define BOOST_TEST_MODULE apps_common
#include <boost/test/unit_test.hpp>
