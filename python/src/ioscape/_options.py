"""The options of the program as types of keyword arguments. Made by generate.py from the program's help: do not edit."""

from __future__ import annotations

import os
from typing import Literal, Mapping, Optional, Sequence, TypedDict, Union

# The place of a file or directory.
Place = Union[str, "os.PathLike[str]"]
# Bytes: a number, or a text such as "64k" or "1.5G" (powers of 1024).
Size = Union[int, str]
# Seconds, or a text such as "500ms", "30s" or "10m".
Time = Union[int, float, str]
# A disk by its name, by the number at the end of it, or else by its place from 0.
Disk = Union[int, str]


class EvaluateOptions(TypedDict, total=False):
    """Options of `ioscape evaluate`."""
    budget: Optional[Time]
    """Longest time for the whole evaluation [default: 10m]"""
    memory: Optional[Size]
    """Run the workers in a control group with this much memory, file cache included [default: no limit; where
    no set can outgrow the memory, parts of the budget go to such a group and to direct I/O]"""
    max_unique_bytes: Optional[Size]
    """Largest working set to try. A size given here is laid out however long that takes, and the budget is
    not divided. [default: four times the memory, but at most half of the free space (a third where the file
    system copies on write) and what a quarter of the budget can lay out; less where no set can outgrow the
    memory, since the budget is divided then]"""
    access: Optional[Union[Literal['buffered', 'direct', 'dsync'], Sequence[Literal['buffered', 'direct', 'dsync']]]]
    """Evaluate each of these, one after the other in equal parts of the budget: buffered, direct (O_DIRECT),
    dsync (O_DSYNC) [default: buffered]"""
    direct: bool
    """Bypass the file cache (O_DIRECT): short for --access direct"""
    direct_above: Optional[Size]
    """Requests larger than this bypass the file cache, all others go through it (discovered direct I/O)"""
    engine: Optional[Literal['psync', 'io_uring', 'mmap', 'dontcache']]
    """How requests reach the kernel: psync, io_uring, mmap or dontcache [default: psync]"""
    queue_depth: Optional[int]
    """Requests in flight per process, except in the curve that varies the depth; above 1 needs --engine
    io_uring [default: 1]"""
    workers: Optional[Literal['processes', 'threads']]
    """What issues each stream of requests: processes or threads [default: processes]"""
    size_dist: Optional[Literal['normal', 'bernoulli', 'exponential', 'fixed']]
    """How request sizes are drawn: normal, bernoulli, exponential or fixed [default: normal]"""
    all_parameters: bool
    """Also vary all parameters at once to find the 75 % performance point and the range that performs well"""
    points: Optional[int]
    """Measure at most N different workloads (N from 60 to 100000), and repeat them while time is left
    [default: no limit]"""
    precondition: Optional[Literal['empty', 'full', 'steady-state']]
    """What a simulated solid-state drive holds before a set is laid out on it: empty, full (written once, in
    order) or steady-state (written at random for long) [default: as its file says]"""
    seed: Optional[int]
    """Seed of all random choices [default: 1]"""
    metric: Optional[Literal['throughput', 'iops', 'latency']]
    """What the figures of the summary and the page show; the page can switch between them; throughput: Bytes
    per second; iops: Requests per second; latency: Response times, median and 99th percentile [default:
    throughput]"""
    resume: Optional[Place]
    """Continue the interrupted evaluation in FILE"""
    destroy_data: bool
    """Allow the data of TARGET, a file or device, to be overwritten"""
    output: Optional[Place]
    """Write the result to FILE (.ioscape.json) [default: ioscape-DATE-TIME.ioscape.json and ioscape-DATE-
    TIME.html in the current directory, unless --html or --json is given]"""
    html: Optional[Place]
    """Write one self-contained HTML page to FILE"""
    force: bool
    """Overwrite output files even if they are not ioscape results"""
    quiet: bool
    """Print nothing on standard error but the reason for a failure"""
    verbose: bool
    """Report every step on a line of its own, also without a terminal"""
    anonymous: bool
    """Leave the name of this machine out of the result"""


