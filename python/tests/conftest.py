"""Fixtures of all tests. BOCHNER_PROGRAM names the program; without it, that of the package."""

import subprocess
import warnings

import numpy as np
import pytest

import bochner

LM = """
[model]
kind = "lm"
blocks = 1
width = 16
positions = "none"
mixer = { kind = "linear", heads = 2, features = "positive", m = 8 }
[data]
kind = "bytes"
files = ["notes.txt"]
length = 32
[train]
batch = 4
steps = 20000
log = { every = "5" }
validate = { every = "50", batches = 2 }
checkpoint = { every = "50" }
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, with a text and a config that trains for minutes."""
    monkeypatch.chdir(tmp_path)
    text = "\n".join(f"a note with the number {i * i % 97}" for i in range(200))
    (tmp_path / "notes.txt").write_text(text)
    (tmp_path / "notes.toml").write_text(LM)
    return tmp_path


@pytest.fixture
def quiet():
    """Ignores the notes of small models."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bochner.Note)
        yield


def command(*words, code=0):
    """Runs the command as a shell would and returns its standard output."""
    done = subprocess.run([bochner.program(), *map(str, words)], capture_output=True)
    assert done.returncode == code, done.stderr.decode()
    return done.stdout


def hours(count=240):
    """A series with a period of 24 rows and times."""
    times = np.datetime64("2024-01-01T00", "h") + np.arange(count)
    noise = np.random.default_rng(1).normal(size=count)
    return {"when": times, "load": 50 + 20 * np.sin(np.arange(count) * np.pi / 12) + noise}


def waves(count=24, rows=40):
    """Series of two frequencies (series, rows), and their class."""
    noise = np.random.default_rng(1).normal(size=(count, rows)) / 10
    slow_or_fast = np.arange(count) % 2
    phase = np.arange(rows)[None, :] * (0.4 + 0.1 * slow_or_fast)[:, None]
    return np.sin(phase + np.arange(count)[:, None]) + noise, slow_or_fast


def table(count=60):
    """Rows of two inputs and a number."""
    x = np.random.default_rng(1).normal(size=(count, 2))
    return {"a": x[:, 0], "b": x[:, 1], "y": 2 * x[:, 0] + np.sin(x[:, 1])}


def events(count=200):
    """Times and types of events."""
    i = np.arange(count)
    return {"time": 60.0 * i + i * i % 37, "type": np.array(["buy", "look", "ask"], object)[i % 3]}
