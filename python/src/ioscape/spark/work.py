"""What executors do: each function runs the program once and gives bytes, or the sentence with which it failed.

Misuse would fail on every executor alike, so it is given back instead of raised; other failures are raised, and Spark tries again elsewhere.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable, Optional

from .._command import binary
from ..errors import Failed
from .plan import Shard


@dataclass(frozen=True)
class Piece:
    """What a task gives: the state of a stretch, or a document, or why there is none."""

    position: int
    content: bytes
    refused: Optional[str] = None


def _run(words: list[str]) -> Optional[str]:
    """Runs the program; the sentence if it refused. Raises `Failed` if it failed otherwise."""
    try:
        done = subprocess.run([binary(), *words, "--quiet"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        raise Failed(f"cannot run {binary()}: {error.strerror}") from None
    if done.returncode == 0:
        return None
    said = [line for line in done.stderr.splitlines() if line.strip()]
    sentence = said[-1].removeprefix("ioscape: ") if said else f"ioscape ended with {done.returncode}"
    if done.returncode == 2:
        return sentence
    raise Failed(sentence)


def state_of(shard: Shard, options: list[str], threads: int) -> Piece:
    """Analyzes one shard; its state."""
    with tempfile.TemporaryDirectory(prefix="ioscape-spark-") as place:
        state = Path(place) / "part.ioscape-state"
        words = ["trace", "analyze", *shard.paths, *shard.options(), *options, "--threads", str(threads), "--state", str(state)]
        refused = _run(words)
        return Piece(shard.position, b"" if refused else state.read_bytes(), refused)


def merged(position: int, pieces: Iterable[Piece]) -> Piece:
    """Puts neighbours together in the order of their positions."""
    ordered = sorted(pieces, key=lambda piece: piece.position)
    refused = next((piece.refused for piece in ordered if piece.refused), None)
    if refused or len(ordered) == 1:
        return Piece(position, b"" if refused else ordered[0].content, refused)
    with tempfile.TemporaryDirectory(prefix="ioscape-spark-") as place:
        parts = []
        while ordered:
            piece = ordered.pop(0)
            parts.append(Path(place) / f"{piece.position:08}.ioscape-state")
            parts[-1].write_bytes(piece.content)
        whole = Path(place) / "whole.ioscape-state"
        refused = _run(["trace", "merge", *map(str, parts), "--state", str(whole)])
        return Piece(position, b"" if refused else whole.read_bytes(), refused)


def imported(source: str, target: str, options: list[str]) -> tuple[str, Optional[str]]:
    """Imports one trace; its file, and why there is none."""
    return target, _run(["trace", "import", source, "-o", target, *options])


def simulated(position: int, words: list[str]) -> Piece:
    """Simulates one combination; its document."""
    with tempfile.TemporaryDirectory(prefix="ioscape-spark-") as place:
        result = Path(place) / "one.ioscape.json"
        refused = _run(["simulate", *words, "-o", str(result)])
        return Piece(position, b"" if refused else result.read_bytes(), refused)


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0))