class RunOptions(TypedDict, total=False):
    """Options of `ioscape run`."""
    unique_bytes: Optional[Size]
    """Working set: distinct bytes that all processes touch together [default: 64M]"""
    size_mean: Optional[Size]
    """Mean request size [default: 32k]"""
    read_frac: Optional[float]
    """Fraction of reads, 0 to 1 [default: 0.5]"""
    seq_frac: Optional[float]
    """Fraction of requests that start where the process's previous one ended, 0 to 1 [default: 0.5]"""
    processes: Optional[int]
    """Processes issuing I/O at the same time [default: 1]"""
    size_dist: Optional[Literal['normal', 'bernoulli', 'exponential', 'fixed']]
    """How request sizes are drawn: normal, bernoulli, exponential or fixed [default: normal]"""
    queue_depth: Optional[int]
    """Requests in flight per process; above 1 needs --engine io_uring [default: 1]"""
    think_time: Optional[Time]
    """Time each process pauses between two requests [default: 0]"""
    align: Optional[Size]
    """Multiple that offsets and sizes are rounded to [default: 4k, less for smaller requests]"""
    engine: Optional[Literal['psync', 'io_uring', 'mmap', 'dontcache', 'null']]
    """How requests reach the kernel: psync, io_uring, mmap, dontcache or null [default: psync]"""
    direct: bool
    """Bypass the file cache (O_DIRECT)"""
    dsync: bool
    """Every write reaches stable storage before it returns (O_DSYNC)"""
    direct_above: Optional[Size]
    """Requests larger than this bypass the file cache, all others go through it (discovered direct I/O)"""
    workers: Optional[Literal['processes', 'threads']]
    """What issues each stream of requests: processes or threads [default: processes]"""
    advice: Optional[Literal['normal', 'random', 'sequential']]
    """Access pattern announced to the kernel (posix_fadvise, of a mapping also madvise): normal, random or
    sequential [default: normal]"""
    seconds: Optional[Time]
    """Time limit for each workload; it ends earlier once the throughput is known to 3 %, with writes to the
    file cache only after the kernel has flushed once (40 s with Linux's usual settings) [default: 10s; for a
    characterized application, which runs its phases once, 10m or 20 times as long as they took, whichever is
    longer]"""
    memory: Optional[Size]
    """Run the workers in a control group with this much memory, file cache included"""
    fio_iolog: Optional[Place]
    """Also write the requests to FILE as an iolog for fio: from the first on, as many as were measured, at
    most 2,000,000 per process. One workload or job only. Further processes go to files with a number before
    the ending (FILE.1, FILE.2 ...). In a directory the log names the scratch file, which is removed: to run
    it with fio, make a file as large as --unique-bytes and replace that name by it"""
    rows: Optional[Place]
    """Also write the measured requests as a trace to FILE (.parquet or .csv), which every command that reads
    traces accepts; with several jobs, one file per job (FILE.2.parquet ...)"""
    openmetrics: Optional[Place]
    """Also write the figures to FILE as OpenMetrics text (.prom), for a scraper or the textfile collector of
    Prometheus"""
    verify: bool
    """Check in every read, and once more at the end, that each block holds what was last written to it"""
    seed: Optional[int]
    """Seed of all random choices [default: 1]"""
    destroy_data: bool
    """Allow the data of TARGET, a file or device, to be overwritten"""
    output: Optional[Place]
    """Write the result to FILE (.ioscape.json)"""
    html: Optional[Place]
    """Write one self-contained HTML page to FILE"""
    force: bool
    """Overwrite output files even if they are not ioscape results"""
    quiet: bool
    """Print nothing on standard error but the reason for a failure"""
    verbose: bool
    """Report every step on a line of its own, also without a terminal"""
    anonymous: bool
    """Leave the name of this machine out of the result"""


