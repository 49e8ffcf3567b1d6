"""The documents of ioscape as dataclasses. Made by generate.py from the JSON Schema: do not edit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Optional


@dataclass(kw_only=True)
class Absorption:
    """Non-volatile memory needed for the writes of 30 seconds (Figures 17 and 18)."""
    bytes: Distribution
    """Distinct bytes written in an interval, in bytes."""
    fit_100k: float
    """Fraction of intervals (of those with writes) that fit 100 KiB."""
    fit_200k: float
    """Fraction that fits 200 KiB."""
    interval_ns: int
    """Length of an interval."""
    intervals: int
    """Intervals with at least one such write."""
    overwritten_frac: float
    """Fraction of the written bytes that overwrite bytes written earlier in the same interval."""
    writes: str
    """`all` or `metadata`."""
    absorbed: Optional[list[list[float]]] = None
    """Cache emptied after each interval: bytes, least share of written bytes taken, and of overwrites (Figure
    18)."""


@dataclass(kw_only=True)
class AccessPattern:
    """An application's requests as a storage system serves them: by class, each with its own locality."""
    classes: list[RequestClass]
    """The classes, reads first, smaller requests first."""
    elsewhere_s: float
    """Seconds in which no process was at its I/O: starting, ending, computing for long."""
    process_num: int
    """Mean number of processes at work at once."""
    sync_s: float
    """Seconds spent in `fsync` and the like, all processes together."""
    think_time_ns: float
    """Mean time that a process spends between two requests."""
    unique_bytes: int
    """Distinct bytes read or written, in whole pages of 4 KiB."""
    unique_write_bytes: int
    """Those that were written."""
    memory_bytes: Optional[int] = None
    """Memory that one process had for itself, in bytes and at least: what may have been pages of files that
    it mapped is not in it. It is not there for the file cache. Absent where it is not known."""


@dataclass(kw_only=True)
class AddressMap:
    """Addresses over time on one disk."""
    cells: list[list[Any]]
    """Requests that are not 0: column, row, reads, writes."""
    device: int
    """Index of the device."""
    row_bytes: int
    """Height of a row in bytes; row 0 begins at address 0."""
    start_ns: int
    """Beginning of the first column."""
    step_ns: int
    """Width of a column."""


@dataclass(kw_only=True)
class AlignedShare:
    """Requests of one operation that are aligned to a size."""
    aligned: int
    """Those that begin and end at multiples of the size."""
    ios: int
    """Requests that move data."""
    op: Literal['read', 'write']
    """Read or write."""
    unit_bytes: int
    """The size, a power of two."""


@dataclass(kw_only=True)
class AllParameters:
    """The first try of section 7: all parameters at their 75 % performance point at once."""
    focal: Workload
    """The focal vector that was found."""
    ranges: list[FocalRange]
    """One range per parameter, in the papers' order."""
    settled: bool
    """Whether the iteration settled before its last allowed step."""


@dataclass(kw_only=True)
class ApplicationForecast:
    """Where the time of a traced application goes on a system, and how much memory it needs there."""
    elapsed_s: float
    """From its beginning to its end, in seconds."""
    parts: list[TimePart]
    """What that time is made of; the parts add up to `elapsed_s`."""
    read_hit_frac: float
    """Share of the bytes read that the caches hold."""
    written_through_frac: float
    """Share of the bytes written that storage gets."""
    memory: Optional[MemoryForecast] = None
    """How memory matters; absent where no cache of the size of the system's memory was found, where that is
    unknown, or where the access passes the file cache."""
    read_hit_interval90: Optional[list[float]] = None
    """90 % interval of that share: by how much parts of the trace differ, and how well the evaluation knows
    the size of its caches. Absent where the trace's file does not tell how much its parts differ."""
    written_through_interval90: Optional[list[float]] = None
    """90 % interval of that share, from the same."""


@dataclass(kw_only=True)
class Behind:
    """A process that slow requests waited behind."""
    command: str
    """Its command, empty where it is not told."""
    ios: int
    """Slow requests that waited behind it."""
    process: int
    """Its number."""


@dataclass(kw_only=True)
class Border:
    """A value of `unique_bytes` at which performance changes from one level of the storage hierarchy to the
    next."""
    high: float
    """The border is not above this, in bytes."""
    low: float
    """The border is not below this, in bytes."""
    operation: Literal['read', 'write', 'mixed']
    """The requests it was found with."""
    unique_bytes: float
    """Best estimate, in bytes."""
    in_memory: Optional[bool] = None
    """Whether everything behind it still came from memory: a border of the processor's caches, not of
    storage. Such a border makes no region."""
    ratio: Optional[float] = None
    """Throughput just before the border over that well behind it."""
    slower: Optional[Slower] = None
    """How much slower sets beyond it were measured to be; nothing where none was measured on one of its
    sides."""


@dataclass(kw_only=True)
class Bounded:
    """A value with its error bounds."""
    high: float
    """Upper bound."""
    low: float
    """Lower bound."""
    value: float
    """Best estimate."""


@dataclass(kw_only=True)
class Burstiness:
    """Burstiness of arrivals."""
    dispersion: list[list[Any]]
    """Index of dispersion for counts by window: width in nanoseconds, variance over mean of the arrivals in a
    window; 1 is Poisson."""
    hurst: Optional[float] = None
    """Hurst exponent from the growth of the variance with the window; 0.5 has no long memory. Absent with too
    few windows."""
    inter_arrival_scv: Optional[float] = None
    """Squared coefficient of variation of the inter-arrival times; 1 is Poisson."""


@dataclass(kw_only=True)
class ByOperation:
    """How an application's reads and writes differ, and how long a process goes on with one of them."""
    change_frac: float
    """Share of requests that are of the other kind than the same process's request before, 0 to 1: at 2
    `read_frac` (1 - `read_frac`) reads and writes come in no order, below that in runs."""
    read: OperationTraits
    """Its reads."""
    write: OperationTraits
    """Its writes."""


@dataclass(kw_only=True)
class CampaignCell:
    """One cell: its runs and what follows from them."""
    cpu_s: float
    """Median of the runs' processor seconds."""
    samples: list[CampaignSample]
    """The runs, in order of the rounds."""
    throughput_bytes_per_s: float
    """Median of the runs' throughput."""
    cpu_ci95: Optional[list[float]] = None
    """Its 95 % interval, by the same rule."""
    cpu_ratio: Optional[float] = None
    """Processor seconds over those of the row's first column that does the same kind of work."""
    cpu_ratio_ci95: Optional[list[float]] = None
    """Its 95 % interval."""
    fsync_ns: Optional[ResponseTime] = None
    """The same of `fsync`."""
    impossible: Optional[str] = None
    """Why this cell cannot be measured."""
    operations_per_s: Optional[float] = None
    """Median of the runs' operations per second; absent where data was moved."""
    plan: Optional[CellPlan] = None
    """What a run of it does, whole: cells of two campaigns are the same work where this is the same. Absent
    in results of versions up to 0.1."""
    rate_ci95: Optional[list[float]] = None
    """95 % interval of the throughput, or of the operations per second: Student's t on the runs' logarithms,
    and the median in it. Absent of fewer than two runs."""
    ratio: Optional[float] = None
    """Throughput over that of the row's first column that does the same kind of work, from runs of the same
    round."""
    ratio_ci95: Optional[list[float]] = None
    """Its 95 % interval."""
    response_time_ns: Optional[ResponseTime] = None
    """Of each percentile of the runs' response times, the median."""


@dataclass(kw_only=True)
class CampaignColumn:
    """What is measured side by side with the other columns."""
    file_system: str
    """File system of the place; `block` for a device."""
    method: str
    """Name of the way of doing I/O, such as `direct`."""
    path: str
    """Directory or device."""
    place: str
    """Name of the place, such as `xfs`."""
    made_by: Optional[str] = None
    """How its file system was made for the campaign; absent where it was there before."""
    mount_options: Optional[str] = None
    """The options that it is mounted with, as the kernel tells them."""


@dataclass(kw_only=True)
class CampaignReference:
    """Numbers of another source, to compare with."""
    columns: list[str]
    """Headings of the columns, those of the parameters included."""
    rows: list[list[float]]
    """The rows as they stand there."""
    source: str
    """Where they come from."""


@dataclass(kw_only=True)
class CampaignResult:
    """A table measured."""
    columns: list[CampaignColumn]
    """The columns."""
    name: str
    """Name of the campaign."""
    rounds: int
    """Rounds asked for."""
    rows: list[CampaignRow]
    """The rows."""
    source: str
    """What it follows."""
    title: str
    """Title of the table."""
    x: str
    """Parameter on the horizontal axis of its graphs."""
    clients: Optional[int] = None
    """Clients that did every run together, each on files of its own; absent of one."""
    reference: Optional[CampaignReference] = None
    """The paper's own numbers."""
    sentences: Optional[list[str]] = None
    """What the table shows, in words, each with its evidence."""


@dataclass(kw_only=True)
class CampaignRow:
    """One row: its parameters, and a cell per column."""
    cells: list[CampaignCell]
    """The cells, in order of the columns."""
    settings: list[CampaignSetting]
    """The parameters that vary, outermost first."""


@dataclass(kw_only=True)
class CampaignSample:
    """One run."""
    bytes: int
    """Bytes moved."""
    cpu_s: float
    """System and user seconds."""
    elapsed_s: float
    """Seconds it took."""
    throughput_bytes_per_s: float
    """Bytes per second."""
    fairness: Optional[float] = None
    """Jain's index of the clients' rates, from 1 over their number to 1; absent of one client."""
    fragments: Optional[int] = None
    """Fragments of all files read or written (`FIEMAP`); absent where not recorded."""
    fsync_ns: Optional[ResponseTime] = None
    """Times of the `fsync` behind each stream's last write, which are not among the requests'."""
    operations: Optional[int] = None
    """Operations on names; absent where data was moved."""
    response_time_ns: Optional[ResponseTime] = None
    """Response times of its requests."""


@dataclass(kw_only=True)
class CampaignSetting:
    """One parameter of a row and its value."""
    name: str
    """Name, such as `iosize`."""
    text: str
    """Value as it was written, such as `64k`."""
    value: float
    """The same as a number: bytes for sizes."""


@dataclass(kw_only=True)
class CellPlan:
    """What one cell runs, wherever its place is."""
    age_piece: int
    """Pieces of aged files, in bytes."""
    file_bytes: int
    """Size of each, in bytes."""
    files: int
    """Users, one file each."""
    files_written: int
    """Files that exist."""
    job: VxJob
    """The run."""
    prepare: Literal['written', 'fresh', 'aged']
    """How they are created."""
    raw: bool
    """Whether it runs on a device."""
    fill: Optional[Fill] = None
    """What its file system holds beforehand, if it was made for the campaign."""
    names: Optional[NameJob] = None
    """What it does to names, instead of the run's I/O."""


@dataclass(kw_only=True)
class Characterization:
    """An application, characterized by the calls it made."""
    calls_traced: int
    """Calls that stopped for the recorder."""
    command: list[str]
    """The command, word by word."""
    elapsed_s: float
    """From its start to the end of its last process, tracing included."""
    files: list[FileTraits]
    """The files, those with most bytes first."""
    files_left_out: int
    """Files beyond those listed."""
    overall: Traits
    """All counted files and processes together."""
    processes: list[ProcessTraits]
    """The processes and threads, those with most bytes first."""
    processes_left_out: int
    """Processes beyond those listed."""
    throughput_bytes_per_s: float
    """Bytes moved over `elapsed_s`."""
    tracing: TracingCost
    """What tracing adds to the times."""
    below: Optional[str] = None
    """The folder or file outside of which files were not counted."""
    elsewhere: Optional[dict[str, int]] = None
    """Calls that read or wrote something else than regular files and block devices, by its kind."""
    ending: Any = None
    """How it ended; absent when it was stopped by an interruption before."""
    memory_limit_bytes: Optional[int] = None
    """Memory of the control group it ran in."""
    pattern: Optional[AccessPattern] = None
    """The requests by kind and size, and what a cache of any size would hold; absent in older results."""
    phases: Optional[list[Phase]] = None
    """Its phases, in order; absent in older results."""


@dataclass(kw_only=True)
class Cheapest:
    """The cheapest of several systems that is fast enough for one workload."""
    at_least_bytes_per_s: float
    """Throughput that was asked for, in bytes per second."""
    workload: Workload
    """The workload."""
    choice: Optional[Choice] = None
    """The system, its price and what it is predicted to do; absent when none reaches what was asked for."""
    name: Optional[str] = None
    """Name of the workload in its set; absent for one given by its parameters."""
    rivals: Optional[list[str]] = None
    """Systems that would be chosen instead if they reach it, which cannot be told: those that cost less, or
    all where none is predicted to reach it. Empty in older results."""


@dataclass(kw_only=True)
class Check:
    """One ability of the machine, tried or read from the kernel."""
    found: str
    """What was seen."""
    name: str
    """What was looked at, such as `io_uring`."""
    needed_for: str
    """What of ioscape needs it."""
    state: Literal['works', 'limited', 'missing']
    """How it came out."""
    advice: Optional[str] = None
    """What to do where it does not work."""
    required: Optional[bool] = None
    """Whether nothing can be measured without it."""


@dataclass(kw_only=True)
class Choice:
    """A system that was chosen for its price."""
    price: float
    """Its price, in the currency that all prices are in."""
    sure: bool
    """Whether it surely is the cheapest: even the low end of its 90 % interval reaches what was asked for,
    that is not extrapolated, and it has no rivals."""
    system: str
    """The system."""
    throughput_bytes_per_s: float
    """Its predicted throughput, in bytes per second."""
    extrapolated: Optional[bool] = None
    """Whether its prediction is extrapolated, so that its interval is a guess; false in older results."""


