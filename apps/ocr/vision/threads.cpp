#include "apps/ocr/vision/threads.hpp"

#include <opencv2/core/utility.hpp>

namespace troupe::ocr {

void keep_to_calling_threads() {
  cv::setNumThreads(1);
}

} // namespace troupe::ocr
