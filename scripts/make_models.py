#!/usr/bin/env python3
"""Writes seeded ONNX models for tests and benchmarks, laid out as a model repository.

    make_models.py DIRECTORY [NAME…]      default: all of them

resnet50, mobilenet_v3, efficientnet_b0
           image classifiers, convolutions of every kind.
vit        an image classifier of attention.
yolo, yolo_nms
           a detector that answers every anchor, and one that answers the boxes it keeps.
minilm     an encoder of MiniLM's shape.
tagger     a bidirectional LSTM and GRU over words.
gpt        a decoder with a cache of keys and values.
identity, add, tiny_conv
           small models whose answers a test can tell in its head.
running_sum
           one that keeps state between the requests of a sequence.

Written as PyTorch's exporter would; scripts/model_zoo/ says more about each. Weights are random (fixed
seeds), scaled so that activations stay in a sane range. A model that is already there is left alone.
"""

import argparse
import pathlib

import onnx
from onnx import TensorProto

from model_zoo import bert, gpt, mobile, recurrent, resnet, small, vit, yolo

MODELS = {
    # name: (maker, max_batch_size; 0: axis 0 of the outputs is no batch)
    "resnet50": (resnet.resnet50, 32),
    "mobilenet_v3": (mobile.mobilenet_v3, 32),
    "efficientnet_b0": (mobile.efficientnet_b0, 32),
    "vit": (vit.vit, 32),
    "yolo": (yolo.yolo, 16),
    "yolo_nms": (yolo.yolo_nms, 0),
    "minilm": (bert.minilm, 32),
    "tagger": (recurrent.tagger, 32),
    "gpt": (gpt.gpt, 16),
    "identity": (small.identity, 64),
    "add": (small.add, 8),
    "tiny_conv": (small.tiny_conv, 8),
    "running_sum": (small.running_sum, 8),
}
# What the server keeps of a stateful model, and what it says of it: neither is the clients'.
SEQUENCES = {"running_sum": (small.SEQUENCES, {"start", "end", "ready", "id", "sum", "new_sum"})}


def pbtxt(name, model, max_batch):
    sequences, internal = SEQUENCES.get(name, (None, set()))

    def tensors(kind, infos):
        lines = []
        for info in infos:
            if info.name in internal:
                continue
            tensor = info.type.tensor_type
            dims = [d.dim_value if d.HasField("dim_value") else -1 for d in tensor.shape.dim]
            dims = dims[1:] if max_batch else dims
            dtype = {TensorProto.FLOAT: "TYPE_FP32", TensorProto.INT32: "TYPE_INT32",
                     TensorProto.INT64: "TYPE_INT64"}[tensor.elem_type]
            lines.append(f'{kind} [ {{ name: "{info.name}" data_type: {dtype} dims: {dims} }} ]')
        return lines

    lines = [f'name: "{name}"', f"max_batch_size: {max_batch}"]
    lines += tensors("input", model.graph.input) + tensors("output", model.graph.output)
    batching = sequences or ("dynamic_batching { }" if max_batch else None)
    return "\n".join([*lines, *([batching] if batching else []), ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MODELS))
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(MODELS)
    if unknown:
        parser.error(f"no such model: {', '.join(sorted(unknown))}")
    for name in arguments.names or MODELS:
        maker, max_batch = MODELS[name]
        folder = arguments.directory / name
        if (folder / "config.pbtxt").exists():
            continue
        model = maker()
        (folder / "1").mkdir(parents=True, exist_ok=True)
        onnx.save(model, folder / "1" / "model.onnx")
        (folder / "config.pbtxt").write_text(pbtxt(name, model, max_batch))
        print(folder / "1" / "model.onnx")


if __name__ == "__main__":
    main()
