"""What is fast on an I/O system and why, and how fast a workload will be: the program `ioscape` as functions.

Every function runs the program and gives its document. Options are keyword arguments: `size_mean="4k"` is `--size-mean 4k`, `from_="1h"`
is `--from 1h`. Sizes are texts such as `"64M"` (powers of 1024) or numbers of bytes, times are texts such as `"500ms"` or numbers of
seconds. The options of each function are typed, so that an editor knows them; a name that the command does not have is a `Misuse`.
Every function raises `Misuse`, `Failed`, `ConditionFailed` or `Interrupted` with the program's own sentence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import trace
from ._command import Words, binary, document as _document, load, takes as _takes
from ._documents import Document
from ._options import (CharacterizeOptions, CompareOptions, DoctorOptions, EvaluateOptions, PredictOptions, RunOptions,
                       SimulateOptions)
from .errors import CommandFailed, ConditionFailed, Failed, Interrupted, IoscapeError, Misuse

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "CommandFailed", "ConditionFailed", "Document", "Failed", "Interrupted", "IoscapeError", "Misuse", "binary", "characterize", "compare",
    "doctor", "evaluate", "load", "predict", "run", "simulate", "trace",
]


@_takes("evaluate", EvaluateOptions)
def evaluate(target: Words, **options: Unpack[EvaluateOptions]) -> Document:
    """Finds out what is fast in a directory, file or device, and why; see `evaluation`. Takes ten minutes, or `budget`."""
    return _document(["evaluate", target], options)


@_takes("run", RunOptions)
def run(target: Words = ".", jobs: Words | None = None, **options: Unpack[RunOptions]) -> Document:
    """Runs one workload given by options, or those of the job file `jobs`; see `measurements`."""
    return _document(["run", target, *([jobs] if jobs is not None else [])], options)


@_takes("predict", PredictOptions)
def predict(*results: Words, **options: Unpack[PredictOptions]) -> Document:
    """Predicts workloads on evaluated systems without running them; see `predictions`."""
    return _document(["predict", *results], options)


@_takes("compare", CompareOptions)
def compare(*results: Words, **options: Unpack[CompareOptions]) -> Document:
    """Compares results of one kind. With `fail_if="throughput < 0.95"` it raises `ConditionFailed` where that holds."""
    return _document(["compare", *results], options)


@_takes("characterize", CharacterizeOptions)
def characterize(command: list[str], **options: Unpack[CharacterizeOptions]) -> Document:
    """Runs `command` and describes its I/O by five parameters; see `characterization`. Where it fails itself, `CommandFailed` has that, too."""
    return _document(["characterize"], options, command)


@_takes("simulate", SimulateOptions)
def simulate(trace: Words, **options: Unpack[SimulateOptions]) -> Document:
    """Runs a trace on a simulated drive; see `simulation`."""
    return _document(["simulate", trace], options)


@_takes("doctor", DoctorOptions)
def doctor(directory: Words = ".", **options: Unpack[DoctorOptions]) -> Document:
    """What this machine allows; see `doctor` of the document. Raises `Failed` where nothing can be measured."""
    return _document(["doctor", directory], options)
