"""SIGTERM under load: what was sent before it is answered; the server leaves with status 0."""

import pathlib
import signal
import socket
import subprocess
import threading
import time

import msgpack
import numpy as np
import pytest

from support import MADE_MODELS, TROUPE, Rpc, Server, infer_params, outputs_of, report

CLIENTS = 16
IN_FLIGHT = 8


class Client(threading.Thread):
    """Keeps some requests in flight until the server closes; counts what became of each."""

    def __init__(self, server, terminated):
        super().__init__()
        self.server, self.terminated = server, terminated
        self.sent_before = set()
        self.answers = {}
        self.twice = []
        self.wrong = []

    def run(self):
        with Rpc(self.server.msgpack) as rpc:
            rows = {}

            def send():
                row = np.full((1, 16), rpc.next_id, np.float32)
                before = not self.terminated.is_set()
                number = rpc.send("infer", *infer_params("identity", {"x": row}))
                # Sent for certain before the signal only if it was not yet given afterwards.
                if before and not self.terminated.is_set():
                    self.sent_before.add(number)
                rows[number] = row

            try:
                for _ in range(IN_FLIGHT):
                    send()
                while (frame := rpc.read()) is not None:
                    _, number, error, result = frame
                    if number in self.answers:
                        self.twice.append(number)
                    self.answers[number] = error["code"] if error else "OK"
                    if not error and not np.array_equal(outputs_of(result)["y"], rows[number]):
                        self.wrong.append(number)
                    if error is None:
                        send()
            except (ConnectionError, socket.timeout) as problem:
                self.answers["end"] = repr(problem)


def test_sigterm_under_load_loses_no_reply():
    with Server(MADE_MODELS / "identity") as server:
        terminated = threading.Event()
        clients = [Client(server, terminated) for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        while sum(len(c.answers) for c in clients) < 2000:
            time.sleep(0.01)
        terminated.set()
        server.terminate()
        began = time.monotonic()
        status = server.wait()
        took = time.monotonic() - began
        for client in clients:
            client.join(timeout=60)
            assert not client.is_alive()

    answers = [code for c in clients for code in c.answers.values()]
    report(f"SIGTERM with {CLIENTS * IN_FLIGHT} requests in flight: {answers.count('OK')} answered, "
           f"{answers.count('UNAVAILABLE')} refused, server gone after {took:.2f} s")
    assert status == 0
    assert not any(c.twice or c.wrong for c in clients)
    lost = [n for c in clients for n in c.sent_before if n not in c.answers]
    assert not lost
    failed = {c.answers[n] for c in clients for n in c.sent_before} - {"OK", "UNAVAILABLE"}
    assert not failed


def test_an_idle_server_leaves_at_once():
    with Server(MADE_MODELS / "identity") as server:
        with Rpc(server.msgpack) as idle:
            idle.call("health")  # the server has taken the connection
            server.terminate()
            assert server.wait() == 0
            assert idle.read() is None


SLOW = "sim:launch_us=3000000"  # a run takes three seconds, the warm-up of a load too


def takes_signals(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    blocked = int(status.split("SigBlk:")[1].split()[0], 16)
    return blocked & 1 << (signal.SIGTERM - 1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_server_that_still_loads_leaves_at_once(number):
    command = [TROUPE, "serve", MADE_MODELS / "identity", "--device", SLOW, "--http-port", "0", "--msgpack-port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not takes_signals(process.pid):
            assert process.poll() is None
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out == b"" and b"before it was ready" in err


def test_a_second_signal_ends_the_patience():
    with Server(MADE_MODELS / "identity", "--device", SLOW) as server, Rpc(server.msgpack) as rpc:
        number = rpc.send("infer", *infer_params("identity", {"x": np.ones((1, 16), np.float32)}))
        rpc.call("health")  # the request before it has been read
        server.terminate()
        while b"stopping" not in pathlib.Path(server.log.name).read_bytes():
            time.sleep(0.01)
        time.sleep(0.3)  # two signals in one moment are one
        server.process.send_signal(signal.SIGINT)
        _, answered, error, _ = rpc.read()
        assert (answered, error["code"]) == (number, "UNAVAILABLE")
        assert server.wait() == 0
