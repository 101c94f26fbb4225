"""An encoder of MiniLM's shape, written the way PyTorch's exporter writes BERT: layer normalisation,
GELU and attention as their elementary operators, an attention mask."""

import math

import numpy as np

from .builder import FLOAT, INT64, Builder, value


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
    mask = b.node("Cast", [mask], to=FLOAT)
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
        [value(n, INT64, ["batch", "sequence"])
         for n in ("input_ids", "attention_mask", "token_type_ids")],
        [value("last_hidden_state", FLOAT, ["batch", "sequence", hidden])],
    )
