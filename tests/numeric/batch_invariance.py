#!/usr/bin/env python3
"""batch_invariance.py TROUPE REPOSITORY… [--only MODEL…]

Runs every model that answers row by row with `troupe run --batch-invariant`, in batches of 1 to 9 on 1 and on
2 threads, and compares the bits of every row of every output with those of the batch of 9.
Exits with 1 if a bit differs, with 77 if a model is missing.
"""

import argparse
import pathlib
import sys

import numpy as np
import onnxruntime

from compare_with_onnxruntime import FOUND_ROWS, MODELS, find_model, make_inputs, run_troupe

BATCHES = range(1, 10)
THREADS = (1, 2)


def differing_bits(program, model, rows):
    """The first batch and number of threads that answers other bits, or nothing."""
    answers = {}
    for threads in THREADS:
        for batch in BATCHES:
            inputs = {name: content[:batch] for name, content in rows.items()}
            answers[threads, batch] = run_troupe(
                program, model, inputs, "--batch-invariant", "--threads", str(threads))
    whole = answers[THREADS[0], max(BATCHES)]
    for (threads, batch), outputs in answers.items():
        for name, output in outputs.items():
            if output.tobytes() != np.ascontiguousarray(whole[name][:batch]).tobytes():
                return f"output {name} differs in a batch of {batch} on {threads} threads"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("troupe")
    parser.add_argument("repositories", nargs="+", type=pathlib.Path)
    parser.add_argument("--only", nargs="*",
                        default=[name for name in MODELS if name not in FOUND_ROWS])
    options = parser.parse_args()
    failed = False
    for name in options.only:
        model = find_model(name, options.repositories)
        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        rows = make_inputs(session, MODELS[name][-1], max(BATCHES))
        try:
            wrong = differing_bits(options.troupe, model, rows)
        except RuntimeError as error:
            wrong = str(error)
        failed = failed or wrong is not None
        print(f"{name:<16} {wrong or 'the same bits in every batch'}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
