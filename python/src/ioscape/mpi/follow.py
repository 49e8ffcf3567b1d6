"""Any other rank: does what rank 0 says, and ends when rank 0 is gone."""

from __future__ import annotations

import signal
import time
from typing import Any

from ..errors import Failed
from . import clocks
from .client import TIDY_S, Client
from .lead import LOOK_S, PATIENCE_S
from .post import Post

# Rank 0 may be saving when it is silent: the others wait a little longer for it, in seconds.
LONGER_S = 3.0


def follow(comm: Any, leader: str) -> None:
    """Serves until rank 0 says that it is done. Raises `Failed` when it is silent for too long."""
    post, client = Post(comm, [0]), Client()
    # mpiexec ends ranks by SIGTERM when another died, and others pass on what interrupts rank 0: the client then removes its file first.
    _when_ended(_ended)
    deaf = False
    try:
        while True:
            for _, message in post.got():
                if "stop" in message:
                    return
                if "done" in message:
                    client.end(TIDY_S, post.beat)
                    return
                deaf = deaf or not _obey(comm, client, message)
            for event in client.events():
                post.send(0, event)
            if client.is_stopped():
                post.send(0, {"failed": "its program is stopped"})
            post.beat()
            if deaf or post.silent(PATIENCE_S + LONGER_S):
                raise Failed(f"client 0 on {leader} was not heard of for {PATIENCE_S + LONGER_S:.0f} s")
            time.sleep(LOOK_S)
    except SystemExit:
        # A rank that was killed does not say this: so rank 0 knows which one the others are ended for.
        post.send(0, {"ended": True})
        raise
    finally:
        _when_ended(signal.SIG_IGN)
        client.end(2)


def _when_ended(handler: Any) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handler)


def _ended(_number: int, _frame: Any) -> None:
    # One signal often follows the other, and must not cut off what is said and tidied up after the first.
    _when_ended(signal.SIG_IGN)
    raise SystemExit(143)


def _obey(comm: Any, client: Client, message: dict[str, Any]) -> bool:
    """Whether rank 0 was there for what it asked."""
    if "clocks" in message:
        return clocks.answer(comm, PATIENCE_S + LONGER_S)
    if "start" in message:
        client.start(message["start"])
    else:
        client.ask(message)
    return True
