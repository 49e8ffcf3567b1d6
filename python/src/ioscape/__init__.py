"""What is fast on an I/O system and why, and how fast a workload will be: the program `ioscape` as functions.

Every function runs the program and gives its document. Options are keyword arguments: `size_mean="4k"` is `--size-mean 4k`.
Sizes are texts such as `"64M"` (powers of 1024) or numbers of bytes, times are texts such as `"30s"`. Every function raises `Misuse`,
`Failed`, `ConditionFailed` or `Interrupted` with the program's own sentence.
"""

from __future__ import annotations

from typing import Any

from . import trace
from ._command import Words, binary, document as _document, load
from ._documents import Document
from .errors import ConditionFailed, Failed, Interrupted, IoscapeError, Misuse

__all__ = [
    "ConditionFailed", "Document", "Failed", "Interrupted", "IoscapeError", "Misuse", "binary", "characterize", "compare", "doctor",
    "evaluate", "load", "predict", "run", "simulate", "trace",
]


def evaluate(target: Words, **options: Any) -> Document:
    """Finds out what is fast in a directory, file or device, and why; see `evaluation`. Takes ten minutes, or `budget`."""
    return _document(["evaluate", target], options)


def run(target: Words = ".", jobs: Words | None = None, **options: Any) -> Document:
    """Runs one workload given by options, or those of the job file `jobs`; see `measurements`."""
    return _document(["run", target, *([jobs] if jobs is not None else [])], options)


def predict(*results: Words, **options: Any) -> Document:
    """Predicts workloads on evaluated systems without running them; see `predictions`."""
    return _document(["predict", *results], options)


def compare(*results: Words, **options: Any) -> Document:
    """Compares results of one kind. With `fail_if="throughput < 0.95"` it raises `ConditionFailed` where that holds."""
    return _document(["compare", *results], options)


def characterize(command: list[str], **options: Any) -> Document:
    """Runs `command` and describes its I/O by five parameters; see `characterization`."""
    return _document(["characterize"], options, command)


def simulate(trace: Words, **options: Any) -> Document:
    """Runs a trace on a simulated drive; see `simulation`."""
    return _document(["simulate", trace], options)


def doctor(directory: Words = ".", **options: Any) -> Document:
    """What this machine allows; see `doctor` of the document. Raises `Failed` where nothing can be measured."""
    return _document(["doctor", directory], options)
