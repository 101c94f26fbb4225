#define BOOST_TEST_MODULE runtime_serving
#include <boost/test/unit_test.hpp>
