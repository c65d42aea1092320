"""Time and type of the next event."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .base import RunEstimator


class EventModel(RunEstimator):
    """A marked point process of a table with columns of times and of event types.

    ``time``, ``type`` and ``id`` name the columns of times, of types and of sequences; what is None
    is inferred, see docs/time.md. ``steps`` are those of training (None: as the command chooses).
    """

    def __init__(
        self,
        *,
        time: str | None = None,
        type: str | None = None,
        id: str | None = None,
        steps: int | None = None,
        set=None,
        run=None,
        threads=None,
    ):
        super().__init__(set=set, run=run, threads=threads)
        self.time = time
        self.type = type
        self.id = id
        self.steps = steps

    def fit(self, X: Any, y: None = None) -> EventModel:
        """Fits a frame or a dict of arrays with an event in each row, in order of time."""
        steps = {} if self.steps is None else {"train.steps": self.steps}
        request = {"target": self.type, "time": self.time, "id": self.id}
        self._fit(X, kind="events", set={**steps, **(self.set or {})}, **request)
        return self

    def predict(self, X: Any) -> Any:
        """Returns, for each event, the median and mean time of the next one, and its types."""
        return self._predict(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Returns the probability of each type (events, types) of the next event."""
        check_is_fitted(self, "run_")
        columns, _ = self.run_._columns(X, threads=self.threads)
        return np.stack([v for name, v in columns.items() if name.startswith("type_")], axis=1)

    def score(self, X: Any, y: None = None) -> float:
        """Returns the mean log likelihood of an event, in nats."""
        check_is_fitted(self, "run_")
        return -self.run_.evaluate(X)["verdict"]["score"]
