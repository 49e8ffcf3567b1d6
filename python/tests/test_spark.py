"""Traces on Spark with executors that are processes of their own, against the program alone."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pyspark = pytest.importorskip("pyspark", reason="PySpark is not installed, so ioscape.spark was not tested: pip install 'ioscape[spark]'")
pyarrow = pytest.importorskip("pyarrow", reason="PyArrow is not installed, so ioscape.spark was not tested: pip install 'ioscape[spark]'")
import pyarrow.ipc
import pyarrow.parquet as parquet

import ioscape
from ioscape import spark
from ioscape._command import binary
from ioscape.spark import __main__ as command
from ioscape.spark import frames, jobs, session, work

TWO = "local-cluster[2,1,1024]"
REAL = {"hplajw": "hplajw/ajw.1week.srt", "cello": "cello2003/hourly.03126.srt.bz2", "cloudphysics": "cloudphysics/cloudPhysicsIO.vscsi"}
ROWS = 120_000


@pytest.fixture(scope="module")
def cluster():
    try:
        session.check()
    except ioscape.Misuse as why:
        pytest.skip(f"Spark was not tested: {why}")
    running = session.start(TWO)
    yield running
    running.stop()


def run(*words):
    return subprocess.run([binary(), *map(str, words), "--quiet"], capture_output=True, text=True, check=True).stdout


def of_the_trace(text):
    """What a document tells of the trace, byte for byte; the rest is who asked, and when."""
    assert text.count('"trace_summary"') == 1
    return text[text.index('"trace_summary"'):], json.loads(text).get("warnings")


def alone(*paths):
    return of_the_trace(run("trace", "analyze", *paths, "--json"))


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """A trace of another program's making: three disks, no tables, times that repeat."""
    draw = random.Random(7)
    times = sorted(draw.randrange(3 * ROWS) * 50_000 for _ in range(ROWS))
    issued = [time + draw.randrange(100_000) for time in times]
    columns = {
        "queued_ns": times, "issued_ns": issued, "completed_ns": [time + draw.randrange(1, 9_000_000) for time in issued],
        "device": pyarrow.array([draw.choice([2, 0, 1, 1]) for _ in times], pyarrow.int32()),
        "is_write": [draw.random() < 0.4 for _ in times],
        "offset_bytes": [draw.randrange(1 << 16) * 4096 for _ in times], "length_bytes": [draw.choice([4096, 8192, 65536]) for _ in times],
    }
    table = pyarrow.table(columns).replace_schema_metadata({"ioscape.sorted_by_queued_ns": "true"})
    path = tmp_path_factory.mktemp("trace") / "generated.parquet"
    parquet.write_table(table, path, row_group_size=9_000)
    return path


