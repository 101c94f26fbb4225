"""What the end-to-end tests share: a server on free ports, MessagePack-RPC spoken by hand, curl, and a
report of readings that are stated but not asserted."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import time

import msgpack
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TROUPE_BUILD", ROOT / "build"))
TROUPE = BUILD / "bin" / "troupe"
MADE_MODELS = BUILD / "models"
OCR_MODELS = ROOT / "models"
DATATYPES = {"FP32": np.float32, "INT64": np.int64, "INT32": np.int32, "UINT8": np.uint8}


def report(line):
    """States a reading: on the terminal, and in build/e2e-report.txt."""
    print(line)
    with open(BUILD / "e2e-report.txt", "a", encoding="utf-8") as out:
        out.write(line + "\n")


class Server:
    """`troupe serve` as a user starts it; stopped, by its process id alone, when the block ends."""

    def __init__(self, *arguments):
        command = [TROUPE, "serve", "--json", "--host", "127.0.0.1"]
        for port in ("http", "grpc", "metrics", "msgpack"):
            command += [f"--{port}-port", "0"]
        self.command = [str(part) for part in (*command, *arguments)]

    def __enter__(self):
        self.log = open(BUILD / f"e2e-server-{os.getpid()}.log", "w+", encoding="utf-8")
        began = time.monotonic()
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.process.stdout.readline()
        self.ready_after = time.monotonic() - began
        if not line:
            self.process.wait(timeout=10)
            self.log.seek(0)
            raise RuntimeError(f"no ready line; status {self.process.returncode}: {self.log.read()}")
        self.ready = json.loads(line)
        self.http = self.address("http")
        self.msgpack = self.address("msgpack")
        return self

    def address(self, protocol):
        host, port = self.ready[protocol].rsplit(":", 1)
        return host, int(port)

    def url(self, protocol):
        scheme = {"http": "http", "msgpack": "tcp"}[protocol]
        return "{}://{}:{}".format(scheme, *self.address(protocol))

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def wait(self, timeout=60):
        return self.process.wait(timeout=timeout)

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.terminate()
            try:
                self.wait()
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        self.log.close()

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class RpcError(Exception):
    def __init__(self, error):
        super().__init__(f"{error.get('code')}: {error.get('text')}")
        self.code = error.get("code")
        self.text = error.get("text")


class Rpc:
    """One connection. Frames are read as they come; nothing is hidden."""

    def __init__(self, address, timeout=60):
        self.socket = socket.create_connection(address, timeout=timeout)
        self.unpacker = msgpack.Unpacker(max_buffer_size=1 << 30)
        self.next_id = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send_bytes(self, data):
        self.socket.sendall(data)

    def send(self, method, *params):
        self.next_id += 1
        self.send_bytes(msgpack.packb([0, self.next_id, method, list(params)]))
        return self.next_id

    def read(self):
        """The next frame, or None when the server has closed."""
        while True:
            for frame in self.unpacker:
                return frame
            data = self.socket.recv(1 << 20)
            if not data:
                return None
            self.unpacker.feed(data)

    def call(self, method, *params):
        wanted = self.send(method, *params)
        frame = self.read()
        assert frame is not None, "the server closed the connection"
        kind, answered, error, result = frame
        assert (kind, answered) == (1, wanted)
        if error is not None:
            raise RpcError(error)
        return result

    def infer(self, model, inputs, **header):
        return outputs_of(self.call("infer", *infer_params(model, inputs, **header)))


def infer_params(model, inputs, **header):
    names = {np.dtype(v): k for k, v in DATATYPES.items()}
    described = [
        {"name": name, "datatype": names[array.dtype], "shape": list(array.shape),
         "byte_size": array.nbytes}
        for name, array in inputs.items()
    ]
    return [{"model_name": model, "inputs": described, **header}, *(a.tobytes() for a in inputs.values())]


def outputs_of(result):
    header, *payloads = result
    return {
        tensor["name"]: np.frombuffer(data, DATATYPES[tensor["datatype"]]).reshape(tensor["shape"])
        for tensor, data in zip(header["outputs"], payloads, strict=True)
    }


def curl(server, path, body=None, expect=200):
    """The answer's JSON; `body` may be bytes (sent as they are) or anything JSON can say."""
    command = ["curl", "-sS", "--max-time", "60", "-w", "\n%{http_code}", server.url("http") + path]
    data = b""
    if body is not None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        command += ["-H", "Content-Type: application/json", "--data-binary", "@-"]
    done = subprocess.run(command, input=data, capture_output=True, check=True)
    text, status = done.stdout.rsplit(b"\n", 1)
    assert int(status) == expect, f"{path}: status {int(status)}, {text[:300]!r}"
    return json.loads(text) if text.strip() else None


def still_serves(server):
    """A request of a fresh connection gets its right answer, by both protocols."""
    one = np.arange(4, dtype=np.float32)[None]
    with Rpc(server.msgpack) as rpc:
        np.testing.assert_array_equal(rpc.infer("add", {"a": one, "b": one})["sum"], one + one)
    tensor = {"datatype": "FP32", "shape": [1, 4], "data": [1, 2, 3, 4]}
    answer = curl(server, "/v2/models/add/infer",
                  {"inputs": [{"name": "a", **tensor}, {"name": "b", **tensor}]})
    assert answer["outputs"][0]["data"] == [2, 4, 6, 8]
    assert server.process.poll() is None
