#!/usr/bin/env bash
# From a fresh clone to text read out of images: installs what is missing, builds, fetches three OCR
# networks, renders sample pages, serves the networks on free ports of this machine, sends each page as a
# real request, prints the text and where the time went, and stops the server.
#   scripts/quickstart.sh
set -euo pipefail
. "$(dirname "$0")/common.sh"

[ $# = 0 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }

scratch=$(mktemp -d)
server=
finish() {
  local status=$?
  trap - EXIT
  if [ -n "$server" ] && kill -TERM "$server" 2>/dev/null; then wait "$server" || true; fi
  rm -rf "$scratch"
  [ "$status" = 0 ] || echo "quickstart.sh: failed; the lines above say at what" >&2
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

cd "$root"
scripts/install_deps.sh
scripts/venv.sh
scripts/fetch_models.sh
step "configuring"
quietly cmake --preset release
step "building (the first time takes some minutes)"
build build troupe
step "rendering sample pages"
quietly .venv/bin/python scripts/render_samples.py samples build/samples

step "starting the server"
mkfifo "$scratch/ready"
exec 3<>"$scratch/ready"
build/bin/troupe serve --json --model-repository models --host 127.0.0.1 \
  --http-port 0 --grpc-port 0 --metrics-port 0 --msgpack-port 0 >&3 2>"$scratch/log" &
server=$!
ready=
for _ in $(seq 60); do
  IFS= read -r -t 1 ready <&3 && break
  kill -0 "$server" 2>/dev/null || break
done
if [ -z "$ready" ]; then
  cat "$scratch/log" >&2
  die "the server did not get ready"
fi

step "reading the pages"
.venv/bin/python scripts/read_images.py "$ready" build/samples/*.{png,jpg}

step "stopping the server"
kill -TERM "$server"
wait "$server" || die "the server left with status $?"
server=
step "done"
