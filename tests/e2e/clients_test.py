"""The same question through every door gives the same answer."""

import json
import subprocess

import numpy as np

from support import TROUPE, Rpc, curl, infer_params, outputs_of

A = np.array([[1, 2, 3, 4], [5, 6, 7, 8]], np.float32)
B = np.array([[10, 20, 30, 40], [50, 60, 70, 80]], np.float32)


def test_health_and_metadata_over_rest(server):
    curl(server, "/v2/health/live")
    curl(server, "/v2/health/ready")
    curl(server, "/v2/models/add/ready")
    assert curl(server, "/v2")["name"] == "troupe"
    metadata = curl(server, "/v2/models/add")
    assert metadata["name"] == "add"
    assert {t["name"]: (t["datatype"], t["shape"]) for t in metadata["inputs"]} == {
        "a": ("FP32", [-1, 4]), "b": ("FP32", [-1, 4])}
    assert [t["name"] for t in metadata["outputs"]] == ["sum"]


def test_inference_over_rest(server):
    def tensor(name, array):
        return {"name": name, "datatype": "FP32", "shape": list(array.shape), "data": array.tolist()}

    answer = curl(server, "/v2/models/add/infer", {"id": "my label", "inputs": [tensor("a", A), tensor("b", B)]})
    assert answer["id"] == "my label" and answer["model_name"] == "add"
    assert answer["outputs"][0]["shape"] == [2, 4]
    assert answer["outputs"][0]["data"] == (A + B).flatten().tolist()


def test_methods_over_msgpack(server):
    with Rpc(server.msgpack) as rpc:
        health = rpc.call("health", {"model_name": "add"})
        assert health["live"] and health["ready"] and health["model_ready"] and health["protocol"] == 1
        states = {m["name"]: m["state"] for m in rpc.call("models")}
        assert states["add"] == states["identity"] == "READY"
        metadata = rpc.call("metadata", {"model_name": "identity"})
        assert metadata["inputs"] == [{"name": "x", "datatype": "FP32", "shape": [-1, 16]}]
        np.testing.assert_array_equal(rpc.infer("add", {"a": A, "b": B})["sum"], A + B)
        stats, = rpc.call("stats", {"model_name": "add"})["model_stats"]
        assert stats["inference_count"] >= 2 and stats["inference_stats"]["success"]["count"] >= 1


def test_pipelined_requests_are_each_answered_once(server):
    with Rpc(server.msgpack) as rpc:
        sent = {}
        for n in range(200):
            row = np.full((1, 4), n, np.float32)
            sent[rpc.send("infer", *infer_params("add", {"a": row, "b": row}))] = row
        for _ in range(200):
            kind, answered, error, result = rpc.read()
            assert kind == 1 and error is None, error
            row = sent.pop(answered)
            np.testing.assert_array_equal(outputs_of(result)["sum"], row + row)
        assert not sent


def test_the_command_line_client(server, tmp_path):
    np.save(tmp_path / "a.npy", A)
    np.save(tmp_path / "b.npy", B)
    for protocol in ("msgpack", "http"):
        out = tmp_path / protocol
        subprocess.run([TROUPE, "infer", server.url(protocol), "add", "--input", f"a={tmp_path / 'a.npy'}",
                        "--input", f"b={tmp_path / 'b.npy'}", "--output", out],
                       check=True, capture_output=True, timeout=60)
        manifest = json.loads((out / "manifest.json").read_text())
        entry, = manifest["outputs"]
        assert (entry["name"], entry["datatype"], entry["shape"]) == ("sum", "FP32", [2, 4])
        np.testing.assert_array_equal(np.load(out / entry["file"]), A + B)


def test_the_command_line_lists_models(server):
    listed = subprocess.run([TROUPE, "models", server.url("msgpack")], check=True, capture_output=True,
                            text=True, timeout=60).stdout
    assert "add" in listed and "READY" in listed


def test_the_command_line_reports_a_servers_error(server, tmp_path):
    np.save(tmp_path / "a.npy", A)
    done = subprocess.run([TROUPE, "infer", server.url("msgpack"), "add", "--input", f"a={tmp_path / 'a.npy'}"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.startswith("troupe: ") and done.stderr.count("\n") == 1
