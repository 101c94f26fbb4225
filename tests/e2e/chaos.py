"""Load of every kind on a server whose actors are killed one after the other.

    chaos.py [--seconds 10] [--kill-every 0.5] [--seed 1]

What must hold is checked: every request is answered exactly once, answers are right, whoever is asked
afterwards answers, the server ends with status 0. What is measured is printed: how long after each
death the rate of answers was back, and how memory grew.
"""

import argparse
import collections
import http.client
import json
import pathlib
import random
import socket
import statistics
import subprocess
import sys
import threading
import time

import msgpack
import numpy as np

from support import BUILD, MADE_MODELS, Rpc, infer_params, outputs_of

MODELS = ("identity", "add", "tiny_conv")
# What a death may answer; `internal` for those who were in the queue of the dead.
AT_A_DEATH = {"OK", "INTERNAL", "UNAVAILABLE"}
WINDOW = 0.25  # seconds over which a rate is taken


def inputs_for(model, rows, dice):
    value = dice.randrange(1000)
    if model == "identity":
        return {"x": np.full((rows, 16), value, np.float32)}
    if model == "add":
        return {name: np.full((rows, 4), value, np.float32) for name in "ab"}
    return {"x": np.full((rows, 3, 8, 8), value, np.float32)}


def right(model, inputs, outputs):
    if model == "identity":
        return np.array_equal(outputs["y"], inputs["x"])
    if model == "add":
        return np.array_equal(outputs["sum"], inputs["a"] + inputs["b"])
    return all(len(value) == len(inputs["x"]) for value in outputs.values())


class Load(threading.Thread):
    """One client. `codes` says what became of its requests, `served` when the good ones were."""

    def __init__(self, run, number):
        super().__init__(daemon=True)
        self.run_of, self.dice = run, random.Random(run.seed * 1000 + number)
        self.codes = collections.Counter()
        self.served = []
        self.faults = []

    def took(self, code):
        self.codes[code] += 1
        if code == "OK":
            self.served.append(time.monotonic())

    def run(self):
        try:
            self.work()
        except Exception as problem:  # a thread's end must be seen by whoever joins it
            self.faults.append(f"{type(self).__name__}: {problem!r}")


class Pipelined(Load):
    """Keeps requests in flight on one connection; every id is answered once."""

    in_flight = 8
    allowed = AT_A_DEATH

    def header(self):
        return {}

    def after_send(self, rpc, number):
        pass

    def work(self):
        asked, closed = {}, set()
        with Rpc(self.run_of.msgpack) as rpc:
            def send():
                model = self.dice.choice(MODELS)
                inputs = inputs_for(model, self.dice.choice((1, 1, 2, 5)), self.dice)
                number = rpc.send("infer", *infer_params(model, inputs, **self.header()))
                asked[number] = model, inputs
                self.after_send(rpc, number)

            for _ in range(self.in_flight):
                send()
            while asked:
                frame = rpc.read()
                if frame is None:
                    raise ConnectionError(f"closed with {len(asked)} requests in flight")
                if frame[0] != 1:
                    continue
                _, number, error, result = frame
                if number not in asked:
                    if number in closed:
                        self.faults.append(f"request {number} was answered twice")
                    continue
                model, inputs = asked.pop(number)
                closed.add(number)
                code = error["code"] if error else "OK"
                if code not in self.allowed:
                    self.faults.append(f"{model}: {error}")
                elif not error and not right(model, inputs, outputs_of(result)):
                    self.faults.append(f"{model}: a wrong answer")
                self.took(code)
                if not self.run_of.over.is_set():
                    send()


class Cancelling(Pipelined):
    allowed = AT_A_DEATH | {"CANCELLED"}

    def after_send(self, rpc, number):
        if self.dice.random() < 0.5:
            rpc.send_bytes(msgpack.packb([2, "cancel", [{"id": number}]]))


class Hurried(Pipelined):
    allowed = AT_A_DEATH | {"DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"}

    def header(self):
        return {"parameters": {"timeout": self.dice.choice((1, 200, 2000, 20000))}}


class Leaving(Load):
    """Connects, asks, and is gone."""

    def work(self):
        while not self.run_of.over.is_set():
            with Rpc(self.run_of.msgpack) as rpc:
                for _ in range(self.dice.randrange(1, 20)):
                    model = self.dice.choice(MODELS)
                    rpc.send("infer", *infer_params(model, inputs_for(model, 2, self.dice)))
                if self.dice.random() < 0.5:
                    rpc.read()
            self.codes["left"] += 1
            time.sleep(0.01)


class Rest(Load):
    """One request after the other over HTTP, now and then on a connection that it drops."""

    def work(self):
        connection = http.client.HTTPConnection(*self.run_of.http, timeout=60)
        while not self.run_of.over.is_set():
            value = self.dice.randrange(1000)
            tensor = {"datatype": "FP32", "shape": [1, 4], "data": [value] * 4}
            body = json.dumps({"inputs": [{"name": "a", **tensor}, {"name": "b", **tensor}]})
            connection.request("POST", "/v2/models/add/infer", body, {"Content-Type": "application/json"})
            if self.dice.random() < 0.01:
                connection.close()
                self.codes["left"] += 1
                continue
            with connection.getresponse() as response:
                answer = json.loads(response.read())
            if response.status == 200:
                if answer["outputs"][0]["data"] != [2 * value] * 4:
                    self.faults.append("REST: a wrong answer")
                self.took("OK")
            elif response.status in (500, 503):
                self.took(str(response.status))
            else:
                self.faults.append(f"REST: status {response.status}: {answer}")
        connection.close()


