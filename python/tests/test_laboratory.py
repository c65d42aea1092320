"""Arrays of runs and kernels: weights, features, spectra, batches, samples."""

import io

import numpy as np
import pytest
from conftest import command, hours

import bochner
from bochner.run import option_words

SMALL = {"blocks": 1, "width": 16, "patch": {"length": 8}}
WINDOWS = {"kind": "series", "lookback": 16}
FEW = {"steps": 2, "batch": 8}


@pytest.fixture
def run(quiet):
    return bochner.train("notes.toml", set={"train.steps": 6}, run="runs/here")


def test_weights_are_those_of_the_exported_file(run):
    weights = run.weights()
    assert weights["embedding.weight"].shape == (256, 16)
    assert weights["embedding.weight"].dtype == np.float32
    path = run.export("half.safetensors", dtype="F16")
    assert path.stat().st_size < sum(w.nbytes for w in weights.values())
    assert list(run.export("module").glob("*.py"))
    with pytest.raises(bochner.UsageError, match="--dtype requires --output"):
        run.export("half", dtype="F16")


def test_curves_and_batches(run):
    curves = run.curves()
    assert {curve["of"] for curve in curves} >= {"start"} and curves[0]["x"].dtype == float
    batch = run.batch(step=2, gradients=True)
    assert any(name.endswith("embedding.weight") for name in batch)
    assert len(batch) > 3


def test_samples_and_log_probabilities(run):
    one = run.sample("a note", bytes=8, seed=3)
    assert one == run.sample(["a note"], bytes=8, seed=3) and len(one) == 1
    assert len(run.sample(["a", "b"], count=2, bytes=4)) == 4
    texts = ["a note, with a comma\n", "x"]
    answer = run.predict(texts)
    assert answer["text"].tolist() == texts and answer["bytes"].tolist() == [20, 0]
    lines = ["x", "a note, \N{GREEK SMALL LETTER OMEGA}", "x"]
    ends = run.predict([*lines, "\r"])["log_probability"]
    np.testing.assert_array_equal(run.predict(lines)["log_probability"], ends[:3])
    assert set(run.predict(lines, tokens=True)["text"]) == {lines[1]}
    with pytest.raises(bochner.UsageError, match="not a list"):
        run.evaluate(texts)
    assert set(run.evaluate()) >= {"step", "valid"}


def test_references_are_those_of_the_command(folder, run):
    for name in ("a@b", "a@20"):
        (folder / name).mkdir()
        (folder / name / "config.toml").write_text("")
    assert [bochner.open(name).at for name in ("a@b", "a@20", "a@b@20")] == ["", "", "20"]
    assert bochner.open("a@b@20").path.name == "a@b"
    at = bochner.open("runs/here@6")
    with pytest.raises(bochner.UsageError, match="@6: not a run"):
        at.resume()
    with pytest.raises(bochner.UsageError, match="@6: neither a run"):
        bochner.compare(at)


def test_files_of_a_run_are_utf_8(folder, monkeypatch):
    monkeypatch.setattr(io, "text_encoding", lambda encoding, *_: encoding or "ascii")
    path, omega = folder / "run", b"\xcf\x89"
    path.mkdir()
    (path / "config.toml").write_bytes(b'[data]\ntarget = "' + omega + b'"\n')
    (path / "metrics.jsonl").write_bytes(b'{"' + omega + b'": 1}\n')
    (path / "verdict.json").write_bytes(b'{"words": "' + omega + b'"}')
    (path / "console.log").write_bytes(omega + b" \xff")
    run = bochner.open(path)
    assert run.config["data"]["target"] == str(run.verdict) == "\N{GREEK SMALL LETTER OMEGA}"
    assert run.metrics == [{str(run.verdict): 1}] and run.log == f"{run.verdict} \ufffd"
    assert bochner.Page(run.verdict).save(folder / "page").read_bytes() == omega


def test_features(quiet):
    model = {"kind": "vae", "vae": {"latent": 2}, **SMALL}
    vae = bochner.train({"model": model, "data": WINDOWS, "train": FEW}, hours(), run="runs/vae")
    assert vae.features(hours()).shape == (240 // 16, 2)
    assert len(vae.sample(count=3)) == 3 * 16
    model = {"kind": "contrastive", **SMALL}
    run = bochner.train({"model": model, "data": WINDOWS, "train": FEW}, hours(), run="runs/con")
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is missing")
    columns = {k: v.astype("M8[us]") if v.dtype.kind == "M" else v for k, v in hours().items()}
    assert run.features(pyarrow.table(columns)).shape[1] > 1
    with pytest.raises(bochner.UsageError, match="a lm has no features"):
        bochner.train("notes.toml", set={"train.steps": 1}).features("notes.txt")


def test_kernels(run):
    rows = np.random.default_rng(1).normal(size=(64, 4))
    study = bochner.kernel(features="positive", queries=rows, keys=rows, m=[8, 32], seeds=2)[0]
    assert [line["m"] for line in study["standard"]] == [8, 32]
    lags = np.arange(30.0)
    target = np.stack([lags, np.exp(-lags / 5)], axis=1)
    fit = bochner.kernel(study="fit", target=target, steps=20, seeds=1)
    assert fit and isinstance(fit[0], dict)
    assert bochner.kernel(data=run, m=[8], seeds=2)
    with pytest.raises(bochner.UsageError, match="--feature"):
        bochner.kernel(feature="positive")


def test_several_goals_are_several_options():
    words = ["--goal", "valid.min", "--goal", "accuracy.max", "--m", "8,32"]
    assert option_words({"goal": ["valid.min", "accuracy.max"], "m": [8, 32]}) == words


def test_sweeps_and_comparisons(run, quiet):
    sweep = bochner.sweep(
        "notes.toml", {"train.seed": [1, 2]}, set={"train.steps": 4}, runs="runs/seeds"
    )
    assert len(sweep.trials) == 2 and not sweep.stopped and sweep.best in sweep.runs
    assert sweep.runs[0].metrics and len(bochner.compare(sweep, run)) == 2
    words = ("--vary", "train.seed=1,2", "--set", "train.steps=4", "--runs", "runs/there")
    command("sweep", "notes.toml", *words)
    for here, there in zip(sweep.runs, bochner.Sweep("runs/there").runs):
        assert here.metrics == there.metrics
    with pytest.raises(bochner.UsageError, match="train.sed"):
        bochner.sweep("notes.toml", {"train.sed": [1]})
