#!/usr/bin/env python3
"""Compares Troupe with ONNX Runtime and OpenVINO in one run, in interleaved pairs.

    compare.py [--models DIR…] [--troupe build/bin/troupe] [--threads N] [--pairs 9] [--seconds 0.4]
               [--only MODEL…] [--peers onnxruntime openvino] [--json FILE] [--svg FILE]

DIR are model repositories as scripts/fetch_models.sh and scripts/make_models.py lay them out. Each pair
measures every engine once, in turning order; a measurement is the fastest run of its time. A ratio is
a peer's time over Troupe's in the same pair, so that a machine that slows down slows both; the table
gives its median and its range over the pairs.
"""

import argparse
import json
import math
import pathlib
import statistics
import sys

import chart
import engines
from cases import CASES


def find_model(name, repositories):
    files = [repository / name / "1" / "model.onnx" for repository in repositories]
    return next((file for file in files if file.exists()), None)


def compare(case, model, options):
    measuring = {"troupe": engines.Troupe(options.troupe, model, case, options.threads)}
    try:
        for peer in options.peers:
            measuring[peer] = engines.Peer(peer, model, case, options.threads)
        times = {name: [] for name in measuring}
        order = list(measuring)
        for _ in range(options.pairs):
            for name in order:
                times[name].append(measuring[name].measure(options.seconds))
            order = order[1:] + order[:1]
    finally:
        for engine in measuring.values():
            engine.close()
    ratios = {}
    for peer in options.peers:
        of_pairs = [theirs / ours for theirs, ours in zip(times[peer], times["troupe"])]
        ratios[peer] = {
            "median": statistics.median(of_pairs),
            "low": min(of_pairs),
            "high": max(of_pairs),
        }
    return {
        "case": case.name,
        "threads": options.threads,
        "ms": {name: {"min": min(of), "median": statistics.median(of), "max": max(of)}
               for name, of in times.items()},
        "load_ms": {name: engine.load_ms for name, engine in measuring.items()},
        "ratios": ratios,
    }


def table(rows, options):
    head = ["model, batch", "threads", "Troupe ms"]
    for peer in options.peers:
        head += [f"{chart.LABELS[peer]} ms", "ratio (range)"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    cell = lambda ms: f"{ms['min']:.2f} ({ms['median']:.2f})"
    for row in rows:
        cells = [row["case"], str(row["threads"]), cell(row["ms"]["troupe"])]
        for peer in options.peers:
            ratio = row["ratios"][peer]
            cells += [
                cell(row["ms"][peer]),
                f"{ratio['median']:.2f} ({ratio['low']:.2f}–{ratio['high']:.2f})",
            ]
        lines.append("| " + " | ".join(cells) + " |")
    for peer in options.peers:
        medians = [row["ratios"][peer]["median"] for row in rows]
        mean = math.exp(statistics.fmean(map(math.log, medians)))
        lines.append(
            f"\n{chart.LABELS[peer]}: geometric mean {mean:.2f}, lowest {min(medians):.2f} "
            f"(times: fastest and, in brackets, median of {options.pairs} pairs)"
        )
    return "\n".join(lines)


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", type=pathlib.Path, nargs="+", help="model repositories",
                        default=[root / "models", root / "build/models"])
    parser.add_argument("--troupe", default=str(root / "build/bin/troupe"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.4, help="of one measurement")
    parser.add_argument("--only", nargs="*", default=[], help="models to measure")
    parser.add_argument("--peers", nargs="*", default=list(engines.RUNNERS),
                        choices=list(engines.RUNNERS))
    parser.add_argument("--json", type=pathlib.Path, help="write all numbers here")
    parser.add_argument("--svg", type=pathlib.Path, help="draw the ratios here")
    options = parser.parse_args()

    rows = []
    for case in CASES:
        if options.only and case.model not in options.only:
            continue
        model = find_model(case.model, options.models)
        if not model:
            sys.exit(f"{case.model} is missing; scripts/fetch_models.sh and scripts/make_models.py "
                     "make the models")
        print(f"measuring {case.name} …", file=sys.stderr, flush=True)
        rows.append(compare(case, str(model), options))
    print(table(rows, options))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    if options.svg:
        options.svg.write_text(chart.draw(rows, options.threads))


if __name__ == "__main__":
    main()
