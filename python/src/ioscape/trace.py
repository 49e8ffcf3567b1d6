"""Traces: `ioscape trace ...` as functions, and their requests as tables of pandas, Polars and DuckDB."""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, Union

from ._command import Words, document, stream, takes
from ._documents import Document
from ._options import TraceAnalyzeOptions, TraceCharacterizeOptions, TraceReadOptions
from .errors import Misuse

if TYPE_CHECKING:
    from typing_extensions import Unpack

# A trace: a file, or a table of requests with the columns of docs/trace-schema.md.
Trace = Union[Words, Any]


def _pyarrow() -> Any:
    try:
        import pyarrow.ipc
    except ImportError:
        raise Misuse("tables need pyarrow, which is not installed: pip install pyarrow") from None
    return pyarrow


@takes("trace import", TraceReadOptions)
def read(*traces: Words, **options: Unpack[TraceReadOptions]) -> Any:
    """The requests of traces of any known format as a `pyarrow.Table`: times in nanoseconds, offsets and lengths in bytes.

    The columns `device` and `command` hold names. `.to_pandas()` makes a DataFrame of it, `polars.from_arrow(table)` another, and DuckDB
    queries it by its name. `options` are those of `ioscape trace import`, such as `from_="1h"` and `disk="sda"`.
    """
    ipc = _pyarrow().ipc
    given = {**options, "output": "-", "output_format": "arrow"}
    return stream(["trace", "import", *traces], given, lambda pipe: ipc.open_stream(pipe).read_all().unify_dictionaries())


@takes("trace analyze", TraceAnalyzeOptions)
def analyze(*traces: Trace, **options: Unpack[TraceAnalyzeOptions]) -> Document:
    """Analyzes traces, files or tables, in one pass; `trace_summary` holds the tables and figures."""
    return _of_tables("analyze", traces, options)


@takes("trace characterize", TraceCharacterizeOptions)
def characterize(*traces: Trace, **options: Unpack[TraceCharacterizeOptions]) -> Document:
    """Describes traces, files or tables, as workloads of five parameters; see `trace_characterization`."""
    return _of_tables("characterize", traces, options)


def _of_tables(command: str, traces: tuple[Trace, ...], options: Mapping[str, Any]) -> Document:
    if len(traces) == 1 and not isinstance(traces[0], (str, os.PathLike)):
        table = _table(traces[0])

        def feed(pipe: Any) -> None:
            with _pyarrow().ipc.new_stream(pipe, table.schema) as writer:
                writer.write_table(table)

        return document(["trace", command, "-"], options, feed=feed)
    with ExitStack() as stack:
        return document(["trace", command, *_files(traces, stack)], options)


def _files(traces: tuple[Trace, ...], stack: ExitStack) -> list[Words]:
    """The traces as files: of several, tables of pandas, Polars and Arrow are written as Arrow streams first, which take names of disks."""
    files: list[Words] = []
    for number, trace in enumerate(traces, 1):
        if not isinstance(trace, (str, os.PathLike)):
            place = stack.enter_context(tempfile.TemporaryDirectory(prefix="ioscape-"))
            path, table = Path(place) / f"table-{number}.arrow", _table(trace)
            with _pyarrow().ipc.new_stream(os.fspath(path), table.schema) as writer:
                writer.write_table(table)
            trace = path
        files.append(trace)
    return files


def _table(trace: Any) -> Any:
    arrow = _pyarrow()
    if isinstance(trace, arrow.Table):
        return trace
    if hasattr(trace, "__arrow_c_stream__"):
        return arrow.table(trace)
    if type(trace).__module__.startswith("pandas"):
        return arrow.Table.from_pandas(trace, preserve_index=False)
    raise TypeError(f"a trace is a file, or a table of pandas, Polars or Arrow, not {type(trace).__name__}")
