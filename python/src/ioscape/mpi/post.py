"""Messages between ranks that nobody waits for, and who has been silent for how long."""

from __future__ import annotations

import time
from typing import Any, Iterator

# Messages of the ranks.
TAG = 11
# A rank says so often that it is there, in seconds.
BEAT_S = 0.5


class Post:
    """What a rank sends and gets."""

    def __init__(self, comm: Any, peers: list[int]) -> None:
        self._comm = comm
        self._peers = peers
        self._sent: list[Any] = []
        self._told_s = 0.0
        now = time.monotonic()
        self.heard_s = {peer: now for peer in peers}

    def send(self, rank: int, message: dict[str, Any]) -> None:
        """Sends a message and goes on."""
        self._sent = [request for request in self._sent if not request.Test()]
        self._sent.append(self._comm.isend(message, dest=rank, tag=TAG))

    def beat(self) -> None:
        """Tells the peers, now and then, that this rank is there."""
        if time.monotonic() - self._told_s >= BEAT_S:
            self._told_s = time.monotonic()
            for peer in self._peers:
                self.send(peer, {})

    def got(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """The messages that came, with who sent them."""
        for peer in self._peers:
            while self._comm.iprobe(source=peer, tag=TAG):
                message = self._comm.recv(source=peer, tag=TAG)
                self.heard_s[peer] = time.monotonic()
                if message:
                    yield peer, message

    def silent(self, patience_s: float) -> list[int]:
        """Peers that were not heard for so long."""
        now = time.monotonic()
        return [peer for peer, heard in self.heard_s.items() if now - heard > patience_s]

    def forgive(self) -> None:
        """This rank did not listen for a while: nobody was silent."""
        now = time.monotonic()
        self.heard_s = {peer: now for peer in self._peers}
