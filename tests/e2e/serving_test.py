"""The three OCR networks behind one server: ready soon, idle when idle, and batching what comes together."""

import concurrent.futures
import time

import numpy as np
import pytest

from support import OCR_MODELS, Rpc, Server, report

REC = ("ocr_rec", "x", "softmax_11.tmp_0")


@pytest.fixture(scope="module")
def server():
    with Server("--model-repository", OCR_MODELS) as running:
        yield running


def lines(count, width=160, seed=1):
    random = np.random.default_rng(seed)
    return [random.uniform(-1, 1, (1, 3, 48, width)).astype(np.float32) for _ in range(count)]


def recognise(server, batch):
    model, name, output = REC
    with Rpc(server.msgpack) as rpc:
        return rpc.infer(model, {name: batch})[output]


def statistics(server, model):
    with Rpc(server.msgpack) as rpc:
        return rpc.call("stats", {"model_name": model})["model_stats"][0]


def test_readiness_and_idleness_are_reported(server):
    report(f"ready with three OCR models after {server.ready_after:.2f} s")
    recognise(server, lines(1)[0])
    time.sleep(1)
    before, began = server.cpu_seconds(), time.monotonic()
    time.sleep(3)
    used = (server.cpu_seconds() - before) / (time.monotonic() - began)
    report(f"idle server: {100 * used:.2f} % of a core")


def test_concurrent_requests_are_batched_and_answered_as_if_alone(server):
    requests = lines(32)
    recognise(server, requests[0])  # plans for this width are there
    began = time.monotonic()
    alone = [recognise(server, r) for r in requests]
    one_by_one = time.monotonic() - began

    def together():
        with concurrent.futures.ThreadPoolExecutor(len(requests)) as pool:
            return list(pool.map(lambda r: recognise(server, r), requests))

    together()  # plans for the batch sizes that come up
    before = statistics(server, REC[0])
    began = time.monotonic()
    answers = together()
    at_once = time.monotonic() - began
    after = statistics(server, REC[0])

    rows = after["inference_count"] - before["inference_count"]
    batches = after["execution_count"] - before["execution_count"]
    difference = max(np.abs(a - b).max() for a, b in zip(answers, alone))
    report(f"32 concurrent recognitions: {batches} batches for {rows} rows, {at_once:.2f} s at once, "
           f"{one_by_one:.2f} s one by one, largest difference {difference:.1e}")
    assert rows == 32
    assert batches < 32
    assert difference < 1e-4
    for answer, own in zip(answers, alone):
        np.testing.assert_array_equal(answer.argmax(-1), own.argmax(-1))


def test_a_batch_of_rows_in_one_request(server):
    rows = np.concatenate(lines(3, seed=2))
    together = recognise(server, rows)
    assert together.shape[0] == 3
    for row, answer in zip(rows, together):
        np.testing.assert_allclose(recognise(server, row[None])[0], answer, atol=1e-4)
