"""Classes of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..frames import objects
from .base import CodedClassifier, RunEstimator

_CONFIG = {
    "model": {"kind": "bag_of_words"},
    "data": {"kind": "texts", "text_column": "text", "label_column": "label", "validation": 0},
    "train": {"steps": 0},
}


class TextClassifier(CodedClassifier, RunEstimator):
    """Logistic regression on words and pairs of words, weighted by TF-IDF; see docs/tasks.md."""

    def fit(self, X: Sequence[str], y: Any) -> TextClassifier:
        """Fits the texts ``X`` to their classes ``y``."""
        labels = [f"c{code}" for code in self._codes(y)]
        self._fit(_CONFIG, {"label": objects(labels), "text": objects(X)})
        return self

    def predict_proba(self, X: Sequence[str]) -> np.ndarray:
        """Returns the probability of each class (texts, classes)."""
        return self._probabilities(self._predict({"text": objects(X)}), "c")
