"""How a trace in Parquet files is cut into shards: read from the files' footers, before any work is handed out."""

from __future__ import annotations

import glob
import json
import math
import os
from dataclasses import dataclass
from typing import Any, Optional, Sequence

from ..errors import Misuse

# Columns without which the program reads no trace, and their physical types.
_NEEDED = {"queued_ns": ("INT64", "INT32"), "is_write": ("BOOLEAN",), "offset_bytes": ("INT64", "INT32"), "length_bytes": ("INT64", "INT32")}
# Kinds of columns whose numbers stand for something else than themselves, unless they are whole and count in the units of a trace.
_NO_NUMBERS = ("TIMESTAMP", "TIME", "DATE", "DECIMAL")
# Eighteen years: where times begin so late they count from 1970, unless the file says otherwise.
_LATE_NS = 1 << 59

# Rows of a shard that take a processor about a quarter of a minute: so much is lost with an executor.
ROWS_OF_A_SHARD = 20_000_000


@dataclass(frozen=True)
class Shard:
    """A stretch of a trace: what one task analyzes."""

    # Place among the shards: by trace, by disks, by time.
    position: int
    # Files of the trace, all of them: the program reads of each the row groups that hold the stretch, where it can tell them.
    paths: tuple[str, ...]
    # First arrival of the stretch, in nanoseconds from the beginning of the trace; None: its beginning.
    from_ns: Optional[int]
    # The first arrival after it; None: the end of the trace.
    to_ns: Optional[int]
    # The name of the one disk taken; None: all of them.
    disk: Optional[str] = None

    def options(self) -> list[str]:
        """The stretch as options of `ioscape trace analyze`."""
        words = [] if self.from_ns is None else ["--from", f"{self.from_ns}ns"]
        words += [] if self.to_ns is None else ["--to", f"{self.to_ns}ns"]
        return words + ([] if self.disk is None else [f"--disk={self.disk}"])


@dataclass(frozen=True)
class _Part:
    """A file and what its footer tells."""

    path: str
    # Beginning of its clock in nanoseconds since 1970, where it is known.
    started_unix_ns: Optional[int]
    devices: tuple[str, ...]
    # First arrival and number of rows of each row group.
    groups: tuple[tuple[int, int], ...]
    # Whether it has tables, with which times count from the beginning of the trace.
    has_tables: bool


def expand(patterns: Sequence[str]) -> list[str]:
    """The files that the patterns name, each once, in the order of their names."""
    found: list[str] = []
    for pattern in patterns:
        named = sorted(glob.glob(pattern, recursive=True))
        if not named:
            raise Misuse(f"{pattern}: there is no such file")
        found += [path for path in named if path not in found]
    return found


def _footer(path: str) -> _Part:
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise Misuse("the shards are planned with pyarrow, which is not installed: pip install 'ioscape[spark]'") from None
    try:
        metadata = parquet.ParquetFile(path).metadata
    except (OSError, pyarrow.ArrowException) as error:
        raise Misuse(f"{path}: not a Parquet file ({str(error).splitlines()[0]}): "
                     "`python -m ioscape.spark import` makes some of other traces") from None
    place = _columns(path, metadata)
    tables = (metadata.metadata or {}).get(b"ioscape.trace")
    told = json.loads(tables or b"{}")
    # A group without rows has no times, and nothing to cut.
    groups = [group for at in range(metadata.num_row_groups) if (group := metadata.row_group(at)).num_rows > 0]
    names = tuple(one["name"] for one in told.get("devices", [])) or _numbered(metadata, groups)
    firsts = tuple((_first(path, group, place), group.num_rows) for group in groups)
    return _Part(path, told.get("started_unix_ns"), names, firsts, tables is not None)


def _numbered(metadata: Any, groups: Sequence[Any]) -> tuple[str, ...]:
    """The disks of a file without a table of them, as far as all its row groups tell their numbers; none where one does not."""
    places = [at for at in range(metadata.num_columns) if metadata.schema.column(at).path == "device"]
    if not places:
        return ("disk 0",)
    told = [group.column(places[0]).statistics for group in groups]
    if any(one is None or not one.has_min_max for one in told):
        return ()
    return tuple(f"disk {at}" for at in range(1 + max((int(one.max) for one in told), default=0)))


