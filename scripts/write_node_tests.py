#!/usr/bin/env python3
"""Writes the node tests of the installed onnx package as files.

    write_node_tests.py DIRECTORY

A folder per case: model.onnx, and in test_data_set_N/ a serialized TensorProto, SequenceProto or
OptionalProto per input and output (input_0.pb …, output_0.pb …), the form in which older releases of the
ONNX project shipped them. Does nothing if DIRECTORY holds the cases of this version already.
"""

import pathlib
import shutil
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case import node


def message(value, kind, name):
    """The message for a value that a case gives as a message, a numpy array, a scalar or a list."""
    if isinstance(value, onnx.TensorProto):
        stored = onnx.TensorProto()
        stored.CopyFrom(value)
        stored.name = name
        return stored
    if kind.HasField("optional_type"):
        return numpy_helper.from_optional(value, name)
    if kind.HasField("sequence_type"):
        return numpy_helper.from_list(value, name)
    return numpy_helper.from_array(np.asarray(value), name)


def write_case(case, folder):
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    for number, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{number}"
        data.mkdir()
        for stem, values, declared in (("input", inputs, case.model.graph.input),
                                       ("output", outputs, case.model.graph.output)):
            for index, (value, info) in enumerate(zip(values, declared, strict=True)):
                made = message(value, info.type, info.name)
                (data / f"{stem}_{index}.pb").write_bytes(made.SerializeToString())


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    target = pathlib.Path(sys.argv[1])
    stamp = target / "version"
    if stamp.exists() and stamp.read_text() == onnx.__version__:
        return
    shutil.rmtree(target, ignore_errors=True)
    warnings.simplefilter("ignore")
    np.random.seed(0)
    for case in node.collect_testcases(None):
        write_case(case, target / case.name)
    stamp.write_text(onnx.__version__)


if __name__ == "__main__":
    main()
