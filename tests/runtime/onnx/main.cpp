#define BOOST_TEST_MODULE runtime_onnx
#include <boost/test/unit_test.hpp>
