"""Stops of trainings: ^C, the end of Python, limits, and exceptions of a callback."""

import fcntl
import os
import signal
import subprocess
import sys
import time

import pytest
from conftest import command

import bochner

SCRIPT = """
import sys, threading, bochner
def tell(step, total, metrics):
    print(step, flush=True)
def train():
    try:
        print(bochner.train("notes.toml", run="runs/here", progress=tell))
    except KeyboardInterrupt as stopped:
        print("interrupted:", stopped, flush=True)
thread = threading.Thread(target=train)
thread.start() if sys.argv[1] == "thread" else train()
"""


def start(where):
    """Starts a process of Python that trains, and waits for its first steps."""
    child = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, where],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert child.stdout.readline() == "5\n"
    return child


def assert_continues_to_the_bit():
    """Resumes the stopped run in a shell and compares it with one that was never stopped."""
    last = int(command("inspect", "runs/here").split(b"step")[2].split()[0])
    until = ["--until", last + 6, "--progress", "none"]
    command("resume", "runs/here", *until, code=75)
    command("train", "notes.toml", "--run", "runs/there", *until, code=75)
    here, there = bochner.open("runs/here"), bochner.open("runs/there")
    assert (here.path / "metrics.jsonl").read_bytes() == (there.path / "metrics.jsonl").read_bytes()
    weights = there.weights()
    assert all((here.weights()[name] == weights[name]).all() for name in list(weights)[:3])


def stopped_by(signal_name):
    """Waits until the run has stopped, and checks by what."""
    run, end = bochner.open("runs/here"), time.monotonic() + 20
    while "stopped at step" not in run.log and time.monotonic() < end:
        time.sleep(0.02)
    assert f"by {signal_name}" in run.log
    with open("runs/here/run.lock", "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # waits until the process ends


@pytest.mark.parametrize("where", ["main", "thread"])
def test_ctrl_c_saves_and_interrupts(where):
    child = start(where)
    (os.kill if where == "main" else os.killpg)(child.pid, signal.SIGINT)
    output = child.stdout.read()
    child.wait(20)
    assert where == "thread" or "interrupted: stopped at step" in output
    stopped_by("SIGINT")
    assert_continues_to_the_bit()


def test_the_end_of_python_saves():
    child = start("main")
    child.kill()
    stopped_by("SIGTERM")
    assert_continues_to_the_bit()


def test_an_exception_of_the_callback_saves():
    class Enough(Exception):
        pass

    def tell(step, total, metrics):
        assert total == 20000 and metrics["step"] == step
        if step >= 10:
            raise Enough

    with pytest.raises(Enough):
        bochner.train("notes.toml", run="runs/here", progress=tell)
    stopped_by("SIGTERM")
    assert_continues_to_the_bit()


def test_a_limit_returns_a_stopped_run():
    run = bochner.train("notes.toml", set={"train.time": "0.3s"}, progress=False)
    assert run.stopped and "stopped" in repr(run)
    assert bochner.open("runs/notes").stopped is False


def test_stop_may_be_called_while_another_process_is_forked():
    def tell(step, total, metrics):
        if step == 5:
            pid = os.fork()
            if pid == 0:  # which holds no end of the pipe
                time.sleep(30)
                os._exit(0)
            children.append(pid)
        elif step == 10:
            bochner.stop()

    children = []
    run = bochner.train("notes.toml", progress=tell)
    assert run.stopped and run.metrics[-1]["step"] < 20000
    os.kill(children[0], signal.SIGKILL)
    os.waitpid(children[0], 0)
