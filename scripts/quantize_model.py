#!/usr/bin/env python3
"""Quantises a float32 ONNX model to 8 bits with ONNX Runtime's own tools, in the QDQ format.

    quantize_model.py MODEL.onnx QUANTISED.onnx INPUT=DIMS [--signed]     such as input=1,3,224,224

Weights are INT8 with a scale for each channel; activations UINT8 (INT8 with --signed), their ranges those of
four runs on seeded noise. For speed and agreement between engines, not for accuracy on real images.
"""

import argparse
import pathlib
import tempfile

import numpy as np
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process


class Noise(CalibrationDataReader):
    def __init__(self, name, dims, runs=4):
        generator = np.random.default_rng(1)
        self.inputs = iter([{name: generator.standard_normal(dims, dtype=np.float32)} for _ in range(runs)])

    def get_next(self):
        return next(self.inputs, None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("quantised", type=pathlib.Path)
    parser.add_argument("input", metavar="INPUT=DIMS")
    parser.add_argument("--signed", action="store_true", help="activations of INT8")
    arguments = parser.parse_args()
    name, _, dims = arguments.input.partition("=")
    arguments.quantised.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        prepared = pathlib.Path(folder) / "prepared.onnx"
        quant_pre_process(arguments.model, prepared, skip_symbolic_shape=True)
        quantize_static(
            prepared,
            arguments.quantised,
            Noise(name, [int(size) for size in dims.split(",")]),
            quant_format=QuantFormat.QDQ,
            per_channel=True,
            activation_type=QuantType.QInt8 if arguments.signed else QuantType.QUInt8,
            weight_type=QuantType.QInt8,
        )


if __name__ == "__main__":
    main()
