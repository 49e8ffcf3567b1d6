"""One rank's client: `ioscape client` does what rank 0 asks for."""

from __future__ import annotations

import json
from typing import Any, Callable, Iterator, Optional

from .._command import binary
from .child import Child

# What was measured is saved, and removing files from shared storage may take its time, in seconds.
TIDY_S = 600.0


class Client:
    """The client of this rank; nothing runs before it is asked."""

    def __init__(self) -> None:
        self._child: Optional[Child] = None

    def start(self, words: list[str]) -> None:
        """Starts it on the words behind `ioscape client`."""
        self._child = Child([binary(), "client", *words, "--quiet"])

    def ask(self, value: dict[str, Any]) -> None:
        """Hands on what is asked for, or when it begins."""
        if self._child is not None:
            self._child.say(value)

    def events(self) -> Iterator[dict[str, Any]]:
        """What it said since; its end is an event, too."""
        child = self._child
        if child is None:
            return
        while (line := child.line()) is not None:
            try:
                yield json.loads(line)
            except ValueError:
                yield {"failed": f"said what is no JSON: {line.strip()[:80]}"}
        code = child.code()
        if code is not None:
            self._child = None
            yield {"failed": f"its program ended with {code}"}

    def is_stopped(self) -> bool:
        """Whether it is stopped, as by SIGSTOP."""
        return self._child is not None and self._child.is_stopped()

    def end(self, patience_s: float, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Ends it; it removes its scratch file. `meanwhile` is called all the while."""
        if self._child is not None:
            self._child.end(patience_s, meanwhile)
            self._child = None
