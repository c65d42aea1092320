"""Growth of this process over many trainings: python many_trainings.py [NUMBER=1000]"""

import os
import sys
import tempfile
import warnings

import numpy as np

import bochner


def growth(before, trainings):
    """Returns how many KiB of memory and files this process holds more after these trainings."""
    _train(before)
    memory, files = _held()
    _train(trainings)
    more_memory, more_files = _held()
    return more_memory - memory, more_files - files


def _train(count):
    x = np.arange(40.0)
    for _ in range(count):
        with tempfile.TemporaryDirectory() as folder:
            data = {"x": x, "y": x + np.sin(x)}
            run = bochner.train(data, run=f"{folder}/run", threads=1, progress=False)
            run.predict(data)


def _held():
    with open("/proc/self/statm") as statm:
        pages = int(statm.read().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") // 1024, len(os.listdir("/proc/self/fd"))


if __name__ == "__main__":
    warnings.simplefilter("ignore", bochner.Note)
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    kibibytes, files = growth(20, number)
    print(f"{kibibytes} KiB and {files} files more after {number} trainings")
