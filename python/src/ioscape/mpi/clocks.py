"""How far the clocks of the ranks are from that of rank 0: the round trip that took least time tells best (Cristian 1989)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

# Round trips for each rank.
ROUNDS = 40
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


def ask(comm: Any, rank: int, rounds: int = ROUNDS) -> Offset:
    """On rank 0: measures the clock of a rank that answers."""
    trips = []
    for _ in range(rounds):
        sent = time.time_ns()
        comm.send(sent, dest=rank, tag=TAG)
        answered = comm.recv(source=rank, tag=TAG)
        trips.append((sent, answered, time.time_ns()))
    return best(trips)


def answer(comm: Any, rounds: int = ROUNDS) -> None:
    """On another rank: answers with its own clock."""
    for _ in range(rounds):
        comm.recv(source=0, tag=TAG)
        comm.send(time.time_ns(), dest=0, tag=TAG)
