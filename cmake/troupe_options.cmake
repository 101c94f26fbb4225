# Options, flags and the one function that every library of the tree is made with.

option(TROUPE_PCH "Precompile the common headers of each library" ON)
option(TROUPE_BENCH "Build the programs in bench/" ON)
option(TROUPE_CHECKS "Register the slow checks (sanitizers, fuzzers, install) as tests" OFF)
option(TROUPE_FUZZ "Build the fuzzers; takes Clang" OFF)
set(TROUPE_FUZZ_SECONDS 15 CACHE STRING "How long each fuzzer runs as a test")
set(TROUPE_FUZZ_SEED 1 CACHE STRING "Where its random numbers start; 0: elsewhere each time")
set(TROUPE_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize takes them (address,undefined or thread)")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(TROUPE_CCACHE ccache)
if(TROUPE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # A precompiled header is found by what it was made from, so that a second build tree hits too.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${TROUPE_CCACHE})
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports these inside optimised standard containers where nothing is wrong.
  add_compile_options(-Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-array-bounds -Wno-restrict
                      -Wno-stringop-overread)
  add_compile_options($<$<BOOL:${TROUPE_PCH}>:-fpch-preprocess>)
endif()
if(TROUPE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "TROUPE_FUZZ takes Clang (preset \"fuzz\"), this is ${CMAKE_CXX_COMPILER_ID}")
  endif()
  set(TROUPE_SANITIZE "fuzzer-no-link,address,undefined")
endif()
if(TROUPE_SANITIZE)
  add_compile_options(-fsanitize=${TROUPE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
                      -O1 -g1)
  # One vector width instead of one per instruction set: the code is the same, the time to compile is not.
  add_compile_definitions(HWY_COMPILE_ONLY_STATIC)
  add_link_options(-fsanitize=${TROUPE_SANITIZE})
  if(TROUPE_SANITIZE MATCHES "address")
    # What AddressSanitizer finds as well; these alone take a third of the time to compile.
    add_compile_options(-fno-sanitize=null,object-size,vptr)
  endif()
  if(TROUPE_SANITIZE MATCHES "thread")
    # Asio's fences are what ThreadSanitizer cannot see; the locks beside them order the same.
    add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
  endif()
endif()

# troupe_library(NAME SOURCES… [PCH HEADERS…]): a static library of this folder whose headers are
# included from the root of the tree ("kernels/base/error.hpp").
function(troupe_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;PCH" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>)
  if(TROUPE_PCH AND arg_PCH)
    target_precompile_headers(${name} PRIVATE ${arg_PCH})
  endif()
endfunction()

# troupe_test(NAME SOURCES… LIBRARIES…): one Boost.Test program, one ctest entry with the labels "unit"
# and the name of its folder in tests/. Target unit_tests builds all of them, unit_tests_FOLDER those of
# one folder.
function(troupe_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} Boost::unit_test_framework)
  target_compile_definitions(${name} PRIVATE BOOST_TEST_DYN_LINK)
  add_test(NAME ${name} COMMAND ${name})
  string(REGEX REPLACE "^${CMAKE_SOURCE_DIR}/tests/([^/]*).*" "\\1" folder ${CMAKE_CURRENT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 LABELS "unit;${folder}")
  foreach(group unit_tests unit_tests_${folder})
    if(NOT TARGET ${group})
      add_custom_target(${group})
    endif()
    add_dependencies(${group} ${name})
  endforeach()
endfunction()

# troupe_fuzzer(NAME SOURCES… LIBRARIES… CORPUS DIR): a libFuzzer program, built in the "fuzz" preset
# only (target fuzzers); as a test it starts from the corpus and runs for TROUPE_FUZZ_SECONDS.
function(troupe_fuzzer name)
  cmake_parse_arguments(arg "" "CORPUS" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT TROUPE_FUZZ)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set(found ${CMAKE_CURRENT_BINARY_DIR}/${name}.found)
  file(MAKE_DIRECTORY ${found})
  cmake_path(ABSOLUTE_PATH arg_CORPUS BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  add_test(NAME ${name} COMMAND ${name} -max_total_time=${TROUPE_FUZZ_SECONDS}
                                -seed=${TROUPE_FUZZ_SEED} -timeout=10
                                -rss_limit_mb=2048 -print_final_stats=1 ${found} ${arg_CORPUS})
  math(EXPR limit "2 * ${TROUPE_FUZZ_SECONDS} + 120")
  set_tests_properties(${name} PROPERTIES TIMEOUT ${limit} LABELS fuzz)
  if(NOT TARGET fuzzers)
    add_custom_target(fuzzers)
  endif()
  add_dependencies(fuzzers ${name})
endfunction()
