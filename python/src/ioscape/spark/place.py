"""A directory for the states of a task, that is gone with the task however that ends."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Iterator, Optional

# Ends with the process that holds its standard input, which it outlives: the program that still runs is stopped, and the directory removed.
_GUARD = 'while read -r told; do child=$told; done; case "$child" in [0-9]*) kill -9 "$child" 2>/dev/null;; esac; rm -rf -- "$0"'


class Place:
    """The directory, and who tidies up when this process is killed."""

    def __init__(self, path: Path, guard: subprocess.Popen[str]) -> None:
        self.path, self._guard = path, guard

    def run(self, words: list[str], feed: Optional[Callable[[Any], None]] = None) -> tuple[int, str]:
        """Runs a program that does not outlive this process; its exit code and what it said on standard error.

        `feed` writes its standard input, and may raise.
        """
        child = subprocess.Popen(words, stdin=subprocess.PIPE if feed else subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert child.stderr is not None
        said: list[bytes] = []
        # Read beside the writing: a program that says much would wait, and so would what is written to it.
        listener = threading.Thread(target=lambda pipe: said.append(pipe.read()), args=(child.stderr,), daemon=True)
        listener.start()
        try:
            self._tell(str(child.pid))
            if feed is not None:
                feed(child.stdin)
            child.wait()
        finally:
            child.kill()
            child.wait()
            self._tell("done")
        listener.join()
        return child.returncode, b"".join(said).decode(errors="replace")

    def _tell(self, word: str) -> None:
        assert self._guard.stdin is not None
        try:
            self._guard.stdin.write(word + "\n")
            self._guard.stdin.flush()
        except BrokenPipeError:
            pass


def _base() -> Optional[str]:
    """Where Spark keeps the files of this executor, which its cluster removes too."""
    named = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0]
    return named if os.path.isdir(named) else None


@contextmanager
def place() -> Iterator[Place]:
    """A directory of this task's own."""
    with tempfile.TemporaryDirectory(prefix="ioscape-spark-", dir=_base(), ignore_cleanup_errors=True) as path:
        guard = subprocess.Popen(["sh", "-c", _GUARD, path], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 start_new_session=True, text=True)
        try:
            yield Place(Path(path), guard)
        finally:
            assert guard.stdin is not None
            try:
                guard.stdin.close()
            except BrokenPipeError:
                pass
            guard.wait()
