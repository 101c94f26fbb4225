#!/usr/bin/env bash
# One of the slow checks; ctest runs each of them when TROUPE_CHECKS is on.
#   scripts/check.sh asan      unit tests under AddressSanitizer and UndefinedBehaviorSanitizer
#   scripts/check.sh tsan      tests of actors/ and protocol/ under ThreadSanitizer
#   scripts/check.sh fuzz [SECONDS]
#                              every fuzzer for a short while from a fixed seed; with SECONDS, each
#                              for that long from another seed every time: that finds what is new
#   scripts/check.sh install   installs build/, builds every example against it and runs it
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
  quietly cmake --preset fuzz -DTROUPE_FUZZ_SECONDS="${1:-15}" -DTROUPE_FUZZ_SEED=$(($# == 0))
  build build-fuzz fuzzers
  run_tests build-fuzz -L fuzz
}

install() {
  local prefix=$root/build/install
  rm -rf "$prefix" "$root/build/examples"
  quietly cmake --install build --prefix "$prefix"
  local example
  for example in embed custom_stage remote_client; do
    quietly cmake -S examples/$example -B build/examples/$example -G Ninja -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_PREFIX_PATH="$prefix"
    quietly cmake --build build/examples/$example
  done
  build/examples/embed/embed build/models/add/1/model.onnx
  build/examples/custom_stage/custom_stage build/models/add/1/model.onnx \
    examples/custom_stage/pipeline.toml
  ask_installed_server "$prefix"
}

# The installed server on a free port, and the client against it.
ask_installed_server() {
  local ready port status=0
  coproc server { exec "$1/bin/troupe" serve --json --http-port 0 --msgpack-port 0 \
    --log-level error build/models/add; }
  local number=$server_PID
  read -r ready <&"${server[0]}" || die "the installed server does not start"
  port=$(sed 's/.*"msgpack":"[^"]*:\([0-9]*\)".*/\1/' <<<"$ready")
  build/examples/remote_client/remote_client "tcp://127.0.0.1:$port" || status=$?
  kill "$number"
  wait "$number" || true
  return $status
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
  asan | tsan | fuzz | install | tidy) "$@" ;;
  *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