@pytest.mark.parametrize("name", REAL)
def test_a_real_trace_gives_the_bytes_of_one_machine(cluster, tmp_path, name):
    data = Path(os.environ.get("IOSCAPE_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
    if not data.is_dir():
        pytest.skip("no real traces: set IOSCAPE_DATA")
    whole = tmp_path / f"{name}.parquet"
    run("trace", "import", data / REAL[name], "-o", whole)
    out = tmp_path / "summary.json"
    last = parquet.read_table(whole, columns=["queued_ns"])["queued_ns"][-1].as_py()
    draw = random.Random(name)
    spark.analyze(cluster, [str(whole)], out, at_ns=[draw.randrange(1, last) for _ in range(6)], fan_in=2)
    assert of_the_trace(out.read_text()) == alone(whole)


def test_a_generated_trace_cut_at_arbitrary_places(cluster, generated, tmp_path):
    last = 3 * ROWS * 50_000
    draw = random.Random(11)
    for shards, fan_in in [(1, 2), (5, 8), (9, 2)]:
        out = tmp_path / f"{shards}.json"
        spark.analyze(cluster, [str(generated)], out, at_ns=[draw.randrange(last) for _ in range(shards - 1)], fan_in=fan_in)
        assert of_the_trace(out.read_text()) == alone(generated)
    spark.analyze(cluster, [os.path.relpath(generated)], out, shards=7)
    assert of_the_trace(out.read_text()) == alone(generated)


def test_files_of_one_trace_are_one_trace(cluster, generated, tmp_path):
    table = parquet.read_table(generated)
    bounds = [0, 31_000, 31_007, 90_000, ROWS]
    paths = [tmp_path / f"part{at}.parquet" for at in range(4)]
    for path, begin, end in zip(paths, bounds, bounds[1:]):
        parquet.write_table(table.slice(begin, end - begin), path, row_group_size=5_000)
    out = tmp_path / "summary.json"
    spark.analyze(cluster, [str(tmp_path / "part*.parquet")], out, shards=6, fan_in=3)
    assert of_the_trace(out.read_text()) == alone(*paths)


def test_with_little_memory_the_sample_is_that_of_one_machine(cluster, generated, tmp_path):
    words = ["--memory", "256M", "--exact-blocks", "1000"]
    out = tmp_path / "summary.json"
    spark.analyze(cluster, [str(generated)], out, words, shards=5, fan_in=2)
    assert of_the_trace(out.read_text()) == of_the_trace(run("trace", "analyze", generated, *words, "--json"))


def test_disks_apart_leave_out_what_needs_their_order(cluster, generated, tmp_path):
    out = tmp_path / "summary.json"
    found = spark.analyze(cluster, [str(generated)], out, shards=2, by_disk=True)
    whole = ioscape.trace.analyze(generated)
    assert [disk.load for disk in found.trace_summary.disks] == [disk.load for disk in whole.trace_summary.disks]
    assert any("order" in doubt.message for doubt in found.warnings)


def as_one(table):
    """What the program tells of an Arrow stream."""
    with pyarrow.BufferOutputStream() as out, pyarrow.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    told = subprocess.run([binary(), "trace", "analyze", "-", "--json", "--quiet"], input=out.getvalue().to_pybytes(), capture_output=True, check=True)
    return of_the_trace(told.stdout.decode())


@pytest.mark.parametrize("shards,fan_in", [(1, 2), (5, 2), (None, 8)])
def test_a_data_frame_gives_the_bytes_of_one_machine(cluster, generated, tmp_path, shards, fan_in):
    """Whatever the order of its rows, and with names of disks and columns of no trace."""
    table = parquet.read_table(generated)
    table = table.set_column(3, "device", pyarrow.array([f"disk{at}" for at in table["device"].to_pylist()]))
    table = table.append_column("host", pyarrow.array(["one"] * ROWS))
    shuffled = tmp_path / "shuffled.parquet"
    order = list(range(ROWS))
    random.Random(3).shuffle(order)
    # Spark unpacks Snappy with a library of its own, which does not load on every system; its gzip is Java's.
    parquet.write_table(table.take(order), shuffled, row_group_size=7_000, compression="gzip")
    out = tmp_path / "summary.json"
    spark.analyze_frame(cluster.read.parquet(str(shuffled)).repartition(5), out, shards=shards, fan_in=fan_in)
    names = [name for name in frames._COLUMNS if name in table.column_names]
    assert of_the_trace(out.read_text()) == as_one(table.select(names).sort_by([(name, "ascending") for name in names]))


def test_rows_reach_the_program_without_pickle(monkeypatch, tmp_path):
    """On an executor: shards that lie in one partition are told apart, and no row becomes an object of Python."""
    times = [0, 10, 20, 30, 40, 50]
    table = pyarrow.table({"queued_ns": times, "is_write": [False] * 6, "offset_bytes": [4096 * at for at in range(6)], "length_bytes": [4096] * 6,
                           frames._SHARD: [0, 0, 0, 1, 2, 2]})
    given = []

    def state_of(shard, options, threads, feed):
        path = tmp_path / f"{shard.position}.arrow"
        with path.open("wb") as pipe:
            feed(pipe)
        given.append(pyarrow.ipc.open_stream(path).read_all().to_pydict()["queued_ns"])
        return work.Piece(shard.position, b"state")

    monkeypatch.setattr(frames.work, "state_of", state_of)
    shards = [spark.Shard(at, ("-",), None, None) for at in range(3)]
    found = pyarrow.Table.from_batches(list(frames._states(table.to_batches(max_chunksize=2), shards, [], 1)))
    assert given == [[0, 10, 20], [30], [40, 50]]
    assert found.to_pydict() == {"position": [0, 1, 2], "content": [b"state"] * 3, "refused": [None] * 3}


def test_a_data_frame_without_a_trace_is_refused(cluster, tmp_path):
    out = tmp_path / "summary.json"
    columns = "queued_ns bigint, is_write boolean, offset_bytes bigint, length_bytes bigint"
    row = (1, True, 4096, 4096)
    for schema, rows, why in ((columns.replace("offset_bytes", "offset"), [row], 'no column "offset_bytes"'),
                              (columns.replace("queued_ns bigint", "queued_ns double"), [(1.0, *row[1:])], 'column "queued_ns" of the DataFrame is of type double'),
                              (columns + ", command int", [(*row, 3)], 'column "command" of the DataFrame is of type int, where a trace has string'),
                              (columns, [], "holds no requests"), (columns, [(1_700_000_000 * 10**9, *row[1:])], "more than 104 days")):
        with pytest.raises(ioscape.Misuse, match=why):
            spark.analyze_frame(cluster.createDataFrame(rows, schema), out)
    with pytest.raises(ioscape.Misuse, match="--no-such"):
        spark.analyze_frame(cluster.createDataFrame([row], columns), out, ["--no-such"])
    assert not out.exists()


def test_the_plan_cuts_a_trace_into_stretches_that_meet(generated, tmp_path):
    found = spark.plan([str(generated)], shards=4)
    assert [one.position for one in found] == list(range(len(found))) and len(found) == 4
    assert found[0].from_ns is None and found[-1].to_ns is None
    assert all(early.to_ns == late.from_ns for early, late in zip(found, found[1:]))
    assert found[1].options() == ["--from", f"{found[1].from_ns}ns", "--to", f"{found[1].to_ns}ns"]
    assert [one.options() for one in spark.plan([str(generated)], shards=1, by_disk=True)] == [[f"--disk=disk {at}"] for at in range(3)]
    parquet.write_table(parquet.read_table(generated).slice(0, 0), tmp_path / "empty.parquet")
    with pytest.raises(ioscape.Misuse, match="holds no requests"):
        spark.plan([str(tmp_path / "empty.parquet")])


def test_the_plan_counts_times_since_1970_from_the_first_row(generated, tmp_path):
    table = parquet.read_table(generated)
    times = table["queued_ns"].to_pylist()
    late, whole = tmp_path / "late.parquet", spark.plan([str(generated)], shards=4)
    clock = pyarrow.array([1_767_225_600 * 10**9 + time for time in times])
    for queued in (clock, clock.cast(pyarrow.timestamp("ns"))):
        parquet.write_table(table.set_column(0, "queued_ns", queued), late, row_group_size=9_000, version="2.6")
        assert [one.from_ns for one in spark.plan([str(late)], shards=4)[1:]] == [one.from_ns - times[0] for one in whole[1:]]
    parquet.write_table(table.set_column(0, "queued_ns", table["queued_ns"].cast(pyarrow.timestamp("us"))), late)
    with pytest.raises(ioscape.Misuse, match='"queued_ns" is of type TIMESTAMP, where a trace has INT64'):
        spark.plan([str(late)])


def test_an_executor_that_is_killed_changes_nothing(generated, tmp_path):
    """A shard waits in the program until its executor is gone; Spark gives it to another."""
    out = tmp_path / "summary.json"
    job, worker = slow_job(generated, out, tmp_path)
    try:
        executor = executor_of(worker, job.pid)
        os.kill(executor, signal.SIGKILL)
        _, told = job.communicate(timeout=400)
    finally:
        job.kill()
    assert job.returncode == 0, told
    assert of_the_trace(out.read_text()) == alone(generated)
    assert left_in(tmp_path) == []


def slow_job(trace, out, tmp_path):
    """An analysis whose first shard waits in the program, and the worker that it waits for."""
    wrapper, begun = tmp_path / "ioscape-slow", tmp_path / "begun"
    wrapper.write_text(f"#!/bin/sh\nif mkdir {begun} 2>/dev/null; then echo $PPID > {begun}/worker; sleep 60; fi\nexec {binary()} \"$@\"\n")
    wrapper.chmod(0o755)
    for name in ("tmp", "local"):
        (tmp_path / name).mkdir()
    line = [sys.executable, "-m", "ioscape.spark", "--master", TWO, "analyze", str(trace), "--shards", "4", "-o", str(out)]
    environment = {**os.environ, "IOSCAPE_BINARY": str(wrapper), "TMPDIR": str(tmp_path / "tmp"), "SPARK_LOCAL_DIRS": str(tmp_path / "local")}
    job = subprocess.Popen(line, env=environment, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 400
    while not (begun / "worker").exists() or not (begun / "worker").read_text().strip():
        assert time.monotonic() < deadline and job.poll() is None, "no shard began"
        time.sleep(0.1)
    return job, int((begun / "worker").read_text())


def left_in(tmp_path):
    return [path for path in tmp_path.rglob("ioscape-spark-*")]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_job_leaves_nothing(generated, tmp_path, number):
    out = tmp_path / "summary.json"
    job, worker = slow_job(generated, out, tmp_path)
    assert left_in(tmp_path) != []
    os.kill(job.pid, number)
    job.communicate(timeout=60)
    until = time.monotonic() + 60
    while left_in(tmp_path) or Path(f"/proc/{worker}").exists():
        assert time.monotonic() < until, left_in(tmp_path)
        time.sleep(0.2)
    assert not out.exists()


def test_a_killed_worker_takes_its_program_and_directory_along(tmp_path):
    """What `place` promises, without Spark."""
    # The pid of the program is told when it runs; the guard then makes a file.
    known = tmp_path / "known"
    told = f"guard = sys.modules['ioscape.spark.place']\nguard._GUARD = guard._GUARD.replace('child=$told', 'child=$told; >{known}')\n"
    work = "with place() as here:\n  print(here.path, flush=True)\n  here.run(['sleep', '1000'])\n"
    script = f"import sys; from ioscape.spark.place import place\n{told}{work}"
    job = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path)})
    path = Path(job.stdout.readline().strip())
    children = Path(f"/proc/{job.pid}/task/{job.pid}/children")
    until = time.monotonic() + 20
    while len(running := children.read_text().split()) < 2 or not known.exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    assert path.is_dir() and path.parent == tmp_path
    job.kill()
    job.wait()
    while path.exists() or any(Path(f"/proc/{one}").exists() for one in running):
        assert time.monotonic() < until + 20
        time.sleep(0.05)


