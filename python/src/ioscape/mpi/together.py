"""Before anything is measured: all ranks have the same program, and see and may write the same directory."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import time
from pathlib import Path
from typing import Any, Optional

from .._command import binary
from ..errors import Failed, Misuse

# Time until a file made by one client is seen by all, in seconds; NFS looks again after 3.
SEEN_S = 6.0
# A rank that takes longer than this over one step hangs, in seconds; the others wait a little longer for rank 0 to say so.
PATIENCE_S, LONGER_S = SEEN_S + 3.0, 3.0
# Messages of the ranks that meet.
TAG = 13


def _self() -> dict[str, Any]:
    told: dict[str, Any] = {"host": socket.gethostname(), "pid": os.getpid()}
    try:
        told["version"] = subprocess.run([binary(), "--version"], capture_output=True, text=True, check=True).stdout.strip()
    except (Failed, OSError, subprocess.CalledProcessError) as error:
        told["missing"] = str(error)
    return told


def _sees(place: Path, name: str) -> bool:
    until = time.monotonic() + SEEN_S
    while True:
        try:
            # Looking at the directory makes network file systems ask again.
            os.listdir(place)
            return (place / name).read_text() == name
        except OSError:
            if time.monotonic() > until:
                return False
            time.sleep(0.1)


class _Table:
    """Where all ranks put something down and see what the others did, as long as each of them answers in time.

    A collective call of MPI would wait for ever for a rank that hangs, as on a server that does not answer.
    """

    def __init__(self, comm: Any) -> None:
        self._comm = comm
        self.hosts: list[str] = []

    def all(self, value: Any, doing: str) -> list[Any]:
        """What every rank put down, by rank. Raises `Failed` where one does not, with its host."""
        comm = self._comm
        if comm.rank > 0:
            comm.isend(value, dest=0, tag=TAG)
            # Rank 0 names whoever is late.
            told: list[Any] = self._from(0, doing, PATIENCE_S + LONGER_S)
            return told
        until = time.monotonic() + PATIENCE_S
        found = [value, *(self._from(rank, doing, until - time.monotonic()) for rank in range(1, comm.size))]
        self._sent = [comm.isend(found, dest=rank, tag=TAG) for rank in range(1, comm.size)]
        return found

    def _from(self, rank: int, doing: str, patience_s: float) -> Any:
        until = time.monotonic() + patience_s
        while not self._comm.iprobe(source=rank, tag=TAG):
            if time.monotonic() > until:
                where = f" on {self.hosts[rank]}" if self.hosts else ""
                raise Failed(f"client {rank}{where} did not answer while {doing}: nothing was measured")
            time.sleep(0.001)
        return self._comm.recv(source=rank, tag=TAG)


def meet(comm: Any, directory: str) -> list[dict[str, Any]]:
    """On all ranks: who they are, by rank. Raises `Misuse` on every rank where they do not belong together, `Failed` where one hangs."""
    table = _Table(comm)
    table.hosts = table.all(socket.gethostname(), "the clients met")
    hosts: list[dict[str, Any]] = table.all(_self(), "the clients compared their programs")
    _same_program(hosts)
    place = Path(directory).absolute()
    unfit = table.all(_unfit(place), f"{directory} was looked at")
    rank = next((rank for rank, why in enumerate(unfit) if why), None)
    if rank is not None:
        raise Misuse(f"{directory} {unfit[rank]} on client {rank} on {hosts[rank]['host']}: clients share a directory that all can write")
    token, why = _made(place) if comm.rank == 0 else (None, None)
    try:
        name, why = table.all((token.name if token is not None else "", why), f"a file was made in {directory}")[0]
        if why is not None:
            raise Misuse(f"{directory}: {why}")
        seen = table.all(_sees(place, name), f"the others looked for a file that client 0 made in {directory}")
    finally:
        if token is not None:
            token.unlink(missing_ok=True)
    if not all(seen):
        rank = seen.index(False)
        raise Misuse(f"client {rank} on {hosts[rank]['host']} does not see the file that client 0 on {hosts[0]['host']} made in {directory}: "
                     "the directory is not shared")
    return hosts


def _unfit(place: Path) -> Optional[str]:
    if not place.is_dir():
        return "is no directory"
    return None if os.access(place, os.W_OK | os.X_OK) else "cannot be written"


def _made(place: Path) -> tuple[Optional[Path], Optional[str]]:
    """A file that the others look for, or why there is none."""
    token = place / f".ioscape-mpi-{secrets.token_hex(8)}"
    try:
        token.write_text(token.name)
    except OSError as error:
        token.unlink(missing_ok=True)
        return None, error.strerror
    return token, None


def _same_program(hosts: list[dict[str, Any]]) -> None:
    for rank, host in enumerate(hosts):
        if "missing" in host:
            raise Misuse(f"client {rank} on {host['host']}: {host['missing']}")
        if host["version"] != hosts[0]["version"]:
            raise Misuse(f"client {rank} on {host['host']} has {host['version']}, and client 0 on {hosts[0]['host']} has {hosts[0]['version']}: "
                         "install the same version everywhere")
