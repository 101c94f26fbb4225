#!/usr/bin/env python3
"""Sends images to the model `ocr` of a running server, one request each, and prints the text in them.

    read_images.py SERVER IMAGE…       SERVER: tcp://HOST:PORT, or the ready line of `troupe serve --json`

Below each image stands where its time went, by the server's own account, and the time of the round trip.
Where a NAME.txt lies beside NAME.png, the lines found are held against it; exit status 1 if they differ.
"""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "clients" / "python"))

from troupe_client import Client, TroupeError


def address(server):
    return f"tcp://{json.loads(server)['msgpack']}" if server.startswith("{") else server


def read(client, image):
    began = time.monotonic()
    answer = client.infer("ocr", {"image": [image.read_bytes()]})
    round_trip = 1000 * (time.monotonic() - began)
    lines = [line.decode() for line in answer["text"]]
    print(f"\n{image.name}")
    for line in lines:
        print(f"    {line}")
    stages = {name.removesuffix("_ms"): ms for name, ms in answer.parameters.items()
              if name.endswith("_ms")}
    times = ", ".join(f"{name} {ms:.1f}" for name, ms in stages.items())
    print(f"  [{times}; round trip {round_trip:.1f} ms]")

    truth = image.with_suffix(".txt")
    if truth.exists() and lines != truth.read_text(encoding="utf-8").splitlines():
        print(f"  differs from {truth.name}:\n    " + truth.read_text(encoding="utf-8").replace("\n", "\n    "))
        return False
    return True


def main():
    if len(sys.argv) < 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        with Client(address(sys.argv[1])) as client:
            right = [read(client, Path(name)) for name in sys.argv[2:]]
    except (OSError, TroupeError) as problem:
        print(f"read_images.py: {problem}", file=sys.stderr)
        return 1
    print()
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
