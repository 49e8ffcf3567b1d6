"""What executors do: each function runs the program once and gives bytes, or the sentence with which it failed.

Misuse would fail on every executor alike, so it is given back instead of raised; other failures are raised, and Spark tries again elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterable, Optional

from .._command import binary
from ..errors import Failed
from .place import Place, place
from .plan import Shard


@dataclass(frozen=True)
class Piece:
    """What a task gives: the state of a stretch, or a document, or why there is none."""

    position: int
    content: bytes
    refused: Optional[str] = None


def _run(here: Place, words: list[str], feed: Optional[Callable[[Any], None]] = None) -> Optional[str]:
    """Runs the program; the sentence if it refused. Raises `Failed` if it failed otherwise."""
    try:
        code, told = here.run([binary(), *words, "--quiet"], feed)
    except OSError as error:
        raise Failed(f"cannot run {binary()}: {error.strerror}") from None
    if code == 0:
        return None
    said = [line for line in told.splitlines() if line.strip()]
    sentence = said[-1].removeprefix("ioscape: ") if said else f"ioscape ended with {code}"
    if code == 2:
        return sentence
    raise Failed(sentence)


def state_of(shard: Shard, options: list[str], threads: int, feed: Optional[Callable[[Any], None]] = None) -> Piece:
    """Analyzes one shard; its state. `feed` writes its rows, where its path is `-`."""
    with place() as here:
        state = here.path / "part.ioscape-state"
        words = ["trace", "analyze", *shard.paths, *shard.options(), *options, "--threads", str(threads), "--state", str(state)]
        refused = _run(here, words, feed)
        return Piece(shard.position, b"" if refused else state.read_bytes(), refused)


def kept(here: Place, pieces: Iterable[Piece]) -> tuple[list[Path], Optional[str]]:
    """Writes states to files as they come, so that one at a time is in memory; the files in order, and why one is missing."""
    refused = None
    for piece in pieces:
        refused = refused or piece.refused
        (here.path / f"{piece.position:08}.ioscape-state").write_bytes(piece.content)
    return sorted(here.path.iterdir()), refused


def merged(position: int, pieces: Iterable[Piece]) -> Piece:
    """Puts neighbours together in the order of their positions."""
    with place() as here:
        parts, refused = kept(here, pieces)
        if not refused and len(parts) == 1:
            return Piece(position, parts[0].read_bytes())
        whole = here.path / "whole.ioscape-state"
        refused = refused or _run(here, ["trace", "merge", *map(str, parts), "--state", str(whole)])
        return Piece(position, b"" if refused else whole.read_bytes(), refused)


def imported(source: str, target: str, options: list[str]) -> tuple[str, Optional[str]]:
    """Imports one trace; its file, and why there is none."""
    with place() as here:
        return target, _run(here, ["trace", "import", source, "-o", target, *options])


def simulated(position: int, words: list[str]) -> Piece:
    """Simulates one combination; its document."""
    with place() as here:
        result = here.path / "one.ioscape.json"
        refused = _run(here, ["simulate", *words, "-o", str(result)])
        return Piece(position, b"" if refused else result.read_bytes(), refused)
