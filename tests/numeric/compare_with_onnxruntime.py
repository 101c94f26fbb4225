#!/usr/bin/env python3
"""compare_with_onnxruntime.py TROUPE REPOSITORY… [--only MODEL…]

Runs models through `troupe run` and through ONNX Runtime, up to three shapes each in batches of 1, 3 and 8,
and compares every output: |difference| <= 1e-3 + 1e-3 |expected|. Also compares a row's answer in a batch
of 8 with its answer alone, where rows are answered one by one: it must not depend on who else was there.
Exits with 1 if anything differs, with 77 if a model is missing.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime

ABSOLUTE = RELATIVE = 1e-3
BATCHES = [1, 3, 8]

# Model, then what is to be filled into the shapes of its inputs: the dims of a row, or sizes by name.
MODELS = {
    "ocr_det": [[3, 96, 224], [3, 320, 320], [3, 256, 480]],
    "ocr_rec": [[3, 48, 320], [3, 48, 167], [3, 48, 512]],
    "ocr_cls": [[3, 48, 192], [3, 48, 96], [3, 48, 101]],
    "resnet50": [[3, 224, 224], [3, 160, 192], [3, 97, 131]],
    "mobilenet_v3": [[3, 224, 224], [3, 160, 192], [3, 97, 131]],
    "efficientnet_b0": [[3, 224, 224], [3, 160, 192], [3, 97, 131]],
    "vit": [[3, 224, 224]],
    "yolo": [[3, 320, 320], [3, 192, 256], [3, 96, 352]],
    "yolo_nms": [[3, 320, 320], [3, 192, 256], [3, 96, 352]],
    "minilm": [[128], [7], [33]],
    "tagger": [[24], [1], [61]],
    "gpt": [{"past": 0, "sequence": 12}, {"past": 20, "sequence": 1}, {"past": 37, "sequence": 5}],
}
# Outputs here have as many rows as were found, not one for each row of the inputs.
FOUND_ROWS = {"yolo_nms"}


def find_model(name, repositories):
    """The model's file; without one the program ends as a skipped test."""
    files = [place / name / "1" / "model.onnx" for place in repositories]
    model = next((file for file in files if file.exists()), None)
    if not model:
        print(f"skipped: {name} is missing; scripts/fetch_models.sh and scripts/make_models.py make the models")
        sys.exit(77)
    return model


def dims_of(declared, row, batch):
    if isinstance(row, list):
        return [batch, *row]
    sizes = {**row, "batch": batch}
    return [axis if isinstance(axis, int) else sum(sizes[part] for part in axis.split(" + "))
            for axis in declared.shape]


def make_inputs(session, row, batch):
    """Rows for a batch; smaller ones take the first of them."""
    random = np.random.default_rng(3)
    made = {}
    for declared in session.get_inputs():
        dims = dims_of(declared, row, batch)
        if declared.type == "tensor(int64)":
            high = {"input_ids": 2000, "words": 8000}.get(declared.name, 2)
            made[declared.name] = random.integers(0, high, dims)
        else:
            made[declared.name] = random.standard_normal(dims, np.float32)
    if "attention_mask" in made:
        made["attention_mask"][:, 0] = 1  # a sequence has at least one token
    return made


def run_troupe(program, model, inputs, *options):
    with tempfile.TemporaryDirectory() as scratch:
        directory = pathlib.Path(scratch)
        command = [program, "run", model, "--output", directory / "out", *options]
        for index, (name, content) in enumerate(inputs.items()):
            np.save(directory / f"{index}.npy", content)
            command += ["--input", f"{name}={directory}/{index}.npy"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        listed = json.loads((directory / "out/manifest.json").read_text())["outputs"]
        return {one["name"]: np.load(directory / "out" / one["file"]) for one in listed}


def difference(expected, came):
    """Largest absolute difference, and largest as a share of what is allowed."""
    if expected.shape != came.shape or expected.dtype != came.dtype:
        return float("inf"), float("inf")
    if not np.isfinite(came).all():
        return float("inf"), float("inf")
    gap = np.abs(expected.astype(np.float64) - came.astype(np.float64))
    allowed = ABSOLUTE + RELATIVE * np.abs(expected)
    return (float(gap.max()), float((gap / allowed).max())) if gap.size else (0.0, 0.0)


def compare_shape(program, model, session, row, by_row):
    names = [output.name for output in session.get_outputs()]
    rows = make_inputs(session, row, max(BATCHES))
    worst, share, variance, variance_share = 0.0, 0.0, 0.0, 0.0
    answers = {}
    for batch in BATCHES:
        inputs = {name: content[:batch] for name, content in rows.items()}
        expected = dict(zip(names, session.run(None, inputs)))
        answers[batch] = run_troupe(program, model, inputs)
        for name in names:
            gap, used = difference(expected[name], answers[batch][name])
            worst, share = max(worst, gap), max(share, used)
    for name in names if by_row else []:
        for batch in BATCHES[:-1]:
            gap, used = difference(answers[max(BATCHES)][name][:batch], answers[batch][name])
            variance, variance_share = max(variance, gap), max(variance_share, used)
    return worst, share, variance, variance_share


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("troupe")
    parser.add_argument("repositories", nargs="+", type=pathlib.Path)
    parser.add_argument("--only", nargs="*", default=list(MODELS))
    options = parser.parse_args()

    failed = False
    print(f"{'model':<16} {'row':<16} {'max error':>10} {'of allowed':>10} {'batch effect':>12}")
    for name in options.only:
        model = find_model(name, options.repositories)
        settings = onnxruntime.SessionOptions()
        settings.log_severity_level = 3
        session = onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])
        for row in MODELS[name]:
            text = " ".join(map(str, row if isinstance(row, list) else row.values()))
            try:
                worst, share, variance, variance_share = compare_shape(
                    options.troupe, model, session, row, name not in FOUND_ROWS)
            except RuntimeError as error:
                print(f"{name:<16} {text:<16} {error}", flush=True)
                failed = True
                continue
            wrong = share > 1 or variance_share > 1
            failed = failed or wrong
            print(f"{name:<16} {text:<16} {worst:>10.2e} {100 * share:>9.2f}% {variance:>12.2e}"
                  f"{'  WRONG' if wrong else ''}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