def executor_of(process, driver):
    """The Java process above `process` and below `driver`."""
    while process > 1 and process != driver:
        if b"CoarseGrainedExecutorBackend" in Path(f"/proc/{process}/cmdline").read_bytes():
            return process
        process = int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
    raise AssertionError("no executor is above the program")


def refused(words, capsys):
    code = command.main(words)
    told = capsys.readouterr().err.strip().splitlines()
    assert len(told) == 1, told
    return code, told[0]


def test_what_cannot_be_done_is_refused_in_one_sentence(generated, tmp_path, monkeypatch, capsys):
    out = tmp_path / "summary.json"
    words = ["analyze", str(generated), str(tmp_path / "other.parquet"), "-o", str(out)]
    table = parquet.read_table(generated)
    parquet.write_table(table.drop_columns(["offset_bytes"]), tmp_path / "other.parquet")
    code, told = refused(words, capsys)
    assert code == 2 and 'other.parquet: a Parquet file without the column "offset_bytes"' in told
    parquet.write_table(table.set_column(0, "queued_ns", table["queued_ns"].cast(pyarrow.string())), tmp_path / "other.parquet")
    code, told = refused(words, capsys)
    assert code == 2 and 'the column "queued_ns" is of type BYTE_ARRAY' in told
    code, told = refused(["analyze", str(tmp_path / "none*.parquet"), "-o", str(out)], capsys)
    assert code == 2 and "there is no such file" in told
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    code, told = refused(words, capsys)
    assert code == 2 and "Spark needs Java 17" in told
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setattr(pyspark, "__version__", "3.5.1")
    code, told = refused(words, capsys)
    assert code == 2 and "this is PySpark 3.5.1" in told
    assert not out.exists()


