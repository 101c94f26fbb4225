# The Clipper polygon library: headers and a pkg-config file in Debian 12. Defines
# Polyclipping::polyclipping.

find_path(Polyclipping_INCLUDE_DIR clipper.hpp PATH_SUFFIXES polyclipping)
find_library(Polyclipping_LIBRARY polyclipping)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Polyclipping REQUIRED_VARS Polyclipping_LIBRARY
                                                             Polyclipping_INCLUDE_DIR)

if(Polyclipping_FOUND AND NOT TARGET Polyclipping::polyclipping)
  add_library(Polyclipping::polyclipping UNKNOWN IMPORTED)
  set_target_properties(Polyclipping::polyclipping PROPERTIES
    IMPORTED_LOCATION "${Polyclipping_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Polyclipping_INCLUDE_DIR}")
endif()
