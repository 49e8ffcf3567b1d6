"""How far the clocks of the ranks are from that of rank 0: the round trip that took least time tells best (Cristian 1989)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Optional

# Round trips for each rank: no more, and no fewer, and no further ones after so many seconds.
ROUNDS, LEAST, LONG_S = 40, 3, 0.2
# Messages of a measurement.
TAG = 12


@dataclass(frozen=True)
class Offset:
    """Of a rank's clock."""

    # What the rank's clock shows more than that of rank 0, in nanoseconds.
    offset_ns: int
    # By how much that may be wrong: half of the round trip.
    error_ns: int


def best(trips: list[tuple[int, int, int]]) -> Offset:
    """Of round trips, given as sent, answered by the other clock, and received, in nanoseconds."""
    sent, answered, received = min(trips, key=lambda trip: trip[2] - trip[0])
    return Offset(answered - (sent + received) // 2, (received - sent + 1) // 2)


def ask(comm: Any, rank: int, patience_s: float) -> Optional[Offset]:
    """On rank 0: measures the clock of a rank that answers; None if it does not within `patience_s`."""
    trips: list[tuple[int, int, int]] = []
    begun = time.monotonic()
    while len(trips) < LEAST or len(trips) < ROUNDS and time.monotonic() - begun < LONG_S:
        sent = time.time_ns()
        comm.send(True, dest=rank, tag=TAG)
        if not _comes(comm, rank, patience_s):
            return None
        trips.append((sent, comm.recv(source=rank, tag=TAG), time.time_ns()))
    comm.send(False, dest=rank, tag=TAG)
    return best(trips)


def answer(comm: Any, patience_s: float) -> bool:
    """On another rank: answers with its own clock for as long as it is asked; whether it was told when that was all."""
    while _comes(comm, 0, patience_s):
        if not comm.recv(source=0, tag=TAG):
            return True
        comm.send(time.time_ns(), dest=0, tag=TAG)
    return False


def _comes(comm: Any, rank: int, patience_s: float) -> bool:
    """Waits for a message without a pause: that would be part of the round trip."""
    until = time.monotonic() + patience_s
    while not comm.iprobe(source=rank, tag=TAG):
        if time.monotonic() > until:
            return False
    return True
