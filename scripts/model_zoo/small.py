"""Models whose answers a test can tell in its head."""

from .builder import FLOAT, INT32, INT64, Builder, value


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


# The running sum of a sequence's rows, and what the server says of each step.
SEQUENCES = """sequence_batching {
  max_sequence_idle_microseconds: 2000000
  oldest { max_candidate_sequences: 64 }
  control_input [
    { name: "start" control [ { kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] } ] },
    { name: "end" control [ { kind: CONTROL_SEQUENCE_END int32_false_true: [ 0, 1 ] } ] },
    { name: "ready" control [ { kind: CONTROL_SEQUENCE_READY int32_false_true: [ 0, 1 ] } ] },
    { name: "id" control [ { kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_INT64 } ] }
  ]
  state [ {
    input_name: "sum" output_name: "new_sum" data_type: TYPE_FP32 dims: [ 4 ]
    initial_state [ { data_type: TYPE_FP32 dims: [ 4 ] zero_data: true name: "none yet" } ]
  } ]
}"""


def running_sum():
    b = Builder(seed=0)
    b.node("Add", ["x", "sum"], "new_sum")
    b.node("Identity", ["new_sum"], "total")
    b.node("Concat", ["start", "end", "ready"], "said", axis=1)
    b.node("Identity", ["id"], "who")
    controls = [value(n, INT32, ["batch", 1]) for n in ("start", "end", "ready")]
    return b.model("running_sum",
                   [value("x", FLOAT, ["batch", 4]), *controls, value("id", INT64, ["batch", 1]),
                    value("sum", FLOAT, ["batch", 4])],
                   [value("total", FLOAT, ["batch", 4]), value("said", INT32, ["batch", 3]),
                    value("who", INT64, ["batch", 1]), value("new_sum", FLOAT, ["batch", 4])])
