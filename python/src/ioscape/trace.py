"""Traces: `ioscape trace ...` as functions."""

from __future__ import annotations

from typing import Any

from ._command import Words, document
from ._documents import Document


def analyze(*traces: Words, **options: Any) -> Document:
    """Analyzes traces in one pass; `trace_summary` holds the tables and figures."""
    return document(["trace", "analyze", *traces], options)


def characterize(*traces: Words, **options: Any) -> Document:
    """Describes traces as workloads of five parameters; see `trace_characterization`."""
    return document(["trace", "characterize", *traces], options)
