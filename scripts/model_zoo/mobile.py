"""MobileNetV3-Large and EfficientNet-B0 as PyTorch's exporter writes them: BatchNormalization folded into
the convolutions, HardSwish and HardSigmoid as operators, SiLU as Sigmoid and Mul."""

import math

from .builder import FLOAT, Builder, value


class MobileBuilder(Builder):
    def conv(self, x, name, channels_in, channels, size=1, stride=1, group=1, gain=2.0):
        fan_in = channels_in // group * size * size
        weight = self.normal(f"{name}.weight", (channels, channels_in // group, size, size),
                             math.sqrt(gain / fan_in))
        return self.node("Conv", [x, weight, self.normal(f"{name}.bias", channels, 0.05)],
                         dilations=[1, 1], group=group, kernel_shape=[size, size],
                         pads=[size // 2] * 4, strides=[stride, stride])

    def silu(self, x):
        return self.node("Mul", [x, self.node("Sigmoid", [x])])

    def hard_swish(self, x):
        return self.node("HardSwish", [x])

    def relu(self, x):
        return self.node("Relu", [x])

    def squeeze(self, x, name, channels, middle, inner, gate):
        y = self.node("GlobalAveragePool", [x])
        y = inner(self.conv(y, f"{name}.fc1", channels, middle))
        return self.node("Mul", [x, gate(self.conv(y, f"{name}.fc2", middle, channels))])


def image_model(b, name):
    return b.model(name, [value("input", FLOAT, ["batch", 3, "height", "width"])],
                   [value("output", FLOAT, ["batch", 1000])])


# kernel, expanded channels, channels, squeeze and excitation, hard swish, stride
MOBILENET_BLOCKS = [
    (3, 16, 16, False, False, 1), (3, 64, 24, False, False, 2), (3, 72, 24, False, False, 1),
    (5, 72, 40, True, False, 2), (5, 120, 40, True, False, 1), (5, 120, 40, True, False, 1),
    (3, 240, 80, False, True, 2), (3, 200, 80, False, True, 1), (3, 184, 80, False, True, 1),
    (3, 184, 80, False, True, 1), (3, 480, 112, True, True, 1), (3, 672, 112, True, True, 1),
    (5, 672, 160, True, True, 2), (5, 960, 160, True, True, 1), (5, 960, 160, True, True, 1),
]


def mobilenet_v3():
    b = MobileBuilder(seed=33)

    def gate(x):
        return b.node("HardSigmoid", [x], alpha=1 / 6, beta=0.5)

    x = b.hard_swish(b.conv("input", "features.0", 3, 16, 3, 2))
    channels = 16
    for index, (size, expanded, out, squeezes, swishes, stride) in enumerate(MOBILENET_BLOCKS, 1):
        name = f"features.{index}"
        act = b.hard_swish if swishes else b.relu
        y = x
        if expanded != channels:
            y = act(b.conv(y, f"{name}.expand", channels, expanded))
        y = act(b.conv(y, f"{name}.depthwise", expanded, expanded, size, stride, expanded))
        if squeezes:
            y = b.squeeze(y, f"{name}.se", expanded, (expanded // 4 + 7) // 8 * 8, b.relu, gate)
        # A gate halves what passes.
        y = b.conv(y, f"{name}.project", expanded, out, gain=3.0 if squeezes else 1.0)
        x = b.node("Add", [x, y]) if stride == 1 and channels == out else y
        channels = out
    x = b.hard_swish(b.conv(x, "features.16", 160, 960))
    x = b.node("Flatten", [b.node("GlobalAveragePool", [x])], axis=1)
    x = b.node("Gemm", [x, b.normal("classifier.0.weight", (1280, 960), 0.04),
                        b.normal("classifier.0.bias", 1280, 0.05)], transB=1)
    b.node("Gemm", [b.hard_swish(x), b.normal("classifier.3.weight", (1000, 1280), 0.03),
                    b.normal("classifier.3.bias", 1000, 0.05)], "output", transB=1)
    return image_model(b, "mobilenet_v3")


# expansion, kernel, stride, channels, repeats
EFFICIENTNET_STAGES = [
    (1, 3, 1, 16, 1), (6, 3, 2, 24, 2), (6, 5, 2, 40, 2), (6, 3, 2, 80, 3),
    (6, 5, 1, 112, 3), (6, 5, 2, 192, 4), (6, 3, 1, 320, 1),
]


def efficientnet_b0():
    b = MobileBuilder(seed=70)

    def gate(x):
        return b.node("Sigmoid", [x])

    x = b.silu(b.conv("input", "stem", 3, 32, 3, 2))
    channels = 32
    for stage, (expansion, size, stride, out, repeats) in enumerate(EFFICIENTNET_STAGES):
        for block in range(repeats):
            name = f"blocks.{stage}.{block}"
            step = stride if block == 0 else 1
            expanded = channels * expansion
            y = x
            if expansion != 1:
                y = b.silu(b.conv(y, f"{name}.expand", channels, expanded))
            y = b.silu(b.conv(y, f"{name}.depthwise", expanded, expanded, size, step, expanded))
            y = b.squeeze(y, f"{name}.se", expanded, channels // 4, b.silu, gate)
            y = b.conv(y, f"{name}.project", expanded, out, gain=4.5)
            x = b.node("Add", [y, x]) if step == 1 and channels == out else y
            channels = out
    x = b.silu(b.conv(x, "head", 320, 1280))
    x = b.node("Flatten", [b.node("GlobalAveragePool", [x])], axis=1)
    b.node("Gemm", [x, b.normal("classifier.weight", (1000, 1280), 0.03),
                    b.normal("classifier.bias", 1000, 0.05)], "output", transB=1)
    return image_model(b, "efficientnet_b0")
