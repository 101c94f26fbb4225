"""A vision transformer of ViT-Tiny's shape, with LayerNormalization as an operator (opset 17), GELU by
Erf, and one product for query, key and value."""

import math

import numpy as np

from .builder import FLOAT, Builder, value


def vit(layers=12, hidden=192, heads=3, patch=16, image=224):
    b = Builder(seed=16)
    head = hidden // heads
    cells = (image // patch) ** 2

    def linear(x, name, n_in, n_out):
        product = b.node("MatMul", [x, b.normal(f"{name}.weight", (n_in, n_out), n_in**-0.5)])
        return b.node("Add", [product, b.normal(f"{name}.bias", n_out, 0.02)])

    def norm(x, name):
        return b.node("LayerNormalization", [x, b.uniform(f"{name}.weight", hidden, 0.8, 1.2),
                                             b.normal(f"{name}.bias", hidden, 0.02)],
                      axis=-1, epsilon=1e-6)

    def gelu(x):
        y = b.node("Erf", [b.node("Div", [x, b.scalar(math.sqrt(2))])])
        y = b.node("Mul", [x, b.node("Add", [y, b.scalar(1.0)])])
        return b.node("Mul", [y, b.scalar(0.5)])

    x = b.node("Conv", ["pixel_values",
                        b.normal("patch.weight", (hidden, 3, patch, patch), (3 * patch**2) ** -0.5),
                        b.normal("patch.bias", hidden, 0.02)],
               kernel_shape=[patch, patch], strides=[patch, patch], pads=[0] * 4, group=1)
    x = b.node("Reshape", [x, b.ints([0, hidden, -1])])
    x = b.node("Transpose", [x], perm=[0, 2, 1])
    batch = b.node("Slice", [b.node("Shape", [x]), b.ints([0]), b.ints([1]), b.ints([0])])
    token = b.node("Expand", [b.normal("cls_token", (1, 1, hidden), 0.5),
                              b.node("Concat", [batch, b.ints([1, hidden])], axis=0)])
    x = b.node("Concat", [token, x], axis=1)
    x = b.node("Add", [x, b.normal("position_embeddings", (1, cells + 1, hidden), 0.2)])
    for i in range(layers):
        name = f"layer.{i}"
        y = linear(norm(x, f"{name}.norm1"), f"{name}.qkv", hidden, 3 * hidden)
        y = b.node("Reshape", [y, b.ints([0, cells + 1, 3, heads, head])])
        y = b.node("Transpose", [y], perm=[2, 0, 3, 1, 4])
        query, key, values = (
            b.node("Gather", [y, b.weight(f"{name}.part_{part}", np.array(part, np.int64))], axis=0)
            for part in range(3))
        query = b.node("Mul", [query, b.scalar(head**-0.5)])
        scores = b.node("MatMul", [query, b.node("Transpose", [key], perm=[0, 1, 3, 2])])
        context = b.node("MatMul", [b.node("Softmax", [scores], axis=-1), values])
        context = b.node("Transpose", [context], perm=[0, 2, 1, 3])
        context = b.node("Reshape", [context, b.ints([0, cells + 1, hidden])])
        x = b.node("Add", [x, linear(context, f"{name}.proj", hidden, hidden)])
        y = gelu(linear(norm(x, f"{name}.norm2"), f"{name}.fc1", hidden, 4 * hidden))
        x = b.node("Add", [x, linear(y, f"{name}.fc2", 4 * hidden, hidden)])
    x = b.node("Gather", [norm(x, "norm"), b.weight("first", np.array(0, np.int64))], axis=1)
    b.node("Gemm", [x, b.normal("head.weight", (1000, hidden), hidden**-0.5),
                    b.normal("head.bias", 1000, 0.02)], "logits", transB=1)
    return b.model("vit", [value("pixel_values", FLOAT, ["batch", 3, image, image])],
                   [value("logits", FLOAT, ["batch", 1000])])
