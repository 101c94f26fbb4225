"""A tagger of word sequences: embeddings, a bidirectional LSTM, a bidirectional GRU, a tag per word. As
PyTorch's exporter writes it: time is axis 0 inside, the first states are zeros made from the shape."""

import numpy as np

from .builder import FLOAT, INT64, Builder, value


def tagger(vocabulary=8000, width=128, hidden=96, tags=17):
    b = Builder(seed=21)

    def first_state(x, size):
        index = b.weight(f"axis_{len(b.nodes)}", np.array(1, np.int64))
        batch = b.node("Gather", [b.node("Shape", [x]), index], axis=0)
        batch = b.node("Unsqueeze", [batch, b.ints([0])])
        dims = b.node("Concat", [b.ints([2]), batch, b.ints([size])], axis=0)
        return b.node("ConstantOfShape", [dims])

    def recurrent(x, kind, name, gates, n_in, **attributes):
        limit = hidden**-0.5
        inputs = [x, b.uniform(f"{name}.W", (2, gates * hidden, n_in), -limit, limit),
                  b.uniform(f"{name}.R", (2, gates * hidden, hidden), -limit, limit),
                  b.uniform(f"{name}.B", (2, 2 * gates * hidden), -limit, limit), "",
                  first_state(x, hidden)]
        if kind == "LSTM":
            inputs.append(first_state(x, hidden))
        y = b.node(kind, inputs, direction="bidirectional", hidden_size=hidden, **attributes)
        y = b.node("Transpose", [y], perm=[0, 2, 1, 3])
        return b.node("Reshape", [y, b.ints([0, 0, -1])])

    x = b.node("Gather", [b.normal("embedding", (vocabulary, width), 1.0), "words"])
    x = b.node("Transpose", [x], perm=[1, 0, 2])
    x = recurrent(x, "LSTM", "lstm", 4, width)
    x = recurrent(x, "GRU", "gru", 3, 2 * hidden, linear_before_reset=1)
    x = b.node("Transpose", [x], perm=[1, 0, 2])
    x = b.node("MatMul", [x, b.normal("tags.weight", (2 * hidden, tags), 0.2)])
    x = b.node("Add", [x, b.normal("tags.bias", tags, 0.05)])
    b.node("LogSoftmax", [x], "scores", axis=-1)
    return b.model("tagger", [value("words", INT64, ["batch", "length"])],
                   [value("scores", FLOAT, ["batch", "length", tags])])