@dataclass(kw_only=True)
class Client:
    """What one client had of a measurement."""
    host: str
    """The machine it ran on."""
    rank: int
    """Number of the client, from 0."""
    response_time_mean_ns: float
    """Mean response time in nanoseconds."""
    throughput_bytes_per_s: float
    """Bytes per second."""
    throughput_ci95: list[float]
    """95 % confidence interval of the throughput in bytes per second: low and high."""
    straggles: Optional[bool] = None
    """Its throughput is below 80 % of the median client's, by the whole of its interval."""


@dataclass(kw_only=True)
class Clients:
    """How evenly the clients of a measurement were served, and how well they ran together."""
    clock_error_ns: int
    """By how much the clocks' offsets from one another may be wrong, in nanoseconds: half the shortest round
    trip."""
    coordination_s: float
    """Seconds that agreeing on the beginnings took, beside the clients' own preparation."""
    each: list[Client]
    """Each client, by number."""
    fairness: float
    """Jain's index of the throughputs: 1 when all are equal, 1 over the number of clients when one has
    everything."""
    spread: list[float]
    """Least and greatest throughput of a client over the mean."""
    start_skew_ns: int
    """Longest time between the first and the last client's beginning of a measured part, in nanoseconds of
    one clock."""
    windows: int
    """Agreed beginnings: the measured part may consist of several."""


@dataclass(kw_only=True)
class Clock:
    """The clock that timed the result, as measured before anything else."""
    cost_ns: float
    """Time one reading takes."""
    precision_ns: float
    """Least non-zero step between two readings."""


@dataclass(kw_only=True)
class Comparison:
    """One workload on two systems (self-scaling paper, figure 17)."""
    extrapolated: bool
    """Whether one of the predictions is extrapolated; the interval is a guess then, and no verdict follows
    from it."""
    interval90: list[float]
    """Range that holds the measured ratio nine times of ten: low and high."""
    ratio: float
    """Throughput of the first over that of the second."""
    significant: bool
    """Whether the range that holds the ratio 99 times of 100, and so half as wide again as the interval,
    leaves 1 out."""
    systems: list[str]
    """The two systems: the ratio is the first's throughput over the second's."""
    throughput_bytes_per_s: list[float]
    """Predicted throughput of each, in bytes per second."""
    workload: Workload
    """The workload."""
    name: Optional[str] = None
    """Name of the workload in its set; absent for one given by its parameters."""
    throughput_per_price: Optional[list[float]] = None
    """Bytes per second for one unit of money, of each system; absent without prices."""
    verdict: Optional[Literal['slower', 'faster', 'no_difference', 'cannot_be_told']] = None
    """How the first compares with the second; absent in older results."""


@dataclass(kw_only=True)
class ConditionResult:
    """Whether a condition that a comparison had to keep was kept."""
    fail_if: str
    """The condition under which the comparison fails, as it was given: `throughput < 0.95`."""
    met_by: list[int]
    """The rows that meet it, and not by chance, by their number from 0."""
    lost: Optional[list[str]] = None
    """Names of rows that the other system has and that were measured here without a figure, where the
    condition is on what is slower: these fail it too."""


@dataclass(kw_only=True)
class Contamination:
    """How far others disturbed a measurement."""
    clean_frac: Optional[float] = None
    """Share of batches in which no other program used the processor; absent where the kernel does not report
    it."""
    other_cpus: Optional[float] = None
    """Processors that other programs kept busy besides those that the case uses: the median over processes;
    absent where the kernel does not report it."""
    run_delay_frac: Optional[float] = None
    """Time that other programs used the processor over the time measured, on some kernels with what the
    hypervisor took; absent where the kernel does not report it."""
    slowed_frac: Optional[float] = None
    """Share of processes during which the processor computed slower than at full speed."""
    steal_frac: Optional[float] = None
    """Share of all processors' time that the hypervisor took meanwhile."""
    throttled_frac: Optional[float] = None
    """Share of the time in which a quota kept the control group off the processors; above 1 in results of
    older versions alone."""


@dataclass(kw_only=True)
class CoursePhase:
    """A part of a course with one rate."""
    bytes_per_s: Bounded
    """Its mean rate in bytes per second with its 95 % interval, what was disturbed left out."""
    from_s: float
    """Where it begins, in seconds from the beginning of the course."""
    until_s: float
    """Where it ends, in seconds."""


@dataclass(kw_only=True)
class Device:
    """A device of a trace."""
    name: str
    """Name as the source gives it: `vda`, `disk 0`, `usr_0`."""
    capacity_bytes: Optional[int] = None
    """Capacity in bytes, when recorded."""
    partitions: Optional[list[Partition]] = None
    """Partitions that the source names."""
    sector_bytes: Optional[int] = None
    """Size of a sector in bytes, 0 when not recorded."""


@dataclass(kw_only=True)
class Direction:
    """The reads alone or the writes alone of a run."""
    bytes: int
    """Bytes they moved."""
    ios: int
    """Completed requests."""
    response_time_ns: ResponseTime
    """Their response times."""
    throughput_bytes_per_s: float
    """Bytes per second of the whole elapsed time."""


@dataclass(kw_only=True)
class DiskSummary:
    """One disk."""
    daily_queue_mean: list[float]
    """Mean queue length by day, from the first day on; absent on days without requests (Figure 3)."""
    device: int
    """Index of the device."""
    load: Load
    """Requests and bytes."""
    name: str
    """Its name."""
    distances: Optional[Distances] = None
    """Where a request begins relative to the end of the one before (Figure 9)."""
    idle_frac: Optional[float] = None
    """Fraction of arrivals that found the disk idle: a queue of 1."""
    idle_ns: Optional[Distribution] = None
    """Idle periods, in nanoseconds."""
    idle_time_frac: Optional[float] = None
    """Fraction of the time from the first arrival to the last completion with no request in the queue or at
    the disk; absent with a single request."""
    in_flight_mean: Optional[float] = None
    """Mean number of requests in the queue and at the disk while there is any."""
    queue_agreement: Optional[QueueAgreement] = None
    """Requests whose recorded queue length equals the recomputed one; absent when none is recorded."""
    queue_length: Optional[Distribution] = None
    """Requests in the queue at an arrival, itself included, recomputed from the times (Table 5, Figure 2);
    like all figures of queues and idle times absent where the trace tells no completions."""
    queue_mean_read: Optional[float] = None
    """Mean queue length seen by reads; absent without any."""
    queue_mean_write: Optional[float] = None
    """Mean queue length seen by writes; absent without any."""
    rewrite_frac: Optional[float] = None
    """Fraction of writes that write the same bytes as the write before."""
    sequential: Optional[Sequential] = None
    """Sequential requests (Table 7)."""
    write_bursts: Optional[Runs] = None
    """Numbers of writes that follow each other within 30 ms (Figure 10); absent where arrivals are told in
    whole seconds."""
    write_groups: Optional[Runs] = None
    """Numbers of writes with no read between them (Figure 10); absent without writes."""


@dataclass(kw_only=True)
class Distances:
    """Signed distances from the end of one request to the beginning of the next, in bytes."""
    bins: list[list[Any]]
    """Distances by sign and logarithm: upper bound in bytes (negative ones: lower bound), count; in order."""
    count: int
    """Number of distances."""
    peaks: list[list[Any]]
    """The most frequent distances of whole KiB within 256 KiB, in KiB, with their counts; the first is the
    largest peak."""


@dataclass(kw_only=True)
class Distribution:
    """How values are distributed. The unit is in the name of the field that holds it.  Quantiles are the
    upper bound of the bin they fall in, so they err upwards by at most the width of a bin; mean, least and
    largest are exact. All numbers are 0 when `count` is."""
    count: int
    """Number of values."""
    max: float
    """Largest value."""
    mean: float
    """Mean."""
    min: float
    """Least value."""
    p50: float
    """Median."""
    p80: float
    """80th percentile."""
    p90: float
    """90th percentile."""
    p95: float
    """95th percentile."""
    p99: float
    """99th percentile."""
    p999: float
    """99.9th percentile."""
    bins: Optional[list[list[Any]]] = None
    """Bins that hold anything, in order: largest value in the bin, number of values."""


@dataclass(kw_only=True)
class DistributionChange:
    """How a distribution changed."""
    ci95: list[float]
    """Its 95 % interval."""
    distance: float
    """The largest difference of the shares of requests that lie at or below a value (Kolmogorov and Smirnov's
    distance, looked for at the quantiles 0.1, 0.25, 0.5, 0.75 and 0.9 of each trace); of a share, the
    difference."""
    name: Literal['reads', 'sequential', 'read_bytes', 'write_bytes', 'read_elapsed_ns', 'write_elapsed_ns', 'inter_arrival_ns', 'distance_bytes', 'queue_length']
    """Which; the unit of its values is in its name."""
    shares: list[float]
    """The shares there, of the first trace and of the second."""
    verdict: Literal['changed', 'alike', 'cannot_be_told']
    """What follows, over everything that is compared together."""
    at: Optional[float] = None
    """The value at which the shares differ most; absent for a share of the requests."""


@dataclass(kw_only=True)
class Doctor:
    """All checks of a machine and a directory."""
    checks: list[Check]
    """The checks, those of the directory first."""
    directory: str
    """The directory that was tried."""


@dataclass(kw_only=True)
class Drift:
    """How the speed of a fixed reference workload moved during the evaluation."""
    largest: float
    """Largest relative distance of one from the median."""
    median: float
    """Their median."""
    remeasured: int
    """Points that were measured while the reference was off, and measured again."""
    throughputs: list[float]
    """Throughput of each re-measurement, in bytes per second, in time order."""
    unresolved: Optional[int] = None
    """Points that stayed in doubt because every round was disturbed or time ran out."""


@dataclass(kw_only=True)
class Environment:
    """What the result was measured on. Absent fields could not be determined."""
    clock: Optional[Clock] = None
    """The clock, as measured at start."""
    cpu_count: Optional[int] = None
    """Processors this process may run on."""
    cpu_model: Optional[str] = None
    """Processor model."""
    cpu_quota: Optional[float] = None
    """Processors' worth of time that a quota gives, where that is less."""
    device: Optional[str] = None
    """Block device below it, such as `vda`."""
    device_firmware: Optional[str] = None
    """Its firmware."""
    device_link: Optional[str] = None
    """Speed of its link, such as `16.0 GT/s PCIe x4` or `6.0 Gbps`; `USB` where it is on such a bus."""
    device_model: Optional[str] = None
    """Vendor and model of the device, as it gives them."""
    file_system: Optional[str] = None
    """Type of the file system, such as `ext4`."""
    file_system_bytes: Optional[int] = None
    """Size of the file system."""
    free_bytes: Optional[int] = None
    """Free space before the run."""
    harness_overhead_ns_per_io: Optional[float] = None
    """What generating and timing one request costs without any I/O, from the null engine."""
    identity: Optional[dict[str, str]] = None
    """Machine, target and options by name, of work that can be continued: what must be the same when it is.
    Names of options begin with `--`."""
    kernel: Optional[str] = None
    """Kernel name and release."""
    load_before: Optional[float] = None
    """Load average over one minute before the run."""
    memory_bytes: Optional[int] = None
    """Memory of the machine."""
    memory_limit_bytes: Optional[int] = None
    """Memory limit the workers ran under, from `--memory` or an enclosing control group."""
    mitigations: Optional[str] = None
    """Parameters of the kernel command line about mitigations of processor weaknesses, such as
    `mitigations=off`."""
    mount_options: Optional[str] = None
    """Its mount options."""
    other_places: Optional[list[OtherPlace]] = None
    """Further file systems and devices that the work was done on, in the order named; the fields above tell
    of the first."""
    read_ahead_bytes: Optional[int] = None
    """Read-ahead of the device, in bytes."""
    rotational: Optional[bool] = None
    """Whether the device says that it rotates."""
    scheduler: Optional[str] = None
    """I/O scheduler of the device."""
    virtualization: Optional[str] = None
    """Hypervisor or container, such as `kvm`; `none` on bare metal."""
    vm_dirty: Optional[dict[str, int]] = None
    """The kernel's dirty-page settings (`/proc/sys/vm/dirty_*`), as they stand."""


@dataclass(kw_only=True)
class ErrorBin:
    """The median error of the workloads whose parameter lies in one range (figure 13)."""
    median_error: float
    """Their median error."""
    range: list[float]
    """From and to of the parameter, in its own unit."""
    workloads: int
    """Workloads in it."""


@dataclass(kw_only=True)
class ErrorFigures:
    """How wrong a model is on workloads it had not seen. An error is |predicted - measured| / measured."""
    median_error: float
    """Median over all workloads."""
    p75_error: float
    """75th percentile."""
    p90_error: float
    """90th percentile."""
    enhanced_median_error: Optional[float] = None
    """Median without the workloads near a border between regions (figures 15 and 24); absent when none is
    left."""
    interval90_coverage: Optional[float] = None
    """Share of the single measurements that fall into the 90 % interval; absent for a model without
    intervals."""


@dataclass(kw_only=True)
class Evaluation:
    """A self-scaling evaluation, whole or as far as it came."""
    borders: list[Border]
    """The borders between levels of the hierarchy."""
    elapsed_s: float
    """Sum of the wall time of all probes, in seconds."""
    findings: Findings
    """What it means."""
    points_measured: int
    """Distinct points measured, repetitions and references not counted."""
    regions: list[Region]
    """The plateaus, in order of `unique_bytes`."""
    target: str
    """What was evaluated, as the user named it."""
    unique_bytes_curve: list[Point]
    """Throughput against `unique_bytes` with the focal mix."""
    all_parameters: Optional[AllParameters] = None
    """The first try of section 7, when asked for."""
    by_page: Optional[bool] = None
    """Whether sets came into the file cache page by page; absent where nothing is said of it, as up to
    version 0.1."""
    drift: Optional[Drift] = None
    """How steady the machine was."""
    extra: Optional[list[Point]] = None
    """Workloads off all curves, measured where the prediction was least certain; `value` is their
    `unique_bytes`."""
    level_counts: Optional[list[LevelCount]] = None
    """How probable each number of regions is, the most probable first; empty where it was not asked."""
    other_accesses: Optional[list[Evaluation]] = None
    """The same target evaluated with further accesses, or under a memory limit that its sets outgrow, each by
    itself and with no more of these."""
    probes: Optional[list[Probe]] = None
    """Every probe in order."""
    refused_sets: Optional[list[RefusedSet]] = None
    """The sets that had no room, in the order they were asked for."""
    settings: Optional[Settings] = None
    """What it was asked to do."""
    shortened: Optional[dict[str, str]] = None
    """The phases that were left out or shortened, with the reason."""
    unique_bytes_range: Optional[list[float]] = None
    """Smallest and largest `unique_bytes` that was allowed."""
    unique_bytes_read_curve: Optional[list[Point]] = None
    """The same with pure reads, random and without read-ahead: the search for the read cache."""
    unique_bytes_slope: Optional[list[SlopePoint]] = None
    """Slope of the curve of the focal mix."""
    unique_bytes_write_curve: Optional[list[Point]] = None
    """The same with pure writes, random: the search for the write cache."""


