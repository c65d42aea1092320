"""Files between Python and the command: CSV, NPY, NPZ, TOML and safetensors."""

from __future__ import annotations

import csv
import datetime
import fcntl
import hashlib
import io
import json
import math
import os
import re
import threading
import zipfile
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from .errors import UsageError, storage_errors
from .frames import Frame, objects

#: Keys that say how the CSV files of this module are written; nothing is left to be inferred.
DIALECT = {
    "data.header": "yes",
    "data.delimiter": ",",
    "data.decimal": ".",
    "data.quote": "double",
}

_ROWS = 10000  # converted at once
_SPECIAL = re.compile(r'[",\r\n\s]')


def ending_of(data: Frame | np.ndarray) -> str:
    """Returns the ending of the file that keeps data: .csv, .npy or, for deeper arrays, .npz."""
    if isinstance(data, np.ndarray):
        return ".npy"
    return ".npz" if any(v.ndim > 1 for v in data.columns.values()) else ".csv"


def write(data: Frame | np.ndarray, file: io.BufferedIOBase) -> None:
    """Writes data; float64 values, integers, texts and time stamps to the microsecond are kept.

    Raises UsageError for values that no file of the command holds.
    """
    if isinstance(data, np.ndarray):
        np.save(file, _numbers(data if data.ndim != 1 else data[:, None], "the array"))
    elif ending_of(data) == ".npz":
        with zipfile.ZipFile(file, "w") as archive:  # np.savez refuses the name "file"
            for name, values in data.columns.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.save(member, _numbers(values, name))
    else:
        for piece in csv_pieces(data):
            file.write(piece.encode())


def _numbers(values: np.ndarray, name: str) -> np.ndarray:
    if values.dtype.kind not in "fiub":
        raise UsageError(f"{name}: arrays of {values.dtype} cannot be saved; give numbers")
    return values.astype(
        {2: np.float32, 16: np.float64}.get(
            values.dtype.itemsize * (values.dtype.kind == "f"), values.dtype
        )
    )


def csv_pieces(frame: Frame) -> Iterator[str]:
    """Yields the text of a table as CSV (RFC 4180), some rows at a time."""
    lengths = {name: len(values) for name, values in frame.columns.items()}
    if len(set(lengths.values())) != 1:
        raise UsageError(f"columns differ in length: {lengths}" if lengths else "no columns")
    yield ",".join(map(quoted, lengths)) + "\n"
    columns = [(name, v, _writer(name, v)) for name, v in frame.columns.items()]
    for start in range(0, next(iter(lengths.values())), _ROWS):
        rows = zip(*(write(v[start : start + _ROWS]) for _, v, write in columns))
        yield "".join([",".join(row) + "\n" for row in rows])


def quoted(text: str) -> str:
    """Returns a field of CSV."""
    return '"' + text.replace('"', '""') + '"' if not text or _SPECIAL.search(text) else text


def _writer(name: str, values: np.ndarray) -> Callable[[np.ndarray], Iterable[str]]:
    """Returns what writes a part of a column as fields."""
    kind = values.dtype.kind
    if kind == "f":
        return lambda part: [
            "" if math.isnan(x) else repr(x) for x in part.astype(np.float64).tolist()
        ]
    if kind in "iu":
        return lambda part: map(str, part.tolist())
    if kind == "b":
        return lambda part: ["1" if x else "0" for x in part.tolist()]
    if kind == "M":
        return _times(values)
    if kind in "OU":
        return lambda part: [_field(name, x) for x in part.tolist()]
    raise UsageError(f"column {name}: values of type {values.dtype} cannot be saved; convert them")


def _times(values: np.ndarray) -> Callable[[np.ndarray], Iterable[str]]:
    in_seconds = values.astype("datetime64[s]")
    unit = "s" if (in_seconds == values)[~np.isnat(values)].all() else "us"
    return lambda part: [
        "" if text == "NaT" else text for text in np.datetime_as_string(part.astype(f"M8[{unit}]"))
    ]


def _field(name: str, x: Any) -> str:
    if isinstance(x, str):
        return quoted(x)
    if type(x).__name__ in ("NoneType", "NAType", "NaTType"):
        return ""
    if isinstance(x, (bool, np.bool_)):
        return "1" if x else "0"
    if isinstance(x, (datetime.datetime, datetime.date)):
        return x.isoformat()
    if isinstance(x, (float, np.floating, Decimal)) and x != x:
        return ""
    if isinstance(x, (float, np.floating)):
        return repr(float(x))
    if isinstance(x, (int, np.integer, Decimal)):
        return str(x)
    raise UsageError(f"column {name}: a value of type {type(x).__name__} cannot be saved: {x!r}")


