"""Estimators by the conventions of scikit-learn. Each trains a run by the command.

The run is ``estimator.run_``, in a temporary folder unless ``run=`` names a directory. A pickle
carries the bytes of its newest checkpoint, config and calibration.
"""

from .events import EventModel
from .forecaster import Forecaster
from .series import SeriesClassifier, SeriesRegressor
from .table import TableRegressor
from .text import TextClassifier

__all__ = [
    "EventModel",
    "Forecaster",
    "SeriesClassifier",
    "SeriesRegressor",
    "TableRegressor",
    "TextClassifier",
]
