"""A stateful model: each sequence has its own sum, whatever shares its batches, by both protocols."""

import concurrent.futures
import time

import numpy as np
import pytest

from support import MADE_MODELS, Rpc, RpcError, Server, curl, infer_params, outputs_of

MODEL = "running_sum"


@pytest.fixture(scope="module")
def server():
    with Server(MADE_MODELS / MODEL) as running:
        yield running


def parameters(sequence, start=False, end=False):
    return {"sequence_id": sequence, "sequence_start": start, "sequence_end": end}


def rest(server, sequence, value, expect=200, **flags):
    body = {"parameters": parameters(sequence, **flags),
            "inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4], "data": [value] * 4}]}
    answer = curl(server, f"/v2/models/{MODEL}/infer", body, expect)
    if expect != 200:
        return answer["error"]
    return {tensor["name"]: tensor["data"] for tensor in answer["outputs"]}


def rpc_step(rpc, sequence, value, **flags):
    return rpc.infer(MODEL, {"x": np.full((1, 4), value, np.float32)},
                     parameters=parameters(sequence, **flags))


def live(rpc):
    return rpc.call("stats", {"model_name": MODEL})["model_stats"][0]["live_sequences"]


def test_clients_see_what_is_theirs(server):
    metadata = curl(server, f"/v2/models/{MODEL}")
    assert [tensor["name"] for tensor in metadata["inputs"]] == ["x"]
    assert [tensor["name"] for tensor in metadata["outputs"]] == ["total", "said", "who"]


def test_sums_over_rest(server):
    first = rest(server, 7, 1, start=True)
    assert first["total"] == [1] * 4
    assert first["said"] == [1, 0, 1]
    assert first["who"] == [7]
    assert rest(server, 7, 2)["said"] == [0, 0, 1]
    last = rest(server, 7, 3, end=True)
    assert last["total"] == [6] * 4
    assert last["said"] == [0, 1, 1]
    assert "no sequence 7 is live" in rest(server, 7, 4, expect=400)
    assert curl(server, f"/v2/models/{MODEL}/stats")["model_stats"][0]["live_sequences"] == 0


def test_sums_over_msgpack(server):
    with Rpc(server.msgpack) as rpc:
        assert rpc_step(rpc, 8, 10, start=True)["total"][0, 0] == 10
        assert live(rpc) == 1
        assert rest(server, 8, 5)["total"][0] == 15  # the same sequence by the other protocol
        assert rpc_step(rpc, 8, 1, end=True)["total"][0, 0] == 16
        assert live(rpc) == 0
        with pytest.raises(RpcError) as refused:
            rpc_step(rpc, 8, 1)
        assert refused.value.code == "FAILED_PRECONDITION"


def test_steps_that_do_not_wait_for_answers_keep_their_order(server):
    with Rpc(server.msgpack) as rpc:
        steps = 200
        sent = {}
        for at in range(steps):
            for sequence in (21, 22, 23):
                said = parameters(sequence, start=at == 0, end=at == steps - 1)
                value = {"x": np.full((1, 4), sequence, np.float32)}
                sent[rpc.send("infer", *infer_params(MODEL, value, parameters=said))] = (sequence, at)
        for _ in range(len(sent)):
            kind, answered, error, result = rpc.read()
            assert (kind, error) == (1, None)
            sequence, at = sent.pop(answered)
            assert outputs_of(result)["total"][0, 3] == sequence * (at + 1)
        assert not sent and live(rpc) == 0


def test_many_sequences_at_once(server):
    def one(sequence):
        with Rpc(server.msgpack) as rpc:
            for at in range(30):
                total = rpc_step(rpc, sequence, sequence, start=at == 0, end=at == 29)["total"]
                np.testing.assert_array_equal(total, np.full((1, 4), sequence * (at + 1)))

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(one, range(100, 200)))


def test_what_is_wrong_is_said(server):
    with Rpc(server.msgpack) as rpc:
        x = np.ones((1, 4), np.float32)
        for wrong, code in [({}, "INVALID_ARGUMENT"),
                            (parameters(0, start=True), "INVALID_ARGUMENT"),
                            (parameters("text", start=True), "INVALID_ARGUMENT"),
                            (parameters(31), "FAILED_PRECONDITION")]:
            with pytest.raises(RpcError) as refused:
                rpc.infer(MODEL, {"x": x}, parameters=wrong)
            assert refused.value.code == code
        with pytest.raises(RpcError) as refused:
            rpc.infer(MODEL, {"x": np.ones((2, 4), np.float32)}, parameters=parameters(32, start=True))
        assert "one row" in refused.value.text


def test_an_idle_sequence_ends(server):
    with Rpc(server.msgpack) as rpc:
        rpc_step(rpc, 41, 1, start=True)
        assert live(rpc) == 1
        deadline = time.monotonic() + 20
        while live(rpc) and time.monotonic() < deadline:
            time.sleep(0.1)
        with pytest.raises(RpcError) as refused:
            rpc_step(rpc, 41, 1)
        assert refused.value.code == "FAILED_PRECONDITION"
