#!/usr/bin/env bash
# Builds caf_core from Debian's source package with a sanitizer, into .cache/caf-SANITIZER. Under
# ThreadSanitizer the packaged library reports races that are none, since its own synchronisation
# cannot be seen.
#   scripts/build_caf.sh thread
set -euo pipefail
. "$(dirname "$0")/common.sh"

[ $# = 1 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
sanitizer=$1
version=0.17.6
sum=e2bf5bd243f08bb7d8adde197cfe3e6d71314ed3378fe0692f8932f4c3b3928c
archive=actor-framework_$version.orig.tar.gz
prefix=$cache/caf-$sanitizer
stamp=$prefix/built
[ "$(cat "$stamp" 2>/dev/null)" != "$version $sum" ] || exit 0

# The machine's own package sources, asked for source packages too, with lists of our own: neither
# root nor a change of the system's configuration is needed.
fetch() {
  local apt=$work/apt file
  mkdir -p "$apt/parts" "$apt/lists/partial"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -e "$file" ] && sed -n 's/^deb /deb-src /p' "$file" >"$apt/parts/$(basename "$file" .list).list"
  done
  for file in /etc/apt/sources.list.d/*.sources; do
    [ -e "$file" ] && sed 's/^Types:.*/Types: deb-src/' "$file" >"$apt/parts/$(basename "$file")"
  done
  local options=(-qq -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$apt/parts"
    -o "Dir::State::lists=$apt/lists" -o Acquire::Retries=3)
  apt-get "${options[@]}" update || true # a source without source packages is not our concern
  (cd "$work" && apt-get "${options[@]}" source --download-only --tar-only actor-framework)
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
step "building CAF $version with -fsanitize=$sanitizer (about two minutes)"
if ! echo "$sum  $cache/$archive" | sha256sum --status -c 2>/dev/null; then
  quietly fetch
  echo "$sum  $work/$archive" | sha256sum --status -c || die "$archive does not have the expected checksum"
  mkdir -p "$cache"
  cp "$work/$archive" "$cache/"
fi
tar -C "$work" -xzf "$cache/$archive"
source=$(echo "$work"/actor-framework-*/)

launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
quietly cmake -S "$source" -B "$work/build" -G Ninja -Wno-dev "${launcher[@]}" \
  -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="-fsanitize=$sanitizer -fno-omit-frame-pointer -O1 -g1 -w" \
  -DCMAKE_INSTALL_PREFIX="$prefix" \
  -DCAF_NO_EXAMPLES=ON -DCAF_NO_UNIT_TESTS=ON -DCAF_NO_TOOLS=ON -DCAF_NO_IO=ON -DCAF_NO_OPENSSL=ON \
  -DCAF_NO_OPENCL=ON -DCAF_NO_PYTHON=ON -DCAF_NO_BENCHMARKS=ON
rm -rf "$prefix"
quietly cmake --build "$work/build" -j "$jobs"
quietly cmake --install "$work/build"
echo "$version $sum" >"$stamp"
