"""Models whose answers a test can tell in its head."""

from .builder import FLOAT, Builder, value


def identity():
    b = Builder(seed=0)
    b.node("Identity", ["x"], "y")
    return b.model("identity", [value("x", FLOAT, ["batch", 16])],
                   [value("y", FLOAT, ["batch", 16])])


def add():
    b = Builder(seed=0)
    b.node("Add", ["a", "b"], "sum")
    return b.model("add", [value(n, FLOAT, ["batch", 4]) for n in ("a", "b")],
                   [value("sum", FLOAT, ["batch", 4])])


def tiny_conv():
    b = Builder(seed=3)
    x = b.node("Conv", ["x", b.normal("weight", (4, 3, 3, 3), 0.2), b.normal("bias", 4, 0.1)],
               kernel_shape=[3, 3], pads=[1] * 4, strides=[1, 1])
    b.node("Relu", [x], "y")
    return b.model("tiny_conv", [value("x", FLOAT, ["batch", 3, "height", "width"])],
                   [value("y", FLOAT, ["batch", 4, "height", "width"])])
