#!/usr/bin/env bash
# Cross-builds for 64-bit ARM with Debian's compiler and runs the tests of kernels/ and runtime/, and one
# model, under qemu-user. Takes an hour or more, most of it in the emulator: not part of scripts/test.sh.
#   scripts/test_arm64.sh            builds and tests
#   scripts/test_arm64.sh --build    only builds
set -euo pipefail
. "$(dirname "$0")/common.sh"

case ${1:-} in
  "" | --build) ;;
  *) sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

cd "$root"
scripts/install_deps.sh
scripts/install_deps.sh arm64
. scripts/packages.sh

# The target's libraries lie in a folder of their own, unpacked and not installed.
sysroot=$cache/arm64-sysroot
if [ ! -e "$sysroot.complete" ]; then
  step "fetching the libraries for arm64"
  rm -rf "$sysroot"
  libraries=(libstdc++-12-dev libgomp1)
  for package in "${build[@]}"; do
    [[ $package != *-dev ]] || libraries+=("$package")
  done
  quietly mmdebstrap --architectures=arm64 --variant=extract \
    --include="$(IFS=,; echo "${libraries[*]}")" bookworm "$sysroot"
  # Links that installing would have made.
  for name in blas lapack; do
    ln -sf "$name/lib$name.so.3" "$sysroot/usr/lib/aarch64-linux-gnu/lib$name.so.3"
  done
  touch "$sysroot.complete"
fi

step "building"
quietly cmake -S . -B build-arm64 -G Ninja -DCMAKE_BUILD_TYPE=Release -DTROUPE_BENCH=OFF \
  -DCMAKE_TOOLCHAIN_FILE="$root/cmake/arm64_toolchain.cmake" -DTROUPE_SYSROOT="$sysroot"
build build-arm64 troupe unit_tests_kernels unit_tests_runtime
[ -z "${1:-}" ] || exit 0

step "testing under qemu"
ctest --test-dir build-arm64 --output-on-failure --no-tests=error --timeout 7200 -L '^(kernels|runtime)$'
