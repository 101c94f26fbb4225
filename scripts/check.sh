#!/usr/bin/env bash
# One of the slow checks; ctest runs each of them when TROUPE_CHECKS is on.
#   scripts/check.sh asan      unit tests under AddressSanitizer and UndefinedBehaviorSanitizer
#   scripts/check.sh tsan      tests of actors/ and protocol/ under ThreadSanitizer
#   scripts/check.sh fuzz      every fuzzer for a bounded time
#   scripts/check.sh install   installs build/, builds examples/embed against it and runs it
#   scripts/check.sh tidy      clang-tidy on what decides: tensors, plans, batching, placement, codecs
set -euo pipefail
. "$(dirname "$0")/common.sh"

cd "$root"
run_tests() { ctest --test-dir "$1" --output-on-failure --no-tests=error -j "$jobs" "${@:2}"; }

asan() {
  export ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1
  quietly cmake --preset asan
  build build-asan unit_tests
  run_tests build-asan -L unit
}

tsan() {
  export TSAN_OPTIONS="second_deadlock_stack=1 suppressions=$root/scripts/tsan.supp"
  scripts/build_caf.sh thread
  quietly cmake --preset tsan
  build build-tsan unit_tests_actors unit_tests_protocol
  # Address space randomisation beyond what GCC 12's runtime knows would stop it at start.
  setarch "$(uname -m)" -R true 2>/dev/null && personality=(setarch "$(uname -m)" -R) || personality=()
  "${personality[@]}" ctest --test-dir build-tsan --output-on-failure --no-tests=error \
    -L '^(actors|protocol)$'
}

fuzz() {
  quietly cmake --preset fuzz
  build build-fuzz fuzzers
  run_tests build-fuzz -L fuzz
}

install() {
  local prefix=$root/build/install
  rm -rf "$prefix" "$root/build/embed"
  quietly cmake --install build --prefix "$prefix"
  quietly cmake -S examples/embed -B build/embed -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$prefix"
  quietly cmake --build build/embed
  build/embed/embed build/models/add/1/model.onnx
}

tidy() {
  # Clang 14 cannot read GCC 12's coroutines; the connections are left out.
  local files
  mapfile -t files < <(find kernels/base kernels/tensor runtime/plan runtime/batching runtime/placement \
    runtime/store protocol/tensor_check.cpp protocol/msgpack/{decode,decode_answers,encode,scanner,value}.cpp \
    -name '*.cpp' | sort)
  # GCC's options for precompiled headers mean nothing to Clang: a tree without them.
  quietly cmake -S . -B build-tidy -G Ninja -DTROUPE_PCH=OFF -DTROUPE_BENCH=OFF
  printf '%s\0' "${files[@]}" |
    xargs -0 -n 2 -P "$jobs" clang-tidy-14 --quiet -p build-tidy 2>/dev/null
}

case ${1:-} in
  asan | tsan | fuzz | install | tidy) "$1" ;;
  *) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
