"""Exceptions and warnings, each with the words of the command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Error(RuntimeError):
    """The command failed: a loss that is not finite, too little memory, a bug (exit code 1)."""


class UsageError(Error, ValueError):
    """An option or a config is wrong (exit code 2)."""


class DataError(Error, ValueError):
    """Data or a checkpoint cannot be used (exit code 65)."""


class StorageError(Error, OSError):
    """A file cannot be read or written (exit code 74)."""


class Note(UserWarning):
    """A note or warning of the command."""


#: Exit codes of the command; see "How a run ends" in docs/running.md.
DONE, FAILED, USAGE, DATA, STORAGE, STOPPED = 0, 1, 2, 65, 74, 75

_KINDS = {USAGE: UsageError, DATA: DataError, STORAGE: StorageError}


@contextmanager
def storage_errors() -> Iterator[None]:
    """Raises each OSError of Python as a StorageError."""
    try:
        yield
    except OSError as error:
        raise StorageError(str(error)) from error


def error_of(code: int, words: str) -> Error:
    """Returns the exception for an exit code, with the words of the command."""
    if code < 0:
        words = f"the command was ended by signal {-code}" + (f": {words}" if words else "")
    return _KINDS.get(code, Error)(words or f"the command ended with exit code {code}")