@dataclass(kw_only=True)
class FigureChange:
    """How a figure changed."""
    ci95: list[float]
    """Its 95 % interval."""
    name: Literal['requests_per_s', 'read_bytes_per_s', 'write_bytes_per_s', 'read_bytes_mean', 'write_bytes_mean', 'read_elapsed_ns_mean', 'write_elapsed_ns_mean', 'queue_length_mean']
    """Which; its unit is in its name."""
    ratio: float
    """The second trace's over the first's."""
    values: list[float]
    """Of the first trace and of the second."""
    verdict: Literal['changed', 'alike', 'cannot_be_told']
    """What follows, over everything that is compared together."""


@dataclass(kw_only=True)
class FileTraits:
    """One file of an application."""
    access: Literal['buffered', 'direct', 'dsync']
    """How the requests reach storage, as far as the open flags show."""
    active_s: float
    """Seconds in which at least one process was in its I/O phase."""
    bytes: int
    """Bytes they moved."""
    goodness: float
    """1 less the largest of the three distances below: 1 is a workload of the model itself, 0 nothing like
    it."""
    kind: Literal['regular', 'block_device', 'others']
    """Regular file or block device."""
    mapped_bytes: int
    """Bytes that were mapped into memory; loads and stores there are not seen."""
    mix_distance: float
    """How far the share of successive requests of different kinds, read and write, is from the model's 2 r (1
    - r)."""
    opens: int
    """How often it was opened."""
    path: str
    """Path at its first use; ` (deleted)` follows where it no longer had a name."""
    process_num: int
    """Mean number of processes in their I/O phase at the same time, rounded, at least 1."""
    read_bytes_frac: float
    """Fraction of bytes that are read: where it is far from `read_frac`, reads and writes have different
    sizes."""
    read_frac: float
    """Fraction of requests that are reads."""
    requests: int
    """Number of requests: calls that moved bytes."""
    response_time_ns: float
    """Mean time of a request, less what tracing adds and waits for a processor."""
    run_distance: float
    """The same for the lengths of sequential runs, which are geometric in the model."""
    seq_frac: float
    """Fraction of requests that start where the same process's previous request to the same file ended."""
    size_distance: float
    """Largest difference between the cumulative distributions of the sizes seen and of
    `size_distribution`."""
    size_distribution: Literal['normal', 'bernoulli', 'exponential', 'fixed']
    """The distribution that is nearest to the sizes seen."""
    size_mean: int
    """Mean of the bytes that a call moved."""
    strict_seq_frac: float
    """Fraction of requests that start where the same process's previous request to any file ended."""
    sync_time_ns: float
    """Mean time of a sync, less the same."""
    syncs: int
    """Calls that waited for dirty pages: `fsync`, `fdatasync`, `sync_file_range`."""
    think_time_ns: int
    """Mean time that a process spends between two requests."""
    unique_bytes: int
    """Distinct bytes that were read or written, in whole pages of 4 KiB but never past the last byte
    touched."""
    align_bytes: Optional[int] = None
    """Bytes that sizes are multiples of where all requests have one size, `size_mean`, between two multiples
    of the usual alignment; absent otherwise, and in older results."""
    change_frac: Optional[float] = None
    """Fraction of requests that are of the other kind, read or write, than the same process's request before;
    absent in older results."""


@dataclass(kw_only=True)
class Fill:
    """What a file system holds before the files of a cell are laid out in it."""
    percent: int
    """Share of its space that is used, in percent: from 0 to [`Fill::PERCENT_MAX`]."""
    turnover: int
    """Times that half of the files that use it, drawn at random, were removed and others made until it was as
    full again."""


@dataclass(kw_only=True)
class Findings:
    """What the papers' authors read off the graphs, in numbers and in words."""
    concurrency_gain: Optional[list[RegionFinding]] = None
    """Best throughput with several processes over that with one."""
    flush_slowdown: Optional[Bounded] = None
    """Undisturbed over mean write throughput in the cache: 1 when flushing costs nothing."""
    no_border_of: Optional[list[Literal['read', 'write', 'mixed']]] = None
    """Reads, writes or both, where all sets that were measured outgrow no cache for them; absent where that
    cannot be told."""
    queue_depth_for_90_percent: Optional[list[RegionFinding]] = None
    """Least depth of the queue with 90 % of the best throughput; only with asynchronous requests."""
    queue_depth_gain: Optional[list[RegionFinding]] = None
    """Best throughput with a deeper queue over that with one request at a time; only with asynchronous
    requests."""
    read_cache_bytes: Optional[Bounded] = None
    """Effective file-cache size for reads, in bytes: the first border of pure reads; absent where the file
    cache takes no part."""
    sentences: Optional[list[str]] = None
    """The findings in words, each with its evidence."""
    sequential_gain: Optional[list[RegionFinding]] = None
    """Throughput of all-sequential over all-random requests."""
    single_writer: Optional[list[WriterScaling]] = None
    """Whether concurrent writers to one file wait for one another, through the file cache and past it; empty
    where that was not measured."""
    size_for_75_percent_bytes: Optional[list[RegionFinding]] = None
    """Least request size that gives 75 % of the best throughput, in bytes."""
    write_cache_bytes: Optional[Bounded] = None
    """The same for writes: the first border of pure writes."""
    write_policy: Optional[Literal['write-through', 'write-cancelling', 'mixed', 'not-cached']] = None
    """Write policy; absent when it could not be determined."""
    write_to_read_ratio: Optional[list[RegionFinding]] = None
    """Throughput of pure writes over pure reads."""


@dataclass(kw_only=True)
class FocalRange:
    """The range of one parameter in which the system performs well (self-scaling paper, section 7)."""
    curve: list[Point]
    """The curve with all other parameters at their focal points."""
    focal: float
    """The 75 % performance point: the least restrictive value with at least 75 % of the best throughput."""
    parameter: Literal['unique_bytes', 'size_mean', 'read_frac', 'seq_frac', 'process_num', 'queue_depth']
    """Which parameter."""
    performs_well: list[float]
    """From and to of the values with at least 75 % of the best throughput."""


@dataclass(kw_only=True)
class HeatMap:
    """Counts over time and a second, logarithmic axis."""
    cells: list[list[Any]]
    """Counts that are not 0: column, row, count."""
    rows_to: list[float]
    """Upper bounds of the rows."""
    start_ns: int
    """Beginning of the first column."""
    step_ns: int
    """Width of a column."""


@dataclass(kw_only=True)
class HostCacheAbsorption:
    """What a non-volatile cache at the host of each given size absorbs, emptied at the end of every interval:
    an exact simulation of caches that fill in the order of first writes. The summary of a trace asks the
    wider question of how much an interval writes ([`Absorption`](crate::trace_summary::Absorption)), whose
    shares are lower bounds of these."""
    interval_s: float
    """Length of an interval."""
    intervals: int
    """Intervals with such writes."""
    points: list[HostCachePoint]
    """By size."""
    writes: str
    """Which writes: `all`, `metadata` or `user_data`."""


@dataclass(kw_only=True)
class HostCachePoint:
    """One size of a write cache at the host."""
    cache_bytes: int
    """Its size."""
    intervals: float
    """Share of the intervals with writes in which it takes all of them (figure 17 of Ruemmler & Wilkes
    1993)."""
    overwrites: float
    """Share of the bytes written that overwrite bytes in it (figure 18, overwrites)."""
    total: float
    """Share of the bytes written that it takes (figure 18, total)."""


@dataclass(kw_only=True)
class LevelCount:
    """One number of regions, and how probable it is."""
    probability: float
    """0 to 1, given everything that was measured."""
    regions: int
    """Regions by the size of the set, 1 or more."""
    read_borders: Optional[list[float]] = None
    """Where levels then most probably end for reads, in bytes, ascending."""
    write_borders: Optional[list[float]] = None
    """The same for writes."""


@dataclass(kw_only=True)
class Load:
    """Requests and bytes of one kind."""
    ios: int
    """Requests."""
    bytes: Optional[int] = None
    """Bytes moved, where the trace does not tell operations; absent where it does: then they are the sum of
    the two below."""
    read_bytes: Optional[int] = None
    """Bytes read."""
    reads: Optional[int] = None
    """Those that read; like the bytes read and written absent where the trace does not tell operations (a
    warning of kind `operations_unknown` says so)."""
    write_bytes: Optional[int] = None
    """Bytes written; a discard moves none."""


@dataclass(kw_only=True)
class LoneRow:
    """A row that one document has and the other has not."""
    name: str
    """Name of the row."""
    system: str
    """The system that has it."""
    why: Optional[str] = None
    """Why the other has not, as far as its document tells; empty where it does not."""


@dataclass(kw_only=True)
class MabProof:
    """Proof that the Modified Andrew Benchmark did all of its work."""
    bytes: int
    """Bytes of the source tree."""
    compiler: str
    """The compiler: `built in`, or the command given."""
    compiles: int
    """Source files compiled."""
    files: int
    """Files and bytes of the source tree."""
    object_hash: str
    """Hash of all objects, archives and the linked program."""
    whole: bool
    """Whether the hash is the known one, so that nothing was left out."""
    processes_end_in: Optional[str] = None
    """The program that every process of the run went over to when its step was done; absent where each step
    was a start of `ioscape`, as up to version 0.1, which took most of the time."""


@dataclass(kw_only=True)
class MeasuredComparison:
    """Two documents of one kind, row by row."""
    environments: list[Environment]
    """Their machines, in the same order."""
    kind: str
    """Key of the documents' outcome, such as `campaign`."""
    margin: float
    """The margin of equality: ratios from `1 / (1 + margin)` to `1 + margin` count as no difference."""
    only_in: list[int]
    """How many rows only the second and only the first has."""
    rows: list[MeasuredRow]
    """Every shared row."""
    systems: list[str]
    """The second system and the first: ratios are the second's figures over the first's."""
    condition: Optional[ConditionResult] = None
    """Whether the condition was kept; absent without one."""
    differences: Optional[list[str]] = None
    """What of the two systems is known to differ and changes what their rows show, one sentence for each
    difference."""
    lone: Optional[list[LoneRow]] = None
    """Those rows, the second's first."""


@dataclass(kw_only=True)
class MeasuredRow:
    """One row that both documents have."""
    basis: Literal['same_measurement', 'rounds', 'single_run', 'interleaved']
    """What the interval rests on."""
    ci95: list[float]
    """Its 95 % interval: low and high."""
    metric: Literal['throughput', 'rate', 'time']
    """What `values` count."""
    ratio: float
    """The second system's figure over the first's."""
    rounds: list[int]
    """Rounds or processes behind each."""
    values: list[float]
    """The figure of the second system and that of the first."""
    verdict: Literal['slower', 'faster', 'no_difference', 'cannot_be_told']
    """How the second system is; chance is ruled out over all rows together."""
    name: Optional[str] = None
    """Name of the row; absent for a workload that is given by its parameters alone."""
    samples: Optional[list[list[float]]] = None
    """Every round of the second and of the first, in the order taken; absent where the documents hold
    them."""
    workload: Optional[Workload] = None
    """The workload; absent where rows are something else."""


@dataclass(kw_only=True)
class Measurement:
    """One workload, measured: how much, how fast, how certain, at what cost."""
    bytes: int
    """Bytes moved in the measured part."""
    cpu_ns_per_io: float
    """User and system nanoseconds per request."""
    cpu_system_s: float
    """System seconds of the same."""
    cpu_user_s: float
    """User seconds of all threads of all workers, kernel helper threads included."""
    elapsed_s: float
    """Length of the measured part, in seconds."""
    io_time_frac: float
    """Share of the elapsed time spent in I/O: one minus what the harness itself needs."""
    ios: int
    """Completed requests in the measured part."""
    response_time_ns: ResponseTime
    """Response times of all requests."""
    stop: Literal['confident', 'phases_over', 'time_cap', 'interrupted']
    """Why the run ended."""
    throughput_bytes_per_s: float
    """Bytes per second, all processes together."""
    throughput_ci95: list[float]
    """95 % confidence interval of the throughput in bytes per second: low and high, from batch means."""
    workload: Workload
    """What was run."""
    burst_ratio: Optional[float] = None
    """Throughput of the busiest tenth of the run's time slices over its mean: large when stalled, and above 1
    by chance too where a slice has few requests (with two about 2)."""
    clients: Optional[Clients] = None
    """The clients, where several ran the workload at the same time: each ran it with a set of its own, and
    everything else here is their sum. Quantiles of response times are those of the client with the
    longest."""
    cost_s: Optional[float] = None
    """Wall seconds the whole point took: layout, flush, filling of the cache, warm-up and measurement."""
    disturbed: Optional[bool] = None
    """Whether load by others, stolen time or drift disturbed the run."""
    fill_s: Optional[float] = None
    """Seconds in which the set was read into the file cache before the warm-up; absent where nothing had to
    be read."""
    io_limited: Optional[bool] = None
    """Whether removing the I/O would shorten the run more than removing all else (self-scaling paper, section
    2)."""
    name: Optional[str] = None
    """Name of the job, where the user gave one."""
    not_read_in: Optional[bool] = None
    """Whether the set was not, or not wholly, read past the file cache before direct reads of it, which would
    have taken too long: of it a device's own cache then holds what earlier runs left there."""
    other_cpu: Optional[float] = None
    """Processors that other programs kept busy in user mode during the measured part, on average."""
    read: Optional[Direction] = None
    """The reads; absent when none was issued."""
    resident_frac: Optional[float] = None
    """Share of the set that was in the file cache after the run; absent where it cannot be asked."""
    response_time_littles_law_ns: Optional[float] = None
    """Mean response time by Little's law, requests in flight over request rate, in nanoseconds: a cross-
    check."""
    storage_read_bytes: Optional[int] = None
    """Bytes the storage layer read for the workers; absent where the kernel does not count them."""
    sustained: Optional[Sustained] = None
    """The course of the run, and what it shows, where that was asked for."""
    verify: Optional[VerifyReport] = None
    """What verifying its data found, where it was asked for."""
    warm_up_s: Optional[float] = None
    """Seconds of warm-up before the measured part."""
    warnings: Optional[list[Warning]] = None
    """Warnings about this run."""
    witness: Optional[Witness] = None
    """What the kernel says in addition to the throughput."""
    write: Optional[Direction] = None
    """The writes; absent when none was issued."""


