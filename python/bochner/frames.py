"""Tables of other libraries: pandas, Arrow, polars, NumPy, and files that Arrow reads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from .errors import UsageError, storage_errors

#: Endings of files that pyarrow reads here and the command does not.
ARROW_FILES = (".parquet", ".feather", ".arrow")


class Frame:
    """Named columns of one length, and the library they came from.

    ``columns`` maps names to arrays of one axis; ``library`` is "pandas", "pyarrow", "polars" or
    "numpy"; ``dtypes`` are the original types that a result may be given back in; ``index`` is the
    column that was the index of a pandas frame.
    """

    index: str | None = None

    def __init__(self, columns: Mapping[str, Any], library: str, dtypes: Mapping | None = None):
        self.columns = {str(name): _array(name, values) for name, values in columns.items()}
        self.library = library
        self.dtypes = {str(name): kind for name, kind in (dtypes or {}).items()}
        if len(self.columns) != len(columns):
            raise UsageError(f"columns have equal names: {sorted(map(str, columns))}")
        if "" in self.columns:
            raise UsageError("a column has an empty name; rename it")

    def texts(self) -> set[str]:
        """Returns the names of columns that hold texts."""
        return {
            name
            for name, values in self.columns.items()
            if values.dtype.kind in "OU" and any(isinstance(x, str) for x in values.flat)
        }


def _array(name: Any, values: Any) -> np.ndarray:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise UsageError(f"column {name}: {error}") from None
    if array.ndim == 0:
        raise UsageError(f"column {name}: {values!r} is a single value; give an array")
    return array


def objects(values: Iterable[Any]) -> np.ndarray:
    """Returns values of any type as an array of one axis, also if they are sequences."""
    return np.array([*values, None], dtype=object)[:-1]


def is_path(data: Any) -> bool:
    return isinstance(data, (str, os.PathLike))


def is_config(data: Any) -> bool:
    """Whether data are a config: a TOML file, or a dict of sections such as {"model": {...}}."""
    if is_path(data):
        return Path(data).suffix == ".toml"
    return isinstance(data, dict) and bool(data) and all(isinstance(v, dict) for v in data.values())


def frame_of(data: Any) -> Frame | np.ndarray | None:
    """Returns the columns of a frame, an array as it is, and None for a path the command reads.

    Raises UsageError for anything else.
    """
    if is_path(data):
        return _read_arrow(Path(data)) if Path(data).suffix in ARROW_FILES else None
    library = type(data).__module__.split(".")[0]
    if library == "pandas":
        return _of_pandas(data)
    if library == "pyarrow":
        return _of_arrow(data)
    if isinstance(data, Mapping):
        return Frame(data, "numpy")
    if isinstance(data, np.ndarray):
        if data.dtype.names:
            return Frame({name: data[name] for name in data.dtype.names}, "numpy")
        return data
    if hasattr(data, "__arrow_c_stream__"):
        return _of_stream(data, library)
    if hasattr(data, "__dataframe__"):
        return _of_interchange(data)
    raise UsageError(
        f"data of type {type(data).__name__}: give a file, a frame (pandas, Arrow, polars), a dict "
        "of arrays or a NumPy array"
    )


def _of_pandas(data: Any) -> Frame:
    import pandas

    if isinstance(data, pandas.Series):
        data = data.to_frame(name=data.name if data.name is not None else "value")
    if data.index.nlevels > 1 or data.columns.nlevels > 1:
        raise UsageError("the frame has several levels of names; call reset_index() first")
    if not data.columns.is_unique:
        raise UsageError(f"columns have equal names: {sorted(map(str, data.columns))}")
    index = data.index
    if isinstance(index, pandas.PeriodIndex):
        index = index.to_timestamp()
    columns, dtypes = {}, {}
    name = index.name if index.name is not None else "time"
    is_column = index.name is not None or isinstance(index, pandas.DatetimeIndex)
    if is_column and name not in data.columns:
        columns[name], dtypes[name] = _of_series(index.to_series()), index.dtype
    for column in data.columns:
        columns[column], dtypes[column] = _of_series(data[column]), data[column].dtype
    frame = Frame(columns, "pandas", dtypes)
    frame.index = str(name) if name in columns and name not in data.columns else None
    return frame


def _of_series(series: Any) -> np.ndarray:
    """Returns the values of a pandas series; missing ones of integers and texts are None."""
    kind = series.dtype
    if isinstance(kind, np.dtype):
        return series.to_numpy()
    if getattr(kind, "kind", "O") == "f":
        return series.to_numpy(np.float64, na_value=np.nan)
    if getattr(kind, "kind", "O") == "M" and series.dt.tz is None:
        return series.to_numpy("datetime64[ns]")
    return np.where(series.isna(), None, series.astype(object).to_numpy())


def _of_arrow(table: Any) -> Frame:
    import pyarrow

    if isinstance(table, pyarrow.RecordBatch):
        table = pyarrow.Table.from_batches([table])
    if not isinstance(table, pyarrow.Table):
        raise UsageError(f"data of type pyarrow.{type(table).__name__}: give a Table")
    if len(set(table.column_names)) < table.num_columns:
        raise UsageError(f"columns have equal names: {sorted(table.column_names)}")
    kinds = {field.name: field.type for field in table.schema}
    return Frame({name: _of_chunks(table[name]) for name in kinds}, "pyarrow", kinds)


def _of_chunks(column: Any) -> np.ndarray:
    import pyarrow.types as types

    kind = column.type
    plain = types.is_floating(kind) or types.is_integer(kind) and not column.null_count
    if plain or types.is_timestamp(kind) and kind.tz is None or types.is_date(kind):
        return column.to_numpy()
    return objects(column.to_pylist())


@storage_errors()
def _read_arrow(path: Path) -> Frame:
    try:
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError:
        raise UsageError(f"{path}: needs pyarrow to be read; pip install pyarrow") from None
    read = pyarrow.parquet if path.suffix == ".parquet" else pyarrow.feather
    try:
        return _of_arrow(read.read_table(path))
    except pyarrow.ArrowInvalid as error:
        raise UsageError(f"{path}: {error}") from None


def _of_stream(data: Any, library: str) -> Frame:
    try:
        import pyarrow
    except ImportError:
        if hasattr(data, "get_columns"):  # polars
            return Frame({c.name: c.to_numpy() for c in data.get_columns()}, library)
        raise UsageError(
            f"a frame of {library} needs pyarrow to be read; pip install pyarrow"
        ) from None
    frame = _of_arrow(pyarrow.table(data))
    frame.library = library
    return frame


def _of_interchange(data: Any) -> Frame:
    try:
        import pandas
    except ImportError:
        raise UsageError("this frame needs pandas to be read; pip install pandas") from None
    return _of_pandas(pandas.api.interchange.from_dataframe(data))


def like(columns: dict[str, np.ndarray], source: Frame | np.ndarray | None) -> Any:
    """Returns columns as a frame of the library of ``source``; else as a dict of arrays.

    In frames, columns named like one of the source have its type again, unless that changes values.
    """
    if not isinstance(source, Frame):
        return columns
    if source.library == "pandas":
        frame = _to_pandas(columns, source.dtypes)
        return frame.set_index(source.index) if source.index in frame else frame
    if source.library == "pyarrow":
        return _to_arrow(columns, source.dtypes)
    if source.library == "polars":
        import polars

        if source.dtypes:  # pyarrow has read it
            return polars.from_arrow(_to_arrow(columns, source.dtypes))
        return polars.DataFrame({name: _plain(values) for name, values in columns.items()})
    return columns


def _plain(values: np.ndarray) -> Any:
    return values.tolist() if values.dtype == object else values


def _to_pandas(columns: dict[str, np.ndarray], dtypes: Mapping[str, Any]) -> Any:
    import pandas

    frame = pandas.DataFrame({name: _plain(values) for name, values in columns.items()})
    for name in dtypes.keys() & columns.keys():
        with suppress(TypeError, ValueError, OverflowError, NotImplementedError):
            frame[name] = _as_dtype(frame[name], dtypes[name])
    return frame


def _as_dtype(column: Any, dtype: Any) -> Any:
    """Returns a pandas series with this type, or as it is if that changes values."""
    import pandas

    if dtype.kind == "M" and column.dtype.kind == "O":  # times with an offset
        column = pandas.to_datetime(column, utc=True)
    cast = column.astype(dtype)
    is_same = dtype.kind == "f" or cast.astype(column.dtype).equals(column)
    return cast if is_same else column


def _to_arrow(columns: dict[str, np.ndarray], dtypes: Mapping[str, Any]) -> Any:
    import pyarrow

    def cast(name: str, values: np.ndarray) -> Any:
        array = pyarrow.array(_plain(values))
        try:
            cast = array.cast(dtypes.get(name, array.type))
        except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
            return array
        is_flag = pyarrow.types.is_boolean(cast.type)  # to which any number can be cast
        return array if is_flag and not np.isin(values, (0, 1)).all() else cast

    return pyarrow.table({name: cast(name, values) for name, values in columns.items()})
