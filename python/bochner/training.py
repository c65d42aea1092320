"""Training, resuming and sweeping, by the command in processes of its own."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import files, frames
from .errors import DONE, FAILED, STOPPED, UsageError
from .notebook import Display
from .process import Training, call_json, settle, warn
from .run import Run, option_words, warn_of

#: progress(step, total, metrics): metrics is the newest line of metrics.jsonl as a dict.
Callback = Callable[[int, int, dict[str, Any]], Any]

_ONE_SOURCE = (
    "give one file, folder, frame or array of data; several files need a config: "
    "train(config, data=[...])"
)
_STEP = re.compile(r"step\s+(\d+)/(\d+)\s*(.*)")
_SAID = re.compile(r"(?:note\s+|# (?=left out:|missing values:))(.*)")


def train(
    config: Any,
    data: Any = None,
    *,
    run: str | os.PathLike | None = None,
    set: Mapping[str, Any] | None = None,
    target: str | None = None,
    horizon: int | None = None,
    season: int | Sequence[int] | None = None,
    kind: str | None = None,
    time: str | None = None,
    id: str | None = None,
    minutes: float | None = None,
    until: str | int | None = None,
    threads: int | None = None,
    progress: Callback | bool | None = None,
) -> Run:
    """Trains a run, with the bits of ``bochner train``, and returns it.

    ``config`` is a config (a TOML file, or a dict of sections) or data, for which the command
    chooses one. Data are a file, a folder, a frame (pandas, Arrow, polars), a dict of arrays or a
    NumPy array. With a config, ``data`` sets ``data.files``. Frames and arrays are saved in
    ``RUN.data/``, beside the run, so that ``bochner resume`` finds them.

    For data without a config: ``target`` is the column to forecast or predict, ``horizon`` the
    rows to forecast, ``season`` the rows after which series repeat, ``kind`` the kind of model,
    ``time`` and ``id`` the columns of times and of series.

    ``run`` is the directory (default: ``runs/NAME`` of the file, of the target, or ``runs/frame``);
    ``set`` sets config keys; ``minutes`` limits the time and ``until`` the steps. ``progress`` is
    called with (step, total, metrics); False shows nothing.

    ^C saves, stops and raises KeyboardInterrupt. Other stops return the run with ``stopped`` set.
    A model that is no better than a naive answer gives a warning of class Note.

    Raises UsageError, DataError, StorageError or Error, with the words of the command.
    """
    request = {"target": target, "horizon": horizon, "as": kind, "time": time, "id": id}
    request |= {"minutes": minutes, "until": until}
    settings = dict(set or {})
    if season is not None:
        if frames.is_config(config):
            raise UsageError("season: only for data without a config; set its model.seasons")
        settings["model.seasons"] = season if isinstance(season, (list, tuple)) else [season]
    directory = Path(run) if run is not None else _directory(config, target)
    with _sources(config, data, directory) as (source, keys):
        words = ["train", source, "--run", str(directory), *option_words(request)]
        return _train(words, Run(directory), keys | settings, threads, progress)


def resume(
    run: Run,
    *,
    set: Mapping[str, Any] | None = None,
    until: str | int | None = None,
    strict: bool = False,
    threads: int | None = None,
    progress: Callback | bool | None = None,
) -> Run:
    """Continues a run with the same bits; see ``Run.resume``."""
    words = ["resume", run.reference, *option_words({"until": until, "strict": strict})]
    return _train(words, Run(run.path), set or {}, threads, progress)


def _directory(config: Any, target: str | None) -> Path:
    """Returns the default directory of a run: that of the command for files."""
    if frames.is_path(config):
        return Path("runs") / Path(os.path.abspath(config)).stem
    if frames.is_config(config):
        return Path("runs") / str(config.get("model", {}).get("kind", "lm"))
    return Path("runs") / (re.sub(r"[^\w.-]+", "_", target) if target else "frame")


@contextmanager
def _sources(config: Any, data: Any, run: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the file to train and config keys; saves frames and configs that are no files."""
    if not frames.is_config(config):
        if data is not None:
            raise UsageError("data are given twice; the first argument is a config, or data")
        config, data = None, config
    kept = _kept(data, run)
    paths = [str(kept.path)] if kept else _paths(data)
    keys = files.dialect_of(kept.path) if kept else {}
    with tempfile.TemporaryDirectory(prefix="bochner-") as folder:
        try:
            if config is None:
                if len(paths) != 1:
                    raise UsageError(_ONE_SOURCE)
                yield paths[0], keys
                return
            if paths:
                keys = {"data.files": paths} | keys
            if not frames.is_path(config):
                path = Path(folder) / f"{run.name}.toml"
                path.write_text(files.toml_text(config), encoding="utf-8")
                config = path
            yield os.fspath(config), keys
        except BaseException:
            if kept:
                kept.remove_unless_used(run)
            raise
        finally:
            if kept:
                kept.close()


def _paths(data: Any) -> list[str]:
    """Returns data that are files already."""
    if data is None:
        return []
    return [os.fspath(x) for x in ([data] if frames.is_path(data) else data)]


def _kept(data: Any, run: Path) -> files.KeptFile | None:
    """Saves data that are no files beside the run."""
    if data is None or isinstance(data, (list, tuple)) and data and all(map(frames.is_path, data)):
        return None
    source = frames.frame_of(data)
    if source is None:
        return None
    return files.KeptFile(source, run.parent / f"{run.name}.data", run.name)