@dataclass(kw_only=True)
class MemoryForecast:
    """An application's throughput by the memory of the system."""
    curve: list[list[Any]]
    """Bytes of memory, file cache included, and the throughput in bytes per second with them."""
    for_90_percent_bytes: float
    """Least memory with which it reaches 90 % of the throughput that any memory gives, in bytes; the curve's
    first, or less, where that is enough already."""
    for_90_percent_interval90: Optional[list[float]] = None
    """90 % interval of that memory, in bytes, from what makes the shares of hits uncertain."""


@dataclass(kw_only=True)
class MissRatio:
    """Miss ratio of an LRU cache by its size, reads and writes alike, every miss allocating."""
    curves: list[MissRatioCurve]
    """The curves: exact where the block table was small enough, and sampled by block (SHARDS)."""


@dataclass(kw_only=True)
class MissRatioCurve:
    """One miss-ratio curve."""
    blocks: int
    """Distinct blocks followed."""
    error: float
    """Mean absolute error of the miss ratio over all sizes: against the exact curve where there is one, else
    a bound of it that holds for nine of ten traces, the mean half width of `interval90`; 0 for the exact
    curve."""
    one_in: int
    """One block in this many is followed; 1 is exact."""
    points: list[list[Any]]
    """Cache size in bytes, miss ratio."""
    interval90: Optional[list[list[float]]] = None
    """For each point of a sampled curve, between which miss ratios the exact curve lies: for nine of ten
    traces at every point."""


@dataclass(kw_only=True)
class NameJob:
    """A run of operations on names."""
    entries: int
    """Files of each thread."""
    operation: Literal['create', 'stat', 'rename', 'list', 'unlink']
    """What is done."""
    shared: bool
    """Whether all threads work in one directory."""
    threads: int
    """Threads at the same time."""
    tree_churn: int
    """Times that half of those, drawn at random, were removed and made again."""
    tree_files: int
    """Files that lie in those directories beforehand, in all."""


@dataclass(kw_only=True)
class OpTimes:
    """Times of reads, of writes, and of both."""
    all: Times
    """Both."""
    read: Optional[Times] = None
    """Reads; like those of writes absent where the trace does not tell operations."""
    write: Optional[Times] = None
    """Writes."""


@dataclass(kw_only=True)
class OperationTraits:
    """Requests of one kind."""
    seq_frac: float
    """Probability that a request starts where the same process's previous request of this kind ended, 0 to
    1."""
    sizes: list[list[Any]]
    """Sizes in bytes, each with its share of the requests."""


@dataclass(kw_only=True)
class OsBenchmark:
    """One case of one benchmark."""
    case: str
    """Which case of it: `10 full`."""
    name: str
    """Name as `--only` takes it: `getpid`."""
    unit: Literal['ns', 'bytes/s', '1/s']
    """What `value` counts."""
    ci95: Optional[list[float]] = None
    """Interval that holds the median over the processes that count 95 times of 100: between order statistics
    from six on, Student's of their logarithms from three on; absent with fewer. Where the processor was slow
    without a visible reason it also holds what they would be at full speed."""
    contamination: Optional[Contamination] = None
    """How far others disturbed it."""
    elapsed_s: Optional[float] = None
    """Seconds that all processes of the case took, preparation included."""
    mips_relative: Optional[float] = None
    """MIPS-relative speed, for the cases that the paper has one for."""
    not_measured: Optional[str] = None
    """Why there is no value."""
    place: Optional[Literal['local', 'remote']] = None
    """Where its files are; absent where no files are used."""
    processes: Optional[list[float]] = None
    """The number of every fresh process that counts."""
    rule: Optional[Literal['clean_quartile', 'quartile', 'mean', 'single']] = None
    """How a process's number is made of its batches."""
    set_aside: Optional[list[float]] = None
    """The numbers of processes that do not count, for they were disturbed: evidence, and no results."""
    slower: Optional[list[float]] = None
    """How many times as long as at full speed a fixed computation took during each of those processes, those
    that count first: 1 where the number was made at full speed, or no computation tried."""
    task_kind: Optional[Literal['processes', 'threads']] = None
    """What those tasks are."""
    tasks: Optional[int] = None
    """How many tasks do the operation at the same time; absent where it is one process. `value` is then of
    all together."""
    teaches: Optional[str] = None
    """What the case tells, in one sentence."""
    value: Optional[float] = None
    """The value; absent when it could not be measured, and `not_measured` then says why."""
    warnings: Optional[list[Warning]] = None
    """Warnings about this case."""


@dataclass(kw_only=True)
class OsResults:
    """Results of `ioscape os`."""
    benchmarks: list[OsBenchmark]
    """Every case."""
    dhrystone_mips: Optional[float] = None
    """Integer rating by Dhrystone 2.1, VAX-11/780 = 1; absent when it was not measured."""
    elapsed_s: Optional[float] = None
    """Time all of it took, in seconds."""
    geometric_mean_mips_relative: Optional[float] = None
    """Geometric mean of all MIPS-relative speeds without bcopy, the value of the paper's Figure 1."""
    geometric_mean_with_bcopy: Optional[float] = None
    """The same with bcopy."""
    in_geometric_mean: Optional[int] = None
    """How many of the eight benchmarks of the paper the mean is made of."""
    mab: Optional[MabProof] = None
    """Proof of work of the Modified Andrew Benchmark."""
    mips: Optional[float] = None
    """The rating that MIPS-relative speeds use: `--mips`, else that of Dhrystone."""
    mips_given: Optional[bool] = None
    """Whether `mips` was given by the user."""
    remote_penalty: Optional[float] = None
    """Time the Modified Andrew Benchmark takes more on a remote file system, over the local time."""
    system: Optional[OsSystem] = None
    """What of the system affects the numbers."""


@dataclass(kw_only=True)
class OsSystem:
    """What of the system affects these numbers, as found."""
    caches_bytes: Optional[list[int]] = None
    """Data caches from the first level on, in bytes."""
    pinned_cpu: Optional[int] = None
    """The processor that pinned benchmarks ran on."""
    second_cpu: Optional[int] = None
    """The processor that benchmarks on two processors used in addition."""
    settings: Optional[dict[str, str]] = None
    """Settings by name: seccomp mode, frequency governor, clock source, transparent huge pages and the
    like."""
    vulnerabilities: Optional[dict[str, str]] = None
    """State of each known processor weakness and its mitigation."""


@dataclass(kw_only=True)
class OtherPlace:
    """One more file system or device that the work was done on. Absent fields could not be determined."""
    path: str
    """What was named there: a directory, a file or a device."""
    device: Optional[str] = None
    """Block device below it, such as `vda`."""
    device_firmware: Optional[str] = None
    """Its firmware."""
    device_link: Optional[str] = None
    """Speed of its link, such as `16.0 GT/s PCIe x4` or `6.0 Gbps`; `USB` where it is on such a bus."""
    device_model: Optional[str] = None
    """Vendor and model of the device, as it gives them."""
    file_system: Optional[str] = None
    """Type of the file system, such as `ext4`."""
    file_system_bytes: Optional[int] = None
    """Size of the file system."""
    free_bytes: Optional[int] = None
    """Free space before the run."""
    mount_options: Optional[str] = None
    """Its mount options."""
    read_ahead_bytes: Optional[int] = None
    """Read-ahead of the device, in bytes."""
    rotational: Optional[bool] = None
    """Whether the device says that it rotates."""
    scheduler: Optional[str] = None
    """I/O scheduler of the device."""


@dataclass(kw_only=True)
class Overwrites:
    """Blocks written again (Figure 12).  A request of n bytes touches n / block blocks, rounded up, from the
    block it begins in."""
    block_writes: int
    """Blocks written, each time counted."""
    count: Optional[int] = None
    """Those that wrote a block again which was written before in the trace; older results lack it."""
    delay_ns: Optional[Distribution] = None
    """Time from one write of a block to its next, in nanoseconds; absent where arrivals are told in whole
    seconds."""
    within_1h: Optional[float] = None
    """Within an hour."""
    within_1s: Optional[float] = None
    """Fraction of these that came within a second of the block's last write; absent where arrivals are told
    in whole seconds, and like the two below without overwrites, and of a trace that is not at least twice as
    long: an overwrite is seen only where both writes are in the trace, so of those whose delay is the trace's
    length none is, and of those of half of it one in two."""
    within_30s: Optional[float] = None
    """Within 30 seconds."""


@dataclass(kw_only=True)
class Partition:
    """A partition of a device."""
    name: str
    """Name or mount point: `/usr`, `swap`."""
    number: int
    """Number as in [`Io::partition`]."""


@dataclass(kw_only=True)
class PartitionShare:
    """One partition of one disk (Table 3)."""
    device: int
    """Index of the device."""
    disk: str
    """Name of the device."""
    ios: int
    """Requests."""
    name: str
    """Name of the partition, empty when the source tells none."""
    partition: int
    """Number of the partition."""
    bytes: Optional[int] = None
    """Bytes moved, where the trace does not tell operations; absent where it does: then they are the sum of
    the two below."""
    read_bytes: Optional[int] = None
    """Bytes read."""
    reads: Optional[int] = None
    """Those that read; like the bytes read and written absent where the trace does not tell operations (a
    warning of kind `operations_unknown` says so)."""
    write_bytes: Optional[int] = None
    """Bytes written; a discard moves none."""


@dataclass(kw_only=True)
class Phase:
    """A stretch of an application's life, measured by the bytes that it moves."""
    bytes: int
    """Bytes that all its processes move in it together, at least 1."""
    change_frac: float
    """Share of its requests that are of the other kind, read or write, than the same process's request
    before, 0 to 1."""
    read_frac: float
    """Fraction of its requests that are reads, 0 to 1."""
    change_think_time_ns: Optional[int] = None
    """The same before a request of the other kind: what was read is worked on before it is written."""
    elapsed_s: Optional[float] = None
    """How long it took, in seconds, from its first request to the first of the next phase."""
    read: Optional[PhaseRequests] = None
    """Its reads; absent where it has none."""
    think_time_ns: Optional[int] = None
    """Mean time that a process spends before a request of the same kind as its request before."""
    write: Optional[PhaseRequests] = None
    """Its writes; absent where it has none."""


@dataclass(kw_only=True)
class PhaseRequests:
    """The requests of one kind in a phase: what is left of `turn_frac` and `jump_frac` goes on where the same
    process's request of this kind before ended."""
    again_frac: float
    """Share of those at another place whose first page was used before, of writes: was written before, 0 to
    1."""
    from_bytes: int
    """First byte of the part of the set that they go to. The application's files lie in the set one behind
    the other, in the order of their first use."""
    jump_frac: float
    """Share that begins at another place, 0 to 1."""
    runs: int
    """Sequential runs that each process has open at the same time and continues in turn, 1 to 64."""
    sizes: list[list[Any]]
    """Sizes in bytes, each with its share of the requests."""
    span_bytes: int
    """Length of that part, at least 1."""
    turn_frac: float
    """Share that continues the run whose turn it is next, 0 to 1."""
    advice: Optional[Literal['normal', 'random', 'sequential']] = None
    """What the kernel was told about most of them."""
    again: Optional[list[list[float]]] = None
    """How narrow the places are that are used again: so many bytes get this share of those requests, each
    pair including the one before. Empty: all that was used is used again alike."""


@dataclass(kw_only=True)
class Point:
    """One point of a single-parameter curve."""
    measurement: Measurement
    """The measurement whose throughput is nearest to the median of the rounds."""
    value: float
    """Value of the varied parameter, in its own unit."""
    rounds: Optional[list[float]] = None
    """Throughput of every round that counts, in bytes per second, in the order measured."""
    spread: Optional[float] = None
    """Spread of the rounds: half of largest minus smallest, over the median; absent with one round."""


@dataclass(kw_only=True)
class Popularity:
    """How writes spread over blocks, the most written first (Figure 13)."""
    blocks_written: int
    """Distinct blocks written."""
    curve: list[list[Any]]
    """Share of the block writes that go to the most written n blocks: n, share."""
    top_1_percent_written: float
    """Share that goes to 1 % of the written blocks."""
    top_1_percent_capacity: Optional[float] = None
    """Share that goes to 1 % of all blocks of the devices, when their capacity is told."""


