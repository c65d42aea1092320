"""Errors have the class of their exit code and the words of the command."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from conftest import hours, waves

import bochner
from bochner.process import call, settle


def test_wrong_keys_are_usage_errors():
    with pytest.raises(
        bochner.UsageError, match="optim.lrr: no such key. Did you mean optim.lr"
    ) as e:
        bochner.train("notes.toml", set={"optim.lrr": 1})
    assert isinstance(e.value, ValueError) and isinstance(e.value, bochner.Error)


def test_unusable_data_are_data_errors(folder):
    config = {"model": {"kind": "gp"}, "train": {"batch": 1}}
    config["data"] = {"kind": "table", "target": "load"}
    data = {**hours(), "load": np.array([1.0, np.inf] * 120)}
    with pytest.raises(bochner.DataError, match='here.*csv:3:.*"inf" is not a finite number'):
        bochner.train(config, data, run="runs/here")
    assert not (folder / "runs" / "here.data").exists()  # nothing is left of a failed training
    with pytest.raises(ValueError, match="season: only for data without a config"):
        bochner.train(config, data, season=24)
    with pytest.raises(ValueError, match="twice"):
        bochner.train({"a": [1.0]}, data={"a": [2.0]})


def test_files_that_cannot_be_written_are_storage_errors(folder):
    (folder / "runs").write_text("no folder")
    with pytest.raises(bochner.StorageError, match="runs") as e:
        bochner.train("notes.toml", set={"train.steps": 1})
    assert isinstance(e.value, OSError)


def test_a_loss_that_is_not_finite_is_an_error():
    with pytest.raises(bochner.Error, match="not finite") as e:
        bochner.train("notes.toml", set={"optim.lr": 1e30, "train.steps": 40, "optim.clip": 0})
    assert type(e.value) is bochner.Error and isinstance(e.value, RuntimeError)


def test_a_run_is_not_overwritten(quiet):
    run = bochner.train(hours(), horizon=3, run="runs/here")
    kept = run.config["data"]["files"]
    with pytest.raises(bochner.UsageError, match="already holds a run"):
        bochner.train({**hours(), "load": np.arange(240.0)}, horizon=3, run="runs/here")
    assert [str(p.resolve()) for p in run.path.parent.glob("here.data/*")] == kept
    with pytest.raises(bochner.UsageError, match="not a run"):
        bochner.open("runs/nothing")


def test_notes_and_bad_verdicts_are_warnings():
    with pytest.warns(bochner.Note, match="no better") as caught:
        run = bochner.train({"x": waves()[0], "y": np.arange(24) % 5 / 2})
    assert caught[0].filename == __file__ and not run.verdict["beats_naive"]
    assert str(run.verdict) in repr(run)
    with pytest.warns(bochner.Note, match='left out: "words"'):
        data = {**hours(), "words": np.array(["some words"] * 240, object)}
        bochner.train(data, horizon=3, run="runs/words", progress=False)
    with pytest.warns(bochner.Note, match="^slow$"), pytest.raises(bochner.DataError, match="bad"):
        settle(65, "bad file\nnote     slow\n")


def test_a_folder_is_not_a_program(folder, monkeypatch):
    monkeypatch.setenv("BOCHNER_PROGRAM", str(folder))
    with pytest.raises(bochner.UsageError, match="no such program"):
        bochner.program()


def test_arguments_that_no_command_takes_are_usage_errors():
    with pytest.raises(bochner.UsageError, match="give fewer at once"):
        call(["x" * 200_000])


def test_a_missing_program_is_said():
    code = "import bochner; bochner.program()"
    env = {**os.environ, "BOCHNER_PROGRAM": "/nowhere", "PATH": ""}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stderr.strip().endswith("UsageError: BOCHNER_PROGRAM=/nowhere: no such program")


def test_good_models_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = bochner.train(hours(), horizon=3)
    assert run.verdict["beats_naive"] and run.path.name == "frame"