def test_what_spark_says_of_a_failure_is_told_in_one_sentence():
    at = "\n\tat java.base/java.lang.Thread.run(Thread.java:840)"
    for said, told in ((f"An error occurred while calling o1.count.\n: org.apache.spark.SparkException: Job aborted{at}", "org.apache.spark.SparkException: Job aborted"),
                       (f"An error occurred.\n: a.SparkException: Job aborted{at}\nCaused by: java.lang.UnsatisfiedLinkError: x.so: no libc{at}",
                        "java.lang.UnsatisfiedLinkError: x.so: no libc"),
                       (f"b.PythonException: Traceback (most recent call last):\n  File x\nValueError: two{at}\nCaused by: b.PythonException: Traceback (most\n"
                        f"  File x\nValueError: two\n{at}", "ValueError: two"),
                       (f"x{at}\nioscape.errors.Failed: no space{at}\nCaused by: a.B: c", "no space"), (f"It broke.{at}", "It broke."), ("", "Exception")):
        assert session.sentence(Exception(said)) == told


def test_a_foreign_file_in_the_place_of_the_result_stays(cluster, generated, tmp_path):
    out = tmp_path / "thesis.txt"
    out.write_text("years of work")
    with pytest.raises(ioscape.Misuse):
        spark.analyze(cluster, [str(generated)], out, shards=2)
    assert out.read_text() == "years of work"


