#define BOOST_TEST_MODULE apps_ocr
#include <boost/test/unit_test.hpp>
