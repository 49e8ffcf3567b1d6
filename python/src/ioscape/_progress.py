"""In a notebook: how long a command has been at work, and what it has saved so far."""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any, Optional

# Seconds between two changes of the line.
STEP_S = 1.0


def _shows() -> Any:
    return importlib.import_module("IPython.display")


def _display() -> Optional[Any]:
    """The notebook's display; None elsewhere, where the program itself shows a bar."""
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    if found is None or type(found).__name__ != "ZMQInteractiveShell":
        return None
    shows = _shows()
    return shows.display(shows.Pretty("ioscape ..."), display_id=True)


class Progress:
    """The line of one command."""

    def __init__(self, name: str, output: Any = None) -> None:
        self._name, self._output = name, output
        self._begun_s = self._told_s = time.monotonic()
        self._place: Optional[Any] = None
        self._asked = False

    def tick(self) -> None:
        """Renews the line, once a second."""
        now = time.monotonic()
        if now - self._told_s < STEP_S:
            return
        self._told_s = now
        if not self._asked:
            self._asked, self._place = True, _display()
        self._show(f"ioscape {self._name}: {now - self._begun_s:.0f} s{self._saved()}")

    def done(self) -> None:
        """Says how long it took, if a line was shown."""
        self._show(f"ioscape {self._name}: done in {time.monotonic() - self._begun_s:.1f} s")

    def _show(self, text: str) -> None:
        if self._place is not None:
            self._place.update(_shows().Pretty(text))

    def _saved(self) -> str:
        try:
            evaluation = json.loads(Path(self._output).read_text())["evaluation"] if self._output else {}
            return f", {evaluation['points_measured']} points" if evaluation else ""
        except (OSError, ValueError, KeyError):
            return ""
