"""ResNet-50 v1.5: the stride sits on the 3x3 convolution. BatchNormalization is not folded."""

import math

from .builder import FLOAT, Builder, value


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
        [value("input", FLOAT, ["batch", 3, "height", "width"])],
        [value("output", FLOAT, ["batch", 1000])],
    )
