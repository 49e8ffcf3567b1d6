"""A program that speaks in lines of JSON, read without waiting."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any, Callable, Optional

# The end of its output is waited for so long at a time, in seconds: what it left behind may hold the pipe open.
EOF_S = 1.0
# Pause between two looks whether it has ended, in seconds.
PAUSE_S = 0.01


class Child:
    """A child process. It leads a session of its own, so that whatever ends this process lets it save and tidy up first."""

    def __init__(self, words: list[str]) -> None:
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=None, text=True, encoding="utf-8",
                                         errors="replace", start_new_session=True)
        self._lines: queue.Queue[str] = queue.Queue()
        self._is_read = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        try:
            for line in self._process.stdout:
                self._lines.put(line)
        finally:
            self._is_read.set()

    def say(self, value: dict[str, Any]) -> None:
        """Writes a line; nothing where the child is gone, which `code` tells."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(value) + "\n")
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            pass

    def line(self) -> Optional[str]:
        """The next line, if there is one."""
        try:
            return self._lines.get_nowait()
        except queue.Empty:
            return None

    def code(self) -> Optional[int]:
        """How it ended, once it has and all its lines are read."""
        ended = self._process.poll()
        if ended is None:
            return None
        self._is_read.wait(EOF_S)
        return ended if self._lines.empty() else None

    def is_stopped(self) -> bool:
        """Whether it is stopped, as by SIGSTOP."""
        try:
            return Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T"
        except OSError:
            return False

    def close(self) -> None:
        """Lets it end: it reads no more."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass

    def end(self, patience_s: float, meanwhile: Callable[[], None] = lambda: None) -> Optional[int]:
        """Waits for its end, and kills it if that takes too long; its exit code, None if it was killed.

        `meanwhile` is called all the while. One that is stopped goes on, so that it removes what it made.
        """
        self.close()
        self._signal(signal.SIGCONT)
        until = time.monotonic() + patience_s
        while (ended := self._process.poll()) is None:
            if time.monotonic() > until:
                self._signal(signal.SIGKILL)
                return None
            meanwhile()
            time.sleep(PAUSE_S)
        self._is_read.wait(EOF_S)
        return ended

    def _signal(self, number: int) -> None:
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            pass
