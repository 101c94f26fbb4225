"""What a server keeps of its requests, and another one that is asked the same."""

import json
import shutil
import stat
import subprocess

import msgpack
import numpy as np
import pytest

from support import BUILD, MADE_MODELS, Rpc, Server, curl

LOAD = BUILD / "bin" / "troupe-load"
A = np.array([[1, 2, 3, 4], [5, 6, 7, 8]], np.float32)
B = np.array([[10, 20, 30, 40], [50, 60, 70, 80]], np.float32)
X = np.linspace(-1, 1, 16, dtype=np.float32).reshape(1, 16)


def requests_file(capture):
    return capture.with_name(capture.name + ".requests")


def server(capture):
    return Server(MADE_MODELS / "add", MADE_MODELS / "identity", "--capture", capture, "--capture-payloads")


def frames_of(path):
    with open(path, "rb") as file:
        return list(msgpack.Unpacker(file, max_buffer_size=1 << 30))


def asked(capture):
    """By number: the model, the parameters, and the inputs' bytes."""
    found = {}
    for kind, number, method, (header, *payloads) in frames_of(requests_file(capture)):
        assert (kind, method) == (0, "infer")
        inputs = {t["name"]: (t["datatype"], t["shape"], data) for t, data in zip(header["inputs"], payloads, strict=True)}
        found[number] = (header["model_name"], header.get("parameters", {}), inputs)
    return found


def records(capture, what):
    return [line for line in map(json.loads, capture.read_text().splitlines()) if line.get("is") == what]


def replay(url, capture, *arguments):
    return subprocess.run([LOAD, url, "--replay", capture, "--json", *arguments], capture_output=True, text=True,
                          timeout=60)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A capture of one request over each protocol."""
    capture = tmp_path_factory.mktemp("capture") / "first"
    with server(capture) as running:
        with Rpc(running.msgpack) as rpc:
            rpc.infer("add", {"a": A, "b": B}, parameters={"priority": 2})
        tensor = {"name": "x", "datatype": "FP32", "shape": [1, 16], "data": X.tolist()}
        curl(running, "/v2/models/identity/infer", {"inputs": [tensor]})
    return capture


def described(array):
    return "FP32", list(array.shape), array.tobytes()


def test_requests_are_kept_with_exactly_the_inputs_sent(recorded):
    asks = records(recorded, "ask")
    kept = asked(recorded)
    assert [kept[ask["id"]] for ask in asks] == [
        ("add", {"priority": 2}, {"a": described(A), "b": described(B)}),
        ("identity", {}, {"x": described(X)})]
    assert len(kept) == 2 and records(recorded, "payloads_lost") == []
    assert stat.S_IMODE(requests_file(recorded).stat().st_mode) == 0o600


@pytest.mark.parametrize("protocol", ["msgpack", "http"])
def test_another_server_is_asked_the_same(recorded, tmp_path, protocol):
    capture = tmp_path / "second"
    with server(capture) as running:
        done = replay(running.url(protocol), recorded, "--speed", "0.5")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["sent"], said["succeeded"], said["failures"]) == (2, 2, {})
    assert said["without_payload"] == said["cut_off_bytes"] == 0
    first, second = asked(recorded), asked(capture)
    assert [second[number] for number in sorted(second)] == [first[number] for number in sorted(first)]
    came, again = ([ask["at"] for ask in records(path, "ask")] for path in (recorded, capture))
    assert again[1] - again[0] >= 2 * (came[1] - came[0]) - 20e6


def test_what_is_whole_is_replayed_and_what_is_broken_refused(recorded, tmp_path):
    capture = tmp_path / "cut"
    shutil.copy(recorded, capture)
    kept = requests_file(recorded).read_bytes()
    requests_file(capture).write_bytes(kept[:-5])
    with server(tmp_path / "third") as running:
        done = replay(running.url("msgpack"), capture)
        assert done.returncode == 0, done.stderr
        said = json.loads(done.stdout)
        assert (said["sent"], said["succeeded"], said["without_payload"]) == (1, 1, 1)
        assert said["cut_off_bytes"] > 0

        requests_file(capture).write_bytes(kept[:-5] + kept)
        done = replay(running.url("msgpack"), capture)
        assert done.returncode == 1 and f"{requests_file(capture)}: the frame at byte" in done.stderr
        requests_file(capture).unlink()
        done = replay(running.url("msgpack"), capture)
        assert done.returncode == 1 and str(requests_file(capture)) in done.stderr
    assert asked(tmp_path / "third")  # the server was asked and went on


def test_a_capture_without_payloads_is_not_replayed(tmp_path):
    capture = tmp_path / "plain"
    with Server(MADE_MODELS / "add", "--capture", capture) as running:
        with Rpc(running.msgpack) as rpc:
            rpc.infer("add", {"a": A, "b": B})
        done = replay(running.url("msgpack"), capture)
    assert done.returncode == 1 and "without payloads" in done.stderr
    assert not requests_file(capture).exists()


def test_steps_of_a_sequence_are_kept_without_what_the_server_adds(tmp_path):
    capture = tmp_path / "steps"
    with Server(MADE_MODELS / "running_sum", "--capture", capture, "--capture-payloads") as running:
        with Rpc(running.msgpack) as rpc:
            for value in (1, 2, 3):
                rpc.infer("running_sum", {"x": np.full((1, 4), value, np.float32)},
                          parameters={"sequence_id": 7, "sequence_start": value == 1, "sequence_end": value == 3})
    kept = asked(capture)
    for value, (model, parameters, inputs) in zip((1, 2, 3), (kept[number] for number in sorted(kept)), strict=True):
        assert (model, parameters["sequence_id"], parameters["sequence_start"]) == ("running_sum", 7, value == 1)
        assert inputs == {"x": described(np.full((1, 4), value, np.float32))}
    with Server(MADE_MODELS / "running_sum") as running:
        said = json.loads(replay(running.url("msgpack"), capture).stdout)
    assert (said["succeeded"], said["failures"]) == (3, {})
