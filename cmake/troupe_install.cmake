# What `cmake --install` lays down: the programs, libtroupe with the embedding API's headers,
# libtroupe_client with the client's, and a package so that find_package(troupe) gives the targets
# troupe::troupe and troupe::client.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# One shared library out of the static ones: all that the public headers declare, and of the rest what
# that needs.
add_library(troupe_shared SHARED $<TARGET_OBJECTS:troupe_tensor> $<TARGET_OBJECTS:troupe_actors>)
set_target_properties(troupe_shared PROPERTIES OUTPUT_NAME troupe EXPORT_NAME troupe
                                               VERSION ${PROJECT_VERSION}
                                               SOVERSION ${PROJECT_VERSION_MAJOR})
target_link_libraries(troupe_shared
  PRIVATE troupe_actors troupe_tensor
  INTERFACE fmt::fmt tl::expected Boost::headers Threads::Threads)
target_compile_features(troupe_shared INTERFACE cxx_std_20)
target_include_directories(troupe_shared INTERFACE
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/troupe>)
add_library(troupe::troupe ALIAS troupe_shared)

# The client alone, for programs that ask a server elsewhere.
add_library(troupe_client_shared SHARED $<TARGET_OBJECTS:troupe_tensor> $<TARGET_OBJECTS:troupe_client>)
set_target_properties(troupe_client_shared PROPERTIES OUTPUT_NAME troupe_client EXPORT_NAME client
                                                      VERSION ${PROJECT_VERSION}
                                                      SOVERSION ${PROJECT_VERSION_MAJOR})
target_link_libraries(troupe_client_shared
  PRIVATE troupe_client troupe_tensor
  INTERFACE fmt::fmt tl::expected Boost::headers Threads::Threads)
target_compile_features(troupe_client_shared INTERFACE cxx_std_20)
target_include_directories(troupe_client_shared INTERFACE
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/troupe>)
add_library(troupe::client ALIAS troupe_client_shared)

install(TARGETS troupe_shared troupe_client_shared EXPORT troupe-targets)
install(EXPORT troupe-targets NAMESPACE troupe::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/troupe)

# Included as <troupe/troupe.hpp>; the headers behind it keep their places of the tree below troupe/.
install(FILES actors/troupe.hpp actors/awaitable.hpp actors/asio.hpp clients/cpp/client.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/troupe)
install(FILES protocol/inference.hpp protocol/service.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/troupe/protocol)
install(FILES protocol/msgpack/encode.hpp protocol/msgpack/frame.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/troupe/protocol/msgpack)
install(DIRECTORY kernels/base kernels/tensor
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/troupe/kernels FILES_MATCHING PATTERN "*.hpp")

configure_package_config_file(cmake/troupe-config.cmake.in troupe-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/troupe)
write_basic_package_version_file(troupe-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/troupe-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/troupe-config-version.cmake
              cmake/Findexpected.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/troupe)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
