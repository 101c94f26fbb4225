"""A small decoder with a cache of keys and values, in the manner of GPT-2's exports: some new tokens, what
was computed for the tokens before them, and a causal mask cut out of a constant."""

import numpy as np

from .builder import FLOAT, INT64, Builder, value


def gpt(layers=4, hidden=256, heads=4, vocabulary=5000, positions=256):
    b = Builder(seed=2)
    head = hidden // heads

    def linear(x, name, n_in, n_out):
        # Conv1D of the original: a Gemm over flattened tokens.
        flat = b.node("Reshape", [x, b.ints([-1, n_in])])
        flat = b.node("Gemm", [flat, b.normal(f"{name}.weight", (n_in, n_out), n_in**-0.5),
                               b.normal(f"{name}.bias", n_out, 0.02)], alpha=1.0, beta=1.0)
        return b.node("Reshape", [flat, b.node("Concat", [batch, length, b.ints([n_out])], axis=0)])

    def norm(x, name):
        return b.node("LayerNormalization", [x, b.uniform(f"{name}.weight", hidden, 0.8, 1.2),
                                             b.normal(f"{name}.bias", hidden, 0.02)],
                      axis=-1, epsilon=1e-5)

    def gelu(x):
        cube = b.node("Mul", [b.node("Pow", [x, b.scalar(3.0)]), b.scalar(0.044715)])
        inner = b.node("Mul", [b.node("Add", [x, cube]), b.scalar(np.sqrt(2 / np.pi))])
        outer = b.node("Add", [b.node("Tanh", [inner]), b.scalar(1.0)])
        return b.node("Mul", [b.node("Mul", [x, b.scalar(0.5)]), outer])

    def dim(x, axis):
        return b.node("Slice", [b.node("Shape", [x]), b.ints([axis]), b.ints([axis + 1]),
                                b.ints([0])])

    def heads_of(x):
        dims = b.node("Concat", [batch, length, b.ints([heads, head])], axis=0)
        return b.node("Transpose", [b.node("Reshape", [x, dims])], perm=[0, 2, 1, 3])

    batch, length = dim("input_ids", 0), dim("input_ids", 1)
    past = dim("past_key_values.0.key", 2)
    total = b.node("Add", [past, length])

    ids = b.weight("position_ids", np.arange(positions, dtype=np.int64)[None])
    ids = b.node("Slice", [ids, past, total, b.ints([1])])
    place = b.node("Gather", [b.normal("wpe", (positions, hidden), 0.3), ids])
    x = b.node("Add", [b.node("Gather", [b.normal("wte", (vocabulary, hidden), 0.5), "input_ids"]),
                       place])
    causal = b.weight("causal", np.tri(positions, dtype=bool)[None, None])
    causal = b.node("Slice", [causal, past, total, b.ints([2])])
    causal = b.node("Slice", [causal, b.ints([0]), total, b.ints([3])])
    lowest = b.scalar(np.finfo(np.float32).min)
    mask = b.node("Cast", [b.node("Unsqueeze", ["attention_mask", b.ints([1, 2])])], to=FLOAT)
    mask = b.node("Mul", [b.node("Sub", [b.scalar(1.0), mask]), lowest])

    presents = []
    for i in range(layers):
        name = f"h.{i}"
        y = linear(norm(x, f"{name}.ln_1"), f"{name}.attn.c_attn", hidden, 3 * hidden)
        parts = [f"{name}.query", f"{name}.key", f"{name}.value"]
        b.multi_node("Split", [y, b.ints([hidden] * 3)], parts, axis=2)
        query, key, values = (heads_of(part) for part in parts)
        key = b.node("Concat", [f"past_key_values.{i}.key", key], f"present.{i}.key", axis=2)
        values = b.node("Concat", [f"past_key_values.{i}.value", values], f"present.{i}.value",
                        axis=2)
        presents += [f"present.{i}.key", f"present.{i}.value"]
        scores = b.node("MatMul", [query, b.node("Transpose", [key], perm=[0, 1, 3, 2])])
        scores = b.node("Div", [scores, b.scalar(np.sqrt(head))])
        scores = b.node("Where", [causal, scores, lowest])
        scores = b.node("Softmax", [b.node("Add", [scores, mask])], axis=-1)
        y = b.node("Transpose", [b.node("MatMul", [scores, values])], perm=[0, 2, 1, 3])
        y = b.node("Reshape", [y, b.node("Concat", [batch, length, b.ints([hidden])], axis=0)])
        x = b.node("Add", [linear(y, f"{name}.attn.c_proj", hidden, hidden), x])
        y = gelu(linear(norm(x, f"{name}.ln_2"), f"{name}.mlp.c_fc", hidden, 4 * hidden))
        x = b.node("Add", [x, linear(y, f"{name}.mlp.c_proj", 4 * hidden, hidden)])
    b.node("MatMul", [norm(x, "ln_f"), b.normal("lm_head", (hidden, vocabulary), hidden**-0.5)],
           "logits")

    def cache(name, length_name):
        return value(name, FLOAT, ["batch", heads, length_name, head])

    pasts = [name.replace("present", "past_key_values") for name in presents]
    return b.model(
        "gpt",
        [value("input_ids", INT64, ["batch", "sequence"]),
         value("attention_mask", INT64, ["batch", "past + sequence"]),
         *(cache(name, "past") for name in pasts)],
        [value("logits", FLOAT, ["batch", "sequence", vocabulary]),
         *(cache(name, "past + sequence") for name in presents)],
    )
