#define BOOST_TEST_MODULE runtime_graph
#include <boost/test/unit_test.hpp>