@dataclass(kw_only=True)
class Prediction:
    """The predicted performance of one workload on one system (self-scaling paper, section 9)."""
    extrapolated: bool
    """Whether some parameter lies outside the range that was measured: then the interval is a guess."""
    interval90: list[float]
    """Range that holds nine of ten measurements of such a workload, in bytes per second: low and high."""
    iops: float
    """Requests per second."""
    region: str
    """Name of the region that holds the workload's `unique_bytes`, or with other memory a set that was served
    like it; after `group, ` one of the evaluation in a small control group."""
    response_time_ns: float
    """Mean response time by Little's law: requests in flight over request rate."""
    throughput_bytes_per_s: float
    """Bytes per second, all processes together."""
    workload: Workload
    """The workload."""
    application: Optional[ApplicationForecast] = None
    """What else is predicted of an application whose trace was given."""
    name: Optional[str] = None
    """Name of the workload in its set, such as `database`; absent for one given by its parameters."""
    system: Optional[str] = None
    """The system: the evaluation's target, or the name of the result file where several systems are asked."""


@dataclass(kw_only=True)
class Probe:
    """One call of the probe, in the order made: the raw record, from which an interrupted evaluation
    resumes."""
    measurement: Measurement
    """What came out; its `workload` is what was asked."""
    purpose: Any
    """What it was made for."""


@dataclass(kw_only=True)
class ProcessShare:
    """What one process or command issued."""
    command: str
    """Its command, empty when not told."""
    footprint_bytes: int
    """Distinct bytes touched, estimated to 3 %."""
    ios: int
    """Requests."""
    process: int
    """Process number."""
    bytes: Optional[int] = None
    """Bytes moved, where the trace does not tell operations; absent where it does: then they are the sum of
    the two below."""
    elapsed_mean_ns: Optional[float] = None
    """Mean elapsed time in nanoseconds."""
    read_bytes: Optional[int] = None
    """Bytes read."""
    reads: Optional[int] = None
    """Those that read; like the bytes read and written absent where the trace does not tell operations (a
    warning of kind `operations_unknown` says so)."""
    write_bytes: Optional[int] = None
    """Bytes written; a discard moves none."""


@dataclass(kw_only=True)
class ProcessTraits:
    """One process or thread of an application."""
    access: Literal['buffered', 'direct', 'dsync']
    """How the requests reach storage, as far as the open flags show."""
    active_s: float
    """Seconds in which at least one process was in its I/O phase."""
    bytes: int
    """Bytes they moved."""
    command: str
    """The program's name, at most 15 bytes of it."""
    goodness: float
    """1 less the largest of the three distances below: 1 is a workload of the model itself, 0 nothing like
    it."""
    mix_distance: float
    """How far the share of successive requests of different kinds, read and write, is from the model's 2 r (1
    - r)."""
    pid: int
    """Process number as the system gave it."""
    process_num: int
    """Mean number of processes in their I/O phase at the same time, rounded, at least 1."""
    read_bytes_frac: float
    """Fraction of bytes that are read: where it is far from `read_frac`, reads and writes have different
    sizes."""
    read_frac: float
    """Fraction of requests that are reads."""
    requests: int
    """Number of requests: calls that moved bytes."""
    response_time_ns: float
    """Mean time of a request, less what tracing adds and waits for a processor."""
    run_distance: float
    """The same for the lengths of sequential runs, which are geometric in the model."""
    seq_frac: float
    """Fraction of requests that start where the same process's previous request to the same file ended."""
    size_distance: float
    """Largest difference between the cumulative distributions of the sizes seen and of
    `size_distribution`."""
    size_distribution: Literal['normal', 'bernoulli', 'exponential', 'fixed']
    """The distribution that is nearest to the sizes seen."""
    size_mean: int
    """Mean of the bytes that a call moved."""
    strict_seq_frac: float
    """Fraction of requests that start where the same process's previous request to any file ended."""
    sync_time_ns: float
    """Mean time of a sync, less the same."""
    syncs: int
    """Calls that waited for dirty pages: `fsync`, `fdatasync`, `sync_file_range`."""
    think_time_ns: int
    """Mean time that a process spends between two requests."""
    tid: int
    """Thread number; the same as `pid` for the first thread."""
    unique_bytes: int
    """Distinct bytes that were read or written, in whole pages of 4 KiB but never past the last byte
    touched."""
    align_bytes: Optional[int] = None
    """Bytes that sizes are multiples of where all requests have one size, `size_mean`, between two multiples
    of the usual alignment; absent otherwise, and in older results."""
    change_frac: Optional[float] = None
    """Fraction of requests that are of the other kind, read or write, than the same process's request before;
    absent in older results."""


@dataclass(kw_only=True)
class QueueAgreement:
    """How often recorded and recomputed queue lengths agree."""
    equal: int
    """Those where it equals the recomputed one."""
    recorded: int
    """Requests with a recorded queue length."""


@dataclass(kw_only=True)
class RefusedSet:
    """A set that had no room, so that the evaluation went on with smaller ones; an interrupted one resumes
    past it."""
    after_probes: int
    """Probes that were made before."""
    spent_s: float
    """Part of the budget that finding it out took, in seconds; 0 where it was known."""
    unique_bytes: int
    """Its size in bytes."""


@dataclass(kw_only=True)
class RefusedStep:
    """A step of a validation that the target refused."""
    reason: str
    """Why it is not possible."""
    step: int
    """Its number, from 0."""


@dataclass(kw_only=True)
class Region:
    """A plateau of the `unique_bytes` curve: one level of the storage hierarchy."""
    curves: RegionCurves
    """The four curves."""
    focal: Workload
    """The focal vector: the workload at which all other parameters stay while one is varied."""
    name: str
    """Short name such as `region 1`, in order of `unique_bytes`."""
    unique_bytes: list[float]
    """From and to, in bytes."""


@dataclass(kw_only=True)
class RegionCurves:
    """The curves of the four other parameters in one region (self-scaling paper, figure 7), and that of the
    queue's depth."""
    client_num: Optional[list[Point]] = None
    """Throughput of all clients together against their number, each with a set of its own; where several took
    part."""
    process_num: Optional[list[Point]] = None
    """Throughput against the number of processes."""
    queue_depth: Optional[list[Point]] = None
    """Throughput against the depth of the queue; empty where requests are issued one at a time."""
    read_frac: Optional[list[Point]] = None
    """Throughput against the fraction of reads."""
    seq_frac: Optional[list[Point]] = None
    """Throughput against the fraction of sequential requests."""
    size_mean: Optional[list[Point]] = None
    """Throughput against mean request size."""


@dataclass(kw_only=True)
class RegionFinding:
    """A finding that differs from region to region."""
    high: float
    """Upper error bound."""
    low: float
    """Lower error bound."""
    region: str
    """Name of the region."""
    value: float
    """Best estimate."""


@dataclass(kw_only=True)
class ReplayedKind:
    """Requests of one kind."""
    bytes: int
    """Bytes they moved or discarded."""
    ios: int
    """Completed requests."""
    kind: str
    """`read`, `write`, `flush` (as `fdatasync`) or `discard` (zeroing included, as `fallocate`)."""
    response_time_ns: ResponseTime
    """From issue to completion, in nanoseconds."""


@dataclass(kw_only=True)
class RequestClass:
    """Requests of one kind and about one size."""
    bytes: int
    """Bytes they moved."""
    miss_ratio: list[list[Any]]
    """Sizes of an LRU cache that begins empty, in bytes, each with the share of the class's bytes that it
    misses: read bytes not found there; written bytes that are new to it or left it since they were last
    written, and so go to storage."""
    op: Literal['read', 'write']
    """Read or write."""
    requests: int
    """Number of requests."""
    response_time_ns: float
    """Mean time of one where it was traced."""
    sequential: bool
    """Whether each begins where the same process's previous request of this kind to the same file ended."""
    miss_ratio_half90: Optional[list[float]] = None
    """Half the width of the 90 % interval of each share of `miss_ratio`, from how much parts of the trace
    differ; empty in older results."""
    run_bytes: Optional[float] = None
    """Bytes of the sequential run that one of their bytes belongs to, in the mean: what write-back can
    gather."""


@dataclass(kw_only=True)
class ResponseTime:
    """Summary of response times, in nanoseconds."""
    max: int
    """Longest."""
    mean: float
    """Arithmetic mean."""
    p50: int
    """Median."""
    p90: int
    """90th percentile."""
    p99: int
    """99th percentile."""
    p999: int
    """99.9th percentile."""


@dataclass(kw_only=True)
class Runs:
    """Runs of requests: how long they are and how many requests are in runs of each length."""
    bins: list[list[Any]]
    """Requests by length of their run: upper bound of the length, requests."""
    following_frac: float
    """Fraction of requests that continue a run: all but the first of each."""
    in_100_frac: float
    """Fraction of requests in runs of 100 or more."""
    in_20_frac: float
    """Fraction of requests in runs of 20 or more."""
    in_50_frac: float
    """Fraction of requests in runs of 50 or more."""
    ios: int
    """Requests in them."""
    longest: int
    """The longest run."""
    runs: int
    """Number of runs."""
    single_frac: float
    """Fraction of requests in runs of one."""


@dataclass(kw_only=True)
class Sequential:
    """Requests that begin where the one before on the disk ended, or the interleave after it."""
    adjacent_reads: int
    """Reads that begin where the request before ended."""
    adjacent_writes: int
    """Writes that do."""
    interleave_bytes: int
    """The file system's interleave in bytes, as given or as found; 0 without one."""
    interleaved_reads: int
    """Reads that begin that much further."""
    interleaved_writes: int
    """Writes that do."""


@dataclass(kw_only=True)
class Settings:
    """What an evaluation was asked to do: with the same settings and the same answers it takes the same
    course."""
    all_parameters: bool
    """Whether section 7's search in all parameters was asked for."""
    base: Workload
    """The workload that all others differ from in the five parameters only."""
    budget_s: float
    """Time the evaluation may take, in seconds."""
    process_num: list[int]
    """Smallest and largest `process_num`."""
    size_mean: list[int]
    """Smallest and largest `size_mean`, in bytes."""
    unique_bytes: list[int]
    """Smallest and largest `unique_bytes`."""
    flush_interval_s: Optional[float] = None
    """Time after which a natural flush must have shown itself, in seconds; absent when unknown."""
    layout_bytes_per_s: Optional[float] = None
    """Rate at which the set was laid out, in bytes per second; absent when unknown."""
    memory_limit_bytes: Optional[int] = None
    """Memory limit of the workers, when one was asked for."""
    points_max: Optional[int] = None
    """Most different workloads that may be measured; absent without a limit."""


@dataclass(kw_only=True)
class SimulatedCell:
    """One combination of policies."""
    absorbed_bytes: int
    """Bytes overwritten in the disk's buffer, which never went to the medium."""
    cache: str
    """Write cache at the disk: `none`, `immediate` or `nvram`."""
    elapsed: SimulatedOperations
    """Time in queue and at the disk."""
    parts: SimulatedParts
    """Where the time goes."""
    physical: SimulatedOperations
    """Time at the disk (issue to completion)."""
    physical_distribution: list[list[float]]
    """Distribution of physical times: `[nanoseconds, share of requests that took at most this]`."""
    read_ahead: bool
    """Whether the disk reads ahead."""
    scheduler: str
    """The host's order of requests."""
    written_bytes: int
    """Bytes the host wrote."""
    agreement: Optional[SimulationAgreement] = None
    """Against the recorded times, where every trace was simulated on a drive of its own; otherwise it is told
    once for all cells."""
    array: Optional[str] = None
    """The array that stands for every device: `raid0:DISKS:CHUNK`, `raid1:DISKS` or `raid5:DISKS:CHUNK`;
    absent: a drive alone."""
    cache_bytes: Optional[int] = None
    """Its size."""
    destage: Optional[str] = None
    """Order in which it is written to the medium: `fcfs` or `satf`."""
    drive: Optional[str] = None
    """The drive, where drives are compared or devices have different ones."""
    energy_j: Optional[float] = None
    """Energy that all drives took, in joules, where their files tell it; a disk that writes its cache by
    itself counts as busy."""
    queue_depth: Optional[int] = None
    """Commands that a disk takes at once, where it is more than one."""
    utilization: Optional[float] = None
    """Mean share of the time in which a drive has a command; absent in files of before it was kept."""
    write_amplification: Optional[float] = None
    """Bytes programmed into flash for every byte written, of a solid-state drive."""


@dataclass(kw_only=True)
class SimulatedOperations:
    """Times of all requests, of reads and of writes."""
    all: SimulatedTimes
    """Both."""
    read: SimulatedTimes
    """Reads."""
    write: SimulatedTimes
    """Writes."""


@dataclass(kw_only=True)
class SimulatedParts:
    """Mean parts of a request's time, in nanoseconds; what overlaps counts in each."""
    bus_ns: float
    """On the bus or waiting for it."""
    overhead_ns: float
    """Controller."""
    queue_ns: float
    """In the host's queue."""
    rotation_ns: float
    """Rotation."""
    seek_ns: float
    """Seek and settling."""
    transfer_ns: float
    """Medium."""
    wait_ns: float
    """At the disk, waiting for the mechanism or for room in its buffer."""


@dataclass(kw_only=True)
class SimulatedTimes:
    """Times of a group of requests, in nanoseconds."""
    max_ns: int
    """Longest."""
    mean_ns: float
    """Mean."""
    p50_ns: int
    """Median."""
    p90_ns: int
    """90 % are at most this."""
    p99_ns: int
    """99 % are at most this."""
    requests: int
    """Requests."""


@dataclass(kw_only=True)
class Simulation:
    """The result of `ioscape simulate`."""
    arrivals: str
    """When requests came: `queued`, `issued` or `closed`."""
    cells: list[SimulatedCell]
    """All combinations, in the order asked."""
    devices: list[str]
    """Devices of the trace that were simulated."""
    drive: str
    """The drive."""
    drive_status: str
    """How far its parameters can be trusted."""
    requests: int
    """Requests simulated in the first cell, or of all traces where each has a drive of its own; other cells
    have as many but for discards, which not every drive takes."""
    trace: str
    """The trace, as named."""
    absorption: Optional[list[HostCacheAbsorption]] = None
    """Writes absorbed at the host."""
    agreement: Optional[SimulationAgreement] = None
    """Against the recorded times, when the trace has them."""
    left_out: Optional[list[str]] = None
    """What was stated and is not part of this simulation: keys of drives' files, discards of the trace,
    energy that no file tells, think times of a closed system that the trace does not tell. Empty in files of
    before it was kept."""


