#!/usr/bin/env bash
# Installs the Debian 12 packages that Troupe needs and that are not there yet.
#   scripts/install_deps.sh         what building and running take
#   scripts/install_deps.sh test    and what the tests and checks take besides
# Asks nothing. As another user than root it goes through sudo.
set -euo pipefail
. "$(dirname "$0")/common.sh"

build=(
  build-essential cmake ninja-build ccache ca-certificates
  libcaf-dev
  libboost-dev libboost-test-dev
  libdnnl-dev ocl-icd-opencl-dev libhwy-dev
  libprotobuf-dev protobuf-compiler
  libmsgpack-cxx-dev libsimdjson-dev nlohmann-json3-dev libtomlplusplus-dev
  libspdlog-dev libfmt-dev libcli11-dev libexpected-dev
  libpng-dev libjpeg62-turbo-dev libopencv-imgproc-dev libpolyclipping-dev
  python3 python3-venv
  curl fonts-dejavu-core fonts-liberation fonts-freefont-ttf fonts-open-sans
)
# libonnx-testdata: the ONNX project's own operator tests. clang: fuzzers, format and lint.
test=(
  libonnx-testdata
  clang-14 libclang-rt-14-dev libomp-14-dev clang-format-14 clang-tidy-14
  dpkg-dev
)

wanted=("${build[@]}")
case ${1:-} in
  "") ;;
  test) wanted+=("${test[@]}") ;;
  *) sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

missing=()
for package in "${wanted[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

. /etc/os-release
[ "${ID:-}${VERSION_ID:-}" = debian12 ] ||
  die "knows Debian 12 only, this is ${PRETTY_NAME:-unknown}; install the counterparts of: ${missing[*]}"

as_root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || die "run as root (there is no sudo): apt-get install ${missing[*]}"
  as_root=(sudo)
fi

step "installing ${#missing[@]} Debian packages"
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive
  apt-get -qq -o Acquire::Retries=3 -o Dpkg::Use-Pty=0)
quietly "${apt[@]}" update
quietly "${apt[@]}" install -y --no-install-recommends "${missing[@]}"
