"""Trainings of many threads and processes, and of many calls in one process."""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest
from conftest import table

import bochner
from many_trainings import growth

SETTINGS = {"train.steps": 6}


def losses(name):
    """Trains a run and returns its losses; name is its directory."""
    run = bochner.train("notes.toml", run=f"runs/{name}", set=SETTINGS, threads=1, progress=False)
    return [line.get("loss") for line in run.metrics]


@pytest.mark.filterwarnings("ignore::bochner.Note")
@pytest.mark.parametrize("kind", ["threads", "fork", "spawn", "joblib"])
def test_trainings_may_run_at_once(kind):
    names = [f"{kind}-{i}" for i in range(3)]
    if kind == "threads":
        with ThreadPoolExecutor(3) as pool:
            answers = list(pool.map(losses, names))
    elif kind == "joblib":
        joblib = pytest.importorskip("joblib", reason="joblib is missing")
        answers = joblib.Parallel(n_jobs=2)(joblib.delayed(losses)(name) for name in names)
    else:
        with ProcessPoolExecutor(2, multiprocessing.get_context(kind)) as pool:
            answers = list(pool.map(losses, names))
    assert answers == [losses("alone")] * 3 and len(answers[0]) == 3


def test_one_run_has_one_trainer(quiet):
    def train(i):
        try:
            return bochner.train(table(), run="runs/here", progress=False)
        except bochner.Error as error:
            return error

    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(train, range(3)))
    assert sum(isinstance(answer, bochner.Run) for answer in answers) == 1
    assert os.path.exists(bochner.open("runs/here").config["data"]["files"][0])


def test_memory_and_files_do_not_grow(quiet):
    kibibytes, descriptors = growth(before=6, trainings=12)
    assert kibibytes < 2048 and descriptors == 0