@dataclass(kw_only=True)
class SimulationAgreement:
    """How far simulated physical times are from the recorded ones."""
    demerit: float
    """Root mean square distance of the distributions as a share of the measured mean; blind to single
    requests."""
    measured_distribution: list[list[float]]
    """Distribution of the recorded times, as in a cell."""
    measured_mean_ns: float
    """Mean of the recorded times."""
    paired_median_ns: float
    """Median of their absolute errors."""
    paired_requests: int
    """Requests soon after another, predicted one by one from the recorded state of the disk: how many."""
    paired_within_1ms: float
    """Share of them within a millisecond."""
    requests: int
    """Requests compared."""
    simulated_distribution: list[list[float]]
    """Distribution of the simulated times of the same requests, in the first combination."""
    simulated_mean_ns: float
    """Mean of the simulated times."""
    rms_ns: Optional[float] = None
    """Root mean square distance of the distributions; 0 in files of before it was kept."""


@dataclass(kw_only=True)
class SizesOfType:
    """Sizes of one type and operation (Figure 11)."""
    bytes: Distribution
    """Sizes in bytes."""
    io_type: Literal['unknown', 'user_data', 'inode', 'directory', 'indirect', 'bitmap', 'superblock', 'journal', 'swap']
    """What the blocks hold."""
    op: Optional[Literal['read', 'write']] = None
    """Read or write; absent where the trace does not tell operations."""


@dataclass(kw_only=True)
class SlopePoint:
    """Slope of the `unique_bytes` curve (self-scaling paper, figure 6)."""
    slope: float
    """Change of log throughput per change of log `unique_bytes`, without unit."""
    unique_bytes: float
    """Geometric middle of two neighbouring points, in bytes."""


@dataclass(kw_only=True)
class SlowRequests:
    """Requests that took longer than a limit from arrival to completion."""
    above_ns: int
    """The limit."""
    alone: int
    """Those that found nothing else under way on their device."""
    behind: list[Behind]
    """Whose requests the others waited behind, the most frequent first: the process whose requests were under
    way for longest while the slow one was."""
    ios: int
    """How many took longer."""
    mostly_queued: int
    """Those that spent more time in the queue than at the device."""
    of_ios: int
    """Of so many requests."""


@dataclass(kw_only=True)
class Slower:
    """How much slower a set well beyond a border is than the largest one measured before it."""
    times: Bounded
    """Throughput before it over that beyond it, with its bounds."""
    unique_bytes: float
    """The set beyond it, in bytes."""


@dataclass(kw_only=True)
class Sustained:
    """The course of a workload that ran for long, and what it shows."""
    bytes_per_s: list[float]
    """Bytes per second in each step."""
    kind: Literal['steady', 'burst', 'settled', 'cannot_be_told']
    """What it shows."""
    phases: list[CoursePhase]
    """Its parts, each of one rate; where it cannot be told what they mean, as they are."""
    step_s: float
    """Length of a step, in seconds."""
    burst_bytes: Optional[Bounded] = None
    """Bytes that were moved faster than the last rate allows. Only of a burst."""
    credit_bytes: Optional[Bounded] = None
    """Bytes that were moved beyond the last rate before it held, with a 95 % interval: the credit, or the
    cache as far as it was not emptied meanwhile. Only of a burst."""
    disturbed_s: Optional[list[list[float]]] = None
    """Parts during which something else took a share, from and until in seconds: what came before went on
    after them."""
    recovered_bytes_per_s: Optional[Bounded] = None
    """Credit that came back while nothing was moved, in bytes per second with a 95 % interval; absent where
    that was not measured."""
    sentences: Optional[list[str]] = None
    """The same in words."""


@dataclass(kw_only=True)
class TimePart:
    """One part of an application's time."""
    name: str
    """What is done: `reads from memory`, `reads from storage`, `computing` and so on."""
    seconds: float
    """For how long, in seconds."""


@dataclass(kw_only=True)
class TimeStep:
    """One step of time, by arrival."""
    ios: int
    """Requests."""
    bytes: Optional[int] = None
    """Bytes moved, where the trace does not tell operations; absent where it does: then they are the sum of
    the two below."""
    elapsed_max_ns: Optional[float] = None
    """Longest elapsed time."""
    elapsed_mean_ns: Optional[float] = None
    """Mean elapsed time in nanoseconds; absent without requests, and where the trace tells no completions."""
    elapsed_p50_ns: Optional[float] = None
    """Median of the elapsed time; quantiles are kept for the finest timeline only."""
    elapsed_p999_ns: Optional[float] = None
    """99.9th percentile of the elapsed time."""
    elapsed_p99_ns: Optional[float] = None
    """99th percentile of the elapsed time."""
    read_bytes: Optional[int] = None
    """Bytes read."""
    reads: Optional[int] = None
    """Those that read; like the bytes read and written absent where the trace does not tell operations (a
    warning of kind `operations_unknown` says so)."""
    write_bytes: Optional[int] = None
    """Bytes written; a discard moves none."""


@dataclass(kw_only=True)
class Timeline:
    """Numbers by equal steps of time."""
    start_ns: int
    """Beginning of the first step, from the beginning of the trace; negative when the step began before
    it."""
    step_ns: int
    """Width of a step."""
    steps: list[TimeStep]
    """The steps, without gaps."""


@dataclass(kw_only=True)
class Times:
    """Both times of a request, in nanoseconds."""
    elapsed_ns: Distribution
    """From arrival to completion: queueing included."""
    physical_ns: Optional[Distribution] = None
    """From issue to completion: the disk works on it; absent where the trace does not tell when requests were
    issued."""


@dataclass(kw_only=True)
class Tool:
    """The program that wrote the document."""
    version: str
    """Version of ioscape."""
    commit: Optional[str] = None
    """Commit that it was built from, as git describes it; absent when it was not built in a clone for
    release."""


@dataclass(kw_only=True)
class TraceCharacterization:
    """A trace as workloads of five parameters: `trace characterize`."""
    name: str
    """Name the user gave the trace: its file names."""
    overall: TraceTraits
    """All requests."""
    disks: Optional[list[TraceTraits]] = None
    """Those of each disk, when there are several."""
    processes: Optional[list[TraceTraits]] = None
    """Those of each process, the busiest first, when the trace tells processes."""
    windows: Optional[list[TraceTraits]] = None
    """Those that arrived in each window of time, when windows were asked for."""


@dataclass(kw_only=True)
class TraceComparison:
    """The result of `trace compare`."""
    distributions: list[DistributionChange]
    """Distributions, and shares of the requests."""
    figures: list[FigureChange]
    """Figures, as ratios of the second trace's to the first's."""
    margin: float
    """What counts as alike: ratios from `1 / (1 + margin)` to `1 + margin`, and distances up to `margin`."""
    traces: list[TraceSummary]
    """Everything that each trace holds: the first, the second."""
    verdict: Literal['changed', 'alike', 'cannot_be_told']
    """Whether the workload changed."""
    windows: list[WindowCount]
    """The windows of time of each, whose scatter the intervals follow from."""
    condition: Optional[ConditionResult] = None
    """Whether a condition that was given is met by figures, by their number from 0; absent without one, or
    where nothing can be told."""
    times_as_long: Optional[float] = None
    """Where it cannot be told: how many times as long both traces would have to be to tell a change of the
    margin; absent where some of what is compared is too rare."""


@dataclass(kw_only=True)
class TraceFile:
    """A trace that was imported, exported or recorded."""
    bytes: int
    """Bytes of all requests that move data."""
    file_bytes: int
    """Size of the file."""
    format: str
    """Format it was written in."""
    info: TraceInfo
    """What holds for the trace as a whole."""
    path: str
    """The file that was written."""
    rows: int
    """Rows."""
    span_ns: int
    """From the first arrival to the last."""
    reads: Optional[int] = None
    """Rows that read; absent where the source does not tell operations."""
    slow: Optional[SlowRequests] = None
    """Where the file holds only slow requests: how many, and what they waited for."""


@dataclass(kw_only=True)
class TraceInfo:
    """What holds for a trace as a whole: the tables its rows point into, where it comes from, and what it
    lost."""
    devices: list[Device]
    """Devices; [`Io::device`] is an index."""
    format: str
    """Format it was read from: `hp-srt`, `blktrace`, `msr`, `parquet`; of traces that became one all of
    theirs, as in `msr, recorded`."""
    commands: Optional[list[str]] = None
    """Commands; [`Io::command`] is an index, 0 the unknown one (an empty name)."""
    lost_by_cpu: Optional[list[int]] = None
    """Events lost while recording, by CPU."""
    notes: Optional[dict[str, str]] = None
    """What the source says of the system: machine, file system, mount options, how it was recorded."""
    skipped: Optional[int] = None
    """Records that were broken and skipped."""
    started_unix_ns: Optional[int] = None
    """Time of `queued_ns` 0 in nanoseconds since 1970, when recorded."""


@dataclass(kw_only=True)
class TraceReplay:
    """The result of `ioscape trace replay`."""
    access: Literal['buffered', 'direct', 'dsync']
    """How requests reached the target."""
    elapsed_ns: int
    """From the first issue to the last completion."""
    fit: Literal['wrap', 'scale']
    """How addresses beyond the target were mapped."""
    in_flight: int
    """Most requests in flight."""
    kinds: list[ReplayedKind]
    """By kind, those that occurred."""
    moved: int
    """Requests that went to another place than in the trace because the target is smaller."""
    refused: int
    """Discards that the target does not support; they were left out."""
    rounded: int
    """Requests whose bounds were rounded to what direct I/O needs."""
    span_ns: int
    """From the first arrival to the last, at the speed asked for."""
    target: str
    """The file or device that was used."""
    target_bytes: int
    """Its size."""
    timing: Any
    """When requests were issued."""
    trace: str
    """The trace, as named."""
    trace_bytes: int
    """Size that the trace's devices have side by side, up to the last byte touched of each."""
    cut: Optional[int] = None
    """Requests that were made shorter because the target is smaller than they are."""
    lateness_ns: Optional[Distribution] = None
    """Issue less the time it was due; absent when requests were issued as fast as possible. Bins double from
    a microsecond."""
    recorded_mean_ns: Optional[float] = None
    """Mean time from arrival to completion in the trace, of the same requests; absent when it does not
    tell."""
    verify: Optional[VerifyReport] = None
    """What verifying the data found, where it was asked for."""


@dataclass(kw_only=True)
class TraceSummary:
    """The whole result of `trace analyze`; tables and figures named in the comments are those of Ruemmler &
    Wilkes, "UNIX disk access patterns", 1993."""
    block_bytes: int
    """Block size of the figures that count blocks, in bytes."""
    daily: Timeline
    """The same by day."""
    disks: list[DiskSummary]
    """Each disk by itself (Tables 5 and 7, Figures 2, 3, 5, 9 and 10)."""
    first_ns: int
    """Arrival of the first, from the beginning of the trace."""
    hourly: Timeline
    """The same by hour of the clock, empty when the trace is too long for it."""
    info: TraceInfo
    """Where the trace comes from, its devices and commands."""
    ios: int
    """Number of requests analysed."""
    last_ns: int
    """Last completion, from the beginning of the trace."""
    name: str
    """Name the user gave the trace: its file names."""
    over_time: Timeline
    """Requests over time at the finest resolution kept (Figures 3, 4 and 8; tail latencies)."""
    partitions: list[PartitionShare]
    """Requests and bytes by partition (Table 3)."""
    processes: list[ProcessShare]
    """Who issued what, the busiest first."""
    transfer_sizes: list[SizesOfType]
    """Transfer sizes by type (Figure 11)."""
    absorption: Optional[list[Absorption]] = None
    """Non-volatile memory that would absorb the writes of 30 seconds (Figures 17 and 18); absent of a trace
    shorter than a minute, which need not hold a whole interval."""
    address_maps: Optional[list[AddressMap]] = None
    """Addresses over time, one picture per disk."""
    alignment: Optional[list[AlignedShare]] = None
    """Requests that begin and end at multiples of sectors, pages, database blocks and RAID chunks; older
    results lack it."""
    burstiness: Optional[Burstiness] = None
    """How bursty arrivals are at each time scale; of windows shorter than a second absent where arrivals are
    told in whole seconds."""
    by: Optional[Literal['partition', 'disk', 'process']] = None
    """What the terminal's summary breaks the load down by."""
    distances: Optional[Distances] = None
    """Where requests begin relative to the end of the one before on their disk, all disks together (Figure
    9); like all figures of places absent where the trace numbers objects."""
    inter_arrival_ns: Optional[Distribution] = None
    """Time between two arrivals, whatever their disks, in nanoseconds (Figure 6); absent where arrivals are
    told in whole seconds. Like all that follows from requests between others absent where the trace holds the
    slow ones alone."""
    latency_map: Optional[HeatMap] = None
    """Response times over time."""
    miss_ratio: Optional[MissRatio] = None
    """Miss ratio of an LRU cache of any size."""
    overwrites: Optional[Overwrites] = None
    """Blocks written again (Figure 12); like all figures of writes absent without writes, and where
    operations are not told."""
    popularity: Optional[Popularity] = None
    """How few blocks take how many of the writes (Figure 13)."""
    response_times: Optional[OpTimes] = None
    """Time at the device and time including the queue (Table 4, Figure 1); absent where the trace tells no
    completions."""
    sequential: Optional[Sequential] = None
    """Sequential requests of all disks together (Table 7)."""
    types: Optional[list[TypeShare]] = None
    """What was read and written (Table 6, Figure 7); absent where the trace tells neither flags nor types."""
    warnings: Optional[list[Warning]] = None
    """Warnings."""
    working_set: Optional[WorkingSet] = None
    """Distinct bytes touched, over time and in all."""


