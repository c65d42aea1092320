"""Frames of each library reach the command with equal values, and come back as they came."""

import errno
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


ANSWERS = {
    "count": np.array([55.21, 3]),
    "flag": np.array([0.5, 1]),
    "number": np.array([2.0, np.nan]),
    "when": TIMES[::2],
}


@pytest.mark.parametrize("name", LIBRARIES[1:])
def test_types_are_restored_unless_values_would_change(name):
    source = frames.frame_of(of_library(name, COLUMNS))
    answer = frames.like(ANSWERS, source)
    for column, values in ANSWERS.items():
        np.testing.assert_array_equal(np.asarray(answer[column]), values)
    whole = frames.like({"count": np.array([2.0, 3.0]), "flag": np.array([0.0, 1.0])}, source)
    assert [np.asarray(whole[c]).dtype.kind for c in ("count", "flag")] == ["i", "b"]


def test_zones_and_missing_values_of_pandas():
    pandas = pytest.importorskip("pandas", reason="pandas is missing")
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is missing")
    zoned = pandas.ArrowDtype(pyarrow.timestamp("us", "Europe/Berlin"))
    times = pandas.Series(pandas.to_datetime(["2024-01-01T00:00Z"])).astype(zoned)
    missing = frames.objects([pandas.NA])
    source = frames.frame_of(pandas.DataFrame({"when": times, "x": missing}))
    assert "".join(files.csv_pieces(source)) == "when,x\n2024-01-01T01:00:00+01:00,\n"
    answer = frames.like({"when": frames.objects(["2024-01-01 02:00:00+01:00"])}, source)
    assert answer["when"].dtype == zoned and answer["when"][0].hour == 2


def test_columns_of_the_command_are_numbers_times_or_texts():
    text = "n,id,month,day,name\n1e-05,007,2024_01,2024-13-01,1\n,12,2024_02,2024-12-01,2\nnan,1,,2024-12-01,3\n"
    columns = files.read_csv(text, {"name"})
    np.testing.assert_array_equal(columns["n"], [1e-5, np.nan, np.nan])
    assert columns["id"].tolist() == ["007", "12", "1"] and columns["name"].tolist() == list("123")
    assert columns["month"].tolist() == ["2024_01", "2024_02", ""]
    assert columns["day"][0] == "2024-13-01"
    assert files.read_csv("day\n2024-12-01\n")["day"].dtype == "M8[us]"


def test_values_of_a_config():
    values = {"a": np.array([0.5, 1]), "b": np.array(3), "c": np.float64(0.1), "d": np.True_}
    assert files.toml_value(values) == "{ a = [0.5, 1.0], b = 3, c = 0.1, d = true }"


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
    files.write(frames.frame_of({"x": np.ones((2, 3)), "file": np.arange(2)}), file)
    file.seek(0)
    arrays = np.load(file)
    assert arrays["x"].shape == (2, 3) and arrays["file"].tolist() == [0, 1]


def test_files_of_a_sweep_are_kept(folder):
    kept = files.KeptFile(np.ones((2, 2)), folder / "kept", "a")
    trial = folder / "sweep" / "lr=1" / "config.toml"
    trial.parent.mkdir(parents=True)
    trial.write_text(f'files = ["{kept.path}"]  # \N{GREEK SMALL LETTER OMEGA}', encoding="utf-8")
    kept.remove_unless_used(folder / "sweep")
    assert kept.path.exists()
    trial.unlink()
    kept.remove_unless_used(folder / "sweep")
    assert not kept.path.parent.exists()


def test_a_folder_that_another_training_removes_is_made_again(folder, monkeypatch):
    def raced(data, path, name):
        monkeypatch.setattr(files, "_placed", placed)
        path.rmdir()
        return placed(data, path, name)

    placed = files._placed
    monkeypatch.setattr(files, "_placed", raced)
    assert files.KeptFile(np.ones((2, 2)), folder / "kept", "a").path.exists()


def test_a_full_disk_is_a_storage_error_and_leaves_nothing(folder, monkeypatch):
    def full(data, file):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "write", full)
    with pytest.raises(bochner.StorageError, match="No space left"):
        files.KeptFile(np.ones((2, 2)), folder / "kept", "a")
    assert not (folder / "kept").exists()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"a": [1], "b": [1, 2]}, "differ in length"),
        ({}, "no columns"),
        ({"a": [1j]}, "complex128"),
        ({"a": np.array([object()])}, "column a: a value of type object"),
        ({"a": frames.objects([np.arange(2)])}, "column a: a value of type ndarray"),
        ({"a": 3}, "column a: 3 is a single value"),
        ({"a": [[1], [1, 2]]}, "column a: .*inhomogeneous"),
        ({"": [1]}, "empty name"),
        ({1: [1], "1": [2]}, "equal names"),
        (3, "data of type int"),
        (np.array([["a"]]), "cannot be saved"),
        (None, "give one file"),
        (["a.csv", "b.csv"], "several files need a config"),
    ],
)
def test_what_cannot_be_saved_is_said(data, words, folder):
    with pytest.raises(bochner.UsageError, match=words):
        bochner.train(data)
    assert not (folder / "runs" / "frame.data").exists()
