"""The command in a process of its own: where it is, how it is called, how it stops."""

from __future__ import annotations

import errno
import functools
import importlib.metadata
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import IO, Any

from .errors import DONE, Note, UsageError, error_of, storage_errors

_MISSING = (
    "cannot find the program bochner; install the wheel (pip install bochner), put the program on "
    "PATH, or name it in the environment variable BOCHNER_PROGRAM"
)


def program() -> str:
    """Returns the path of the program: BOCHNER_PROGRAM, that of this package, or that on PATH.

    Raises UsageError if there is none.
    """
    named = os.environ.get("BOCHNER_PROGRAM")
    if named and not shutil.which(named):
        raise UsageError(f"BOCHNER_PROGRAM={named}: no such program")
    found = named or _packaged() or shutil.which("bochner")
    if not found:
        raise UsageError(_MISSING)
    return found


@functools.cache
def _packaged() -> str | None:
    """Returns the program that was installed with this package."""
    try:
        listed = importlib.metadata.files("bochner") or []
    except importlib.metadata.PackageNotFoundError:
        listed = []
    paths = [file.locate() for file in listed if file.parts[-2:] == ("bin", "bochner")]
    return next((os.path.normpath(path) for path in paths if shutil.which(path)), None)


def warn(text: str) -> None:
    """Warns with a note of the command, at the line of the caller outside of this package."""
    depth, frame = 2, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == "bochner":
        depth, frame = depth + 1, frame.f_back
    warnings.warn(Note(text), stacklevel=depth)


def settle(code: int, errors: str, allowed: Iterable[int] = (DONE,)) -> int:
    """Warns with the notes on the standard error and raises if the code is not allowed."""
    lines = [line for line in errors.splitlines() if line.strip()]
    problems = [] if code in allowed else [x for x in lines if not x.startswith("note")][-1:]
    for line in lines:
        if line not in problems:
            warn(line.removeprefix("note").strip())
    if code not in allowed:
        raise error_of(code, "".join(problems))
    return code


@storage_errors()
def _start(arguments: Sequence[str | os.PathLike], **options: Any) -> subprocess.Popen:
    """Starts the command with a pipe as its standard output."""
    words = ["bochner", *map(os.fspath, arguments)]
    try:
        return subprocess.Popen(words, executable=program(), stdout=subprocess.PIPE, **options)
    except OSError as error:
        if error.errno != errno.E2BIG:
            raise
        raise UsageError(
            "too many or too long arguments for a command; give fewer at once"
        ) from None


def call(arguments: Sequence[str | os.PathLike]) -> bytes:
    """Runs a command to its end and returns its standard output.

    Raises the exception of its exit code. A KeyboardInterrupt ends the command.
    """
    child = _start(
        arguments, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        output, errors = child.communicate()
    except BaseException:
        child.kill()
        child.wait()
        raise
    settle(child.returncode, errors.decode("utf-8", "replace"))
    return output


def call_json(arguments: Sequence[str | os.PathLike]) -> list[Any]:
    """Runs a command with ``--json`` and returns the value of each line that it prints."""
    return [json.loads(line) for line in call([*arguments, "--json"]).splitlines()]


class Training:
    """A command that trains, saves when it is asked to stop, and stops when this process ends.

    It is started in a session of its own from the main thread, which passes ^C on to it. From
    another thread it stays in the group of this process, and receives ^C from the terminal itself.
    """

    _running: weakref.WeakSet[Training] = weakref.WeakSet()
    _lock = threading.RLock()

    def __init__(self, arguments: Sequence[str | os.PathLike]):
        self._hold = -1
        self._errors: IO[bytes] = tempfile.TemporaryFile()
        self._in_main_thread = threading.current_thread() is threading.main_thread()
        with self._lock:  # no fork of this process may copy the pipe unseen
            held, self._hold = os.pipe()
            try:
                self.child = _start(
                    [*arguments, "--with-parent"],
                    stdin=held,
                    stderr=self._errors,
                    start_new_session=self._in_main_thread,
                )
                self._running.add(self)
            except BaseException:
                self.stop()
                raise
            finally:
                os.close(held)

    def __del__(self) -> None:
        self.stop()  # after an exception before follow()

    def stop(self) -> None:
        """Asks the command to save and stop. It may be called again, from any thread."""
        with self._lock:
            hold, self._hold = self._hold, -1
        if hold >= 0:
            os.close(hold)

    def follow(self, tell: Callable[[str], None]) -> int:
        """Calls tell(line) with each line that is printed and returns the exit code.

        If anything is raised meanwhile, the command saves and stops before the exception is raised again.
        After ^C a second one, a second later or more, ends the command at once.
        """
        try:
            for line in self.child.stdout:
                tell(line.decode("utf-8", "replace").rstrip("\n"))
            return self.child.wait()
        except KeyboardInterrupt:
            self._pass_on_interrupts()
            raise
        except BaseException:
            self.stop()
            self._drain()
            raise
        finally:
            self._end()

    def errors(self) -> str:
        """Returns what the command has written to its standard error."""
        with self._errors as file:
            file.seek(0)
            return file.read().decode("utf-8", "replace")

    def _pass_on_interrupts(self) -> None:
        while self.child.poll() is None:
            try:
                if self._in_main_thread:
                    self.child.send_signal(signal.SIGINT)
                self._drain()
            except KeyboardInterrupt:
                continue

    def _drain(self) -> None:
        self.child.stdout.read()
        self.child.wait()

    def _end(self) -> None:
        with self._lock:
            self._running.discard(self)
        self.stop()
        self.child.stdout.close()


def stop() -> None:
    """Asks all trainings of this process to save and stop; their calls return stopped runs."""
    with Training._lock:
        running = list(Training._running)
    for training in running:
        training.stop()


def _forget_trainings() -> None:
    """Closes a forked process's copies of the pipes, whose ends tell that the parent has ended."""
    Training._lock = threading.RLock()
    for training in list(Training._running):
        training.stop()
    Training._running = weakref.WeakSet()


os.register_at_fork(
    before=lambda: Training._lock.acquire(),
    after_in_parent=lambda: Training._lock.release(),
    after_in_child=_forget_trainings,
)