@dataclass(kw_only=True)
class TraceTraits:
    """Five parameters and how well they describe the requests they were taken from."""
    bytes: int
    """Bytes they move."""
    elapsed_s: float
    """Time from the first arrival to the last completion in seconds."""
    goodness: float
    """1 less the largest of the three distances: 1 is a workload of the model itself, 0 nothing like it."""
    mix_distance: float
    """How far the share of successive requests of different kinds, read and write, is from the model's 2 r (1
    - r)."""
    name: str
    """What the requests have in common: a disk, a process, a window."""
    process_num: int
    """Number of processes issuing I/O at the same time, at least 1."""
    processes_seen: int
    """Distinct processes that issued them; 0 when the trace tells none."""
    read_frac: float
    """Probability that a request is a read, 0 to 1."""
    requests: int
    """Requests that move data."""
    run_distance: float
    """The same for the lengths of sequential runs, which are geometric in the model."""
    seq_frac: float
    """Probability that a request starts where the same process's previous request, of either kind, ended, 0
    to 1."""
    size_distance: float
    """Largest difference between the cumulative distributions of the sizes seen and of the workload's size
    distribution."""
    size_mean: int
    """Mean request size in bytes, at most `unique_bytes`."""
    unique_bytes: int
    """Number of distinct bytes read or written by all processes together: the size of the set."""
    access: Optional[Literal['buffered', 'direct', 'dsync']] = None
    """Buffered, direct or synchronous."""
    advice: Optional[Literal['normal', 'random', 'sequential']] = None
    """What the kernel is told about the accesses to come."""
    align_bytes: Optional[int] = None
    """Multiple that offsets and sizes are rounded to, a power of two; absent: 4096, or less for a smaller
    `size_mean`."""
    by_operation: Optional[ByOperation] = None
    """Where reads and writes differ; absent where the five parameters hold for both."""
    direct_above_bytes: Optional[int] = None
    """Requests of more than so many bytes bypass the file cache: discovered direct I/O (VERITAS 1996, p. 19).
    Only `psync` has it, and only with buffered access, which is that of all smaller requests."""
    engine: Optional[Literal['psync', 'io_uring', 'mmap', 'dontcache', 'null', 'sim']] = None
    """How requests reach the kernel."""
    memory_bytes: Optional[int] = None
    """Memory that the processes hold together besides the file cache, in bytes; absent where they hold
    none."""
    phases: Optional[list[Phase]] = None
    """What an application does one after the other: a run carries its phases out once, in order, from an
    empty file cache. Empty where the parameters hold all the time."""
    queue_depth: Optional[int] = None
    """Requests each process keeps in flight, at least 1; more than 1 needs `io_uring`."""
    response_time_ns: Optional[float] = None
    """Mean elapsed time of a request in nanoseconds; absent where the trace tells no completions."""
    size_distribution: Optional[Literal['normal', 'bernoulli', 'exponential', 'fixed']] = None
    """Distribution of the request sizes."""
    think_time_ns: Optional[int] = None
    """Time a process pauses, asleep, between two requests."""
    workers: Optional[Literal['processes', 'threads']] = None
    """Processes or threads."""


@dataclass(kw_only=True)
class TracingCost:
    """What the recorder's own work adds to the times it sees, measured with calls that do nothing."""
    between_calls_ns: int
    """Nanoseconds added between two calls."""
    in_call_ns: int
    """Nanoseconds added to each call."""


@dataclass(kw_only=True)
class Traits:
    """The five parameters of an application, a file of it, or a process of it, and how well they describe it.
    The parameters are those of the self-scaling paper, section 5."""
    access: Literal['buffered', 'direct', 'dsync']
    """How the requests reach storage, as far as the open flags show."""
    active_s: float
    """Seconds in which at least one process was in its I/O phase."""
    bytes: int
    """Bytes they moved."""
    goodness: float
    """1 less the largest of the three distances below: 1 is a workload of the model itself, 0 nothing like
    it."""
    mix_distance: float
    """How far the share of successive requests of different kinds, read and write, is from the model's 2 r (1
    - r)."""
    process_num: int
    """Mean number of processes in their I/O phase at the same time, rounded, at least 1."""
    read_bytes_frac: float
    """Fraction of bytes that are read: where it is far from `read_frac`, reads and writes have different
    sizes."""
    read_frac: float
    """Fraction of requests that are reads."""
    requests: int
    """Number of requests: calls that moved bytes."""
    response_time_ns: float
    """Mean time of a request, less what tracing adds and waits for a processor."""
    run_distance: float
    """The same for the lengths of sequential runs, which are geometric in the model."""
    seq_frac: float
    """Fraction of requests that start where the same process's previous request to the same file ended."""
    size_distance: float
    """Largest difference between the cumulative distributions of the sizes seen and of
    `size_distribution`."""
    size_distribution: Literal['normal', 'bernoulli', 'exponential', 'fixed']
    """The distribution that is nearest to the sizes seen."""
    size_mean: int
    """Mean of the bytes that a call moved."""
    strict_seq_frac: float
    """Fraction of requests that start where the same process's previous request to any file ended."""
    sync_time_ns: float
    """Mean time of a sync, less the same."""
    syncs: int
    """Calls that waited for dirty pages: `fsync`, `fdatasync`, `sync_file_range`."""
    think_time_ns: int
    """Mean time that a process spends between two requests."""
    unique_bytes: int
    """Distinct bytes that were read or written, in whole pages of 4 KiB but never past the last byte
    touched."""
    align_bytes: Optional[int] = None
    """Bytes that sizes are multiples of where all requests have one size, `size_mean`, between two multiples
    of the usual alignment; absent otherwise, and in older results."""
    change_frac: Optional[float] = None
    """Fraction of requests that are of the other kind, read or write, than the same process's request before;
    absent in older results."""


@dataclass(kw_only=True)
class TwinKept:
    """Which of the measurements of a twin are what; those that ran for long, with their courses, come last
    and are not counted here."""
    again: int
    """The same workloads, measured after all others."""
    capacity_bytes: int
    """Bytes that it holds."""
    first: int
    """Measurements before all others."""
    fitted: int
    """Measurements that the drive is fitted to; they come first."""
    judging: int
    """Measurements that it is judged by."""
    repeated: int
    """Workloads that judge the drive, measured once more."""
    target: str
    """The target, as it was named."""
    write_buffer_bytes: int
    """Bytes of the write buffer that was assumed."""


@dataclass(kw_only=True)
class TypeShare:
    """Requests of one type and operation (Table 6, Figure 7)."""
    bytes: int
    """Bytes."""
    io_type: Literal['unknown', 'user_data', 'inode', 'directory', 'indirect', 'bitmap', 'superblock', 'journal', 'swap']
    """What the blocks hold."""
    ios: int
    """Requests."""
    op: Literal['read', 'write']
    """Read or write."""
    async_: Optional[int] = None
    """Requests flagged asynchronous."""
    raw: Optional[int] = None
    """Requests that did not come through a file system."""
    sync: Optional[int] = None
    """Requests flagged synchronous; like the two below absent where the trace does not tell which are."""


@dataclass(kw_only=True)
class Validation:
    """Predictions compared with measurements of random workloads (self-scaling paper, section 9, figures 12
    to 15)."""
    median_error: float
    """Median over all workloads."""
    p75_error: float
    """75th percentile."""
    p90_error: float
    """90th percentile."""
    workloads: int
    """Workloads that were measured."""
    by_parameter: Optional[dict[str, list[ErrorBin]]] = None
    """The default model's error against each parameter."""
    enhanced_median_error: Optional[float] = None
    """Median without the workloads near a border between regions (figures 15 and 24); absent when none is
    left."""
    error_over_repeatability: Optional[float] = None
    """Median error of the default model over `repeatability_error`: at 1 it is as good as measuring again."""
    interval90_coverage: Optional[float] = None
    """Share of the single measurements that fall into the 90 % interval; absent for a model without
    intervals."""
    models: Optional[dict[str, ErrorFigures]] = None
    """The same figures for every model: `default`, `product`, `orthogonal`, `single_point`; where something
    is exchanged, `as_evaluated`, what is predicted without the exchange."""
    points: Optional[list[ValidationPoint]] = None
    """Every workload."""
    repeatability_error: Optional[float] = None
    """Median difference of the same workload measured twice, in rounds that follow each other, over the
    first; absent without repetitions."""


@dataclass(kw_only=True)
class ValidationLog:
    """A validation that is not whole: what it was asked to do and how far it came. The document's
    `measurements` are then what it measured, in order."""
    budget_s: float
    """Time that the whole may take, in seconds."""
    orthogonal: bool
    """Whether the orthogonal sample is measured, too."""
    rounds: int
    """Rounds in which each is measured."""
    spent_s: float
    """Time that it took so far, in seconds."""
    target: str
    """What is measured, as the user named it."""
    workloads: int
    """Random workloads to measure."""
    access: Optional[Literal['buffered', 'direct', 'dsync']] = None
    """The access that was asked for; absent for the evaluation's first."""
    memory_limit_bytes: Optional[int] = None
    """Memory limit of the workers, in bytes; absent without one."""
    refused: Optional[list[RefusedStep]] = None
    """Steps that are not possible on the target, and why."""
    steps: Optional[list[int]] = None
    """Which of the steps that follow from the above, the seed and the evaluation each measurement is, from
    0."""
    what_if: Optional[list[str]] = None
    """In what the target differs from the system that was evaluated, as `--what-if` names it."""


@dataclass(kw_only=True)
class ValidationPoint:
    """One workload of a validation: predicted and measured."""
    measurement: Measurement
    """What was measured."""
    near_border: bool
    """Whether it lies in the zone of a border between regions."""
    prediction: Prediction
    """What the default model said beforehand."""
    models: Optional[dict[str, float]] = None
    """Throughput in bytes per second that every other model predicts, by the model's name."""
    repeated_bytes_per_s: Optional[float] = None
    """The same, measured again; absent when it was measured once."""
    rounds_bytes_per_s: Optional[list[float]] = None
    """Every round's throughput in bytes per second, in the order taken; predictions are compared with their
    median."""


@dataclass(kw_only=True)
class VerifyFinding:
    """One block that does not hold what was written to it last."""
    at_end: bool
    """Whether it was found when all blocks were read back at the end, not by a read of the workload."""
    expected_write: int
    """Number of the write that it should hold; the writes of a run are numbered in the order of their
    issue."""
    file: str
    """The file or device, as named."""
    kind: Literal['corrupt', 'misplaced', 'lost', 'stale', 'torn']
    """What is wrong with it."""
    offset: int
    """First byte of the block in the file."""
    found_file: Optional[str] = None
    """The file that the block it holds was written to, where that is another one."""
    found_offset: Optional[int] = None
    """Byte that the block it holds was written to; absent where that is its own place or cannot be told."""
    found_write: Optional[int] = None
    """Number of the write that it holds; absent where it holds none that can be told."""


@dataclass(kw_only=True)
class VerifyReport:
    """The outcome of verifying a run."""
    block_bytes: int
    """Size of a block, in bytes: what the requests are multiples of, at most 4096."""
    checked_blocks: int
    """Blocks that reads of the workload returned and that were checked."""
    corrupt: int
    """Blocks whose checksum is wrong."""
    findings: list[VerifyFinding]
    """The first of them; the counts are of all."""
    lost: int
    """Blocks whose only write never arrived."""
    misplaced: int
    """Blocks that belong elsewhere."""
    read_back_blocks: int
    """Blocks that were checked when all were read back at the end."""
    stale: int
    """Blocks whose last write did not arrive."""
    torn: int
    """Blocks of which a part of the last write arrived."""
    unjudged_blocks: int
    """Blocks that reads of the workload returned and that could not be judged: written meanwhile, written
    last by two requests at a time or in part, or never written by this run."""
    from_storage_frac: Optional[float] = None
    """Share of what was read back that was not in the file cache and so came from below it; absent where the
    kernel cannot tell."""


@dataclass(kw_only=True)
class VxFigures:
    """What one stream, one user or all of them did."""
    bytes: int
    """Bytes moved."""
    cpu_system_s: float
    """System time of the streams, in seconds."""
    cpu_user_s: float
    """User time of the streams, in seconds."""
    elapsed_s: float
    """From the first request issued to the last one completed, `fsync` included, in seconds."""
    ios: int
    """Completed requests."""
    throughput_bytes_per_s: float
    """`bytes` over `elapsed_s`."""
    cpu_split_told: Optional[bool] = None
    """Whether the kernel could tell user from system time. It samples at its ticks, so that of little
    processor time only the sum is known; the two are then shared out by whatever samples there were."""
    fsync_ns: Optional[ResponseTime] = None
    """Times of the `fsync` behind each stream's last write, which are not among the requests'; absent
    without."""
    response_time_ns: Optional[ResponseTime] = None
    """Response times of the requests; absent where there are none."""


@dataclass(kw_only=True)
class VxFile:
    """One file and its user."""
    figures: VxFigures
    """All its streams."""
    path: str
    """The file as it was named."""
    direct_align: Optional[int] = None
    """Multiple that direct I/O needed here, in bytes."""
    extents: Optional[int] = None
    """Extents after the run (`FIEMAP`); absent where the file system does not report it."""
    noreuse_by: Optional[str] = None
    """How `noreuse` was carried out: `RWF_DONTCACHE` or `POSIX_FADV_NOREUSE`."""
    reservation_s: Optional[float] = None
    """Time that the reservation (`-r`) took, in seconds; absent without one."""
    size_bytes: Optional[int] = None
    """Size after the run, in bytes; absent if the file was removed."""
    threads: Optional[list[VxFigures]] = None
    """Every stream."""


