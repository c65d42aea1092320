"""A Gaussian process of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .base import RunEstimator

_MODEL = {"kind": "gp", "gp": {"density": {"start": "search"}}}


class TableRegressor(RegressorMixin, RunEstimator):
    """Gaussian process regression with learned spectral densities; see docs/gp.md.

    ``steps`` is the number of steps of the marginal likelihood; up to 16,384 rows, or more with
    ``set={"model.gp.method": "features"}``.
    """

    def __init__(self, *, steps: int = 40, set=None, run=None, threads=None):
        super().__init__(set=set, run=run, threads=threads)
        self.steps = steps

    def fit(self, X: Any, y: Any) -> TableRegressor:
        """Fits rows ``X`` (n, d) to numbers ``y`` (n,). Missing values are errors."""
        X, y = validate_data(self, X, y, y_numeric=True, dtype=np.float64, ensure_min_samples=2)
        rows = self._rows(X)
        data = {"kind": "table", "target": "y", "inputs": list(rows), "validation": 0}
        optim = {"lr": 0.03, "schedule": {"kind": "cosine", "warmup": min(4, self.steps)}}
        train = {"batch": 1, "steps": self.steps, "validate": {"every": 0}}
        config = {"model": _MODEL, "data": data, "optim": optim, "train": train}
        self._fit(config, {**rows, "y": y})
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Returns the mean of a new observation for each row, with ``return_std`` its deviation."""
        columns = self._answers(X)
        return (columns["mean"], columns["deviation"]) if return_std else columns["mean"]

    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Returns lower and upper ends (n, 2) that hold a new observation with this probability."""
        tail = round((1 - coverage) / 2, 12)
        columns = self._answers(X, set={"model.gp.quantiles": [tail, 1 - tail]})
        return np.stack(list(columns.values())[-2:], axis=1)

    def _answers(self, X: Any, **options: Any) -> dict[str, np.ndarray]:
        check_is_fitted(self, "run_")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return self._predict(self._rows(X), **options)

    @staticmethod
    def _rows(X: np.ndarray) -> dict[str, np.ndarray]:
        return {f"x{i}": X[:, i] for i in range(X.shape[1])}