@storage_errors()
def saved(data: Frame | np.ndarray, folder: Path) -> list[str]:
    """Saves data in a folder of their own; returns the file, and the options to read it with."""
    path = folder / f"data{ending_of(data)}"
    with path.open("wb") as file:
        write(data, file)
    return [str(path), *set_options(dialect_of(path))]


def dialect_of(path: Path) -> dict[str, str]:
    """Returns the keys to read a saved file with."""
    return DIALECT if path.suffix == ".csv" else {}


class KeptFile:
    """Data that a run reads, saved under a name with a digest of their bytes.

    So files of other data are never overwritten, and equal data are saved once. A lock tells
    other trainings that the file is in use.
    """

    @storage_errors()
    def __init__(self, data: Frame | np.ndarray, folder: Path, name: str):
        while True:
            folder.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):  # another training that failed has removed it
                self.path, self.is_new = _placed(data, folder, name)
                self._file = self.path.open("rb")
                fcntl.flock(self._file, fcntl.LOCK_SH)
                if os.path.samestat(os.fstat(self._file.fileno()), self.path.stat()):
                    return

    def remove_unless_used(self, run: Path) -> None:
        """Removes the file if it is new, and no run, trial of a sweep or training has it."""
        configs = [path for name in ("config.toml", "*/config.toml") for path in run.glob(name)]
        with suppress(OSError):  # it is in use, or the folder holds other data
            if self.is_new and not any(self._is_named(path) for path in configs):
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self.path.unlink()
                self.path.parent.rmdir()

    def _is_named(self, config: Path) -> bool:
        return self.path.name in config.read_text(encoding="utf-8")

    def close(self) -> None:
        self._file.close()


def _placed(data: Frame | np.ndarray, folder: Path, name: str) -> tuple[Path, bool]:
    """Writes data to the file of their digest; returns it, and whether it is new."""
    part = folder / f".{name}-{os.getpid()}-{threading.get_ident()}.part"
    try:
        with part.open("wb") as file:
            write(data, file)
            file.flush()
            os.fsync(file.fileno())
        path = folder / f"{name}-{_digest(part)}{ending_of(data)}"
        is_new = not path.exists()
        if is_new:
            part.replace(path)
        return path, is_new
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
            folder.rmdir()  # if it is empty


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()[:12]


def read_csv(text: str, texts: Container[str] = ()) -> dict[str, np.ndarray]:
    """Returns the columns of a table that the command has written.

    Numbers are float64, times without an offset datetime64[us]; others, and the columns named in
    ``texts``, are objects (str).
    """
    rows = csv.reader(io.StringIO(text, newline=""))
    names = next(rows, [])
    fields = list(zip(*rows)) or [()] * len(names)
    return {
        name: objects(values) if name in texts else _column(values)
        for name, values in zip(names, fields)
    }


_NUMBER = re.compile(r"|-?(nan|inf|(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?)", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(\.\d+)?)?", re.ASCII)


def _column(fields: Sequence[str]) -> np.ndarray:
    if all(map(_NUMBER.fullmatch, fields)):
        return np.array([float(x or "nan") for x in fields])
    if all(map(_TIME.fullmatch, fields)):
        with suppress(ValueError):  # such as 2024-13-01
            return np.array(fields, dtype="datetime64[us]")
    return objects(fields)


def toml_value(value: Any) -> str:
    """Returns a value as TOML writes it. Raises UsageError for other types."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, os.PathLike)):
        return json.dumps(os.fspath(value), ensure_ascii=False)
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{k} = {toml_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    raise UsageError(f"a config cannot hold {value!r} of type {type(value).__name__}")


def toml_text(config: Mapping[str, Mapping[str, Any]]) -> str:
    """Returns a config of sections as TOML."""
    return "".join(
        f"[{section}]\n" + "".join(f"{key} = {toml_value(v)}\n" for key, v in keys.items())
        for section, keys in config.items()
    )


def set_options(settings: Mapping[str, Any]) -> list[str]:
    """Returns the options --set of config keys; a text may be a bare word such as 20e."""
    return [
        word
        for key, value in settings.items()
        for word in ("--set", f"{key}={value if isinstance(value, str) else toml_value(value)}")
    ]


def read_safetensors(data: bytes) -> dict[str, np.ndarray]:
    """Returns the tensors of a safetensors file of F32 by name."""
    start = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if name != "__metadata__":
            begin, end = (start + offset for offset in entry["data_offsets"])
            tensors[name] = np.frombuffer(data[begin:end], "<f4").reshape(entry["shape"]).copy()
    return tensors
