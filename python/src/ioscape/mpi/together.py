"""Before anything is measured: all ranks have the same program and see the same directory."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

from .._command import binary
from ..errors import Failed, Misuse

# Time until a file made by one client is seen by all, in seconds; NFS looks again after 3.
SEEN_S = 6.0


def _self() -> dict[str, Any]:
    told: dict[str, Any] = {"host": socket.gethostname(), "pid": os.getpid()}
    try:
        told["version"] = subprocess.run([binary(), "--version"], capture_output=True, text=True, check=True).stdout.strip()
    except (Failed, OSError, subprocess.CalledProcessError) as error:
        told["missing"] = str(error)
    return told


def _token(directory: Path) -> Path:
    return directory / f".ioscape-mpi-{secrets.token_hex(8)}"


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


def meet(comm: Any, directory: str) -> list[dict[str, Any]]:
    """On all ranks: who they are, by rank. Raises `Misuse` on every rank where they do not belong together."""
    hosts: list[dict[str, Any]] = comm.allgather(_self())
    _same_program(hosts)
    place = Path(directory).absolute()
    missing = comm.allgather(not place.is_dir())
    if any(missing):
        rank = missing.index(True)
        raise Misuse(f"{directory} is no directory on client {rank} on {hosts[rank]['host']}: clients share one")
    token, why = (_token(place), None) if comm.rank == 0 else (None, None)
    if token is not None:
        try:
            token.write_text(token.name)
        except OSError as error:
            token, why = None, f"{directory}: {error.strerror}"
    try:
        name, why = comm.bcast((token.name if token is not None else "", why), root=0)
        if why is not None:
            raise Misuse(why)
        seen = comm.allgather(_sees(place, name))
    finally:
        if token is not None:
            token.unlink(missing_ok=True)
    if not all(seen):
        rank = seen.index(False)
        raise Misuse(f"client {rank} on {hosts[rank]['host']} does not see the file that client 0 on {hosts[0]['host']} made in {directory}: "
                     "the directory is not shared")
    return hosts


def _same_program(hosts: list[dict[str, Any]]) -> None:
    for rank, host in enumerate(hosts):
        if "missing" in host:
            raise Misuse(f"client {rank} on {host['host']}: {host['missing']}")
        if host["version"] != hosts[0]["version"]:
            raise Misuse(f"client {rank} on {host['host']} has {host['version']}, and client 0 on {hosts[0]['host']} has {hosts[0]['version']}: "
                         "install the same version everywhere")
