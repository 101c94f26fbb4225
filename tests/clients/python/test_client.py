import asyncio
import socket
import threading

import numpy as np
import pytest

from troupe_client import AsyncClient, Client, Code, TroupeError, codec

ARRAYS = [np.array([True, False])] + [
    np.array([[0, 1, 2], [3, 4, 100]], dtype)
    for dtype in ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8")
] + [np.float32(3.5), np.zeros((0, 4), np.float32), np.arange(24, dtype=">f4").reshape(2, 3, 4)[:, ::2].T]


@pytest.fixture()
def client(server):
    with Client(server) as connected:
        yield connected


def test_arrays_come_back_as_they_went(client):
    for array in ARRAYS:
        answer = client.infer("echo", {"x": array})["x"]
        array = np.asarray(array)
        assert answer.dtype == array.dtype.newbyteorder("=")
        assert answer.shape == array.shape
        np.testing.assert_array_equal(answer, array)


def test_bfloat16_comes_back(client):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.array([1.5, -2], ml_dtypes.bfloat16)
    answer = client.infer("echo", {"x": array})["x"]
    assert answer.dtype == array.dtype
    np.testing.assert_array_equal(answer, array)


def test_bytes_keep_their_zeros_and_strings_become_utf8(client):
    answer = client.infer("echo", {"a": [b"png\0\0", b""], "b": np.array([["ä", "b"]]), "c": b"one", "d": np.array(["x", b"y"], object)})
    assert answer["a"].tolist() == [b"png\0\0", b""]
    assert answer["b"].tolist() == [["ä".encode(), b"b"]]
    assert answer["c"].shape == () and answer["c"][()] == b"one"
    assert answer["d"].tolist() == [b"x", b"y"]


def test_a_large_array_comes_back(client):
    array = np.random.default_rng(1).standard_normal((3, 1000, 1000)).astype(np.float32)
    np.testing.assert_array_equal(client.infer("echo", {"x": array})["x"], array)


def test_version_label_and_model_are_returned(client):
    answer = client.infer("echo", {"x": np.zeros(1)}, version="7", id="label", parameters={"priority": 1, "flag": True})
    assert (answer.model_name, answer.model_version, answer.id) == ("echo", "7", "label")


def test_what_else_a_server_knows(client):
    health = client.health("loading")
    assert health["live"] and health["protocol"] == 1 and health["model_ready"] is False
    assert [m["state"] for m in client.models()] == ["READY", "UNAVAILABLE"]
    assert client.metadata("echo")["inputs"][0]["shape"] == [-1, 4]
    assert client.stats()[0]["inference_stats"]["queue"]["ns"] == 70
    client.load("echo")
    client.unload("echo")


def test_errors_carry_their_code(client):
    with pytest.raises(TroupeError) as failed:
        client.metadata("missing")
    assert failed.value.code is Code.NOT_FOUND
    with pytest.raises(TroupeError) as failed:
        client.infer("busy", {"x": np.zeros(1)})
    assert failed.value.code is Code.RESOURCE_EXHAUSTED and failed.value.retry_after == 0.25
    with pytest.raises(TroupeError) as failed:
        client.infer("echo", {"x": np.zeros(1), "y": np.array([1 + 2j])})
    assert failed.value.code is Code.INVALID_ARGUMENT
    with pytest.raises(TroupeError) as failed:
        client.infer("echo", {"x": np.array([object()])})
    assert failed.value.code is Code.INVALID_ARGUMENT
    assert client.infer("echo", {"x": np.zeros(1)})["x"].shape == (1,)


def test_a_timeout_cancels_and_the_connection_lives(client):
    with pytest.raises(TroupeError) as failed:
        client.infer("slow", {"x": np.zeros(1)}, timeout=0.05)
    assert failed.value.code is Code.DEADLINE_EXCEEDED
    assert client.infer("echo", {"x": np.zeros(1)})["x"].shape == (1,)


def test_many_requests_in_flight_from_many_threads(client):
    def work(seed):
        futures = [client.submit("echo", {"x": np.full(100, seed * 1000 + i)}) for i in range(50)]
        for i, future in enumerate(futures):
            assert future.result(30)["x"][0] == seed * 1000 + i

    failures = []

    def guarded(seed):
        try:
            work(seed)
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=guarded, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_closing_fails_what_is_in_flight(server):
    client = Client(server)
    future = client.submit("slow", {"x": np.zeros(1)})
    client.close()
    with pytest.raises(TroupeError) as failed:
        future.result(10)
    assert failed.value.code is Code.CANCELLED
    with pytest.raises(TroupeError):
        client.models()


def test_nobody_there_and_wrong_urls():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with pytest.raises(TroupeError) as failed:
        Client(f"tcp://127.0.0.1:{port}")
    assert failed.value.code is Code.UNAVAILABLE
    for url in ("http://x", "tcp://", "tcp://x:y"):
        with pytest.raises(TroupeError):
            codec.parse_url(url)
    assert codec.parse_url("localhost") == ("localhost", 8003)
    assert codec.parse_url("tcp://[::1]:7/") == ("::1", 7)


def test_a_server_that_talks_nonsense_is_an_error():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        client = Client(f"tcp://127.0.0.1:{listening.getsockname()[1]}")
        peer, _ = listening.accept()
        future = client.submit("echo", {})
        peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        with pytest.raises(TroupeError):
            future.result(10)
        peer.close()
        client.close()


def test_asyncio_answers_many_at_once(server):
    async def run():
        async with await AsyncClient.connect(server) as client:
            answers = await asyncio.gather(*(client.infer("echo", {"x": np.full(1000, i)}) for i in range(100)))
            assert [a["x"][0] for a in answers] == list(range(100))
            assert (await client.health())["ready"]
            assert len(await client.models()) == 2
            assert (await client.stats("m"))[0]["name"] == "m"
            assert (await client.metadata("echo"))["platform"] == "onnx"
            await client.load("echo")
            await client.unload("echo")
            with pytest.raises(TroupeError) as failed:
                await client.load("missing")
            assert failed.value.code is Code.NOT_FOUND

    asyncio.run(run())


def test_asyncio_gives_up_and_goes_on(server):
    async def run():
        async with await AsyncClient.connect(server) as client:
            with pytest.raises(TroupeError) as failed:
                await client.infer("slow", {"x": np.zeros(1)}, timeout=0.05)
            assert failed.value.code is Code.DEADLINE_EXCEEDED
            task = asyncio.ensure_future(client.infer("slow", {"x": np.zeros(1)}))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await client.infer("echo", {"x": np.zeros(1)}))["x"].shape == (1,)
            waiting = asyncio.ensure_future(client.infer("slow", {"x": np.zeros(1)}))
            await asyncio.sleep(0)
        with pytest.raises(TroupeError) as failed:
            await waiting
        assert failed.value.code is Code.CANCELLED

    asyncio.run(run())