class PredictOptions(TypedDict, total=False):
    """Options of `ioscape predict`."""
    workloads: Optional[Place]
    """Workloads to predict: a named set (paper: five of 1994; today: six of today), a job file, or a result
    of characterize (.json)"""
    unique_bytes: Optional[Size]
    """Working set: distinct bytes that all processes touch together [default: 64M]"""
    size_mean: Optional[Size]
    """Mean request size [default: 32k]"""
    read_frac: Optional[float]
    """Fraction of reads, 0 to 1 [default: 0.5]"""
    seq_frac: Optional[float]
    """Fraction of requests that start where the process's previous one ended, 0 to 1 [default: 0.5]"""
    processes: Optional[int]
    """Processes issuing I/O at the same time [default: 1]"""
    size_dist: Optional[Literal['normal', 'bernoulli', 'exponential', 'fixed']]
    """How request sizes are drawn: normal, bernoulli, exponential or fixed [default: as evaluated; anything
    else is refused]"""
    queue_depth: Optional[int]
    """Requests in flight per process; above 1 needs --engine io_uring [default: as evaluated; anything else
    is refused]"""
    think_time: Optional[Time]
    """Time each process pauses between two requests [default: as evaluated; shorter pauses are refused]"""
    align: Optional[Size]
    """Multiple that offsets and sizes are rounded to [default: as evaluated; anything else is refused]"""
    engine: Optional[Literal['psync', 'io_uring', 'mmap', 'dontcache', 'null']]
    """How requests reach the kernel: psync, io_uring, mmap, dontcache or null [default: as evaluated;
    anything else is refused]"""
    direct: bool
    """Bypass the file cache (O_DIRECT)"""
    dsync: bool
    """Every write reaches stable storage before it returns (O_DSYNC)"""
    direct_above: Optional[Size]
    """Requests larger than this bypass the file cache, all others go through it (discovered direct I/O)"""
    workers: Optional[Literal['processes', 'threads']]
    """What issues each stream of requests: processes or threads [default: as evaluated; anything else is
    refused]"""
    advice: Optional[Literal['normal', 'random', 'sequential']]
    """Access pattern announced to the kernel (posix_fadvise, of a mapping also madvise): normal, random or
    sequential [default: as evaluated; anything else is refused]"""
    trace: Optional[Union[Place, Sequence[Place]]]
    """Predict the application recorded in this block trace (any known format), with cache hits computed from
    its own locality"""
    format: Optional[Literal['parquet', 'arrow', 'hp-srt', 'lcs', 'fio-iolog', 'recording', 'csv', 'blktrace', 'vscsi1', 'vscsi2', 'oracle-general', 'blkparse', 'trace-events', 'msr', 'systor', 'alibaba', 'cloudphysics-csv', 'tencent', 'spc', 'fiu', 'disksim-validate', 'replayer', 'ssdsim', 'disksim']]
    """Format of the trace [default: found by its content]"""
    skip_bad: bool
    """Skip broken records and count them"""
    from_: Optional[Time]
    """Only requests that arrive from this time on, counted from the start of the trace"""
    to: Optional[Time]
    """Only requests that arrive before this time"""
    disk: Optional[Union[Disk, Sequence[Disk]]]
    """Only these disks, separated by commas: by name, by the number at its end (1 for LUN 1), or else by
    place from 0 [default: all]"""
    characterization: Optional[Place]
    """Predict the application in this result of `ioscape characterize`, with cache hits computed from its own
    locality"""
    model: Optional[Literal['default', 'levels', 'product']]
    """Model: levels, product (the paper's), or default, a mean of both weighted by how well they predict
    points that they did not see [default: default]"""
    what_if: Optional[Union[str, Sequence[str]]]
    """Predict for a changed system: memory=SIZE, storage=RESULT (the storage of the system in RESULT), write-
    policy=write-through or write-policy=write-back; several separated by commas"""
    output: Optional[Place]
    """Write the result to FILE (.ioscape.json)"""
    html: Optional[Place]
    """Write one self-contained HTML page to FILE"""
    force: bool
    """Overwrite output files even if they are not ioscape results"""
    quiet: bool
    """Print nothing on standard error but the reason for a failure"""
    verbose: bool
    """Report every step on a line of its own, also without a terminal"""
    anonymous: bool
    """Leave the name of this machine out of the result"""


