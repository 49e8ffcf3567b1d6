"""The functions against the real program."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ioscape
from ioscape import _command

ROOT = Path(__file__).resolve().parents[2]
SMALL = ROOT / "crates/cli/tests/command/data/small.ioscape.json"
SCHEMA = ROOT / "docs/document.schema.json"


def test_a_run_gives_a_typed_document(tmp_path):
    document = ioscape.run(tmp_path, unique_bytes="1M", size_mean="4k", size_dist="fixed", read_frac=1.0, seconds="200ms")
    one = document.measurements[0]
    assert one.workload.size_mean == 4096 and one.workload.read_frac == 1.0
    low, high = one.throughput_ci95
    assert low <= one.throughput_bytes_per_s <= high
    assert one.response_time_ns.p50 <= one.response_time_ns.p99 <= one.response_time_ns.max
    assert document.evaluation is None and document.interrupted is False
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_can_be_measured_is_told_so(tmp_path):
    checks = ioscape.doctor(tmp_path).doctor.checks
    assert [one for one in checks if one.state == "missing" and not one.advice] == []
    assert {one.state for one in checks} <= {"works", "limited", "missing"} and checks[0].state == "works"
    assert list(tmp_path.iterdir()) == []


def test_the_program_is_the_one_that_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("IOSCAPE_BINARY", "/named/ioscape")
    assert ioscape.binary() == "/named/ioscape"
    monkeypatch.delenv("IOSCAPE_BINARY")
    monkeypatch.setattr(_command.sysconfig, "get_path", lambda _: str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    with pytest.raises(ioscape.Failed, match="there is no program `ioscape`"):
        ioscape.binary()
    beside = tmp_path / "ioscape"
    beside.write_text("")
    assert ioscape.binary() == str(beside)


def test_a_job_file_runs(tmp_path):
    jobs = tmp_path / "jobs.toml"
    jobs.write_text('[[job]]\nname = "mail"\nunique_bytes = "1M"\nseconds = 0.1\n')
    assert [one.name for one in ioscape.run(tmp_path, jobs).measurements] == ["mail"]


def test_failures_are_exceptions_with_the_same_sentence(tmp_path):
    with pytest.raises(ioscape.Misuse, match="4kk"):
        ioscape.run(tmp_path, size_mean="4kk")
    with pytest.raises(ioscape.Failed, match="nothing can be measured") as failed:
        ioscape.doctor("/proc")
    assert failed.value.document.doctor.checks[0].state == "missing"
    with pytest.raises(ioscape.Misuse, match="no result|not JSON"):
        bad = tmp_path / "bad.json"
        bad.write_text("no")
        ioscape.load(bad)
    with pytest.raises(ioscape.Misuse, match="not JSON"):
        bad.write_bytes(b"\xff")
        ioscape.load(bad)
    for text, why in [('{"schema": "ioscape/2"}', "newer"), ('{"schema": "ioscape/1", "measurements": 5}', "damaged")]:
        bad.write_text(text)
        with pytest.raises(ioscape.Misuse, match=why):
            ioscape.load(bad)


def test_a_vxbench_result_of_an_older_version_opens(tmp_path):
    words = ["vxbench", "-w", "write", "-i", "iosize=64k,iocount=4", tmp_path / "file", "--json"]
    made = subprocess.run([ioscape.binary(), *words], capture_output=True, text=True, check=True)
    older, result = json.loads(made.stdout), tmp_path / "older.json"
    del older["vxbench"]["runs"][0]["job"]["huge_buffers"]
    result.write_text(json.dumps(older))
    assert ioscape.load(result).vxbench.runs[0].job.iosize == 65536


def test_a_trace_of_an_older_version_has_no_zeros_for_what_it_does_not_record(tmp_path):
    trace, result = tmp_path / "made.csv", tmp_path / "trace.json"
    trace.write_text("".join(f"{128166372003061629 + i * 10**6},hm,0,Read,{i << 20},32768,1000\n" for i in range(9)))
    made = subprocess.run([ioscape.binary(), "trace", "analyze", trace, "--json"], capture_output=True, text=True, check=True)
    older = json.loads(made.stdout)
    of = older["trace_summary"]["response_times"]["all"]["elapsed_ns"]
    of.update(mean=0.0, max=0.0, bins=[[0.0, of["count"]]])
    result.write_text(json.dumps(older))
    assert ioscape.load(result).trace_summary.response_times is None


def test_a_comparison_of_an_older_version_is_judged_by_todays_rule(tmp_path):
    older = json.loads(subprocess.run([ioscape.binary(), "compare", SMALL, SMALL, "--json"], capture_output=True, text=True, check=True).stdout)
    older["comparison"][0].update(ratio=0.8, interval90=[0.66, 0.97], extrapolated=False, significant=True, verdict="slower")
    result = tmp_path / "older.json"
    result.write_text(json.dumps(older))
    assert ioscape.load(result).comparison[0].verdict == "cannot_be_told"


def stand_in(tmp_path, script):
    """A program to be run instead of the real one."""
    program = tmp_path / "stand-in"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(program)


def test_a_command_may_say_bytes_that_are_no_text(tmp_path):
    # More than a pipe holds.
    program = stand_in(tmp_path, f"head -c 200000 /dev/zero | tr '\\000' '\\377' >&2\ncat '{SMALL}'")
    script = "import ioscape\nprint(ioscape.characterize(['true']).seed)"
    told = subprocess.run([sys.executable, "-c", script], env={**os.environ, "IOSCAPE_BINARY": program}, capture_output=True, timeout=60)
    assert told.stdout == b"7\n", told.stderr[-1000:]


@pytest.mark.parametrize("code", [1, 2, 3, 130])
def test_the_exit_code_of_a_command_says_nothing_of_the_program(monkeypatch, tmp_path, code):
    told = f"echo 'ioscape: the command ended with exit code {code}' >&2; exit {code}"
    monkeypatch.setenv("IOSCAPE_BINARY", stand_in(tmp_path, f"cat '{SMALL}'; {told}"))
    with pytest.raises(ioscape.CommandFailed, match=f"exit code {code}") as failed:
        ioscape.characterize(["sh", "-c", f"exit {code}"])
    assert failed.value.code == code and failed.value.document.seed == 7 and isinstance(failed.value, ioscape.Failed)


def test_what_ends_the_program_is_no_failure_of_the_command(monkeypatch, tmp_path):
    monkeypatch.setenv("IOSCAPE_BINARY", stand_in(tmp_path, f"sed 's/\"interrupted\":false/\"interrupted\":true/' '{SMALL}'; exit 130"))
    with pytest.raises(ioscape.Interrupted):
        ioscape.characterize(["sleep", "9"])
    monkeypatch.setenv("IOSCAPE_BINARY", stand_in(tmp_path, "echo 'ioscape: there is no nothing' >&2; exit 2"))
    with pytest.raises(ioscape.Misuse, match="there is no nothing"):
        ioscape.characterize(["nothing"])


def test_a_command_that_fails_is_described_all_the_same():
    with pytest.raises(ioscape.CommandFailed) as failed:
        ioscape.characterize(["sh", "-c", "exit 2"])
    assert failed.value.code == 2 and failed.value.document.characterization.ending == {"exit": 2}


def test_predictions_and_comparisons_come_from_files():
    predicted = ioscape.predict(SMALL, read_frac=1.0, size_mean="32k", unique_bytes="8M")
    one = predicted.predictions[0]
    assert one.interval90[0] <= one.throughput_bytes_per_s <= one.interval90[1]
    with pytest.raises(ioscape.ConditionFailed) as failed:
        ioscape.compare(SMALL, SMALL, fail_if="throughput < 1.5")
    assert failed.value.document is not None


def test_a_simulation_and_a_command_are_documents(tmp_path):
    simulated = ioscape.simulate(small_trace(tmp_path), format="disksim", drive="hp-c2200a", cache="none").simulation
    assert simulated is not None and simulated.requests == 400
    command = ["dd", "if=/dev/zero", f"of={tmp_path / 'out'}", "bs=64k", "count=16", "conv=fsync"]
    overall = ioscape.characterize(command).characterization.overall
    assert overall.bytes >= 1 << 20 and overall.syncs == 1


def test_an_evaluation_is_a_document_and_its_comparison_too(tmp_path):
    document = ioscape.evaluate(tmp_path, budget="15s", max_unique_bytes="4M", output=tmp_path / "here.ioscape.json")
    assert document.evaluation.regions and document.evaluation.target == str(tmp_path.resolve())
    assert ioscape.load(tmp_path / "here.ioscape.json").evaluation == document.evaluation
    assert all(one.ratio == 1.0 for one in ioscape.compare(SMALL, SMALL).comparison)


def test_the_types_are_whole():
    pytest.importorskip("mypy", reason="mypy is not installed, so the types were not checked: pip install mypy")
    told = subprocess.run([sys.executable, "-m", "mypy"], cwd=ROOT / "python", capture_output=True, text=True)
    assert told.returncode == 0, told.stdout


def test_loading_keeps_every_number():
    document = ioscape.load(SMALL)
    raw = json.loads(SMALL.read_text())
    assert document.seed == raw["seed"]
    for name in ("unique_bytes_curve", "unique_bytes_read_curve", "unique_bytes_write_curve"):
        ours, theirs = getattr(document.evaluation, name), raw["evaluation"][name]
        assert [point.value for point in ours] == [point["value"] for point in theirs]
        assert [point.measurement.ios for point in ours] == [point["measurement"]["ios"] for point in theirs]


def test_ctrl_c_stops_the_program_and_keeps_what_was_measured(tmp_path):
    target, result = tmp_path / "target", tmp_path / "result.ioscape.json"
    target.mkdir()
    script = (
        "import ioscape, sys\n"
        "try:\n    ioscape.evaluate(sys.argv[1], output=sys.argv[2], budget='60s', max_unique_bytes='64M')\n"
        "except ioscape.Interrupted as told:\n    print('kept', told.document.interrupted, str(told))\n"
    )
    line = [sys.executable, "-c", script, str(target), str(result)]
    child = subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=os.environ)
    until = time.monotonic() + 120
    while not (result.exists() and b'"purpose"' in result.read_bytes()):
        assert time.monotonic() < until and child.poll() is None, "nothing was measured"
        time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=120)
    assert out.startswith("kept True"), out
    assert list(target.iterdir()) == []


def test_the_program_does_not_outlive_a_process_that_is_killed(tmp_path):
    told, known = tmp_path / "told", tmp_path / "known"
    program = stand_in(tmp_path, f"echo $$ > '{told}.new'; mv '{told}.new' '{told}'; exec sleep 1000")
    # The number of the program is told when it runs; the guard then makes a file.
    script = f"import ioscape\nfrom ioscape import _command as c\nc._GUARD = c._GUARD.replace('&&', '&& >{known} &&', 1)\nioscape.doctor()"
    child = subprocess.Popen([sys.executable, "-c", script], env={**os.environ, "IOSCAPE_BINARY": program})
    until = time.monotonic() + 60
    while not (told.exists() and known.exists()):
        assert time.monotonic() < until and child.poll() is None
        time.sleep(0.05)
    child.kill()
    child.wait()
    status = Path(f"/proc/{told.read_text().strip()}/stat")
    # Where the first process of a container waits for none, it stays as a zombie.
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        while status.read_text().rsplit(")", 1)[1].split()[0] != "Z":
            assert time.monotonic() < until
            time.sleep(0.05)


def test_documents_follow_the_published_schema(tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(json.loads(SMALL.read_text()))
    for words in (["doctor", tmp_path], ["run", tmp_path, "--unique-bytes", "1M", "--seconds", "100ms"], ["predict", SMALL, "--workloads", "today"]):
        told = subprocess.run([_command.binary(), *words, "--json"], capture_output=True, text=True, check=True)
        validator.validate(json.loads(told.stdout))


def test_the_dataclasses_are_those_of_the_schema():
    sys.path.insert(0, str(ROOT / "python"))
    import generate

    assert generate.TARGET.read_text() == generate.source(), "run python generate.py"


def small_trace(tmp_path):
    lines = [f"{at * 5} 0 {at * 977 % 100_000} {8 + at % 8} {at % 2}" for at in range(400)]
    path = tmp_path / "small.trace"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_trace_is_a_table_and_a_table_is_a_trace(tmp_path):
    pytest.importorskip("pyarrow")
    path = small_trace(tmp_path)
    table = ioscape.trace.read(path, format="disksim")
    assert table.num_rows == 400 and {"queued_ns", "offset_bytes", "is_write"} <= set(table.column_names)
    whole = ioscape.trace.analyze(path, format="disksim").trace_summary
    again = ioscape.trace.analyze(table).trace_summary
    assert (again.miss_ratio, again.inter_arrival_ns) == (whole.miss_ratio, whole.inter_arrival_ns)
    with pytest.raises(TypeError, match="not int"):
        ioscape.trace.analyze(7)


def test_a_trace_is_described_by_five_parameters(tmp_path):
    path = small_trace(tmp_path)
    found = ioscape.trace.characterize(path, format="disksim", window="1s", jobs=tmp_path / "jobs.toml").trace_characterization
    assert found is not None and found.overall.read_frac == 0.5 and found.windows
    assert "[[job]]" in (tmp_path / "jobs.toml").read_text()


def test_a_file_is_no_option_whatever_its_name(monkeypatch, tmp_path):
    path = small_trace(tmp_path).rename(tmp_path / "--skip-bad")
    whole = ioscape.trace.analyze(path, format="disksim").trace_summary
    monkeypatch.chdir(tmp_path)
    for name in ("--skip-bad", Path("--skip-bad")):
        assert ioscape.trace.analyze(name, format="disksim").trace_summary.inter_arrival_ns == whole.inter_arrival_ns


def test_several_traces_are_files_and_tables(tmp_path):
    pytest.importorskip("pyarrow")
    table = ioscape.trace.read(small_trace(tmp_path), format="disksim")
    halves = [table.slice(0, 200), table.slice(200)]
    whole = ioscape.trace.analyze(table).trace_summary
    both = ioscape.trace.analyze(*halves).trace_summary
    assert (both.miss_ratio, both.inter_arrival_ns) == (whole.miss_ratio, whole.inter_arrival_ns)
    unnamed = table.drop_columns(["device"]).replace_schema_metadata(None)
    told = [doubt.message for doubt in ioscape.trace.analyze(unnamed, unnamed).warnings]
    assert any(re.search(r"table-1\.arrow and .*table-2\.arrow name no disk", text) for text in told), told
    with pytest.raises(ioscape.Misuse, match="none.trace"):
        ioscape.trace.read(tmp_path / "none.trace")


@pytest.mark.parametrize("library", ["pandas", "polars", "duckdb"])
def test_tables_of_other_libraries_are_traces(tmp_path, library):
    pytest.importorskip("pyarrow")
    module = pytest.importorskip(library)
    table = requests = ioscape.trace.read(small_trace(tmp_path), format="disksim")
    if library == "duckdb":
        assert module.sql("select count(*) from requests").fetchall() == [(requests.num_rows,)]
        return
    other = table.to_pandas() if library == "pandas" else module.from_arrow(table)
    found = ioscape.trace.analyze(other).trace_summary
    assert found.miss_ratio == ioscape.trace.analyze(table).trace_summary.miss_ratio
