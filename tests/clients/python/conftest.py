"""Starts the echo server that the build made; its path comes in TROUPE_ECHO_SERVER."""

import os
import subprocess

import pytest


@pytest.fixture(scope="module")
def server():
    process = subprocess.Popen([os.environ["TROUPE_ECHO_SERVER"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    tcp, _ = process.stdout.readline().split()
    yield f"tcp://127.0.0.1:{int(tcp)}"
    process.stdin.close()
    process.stdout.close()
    assert process.wait(10) == 0
