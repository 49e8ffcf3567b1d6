"""Rank 0: hands what the program asks for to the clients, agrees on beginnings, and ends everything when one of them is gone."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections import Counter
from typing import Any, Optional

from .._command import binary
from ..errors import Failed
from . import clocks
from .child import Child
from .client import TIDY_S, Client
from .post import Post

# A rank that is silent for so long hangs, in seconds.
PATIENCE_S = 5.0
# Pause between two looks, in seconds.
LOOK_S = 0.002
# So long after a signal a rank may take to say that it had one, too, in seconds; one that was killed never says so.
WORD_S = 1.0
# Clocks are compared again after so long, in seconds.
CLOCKS_S = 30.0


def lead_s(ranks: int) -> float:
    """Time between the agreement on a beginning and the beginning, in seconds: the message must reach everybody."""
    return 0.15 + 0.0005 * ranks


def beside(hosts: list[dict[str, Any]]) -> list[int]:
    """How many other ranks are on the machine of each rank."""
    ranks = Counter(host["host"] for host in hosts)
    return [ranks[host["host"]] - 1 for host in hosts]


class Lead:
    """The leader of one command."""

    def __init__(self, comm: Any, hosts: list[dict[str, Any]], words: list[str], directory: str) -> None:
        self._comm, self._hosts, self._directory = comm, hosts, directory
        self._beside = beside(hosts)
        self._post = Post(comm, list(range(1, comm.size)))
        self._own = Client()
        self._program = Child([binary(), *words, "--clients", str(comm.size)])
        self._offsets = {0: clocks.Offset(0, 0)}
        self._compared_s = -CLOCKS_S
        self._started = False
        self._wanted: set[int] = set()
        self._ready: set[int] = set()
        self._begun_s: Optional[float] = None
        self._agreeing_s = 0.0
        self._found: dict[int, dict[str, Any]] = {}
        self._refused: dict[int, str] = {}
        self._signal = 0
        self._ended: set[int] = set()

    def go(self) -> int:
        """Runs until the program ends; its exit code. Raises `Failed`, with the host named, where a client is gone."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._interrupted)
        while True:
            self._look()
            code = self._program.code()
            if code is not None:
                self._tell_all({"done": True})
                # Whoever waits no longer leaves the client alone, which tidies up all the same.
                for number in (signal.SIGTERM, signal.SIGINT):
                    signal.signal(number, signal.SIG_DFL)
                self._own.end(TIDY_S, self._post.beat)
                return code
            time.sleep(LOOK_S)

    def _print(self) -> list[dict[str, Any]]:
        """Passes on what the program prints; what it asks for is given back."""
        asked = []
        while (line := self._program.line()) is not None:
            if line.startswith('{"ask":'):
                asked.append(json.loads(line)["ask"])
            else:
                sys.stdout.write(line)
                sys.stdout.flush()
        return asked

    def _interrupted(self, number: int, _frame: Any) -> None:
        self._signal = number

    def _look(self) -> None:
        for asked in self._print():
            self._ask(asked)
        self._post.beat()
        for rank, message in self._post.got():
            self._event(rank, message)
        for event in self._own.events():
            self._event(0, event)
        if self._signal:
            self._ended_from_outside()
        for rank in self._post.silent(PATIENCE_S):
            self._lost(rank, f"was not heard of for {PATIENCE_S:.0f} s")
        if self._own.is_stopped():
            self._lost(0, "is stopped")

    def _ended_from_outside(self) -> None:
        """mpiexec ends all ranks by SIGTERM when one is gone, perhaps before the system shows that one as gone."""
        until = time.monotonic() + WORD_S
        while time.monotonic() < until and len(self._ended) < self._comm.size - 1:
            gone = [rank for rank in range(1, self._comm.size) if self._is_gone(rank)]
            # Read after that look: whoever was ended said so before it was gone.
            self._ended.update(rank for rank, message in self._post.got() if "ended" in message)
            lost = [rank for rank in gone if rank not in self._ended]
            if lost:
                self._lost(lost[0], "is gone")
            time.sleep(LOOK_S)
        self._program.say({"interrupted": True})
        self._finish()
        raise Failed("interrupted: what was measured is saved")

    def _is_gone(self, rank: int) -> bool:
        """Whether a rank on this machine has ended; of others mpiexec tells."""
        from pathlib import Path

        host = self._hosts[rank]
        if host["host"] != self._hosts[0]["host"]:
            return False
        try:
            return Path(f"/proc/{host['pid']}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
        except OSError:
            return True

    def _lost(self, rank: int, how: str) -> None:
        sentence = f"client {rank} on {self._hosts[rank]['host']} {how}"
        self._program.say({"failed": sentence, "host": self._hosts[rank]["host"]})
        self._finish()
        raise Failed(sentence)

    def _finish(self) -> None:
        """Lets the program save, and all that can hear stop."""
        self._tell_all({"stop": True})
        self._own.end(2)
        self._program.end(4)
        self._print()

    def _tell_all(self, message: dict[str, Any]) -> None:
        for rank in range(1, self._comm.size):
            self._post.send(rank, message)

    def _tell(self, rank: int, message: dict[str, Any]) -> None:
        if rank > 0:
            self._post.send(rank, message)
        elif "start" in message:
            self._own.start(message["start"])
        else:
            self._own.ask(message)

    def _ask(self, asked: dict[str, Any]) -> None:
        if not self._started:
            self._started = True
            memory = ["--memory", str(asked["memory"])] if asked["memory"] else []
            for rank in range(self._comm.size):
                self._tell(rank, {"start": [self._directory, *memory, "--seed", str(asked["seed"] + rank)]})
        if time.monotonic() - self._compared_s > CLOCKS_S:
            self._compare_clocks()
        self._wanted, self._ready, self._found, self._refused = set(range(len(asked["tasks"]))), set(), {}, {}
        self._begun_s = None
        for rank, task in enumerate(asked["tasks"]):
            self._tell(rank, {**task, "beside": self._beside[rank]})

    def _compare_clocks(self) -> None:
        for rank in range(1, self._comm.size):
            self._post.send(rank, {"clocks": True})
            found = clocks.ask(self._comm, rank, PATIENCE_S)
            if found is None:
                self._lost(rank, f"did not tell its clock for {PATIENCE_S:.0f} s")
                return
            self._offsets[rank] = found
            # On busy machines this takes a while.
            self._post.beat()
        self._post.forgive()
        self._compared_s = time.monotonic()

    def _event(self, rank: int, event: dict[str, Any]) -> None:
        if "failed" in event:
            self._lost(rank, f"failed: {event['failed']}")
        if "ended" in event:
            self._ended.add(rank)
        if "refused" in event:
            self._refused[rank] = event["refused"]
        if "ready" in event:
            self._ready.add(rank)
            if self._ready >= self._wanted and self._begun_s is None:
                self._begin()
        if "began_unix_ns" in event:
            self._found[rank] = event
            if set(self._found) >= self._wanted:
                self._answer()
        if self._refused and self._ready | set(self._found) | set(self._refused) >= self._wanted:
            self._not_done()

    def _not_done(self) -> None:
        """What all refuse alike is for the program to judge; where some would do it, they would wait for the others for ever."""
        rank, why = min(self._refused.items())
        if set(self._refused) < self._wanted:
            self._lost(rank, f"refused: {why}")
        self._wanted, self._refused = set(), {}
        self._program.say({"refused": why})

    def _begin(self) -> None:
        self._agreeing_s = lead_s(self._comm.size)
        self._begun_s = time.monotonic()
        begins_ns = time.time_ns() + int(1e9 * self._agreeing_s)
        for rank in self._wanted:
            self._tell(rank, {"begin_unix_ns": begins_ns + self._offsets[rank].offset_ns})

    def _answer(self) -> None:
        runs = [{**event, "rank": rank, "host": self._hosts[rank]["host"],
                 "began_unix_ns": event["began_unix_ns"] - self._offsets[rank].offset_ns} for rank, event in sorted(self._found.items())]
        error = max(self._offsets[rank].error_ns for rank in self._wanted)
        self._wanted, self._found = set(), {}
        self._program.say({"clients": runs, "coordination_s": self._agreeing_s, "clock_error_ns": error})
