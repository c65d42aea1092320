"""A run: what it learned, what it predicts, and how it continues."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import files, frames
from .errors import UsageError
from .notebook import Page, run_html
from .process import call, call_json, warn

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib


class Verdict(dict):
    """How good a model is beside naive answers to the same examples.

    Keys: ``measure``, ``data``, ``score``, ``naive`` (name to score), ``beats_naive``, ``words``.
    """

    def __str__(self) -> str:
        return self["words"]


def open_run(path: str | os.PathLike) -> Run:
    """Opens a run: ``runs/NAME``, ``runs/NAME@best`` or ``runs/NAME@STEP``.

    A path that exists is a directory, whatever its name. Raises UsageError if there is no run.
    """
    name = os.fspath(path)
    match = None if os.path.exists(name) else re.fullmatch(r"(.+)@(best|\d+)", name)
    run = Run(match[1], match[2]) if match else Run(name)
    if not (run.path / "config.toml").exists():
        raise UsageError(f"{run.path}: not a run (config.toml is missing); give its directory")
    return run


class Run:
    """A directory of a run. Two runs are equal if their paths are.

    ``path`` is the directory, ``at`` the checkpoint: "best", a step, or "" for the newest one.
    ``stopped`` is set by ``train`` and ``resume`` if a signal, a limit of time or ``until`` stopped
    them before the end; ``resume()`` continues.
    """

    def __init__(self, path: str | os.PathLike, at: str = ""):
        self.path, self.at, self.stopped = Path(path), at, False

    @property
    def reference(self) -> str:
        """The path, with ``@best`` or ``@STEP`` if the run was opened so."""
        return f"{self.path}@{self.at}" if self.at else str(self.path)

    def __repr__(self) -> str:
        state = " (stopped)" if self.stopped else ""
        return f"Run({self.reference!r}){state}" + (f": {self.verdict}" if self.verdict else "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Run) and self.reference == other.reference

    def __hash__(self) -> int:
        return hash(self.reference)

    def _repr_html_(self) -> str:
        return run_html(self)

    def _text(self, name: str) -> str:
        """Returns a file of the run; "" if it is missing."""
        path = self.path / name
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """The lines of ``metrics.jsonl``: a dict for each report of training or validation."""
        return [json.loads(line) for line in self._text("metrics.jsonl").splitlines()]

    @property
    def config(self) -> dict[str, Any]:
        """All keys of the config, nested: ``run.config["model"]["kind"]``."""
        return tomllib.loads((self.path / "config.toml").read_text(encoding="utf-8"))

    @property
    def verdict(self) -> Verdict | None:
        """How good the model is; None before the end of training, or if there is no measure."""
        text = self._text("verdict.json")
        return Verdict(json.loads(text)) if text else None

    @property
    def log(self) -> str:
        """What training has printed."""
        return self._text("console.log")

    def weights(self, live: bool = False) -> dict[str, np.ndarray]:
        """Returns the weights and buffers by name, as float32.

        ``live`` takes those of the step, not their running mean (``optim.ema``).
        """
        words = ["export", self.reference, "-o", "-", "--dtype", "F32"]
        return files.read_safetensors(call([*words, *option_words({"live_weights": live})]))

    def predict(self, data: Any, **options: Any) -> Any:
        """Predicts from new data: rows that follow, classes, numbers, events, log probabilities.

        ``data`` is a file, a frame, a dict of arrays, an array, or a list of texts. ``options`` are
        those of ``bochner predict``: ``steps`` (rows to forecast), ``coverage`` (probability of
        intervals), ``anomaly``, ``impute``, ``tokens``, ``latent``, ``context``, ``draws``,
        ``live_weights``, ``set`` (config keys) and ``threads``.

        Returns a frame of the library of ``data``, or a dict of arrays for files and arrays;
        ``.parquet``, ``.feather`` and ``.arrow`` files give an Arrow table. Raises DataError for
        data that do not fit the run.
        """
        return frames.like(*self._columns(data, **options))

    def _columns(self, data: Any, **options: Any) -> tuple[dict[str, np.ndarray], Any]:
        """Returns the predicted columns, and what the data were read as."""
        with tempfile.TemporaryDirectory(prefix="bochner-") as folder:
            inputs, source = self._inputs(data, Path(folder))
            output = call(["predict", self.reference, *inputs, *option_words(options)]).decode()
        texts = source.texts() if isinstance(source, frames.Frame) else ()
        columns = files.read_csv(output, texts)
        if isinstance(data, (list, tuple)):  # named by numbers from 1
            numbers = [int(os.path.basename(name)) for name in columns["text"]]
            columns["text"] = frames.objects(data[number - 1] for number in numbers)
        return columns, source

    def _inputs(self, data: Any, folder: Path) -> tuple[list[str], Any]:
        """Returns files of data with options that say how to read them, and what was saved."""
        if isinstance(data, (list, tuple)) and data and all(isinstance(x, str) for x in data):
            texts = frames.Frame({"text": frames.objects(data)}, "numpy")
            return self._text_inputs(data, folder), texts
        source = frames.frame_of(data)
        return ([os.fspath(data)] if source is None else files.saved(source, folder)), source

    def _text_inputs(self, texts: Sequence[str], folder: Path) -> list[str]:
        data = self.config["data"]
        if data.get("label_column"):
            column = {data["text_column"]: frames.objects(texts)}
            return files.saved(frames.Frame(column, "numpy"), folder)
        if not any("\n" in text or "\r" in text for text in texts):
            path = folder / "texts"
            path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
            return ["--lines", str(path)]
        paths = [folder / str(number) for number in range(1, len(texts) + 1)]
        for path, text in zip(paths, texts):
            path.write_text(text, encoding="utf-8", newline="")
        return [str(path) for path in paths]

    def evaluate(self, data: Any = None, **options: Any) -> Any:
        """Evaluates the run on held-out data, or on ``data`` beside naive answers.

        ``options`` are those of ``bochner eval``: ``split`` ("validation", "test" or "train"),
        ``backtest``, ``stride``, ``season``, ``coverage``, ``calibration``, ``draws``, ``set``.
        Returns a dict of measures; a list of dicts if there are several lines. Raises UsageError
        for a list of texts.
        """
        if isinstance(data, (list, tuple)):
            raise UsageError("evaluate takes one file or frame, not a list; save texts in a file")
        with tempfile.TemporaryDirectory(prefix="bochner-") as folder:
            inputs = [] if data is None else self._inputs(data, Path(folder))[0]
            lines = call_json(["eval", self.reference, *inputs, *option_words(options)])
        return lines[0] if len(lines) == 1 else lines

    def sample(self, prompt: str | Sequence[str] = "\n", **options: Any) -> Any:
        """Continues a prompt, or draws from the prior of a variational autoencoder.

        ``options`` are those of ``bochner sample``: ``count``, ``bytes``, ``temperature``,
        ``top_k``, ``top_p``, ``seed``. Returns a list of texts, in the order of the prompts; for an
        autoencoder an array with a sample in each row.
        """
        if self.config["model"]["kind"] == "vae":
            return self._array(["sample", self.reference, *option_words(options)])
        prompts = [prompt] if isinstance(prompt, str) else list(prompt)
        words = ["sample", self.reference, *option_words(options)]
        return [line["text"] for text in prompts for line in call_json([*words, "--prompt", text])]

    def _array(self, words: Sequence[str]) -> np.ndarray:
        with tempfile.TemporaryDirectory(prefix="bochner-") as folder:
            path = Path(folder) / "output.npy"
            call([*words, "-o", path])
            return np.load(path)

    def features(self, data: Any, **options: Any) -> np.ndarray:
        """Returns what the model makes of each example: an array of one row per example.

        These are the embeddings of a ``contrastive`` model and the latent means of a ``vae``; other
        models raise UsageError.
        """
        kind = self.config["model"]["kind"]
        if kind not in ("contrastive", "vae"):
            raise UsageError(f"{self.path}: a {kind} has no features; vae and contrastive have")
        columns, _ = self._columns(data, **options, latent=kind == "vae")
        names = [name for name in columns if re.fullmatch(r"(mean_|e)\d+", name)]
        if not names:
            raise UsageError(f"{self.path}: all latent variables are discrete; see predict")
        return np.stack([columns[name] for name in names], axis=1)

    def curves(self) -> list[dict[str, Any]]:
        """Returns initial and learned spectra, kernels and time kernels of each layer and head.

        Each is a dict with ``part``, ``curve``, ``head``, ``of`` ("start" or "now"), and arrays
        ``x`` and ``y``.
        """
        return [
            {k: np.array(v) if isinstance(v, list) else v for k, v in line.items()}
            for line in call_json(["plot", self.reference])
        ]

    def batch(self, step: int | None = None, gradients: bool = False) -> dict[str, np.ndarray]:
        """Returns the examples, loss and outputs of a training step as arrays, with gradients."""
        words = ["data", "batch", self.reference]
        words += option_words({"step": step, "gradients": gradients})
        with tempfile.TemporaryDirectory(prefix="bochner-") as folder:
            path = Path(folder) / "batch.npz"
            call([*words, "-o", path])
            with np.load(path) as arrays:
                return dict(arrays)

    def page(self) -> Page:
        """Returns the report of the run: HTML that a notebook shows, with ``save(path)``."""
        return Page(call(["plot", self.reference, "-o", "-"]).decode())

    def export(self, path: str | os.PathLike, dtype: str | None = None) -> Path:
        """Writes the weights as safetensors, or, to a path without ending, a PyTorch module.

        ``dtype`` is the type in a safetensors file: F16, BF16, F32 (the default) or F64.
        """
        path = Path(path)
        where = ["-o" if path.suffix else "--torch", path]
        call(["export", self.reference, *where, *option_words({"dtype": dtype})])
        return path

    def resume(self, **options: Any) -> Run:
        """Continues training, bit for bit, and returns the run.

        ``options``: ``set`` (config keys that may change), ``until``, ``strict``, ``threads`` and
        ``progress``, as of ``train``. Raises UsageError while another process trains the run.
        """
        from .training import resume

        return resume(self, **options)


def option_words(options: Mapping[str, Any]) -> list[str]:
    """Returns options of a command: ``live_weights=True`` is ``--live-weights``."""
    words = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if name == "set":
            words += files.set_options(value or {})
        elif value is True:
            words.append(option)
        elif isinstance(value, (list, tuple)):
            parts = value if name == "goal" else [",".join(map(str, value))]
            words += [word for part in parts for word in (option, str(part))]
        elif value is not None and value is not False:
            words += [option, str(value)]
    return words


def warn_of(verdict: Verdict | None) -> None:
    """Warns if the model is no better than a naive answer."""
    if verdict and not verdict["beats_naive"]:
        warn(verdict["words"])