def test_two_simulations_of_one_name_are_refused_before_any_runs(tmp_path):
    trace, out = tmp_path / "t.csv", tmp_path / "out"
    trace.write_text("")
    for drives, caches, name in ((["d1/disk.toml", "d2/disk.toml"], [], "t--disk"), (["x.parv", "x.toml"], ["none"], "t--x--none"),
                                 (["d"], ["nvram:1M", "nvram-1M"], "t--d--nvram-1M")):
        with pytest.raises(ioscape.Misuse, match=f"as {name}.ioscape.json"):
            spark.sweep(None, [str(trace)], drives, caches, out)
    assert not out.exists()


def test_what_stands_beside_a_result_is_not_written_through(monkeypatch, tmp_path):
    class Here:
        """Spark in this process."""

        sparkContext = property(lambda self: self)

        def parallelize(self, found, count):
            self.found = found
            return self

        def map(self, do):
            self.found = [do(one) for one in self.found]
            return self

        def collect(self):
            return self.found

    trace, out, own = tmp_path / "t.csv", tmp_path / "out", tmp_path / "own"
    trace.write_text("")
    out.mkdir()
    own.write_text("mine")
    (out / "t--d.ioscape.json.part").symlink_to(own)
    small = Path(__file__).resolve().parents[2] / "crates/cli/tests/command/data/small.ioscape.json"
    monkeypatch.setattr(work, "simulated", lambda position, words: work.Piece(position, small.read_bytes()))
    [(place, _)] = spark.sweep(Here(), [str(trace)], ["d"], [], out)
    assert own.read_text() == "mine" and not place.is_symlink() and place.read_bytes() == small.read_bytes()
    assert sorted(one.name for one in out.iterdir()) == [place.name, place.name + ".part"]


def test_many_names_are_compared_with_few_others():
    compared = 0

    class Name(str):
        def __eq__(self, other):
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    names = [Name(f"{number}.json") for number in range(2000)]
    assert jobs._first_twice(names) is None and compared < 2000
    assert jobs._first_twice([*names, Name("7.json"), Name("6.json")]) == "7.json"


def test_import_and_sweep(cluster, tmp_path):
    raw = tmp_path / "raw"
    raw.mkdir()
    for name in ("one", "two"):
        lines = [f"{at * 5} 0 {at * 977 % 100_000} {8 + at % 8} {at % 2}" for at in range(400)]
        (raw / f"{name}.trace").write_text("\n".join(lines) + "\n")
    made = spark.import_(cluster, [str(raw / "*.trace")], tmp_path / "made", ["--format", "disksim"])
    assert [Path(path).name for path in made] == ["one.parquet", "two.parquet"]
    found = spark.sweep(cluster, made, ["hp-c2200a", "hp-c2247a"], ["none", "nvram:128K"], tmp_path / "sweep")
    assert len(found) == 8 and len(list((tmp_path / "sweep").iterdir())) == 8
    place, document = found[0]
    alone = json.loads(run("simulate", made[0], "--drive", "hp-c2200a", "--cache", "none", "--json"))
    assert json.loads(place.read_text())["simulation"] == alone["simulation"]
    (raw / "broken.trace").write_text("1 0 x 8 1\n")
    with pytest.raises(ioscape.IoscapeError, match="broken.trace, line 1"):
        spark.import_(cluster, [str(raw / "broken.trace")], tmp_path / "none", ["--format", "disksim"])
    assert not (tmp_path / "none").exists()
    with pytest.raises(ioscape.Misuse, match="no-such"):
        spark.sweep(cluster, made, ["no-such"], [], tmp_path / "bad")
    assert not (tmp_path / "bad").exists()
