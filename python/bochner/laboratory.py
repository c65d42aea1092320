"""Studies of kernels without training a model; see docs/studies.md."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from .process import call_json
from .run import Run, option_words


def kernel(
    config: str | os.PathLike | None = None, study: str | None = None, **options: Any
) -> Any:
    """Measures how well a feature map estimates a kernel.

    ``study`` is None, "fit" (a density to a kernel), "compare" (learned and fixed maps) or
    "clusters". ``options`` are those of ``bochner kernel``: ``features``, ``density``, ``draws``,
    ``d``, ``m`` (a list of numbers of frequencies), ``seeds``, ``error``, ``scale``, ``data`` (a
    run), ``target``, ``steps``. ``queries``, ``keys`` and ``target`` may be arrays: (n, d) queries
    and keys; rows of (delta, k) of a kernel to fit.

    Returns a list of dicts, whose lists of numbers are arrays.
    """
    with tempfile.TemporaryDirectory(prefix="bochner-") as folder:
        for name, value in options.items():
            if isinstance(value, np.ndarray):
                options[name] = Path(folder) / f"{name}.npy"
                np.save(options[name], value)
            elif isinstance(value, Run):
                options[name] = value.reference
        words = [word for word in (study, config) if word is not None]
        lines = call_json(["kernel", *words, *option_words(options)])
    return [_with_arrays(line) for line in lines]


def _with_arrays(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_arrays(item) for key, item in value.items()}
    if isinstance(value, list):
        is_numbers = value and all(isinstance(item, (int, float)) for item in value)
        return np.array(value) if is_numbers else [_with_arrays(item) for item in value]
    return value