class Run:
    def __init__(self, seconds, kill_every, seed, clients=2):
        self.seconds, self.kill_every, self.seed, self.clients = seconds, kill_every, seed, clients
        self.over = threading.Event()
        self.deaths = []  # (when, who)
        self.memory = []  # (when, KiB)

    def __enter__(self):
        command = [BUILD / "bin" / "chaos_server", *(MADE_MODELS / m for m in MODELS), "--seed", self.seed]
        self.log = open(BUILD / "chaos-server.log", "w", encoding="utf-8")
        self.server = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=self.log, text=True)
        ready = json.loads(self.server.stdout.readline())
        for protocol in ("http", "msgpack"):
            host, port = ready[protocol].rsplit(":", 1)
            setattr(self, protocol, (host, int(port)))
        return self

    def __exit__(self, *_):
        if self.server.poll() is None:
            self.server.kill()
            self.server.wait()
        self.log.close()

    def ask(self, word):
        self.server.stdin.write(word + "\n")
        self.server.stdin.flush()
        return json.loads(self.server.stdout.readline())

    def resident(self):
        status = pathlib.Path(f"/proc/{self.server.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])

    def go(self):
        kinds = [Pipelined, Cancelling, Hurried, Leaving, Rest] * self.clients
        load = [kind(self, number) for number, kind in enumerate(kinds)]
        for one in load:
            one.start()
        warm = min(5.0, self.seconds / 4)
        time.sleep(warm)
        end = time.monotonic() + self.seconds - warm
        while (now := time.monotonic()) < end:
            if self.seconds - warm > 4 * self.kill_every and end - now < 2 * self.kill_every:
                break  # the last deaths have somebody to be measured by
            who = self.ask("kill")["killed"]
            self.deaths.append((time.monotonic(), who))
            self.memory.append((now, self.resident()))
            time.sleep(self.kill_every)
        time.sleep(max(0.0, end - time.monotonic()))
        self.over.set()
        for one in load:
            one.join(timeout=60)
            if one.is_alive():
                one.faults.append(f"{type(one).__name__}: waits for ever")
        self.load = load
        self.check_service()
        self.stop()

    def check_service(self):
        dice = random.Random(self.seed)
        with Rpc(self.msgpack) as rpc:
            for model in MODELS:
                inputs = inputs_for(model, 2, dice)
                assert right(model, inputs, rpc.infer(model, inputs)), model

    def stop(self):
        began = time.monotonic()
        self.server.stdin.close()
        said = self.server.stdout.read()
        self.status = self.server.wait(timeout=60)
        self.stop_took = time.monotonic() - began
        assert json.loads(said) == {"stopped": True}, said

    # -- what came of it -----------------------------------------------------------------------

    @property
    def faults(self):
        return [fault for one in self.load for fault in one.faults]

    def recoveries(self):
        """For each death the seconds until the rate of good answers was half of what it is as a rule, or was before."""
        served = np.sort(np.concatenate([one.served for one in self.load]))
        starts = np.arange(served[0], served[-1] - WINDOW, WINDOW)
        usual = statistics.median(np.searchsorted(served, starts + WINDOW) - np.searchsorted(served, starts))
        times = []
        for when, _ in self.deaths:
            before = (np.searchsorted(served, when) - np.searchsorted(served, when - 1)) * WINDOW
            starts = when + np.arange(0, 5, 0.02)
            rate = np.searchsorted(served, starts + WINDOW) - np.searchsorted(served, starts)
            back = np.flatnonzero(rate >= min(usual, before) / 2)
            times.append(float(starts[back[0]] - when) if len(back) else float("inf"))
        return usual / WINDOW, times

    def report(self):
        codes = sum((one.codes for one in self.load), collections.Counter())
        rate, times = self.recoveries()
        settled = self.memory[len(self.memory) // 2][1]
        who = collections.Counter(name for _, name in self.deaths)
        yield f"{len(self.deaths)} deaths in {self.seconds} s: " + ", ".join(f"{n} {k}" for k, n in who.most_common())
        yield "answers: " + ", ".join(f"{n} {k}" for k, n in codes.most_common())
        yield (f"good answers {rate:.0f}/s (median); half of it again after {statistics.median(times):.2f} s "
               f"(median), {max(times):.2f} s at most")
        yield (f"memory {settled / 1024:.1f} MiB at half time, {self.memory[-1][1] / 1024:.1f} MiB at the "
               f"end; stopped within {self.stop_took:.2f} s, status {self.status}")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--seconds", type=float, default=10)
    options.add_argument("--kill-every", type=float, default=0.5)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    with Run(given.seconds, given.kill_every, given.seed) as run:
        run.go()
        print("\n".join(run.report()))
        for fault in run.faults[:20]:
            print("FAULT", fault)
        slow = [t for t in run.recoveries()[1] if t > 1]
        if slow:
            print(f"FAULT {len(slow)} deaths cost more than a second")
        return 1 if run.faults or slow or run.status != 0 else 0


if __name__ == "__main__":
    sys.exit(main())
