"""One worker process per engine and case: it loads once, then measures whenever it is told to.

A worker writes "ready LOAD_MS" and answers each line "SECONDS" with the fastest run of that time in
milliseconds. Engines that are not running leave the processors alone, so that pairs can interleave.
"""

import json
import subprocess
import sys
import time

import numpy as np


def make_inputs(dims, integral):
    random = np.random.default_rng(1)
    return {
        name: np.ones(shape, np.int64) if name in integral else random.random(shape, np.float32)
        for name, shape in dims.items()
    }


def onnxruntime_runner(model, dims, threads):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    integral = {i.name for i in session.get_inputs() if i.type == "tensor(int64)"}
    inputs = make_inputs(dims, integral)
    return lambda: session.run(None, inputs)


def openvino_runner(model, dims, threads):
    import openvino

    core = openvino.Core()
    read = core.read_model(model)
    read.reshape({name: shape for name, shape in dims.items()})
    settings = {
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": "f32",
        "PERFORMANCE_HINT": "LATENCY",
        "NUM_STREAMS": 1,
    }
    request = core.compile_model(read, "CPU", settings).create_infer_request()
    integral = {i.any_name for i in read.inputs if i.element_type == openvino.Type.i64}
    inputs = make_inputs(dims, integral)
    request.infer(inputs)  # binds the tensors; later runs reuse them
    return lambda: request.infer()


RUNNERS = {"onnxruntime": onnxruntime_runner, "openvino": openvino_runner}


def worker(engine, model, dims, threads):
    began = time.perf_counter()
    run = RUNNERS[engine](model, dims, threads)
    loaded = 1000 * (time.perf_counter() - began)
    run()
    print(f"ready {loaded}", flush=True)
    for line in sys.stdin:
        ends = time.perf_counter() + float(line)
        fastest = float("inf")
        while True:
            started = time.perf_counter()
            run()
            now = time.perf_counter()
            fastest = min(fastest, now - started)
            if now >= ends:
                break
        print(1000 * fastest, flush=True)


class Peer:
    """A worker process of a peer."""

    def __init__(self, engine, model, case, threads):
        self.process = subprocess.Popen(
            [sys.executable, __file__, engine, model, json.dumps(case.dims()), str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        answer = self.process.stdout.readline().split()
        if len(answer) != 2:
            raise RuntimeError(f"{engine} does not run {case.name}")
        self.load_ms = float(answer[1])

    def measure(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Troupe:
    """`troupe bench`, started for every measurement; its loading is not part of what it reports."""

    def __init__(self, program, model, case, threads):
        self.command = [program, "bench", model, "--json", "--threads", str(threads)]
        for name, dims in case.dims().items():
            self.command += ["--shape", f"{name}={','.join(map(str, dims))}"]
        self.load_ms = None

    def measure(self, seconds):
        done = subprocess.run(
            [*self.command, "--seconds", str(seconds)], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        answer = json.loads(done.stdout)
        self.load_ms = answer["load_ms"] + answer["plan_ms"]
        return answer["min_ms"]

    def close(self):
        pass


if __name__ == "__main__":
    worker(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), int(sys.argv[4]))
