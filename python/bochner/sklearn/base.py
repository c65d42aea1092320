"""What all estimators share: a run, and pickles that carry its bytes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ..errors import UsageError
from ..run import Run
from ..training import train

#: Files of a run that predictions need; of the checkpoints, the newest.
_KEPT = ("config.toml", "meta.json", "metrics.jsonl", "verdict.json", "calibration.bin")


class RunEstimator(BaseEstimator):
    """Base of estimators that hold a run.

    ``set`` sets config keys of the model (docs/parameters.md), ``run`` is the directory of the run
    (default: a temporary folder, which goes with the estimator), ``threads`` is the number of
    threads, which does not change results.
    """

    def __init__(
        self,
        *,
        set: Mapping[str, Any] | None = None,
        run: str | os.PathLike | None = None,
        threads: int | None = None,
    ):
        self.set = set
        self.run = run
        self.threads = threads

    def _fit(self, config: Any, data: Any = None, **request: Any) -> None:
        """Trains the run on data; with a config, or with what is asked of a chosen one."""
        folder = tempfile.TemporaryDirectory(prefix="bochner-") if self.run is None else None
        path = Path(folder.name) / "run" if folder else Path(self.run)
        request = {"set": self.set, **request, "threads": self.threads, "progress": False}
        self.run_ = train(config, data, run=path, **request)
        self._folder = folder

    def _predict(self, data: Any, **options: Any) -> Any:
        check_is_fitted(self, "run_")
        return self.run_.predict(data, threads=self.threads, **options)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_folder", None)
        if run := state.pop("run_", None):
            state["_run_bytes"] = _bytes_of(run)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        content = state.pop("_run_bytes", None)
        super().__setstate__(state)
        if content:
            self._folder = tempfile.TemporaryDirectory(prefix="bochner-")
            self.run_ = _restored(content, Path(self._folder.name) / "run")


def _bytes_of(run: Run) -> dict[str, bytes]:
    checkpoints = sorted(run.path.glob("checkpoints/step-*.ckpt"))[-1:]
    kept = [path for name in _KEPT if (path := run.path / name).exists()]
    return {str(path.relative_to(run.path)): path.read_bytes() for path in kept + checkpoints}


def _restored(content: Mapping[str, bytes], path: Path) -> Run:
    for name, data in content.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    return Run(path)


class CodedClassifier(ClassifierMixin):
    """Classes of any type, which the command knows as c0, c1, ... in the order of ``classes_``."""

    def _codes(self, y: Any) -> np.ndarray:
        """Sets ``classes_`` and returns the number of each label."""
        check_classification_targets(y)
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(self.classes_) < 2:
            raise UsageError("Classifier can't train when only one class is present.")
        return codes

    def _probabilities(self, columns: Mapping[str, np.ndarray], prefix: str) -> np.ndarray:
        return np.stack([columns[f"class_{prefix}{i}"] for i in range(len(self.classes_))], axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """Returns the most probable class of each example."""
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]
