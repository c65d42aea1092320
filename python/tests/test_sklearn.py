"""Estimators keep the conventions of scikit-learn."""

import pickle
import warnings

import numpy as np
import pytest
from conftest import events, hours, table, waves

import bochner

sklearn = pytest.importorskip("sklearn", "1.6", reason="scikit-learn 1.6 is missing")
from bochner.sklearn import (  # noqa: E402
    EventModel,
    Forecaster,
    SeriesClassifier,
    SeriesRegressor,
    TableRegressor,
    TextClassifier,
)
from sklearn.base import clone  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::bochner.Note")


def test_a_table_regressor_passes_all_checks():
    model = TableRegressor(steps=1, threads=1, set={"model.gp.density.start": "data"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(model)


def rows():
    data = table()
    return np.stack([data["a"], data["b"]], axis=1), data["y"]


def texts():
    return ["fine, and good\n", 'a "bad" one'] * 10, np.array([True, False] * 10)


ESTIMATORS = [
    (TableRegressor(steps=5), rows),
    (SeriesClassifier(), waves),
    (SeriesRegressor(), waves),
    (TextClassifier(), texts),
    (Forecaster(horizon=3), lambda: (hours(), None)),
    (EventModel(steps=4), lambda: (events(), None)),
]


@pytest.mark.parametrize(("estimator", "make"), ESTIMATORS)
def test_a_pickle_predicts_the_same_bits(estimator, make):
    X, y = make()
    model = clone(estimator).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    folder = model.run_.path
    expected = model.predict(X)
    del model  # and its temporary folder
    assert not folder.exists() and copy.run_.path.exists()
    answer = copy.predict(X)
    for one, other in zip(
        *(x.values() if isinstance(x, dict) else [x] for x in (answer, expected))
    ):
        np.testing.assert_array_equal(one, other)
    assert "run_" not in vars(clone(copy))


def test_scores_probabilities_and_intervals():
    X, y = rows()
    model = TableRegressor(run="runs/table").fit(X, y)
    assert model.score(X, y) > 0.99 and bochner.open("runs/table").config["model"]["kind"] == "gp"
    mean, deviation = model.predict(X, return_std=True)
    low, high = model.predict_interval(X, 0.8).T
    assert (low < mean).all() and (mean < high).all() and (deviation > 0).all()
    np.testing.assert_allclose((high - low) / deviation, 2 * 1.2816, rtol=1e-3)

    x, classes = waves()
    names = np.array(["slow", "fast"])[classes]
    model = SeriesClassifier().fit(list(x), names)
    assert model.score(x, names) == 1 and list(model.classes_) == ["fast", "slow"]
    np.testing.assert_allclose(model.predict_proba([x[0], x[1][:30]]).sum(axis=1), 1)
    low, high = SeriesRegressor().fit(x, classes).predict_interval(x).T
    assert (low < high).all()
    with pytest.raises(ValueError, match="0.95 and 0.8"):
        SeriesRegressor().fit(x, classes).predict_interval(x, 0.5)


def test_forecasts_and_events():
    model = Forecaster(horizon=3, season=24).fit(hours())
    assert len(model.predict(steps=5)["load"]) == 5
    assert list(model.predict_interval(coverage=0.5)) == ["when", "load", "load_0.25", "load_0.75"]
    model = EventModel(steps=4).fit(events())
    assert model.run_.metrics[-1]["step"] == 4 and model.run_.verdict
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is missing")
    probabilities = model.predict_proba(pyarrow.table(events()))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-6)
    assert model.score(events()) < 0


def test_texts_have_any_labels():
    X, y = texts()
    model = TextClassifier().fit(X, y)
    assert model.predict(["good", "bad"]).tolist() == [True, False]
    with pytest.raises(ValueError, match="one class"):
        TextClassifier().fit(X, [1] * 20)
