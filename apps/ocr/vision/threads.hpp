#pragma once

namespace troupe::ocr {

/// Makes OpenCV work on the threads that call it alone: it would otherwise start a team of its own
/// beside the kernels'. Holds for the whole process.
void keep_to_calling_threads();

} // namespace troupe::ocr