@dataclass(kw_only=True)
class VxJob:
    """All options of one run but the names of its files. Sizes are bytes."""
    align: bool
    """`-f align`: extents must begin at multiples of the extent size."""
    append: bool
    """`-o append`: every write goes to the end of the file."""
    best_effort: bool
    """An option that the system cannot honour is a warning instead of an error."""
    chgsize: bool
    """`-f chgsize`: the file gets the size of the reservation."""
    cold: bool
    """The pages of the files are dropped from the file cache before the run."""
    contig: bool
    """`-f contig`: the reservation must be one extent."""
    direct: bool
    """`-c direct`: `O_DIRECT`."""
    dsync: bool
    """`-c dsync`: `O_DSYNC`."""
    fsync: bool
    """`-i fsync`: the time includes an `fsync` after the last write of each stream."""
    huge_buffers: bool
    """`--huge-buffers`: every buffer is in huge pages, where the kernel gives them, whatever its size and the
    caching."""
    iosize: int
    """`-i iosize`: size of each request, in bytes."""
    lock_buffers: bool
    """`-m`: the buffers are locked in memory."""
    noextend: bool
    """`-f noextend`: no write may go past the reservation."""
    noreserve: bool
    """`-f noreserve`: space is allocated for the run only, not set aside for the file."""
    noreuse: bool
    """`-c noreuse`: the data is not kept in the file cache."""
    nrep: int
    """`-i nrep`: times that every stream goes through its requests."""
    nthreads: int
    """`-i nthreads`: streams on each file."""
    rand_seed: int
    """`-i randseed`: seed of the random choices."""
    random: bool
    """`-c random`: the kernel is told that places are random."""
    rdpct: int
    """`-i rdpct`: percentage of reads in `rand_mixed`, 0 to 100."""
    remove: bool
    """`-i remove`: the files are removed after the test."""
    reserve_only: bool
    """`-i reserveonly`: space is reserved and nothing is written."""
    seq: bool
    """`-c seq`: the kernel is told that places follow one another."""
    sync: bool
    """`-o sync`: `O_SYNC`."""
    trim: bool
    """`-f trim`: what the file does not use of the reservation is given back at the last close."""
    trunc: bool
    """`-o trunc`: the file is emptied first."""
    users: Literal['processes_of_threads', 'processes', 'threads']
    """`-P`, `-p` or `-t`."""
    workload: Literal['read', 'write', 'rand_read', 'rand_write', 'rand_mixed', 'mmap_read', 'mmap_write']
    """`-w`."""
    atomic: Optional[bool] = None
    """`-c atomic`: every direct write is on storage whole or not at all, whatever happens (`RWF_ATOMIC`)."""
    direct_above: Optional[int] = None
    """Discovered direct I/O: requests larger than this, in bytes, bypass the file cache (the paper, p. 19:
    256 KB)."""
    extsize: Optional[int] = None
    """`-e`: fixed extent size, in bytes."""
    iocount: Optional[int] = None
    """`-i iocount`: requests of each stream; absent: as many as the file holds, shared out among its
    streams."""
    max_file_size: Optional[int] = None
    """`-i maxfilesize`: random requests end before this byte; absent: the end of the file."""
    queue_depth: Optional[int] = None
    """`--queue-depth`: requests that each stream has in flight, through `io_uring`; absent: one at a time, by
    `pread` and `pwrite`."""
    reservation: Optional[int] = None
    """`-r`: space reserved for each file, in bytes."""
    truncup: Optional[int] = None
    """`-i truncup`: the file gets at least this size in bytes before random I/O; 0: the size that the
    requests need."""
    verify: Optional[bool] = None
    """Every block that is written carries its place, the number of its write and a checksum, which reads
    check."""


@dataclass(kw_only=True)
class VxRun:
    """One run of `vxbench`."""
    files: list[VxFile]
    """One per file, in the order named."""
    job: VxJob
    """What was asked for."""
    total: VxFigures
    """All of them together."""
    clients: Optional[Clients] = None
    """The clients that did it together, where there were several; one run tells no intervals of theirs, so
    none straggles."""
    verify: Optional[VerifyReport] = None
    """What verifying the data found, where it was asked for."""
    warnings: Optional[list[Warning]] = None
    """Warnings."""


@dataclass(kw_only=True)
class VxShow:
    """How a run is shown: `-k`, `-M`, `-v`, `-s`."""
    megabytes: bool
    """Throughput in MB/s instead of KB/s, both in powers of 1024."""
    per_thread: bool
    """Every stream too."""
    summary_only: bool
    """The summary alone."""


@dataclass(kw_only=True)
class Vxbench:
    """The part of a document that `vxbench` fills."""
    runs: Optional[list[VxRun]] = None
    """The runs."""
    show: Optional[VxShow] = None
    """How to show it."""
    single_writer: Optional[list[WriterScaling]] = None
    """Whether concurrent writers to one file wait for one another."""


@dataclass(kw_only=True)
class Warning:
    """One warning: its kind, a sentence for people, and what it is about."""
    kind: Any
    """The kind, for scripts."""
    message: str
    """One sentence: what was seen and what to do about it."""
    where: Optional[str] = None
    """What part of the result is concerned, such as `unique_bytes = 64 MiB`; empty for the whole."""


@dataclass(kw_only=True)
class WindowCount:
    """Windows of equal length."""
    count: int
    """How many."""
    width_ns: int
    """Their length."""


@dataclass(kw_only=True)
class Witness:
    """The second witness of a measurement: counters of the kernel over the measured part of a run.  A field
    is absent where it cannot be asked: residency and storage bytes on most network and FUSE mounts, control-
    group figures outside a group, device counters where no block device lies under the target or one that the
    kernel does not count, residency and dirty bytes on ZFS and GPFS, which have caches of their own. Absent
    never means zero. Pairs are values at the beginning and at the end of the measured part."""
    device_read_bytes: Optional[int] = None
    """Bytes the target's device read, for everybody (`/proc/diskstats`)."""
    device_written_bytes: Optional[int] = None
    """Bytes the target's device wrote, for everybody (`/proc/diskstats`)."""
    dirty_bytes: Optional[list[int]] = None
    """Dirty and write-back bytes before and after: of the memory group where there is one, of the machine
    elsewhere."""
    io_pressure_frac: Optional[float] = None
    """Share of the time some task of the group or machine stalled for I/O (`io.pressure`, "some"), 0 to 1."""
    major_faults: Optional[int] = None
    """Page faults that needed I/O."""
    memory_pressure_frac: Optional[float] = None
    """Share of the time some task of the group or machine stalled for memory (`memory.pressure`, "some"), 0
    to 1."""
    resident_frac: Optional[list[float]] = None
    """Share of the set's pages in the file cache before and after, each 0 to 1 (`cachestat` or `mincore`)."""
    run_delay_s: Optional[float] = None
    """Seconds the workers were ready to run and waited for a processor, all together
    (`/proc/PID/schedstat`)."""
    steal_s: Optional[float] = None
    """Processor seconds the hypervisor took from the machine (`steal` of `/proc/stat`)."""
    storage_read_bytes: Optional[int] = None
    """Bytes the storage layer read for the workers (`read_bytes` of `/proc/PID/io`)."""
    sustained_write_bytes_per_s: Optional[float] = None
    """Bytes written less the growth of dirty bytes, per second: what the system can keep up. Absent without
    writes, and of buffered ones where dirty bytes are."""
    throttled_s: Optional[float] = None
    """Seconds a quota of the control group kept the workers off the processors (`cpu.stat`)."""
    undisturbed_bytes_per_s: Optional[float] = None
    """Throughput over the time less what the workers waited for processors, in bytes per second."""


@dataclass(kw_only=True)
class WorkingSet:
    """Distinct bytes touched."""
    bytes: int
    """Distinct bytes touched in all, in whole blocks."""
    over_time: list[WorkingSetWindows]
    """Distinct bytes touched in each window of time."""
    read_bytes: Optional[int] = None
    """Distinct bytes read, in whole blocks; like those written absent where the trace does not tell
    operations."""
    write_bytes: Optional[int] = None
    """Distinct bytes written, in whole blocks."""


@dataclass(kw_only=True)
class WorkingSetWindows:
    """Distinct bytes by windows of one width."""
    bytes: list[int]
    """Distinct bytes touched in each."""
    start_ns: int
    """Beginning of the first window, from the beginning of the trace."""
    window_ns: int
    """Width of a window."""


@dataclass(kw_only=True)
class Workload:
    """A workload: a point of the papers' five-parameter space, and how it is carried out."""
    process_num: int
    """Number of processes issuing I/O at the same time, at least 1."""
    read_frac: float
    """Probability that a request is a read, 0 to 1."""
    seq_frac: float
    """Probability that a request starts where the same process's previous request, of either kind, ended, 0
    to 1."""
    size_mean: int
    """Mean request size in bytes, at most `unique_bytes`."""
    unique_bytes: int
    """Number of distinct bytes read or written by all processes together: the size of the set."""
    access: Optional[Literal['buffered', 'direct', 'dsync']] = None
    """Buffered, direct or synchronous."""
    advice: Optional[Literal['normal', 'random', 'sequential']] = None
    """What the kernel is told about the accesses to come."""
    align_bytes: Optional[int] = None
    """Multiple that offsets and sizes are rounded to, a power of two; absent: 4096, or less for a smaller
    `size_mean`."""
    by_operation: Optional[ByOperation] = None
    """Where reads and writes differ; absent where the five parameters hold for both."""
    direct_above_bytes: Optional[int] = None
    """Requests of more than so many bytes bypass the file cache: discovered direct I/O (VERITAS 1996, p. 19).
    Only `psync` has it, and only with buffered access, which is that of all smaller requests."""
    engine: Optional[Literal['psync', 'io_uring', 'mmap', 'dontcache', 'null', 'sim']] = None
    """How requests reach the kernel."""
    memory_bytes: Optional[int] = None
    """Memory that the processes hold together besides the file cache, in bytes; absent where they hold
    none."""
    phases: Optional[list[Phase]] = None
    """What an application does one after the other: a run carries its phases out once, in order, from an
    empty file cache. Empty where the parameters hold all the time."""
    queue_depth: Optional[int] = None
    """Requests each process keeps in flight, at least 1; more than 1 needs `io_uring`."""
    size_distribution: Optional[Literal['normal', 'bernoulli', 'exponential', 'fixed']] = None
    """Distribution of the request sizes."""
    think_time_ns: Optional[int] = None
    """Time a process pauses, asleep, between two requests."""
    workers: Optional[Literal['processes', 'threads']] = None
    """Processes or threads."""


@dataclass(kw_only=True)
class WriterScaling:
    """Writers to one file compared with writers to a file each: the effect of a file system's single-writer
    lock (pp. 32-35)."""
    alone_bytes_per_s: float
    """Throughput of one writer, in bytes per second: the median of the rounds."""
    direct: bool
    """Past the file cache (`O_DIRECT`) or through it."""
    iosize: int
    """Size of each write, in bytes."""
    one_file_bytes_per_s: float
    """Throughput of all writers on one file."""
    own_files_bytes_per_s: float
    """Throughput of all writers on a file each."""
    ratio: float
    """Throughput on one file over that on a file each: geometric mean and 95 % interval."""
    ratio_ci95: list[float]
    """Ends of that interval."""
    sentence: str
    """The finding in words."""
    writers: int
    """Writers at the same time."""
    gain_ci95: Optional[list[float]] = None
    """95 % interval of the throughput on a file each over that of one writer; absent without two rounds."""
    position_ci95: Optional[list[float]] = None
    """95 % interval of the throughput on one file over the geometric middle of one writer and a file each;
    absent without two rounds."""
    serialised: Optional[bool] = None
    """Whether the writers wait for one another; absent where the intervals do not decide."""


@dataclass(kw_only=True)
class Document:
    """A result file: where, when and how it was made, and one outcome. Keys are only ever added."""
    command: list[str]
    """The command line, word by word."""
    environment: Environment
    """The machine."""
    interrupted: bool
    """Whether the run was interrupted and holds only what was finished."""
    schema: str
    """Name and version of the schema, `ioscape/1`."""
    seed: int
    """Seed of all random choices."""
    started_at: str
    """Start, RFC 3339."""
    tool: Tool
    """The writing program."""
    campaign: Optional[CampaignResult] = None
    """The result of `campaign run`."""
    characterization: Optional[Characterization] = None
    """The result of `characterize`."""
    cheapest: Optional[list[Cheapest]] = None
    """The cheapest systems that reach what was asked for (`compare --price --at-least`)."""
    comparison: Optional[list[Comparison]] = None
    """The result of `compare` of evaluations: predictions side by side."""
    doctor: Optional[Doctor] = None
    """The result of `doctor`."""
    evaluation: Optional[Evaluation] = None
    """The result of `evaluate`."""
    host: Optional[str] = None
    """Name of the machine; absent in results that leave it out (`--anonymous`)."""
    measured_comparison: Optional[list[MeasuredComparison]] = None
    """The result of `compare` of measurements."""
    measurements: Optional[list[Measurement]] = None
    """What `run` measured, one for each workload; of an interrupted validation, what it measured so far."""
    os: Optional[OsResults] = None
    """The result of `os`."""
    predictions: Optional[list[Prediction]] = None
    """The result of `predict`: every workload on every system."""
    simulation: Optional[Simulation] = None
    """The result of `simulate`."""
    trace_characterization: Optional[TraceCharacterization] = None
    """The result of `trace characterize`."""
    trace_comparison: Optional[TraceComparison] = None
    """The result of `trace compare`."""
    trace_files: Optional[list[TraceFile]] = None
    """Files that `trace import`, `export` and `record` wrote."""
    trace_replay: Optional[TraceReplay] = None
    """The result of `trace replay`."""
    trace_summary: Optional[TraceSummary] = None
    """The result of `trace analyze` and `trace merge`."""
    twin: Optional[TwinKept] = None
    """Of measurements that `twin` made, which are what; absent of others."""
    validation: Optional[Validation] = None
    """The result of `validate`."""
    validation_log: Optional[ValidationLog] = None
    """How far a validation came that is not whole."""
    vxbench: Optional[Vxbench] = None
    """The result of `vxbench`."""
    warnings: Optional[list[Warning]] = None
    """Warnings about the whole."""
