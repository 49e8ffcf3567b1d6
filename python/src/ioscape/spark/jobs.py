"""The jobs: shards of a trace analyzed and merged in a tree, traces imported, simulations swept."""

from __future__ import annotations

import os
import secrets
import subprocess
from itertools import product
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Optional, Sequence

from .._command import Words, binary, load, of_json
from .._documents import Document
from ..errors import Failed, Misuse
from . import work
from .place import place
from .plan import Shard, expand, plan
from .session import sentence

# States that one task puts together. More means fewer levels, and more memory and temporary space for a task.
FAN_IN = 8


def carried_out(ask: Callable[[], Any]) -> Any:
    """What Spark gives; a lost job as the sentence that the program ended with."""
    try:
        return ask()
    except Exception as error:  # noqa: BLE001: Py4J raises classes of its own
        raise Failed(sentence(error)) from None


def threads_of(context: Any) -> int:
    return int(context.getConf().get("spark.task.cpus", "1"))


def _put_together(position: int, pairs: Iterable[tuple[int, work.Piece]]) -> Iterator[work.Piece]:
    yield work.merged(position, (piece for _, piece in pairs))


def _tree(pieces: Any, count: int, fan_in: int) -> Any:
    """Neighbours are put together, `fan_in` at a time, until one task is left; positions carry the order."""
    while True:
        keyed = pieces.map(lambda piece: (piece.position // fan_in, piece))
        count = -(-count // fan_in)
        # A partition is one task's states, and comes as a stream: a group would be gathered in memory.
        pieces = keyed.partitionBy(count, int).mapPartitionsWithIndex(_put_together)
        if count <= fan_in:
            return pieces


def analyze(spark: Any, patterns: Sequence[str], output: Words, options: Sequence[str] = (), result_options: Sequence[str] = (),
            shards: Optional[int] = None, at_ns: Optional[Sequence[int]] = None, by_disk: bool = False, fan_in: int = FAN_IN,
            planned: Callable[[list[Shard]], None] = lambda _: None) -> Document:
    """Analyzes the trace in these Parquet files and writes the result to `output`; the same as of `ioscape trace analyze`.

    `options` are those of `ioscape trace analyze`, `result_options` those of `ioscape trace merge`; for the others see `plan`. Nothing is
    written before all is known. Raises `Misuse` and `Failed` with the program's sentence.
    """
    context = spark.sparkContext
    found = plan(patterns, shards, at_ns, by_disk, context.defaultParallelism)
    planned(found)
    threads, options = threads_of(context), list(options)
    pieces = context.parallelize(found, len(found)).map(lambda shard: work.state_of(shard, options, threads))
    return put_together(pieces, len(found), fan_in, output, result_options)


def put_together(pieces: Any, count: int, fan_in: int, output: Words, result_options: Sequence[str]) -> Document:
    """Merges states, `count` pieces in an RDD, and writes the result. Raises as `analyze`."""
    from pyspark import StorageLevel

    last = _tree(pieces, count, fan_in).persist(StorageLevel.DISK_ONLY)
    carried_out(last.count)
    with place() as here:
        # One state after the other: all of them need not fit into this process.
        parts, refused = work.kept(here, carried_out(lambda: last.toLocalIterator()))
        if refused:
            raise Misuse(refused)
        last.unpersist()
        return _result([*map(str, parts), "-o", os.fspath(output), *result_options])


def _result(words: list[str]) -> Document:
    done = subprocess.run([binary(), "trace", "merge", *words, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.strip()] or ["ioscape failed"]
        raise (Misuse if done.returncode == 2 else Failed)(said[-1].removeprefix("ioscape: "))
    return of_json(done.stdout)


def _stem(path: str) -> str:
    """The name of a trace without its folders and endings."""
    name = os.path.basename(path)
    for packed in (".gz", ".bz2", ".xz", ".zst"):
        name = name.removesuffix(packed)
    return os.path.splitext(name)[0] or name


def _first_twice(names: Iterable[Any]) -> Optional[Any]:
    """The first of the names that another one before it has."""
    seen: set[Any] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def import_(spark: Any, patterns: Sequence[str], output: Words, options: Sequence[str] = ()) -> list[str]:
    """Imports each trace as one Parquet file in the directory `output`; the files, in order.

    `options` are those of `ioscape trace import`. Raises `Misuse` where two files would have one name, or the program refuses one; a file
    appears when it is whole, and those that were made before a refusal stay.
    """
    sources = expand(patterns)
    targets = [os.path.join(os.path.abspath(output), _stem(path) + ".parquet") for path in sources]
    twice = _first_twice(targets)
    if twice is not None:
        raise Misuse(f"two traces would be imported as {os.path.basename(twice)}: import them into different directories")
    made = not os.path.exists(output)
    os.makedirs(output, exist_ok=True)
    pairs, options = list(zip(map(os.path.abspath, sources), targets)), list(options)
    tasks = spark.sparkContext.parallelize(pairs, len(pairs)).map(lambda pair: work.imported(pair[0], pair[1], options))
    try:
        outcomes = carried_out(tasks.collect)
    finally:
        if made and not os.listdir(output):
            os.rmdir(output)
    refused = next((why for _, why in outcomes if why), None)
    if refused is not None:
        raise Misuse(refused)
    return [name for name, _ in outcomes]


def sweep(spark: Any, traces: Sequence[str], drives: Sequence[str], caches: Sequence[str], output: Words,
          options: Sequence[str] = (), force: bool = False) -> list[tuple[Path, Document]]:
    """Simulates every trace on every drive with every cache, one document each in the directory `output`.

    `options` are others of `ioscape simulate`, the same for all. Nothing is written before all are simulated; a file that is no result of
    ioscape is not replaced without `force`. Raises `Misuse` where two documents would have one name.
    """
    combinations = list(product(expand(traces), drives, caches or [""]))
    places = [Path(output) / ("--".join(filter(None, (_stem(path), _stem(drive), cache.replace(":", "-")))) + ".ioscape.json")
              for path, drive, cache in combinations]
    twice = _first_twice(places)
    if twice is not None:
        raise Misuse(f"two simulations would be written as {twice.name}: sweep them into different directories")
    for name in places:
        if name.exists() and not force:
            try:
                load(name)
            except (Misuse, ValueError):
                raise Misuse(f"{name} is no result of ioscape: give --force to replace it") from None
    words = [[os.path.abspath(path), "--drive", os.path.abspath(drive) if os.path.exists(drive) else drive, *(["--cache", cache] if cache else []), *options]
             for path, drive, cache in combinations]
    tasks = spark.sparkContext.parallelize(list(enumerate(words)), len(words)).map(lambda one: work.simulated(*one))
    pieces = sorted(carried_out(tasks.collect), key=lambda piece: piece.position)
    refused = next((piece.refused for piece in pieces if piece.refused), None)
    if refused is not None:
        raise Misuse(refused)
    os.makedirs(output, exist_ok=True)
    for name, piece in zip(places, pieces):
        # Under a name that nobody can have taken: a link of another user would lead elsewhere.
        draft = name.with_name(f".ioscape-{secrets.token_hex(8)}.part")
        try:
            with draft.open("xb") as file:
                file.write(piece.content)
            draft.replace(name)
        finally:
            draft.unlink(missing_ok=True)
    return [(name, load(name)) for name in places]
