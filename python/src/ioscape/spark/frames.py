"""A trace in a DataFrame of Spark: executors give its rows to the program as the Arrow batches that Spark makes of them."""

from __future__ import annotations

import math
from contextlib import suppress
from itertools import groupby
from typing import Any, Iterable, Iterator, Optional, Sequence

from .._command import Words
from .._documents import Document
from ..errors import Misuse
from . import work
from .jobs import FAN_IN, carried_out, put_together, threads_of
from .plan import ROWS_OF_A_SHARD, Shard

# The columns of docs/trace-schema.md. Rows of one time are put in the order of the others, so that nothing depends on Spark's.
_COLUMNS = ("queued_ns", "issued_ns", "completed_ns", "device", "partition", "is_write", "offset_bytes", "length_bytes", "flags", "io_type",
            "queue_length", "process_id", "command", "error")
_NEEDED = ("queued_ns", "is_write", "offset_bytes", "length_bytes")
_NUMBERS = ("bigint", "int", "smallint", "tinyint")
_KINDS = {"is_write": ("boolean",), "device": (*_NUMBERS, "string"), "command": ("string",)}
# The column that says which shard a row is of.
_SHARD = "_ioscape_shard"
# Times where a trace is cut are told exactly as floating-point numbers, as which quantiles come, up to here: 104 days.
_LATEST_NS = 1 << 53
# What is known of a stretch, as a table of Spark.
_PIECE = "position bigint, content binary, refused string"


def analyze_frame(frame: Any, output: Words, options: Sequence[str] = (), result_options: Sequence[str] = (),
                  shards: Optional[int] = None, fan_in: int = FAN_IN) -> Document:
    """Analyzes the trace in a DataFrame with the columns of docs/trace-schema.md and writes the result to `output`.

    Times are in nanoseconds from the beginning of the trace, at most 104 days; offsets and lengths in bytes; `device` (or numbers from 0) and
    `command` are names. Other columns are passed over. The result is that of `ioscape trace analyze` of the same rows, sorted by
    `queued_ns` and, where that is the same, by the other columns in the order of the schema. `shards` is how many stretches of time there
    shall be (default: of about 20 million rows, at least two for each task that runs at once); `options`, `result_options` and `fan_in`
    are those of `analyze`. The rows are read three times: to count them, for the times to cut at, and for the analysis. Raises `Misuse`
    where the columns are none of a trace, and `Misuse` and `Failed` with the program's sentence.
    """
    context = carried_out(lambda: frame.sparkSession.sparkContext)
    rows = frame.select(*_taken(frame))
    found = _stretches(rows, shards, context.defaultParallelism)
    threads, options, count = threads_of(context), list(options), len(found)
    keyed = _keyed(rows, [shard.from_ns for shard in found[1:]])
    ordered = keyed.repartitionByRange(count, _SHARD).sortWithinPartitions(*rows.columns)
    states = ordered.mapInArrow(lambda batches: _states(batches, found, options, threads), _PIECE)
    pieces = states.rdd.map(lambda row: work.Piece(row.position, bytes(row.content), row.refused))
    return put_together(pieces, count, fan_in, output, result_options)


def _taken(frame: Any) -> list[str]:
    """The columns of a trace among those of the DataFrame."""
    kinds = dict(frame.dtypes)
    lacking = next((name for name in _NEEDED if name not in kinds), None)
    if lacking is not None:
        raise Misuse(f'the DataFrame has no column "{lacking}", so it holds no trace')
    for name in _COLUMNS:
        wanted = _KINDS.get(name, _NUMBERS)
        if name in kinds and kinds[name] not in wanted:
            raise Misuse(f'the column "{name}" of the DataFrame is of type {kinds[name]}, where a trace has {wanted[0]}')
    return [name for name in _COLUMNS if name in kinds]


def _keyed(rows: Any, cuts: Sequence[Optional[int]]) -> Any:
    """The rows with the number of the stretch that each is of."""
    from pyspark.sql import functions

    if not cuts:
        return rows.withColumn(_SHARD, functions.lit(0))
    times = functions.array(*(functions.lit(cut).cast("bigint") for cut in cuts))
    return rows.withColumn(_SHARD, functions.size(functions.filter(times, lambda time: time <= functions.col("queued_ns"))))


def _stretches(rows: Any, shards: Optional[int], parallel: int) -> list[Shard]:
    """Stretches of about equal rows, none of them empty."""
    from pyspark.sql import functions

    figures = functions.count("*"), functions.min("queued_ns"), functions.max("queued_ns")
    total, first, last = carried_out(lambda: rows.agg(*figures).first())
    if total == 0:
        raise Misuse("the trace holds no requests")
    if last > _LATEST_NS:
        raise Misuse(f"queued_ns goes to {last}, which is more than 104 days: it counts nanoseconds from the beginning of the trace")
    wanted = shards or max(math.ceil(total / ROWS_OF_A_SHARD), 2 * parallel)
    shares = [at / wanted for at in range(1, wanted)]
    # Each is a time of the rows, so that no stretch is empty.
    near = carried_out(lambda: rows.approxQuantile("queued_ns", shares, 0.1 / wanted)) if shares else []
    cuts = sorted({int(time) for time in near if time > first})
    return [Shard(at, ("-",), begin, end) for at, (begin, end) in enumerate(zip([None, *cuts], [*cuts, None]))]


def _states(batches: Iterable[Any], shards: list[Shard], options: list[str], threads: int) -> Iterator[Any]:
    """On an executor: the state of each shard whose rows come, all rows of one after those of another."""
    import pyarrow

    for number, group in groupby(_by_shard(batches), key=lambda pair: pair[0]):
        piece = _state(shards[number], (batch for _, batch in group), options, threads)
        columns = {"position": [piece.position], "content": [piece.content], "refused": [piece.refused]}
        kinds = [("position", pyarrow.int64()), ("content", pyarrow.binary()), ("refused", pyarrow.string())]
        yield pyarrow.RecordBatch.from_pydict(columns, pyarrow.schema(kinds))


def _by_shard(batches: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    """Batches of rows of one shard each, without the column that says of which."""
    import pyarrow.compute as compute

    for batch in batches:
        numbers = batch.column(_SHARD)
        rest = batch.drop_columns([_SHARD])
        for number in sorted(compute.unique(numbers).to_pylist()):
            yield number, rest.filter(compute.equal(numbers, number))


def _state(shard: Shard, batches: Iterator[Any], options: list[str], threads: int) -> work.Piece:
    import pyarrow.ipc

    def feed(pipe: Any) -> None:
        first = next(batches)
        # A program that refuses what it reads closes the pipe, and says why.
        with suppress(BrokenPipeError), pipe, pyarrow.ipc.new_stream(pipe, first.schema) as writer:
            writer.write_batch(first)
            for batch in batches:
                writer.write_batch(batch)

    return work.state_of(shard, options, threads, feed)
