"""Bad requests get a clear error, and the server goes on serving."""

import socket
import struct
import subprocess

import msgpack
import numpy as np
import pytest

from support import ROOT, TROUPE, Rpc, RpcError, curl, infer_params, still_serves

ROW = np.ones((1, 4), np.float32)


def array_header(model="add", **changes):
    tensor = {"name": "a", "datatype": "FP32", "shape": [1, 4], "byte_size": 16, **changes}
    other = {"name": "b", "datatype": "FP32", "shape": [1, 4], "byte_size": 16}
    return {"model_name": model, "inputs": [tensor, other]}


@pytest.mark.parametrize("model, inputs, code, words", [
    ("nobody", {"a": ROW, "b": ROW}, "NOT_FOUND", ["nobody"]),
    ("add", {"a": ROW, "c": ROW}, "INVALID_ARGUMENT", ["c"]),
    ("add", {"a": ROW}, "INVALID_ARGUMENT", ["b"]),
    ("add", {"a": ROW, "b": ROW.astype(np.int64)}, "INVALID_ARGUMENT", ["b", "FP32", "INT64"]),
    ("add", {"a": ROW, "b": np.ones((1, 5), np.float32)}, "INVALID_ARGUMENT", ["b", "5"]),
    ("add", {"a": ROW, "b": np.ones((1, 4, 1), np.float32)}, "INVALID_ARGUMENT", ["b"]),
    ("add", {"a": ROW, "b": np.ones((2, 4), np.float32)}, "INVALID_ARGUMENT", []),
    ("tiny_conv", {"x": np.ones((1, 2, 8, 8), np.float32)}, "INVALID_ARGUMENT", ["x"]),
], ids=["unknown model", "unknown input", "missing input", "wrong dtype", "wrong size", "wrong rank",
        "rows that differ", "wrong channels"])
def test_a_wrong_request_is_told_what_is_wrong(server, model, inputs, code, words):
    with Rpc(server.msgpack) as rpc:
        with pytest.raises(RpcError) as caught:
            rpc.infer(model, inputs)
        assert caught.value.code == code
        for word in words:
            assert word in caught.value.text, caught.value.text
        np.testing.assert_array_equal(rpc.infer("add", {"a": ROW, "b": ROW})["sum"], ROW + ROW)
    still_serves(server)


def test_byte_size_must_match_the_shape(server):
    with Rpc(server.msgpack) as rpc:
        with pytest.raises(RpcError) as caught:
            rpc.call("infer", array_header(byte_size=12), bytes(12), bytes(16))
        assert caught.value.code == "INVALID_ARGUMENT"
    still_serves(server)


def test_an_unknown_method_is_unimplemented(server):
    with Rpc(server.msgpack) as rpc:
        with pytest.raises(RpcError) as caught:
            rpc.call("dance")
        assert caught.value.code == "UNIMPLEMENTED"
        assert rpc.call("health")["live"] is True


