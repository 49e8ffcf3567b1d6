"""`python -m ioscape.spark`: analyze, import and sweep traces on Apache Spark."""

from __future__ import annotations

import argparse
import sys
from typing import Any, Callable, Optional, Sequence

from ..errors import Failed, IoscapeError
from .jobs import FAN_IN, analyze, import_, sweep
from .plan import Shard, expand, plan
from .session import check, start


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m ioscape.spark", description=__doc__, allow_abbrev=False)
    parser.add_argument("--master", help="where Spark runs: local[*], local-cluster[2,1,1024], spark://HOST:7077, yarn (default: as spark-submit says, or local[*])")
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("analyze", help="analyze a trace in Parquet files; the result is that of `ioscape trace analyze`", allow_abbrev=False)
    one.add_argument("traces", nargs="+", metavar="FILES", help="Parquet files of one trace, as patterns: 'PATH/*.parquet'")
    one.add_argument("-o", "--output", required=True, metavar="FILE", help="the result")
    one.add_argument("--shards", type=_at_least(1), metavar="N", help="stretches of time (default: of 20 million requests, at least two for each task)")
    one.add_argument("--by-disk", action="store_true", help="shard by disk, too: leaves out what follows from the order of requests to all disks")
    one.add_argument("--fan-in", type=_at_least(2), default=FAN_IN, metavar="N", help="states that one task merges (default: %(default)s)")
    for name in ("--block", "--block-align", "--interleave", "--exact-blocks", "--memory"):
        one.add_argument(name, metavar="VALUE", help="as of `ioscape trace analyze`")
    one.add_argument("--by", metavar="WHAT", help="as of `ioscape trace analyze`")
    one.add_argument("--html", metavar="FILE", help="also draw the result as a page")
    one = commands.add_parser("import", help="import traces of any format as Parquet files", allow_abbrev=False)
    one.add_argument("traces", nargs="+", metavar="FILES")
    one.add_argument("-o", "--output", required=True, metavar="DIR", help="where the Parquet files go")
    one.add_argument("--format", metavar="FORMAT", help="as of `ioscape trace import`")
    one.add_argument("--skip-bad", action="store_true", help="as of `ioscape trace import`")
    one = commands.add_parser("sweep", help="simulate traces x drives x caches", allow_abbrev=False)
    one.add_argument("traces", nargs="+", metavar="FILES")
    one.add_argument("--drive", action="append", required=True, metavar="NAME|FILE", help="may be given several times")
    one.add_argument("--cache", action="append", default=[], metavar="CACHE", help="may be given several times")
    one.add_argument("-o", "--output", required=True, metavar="DIR", help="where the documents go")
    for one in commands.choices.values():
        one.add_argument("--force", action="store_true", help="overwrite files that are not ioscape results")
    return parser


def _given(asked: argparse.Namespace, *names: str) -> list[str]:
    words = []
    for name in names:
        value = getattr(asked, name.replace("-", "_"))
        words += [] if value in (None, False) else [f"--{name}"] if value is True else [f"--{name}", value]
    return words


def _at_least(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"{text} is less than {least}")
        return value

    return number


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _planned(shards: list[Shard]) -> None:
    _tell(f"{len(shards)} shards of {len({path for one in shards for path in one.paths})} files")


def _analyze(spark: Any, asked: argparse.Namespace) -> None:
    options = _given(asked, "block", "block-align", "interleave", "exact-blocks", "memory")
    analyze(spark, asked.traces, asked.output, options, _given(asked, "by", "html", "force"), asked.shards, None, asked.by_disk,
            asked.fan_in, _planned)
    _tell(f"Result: {asked.output}")


def _import(spark: Any, asked: argparse.Namespace) -> None:
    for name in import_(spark, asked.traces, asked.output, _given(asked, "format", "skip-bad", "force")):
        print(name)


def _sweep(spark: Any, asked: argparse.Namespace) -> None:
    for place, document in sweep(spark, asked.traces, asked.drive, asked.cache, asked.output, force=asked.force):
        found = document.simulation
        number = len(found.cells) if found is not None else 0
        print(f"{place}  {number} combinations" if number > 1 else place)


def main(words: Optional[Sequence[str]] = None) -> int:
    """Runs the command line; the exit code: 0 done, 1 failed, 2 misuse, 130 interrupted."""
    asked = _parser().parse_args(words)
    spark = None
    try:
        # What can be refused without Spark is refused before it starts.
        check()
        plan(asked.traces) if asked.command == "analyze" else expand(asked.traces)
        spark = start(asked.master)
        {"analyze": _analyze, "import": _import, "sweep": _sweep}[asked.command](spark, asked)
    except IoscapeError as error:
        _tell(f"ioscape: {error}")
        return 1 if isinstance(error, Failed) else 2
    except KeyboardInterrupt:
        _tell("ioscape: interrupted: nothing was written")
        return 130
    finally:
        if spark is not None:
            spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
