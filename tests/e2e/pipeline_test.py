"""Declared pipelines and an ensemble on the real server, by REST and msgpack: rows that are called one by
one, a step that is left out, a step that fails, cancellation, deadlines, and requests that fill the server
while their own calls have to get through."""

import concurrent.futures
import pathlib
import subprocess
import sys
import time

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from support import ROOT, TROUPE, Rpc, RpcError, Server, curl, infer_params, outputs_of

sys.path.insert(0, str(ROOT / "scripts"))
from model_zoo.builder import FLOAT, INT64, Builder, value  # noqa: E402


def score():
    """The sum of all that comes, and whether it is above 10."""
    b = Builder(seed=0)
    b.node("ReduceSum", ["x"], "sum", keepdims=0)
    b.node("Reshape", ["sum", b.ints([1])], "total")
    b.node("Greater", ["total", b.scalar(10)], "worth_it")
    return b.model("score", [value("x", FLOAT, ["batch", 4])],
                   [value("total", FLOAT, [1]), value("worth_it", TensorProto.BOOL, [1])])


def refine():
    """Twice what comes."""
    b = Builder(seed=0)
    b.node("Mul", ["x", b.scalar(2)], "y")
    return b.model("refine", [value("x", FLOAT, ["batch", 4])], [value("y", FLOAT, ["batch", 4])])


def pick():
    """A row of three, by its number: fails for any other number."""
    b = Builder(seed=0)
    b.node("Gather", [b.weight("rows", np.eye(3, 4, dtype=np.float32)), "number"], "row", axis=0)
    return b.model("pick", [value("number", INT64, ["batch"])], [value("row", FLOAT, ["batch", 4])])


LOOKED_AT = """
inputs = ["features"]
outputs = ["features_out", "total"]

[[step]]
model = "score"
inputs = { x = "features" }
outputs = { total = "total", worth_it = "worth_it" }

[[step]]
model = "refine"
inputs = { x = "features" }
outputs = { y = "features_out" }
each_row_of = ["features"]
when = "worth_it"
otherwise = { features_out = "features" }
"""

PICKED = """
inputs = ["number"]
outputs = ["y"]
[[step]]
name = "choose"
model = "pick"
inputs = ["number"]
outputs = ["row"]
[[step]]
name = "double"
model = "refine"
inputs = { x = "row" }
outputs = ["y"]
each_row_of = ["row"]
"""

ENSEMBLE = """
name: "both"
platform: "ensemble"
max_batch_size: 8
input [ { name: "IN" data_type: TYPE_FP32 dims: [ 4 ] } ]
output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 4 ] } ]
ensemble_scheduling {
  step [
    { model_name: "refine" model_version: -1
      input_map { key: "x" value: "IN" } output_map { key: "y" value: "between" } },
    { model_name: "refine" model_version: -1
      input_map { key: "x" value: "between" } output_map { key: "y" value: "OUT" } }
  ]
}
"""


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for make in (score, refine, pick):
        version = folder / make.__name__ / "1"
        version.mkdir(parents=True)
        onnx.save(make(), version / "model.onnx")
    for name, text in (("looked_at", LOOKED_AT), ("picked", PICKED)):
        (folder / name).mkdir()
        (folder / name / "pipeline.toml").write_text(text)
    (folder / "both" / "1").mkdir(parents=True)
    (folder / "both" / "config.pbtxt").write_text(ENSEMBLE)
    return folder


@pytest.fixture(scope="module")
def server(repository):
    with Server("--model-repository", repository) as running:
        yield running


@pytest.fixture
def slow(repository):
    """Every batch takes 100 ms; four requests fill the server."""
    with Server("--model-repository", repository, "--device", "sim:launch_us=100000", "--max-requests", 4,
                "--max-batch", 1) as running:
        yield running


def rows(count, first=1.0):
    return (np.arange(4 * count, dtype=np.float32) + np.float32(first)).reshape(count, 4)


def counted(server, model):
    with Rpc(server.msgpack) as rpc:
        return rpc.call("stats", {"model_name": model})["model_stats"][0]["inference_count"]


def test_rows_are_called_one_by_one_and_joined_in_order(server):
    before = counted(server, "refine")
    given = rows(7)
    with Rpc(server.msgpack) as rpc:
        answer = rpc.infer("looked_at", {"features": given})
    np.testing.assert_array_equal(answer["features_out"], 2 * given)
    np.testing.assert_array_equal(answer["total"], [given.sum()])
    assert counted(server, "refine") - before == 7


def test_a_step_is_left_out_where_its_condition_does_not_hold(server):
    before = counted(server, "refine")
    given = np.full((2, 4), 0.5, np.float32)
    body = {"inputs": [{"name": "features", "datatype": "FP32", "shape": [2, 4],
                        "data": given.ravel().tolist()}]}
    answer = curl(server, "/v2/models/looked_at/infer", body)
    outputs = {one["name"]: one for one in answer["outputs"]}
    assert outputs["features_out"]["data"] == given.ravel().tolist()
    assert outputs["features_out"]["shape"] == [2, 4]
    assert outputs["total"]["data"] == [4.0]
    assert counted(server, "refine") == before


