"""Training from Python has the bits of the command, for each kind of model that takes a frame."""

import numpy as np
import pytest
from conftest import command, events, hours, table, waves

import bochner
from bochner import files

SERIES = {"kind": "series", "lookback": 24, "horizon": 6}
LABELLED = {"kind": "labelled_series", "validation": 0.25}
STEPS = {"steps": 4, "batch": 8, "log": {"every": 1}, "validate": {"every": 2}}
SMALL = {"blocks": 1, "width": 16, "positions": "sinusoidal", "mixer": "softmax"}
PATCHES = {**SMALL, "patch": {"length": 8, "stride": 4}}


def labelled():
    x, y = waves()
    return {"x": x, "y": y}


def texts():
    words = np.array(["fine, and good\n", 'a "bad" one'] * 10, object)
    return {"label": np.array(["yes", "no"] * 10, object), "text": words}


MODELS = {
    "forecaster": ({"model": {"kind": "forecaster"}, "data": SERIES, "train": STEPS}, hours),
    "gp": (
        {"model": {"kind": "gp"}, "data": {"kind": "table"}, "train": {**STEPS, "batch": 1}},
        table,
    ),
    "events": (
        {
            "model": {"kind": "events", **SMALL, "positions": "none"},
            "data": {"kind": "event_files", "length": 16, "type_column": "type"},
            "train": STEPS,
        },
        events,
    ),
    "classifier": (
        {"model": {"kind": "classifier", **PATCHES}, "data": LABELLED, "train": STEPS},
        labelled,
    ),
    "regressor": (
        {
            "model": {"kind": "regressor", **PATCHES},
            "train": STEPS,
            "data": {**LABELLED, "labels": "numbers"},
        },
        labelled,
    ),
    "filter_bank": (
        {
            "model": {"kind": "filter_bank"},
            "data": {**LABELLED, "validation": 0},
            "train": {"steps": 0},
        },
        labelled,
    ),
    "bag_of_words": (
        {
            "model": {"kind": "bag_of_words"},
            "train": {"steps": 0},
            "data": {
                "kind": "texts",
                "text_column": "text",
                "label_column": "label",
                "validation": 0,
            },
        },
        texts,
    ),
}


def assert_same_bits(one, other):
    for name in ("metrics.jsonl", "verdict.json"):
        a, b = one.path / name, other.path / name
        assert a.exists() == b.exists() and (not a.exists() or a.read_bytes() == b.read_bytes())
    assert command("export", one.path, "-o", "-") == command("export", other.path, "-o", "-")


@pytest.mark.parametrize("kind", MODELS)
def test_a_config_with_a_frame(kind, quiet):
    config, make = MODELS[kind]
    run = bochner.train(config, make(), run="runs/here")
    (file,) = run.config["data"]["files"]
    with open("model.toml", "w") as toml:
        toml.write(files.toml_text(config))
    written = files.DIALECT if file.endswith(".csv") else {}
    sets = files.set_options({"data.files": [file], **written})
    command("train", "model.toml", "--run", "runs/there", *sets)
    assert_same_bits(run, bochner.open("runs/there"))
    assert bool(run.metrics) == (config["train"]["steps"] > 0)


@pytest.mark.parametrize("make", [hours, table])
def test_a_frame_for_which_the_command_chooses(make, quiet):
    run = bochner.train(make(), run="runs/here")
    (file,) = run.config["data"]["files"]
    command("train", file, "--run", "runs/there", *files.set_options(files.DIALECT))
    assert_same_bits(run, bochner.open("runs/there"))


def test_a_config_with_files_and_keys(quiet):
    run = bochner.train("notes.toml", set={"train.steps": 12, "optim.lr": 2e-3})
    words = ("--set", "train.steps=12", "--set", "optim.lr=0.002")
    command("train", "notes.toml", *words, "--run", "runs/there")
    assert run.path.name == "notes" and run.config["optim"]["lr"] == 2e-3
    assert_same_bits(run, bochner.open("runs/there"))


def test_a_run_that_was_stopped_and_resumed(quiet):
    run = bochner.train("notes.toml", until=7, set={"train.steps": 12}, run="runs/here")
    assert run.stopped
    run = run.resume(threads=1)
    assert not run.stopped and run.metrics[-1]["step"] == 12
    command("train", "notes.toml", "--set", "train.steps=12", "--run", "runs/there")
    assert_same_bits(run, bochner.open("runs/there"))


def test_predictions_equal_the_command(quiet):
    run = bochner.train(hours(), horizon=6, run="runs/here")
    (file,) = run.config["data"]["files"]
    printed = files.read_csv(command("predict", run.path, file, "--steps", "9").decode())
    for name, values in run.predict(hours(), steps=9).items():
        np.testing.assert_array_equal(values, printed[name])