BROKEN = {
    "no array": msgpack.packb({"not": "a frame"}),
    "reserved byte": b"\xc1",
    "text": b"GET / HTTP/1.1\r\n\r\n",
    "wrong type": msgpack.packb([7, 1, "health", []]),
    "short array": msgpack.packb([0, 1]),
    "id as text": msgpack.packb([0, "one", "health", []]),
    "method as number": msgpack.packb([0, 1, 5, []]),
    "params as map": msgpack.packb([0, 1, "health", {}]),
    "deep": b"\x94\x00\x01\xa5infer\x91" + b"\x91" * 5000,
    "huge string": b"\x94\x00\x01\xdb" + struct.pack(">I", 3_000_000_000),
    "huge array": b"\x94\x00\x01\xa5infer\xdd" + struct.pack(">I", 0xFFFFFFFF),
    "huge map": b"\x94\x00\x01\xa5infer\x91\xdf" + struct.pack(">I", 0xFFFFFFFF),
    "3 GB in 20 bytes": (b"\x94\x00\x07\xa5infer\x92\x80\xc6" + struct.pack(">I", 3_000_000_000)).ljust(20, b"\0"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_frame_is_answered_and_its_connection_closed(server, name):
    with Rpc(server.msgpack, timeout=20) as rpc:
        rpc.send_bytes(BROKEN[name])
        frame = rpc.read()
        assert frame is not None, "closed without a word"
        if frame[0] == 1:
            error = frame[2]
        else:
            assert frame[:2] == [2, "error"]
            error = frame[2][0]
        assert error["code"] in ("INVALID_ARGUMENT", "RESOURCE_EXHAUSTED")
        assert len(error["text"]) > 10
        assert rpc.read() is None
    still_serves(server)


def test_half_a_frame_and_gone(server):
    whole = msgpack.packb([0, 1, "infer", infer_params("add", {"a": ROW, "b": ROW})])
    for length in range(1, len(whole), 7):
        with socket.create_connection(server.msgpack) as half:
            half.sendall(whole[:length])
    still_serves(server)


def tensor(**changes):
    return {"name": "a", "datatype": "FP32", "shape": [1, 4], "data": [1, 2, 3, 4], **changes}


@pytest.mark.parametrize("body", [
    b"{", b"", b"nonsense", b"[" * 100_000, b'{"inputs": 3}', b'{"inputs": [{"name": "a"}]}', b"\xff\xfe",
    {"inputs": [tensor(), tensor(name="c")]},
    {"inputs": [tensor(), tensor(name="b", datatype="INT64")]},
    {"inputs": [tensor(), tensor(name="b", datatype="FP33")]},
    {"inputs": [tensor(), tensor(name="b", shape=[1, 5])]},
    {"inputs": [tensor(), tensor(name="b", shape=[-1, 4])]},
    {"inputs": [tensor(), tensor(name="b", shape=[3_000_000_000, 4])]},
    {"inputs": [tensor(), tensor(name="b", shape=[2**62, 2**62])]},
    {"inputs": [tensor(), tensor(name="b", data=["one", 2, 3, 4])]},
    {"inputs": [tensor(), tensor(name="b", data=[1, 2, 3])]},
], ids=lambda body: str(body)[-60:])
def test_a_bad_json_request_is_a_400_with_a_reason(server, body):
    answer = curl(server, "/v2/models/add/infer", body, expect=400)
    assert len(answer["error"]) > 10
    still_serves(server)


def test_http_status_codes(server):
    good = {"inputs": [tensor(), tensor(name="b")]}
    assert "nobody" in curl(server, "/v2/models/nobody/infer", good, expect=404)["error"]
    assert curl(server, "/nowhere", expect=404)["error"]
    assert curl(server, "/v2/models/add/infer", expect=405)["error"]
    still_serves(server)


def test_a_malformed_http_request_ends_its_connection_only(server):
    for request in (b"\0\1\2\3\r\n\r\n", b"POST /v2/models/add/infer HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
                    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n"):
        with socket.create_connection(server.http, timeout=20) as raw:
            try:
                raw.sendall(request)
                while raw.recv(65536):
                    pass
            except ConnectionError:
                pass
    still_serves(server)


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x08\x07" + b"\xff" * 64, b"\x3a\xff\xff\xff\x7f"],
                         ids=["empty", "text", "noise", "claim"])
def test_a_malformed_model_is_refused_in_one_line(tmp_path, content):
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(content)
    for command in (["inspect", broken], ["serve", broken, "--http-port", "0", "--msgpack-port", "0"]):
        done = subprocess.run([TROUPE, *command], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1, done.stdout
        assert done.stderr.splitlines()[-1].startswith("troupe: ")
        assert "broken" in done.stderr


def test_a_truncated_model_is_refused_in_one_line(tmp_path):
    whole = (ROOT / "models" / "ocr_cls" / "1" / "model.onnx").read_bytes()
    for part in (10, 1000, len(whole) // 2, len(whole) - 1):
        broken = tmp_path / f"cut{part}.onnx"
        broken.write_bytes(whole[:part])
        done = subprocess.run([TROUPE, "inspect", broken], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1, f"{part} bytes: {done.stdout[:200]}"
        assert done.stderr.startswith("troupe: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [[], ["dance"], ["run"], ["serve", "--no-such-option"],
                                       ["bench", "/nowhere.onnx", "--seconds", "soon"]])
def test_wrong_usage_is_status_2(arguments):
    done = subprocess.run([TROUPE, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("troupe: ") and done.stderr.count("\n") == 1