class CompareOptions(TypedDict, total=False):
    """Options of `ioscape compare`."""
    workloads: Optional[Place]
    """Workloads to predict: a named set (paper: five of 1994; today: six of today), a job file, or a result
    of characterize (.json)"""
    unique_bytes: Optional[Size]
    """Working set: distinct bytes that all processes touch together [default: 64M]"""
    size_mean: Optional[Size]
    """Mean request size [default: 32k]"""
    read_frac: Optional[float]
    """Fraction of reads, 0 to 1 [default: 0.5]"""
    seq_frac: Optional[float]
    """Fraction of requests that start where the process's previous one ended, 0 to 1 [default: 0.5]"""
    processes: Optional[int]
    """Processes issuing I/O at the same time [default: 1]"""
    size_dist: Optional[Literal['normal', 'bernoulli', 'exponential', 'fixed']]
    """How request sizes are drawn: normal, bernoulli, exponential or fixed [default: as evaluated; anything
    else is refused]"""
    queue_depth: Optional[int]
    """Requests in flight per process; above 1 needs --engine io_uring [default: as evaluated; anything else
    is refused]"""
    think_time: Optional[Time]
    """Time each process pauses between two requests [default: as evaluated; shorter pauses are refused]"""
    align: Optional[Size]
    """Multiple that offsets and sizes are rounded to [default: as evaluated; anything else is refused]"""
    engine: Optional[Literal['psync', 'io_uring', 'mmap', 'dontcache', 'null']]
    """How requests reach the kernel: psync, io_uring, mmap, dontcache or null [default: as evaluated;
    anything else is refused]"""
    direct: bool
    """Bypass the file cache (O_DIRECT)"""
    dsync: bool
    """Every write reaches stable storage before it returns (O_DSYNC)"""
    direct_above: Optional[Size]
    """Requests larger than this bypass the file cache, all others go through it (discovered direct I/O)"""
    workers: Optional[Literal['processes', 'threads']]
    """What issues each stream of requests: processes or threads [default: as evaluated; anything else is
    refused]"""
    advice: Optional[Literal['normal', 'random', 'sequential']]
    """Access pattern announced to the kernel (posix_fadvise, of a mapping also madvise): normal, random or
    sequential [default: as evaluated; anything else is refused]"""
    model: Optional[Literal['default', 'levels', 'product']]
    """Model: levels, product (the paper's), or default, a mean of both weighted by how well they predict
    points that they did not see [default: default]"""
    fail_if: Optional[str]
    """Exit with code 3 if a measured row meets this condition beyond chance: throughput, rate or time, then <
    or >, then a ratio to the first result, such as 'throughput < 0.95'"""
    price: Optional[Union[str, Sequence[str], Mapping[str, Union[str, int, float]]]]
    """Price of a system, named by its result file without extensions or by its target; once per system"""
    at_least: Optional[str]
    """Name the cheapest system that reaches this throughput, such as 500MB/s"""
    output: Optional[Place]
    """Write the result to FILE (.ioscape.json)"""
    html: Optional[Place]
    """Write one self-contained HTML page to FILE"""
    force: bool
    """Overwrite output files even if they are not ioscape results"""
    quiet: bool
    """Print nothing on standard error but the reason for a failure"""
    verbose: bool
    """Report every step on a line of its own, also without a terminal"""
    anonymous: bool
    """Leave the name of this machine out of the result"""


class CharacterizeOptions(TypedDict, total=False):
    """Options of `ioscape characterize`."""
    below: Optional[Place]
    """Count only files in this directory and below [default: all]"""
    memory: Optional[Size]
    """Run the command in a control group with this much memory, file cache included"""
    output: Optional[Place]
    """Write the result to FILE (.ioscape.json), which run and predict accept"""
    html: Optional[Place]
    """Write one self-contained HTML page to FILE"""
    force: bool
    """Overwrite output files even if they are not ioscape results"""
    quiet: bool
    """Print nothing on standard error but the reason for a failure"""
    verbose: bool
    """Report every step on a line of its own, also without a terminal"""
    anonymous: bool
    """Leave the name of this machine out of the result"""


