#define BOOST_TEST_MODULE dynamic
#include <boost/test/unit_test.hpp>
