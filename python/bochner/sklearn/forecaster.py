"""Forecasts of the rows that follow a table."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from .base import RunEstimator


class Forecaster(RunEstimator):
    """Forecasts of series; the command chooses the model, as for ``bochner train FILE``.

    ``horizon`` is the number of rows to forecast, ``season`` the rows after which series repeat,
    ``target`` the column to forecast (default: all numbers), ``time`` and ``id`` the columns of
    times and of series; what is None is inferred.
    """

    def __init__(
        self,
        horizon: int | None = None,
        *,
        season: int | None = None,
        target: str | None = None,
        time: str | None = None,
        id: str | None = None,
        set=None,
        run=None,
        threads=None,
    ):
        super().__init__(set=set, run=run, threads=threads)
        self.horizon = horizon
        self.season = season
        self.target = target
        self.time = time
        self.id = id

    def fit(self, X: Any, y: None = None) -> Forecaster:
        """Fits rows in order of time: a frame, a dict of arrays, or an array (rows, series)."""
        request = {"season": self.season, "target": self.target, "time": self.time, "id": self.id}
        self._fit(X, horizon=self.horizon, **request)
        self._seen = X
        return self

    def predict(self, X: Any = None, steps: int | None = None) -> Any:
        """Forecasts the ``horizon`` rows, or ``steps``, after those of ``X`` or of ``fit``.

        Returns a frame of the kind of ``X`` with the forecasts and ends of intervals.
        """
        return self._forecast(X, steps=steps)

    def predict_interval(
        self, X: Any = None, steps: int | None = None, coverage: float = 0.9
    ) -> Any:
        """Forecasts like ``predict``, with intervals of this probability."""
        return self._forecast(X, steps=steps, coverage=coverage)

    def _forecast(self, X: Any, **options: Any) -> Any:
        check_is_fitted(self, "run_")
        return self._predict(self._seen if X is None else X, **options)
