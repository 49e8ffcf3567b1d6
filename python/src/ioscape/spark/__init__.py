"""Traces and simulations on Apache Spark: `python -m ioscape.spark analyze|import|sweep`.

Spark hands out the work and repeats what is lost with an executor; the program `ioscape` does all of it. The files must lie on storage that
the driver and every executor see under the same path.
"""

from __future__ import annotations

from .frames import analyze_frame
from .jobs import analyze, import_, sweep
from .plan import Shard, plan

__all__ = ["Shard", "analyze", "analyze_frame", "import_", "plan", "sweep"]