class SimulateOptions(TypedDict, total=False):
    """Options of `ioscape simulate`."""
    drive: Optional[Union[Place, Sequence[Place]]]
    """A drive by name, its parameter file (.toml), or a DiskSim file (.parv, .diskspecs, .model or .seek);
    several are compared with one another. DEVICE=DRIVE is for that device of the trace"""
    own_drive: bool
    """Each trace by itself, on the drive whose file lies beside it: NAME.toml, NAME.parv or NAME.diskspecs
    for NAME.trace"""
    array: Optional[str]
    """An array of drives for every device: none, raid0:DISKS[:CHUNK], raid1:DISKS or raid5:DISKS[:CHUNK]
    [default: none]"""
    queue_depth: Optional[int]
    """Commands that a disk takes at once, to choose the order itself [default: as the drive]"""
    cache: Optional[str]
    """Write cache at the disk: none, immediate, volatile[:SIZE] or nvram:SIZE [default: as the drive]"""
    destage: Optional[Literal['fcfs', 'satf']]
    """Destage order of a non-volatile cache: fcfs or satf [default: fcfs]"""
    freeing: Optional[Literal['whole', 'as-written']]
    """When a write's space in a non-volatile cache is freed: whole (once all of it is on disk) or as-written
    [default: whole]"""
    scheduler: Optional[Literal['fcfs', 'c-scan', 'scan', 'look', 'c-look', 'sstf', 'satf', 'aged-satf']]
    """Host scheduler: fcfs, c-scan (c-look is the same), scan (look is the same), sstf, satf or aged-satf
    [default: c-scan]"""
    read_ahead: Optional[Literal['on', 'off']]
    """Whether the disk reads ahead: on or off [default: as the drive]"""
    arrivals: Optional[Literal['queued', 'issued', 'closed']]
    """When requests arrive: queued (recorded arrivals), issued (recorded order at the disk) or closed (think
    times) [default: queued]"""
    format: Optional[Literal['parquet', 'arrow', 'hp-srt', 'lcs', 'fio-iolog', 'recording', 'csv', 'blktrace', 'vscsi1', 'vscsi2', 'oracle-general', 'blkparse', 'trace-events', 'msr', 'systor', 'alibaba', 'cloudphysics-csv', 'tencent', 'spc', 'fiu', 'disksim-validate', 'replayer', 'ssdsim', 'disksim']]
    """Format of the trace [default: found by its content]"""
    skip_bad: bool
    """Skip broken records and count them"""
    from_: Optional[Time]
    """Only requests that arrive from this time on, counted from the start of the trace"""
    to: Optional[Time]
    """Only requests that arrive before this time"""
    disk: Optional[Union[Disk, Sequence[Disk]]]
    """Only these disks, separated by commas: by name, by the number at its end (1 for LUN 1), or else by
    place from 0 [default: all]"""
    wrap: bool
    """Requests beyond the drive's capacity wrap around to its beginning"""
    scale_time: Optional[float]
    """Put arrivals, or with --arrivals closed the think times, FACTOR times as far apart: 0.5 doubles the
    load"""
    precondition: Optional[Literal['empty', 'full', 'steady-state']]
    """What a solid-state drive holds at first: empty, full (written once, in order) or steady-state (written
    at random for long) [default: as its file says]"""
    shared_bus: bool
    """All disks share one bus"""
    sweep: Optional[Union[str, Sequence[str], Mapping[str, Union[str, int, float]]]]
    """Vary an option: cache=none,immediate,volatile,8K..4M (doubling), destage=fcfs,satf, scheduler=...,
    read-ahead=on,off, array=none,raid5:5"""
    absorption: bool
    """Add what a non-volatile cache at the host would absorb of the writes, by its size"""
    threads: Optional[int]
    """Threads to simulate with; the result does not depend on their number [default: one per processor]"""
    rows: Optional[Place]
    """Write the requests of the first combination as a trace to FILE (.parquet or .csv), with the parts of
    their times"""
    output: Optional[Place]
    """Write the result to FILE (.ioscape.json)"""
    html: Optional[Place]
    """Write one self-contained HTML page to FILE"""
    force: bool
    """Overwrite output files even if they are not ioscape results"""
    quiet: bool
    """Print nothing on standard error but the reason for a failure"""
    verbose: bool
    """Report every step on a line of its own, also without a terminal"""
    anonymous: bool
    """Leave the name of this machine out of the result"""


class DoctorOptions(TypedDict, total=False):
    """Options of `ioscape doctor`."""
    output: Optional[Place]
    """Write the result to FILE (.ioscape.json)"""
    html: Optional[Place]
    """Write one self-contained HTML page to FILE"""
    force: bool
    """Overwrite output files even if they are not ioscape results"""
    quiet: bool
    """Print nothing on standard error but the reason for a failure"""
    verbose: bool
    """Report every step on a line of its own, also without a terminal"""
    anonymous: bool
    """Leave the name of this machine out of the result"""


