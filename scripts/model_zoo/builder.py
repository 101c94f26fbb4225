"""What the makers share: a builder of graphs."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT
INT32 = TensorProto.INT32
INT64 = TensorProto.INT64
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

    def multi_node(self, kind, inputs, outputs, **attributes):
        """A node of several outputs, which the caller names."""
        self.nodes.append(helper.make_node(kind, inputs, outputs,
                                           name=f"/{kind}_{len(self.nodes)}", **attributes))

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
