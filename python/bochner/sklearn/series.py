"""Classes and numbers of whole series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_array, check_is_fitted

from ..errors import UsageError
from .base import CodedClassifier, RunEstimator


def series_array(X: Sequence | np.ndarray) -> np.ndarray:
    """Returns series as an array (series, rows) or (series, rows, channels).

    A list of arrays of different length is padded with NaN, which ends a series.
    """
    if not isinstance(X, (list, tuple)):
        return check_array(X, dtype=np.float64, ensure_all_finite="allow-nan", allow_nd=True)
    parts = [np.asarray(part, dtype=np.float64) for part in X]
    if not parts:
        raise UsageError("there are no series")
    rows = max(len(part) for part in parts)
    padded = np.full((len(parts), rows, *parts[0].shape[1:]), np.nan)
    for i, part in enumerate(parts):
        padded[i, : len(part)] = part
    return padded


def _config(**data: Any) -> dict[str, Any]:
    return {
        "model": {"kind": "filter_bank"},
        "data": {"kind": "labelled_series", "validation": 0, **data},
        "train": {"steps": 0},
    }


class _SeriesEstimator(RunEstimator):
    def _answers(self, X: Any) -> dict[str, np.ndarray]:
        check_is_fitted(self, "run_")
        return self._predict({"x": series_array(X)})


class SeriesClassifier(CodedClassifier, _SeriesEstimator):
    """Classes of series by a bank of random filters; see docs/tasks.md.

    ``X`` is (series, rows), (series, rows, channels), or a list of arrays of different length.
    """

    def fit(self, X: Any, y: Any) -> SeriesClassifier:
        """Fits the series ``X`` to their classes ``y``."""
        codes = self._codes(y)
        self._fit(_config(), {"x": series_array(X), "y": codes})
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Returns the probability of each class (series, classes)."""
        return self._probabilities(self._answers(X), "")


class SeriesRegressor(RegressorMixin, _SeriesEstimator):
    """A number for each series by a bank of random filters; see docs/tasks.md."""

    def fit(self, X: Any, y: Any) -> SeriesRegressor:
        """Fits the series ``X``, as of SeriesClassifier, to numbers ``y``."""
        y = np.asarray(y, dtype=np.float64)
        self._fit(_config(labels="numbers"), {"x": series_array(X), "y": y})
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Returns the number of each series, with ``return_std`` its deviation."""
        columns = self._answers(X)
        return (columns["number"], columns["number_deviation"]) if return_std else columns["number"]

    def predict_interval(self, X: Any, coverage: float = 0.95) -> np.ndarray:
        """Returns lower and upper ends (series, 2) for a coverage of 0.95 or 0.8."""
        ends = {0.95: ("0.025", "0.975"), 0.8: ("0.1", "0.9")}
        if coverage not in ends:
            raise UsageError(f"coverage={coverage}: a run has intervals of 0.95 and 0.8")
        columns = self._answers(X)
        return np.stack([columns[f"number_{end}"] for end in ends[coverage]], axis=1)
