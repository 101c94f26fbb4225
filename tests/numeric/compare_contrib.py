#!/usr/bin/env python3
"""compare_contrib.py TROUPE [--only NAME…]

Runs one-node models of com.microsoft's operators through `troupe run` and through ONNX Runtime. Real
outputs agree within 1e-4 + 1e-4 |expected|, quantised ones within one step. Exits with 1 if anything differs.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ABSOLUTE = RELATIVE = 1e-4
random = np.random.default_rng(5)


def reals(*dims):
    return random.standard_normal(dims).astype(np.float32)


def ints(low, high, *dims, dtype=np.int32):
    return random.integers(low, high, dims).astype(dtype)


def number(value, dtype=np.float32):
    return np.array(value, dtype)


class Case:
    """A node, its inputs (None: left out) by whether they are constants, and how many outputs it has.
    `like` is a case of the same outputs, for what ONNX Runtime's CPU does not do."""

    def __init__(self, name, op, inputs, outputs=1, constants=(), domain="com.microsoft", which=None, like=None,
                 **attributes):
        self.name, self.op, self.inputs, self.attributes = name, op, inputs, attributes
        self.outputs, self.constants, self.domain, self.which = outputs, constants, domain, which
        self.like = like or self

    def model(self):
        names = [f"i{k}" if value is not None else "" for k, value in enumerate(self.inputs)]
        outputs = [f"o{k}" if self.which is None or k in self.which else "" for k in range(self.outputs)]
        node = helper.make_node(self.op, names, outputs, domain=self.domain, name="node", **self.attributes)
        given = [(k, value) for k, value in enumerate(self.inputs) if value is not None]
        declared = [helper.make_tensor_value_info(f"i{k}", helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
                    for k, value in given if k not in self.constants]
        stored = [numpy_helper.from_array(value, f"i{k}") for k, value in given if k in self.constants]
        made = [onnx.ValueInfoProto(name=name) for name in outputs if name]
        graph = helper.make_graph([node], self.name, declared, made, stored)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    def feeds(self):
        return {f"i{k}": value for k, value in enumerate(self.inputs) if value is not None and k not in self.constants}


def quantised(scale=0.05, zero=128, *dims):
    return [ints(0, 256, *dims, dtype=np.uint8), number(scale), number(zero, np.uint8)]


def activations():
    x = reals(2, 3, 8)
    yield Case("Gelu", "Gelu", [x])
    yield Case("FastGelu", "FastGelu", [x])
    yield Case("FastGelu with bias", "FastGelu", [x, reals(8)])
    yield Case("BiasGelu", "BiasGelu", [x, reals(8)])
    yield Case("QuickGelu", "QuickGelu", [x], alpha=1.702)
    yield Case("FusedConv", "FusedConv", [reals(1, 3, 8, 8), reals(4, 3, 3, 3), reals(4)], activation="Relu", constants=(1, 2))
    yield Case("FusedConv with sum", "FusedConv", [reals(1, 3, 8, 8), reals(4, 3, 3, 3), reals(4), reals(1, 4, 6, 6)],
               activation="LeakyRelu", activation_params=[0.2], constants=(1, 2))
    yield Case("FusedGemm", "FusedGemm", [reals(3, 4), reals(4, 5), reals(5)], activation="Relu", constants=(1, 2))


def normalisations():
    x, skip, gamma, beta, bias = reals(2, 3, 8), reals(2, 3, 8), reals(8), reals(8), reals(8)
    yield Case("SkipLayerNormalization", "SkipLayerNormalization", [x, skip, gamma, beta, bias], 4, which=(0, 3), epsilon=1e-5)
    yield Case("SkipLayerNormalization, broadcast", "SkipLayerNormalization", [x, reals(1, 3, 8), gamma, beta])
    yield Case("SkipSimplifiedLayerNormalization", "SkipSimplifiedLayerNormalization", [x, skip, gamma, bias], 4, which=(0, 3))
    yield Case("SimplifiedLayerNormalization", "SimplifiedLayerNormalization", [x, gamma], domain="", axis=-1, epsilon=1e-5)
    ids, kinds = ints(0, 9, 2, 5), ints(0, 2, 2, 5)
    tables = [reals(9, 8), reals(7, 8), reals(2, 8)]
    yield Case("EmbedLayerNormalization", "EmbedLayerNormalization",
               [ids, kinds, *tables, gamma, beta, ints(0, 2, 2, 5)], 3, constants=(2, 3, 4, 5, 6), mask_index_type=1)
    yield Case("EmbedLayerNormalization without segments", "EmbedLayerNormalization",
               [ids, None, tables[0], tables[1], None, gamma, beta], 2, constants=(2, 3, 5, 6))


def products():
    yield Case("FusedMatMul", "FusedMatMul", [reals(2, 4, 3), reals(2, 4, 5)], transA=1, alpha=0.5)
    yield Case("FusedMatMul, right", "FusedMatMul", [reals(2, 3, 4), reals(5, 4)], transB=1)
    for bits, block in ((4, 32), (8, 32), (4, 16), (4, 64)):
        k, n = 96, 10
        blocks = -(-k // block)
        weight = ints(0, 256, n, blocks, block * bits // 8, dtype=np.uint8)
        scales = np.abs(reals(n, blocks)) * 0.1
        zeros = ints(0, 256, n, -(-blocks * bits // 8), dtype=np.uint8)
        yield Case(f"MatMulNBits, {bits} bits of {block}", "MatMulNBits", [reals(2, 3, k), weight, scales],
                   K=k, N=n, bits=bits, block_size=block, constants=(1, 2))
        yield Case(f"MatMulNBits, {bits} bits of {block}, zero points", "MatMulNBits",
                   [reals(4, k), weight, scales, zeros], K=k, N=n, bits=bits, block_size=block, constants=(1, 2, 3))
    order = ints(0, 3, 96)
    yield Case("MatMulNBits in another order", "MatMulNBits",
               [reals(4, 96), ints(0, 256, 10, 3, 16, dtype=np.uint8), np.abs(reals(10, 3)), None, order],
               K=96, N=10, bits=4, block_size=32, constants=(1, 2, 4))
    a, b = ints(0, 256, 3, 8, dtype=np.uint8), ints(-128, 128, 8, 5, dtype=np.int8)
    yield Case("MatMulIntegerToFloat", "MatMulIntegerToFloat",
               [a, b, number(0.02), number(0.03), number(120, np.uint8), number(3, np.int8), reals(5)])
    yield Case("DynamicQuantizeMatMul", "DynamicQuantizeMatMul", [reals(3, 8), b, number(0.03), number(3, np.int8), reals(5)])


def quantised_operators():
    a, b, y = quantised(0.05, 128, 2, 4, 6, 6), quantised(0.02, 90, 1, 4, 1, 1), [number(0.06), number(110, np.uint8)]
    yield Case("QLinearAdd", "QLinearAdd", a + b + y)
    yield Case("QLinearMul", "QLinearMul", a + b + y)
    yield Case("QLinearSigmoid", "QLinearSigmoid", a + [number(1 / 256), number(0, np.uint8)], constants=(1, 2, 3, 4))
    yield Case("QLinearLeakyRelu", "QLinearLeakyRelu", a + y, alpha=0.2, constants=(1, 2, 3, 4))
    yield Case("QLinearAveragePool", "QLinearAveragePool", a + y, kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2])
    yield Case("QLinearGlobalAveragePool", "QLinearGlobalAveragePool", a + y, channels_last=0)
    yield Case("QLinearConcat", "QLinearConcat", y + a + quantised(0.02, 90, 2, 3, 6, 6), axis=1)
    s = [ints(-128, 128, 2, 6, dtype=np.int8), number(0.05), number(-3, np.int8)]
    yield Case("QLinearAdd, signed", "QLinearAdd", s + s + [number(0.09), number(4, np.int8)])


def attentions():
    batch, length, heads, size = 2, 5, 3, 4
    hidden = heads * size
    q, k, v = reals(batch, length, hidden), reals(batch, length, hidden), reals(batch, length, hidden)
    mask = np.array([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0]], np.int32)
    yield Case("MultiHeadAttention", "MultiHeadAttention", [q, k, v], num_heads=heads)
    yield Case("MultiHeadAttention with bias", "MultiHeadAttention", [q, k, v, reals(3 * hidden)], num_heads=heads)
    yield Case("MultiHeadAttention with mask", "MultiHeadAttention", [q, k, v, None, mask], num_heads=heads)
    yield Case("MultiHeadAttention with lengths", "MultiHeadAttention", [q, k, v, None, np.array([5, 2], np.int32)], num_heads=heads)
    yield Case("MultiHeadAttention with scores' bias", "MultiHeadAttention",
               [q, k, v, None, None, reals(1, heads, length, length)], num_heads=heads, scale=0.3)
    yield Case("MultiHeadAttention, causal", "MultiHeadAttention", [q, k, v], num_heads=heads, unidirectional=1)
    past = [reals(batch, heads, 3, size), reals(batch, heads, 3, size)]
    yield Case("MultiHeadAttention with past", "MultiHeadAttention", [q, k, v, None, None, None, *past], 3, num_heads=heads)
    apart = Case("apart", "MultiHeadAttention", [q, k, v], num_heads=heads)
    by_head = [each.reshape(batch, length, heads, size) for each in (q, k, v)]
    yield Case("MultiHeadAttention, packed", "MultiHeadAttention", [np.stack(by_head, axis=3)], like=apart,
               num_heads=heads)
    yield Case("MultiHeadAttention, packed keys and values", "MultiHeadAttention", [q, np.stack(by_head[1:], axis=3)],
               like=apart, num_heads=heads)
    yield Case("MultiHeadAttention across", "MultiHeadAttention",
               [q, reals(batch, heads, 7, size), reals(batch, heads, 7, size)], num_heads=heads)
    x, weights, bias = reals(batch, length, 6), reals(6, 3 * hidden), reals(3 * hidden)
    yield Case("Attention", "Attention", [x, weights, bias], num_heads=heads, constants=(1, 2))
    yield Case("Attention with mask", "Attention", [x, weights, bias, mask], num_heads=heads, constants=(1, 2))
    yield Case("Attention, causal with past", "Attention",
               [x, weights, bias, None, reals(2, batch, heads, 3, size)], 2, num_heads=heads, unidirectional=1, constants=(1, 2))
    size, kv = 16, 1
    half = size // 2
    angles = np.arange(16)[:, None] / 10.0 ** (np.arange(half) / half)
    cosines, sines = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    hidden = heads * size
    positions = np.tile(np.arange(length), (batch, 1)).astype(np.int64)
    yield Case("RotaryEmbedding", "RotaryEmbedding", [reals(batch, length, hidden), positions, cosines, sines], constants=(2, 3))
    yield Case("RotaryEmbedding, interleaved", "RotaryEmbedding",
               [reals(batch, heads, length, size), np.array([2], np.int64), cosines, sines], interleaved=1, constants=(2, 3))
    q, k, v = reals(batch, length, hidden), reals(batch, length, kv * size), reals(batch, length, kv * size)
    ends = [np.full(batch, length - 1, np.int32), number(length, np.int32)]
    common = {"num_heads": heads, "kv_num_heads": kv}
    yield Case("GroupQueryAttention", "GroupQueryAttention", [q, k, v, None, None, *ends], 3, **common)
    yield Case("GroupQueryAttention, rotary", "GroupQueryAttention",
               [q, k, v, None, None, *ends, cosines, sines], 3, do_rotary=1, constants=(7, 8), **common)
    past = [reals(batch, kv, 3, size), reals(batch, kv, 3, size)]
    ends = [np.full(batch, 3, np.int32), number(4, np.int32)]
    yield Case("GroupQueryAttention with past", "GroupQueryAttention",
               [q[:, :1], k[:, :1], v[:, :1], *past, *ends, cosines, sines], 3, do_rotary=1, constants=(7, 8), **common)
    packed = np.concatenate([q[:, :1], k[:, :1], v[:, :1]], axis=2)
    yield Case("GroupQueryAttention, packed, windowed", "GroupQueryAttention",
               [packed, None, None, *past, *ends], 3, local_window_size=2, softcap=5.0, **common)


def run_troupe(program, model, inputs):
    with tempfile.TemporaryDirectory() as scratch:
        directory = pathlib.Path(scratch)
        onnx.save(model, directory / "model.onnx")
        command = [program, "run", directory / "model.onnx", "--output", directory / "out"]
        for name, content in inputs.items():
            np.save(directory / f"{name}.npy", content)
            command += ["--input", f"{name}={directory}/{name}.npy"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        listed = json.loads((directory / "out/manifest.json").read_text())["outputs"]
        return [np.load(directory / "out" / one["file"]) for one in listed]


def difference(expected, came):
    """As a share of what is allowed."""
    if expected.shape != came.shape or expected.dtype != came.dtype:
        return float("inf"), f"{expected.dtype} {expected.shape} expected, {came.dtype} {came.shape} found"
    gap = np.abs(expected.astype(np.float64) - came.astype(np.float64))
    steps = expected.dtype in (np.uint8, np.int8)
    allowed = 1.0 if steps else ABSOLUTE + RELATIVE * np.abs(expected.astype(np.float64))
    return float(np.max(gap / allowed, initial=0.0)), ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("troupe")
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 3
    total = failed = 0
    for family in (activations, normalisations, products, quantised_operators, attentions):
        for case in family():
            if options.only and not any(case.name.startswith(name) for name in options.only):
                continue
            total += 1
            model = case.model()
            share, text = 0.0, ""
            try:
                session = onnxruntime.InferenceSession(case.like.model().SerializeToString(), settings,
                                                       providers=["CPUExecutionProvider"])
                expected = session.run(None, case.like.feeds())
                came = run_troupe(options.troupe, model, case.feeds())
                for left, right in zip(expected, came):
                    here, why = difference(left, right)
                    share, text = max(share, here), text or why
            except Exception as error:
                share, text = float("inf"), str(error)[:400]
            if not share <= 1:
                failed += 1
                print(f"{case.name:<44} {100 * share:>8.2f}%  WRONG {text}", flush=True)
    print(f"{total - failed} of {total} nodes agree with ONNX Runtime")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
