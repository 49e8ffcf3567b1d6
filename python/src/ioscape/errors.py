"""How the program fails, as exceptions with its own sentence."""

from __future__ import annotations

from typing import Optional

from ._documents import Document


class IoscapeError(Exception):
    """The program did not end with 0. `document` is what it printed all the same, if anything."""

    def __init__(self, sentence: str, document: Optional[Document] = None) -> None:
        super().__init__(sentence)
        self.document = document


class Failed(IoscapeError):
    """It failed on the way (exit code 1); what was measured is in `document`."""


class CommandFailed(Failed):
    """The command that was run and watched failed itself: `code` is its exit code, and what it did is in `document`."""

    def __init__(self, sentence: str, document: Optional[Document] = None, code: int = 1) -> None:
        super().__init__(sentence, document)
        self.code = code


class Misuse(IoscapeError):
    """It was asked for something impossible, or refused for safety (exit code 2); nothing was touched."""


class ConditionFailed(IoscapeError):
    """A comparison failed its condition (exit code 3); the comparison is in `document`."""


class Interrupted(IoscapeError, KeyboardInterrupt):
    """It was interrupted (exit code 130); what was measured is in `document`."""
