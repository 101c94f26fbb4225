#define BOOST_TEST_MODULE runtime_pipeline
#include <boost/test/unit_test.hpp>
