#!/usr/bin/env python3
"""What the protocols cost: both listeners before a service that echoes, against servers that use msgpack-cxx and
Beast without more. Interleaved pairs under the same load; prints the ratio of throughputs with its spread.

    bench/serve/protocols.py [--build build] [--pairs 9] [--seconds 1] [--json]
"""

import argparse
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys

CASES = [  # protocol, floats of the tensor, requests in flight
    ("tcp", 16, 1), ("tcp", 16, 32), ("tcp", 46080, 4), ("tcp", 1000000, 2),
    ("http", 16, 1), ("http", 16, 32), ("http", 46080, 4), ("http", 1000000, 2),
]


@contextlib.contextmanager
def server(path):
    process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        yield [int(port) for port in process.stdout.readline().split()]
    finally:
        process.stdin.close()
        process.wait(10)


def throughput(load, protocol, port, floats, concurrency, seconds):
    shown = subprocess.run(
        [load, f"{protocol}://127.0.0.1:{port}", "echo", "--shape", f"x={floats}", "--concurrency", str(concurrency),
         "--seconds", str(seconds), "--warm-up", "0.1", "--json"],
        check=True, stdout=subprocess.PIPE)
    return json.loads(shown.stdout)["throughput_per_s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", type=pathlib.Path)
    parser.add_argument("--pairs", default=9, type=int)
    parser.add_argument("--seconds", default=1.0, type=float)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    programs = options.build / "bin"
    rows = []
    with server(programs / "echo_server") as (tcp, http), server(programs / "bare_msgpack") as (bare_tcp,), \
            server(programs / "bare_http") as (bare_http,):
        ports = {"tcp": (tcp, bare_tcp), "http": (http, bare_http)}
        for protocol, floats, concurrency in CASES:
            ours, bare = [], []
            for pair in range(options.pairs):
                order = [(ours, 0), (bare, 1)]
                for into, which in order if pair % 2 == 0 else reversed(order):
                    into.append(throughput(programs / "troupe-load", protocol, ports[protocol][which], floats, concurrency,
                                           options.seconds))
            ratios = sorted(a / b for a, b in zip(ours, bare))
            rows.append({
                "protocol": protocol, "bytes": 4 * floats, "in_flight": concurrency,
                "troupe_per_s": statistics.median(ours), "bare_per_s": statistics.median(bare),
                "ratio": statistics.median(ratios), "lowest": ratios[0], "highest": ratios[-1], "pairs": options.pairs,
            })
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"{'':6}{'bytes':>9}{'in flight':>11}{'troupe/s':>11}{'bare/s':>11}{'ratio':>8}   spread of {options.pairs} pairs")
    for r in rows:
        print(f"{r['protocol']:6}{r['bytes']:>9}{r['in_flight']:>11}{r['troupe_per_s']:>11.0f}{r['bare_per_s']:>11.0f}"
              f"{r['ratio']:>8.2f}   {r['lowest']:.2f} to {r['highest']:.2f}")


if __name__ == "__main__":
    main()