def _train(
    words: list[str], run: Run, settings: Mapping[str, Any], threads: int | None, progress: Any
) -> Run:
    words = words + files.set_options(settings) + option_words({"threads": threads})
    training = Training([*words, "--progress", "plain"])  # "none" would hide notes
    follower = Follower(run, progress)
    try:
        code = training.follow(follower.line)
        if code in (DONE, STOPPED):
            follower.report()
    except KeyboardInterrupt:
        raise KeyboardInterrupt(follower.how_it_stopped()) from None
    finally:
        follower.end()
    settle(code, training.errors(), (DONE, STOPPED))
    if code == STOPPED and " by SIGINT" in follower.how_it_stopped():
        raise KeyboardInterrupt(follower.how_it_stopped())
    if code == DONE:
        warn_of(run.verdict)
    run.stopped = code == STOPPED
    return run


class Follower:
    """Turns the printed lines of a training into progress and notes."""

    def __init__(self, run: Run, progress: Callback | bool | None):
        self._path, self._run, self._log_before = run.path / "metrics.jsonl", run, len(run.log)
        self._call = progress if callable(progress) else None
        self._display = None if callable(progress) or progress is False else Display()
        self._read, self._resumed_at, self._total = 0, -1, 0
        self._last = ""

    def how_it_stopped(self) -> str:
        """Returns what the command logged last about a stop."""
        lines = self._run.log[self._log_before :].splitlines()
        stopped = [line for line in lines if line.startswith("stopped")]
        return stopped[-1] if stopped else "the command was stopped before it saved anything"

    def line(self, text: str) -> None:
        if match := _SAID.match(text):
            warn(match[1])
        elif text.startswith("resumed"):
            self._resumed_at = int(text.split()[-1])
        elif text.startswith(("stopped", "verdict")):
            self._last = text
        elif match := _STEP.match(text):
            self._total = int(match[2])
            if self._display:
                self._display.show(int(match[1]), self._total, match[3])
        if self._total and (match or text.startswith("valid ")):
            self.report()

    def end(self) -> None:
        if self._display:
            self._display.end(self._last)

    def report(self) -> None:
        """Calls the callback with the lines of metrics that it has not seen."""
        if not self._call or not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._read)
            new = file.read()
        self._read += new.rfind(b"\n") + 1
        for line in new[: new.rfind(b"\n") + 1].splitlines():
            metrics = json.loads(line)
            if metrics["step"] > self._resumed_at:
                self._call(metrics["step"], self._total or metrics["step"], metrics)


class Sweep:
    """A directory of runs that differ in some keys."""

    def __init__(self, path: str | os.PathLike, stopped: bool = False):
        self.path, self.stopped = Path(path), stopped

    def __repr__(self) -> str:
        return f"Sweep({str(self.path)!r})"

    @property
    def trials(self) -> list[dict[str, Any]]:
        """The trials, a dict each, as of ``bochner sweep status --json``."""
        return call_json(["sweep", "status", self.path])

    @property
    def best(self) -> Run:
        """The run of the best trial."""
        return Run(call_json(["sweep", "best", self.path])[0]["run"])

    @property
    def runs(self) -> list[Run]:
        """All runs, in the order of their names."""
        return [Run(path.parent) for path in sorted(self.path.glob("*/config.toml"))]


def sweep(
    config: Any,
    vary: Mapping[str, Any],
    data: Any = None,
    *,
    runs: str | os.PathLike | None = None,
    set: Mapping[str, Any] | None = None,
    **options: Any,
) -> Sweep:
    """Trains runs over values of config keys: a grid, or a search; see docs/sweeps.md.

    ``vary`` maps a key to a list of values or to a range such as "1e-4..1e-2:log". ``options`` are
    those of ``bochner sweep``: ``search``, ``trials``, ``budget``, ``goal`` (a list for a Pareto
    front), ``halving``, ``shortest``, ``seed``, ``jobs``, ``threads``. The same call continues a sweep that was stopped.
    ^C stops all its runs and raises KeyboardInterrupt. Raises Error if a run fails.
    """
    directory = Path(runs) if runs is not None else Path(f"{_directory(config, None)}-sweep")
    varied = [word for key, values in vary.items() for word in ("--vary", _varied(key, values))]
    with _sources(config, data, directory) as (source, keys):
        words = ["sweep", source, "--runs", str(directory), *varied, *option_words(options)]
        training = Training([*words, *files.set_options(keys | dict(set or {}))])
        lines: list[str] = []
        code = training.follow(lines.append)
        errors = training.errors()
        settle(code, errors or ("\n".join(lines[-1:]) if code == FAILED else ""), (DONE, STOPPED))
    return Sweep(directory, code == STOPPED)


def _varied(key: str, values: Any) -> str:
    if isinstance(values, str):
        return f"{key}={values}"
    return f"{key}=" + ",".join(v if isinstance(v, str) else files.toml_value(v) for v in values)


def compare(*runs: Run | Sweep | str | os.PathLike, **options: Any) -> list[dict[str, Any]]:
    """Compares runs and sweeps: a dict of figures for each group of runs; see ``bochner compare``.

    ``options``: ``to``, the validation loss for the time to reach it; ``output``, a page to write.
    """
    paths = [run.path if isinstance(run, Sweep) else run for run in runs]
    names = [run.reference if isinstance(run, Run) else run for run in paths]
    return call_json(["compare", *names, *option_words(options)])
