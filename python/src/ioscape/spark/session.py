"""The Spark session, refused in one sentence where this installation has none that fits."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from typing import Any, Optional

from ..errors import Failed, Misuse

# The major version of Spark that this was written for, and the oldest Java that it runs on.
SPARK = 4
JAVA = 17


def check() -> None:
    """Raises `Misuse` where PySpark or Java is missing or of another version."""
    try:
        import pyspark
    except ImportError:
        raise Misuse("PySpark is not installed: pip install 'ioscape[spark]'") from None
    if int(pyspark.__version__.split(".")[0]) != SPARK:
        raise Misuse(f"this is PySpark {pyspark.__version__}, and ioscape.spark needs version {SPARK}: pip install 'ioscape[spark]'")
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    if java is None or not os.path.exists(java):
        where = f"none in JAVA_HOME ({home})" if home else "no `java` on the path"
        raise Misuse(f"Spark needs Java {JAVA} or newer, and there is {where}: install it (Debian: openjdk-17-jre-headless) or set JAVA_HOME")
    told = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
    version = re.search(r'version "(?:1\.)?(\d+)', told)
    if version is None or int(version[1]) < JAVA:
        raise Misuse(f"Spark needs Java {JAVA} or newer, and {java} is {version[1] if version else 'none'}: set JAVA_HOME to a newer one")


def start(master: Optional[str] = None) -> Any:
    """A session: that of spark-submit, or one on `master` (default `local[*]`). Raises `Misuse` or `Failed` where there is none."""
    check()
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder: Any = SparkSession.builder.appName("ioscape")
    if master is not None:
        builder = builder.master(master)
    if (master or "local").startswith("local"):
        # Executors on this machine find what this process finds, and no other machine is looked for.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
        for name in ("PYTHONPATH", "IOSCAPE_BINARY"):
            if os.environ.get(name):
                places = map(os.path.abspath, os.environ[name].split(os.pathsep))
                builder = builder.config(f"spark.executorEnv.{name}", os.pathsep.join(places))
    try:
        session = builder.getOrCreate()
    except Exception as error:  # noqa: BLE001: Py4J raises classes of its own
        raise Failed(f"Spark does not start: {sentence(error)}") from None
    session.sparkContext.setLogLevel("OFF")
    return session


def sentence(error: BaseException) -> str:
    """The sentence of the program in what Spark makes of a task's failure, or its first line."""
    text = str(error)
    if "No module named 'ioscape" in text:
        return "the executors have no package ioscape: install the same version on every machine"
    ours = re.findall(r"ioscape\.errors\.\w+: (.+)", text)
    raised = re.findall(r"^(?:Caused by)?[\s:]*([\w.]+(?:Error|Exception): (?!Traceback).+)", text, re.MULTILINE)
    # Below the first line of what Spark itself says stands only where in Spark that was.
    first = (text.strip().splitlines() or [type(error).__name__])[:1]
    return str((ours or raised or first)[-1]).strip()[:300]
