#!/usr/bin/env bash
# Cross-builds for 64-bit ARM with Debian's compiler and runs the tests of kernels/ and runtime/, and some
# models, under qemu-user: once with SVE, once with NEON alone. Builds all of it anew, half an hour or more:
# not part of scripts/test.sh.
#   scripts/test_arm64.sh            builds and tests
#   scripts/test_arm64.sh --build    only builds
set -euo pipefail
. "$(dirname "$0")/common.sh"

case ${1:-} in
  "" | --build) ;;
  *) sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
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

scripts/venv.sh
scripts/fetch_models.sh
quietly .venv/bin/python scripts/make_models.py build/models
emulated=build-arm64/emulated-troupe
printf '#!/bin/sh\nexec qemu-aarch64 -L "%s" "%s" "$@"\n' "$sysroot" "$root/build-arm64/bin/troupe" > "$emulated"
chmod +x "$emulated"

for processor in max cortex-a72; do
  export QEMU_CPU=$processor
  step "testing under qemu: $processor"
  ctest --test-dir build-arm64 --output-on-failure --no-tests=error --timeout 7200 -L '^(kernels|runtime)$'
  step "comparing models under qemu: $processor"
  tests/numeric/run.sh compare_with_onnxruntime.py "$emulated" build/models models \
    --only mobilenet_v3 tagger gpt ocr_rec ocr_cls
done
