# Two modules of OpenCV. Debian's CMake config comes with the package of all modules, which draws in
# hundreds of others; the modules' own packages hold headers and libraries. Defines OpenCV::imgproc.

find_path(OpenCVImgproc_INCLUDE_DIR opencv2/imgproc.hpp PATH_SUFFIXES opencv4)
find_library(OpenCVImgproc_LIBRARY opencv_imgproc)
find_library(OpenCVImgproc_CORE_LIBRARY opencv_core)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenCVImgproc REQUIRED_VARS OpenCVImgproc_LIBRARY
                                  OpenCVImgproc_CORE_LIBRARY OpenCVImgproc_INCLUDE_DIR)

if(OpenCVImgproc_FOUND AND NOT TARGET OpenCV::imgproc)
  add_library(OpenCV::imgproc UNKNOWN IMPORTED)
  set_target_properties(OpenCV::imgproc PROPERTIES
    IMPORTED_LOCATION "${OpenCVImgproc_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${OpenCVImgproc_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${OpenCVImgproc_CORE_LIBRARY}")
endif()