class TraceAnalyzeOptions(TypedDict, total=False):
    """Options of `ioscape trace analyze`."""
    format: Optional[Literal['parquet', 'arrow', 'hp-srt', 'lcs', 'fio-iolog', 'recording', 'csv', 'blktrace', 'vscsi1', 'vscsi2', 'oracle-general', 'blkparse', 'trace-events', 'msr', 'systor', 'alibaba', 'cloudphysics-csv', 'tencent', 'spc', 'fiu', 'disksim-validate', 'replayer', 'ssdsim', 'disksim']]
    """Format of the trace [default: found by its content]"""
    skip_bad: bool
    """Skip broken records and count them"""
    from_: Optional[Time]
    """Only requests that arrive from this time on, counted from the start of the trace"""
    to: Optional[Time]
    """Only requests that arrive before this time"""
    disk: Optional[Union[Disk, Sequence[Disk]]]
    """Only these disks, separated by commas: by name, by the number at its end (1 for LUN 1), or else by
    place from 0 [default: all]"""
    block: Optional[Size]
    """Size of a block, a power of two [default: 8k]"""
    output: Optional[Place]
    """Write the result to FILE (.ioscape.json)"""
    html: Optional[Place]
    """Write one self-contained HTML page to FILE"""
    force: bool
    """Overwrite output files even if they are not ioscape results"""
    by: Optional[Literal['process', 'disk', 'partition']]
    """How the summary breaks the load down [default: partition]"""
    threads: Optional[int]
    """Threads to analyze with [default: one per processor]"""
    interleave: Optional[Size]
    """Interleave of the file system, for sequential requests; 0 for none [default: estimated from the
    trace]"""
    block_align: Optional[Literal['aligned', 'request']]
    """Where the blocks of caches and sets begin: at multiples of --block, or with each request as the paper
    counts them [default: aligned]"""
    exact_blocks: Optional[int]
    """Blocks up to which the miss-ratio curve is exact, at about 40 bytes each; it is sampled beyond
    [default: 65536]"""
    memory: Optional[Size]
    """Memory that it may take; a trace with too many blocks for it is analyzed by a sample of them, and the
    result says so [default: 4G for the table of blocks]"""
    state: Optional[Place]
    """Also write all that was learned of this part of a trace to FILE (.ioscape-state), for `ioscape trace
    merge`"""
    quiet: bool
    """Print nothing on standard error but the reason for a failure"""
    verbose: bool
    """Report every step on a line of its own, also without a terminal"""
    anonymous: bool
    """Leave the name of this machine out of the result"""


class TraceCharacterizeOptions(TypedDict, total=False):
    """Options of `ioscape trace characterize`."""
    format: Optional[Literal['parquet', 'arrow', 'hp-srt', 'lcs', 'fio-iolog', 'recording', 'csv', 'blktrace', 'vscsi1', 'vscsi2', 'oracle-general', 'blkparse', 'trace-events', 'msr', 'systor', 'alibaba', 'cloudphysics-csv', 'tencent', 'spc', 'fiu', 'disksim-validate', 'replayer', 'ssdsim', 'disksim']]
    """Format of the trace [default: found by its content]"""
    skip_bad: bool
    """Skip broken records and count them"""
    from_: Optional[Time]
    """Only requests that arrive from this time on, counted from the start of the trace"""
    to: Optional[Time]
    """Only requests that arrive before this time"""
    disk: Optional[Union[Disk, Sequence[Disk]]]
    """Only these disks, separated by commas: by name, by the number at its end (1 for LUN 1), or else by
    place from 0 [default: all]"""
    block: Optional[Size]
    """Size of a block, a power of two [default: 8k]"""
    output: Optional[Place]
    """Write the result to FILE (.ioscape.json)"""
    html: Optional[Place]
    """Write one self-contained HTML page to FILE"""
    force: bool
    """Overwrite output files even if they are not ioscape results"""
    window: Optional[Time]
    """Also describe the trace in windows of this length"""
    jobs: Optional[Place]
    """Write the workloads as a job file, for `ioscape run` and `ioscape predict --workloads`"""
    quiet: bool
    """Print nothing on standard error but the reason for a failure"""
    verbose: bool
    """Report every step on a line of its own, also without a terminal"""
    anonymous: bool
    """Leave the name of this machine out of the result"""


class TraceReadOptions(TypedDict, total=False):
    """Options of `ioscape trace import`."""
    format: Optional[Literal['parquet', 'arrow', 'hp-srt', 'lcs', 'fio-iolog', 'recording', 'csv', 'blktrace', 'vscsi1', 'vscsi2', 'oracle-general', 'blkparse', 'trace-events', 'msr', 'systor', 'alibaba', 'cloudphysics-csv', 'tencent', 'spc', 'fiu', 'disksim-validate', 'replayer', 'ssdsim', 'disksim']]
    """Format of the trace [default: found by its content]"""
    skip_bad: bool
    """Skip broken records and count them"""
    from_: Optional[Time]
    """Only requests that arrive from this time on, counted from the start of the trace"""
    to: Optional[Time]
    """Only requests that arrive before this time"""
    disk: Optional[Union[Disk, Sequence[Disk]]]
    """Only these disks, separated by commas: by name, by the number at its end (1 for LUN 1), or else by
    place from 0 [default: all]"""
    quiet: bool
    """Print nothing on standard error but the reason for a failure"""
    verbose: bool
    """Report every step on a line of its own, also without a terminal"""
    anonymous: bool
    """Leave the name of this machine out of the result"""