def _columns(path: str, metadata: Any) -> int:
    columns = {metadata.schema.column(at).path: (at, metadata.schema.column(at)) for at in range(metadata.num_columns)}
    for name, wanted in _NEEDED.items():
        if name not in columns:
            raise Misuse(f'{path}: a Parquet file without the column "{name}", so it holds no trace')
        kind = _kind(columns[name][1])
        if kind not in wanted:
            raise Misuse(f'{path}: the column "{name}" is of type {kind}, where a trace has {wanted[0]}')
    return int(columns["queued_ns"][0])


def _kind(column: Any) -> str:
    """The type of a column's numbers, or what they stand for instead of themselves."""
    kind = column.logical_type.type
    if kind in _NO_NUMBERS:
        told = json.loads(column.logical_type.to_json())
        if told.get("scale") != 0 and (kind, told.get("timeUnit")) != ("TIMESTAMP", "nanoseconds"):
            return str(kind)
    return str(column.physical_type)


def _first(path: str, group: Any, place: int) -> int:
    statistics = group.column(place).statistics
    if statistics is None or not statistics.has_min_max:
        raise Misuse(f"{path}: its row groups do not tell their times: write it with statistics, or again with `ioscape trace import`")
    # Nanoseconds are more than a time of Python holds.
    return int(statistics.min_raw if statistics.logical_type.type == "TIMESTAMP" else statistics.min)


def cuts(groups: Sequence[tuple[int, int]], shards: int) -> list[int]:
    """At most `shards` - 1 times that cut row groups, given as first arrival and rows, into stretches of about equal rows."""
    ordered, total = sorted(groups), sum(rows for _, rows in groups)
    found: list[int] = []
    passed = 0
    for first, rows in ordered:
        if passed >= total * (len(found) + 1) / shards and first > (found[-1] if found else ordered[0][0]):
            found.append(first)
        passed += rows
    return found[: shards - 1]


def _traces(parts: Sequence[_Part]) -> list[list[_Part]]:
    """Files of one clock are one trace; others are parts that are put together by the time of day."""
    found: dict[Optional[int], list[_Part]] = {}
    for part in parts:
        found.setdefault(part.started_unix_ns, []).append(part)
    return [found[clock] for clock in sorted(found, key=lambda clock: clock or 0)]


def _groups(trace: Sequence[_Part]) -> list[tuple[int, int]]:
    """The row groups of a trace, from its beginning on: the first row, where times count from 1970."""
    groups = [group for part in trace for group in part.groups]
    begin = min((first for first, _ in groups), default=0)
    if begin < _LATE_NS or any(part.has_tables for part in trace):
        return groups
    return [(first - begin, rows) for first, rows in groups]


def plan(patterns: Sequence[str], shards: Optional[int] = None, at_ns: Optional[Sequence[int]] = None, by_disk: bool = False,
         parallel: int = 2) -> list[Shard]:
    """The shards of the trace in these Parquet files, in their order.

    `shards` is how many stretches of time there shall be (default: of about 20 million rows, at least two for each of `parallel` tasks);
    `at_ns` cuts at these times instead, in nanoseconds from the beginning of the trace; `by_disk` takes each disk for itself, too: what
    follows from the order of requests to all disks is then left out of the result. Raises `Misuse` where a file is no trace.
    """
    parts = [_footer(path) for path in expand(patterns)]
    rows = sum(count for part in parts for _, count in part.groups)
    if rows == 0:
        raise Misuse("the trace holds no requests")
    wanted = shards or max(math.ceil(rows / ROWS_OF_A_SHARD), 2 * parallel)
    found: list[Shard] = []
    for trace in _traces(parts):
        groups = _groups(trace)
        share = max(1, round(wanted * sum(count for _, count in groups) / rows))
        times = sorted(set(at_ns)) if at_ns is not None else cuts(groups, share)
        if by_disk and (not trace[0].devices or any(part.devices != trace[0].devices for part in trace)):
            raise Misuse("the files do not all tell the same disks, so disks cannot be told apart: shard them by time alone")
        disks: list[Optional[str]] = list(trace[0].devices) if by_disk else [None]
        # Executors work in directories of their own.
        paths = tuple(os.path.abspath(part.path) for part in trace)
        for disk in disks:
            for begin, end in zip([None, *times], [*times, None]):
                found.append(Shard(len(found), paths, begin, end, disk))
    return found
