"""Progress of a training, and HTML of runs for notebooks."""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .run import Run


class Page(str):
    """HTML of a report, which a notebook shows in a frame."""

    def save(self, path: str | Path) -> Path:
        """Writes the page to a file."""
        path = Path(path)
        path.write_text(self, encoding="utf-8")
        return path

    def _repr_html_(self) -> str:
        return framed(self, 720)


def framed(page: str, height: int) -> str:
    """Returns a page in a frame, so that its styles do not reach the notebook."""
    return (
        f'<iframe srcdoc="{html.escape(page)}" style="width:100%;height:{height}px;border:0">'
        "</iframe>"
    )


def run_html(run: Run) -> str:
    """Returns the verdict, the first chart of the report, and the last metrics of a run."""
    from .errors import Error

    parts = [f"<b>{html.escape(run.reference)}</b>" + (" (stopped)" if run.stopped else "")]
    if run.verdict:
        parts.append(html.escape(str(run.verdict)))
    try:
        parts.append(_first_chart(run.page()))
    except Error as error:  # such as a run without a checkpoint
        parts.append(html.escape(str(error)))
    parts.append(_table(run.metrics))
    return "".join(f"<div>{part}</div>" for part in parts if part)


def _first_chart(page: str) -> str:
    style = re.search(r"<style>.*?</style>", page, re.DOTALL)
    chart = re.search(r"<svg.*?</svg>", page, re.DOTALL)
    if not chart:
        return ""
    body = f'<div style="max-width:480px">{chart[0]}</div>'
    return framed((style[0] if style else "") + body, 380)


def _table(metrics: list[dict[str, Any]]) -> str:
    """Returns the last value of each number of the metrics."""
    last = {k: v for line in metrics for k, v in line.items() if isinstance(v, (int, float))}
    if not last:
        return ""
    cells = "".join(f"<tr><td>{html.escape(k)}</td><td>{v:.6g}</td></tr>" for k, v in last.items())
    return f"<table>{cells}</table>"


class Display:
    """Shows the progress of a training: a bar in a notebook, a line on a terminal, else nothing."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._is_notebook = _in_notebook()
        self._is_terminal = not self._is_notebook and sys.stderr.isatty()
        self._width = 0

    def show(self, step: int, total: int, words: str) -> None:
        if self._is_notebook:
            bar = f'<progress value="{step}" max="{total}"></progress> '
            self._update(bar + f"step {step}/{total}  {html.escape(words)}")
        elif self._is_terminal:
            self._write(f"step {step}/{total}  {words}")

    def end(self, words: str) -> None:
        """Replaces the progress by how the training ended."""
        if self._is_notebook and words:
            self._update(html.escape(words))
        elif self._is_terminal:
            self._write(words)
            sys.stderr.write("\n" if self._width else "")

    def _update(self, text: str) -> None:
        from IPython.display import HTML, display

        if self._handle is None:
            self._handle = display(HTML(text), display_id=True)
        else:
            self._handle.update(HTML(text))

    def _write(self, line: str) -> None:
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)


def _in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"
