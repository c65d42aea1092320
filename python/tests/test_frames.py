"""Frames of each library reach the command with equal values, and come back as they came."""

import io

import numpy as np
import pytest
from conftest import hours

import bochner
from bochner import files, frames

TIMES = np.array(["2024-01-01T00:00:00.25", "NaT", "2024-02-29T23:59:59"], "datetime64[us]")
COLUMNS = {
    "when": TIMES,
    "text, of 1": np.array(['a "b"\n', "", None], object),
    "number": np.array([0.1, np.nan, -1.7976931348623157e308]),
    "count": np.array([2**53, -1, 0]),
    "flag": np.array([True, False, True]),
}
CSV = (
    'when,"text, of 1",number,count,flag\n'
    '2024-01-01T00:00:00.250000,"a ""b""\n",0.1,9007199254740992,1\n'
    ',"",,-1,0\n'
    "2024-02-29T23:59:59.000000,,-1.7976931348623157e+308,0,1\n"
)


def of_library(name, columns):
    """Returns columns as a frame of a library, or skips the test if it is missing."""
    if name == "numpy":
        return columns
    library = pytest.importorskip(name, reason=f"{name} is missing")
    if name == "pandas":
        return library.DataFrame(columns)
    if name == "polars":
        return library.DataFrame(
            {k: v.tolist() if v.dtype == object else v for k, v in columns.items()}
        )
    return library.table(
        {k: library.array(v, from_pandas=v.dtype.kind in "OM") for k, v in columns.items()}
    )


LIBRARIES = ["numpy", "pandas", "pyarrow", "polars"]


@pytest.mark.parametrize("name", LIBRARIES)
def test_values_are_kept(name):
    text = "".join(files.csv_pieces(frames.frame_of(of_library(name, COLUMNS))))
    assert text == CSV


@pytest.mark.parametrize("name", LIBRARIES)
def test_forecasts_are_of_the_same_library(name, quiet):
    run = bochner.train(hours(), horizon=3, run="runs/here", progress=False)
    frame = of_library(
        name, {k: v.astype("M8[us]") if v.dtype.kind == "M" else v for k, v in hours().items()}
    )
    answer = run.predict(frame)
    assert type(answer) is type(frame)
    plain = run.predict(hours())
    assert list(plain) == ["when", "load", "load_0.025", "load_0.1", "load_0.9", "load_0.975"]
    for column, values in plain.items():
        np.testing.assert_array_equal(np.asarray(answer[column]), values)


def test_pandas_indexes_and_types(quiet):
    pandas = pytest.importorskip("pandas", reason="pandas is missing")
    data = hours()
    index = pandas.DatetimeIndex(data["when"].astype("M8[ns]")).tz_localize("Europe/Berlin")
    frame = pandas.DataFrame({"load": data["load"], "store": "a"}, index=index)
    run = bochner.train(frame, target="load", horizon=3, run="runs/here")
    answer = run.predict(frame)
    assert answer.index.name == "time" and answer.index.dtype == index.dtype
    assert answer.index[0] == index[-1] + pandas.Timedelta(hours=1)
    nullable = frame.assign(load=frame["load"].round().astype("Int64"))
    nullable.iloc[3, 0] = pandas.NA
    text = "".join(files.csv_pieces(frames.frame_of(nullable)))
    assert text.splitlines()[4].endswith("+01:00,,a")


def test_parquet_is_read(quiet):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is missing")
    import pyarrow.feather
    import pyarrow.parquet

    table = pyarrow.table(
        {k: v.astype("M8[us]") if v.dtype.kind == "M" else v for k, v in hours().items()}
    )
    pyarrow.parquet.write_table(table, "load.parquet")
    pyarrow.feather.write_feather(table, "load.feather")
    run = bochner.train("load.parquet", horizon=3)
    assert run.path.name == "load"
    one, other = run.predict("load.feather"), run.predict(table)
    assert one.equals(other)
    with open("bad.parquet", "w") as bad:
        bad.write("no table")
    with pytest.raises(bochner.UsageError, match="bad.parquet"):
        run.predict("bad.parquet")


def test_arrays_keep_their_bytes(folder):
    for array in (np.arange(6, dtype=np.int16).reshape(3, 2), np.ones((2, 2), np.float32)):
        kept = files.KeptFile(array, folder / "kept", "a")
        assert kept.is_new and np.load(kept.path).dtype == array.dtype
        np.testing.assert_array_equal(np.load(kept.path), array)
    again = files.KeptFile(array, folder / "kept", "a")
    assert not again.is_new and len(list((folder / "kept").iterdir())) == 2
    kept.remove_unless_used(folder)
    assert kept.path.exists()  # the other one has it
    again.close()
    kept.remove_unless_used(folder)
    assert not kept.path.exists()
    file = io.BytesIO()
    files.write(frames.frame_of({"x": np.ones((2, 3)), "y": np.arange(2)}), file)
    file.seek(0)
    assert np.load(file)["x"].shape == (2, 3)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"a": [1], "b": [1, 2]}, "differ in length"),
        ({}, "no columns"),
        ({"a": [1j]}, "complex128"),
        ({"a": np.array([object()])}, "column a: a value of type object"),
        ({"": [1]}, "empty name"),
        ({1: [1], "1": [2]}, "equal names"),
        (3, "data of type int"),
        (np.array([["a"]]), "cannot be saved"),
    ],
)
def test_what_cannot_be_saved_is_said(data, words, folder):
    with pytest.raises(bochner.UsageError, match=words):
        bochner.train(data)
    assert not (folder / "runs" / "frame.data").exists()
