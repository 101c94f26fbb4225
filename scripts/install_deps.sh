#!/usr/bin/env bash
# Installs the Debian 12 packages that Troupe needs and that are not there yet.
#   scripts/install_deps.sh         what building and running take
#   scripts/install_deps.sh test    and what the tests and checks take besides
#   scripts/install_deps.sh arm64   or what scripts/test_arm64.sh takes besides
# Asks nothing. As another user than root it goes through sudo.
set -euo pipefail
. "$(dirname "$0")/common.sh"

. "$root/scripts/packages.sh"
wanted=("${build[@]}")
case ${1:-} in
  "") ;;
  test) wanted+=("${test[@]}") ;;
  arm64) wanted+=("${arm64[@]}") ;;
  *) sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
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
