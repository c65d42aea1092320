"""bochner trains long-sequence models on processors, and every run resumes bit for bit.

>>> run = bochner.train(frame, target="sales", horizon=12)
>>> run.predict(frame)

Each call starts the command ``bochner`` in a process of its own; see docs/python.md.
"""

from __future__ import annotations

from .errors import DataError, Error, Note, StorageError, UsageError
from .laboratory import kernel
from .notebook import Page
from .process import program, stop
from .run import Run, Verdict
from .run import open_run as open  # noqa: A004 (bochner.open)
from .training import Sweep, compare, sweep, train

__all__ = [
    "DataError",
    "Error",
    "Note",
    "Page",
    "Run",
    "StorageError",
    "Sweep",
    "UsageError",
    "Verdict",
    "compare",
    "kernel",
    "open",
    "program",
    "stop",
    "sweep",
    "train",
]


def __getattr__(name: str) -> str:
    if name != "__version__":
        raise AttributeError(f"module 'bochner' has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("bochner")
    except PackageNotFoundError:  # the package lies beside a program that was built here
        from .process import call

        return call(["--version"]).decode().split()[1]