def test_it_looks_like_a_model(server):
    about = curl(server, "/v2/models/looked_at")
    assert about["platform"] == "pipeline"
    assert about["inputs"] == [{"name": "features", "datatype": "FP32", "shape": [-1, 4]}]
    assert about["outputs"] == [{"name": "features_out", "datatype": "FP32", "shape": [-1, 4]},
                                {"name": "total", "datatype": "FP32", "shape": [1]}]
    curl(server, "/v2/models/looked_at/ready")
    with Rpc(server.msgpack) as rpc:
        with pytest.raises(RpcError) as caught:
            rpc.infer("looked_at", {"features": rows(2)[:, :3].copy()})
        assert caught.value.code == "INVALID_ARGUMENT"
        only = rpc.infer("looked_at", {"features": rows(1)}, outputs=[{"name": "total"}])
    assert list(only) == ["total"]


def test_an_ensemble_is_a_pipeline(server):
    about = curl(server, "/v2/models/both")
    assert about["platform"] == "ensemble"
    assert about["inputs"] == [{"name": "IN", "datatype": "FP32", "shape": [-1, 4]}]
    with Rpc(server.msgpack) as rpc:
        np.testing.assert_array_equal(rpc.infer("both", {"IN": rows(3)})["OUT"], 4 * rows(3))


def test_a_step_that_fails_is_named(server):
    with Rpc(server.msgpack) as rpc:
        good = rpc.infer("picked", {"number": np.array([2, 0], np.int64)})
        np.testing.assert_array_equal(good["y"], 2 * np.eye(3, 4, dtype=np.float32)[[2, 0]])
        with pytest.raises(RpcError) as caught:
            rpc.infer("picked", {"number": np.array([1, 7], np.int64)})
        assert caught.value.text.startswith('step "choose": ')
        rpc.infer("picked", {"number": np.array([1], np.int64)})


def test_a_request_past_its_deadline_ends_with_its_calls(slow):
    with Rpc(slow.msgpack) as rpc:
        began = time.monotonic()
        with pytest.raises(RpcError) as caught:
            rpc.infer("looked_at", {"features": rows(40)}, parameters={"timeout": 500_000})
        assert caught.value.code == "DEADLINE_EXCEEDED"
        assert time.monotonic() - began < 3
        # 40 calls would take four seconds; they have left the queue.
        rpc.infer("refine", {"x": rows(1)}, parameters={"timeout": 2_000_000})


def test_a_cancelled_request_ends_with_its_calls(slow):
    with Rpc(slow.msgpack) as rpc:
        number = rpc.send("infer", *infer_params("looked_at", {"features": rows(40)}))
        time.sleep(0.3)
        assert rpc.send("cancel", {"id": number})
        frames = {frame[1]: frame for frame in (rpc.read(), rpc.read())}
        assert frames[number][2]["code"] == "CANCELLED"
        rpc.infer("refine", {"x": rows(1)}, parameters={"timeout": 2_000_000})


def test_requests_that_fill_the_server_do_not_starve_their_own_calls(slow):
    def ask(_):
        with Rpc(slow.msgpack) as rpc:
            try:
                return outputs_of(rpc.call("infer", *infer_params("looked_at", {"features": rows(4)})))
            except RpcError as error:
                return error.code

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))
    served = [one for one in answers if not isinstance(one, str)]
    assert len(served) >= 4
    assert all(one == "RESOURCE_EXHAUSTED" for one in answers if isinstance(one, str))
    for one in served:
        np.testing.assert_array_equal(one["features_out"], 2 * rows(4))
    assert ask(0)["total"][0] == rows(4).sum()  # and its units came back


def test_a_file_is_enough_with_the_models_it_brings(repository, tmp_path):
    models = "".join(f'{name} = "{repository / name / "1" / "model.onnx"}"\n' for name in ("score", "refine"))
    file = tmp_path / "alone.toml"
    file.write_text(LOOKED_AT + "\n[models]\n" + models)
    with Server(file) as running, Rpc(running.msgpack) as rpc:
        np.testing.assert_array_equal(rpc.infer("alone", {"features": rows(2)})["features_out"], 2 * rows(2))


def test_a_pipeline_that_contradicts_its_models_is_refused_at_the_start(repository, tmp_path):
    file = tmp_path / "wrong.toml"
    file.write_text(LOOKED_AT.replace('inputs = { x = "features" }\noutputs = { y', 'inputs = { x = "total" }\noutputs = { y')
                    .replace('each_row_of = ["features"]\n', ""))
    done = subprocess.run([TROUPE, "serve", "--http-port", "0", "--msgpack-port", "0", repository / "score",
                           repository / "refine", file], capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == 1
    assert (f'{pathlib.Path(file)}: step "refine": input "x" of model refine takes FP32 [-1,4], tensor "total" '
            "is FP32 [1]") in done.stderr
