#!/usr/bin/env python3
"""Writes seeded ONNX models for tests and benchmarks, laid out as a model repository.

    make_models.py DIRECTORY [NAME…]      default: all of them

resnet50   ResNet-50 v1.5 (the stride sits on the 3x3 convolution), BatchNormalization not folded.
minilm     an encoder of MiniLM's shape, written the way PyTorch's exporter writes BERT: layer
           normalisation, GELU and attention as their elementary operators, an attention mask.
identity, add, tiny_conv
           small models whose answers a test can tell in its head.

Weights are random (fixed seeds), scaled so that activations stay in a sane range. A model that is
already there is left alone.
"""

import argparse
import math
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8


class Builder:
    """Collects nodes and initializers; every method returns the name of the value it made."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes = []
        self.initializers = []

    def weight(self, name, values):
        self.initializers.append(numpy_helper.from_array(np.asarray(values, order="C"), name))
        return name

    def normal(self, name, shape, scale):
        values = self.random.standard_normal(shape, dtype=np.float32) * np.float32(scale)
        return self.weight(name, values)

    def uniform(self, name, shape, low, high):
        return self.weight(name, self.random.uniform(low, high, shape).astype(np.float32))

    def ints(self, values):
        name = f"ints_{len(self.initializers)}"
        return self.weight(name, np.array(values, np.int64))

    def scalar(self, value):
        name = f"scalar_{len(self.initializers)}"
        return self.weight(name, np.array(value, np.float32))

    def node(self, kind, inputs, output=None, **attributes):
        output = output or f"{kind}_{len(self.nodes)}"
        self.nodes.append(
            helper.make_node(kind, inputs, [output], name=f"/{kind}_{len(self.nodes)}", **attributes)
        )
        return output

    def model(self, name, inputs, outputs):
        graph = helper.make_graph(self.nodes, name, inputs, outputs, self.initializers)
        made = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="troupe-make-models",
        )
        onnx.checker.check_model(made)
        return made


def value(name, dtype, shape):
    return helper.make_tensor_value_info(name, dtype, shape)


# -- ResNet-50 ----------------------------------------------------------------------------------


def resnet50():
    b = Builder(seed=50)

    def conv_bn(x, name, channels_in, channels, size, stride, relu, gamma):
        fan_in = channels_in * size * size
        weight = b.normal(f"{name}.weight", (channels, channels_in, size, size), math.sqrt(2 / fan_in))
        pad = size // 2
        x = b.node("Conv", [x, weight], dilations=[1, 1], group=1, kernel_shape=[size, size],
                   pads=[pad] * 4, strides=[stride, stride])
        x = b.node("BatchNormalization", [
            x,
            b.uniform(f"{name}.bn.weight", channels, gamma * 0.5, gamma * 1.5),
            b.normal(f"{name}.bn.bias", channels, 0.1),
            b.normal(f"{name}.bn.mean", channels, 0.1),
            b.uniform(f"{name}.bn.var", channels, 0.5, 1.5),
        ], epsilon=1e-5, momentum=0.9)
        return b.node("Relu", [x]) if relu else x

    x = conv_bn("input", "stem", 3, 64, 7, 2, True, 1.0)
    x = b.node("MaxPool", [x], ceil_mode=0, kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2])
    channels_in = 64
    for stage, (blocks, width) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)]):
        for block in range(blocks):
            name = f"layer{stage + 1}.{block}"
            stride = 2 if block == 0 and stage > 0 else 1
            y = conv_bn(x, f"{name}.conv1", channels_in, width, 1, 1, True, 1.0)
            y = conv_bn(y, f"{name}.conv2", width, width, 3, stride, True, 1.0)
            y = conv_bn(y, f"{name}.conv3", width, width * 4, 1, 1, False, 0.3)
            if block == 0:
                x = conv_bn(x, f"{name}.downsample", channels_in, width * 4, 1, stride, False, 1.0)
            x = b.node("Relu", [b.node("Add", [y, x])])
            channels_in = width * 4
    x = b.node("GlobalAveragePool", [x])
    x = b.node("Flatten", [x], axis=1)
    b.node("Gemm", [x, b.normal("fc.weight", (1000, 2048), 0.02), b.normal("fc.bias", 1000, 0.02)],
           "output", alpha=1.0, beta=1.0, transB=1)
    return b.model(
        "resnet50",
        [value("input", TensorProto.FLOAT, ["batch", 3, "height", "width"])],
        [value("output", TensorProto.FLOAT, ["batch", 1000])],
    )


# -- MiniLM -------------------------------------------------------------------------------------


def minilm(layers=6, hidden=384, heads=12, feed_forward=1536, vocabulary=30522, positions=512):
    b = Builder(seed=6)
    head = hidden // heads

    def linear(x, name, n_in, n_out):
        product = b.node("MatMul", [x, b.normal(f"{name}.weight", (n_in, n_out), n_in**-0.5)])
        return b.node("Add", [b.normal(f"{name}.bias", n_out, 0.02), product])

    def layer_norm(x, name):
        centred = b.node("Sub", [x, b.node("ReduceMean", [x], axes=[-1], keepdims=1)])
        square = b.node("Pow", [centred, b.scalar(2.0)])
        variance = b.node("ReduceMean", [square], axes=[-1], keepdims=1)
        deviation = b.node("Sqrt", [b.node("Add", [variance, b.scalar(1e-12)])])
        y = b.node("Div", [centred, deviation])
        y = b.node("Mul", [y, b.uniform(f"{name}.weight", hidden, 0.8, 1.2)])
        return b.node("Add", [y, b.normal(f"{name}.bias", hidden, 0.02)])

    def gelu(x):
        y = b.node("Erf", [b.node("Div", [x, b.scalar(math.sqrt(2))])])
        y = b.node("Mul", [x, b.node("Add", [y, b.scalar(1.0)])])
        return b.node("Mul", [y, b.scalar(0.5)])

    def dim(x, axis):
        one = b.node("Gather", [b.node("Shape", [x]), b.weight(f"axis_{len(b.nodes)}",
                                                               np.array(axis, np.int64))], axis=0)
        return b.node("Unsqueeze", [one, b.ints([0])])

    def reshape(x, *tail):
        parts = [dim(x, 0), dim(x, 1)] + [b.ints([t]) for t in tail]
        return b.node("Reshape", [x, b.node("Concat", parts, axis=0)])

    # A mask of ones and zeros becomes 0 and the lowest float, to be added to the scores.
    mask = b.node("Unsqueeze", ["attention_mask", b.ints([1])])
    mask = b.node("Unsqueeze", [mask, b.ints([2])])
    mask = b.node("Cast", [mask], to=TensorProto.FLOAT)
    mask = b.node("Sub", [b.scalar(1.0), mask])
    mask = b.node("Mul", [mask, b.scalar(np.finfo(np.float32).min)])

    word = b.node("Gather", [b.normal("embeddings.word", (vocabulary, hidden), 0.5), "input_ids"])
    kind = b.node("Gather", [b.normal("embeddings.type", (2, hidden), 0.5), "token_type_ids"])
    ids = b.weight("embeddings.position_ids", np.arange(positions, dtype=np.int64)[None])
    ids = b.node("Slice", [ids, b.ints([0]), dim("input_ids", 1), b.ints([1]), b.ints([1])])
    place = b.node("Gather", [b.normal("embeddings.position", (positions, hidden), 0.5), ids])
    x = b.node("Add", [b.node("Add", [word, kind]), place])
    x = layer_norm(x, "embeddings.norm")

    for i in range(layers):
        name = f"layer.{i}"
        query, key, values = (linear(x, f"{name}.{part}", hidden, hidden)
                              for part in ("query", "key", "value"))
        query = b.node("Transpose", [reshape(query, heads, head)], perm=[0, 2, 1, 3])
        key = b.node("Transpose", [reshape(key, heads, head)], perm=[0, 2, 3, 1])
        values = b.node("Transpose", [reshape(values, heads, head)], perm=[0, 2, 1, 3])
        scores = b.node("Div", [b.node("MatMul", [query, key]), b.scalar(math.sqrt(head))])
        scores = b.node("Softmax", [b.node("Add", [scores, mask])], axis=-1)
        context = b.node("Transpose", [b.node("MatMul", [scores, values])], perm=[0, 2, 1, 3])
        context = linear(reshape(context, hidden), f"{name}.attention.output", hidden, hidden)
        x = layer_norm(b.node("Add", [context, x]), f"{name}.attention.norm")
        y = gelu(linear(x, f"{name}.intermediate", hidden, feed_forward))
        y = linear(y, f"{name}.output", feed_forward, hidden)
        x = layer_norm(b.node("Add", [y, x]), f"{name}.output.norm")
    b.node("Identity", [x], "last_hidden_state")

    return b.model(
        "minilm",
        [value(n, TensorProto.INT64, ["batch", "sequence"])
         for n in ("input_ids", "attention_mask", "token_type_ids")],
        [value("last_hidden_state", TensorProto.FLOAT, ["batch", "sequence", hidden])],
    )


# -- small ones ---------------------------------------------------------------------------------


def identity():
    b = Builder(seed=0)
    b.node("Identity", ["x"], "y")
    return b.model("identity", [value("x", TensorProto.FLOAT, ["batch", 16])],
                   [value("y", TensorProto.FLOAT, ["batch", 16])])


def add():
    b = Builder(seed=0)
    b.node("Add", ["a", "b"], "sum")
    return b.model("add", [value(n, TensorProto.FLOAT, ["batch", 4]) for n in ("a", "b")],
                   [value("sum", TensorProto.FLOAT, ["batch", 4])])


def tiny_conv():
    b = Builder(seed=3)
    x = b.node("Conv", ["x", b.normal("weight", (4, 3, 3, 3), 0.2), b.normal("bias", 4, 0.1)],
               kernel_shape=[3, 3], pads=[1] * 4, strides=[1, 1])
    b.node("Relu", [x], "y")
    return b.model("tiny_conv", [value("x", TensorProto.FLOAT, ["batch", 3, "height", "width"])],
                   [value("y", TensorProto.FLOAT, ["batch", 4, "height", "width"])])


# -- repository ---------------------------------------------------------------------------------

MODELS = {
    # name: (maker, max_batch_size)
    "resnet50": (resnet50, 32),
    "minilm": (minilm, 32),
    "identity": (identity, 64),
    "add": (add, 8),
    "tiny_conv": (tiny_conv, 8),
}


def pbtxt(name, model, max_batch):
    def tensors(kind, infos):
        lines = []
        for info in infos:
            tensor = info.type.tensor_type
            dims = [d.dim_value if d.HasField("dim_value") else -1 for d in tensor.shape.dim][1:]
            dtype = {TensorProto.FLOAT: "TYPE_FP32", TensorProto.INT64: "TYPE_INT64"}[tensor.elem_type]
            lines.append(f'{kind} [ {{ name: "{info.name}" data_type: {dtype} dims: {dims} }} ]')
        return lines

    lines = [f'name: "{name}"', f"max_batch_size: {max_batch}"]
    lines += tensors("input", model.graph.input) + tensors("output", model.graph.output)
    return "\n".join(lines + ["dynamic_batching { }", ""])


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
