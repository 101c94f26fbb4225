# tl::expected: a header-only package without a CMake config in Debian 12. Defines tl::expected.

find_path(expected_INCLUDE_DIR tl/expected.hpp)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(expected REQUIRED_VARS expected_INCLUDE_DIR)

if(expected_FOUND AND NOT TARGET tl::expected)
  add_library(tl::expected INTERFACE IMPORTED)
  set_target_properties(tl::expected PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
                                                "${expected_INCLUDE_DIR}")
endif()
