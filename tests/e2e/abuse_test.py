"""Clients that do what no client should; the server goes on serving, and forgets them."""

import os
import pathlib
import random
import socket
import struct
import subprocess
import time

import msgpack
import numpy as np

from support import MADE_MODELS, TROUPE, Rpc, Server, infer_params, report, still_serves

ROW = np.ones((1, 4), np.float32)
IMAGE = {"x": np.ones((1, 3, 128, 128), np.float32)}


def frame(number, model, inputs):
    return msgpack.packb([0, number, "infer", infer_params(model, inputs)])


def descriptors(server):
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def resident_mb(server):
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) // 1024


def settles_at(server, wanted):
    """Connections that were left end soon after they were taken, which a later one stands behind."""
    still_serves(server)
    until = time.monotonic() + 20
    while descriptors(server) > wanted and time.monotonic() < until:
        time.sleep(0.05)
    assert descriptors(server) <= wanted


def mutated(whole, source):
    data = bytearray(whole)
    for _ in range(source.randint(1, 4)):
        at = source.randrange(len(data))
        kind = source.randrange(4)
        noise = source.randbytes(source.randint(1, 5))
        if kind == 0:
            data[at] = noise[0]
        elif kind == 1 and len(data) > 8:
            del data[at:at + len(noise)]
        elif kind == 2:
            data[at:at] = noise
        elif at > 0:
            del data[at:]
    return bytes(data)


def test_frames_with_random_faults_harm_nobody(server):
    source = random.Random(1)
    before = descriptors(server)
    whole = frame(1, "add", {"a": ROW, "b": ROW})
    for _ in range(500):
        with socket.create_connection(server.msgpack, timeout=20) as client:
            try:
                client.sendall(mutated(whole, source))
                client.shutdown(socket.SHUT_WR)
                while client.recv(65536):
                    pass
            except ConnectionError:
                pass
    settles_at(server, before)
    still_serves(server)


def test_clients_that_leave_at_any_moment_are_forgotten(server):
    source = random.Random(2)
    before = descriptors(server)
    whole = frame(7, "tiny_conv", IMAGE)
    for turn in range(120):
        with socket.create_connection(server.msgpack) as client:
            if turn % 3 == 0:
                client.sendall(whole[:source.randrange(len(whole))])
            else:
                for number in range(8):
                    client.sendall(frame(number, "tiny_conv", IMAGE))
            if turn % 3 == 2:  # with a reset
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    settles_at(server, before)
    still_serves(server)


def test_a_thousand_connections_come_and_go(server):
    before = descriptors(server)
    memory = resident_mb(server)
    for turn in range(1000):
        socket.create_connection(server.msgpack if turn % 2 else server.http).close()
    settles_at(server, before)
    report(f"1000 connects and disconnects: resident memory {memory} -> {resident_mb(server)} MB")
    still_serves(server)


def test_ten_times_too_many_requests_are_answered_or_refused():
    with Server(MADE_MODELS / "identity", "--max-requests", "32") as server:
        counts = {"OK": 0, "RESOURCE_EXHAUSTED": 0}
        clients = [Rpc(server.msgpack) for _ in range(2)]
        for client in clients:
            for number in range(160):
                client.send("infer", *infer_params("identity", {"x": np.full((1, 16), number, np.float32)}))
        for client in clients:
            for _ in range(160):
                _, _, error, _ = client.read()
                counts["OK" if error is None else error["code"]] += 1
            client.socket.close()
        report(f"320 requests at once with room for 32: {counts}")
        assert sum(counts.values()) == 320
        with Rpc(server.msgpack) as client:
            row = np.arange(16, dtype=np.float32)[None]
            np.testing.assert_array_equal(client.infer("identity", {"x": row})["y"], row)


def test_an_idle_connection_is_closed_and_one_at_work_is_not():
    with Server(MADE_MODELS / "identity", "--idle-timeout", "1", "--device", "sim:launch_us=2000000") as server:
        with Rpc(server.msgpack) as idle, Rpc(server.msgpack) as busy:
            number = busy.send("infer", *infer_params("identity", {"x": np.ones((1, 16), np.float32)}))
            assert idle.read()[2][0]["code"] == "UNAVAILABLE"
            assert idle.read() is None
            kind, answered, error, _ = busy.read()
            assert (kind, answered, error) == (1, number, None)


def test_two_servers_cannot_share_a_port(server):
    port = str(server.msgpack[1])
    command = [TROUPE, "serve", MADE_MODELS / "add", "--http-port", "0", "--msgpack-port", port]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}" in done.stderr
    still_serves(server)


def test_the_first_request_after_a_start_is_answered():
    for turn in range(int(os.environ.get("TROUPE_STARTS", "20"))):
        with Server(MADE_MODELS / "identity") as server, Rpc(server.msgpack, timeout=20) as rpc:
            row = np.full((1, 16), turn, np.float32)
            np.testing.assert_array_equal(rpc.infer("identity", {"x": row})["y"], row)
