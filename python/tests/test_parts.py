"""The ways to analyze a trace in parts without Spark, as docs/scale.md has them, against one run."""

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ioscape._command import binary

ROOT = Path(__file__).resolve().parents[2]
ROWS = 4000


@pytest.fixture
def place(tmp_path):
    """A directory with a day's trace and the program."""
    pyarrow = pytest.importorskip("pyarrow", reason="PyArrow is not installed, so no trace was cut: pip install pyarrow")
    import pyarrow.parquet as parquet

    draw = random.Random(5)
    times = sorted(draw.randrange(24 * 3600 * 10**9) for _ in range(ROWS))
    columns = {
        "queued_ns": times, "issued_ns": times, "completed_ns": [time + draw.randrange(1, 9_000_000) for time in times],
        "is_write": [draw.random() < 0.4 for _ in times], "offset_bytes": [draw.randrange(1 << 10) * 4096 for _ in times],
        "length_bytes": [4096] * ROWS,
    }
    table = pyarrow.table(columns).replace_schema_metadata({"ioscape.sorted_by_queued_ns": "true"})
    parquet.write_table(table, tmp_path / "day.parquet", row_group_size=500)
    (tmp_path / "ioscape").symlink_to(Path(binary()).resolve())
    return tmp_path


def blocks(place):
    """The blocks of code of the chapter, on files in `place`."""
    chapter = (ROOT / "docs/scale.md").read_text().split("## Without Spark")[1].split("\n## ")[0]
    return [block.replace("/data/", f"{place}/") for block in re.findall(r"```\w+\n(.*?)```", chapter, re.S)]


def run(place, words, **more):
    environment = {**os.environ, "PATH": f"{place}:{os.environ['PATH']}", **more}
    subprocess.run(words, cwd=place, env=environment, check=True, stdout=subprocess.DEVNULL)


def check(place):
    """The merged result tells the same of the trace, byte for byte."""
    whole = subprocess.run([binary(), "trace", "analyze", "day.parquet", "--json", "--quiet"], cwd=place, capture_output=True, text=True, check=True)
    texts = [whole.stdout, (place / "day.ioscape.json").read_text()]
    assert all(text.count('"trace_summary"') == 1 for text in texts)
    alone, parts = (text[text.index('"trace_summary"'):] for text in texts)
    assert alone == parts


def test_xargs(place):
    run(place, ["sh", "-c", blocks(place)[0]])
    check(place)


def test_the_array_of_slurm(place):
    (place / "hour.sh").write_text(blocks(place)[1])
    for hour in range(24):
        run(place, ["sh", "hour.sh"], SLURM_ARRAY_TASK_ID=str(hour), SLURM_CPUS_PER_TASK="1")
    merged = [f"part{hour}.ioscape-state" for hour in range(24)]
    run(place, [binary(), "trace", "merge", *merged, "-o", "day.ioscape.json"])
    check(place)


def test_dask(place):
    pytest.importorskip("distributed", reason="Dask is not installed, so it was not tried: pip install 'dask[distributed]'")
    script = blocks(place)[2].replace('Client("head:8786")', "Client(n_workers=2, threads_per_worker=1)")
    (place / "all.py").write_text(main(script, "client ="))
    run(place, [sys.executable, "all.py"])
    check(place)


def test_ray(place):
    pytest.importorskip("ray", reason="Ray is not installed, so it was not tried: pip install ray")
    part = blocks(place)[2].replace("from dask.distributed import Client\n", "").split("client =")[0]
    (place / "all.py").write_text(part + blocks(place)[3].replace('"auto"', "num_cpus=2"))
    run(place, [sys.executable, "all.py"])
    check(place)


def main(script, begin):
    """The script with all from the line `begin` on for its first process alone: workers read it, too."""
    head, work = script.split(begin)
    body = "".join(f"    {line}\n" for line in (begin + work).splitlines())
    return f'{head}if __name__ == "__main__":\n{body}'
