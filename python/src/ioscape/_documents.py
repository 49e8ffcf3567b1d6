"""The documents of ioscape as dataclasses. Made by generate.py from the JSON Schema: do not edit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Optional


@dataclass(kw_only=True)
class Absorption:
    """Non-volatile memory needed to hold the writes of 30 seconds (Figures 17 and 18)."""
    bytes: Distribution
    """Distinct bytes written in an interval, in bytes."""
    fit_100k: float
    """Fraction of intervals with writes that fit into 100 KiB."""
    fit_200k: float
    """Fraction of intervals with writes that fit into 200 KiB."""
    interval_ns: int
    """Length of an interval."""
    intervals: int
    """Intervals with at least one such write."""
    overwritten_frac: float
    """Fraction of the written bytes that overwrite bytes written earlier in the same interval."""
    writes: str
    """The writes considered: `all` or `metadata`."""
    absorbed: Optional[list[list[float]]] = None
    """For a cache emptied after each interval: its size in bytes, a lower bound of the fraction of written
    bytes absorbed, and one of overwrites (Figure 18)."""


@dataclass(kw_only=True)
class AccessPattern:
    """An application's requests as seen by a storage system: by class, each with its own locality."""
    classes: list[RequestClass]
    """The classes, reads first, smaller requests first."""
    elsewhere_s: float
    """Seconds in which no process was doing I/O or waiting for it: start-up, exit, long computation."""
    process_num: int
    """Mean number of processes active at the same time."""
    sync_s: float
    """Total seconds that all processes spent in `fsync` and the like. A wait that holds up several of the
    `process_num` processes counts for each of them."""
    think_time_ns: float
    """Mean think time of a process between two requests."""
    unique_bytes: int
    """Distinct bytes read or written, in whole pages."""
    unique_write_bytes: int
    """Distinct bytes written."""
    further_waits: Optional[int] = None
    """Waits for storage, by synchronous writes and by `fsync` and the like, beyond one for each write: most
    often for directories. 0 in older results."""
    memory_bytes: Optional[int] = None
    """Private memory of the processes, in bytes: a lower bound, since pages that may belong to mapped files
    are not counted, and processes are added up only when one of them ends. It is not available to the file
    cache. Absent if unknown."""
    page_bytes: Optional[int] = None
    """Size of the pages in which distinct bytes and cache sizes are counted; absent in older results: 4
    KiB."""


@dataclass(kw_only=True)
class AddressMap:
    """Addresses over time on one disk."""
    cells: list[list[Any]]
    """Cells with requests: column, row, reads, writes."""
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
    """Requests of one operation by alignment to a size."""
    aligned: int
    """Requests that begin and end at multiples of the size."""
    ios: int
    """Requests that move data."""
    op: Literal['read', 'write']
    """Read or write."""
    unit_bytes: int
    """The size, a power of two."""


@dataclass(kw_only=True)
class AllParameters:
    """The first attempt of section 7: all parameters at their 75 % performance points at once."""
    focal: Workload
    """The focal vector that was found."""
    ranges: list[FocalRange]
    """One range per parameter, in the papers' order."""
    settled: bool
    """Whether the iteration settled before its last allowed step."""


@dataclass(kw_only=True)
class ApplicationForecast:
    """Where a traced application's time goes on a system, and how much memory it needs there."""
    elapsed_s: float
    """Elapsed time from start to end, in seconds."""
    parts: list[TimePart]
    """The parts of that time; they add up to `elapsed_s`."""
    read_hit_frac: float
    """Fraction of the read bytes that hit in the caches."""
    written_through_frac: float
    """Fraction of the written bytes that reach storage."""
    memory: Optional[MemoryForecast] = None
    """How throughput depends on memory. Absent if no cache of about the memory's size was found, if the
    memory size is unknown, or if the access bypasses the file cache."""
    read_hit_interval90: Optional[list[float]] = None
    """90 % interval of that fraction, from how much parts of the trace differ and how well the evaluation
    knows its cache sizes. Absent if the trace's file does not record how much its parts differ."""
    written_through_interval90: Optional[list[float]] = None
    """90 % interval of that fraction, from the same sources."""


@dataclass(kw_only=True)
class Behind:
    """A process that slow requests waited behind."""
    command: str
    """Its command; empty if not recorded."""
    ios: int
    """Slow requests that waited behind it."""
    process: int
    """Its process number."""


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
    """Whether everything beyond the border is still served from memory: then it is a border of the
    processor's caches, not of storage, and makes no region."""
    ratio: Optional[float] = None
    """Throughput just before the border over the throughput well beyond it."""
    slower: Optional[Slower] = None
    """How much slower the sets beyond the border were measured to be; absent if one of its sides was not
    measured."""


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
    """Index of dispersion for counts: window width in nanoseconds, variance over mean of the arrivals in a
    window; 1 is Poisson."""
    hurst: Optional[float] = None
    """Hurst exponent from the growth of the variance with the window; 0.5 means no long memory. Absent with
    too few windows."""
    inter_arrival_scv: Optional[float] = None
    """Squared coefficient of variation of the inter-arrival times; 1 is Poisson."""


@dataclass(kw_only=True)
class ByOperation:
    """How an application's reads and writes differ, and how long a process keeps to one of them."""
    change_frac: float
    """Fraction of requests of the other kind than the same process's previous request, 0 to 1. At 2
    `read_frac` (1 - `read_frac`) reads and writes are in random order; below that they come in runs."""
    read: OperationTraits
    """Its reads."""
    write: OperationTraits
    """Its writes."""


@dataclass(kw_only=True)
class CampaignCell:
    """One cell: its runs and the figures derived from them."""
    cpu_s: float
    """Median of the runs' CPU seconds."""
    samples: list[CampaignSample]
    """The runs, in order of the rounds."""
    throughput_bytes_per_s: float
    """Median of the runs' throughput."""
    cpu_ci95: Optional[list[float]] = None
    """95 % interval of that median, by the same rule."""
    cpu_ratio: Optional[float] = None
    """CPU seconds per byte, or per operation on names, over those of the row's first column with the same
    kind of work."""
    cpu_ratio_ci95: Optional[list[float]] = None
    """95 % interval of that ratio."""
    fsync_ns: Optional[ResponseTime] = None
    """The same for `fsync`."""
    impossible: Optional[str] = None
    """Why this cell cannot be measured."""
    operations_per_s: Optional[float] = None
    """Median of the runs' operations per second; absent if data was moved."""
    plan: Optional[CellPlan] = None
    """The complete plan of a run: cells of two campaigns do the same work if their plans are equal. Absent in
    results of versions up to 0.1."""
    rate_ci95: Optional[list[float]] = None
    """95 % interval of the median throughput, or of the operations per second.  From six runs on it is taken
    from their order statistics; with fewer it is Student's t on their logarithms, widened to include them
    all. Absent with fewer than two runs."""
    ratio: Optional[float] = None
    """Throughput over that of the row's first column with the same kind of work, from runs of the same
    round."""
    ratio_ci95: Optional[list[float]] = None
    """95 % interval of that ratio."""
    response_time_ns: Optional[ResponseTime] = None
    """Median over the runs, for each percentile of the response times."""


@dataclass(kw_only=True)
class CampaignColumn:
    """A column of the table, measured side by side with the others."""
    file_system: str
    """File system of the place; `block` for a device."""
    method: str
    """Name of the I/O method, such as `direct`."""
    path: str
    """Directory or device."""
    place: str
    """Name of the place, such as `xfs`."""
    made_by: Optional[str] = None
    """How the campaign made its file system; absent if it existed before."""
    mount_options: Optional[str] = None
    """Its mount options, as the kernel reports them."""


@dataclass(kw_only=True)
class CampaignReference:
    """Published numbers to compare with."""
    columns: list[str]
    """Headings of the columns, including those of the parameters."""
    rows: list[list[float]]
    """The rows as published."""
    source: str
    """The source of the numbers."""


@dataclass(kw_only=True)
class CampaignResult:
    """One measured table."""
    columns: list[CampaignColumn]
    """The columns."""
    name: str
    """Name of the campaign."""
    rounds: int
    """Number of rounds requested."""
    rows: list[CampaignRow]
    """The rows."""
    source: str
    """The publication that it follows."""
    title: str
    """Title of the table."""
    x: str
    """Parameter on the horizontal axis of its graphs."""
    clients: Optional[int] = None
    """Number of clients that did every run together, each on its own files; absent with one client."""
    reference: Optional[CampaignReference] = None
    """The published numbers."""
    sentences: Optional[list[str]] = None
    """The findings in words, each with its evidence."""


@dataclass(kw_only=True)
class CampaignRow:
    """One row: its parameters and one cell per column."""
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
    """System and user CPU seconds."""
    elapsed_s: float
    """Duration in seconds."""
    throughput_bytes_per_s: float
    """Throughput in bytes per second."""
    fairness: Optional[float] = None
    """Jain's index of the clients' rates, from 1 over their number to 1; absent with one client."""
    fragments: Optional[int] = None
    """Number of fragments of all files read or written (`FIEMAP`); absent if not recorded."""
    fsync_ns: Optional[ResponseTime] = None
    """Times of the `fsync` after each stream's last write, which do not count as requests."""
    operations: Optional[int] = None
    """Number of operations on names; absent if data was moved."""
    response_time_ns: Optional[ResponseTime] = None
    """Response times of its requests."""


@dataclass(kw_only=True)
class CampaignSetting:
    """One parameter of a row with its value."""
    name: str
    """Name, such as `iosize`."""
    text: str
    """Value as written, such as `64k`."""
    value: float
    """Value as a number; sizes are in bytes."""


@dataclass(kw_only=True)
class CellPlan:
    """Plan of one cell, independent of its place."""
    age_piece: int
    """Size of the pieces of aged files, in bytes."""
    file_bytes: int
    """Size of each file, in bytes."""
    files: int
    """Users, one file each."""
    files_written: int
    """Number of files that exist beforehand."""
    job: VxJob
    """The run."""
    prepare: Literal['written', 'fresh', 'aged']
    """How they are created."""
    raw: bool
    """Whether the cell runs on a raw device."""
    fill: Optional[Fill] = None
    """What the file system holds beforehand, if the campaign made it."""
    names: Optional[NameJob] = None
    """The operations on names, if it does those instead of the run's I/O."""


@dataclass(kw_only=True)
class Characterization:
    """An application, characterized by the calls it made."""
    calls_traced: int
    """Number of calls that stopped for the recorder."""
    command: list[str]
    """The command, word by word."""
    elapsed_s: float
    """Elapsed time from its start to the end of its last process, including tracing."""
    files: list[FileTraits]
    """The files, in descending order of bytes."""
    files_left_out: int
    """Number of files not listed."""
    overall: Traits
    """All counted files and processes together."""
    processes: list[ProcessTraits]
    """The processes and threads, in descending order of bytes."""
    processes_left_out: int
    """Number of processes not listed."""
    throughput_bytes_per_s: float
    """Bytes moved over `elapsed_s`."""
    tracing: TracingCost
    """Overhead of tracing in the times."""
    below: Optional[str] = None
    """The folder or file to which counting was restricted."""
    elsewhere: Optional[dict[str, int]] = None
    """Calls that read or wrote anything other than regular files and block devices, by kind, and copies that
    moved nothing because their files share the blocks now (`clone`)."""
    ending: Any = None
    """How it ended; absent if it was interrupted before."""
    mapped_unseen_bytes: Optional[int] = None
    """Bytes of mapped files that may have been used where no fault on them was seen, so that nothing read
    there is counted: the pages that processes had of them at their ends, and all that was unmapped before,
    without the first 4 MiB of each process, which are of what programs map as they start; absent if there
    were none, and in older results."""
    memory_limit_bytes: Optional[int] = None
    """Memory limit of the control group it ran in."""
    pattern: Optional[AccessPattern] = None
    """The requests by kind and size, and their hits in a cache of any size; absent in older results."""
    phases: Optional[list[Phase]] = None
    """Its phases, in order; absent in older results."""
    unplaced_faults: Optional[int] = None
    """Faults on mapped files at places that are not known, so that what was read there is not counted,
    without the first 64 of each process, which are of what programs map as they start; absent if there were
    none, and in older results."""


@dataclass(kw_only=True)
class Cheapest:
    """The cheapest of several systems that are fast enough for one workload."""
    at_least_bytes_per_s: float
    """Required throughput, in bytes per second."""
    workload: Workload
    """The workload."""
    choice: Optional[Choice] = None
    """The chosen system, its price and its predicted throughput; absent if none reaches the requirement."""
    name: Optional[str] = None
    """Name of the workload in its set; absent for a workload given by its parameters."""
    rivals: Optional[list[str]] = None
    """Systems that would be chosen instead if they reach the requirement, which cannot be told: those that
    cost less, or all if none is predicted to reach it. Absent in older results, which did not look for
    them."""


@dataclass(kw_only=True)
class Check:
    """One ability of the machine, tested or read from the kernel."""
    found: str
    """The observation."""
    name: str
    """The ability checked, such as `io_uring`."""
    needed_for: str
    """The features of ioscape that need it."""
    state: Literal['works', 'limited', 'missing']
    """The result."""
    advice: Optional[str] = None
    """What to do if it does not work."""
    required: Optional[bool] = None
    """Whether nothing can be measured without it."""


@dataclass(kw_only=True)
class Choice:
    """A system that was chosen for its price."""
    price: float
    """Its price, in the common currency of all prices."""
    sure: bool
    """Whether it is certainly the cheapest: the low end of its 99 % interval (90 % in older results) reaches
    the requirement, the prediction is not extrapolated, and it has no rivals. In older results without
    `rivals`, only the first of these."""
    system: str
    """The system."""
    throughput_bytes_per_s: float
    """Its predicted throughput, in bytes per second."""
    extrapolated: Optional[bool] = None
    """Whether its prediction is extrapolated, so that its interval is a guess; false in older results."""


@dataclass(kw_only=True)
class Client:
    """One client's part in a measurement."""
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
    """Whether its whole confidence interval lies below 80 % of the median client's throughput."""


@dataclass(kw_only=True)
class Clients:
    """How evenly the clients of a measurement were served, and how well they ran together."""
    clock_error_ns: int
    """Possible error of the clocks' offsets from one another, in nanoseconds: half the shortest round
    trip."""
    coordination_s: float
    """Seconds spent on agreeing on start times, apart from the clients' own preparation."""
    each: list[Client]
    """Each client, by number."""
    fairness: float
    """Jain's index of the throughputs: 1 if all are equal, 1 over the number of clients if one gets
    everything."""
    spread: list[float]
    """Least and greatest throughput of a client over the mean."""
    start_skew_ns: int
    """Longest time from the first to the last client's start of a measured part, in nanoseconds of one
    clock."""
    windows: int
    """Number of agreed starts: the measured part may consist of several windows."""


@dataclass(kw_only=True)
class Clock:
    """The clock that timed the result, as measured at the start."""
    cost_ns: float
    """Time that one reading takes."""
    precision_ns: float
    """Smallest non-zero step between two readings."""


@dataclass(kw_only=True)
class Comparison:
    """One workload on two systems (self-scaling paper, figure 17)."""
    extrapolated: bool
    """Whether one of the predictions is extrapolated: the interval is then a guess and gives no verdict."""
    interval90: list[float]
    """Range that holds the measured ratio nine times out of ten: low and high."""
    ratio: float
    """Throughput of the first over that of the second."""
    significant: bool
    """Whether the 99 % range of the ratio, half as wide again as the interval, excludes 1."""
    systems: list[str]
    """The two systems; the ratio is the first one's throughput over the second one's."""
    throughput_bytes_per_s: list[float]
    """Predicted throughput of each, in bytes per second."""
    workload: Workload
    """The workload."""
    name: Optional[str] = None
    """Name of the workload in its set; absent for a workload given by its parameters."""
    throughput_per_price: Optional[list[float]] = None
    """Bytes per second per unit of money, for each system; absent without prices."""
    verdict: Optional[Literal['slower', 'faster', 'no_difference', 'cannot_be_told', 'not_asked']] = None
    """Verdict on the first system against the second; absent in older results."""


@dataclass(kw_only=True)
class ConditionResult:
    """Whether a required condition held."""
    fail_if: str
    """The failure condition as given: `throughput < 0.95`."""
    met_by: list[int]
    """Rows that meet the failure condition, and not by chance, by number from 0."""
    lost: Optional[list[str]] = None
    """Names of rows that have a figure in the other system but were measured here without one. If the
    condition is about being slower, these rows fail it too."""


@dataclass(kw_only=True)
class Contamination:
    """How much other load disturbed a measurement."""
    clean_frac: Optional[float] = None
    """Fraction of batches in which no other program used the processor; absent if the kernel does not report
    it."""
    other_cpus: Optional[float] = None
    """Number of processors that other programs kept busy besides those used by the case: the median over
    processes. Absent if the kernel does not report it."""
    run_delay_frac: Optional[float] = None
    """Time that other programs used the processor, over the measured time; on some kernels it includes the
    hypervisor's. Absent if the kernel does not report it."""
    slowed_frac: Optional[float] = None
    """Fraction of processes during which the processor computed below full speed."""
    steal_frac: Optional[float] = None
    """Fraction of all processors' time that the hypervisor took meanwhile."""
    throttled_frac: Optional[float] = None
    """Fraction of the time that a quota kept the control group off the processors; above 1 only in older
    results."""


@dataclass(kw_only=True)
class CoursePhase:
    """A part of a course with a constant rate."""
    bytes_per_s: Bounded
    """Mean rate in bytes per second with its 95 % interval, without disturbed parts."""
    from_s: float
    """Beginning, in seconds from the start of the course."""
    until_s: float
    """End, in seconds from the start of the course."""


@dataclass(kw_only=True)
class Device:
    """A device of a trace."""
    name: str
    """Name as the source gives it: `vda`, `disk 0`, `usr_0`."""
    capacity_bytes: Optional[int] = None
    """Capacity in bytes, when recorded."""
    partitions: Optional[list[Partition]] = None
    """Partitions named by the source."""
    sector_bytes: Optional[int] = None
    """Size of a sector in bytes, 0 when not recorded."""


@dataclass(kw_only=True)
class DeviceAgreement:
    """How closely the simulated physical times of one device match the recorded ones."""
    demerit: float
    """Root mean square distance between the distributions as a fraction of the measured mean."""
    device: str
    """The device."""
    paired_requests: int
    """Number of requests that were each predicted from the recorded state of the disk."""
    paired_within_1ms: float
    """Fraction of these predictions within a millisecond."""
    requests: int
    """Requests compared."""


@dataclass(kw_only=True)
class Direction:
    """The reads alone or the writes alone of a run."""
    bytes: int
    """Bytes moved by these requests."""
    ios: int
    """Completed requests."""
    response_time_ns: ResponseTime
    """Response times of these requests."""
    throughput_bytes_per_s: float
    """Bytes per second of the whole elapsed time."""


@dataclass(kw_only=True)
class DiskSummary:
    """One disk."""
    daily_queue_mean: list[float]
    """Mean queue length by day, from the first day; absent on days without requests (Figure 3)."""
    device: int
    """Index of the device."""
    load: Load
    """Requests and bytes."""
    name: str
    """Name of the device."""
    distances: Optional[Distances] = None
    """Start of a request relative to the end of the previous one (Figure 9)."""
    idle_frac: Optional[float] = None
    """Fraction of arrivals that found the disk idle: a queue of 1."""
    idle_ns: Optional[Distribution] = None
    """Idle periods, in nanoseconds."""
    idle_time_frac: Optional[float] = None
    """Fraction of the time from the first arrival to the last completion with no request in the queue or at
    the disk; absent with a single request."""
    in_flight_mean: Optional[float] = None
    """Mean number of requests in the queue and at the disk while there are any."""
    queue_agreement: Optional[QueueAgreement] = None
    """Requests whose recorded queue length equals the recomputed one; absent if none is recorded."""
    queue_length: Optional[Distribution] = None
    """Queue length at an arrival, itself included, recomputed from the times (Table 5, Figure 2). Absent,
    like all figures of queues and idle times, if the trace does not record completions."""
    queue_mean_read: Optional[float] = None
    """Mean queue length seen by reads; absent without reads."""
    queue_mean_write: Optional[float] = None
    """Mean queue length seen by writes; absent without writes."""
    rewrite_frac: Optional[float] = None
    """Fraction of writes that cover the same bytes as the previous write."""
    sequential: Optional[Sequential] = None
    """Sequential requests (Table 7)."""
    write_bursts: Optional[Runs] = None
    """Runs of writes that follow one another within 30 ms (Figure 10); absent if arrivals are in steps of
    more than 3 ms."""
    write_groups: Optional[Runs] = None
    """Runs of writes without a read in between (Figure 10); absent without writes."""


@dataclass(kw_only=True)
class Distances:
    """Signed distances from the end of one request to the beginning of the next, in bytes."""
    bins: list[list[Any]]
    """Distances by sign and logarithm, in order: upper bound in bytes (lower bound for negative ones),
    count."""
    count: int
    """Number of distances."""
    peaks: list[list[Any]]
    """The most frequent whole-KiB distances within 256 KiB, in KiB, with their counts, largest peak first."""


@dataclass(kw_only=True)
class Distribution:
    """The distribution of some values. The name of the field that holds it includes the unit.  Each quantile
    is the upper bound of its bin, so it errs upwards by at most the width of a bin. Mean, minimum and maximum
    are exact. All numbers are 0 if `count` is."""
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
    """Non-empty bins, in order: largest value in the bin, number of values."""


@dataclass(kw_only=True)
class DistributionChange:
    """How a distribution changed."""
    ci95: list[float]
    """95 % interval of the distance."""
    distance: float
    """The Kolmogorov-Smirnov distance: the largest difference between the fractions of requests at or below a
    value, evaluated at the quantiles 0.1, 0.25, 0.5, 0.75 and 0.9 of each trace. For a fraction, the
    difference."""
    name: Literal['reads', 'sequential', 'read_bytes', 'write_bytes', 'read_elapsed_ns', 'write_elapsed_ns', 'inter_arrival_ns', 'distance_bytes', 'queue_length']
    """The distribution; its name includes the unit."""
    shares: list[float]
    """The fractions there, for the first and the second trace."""
    verdict: Literal['changed', 'alike', 'cannot_be_told']
    """The verdict, with chance ruled out over all comparisons together."""
    at: Optional[float] = None
    """The value at which the distributions differ most; absent for a fraction."""


@dataclass(kw_only=True)
class Doctor:
    """All checks of a machine and a directory."""
    checks: list[Check]
    """The checks, beginning with those of the directory."""
    directory: str
    """The directory tested."""


@dataclass(kw_only=True)
class Drift:
    """How the speed of a fixed reference workload moved during the evaluation."""
    largest: float
    """Largest relative distance of a throughput from the median."""
    median: float
    """Median of these throughputs."""
    remeasured: int
    """Number of points measured while the reference was off, and measured again."""
    throughputs: list[float]
    """Throughput of each re-measurement, in bytes per second, in time order, without those counted by
    `not_compared`: that of [`Measurement::undisturbed_bytes_per_s`] or, if that is unknown of most, the
    measured one."""
    not_compared: Optional[int] = None
    """Number of re-measurements left out because a hypervisor or other programs had an unknown part of their
    time, which is known for most others."""
    unresolved: Optional[int] = None
    """Number of points left in doubt because every round was disturbed or time ran out."""


@dataclass(kw_only=True)
class Environment:
    """What the result was measured on. Absent fields could not be determined."""
    cached_below: Optional[str] = None
    """Loop device below the file system that passes even direct I/O through the file cache, with its file,
    such as `loop0 on /image`; `none` if there is none."""
    clock: Optional[Clock] = None
    """The clock, as measured at start."""
    cpu_count: Optional[int] = None
    """Number of processors this process may run on."""
    cpu_model: Optional[str] = None
    """Processor model."""
    cpu_quota: Optional[float] = None
    """Processor time that a quota allows, in processors, if that is less."""
    device: Optional[str] = None
    """Block device below the file system, such as `vda`."""
    device_firmware: Optional[str] = None
    """Firmware of the device."""
    device_link: Optional[str] = None
    """Link speed of the device, such as `16.0 GT/s PCIe x4` or `6.0 Gbps`; `USB` if it is on a USB bus."""
    device_model: Optional[str] = None
    """Vendor and model of the device, as the device reports them."""
    file_system: Optional[str] = None
    """Type of the file system, such as `ext4`."""
    file_system_bytes: Optional[int] = None
    """Size of the file system."""
    free_bytes: Optional[int] = None
    """Free space before the run."""
    harness_overhead_ns_per_io: Optional[float] = None
    """Cost of generating and timing one request without any I/O, from the null engine."""
    identity: Optional[dict[str, str]] = None
    """Machine, target and options by name, for work that can be continued: these must be the same when it is.
    Names of options begin with `--`."""
    io_limit: Optional[str] = None
    """What control groups let this process read from and write to the devices, such as `sda: reads up to 20
    MB/s`; `none` if they do not limit it."""
    kernel: Optional[str] = None
    """Kernel name and release."""
    load_before: Optional[float] = None
    """Load average over one minute before the run."""
    memory_bytes: Optional[int] = None
    """Memory of the machine that this program and its file cache can have: without what is reserved as huge
    pages, and of the nodes that it may use."""
    memory_limit_bytes: Optional[int] = None
    """Memory limit the workers ran under, from `--memory` or an enclosing control group."""
    mitigations: Optional[str] = None
    """Kernel command-line parameters about mitigations of processor vulnerabilities, such as
    `mitigations=off`."""
    mount_options: Optional[str] = None
    """Mount options of the file system."""
    other_places: Optional[list[OtherPlace]] = None
    """Further file systems and devices that were used, in the order named; the fields above describe the
    first."""
    page_bytes: Optional[int] = None
    """Size of the kernel's pages, in which its file cache holds files; absent in older results."""
    read_ahead_bytes: Optional[int] = None
    """Read-ahead of the device, in bytes."""
    rotational: Optional[bool] = None
    """Whether the device reports that it rotates."""
    scheduler: Optional[str] = None
    """I/O scheduler of the device."""
    virtualization: Optional[str] = None
    """Hypervisor or container, such as `kvm`; `none` on bare metal, `unknown` where a hypervisor's absence
    cannot be told."""
    vm_dirty: Optional[dict[str, int]] = None
    """The kernel's dirty-page settings (`/proc/sys/vm/dirty_*`), as they stand."""


@dataclass(kw_only=True)
class ErrorBin:
    """The median error of the workloads whose parameter lies in one range (figure 13)."""
    median_error: float
    """Their median error."""
    range: list[float]
    """Lower and upper end of the parameter's range, in its own unit."""
    workloads: int
    """Number of workloads in the range."""


@dataclass(kw_only=True)
class ErrorFigures:
    """Errors of a model on workloads it had not seen. An error is |predicted - measured| / measured."""
    median_error: float
    """Median over all workloads."""
    p75_error: float
    """75th percentile."""
    p90_error: float
    """90th percentile."""
    enhanced_median_error: Optional[float] = None
    """Median without the workloads near a border between regions (figures 15 and 24); absent if none are
    left."""
    interval90_coverage: Optional[float] = None
    """Fraction of the individual measurements that fall into the 90 % interval; absent for a model without
    intervals."""


@dataclass(kw_only=True)
class Evaluation:
    """A self-scaling evaluation, complete or partial."""
    borders: list[Border]
    """The borders between levels of the hierarchy."""
    elapsed_s: float
    """Wall time of all probes and of deciding on them, in seconds."""
    findings: Findings
    """The findings."""
    points_measured: int
    """Number of distinct points measured, not counting repetitions and references."""
    regions: list[Region]
    """The plateaus, in order of `unique_bytes`."""
    target: str
    """The evaluated target, as the user named it."""
    unique_bytes_curve: list[Point]
    """Throughput against `unique_bytes` with the focal mix."""
    all_parameters: Optional[AllParameters] = None
    """The first attempt of section 7, if requested."""
    by_page: Optional[bool] = None
    """Whether sets came into the file cache page by page; absent if unknown, as up to version 0.1."""
    drift: Optional[Drift] = None
    """How steady the machine was."""
    extra: Optional[list[Point]] = None
    """Workloads off all curves, measured where predictions were least certain; `value` is their
    `unique_bytes`."""
    level_counts: Optional[list[LevelCount]] = None
    """Probability of each number of regions, the most probable first; empty if not requested."""
    other_accesses: Optional[list[Evaluation]] = None
    """Evaluations of the same target with further access modes, or under a memory limit that its sets
    outgrow. Each has one mode and no further evaluations inside."""
    precondition: Optional[Literal['empty', 'full', 'steady-state']] = None
    """What the simulated solid-state drive held at first, if requested."""
    probes: Optional[list[Probe]] = None
    """Every probe in order."""
    refused_sets: Optional[list[RefusedSet]] = None
    """The sets that did not fit, in the order requested."""
    settings: Optional[Settings] = None
    """The settings of the evaluation."""
    shortened: Optional[dict[str, str]] = None
    """Phases that were skipped or shortened, each with its reason."""
    unique_bytes_range: Optional[list[float]] = None
    """Smallest and largest `unique_bytes` allowed."""
    unique_bytes_read_curve: Optional[list[Point]] = None
    """The same with random pure reads, without read-ahead: the search for the read cache."""
    unique_bytes_slope: Optional[list[SlopePoint]] = None
    """Slope of the focal-mix curve."""
    unique_bytes_write_curve: Optional[list[Point]] = None
    """The same with random pure writes: the search for the write cache."""


@dataclass(kw_only=True)
class FigureChange:
    """How a figure changed."""
    ci95: list[float]
    """95 % interval of the ratio."""
    name: Literal['requests_per_s', 'read_bytes_per_s', 'write_bytes_per_s', 'read_bytes_mean', 'write_bytes_mean', 'read_elapsed_ns_mean', 'write_elapsed_ns_mean', 'queue_length_mean']
    """The figure; its name includes the unit."""
    ratio: float
    """The second trace's value over the first's."""
    values: list[float]
    """Values for the first and the second trace."""
    verdict: Literal['changed', 'alike', 'cannot_be_told']
    """The verdict, with chance ruled out over all comparisons together."""


@dataclass(kw_only=True)
class FileTraits:
    """One file of an application."""
    access: Literal['buffered', 'direct', 'dsync']
    """The access mode, as far as the open flags show it."""
    active_s: float
    """Seconds in which at least one process was doing I/O."""
    bytes: int
    """Bytes moved."""
    goodness: float
    """1 minus the largest of the three distances below: at 1 the requests follow the model exactly, at 0 not
    at all."""
    kind: Literal['regular', 'block_device', 'others']
    """Regular file or block device."""
    mapped_bytes: int
    """Bytes mapped into memory; loads and stores there are not seen."""
    mix_distance: float
    """Distance of the fraction of read/write changes between successive requests from the model's 2 r (1 -
    r)."""
    opens: int
    """Number of opens."""
    path: str
    """Path at first use, followed by ` (deleted)` if it no longer had a name."""
    process_num: int
    """Mean number of processes that are doing I/O at the same time, rounded, at least 1."""
    read_bytes_frac: float
    """Fraction of bytes that are read. If it is far from `read_frac`, reads and writes differ in size."""
    read_frac: float
    """Fraction of requests that are reads."""
    requests: int
    """Number of requests: calls that moved bytes."""
    response_time_ns: float
    """Mean response time, without tracing overhead and waits for a processor."""
    run_distance: float
    """The same for the lengths of sequential runs, which the model takes as geometric."""
    seq_frac: float
    """Fraction of requests that start where the same process's previous request to the same file ended."""
    size_distance: float
    """Largest difference between the cumulative distributions of the observed sizes and of
    `size_distribution`."""
    size_distribution: Literal['normal', 'bernoulli', 'exponential', 'fixed']
    """The size distribution nearest to the observed sizes."""
    size_mean: int
    """Mean number of bytes per call."""
    strict_seq_frac: float
    """Fraction of requests that start where the same process's previous request to any file ended."""
    sync_time_ns: float
    """Mean time of a sync, corrected likewise."""
    syncs: int
    """Calls that waited for storage: `fsync`, `fdatasync`, a waiting `sync_file_range`; and, counted for no
    file, `msync` with `MS_SYNC`, `sync`, `syncfs` and `fsync` of a directory."""
    think_time_ns: int
    """Mean think time of a process between two requests."""
    unique_bytes: int
    """Distinct bytes read or written, in whole pages of the file cache (of 4 KiB in older results)."""
    align_bytes: Optional[int] = None
    """Alignment in bytes, if all requests have the same size, `size_mean`, that is not a multiple of the
    usual alignment; otherwise and in older results absent."""
    change_frac: Optional[float] = None
    """Fraction of requests of the other kind (read or write) than the same process's previous request; absent
    in older results."""


@dataclass(kw_only=True)
class Fill:
    """Contents of a file system before the files of a cell are laid out in it."""
    percent: int
    """Used fraction of its space, in percent: from 0 to [`Fill::PERCENT_MAX`]."""
    turnover: int
    """How often half of the files that fill it, chosen at random, were removed and replaced until it was as
    full again."""


@dataclass(kw_only=True)
class Findings:
    """What the papers' authors read off the graphs, as numbers and sentences."""
    concurrency_gain: Optional[list[RegionFinding]] = None
    """Best throughput with several processes over that with one."""
    flush_slowdown: Optional[Bounded] = None
    """Undisturbed over mean write throughput in the cache: 1 if flushing costs nothing."""
    no_border_of: Optional[list[Literal['read', 'write', 'mixed']]] = None
    """Reads, writes or both, if no measured set outgrows a cache for them; absent if that cannot be told."""
    queue_depth_for_90_percent: Optional[list[RegionFinding]] = None
    """Smallest queue depth with 90 % of the best throughput; only with asynchronous requests."""
    queue_depth_gain: Optional[list[RegionFinding]] = None
    """Best throughput with a deeper queue over throughput with one request at a time; only with asynchronous
    requests."""
    read_cache_bytes: Optional[Bounded] = None
    """Effective file-cache size for reads, in bytes: the first border of pure reads; absent if the file cache
    takes no part."""
    sentences: Optional[list[str]] = None
    """The findings in words, each with its evidence."""
    sequential_gain: Optional[list[RegionFinding]] = None
    """Throughput of purely sequential over purely random requests."""
    single_writer: Optional[list[WriterScaling]] = None
    """Whether concurrent writers to one file wait for one another, both through the file cache and past it;
    empty if not measured."""
    size_for_75_percent_bytes: Optional[list[RegionFinding]] = None
    """Smallest request size that gives 75 % of the best throughput, in bytes."""
    write_cache_bytes: Optional[Bounded] = None
    """The same for writes: the first border of pure writes."""
    write_policy: Optional[Literal['write-through', 'write-cancelling', 'mixed', 'not-cached']] = None
    """Write policy; absent if it could not be determined."""
    write_to_read_ratio: Optional[list[RegionFinding]] = None
    """Throughput of pure writes over pure reads."""


@dataclass(kw_only=True)
class FocalRange:
    """The range of one parameter in which the system performs well (self-scaling paper, section 7)."""
    curve: list[Point]
    """The curve with all other parameters at their focal points."""
    focal: float
    """The 75 % performance point: the least restrictive value that gives at least 75 % of the best
    throughput."""
    parameter: Literal['unique_bytes', 'size_mean', 'read_frac', 'seq_frac', 'process_num', 'queue_depth']
    """The parameter."""
    performs_well: list[float]
    """Lowest and highest value with at least 75 % of the best throughput."""


@dataclass(kw_only=True)
class HeatMap:
    """Counts over time and a second, logarithmic axis."""
    cells: list[list[Any]]
    """Non-zero counts: column, row, count."""
    rows_to: list[float]
    """Upper bounds of the rows."""
    start_ns: int
    """Beginning of the first column."""
    step_ns: int
    """Width of a column."""


@dataclass(kw_only=True)
class HostCacheAbsorption:
    """What a non-volatile cache at the host absorbs, by cache size. The cache is emptied at the end of every
    interval. This is an exact simulation of caches that fill in the order of first writes. The summary of a
    trace asks how much an interval writes ([`Absorption`](crate::trace_summary::Absorption)); its fractions
    are lower bounds of these."""
    interval_s: float
    """Length of an interval."""
    intervals: int
    """Intervals with such writes."""
    points: list[HostCachePoint]
    """One point per cache size."""
    writes: str
    """The writes considered: `all`, `metadata` or `user_data`."""


@dataclass(kw_only=True)
class HostCachePoint:
    """Results for one size of a write cache at the host."""
    cache_bytes: int
    """Size of the cache."""
    intervals: float
    """Fraction of the intervals with writes in which the cache absorbs all of them (figure 17 of Ruemmler &
    Wilkes 1993)."""
    overwrites: float
    """Fraction of the written bytes that overwrite bytes in the cache (figure 18, overwrites)."""
    total: float
    """Fraction of the written bytes that the cache absorbs (figure 18, total)."""


@dataclass(kw_only=True)
class LevelCount:
    """One possible number of regions and its probability."""
    probability: float
    """Probability, 0 to 1, given everything that was measured."""
    regions: int
    """Number of regions on the axis of the set size, 1 or more."""
    read_borders: Optional[list[float]] = None
    """Most probable ends of the levels for reads, given this number; in bytes, ascending."""
    write_borders: Optional[list[float]] = None
    """The same for writes."""


@dataclass(kw_only=True)
class Load:
    """Requests and bytes of one kind."""
    ios: int
    """Number of requests."""
    bytes: Optional[int] = None
    """Bytes moved, if the trace does not record operations; otherwise absent: then they are the sum of the
    two below."""
    read_bytes: Optional[int] = None
    """Bytes read."""
    reads: Optional[int] = None
    """Number of reads. Absent, like the bytes read and written, if the trace does not record operations (a
    warning of kind `operations_unknown` says so)."""
    write_bytes: Optional[int] = None
    """Bytes written; a discard moves none."""


@dataclass(kw_only=True)
class LoneRow:
    """A row that only one document has."""
    name: str
    """Name of the row."""
    system: str
    """The system that has it."""
    why: Optional[str] = None
    """Why the other system lacks it, if its document says so; otherwise empty."""


@dataclass(kw_only=True)
class MabProof:
    """Proof that the Modified Andrew Benchmark did all its work."""
    bytes: int
    """Bytes of the source tree."""
    compiler: str
    """The compiler: `built in`, or the command given."""
    compiles: int
    """Number of source files compiled."""
    files: int
    """Number of files in the source tree."""
    object_hash: str
    """Hash of all objects, archives and the linked program."""
    whole: bool
    """Whether the hash is the known one, so that no work was skipped."""
    processes_end_in: Optional[str] = None
    """The program that every process of the run executed after its step. Absent if each step started
    `ioscape` itself, as up to version 0.1, which took most of the time."""


@dataclass(kw_only=True)
class MeasuredComparison:
    """Two documents of one kind, row by row."""
    environments: list[Environment]
    """Their machines, in the same order."""
    kind: str
    """Outcome key of the documents, such as `campaign`; `ab` for the arms of one document."""
    margin: float
    """The margin of equality: ratios from `1 / (1 + margin)` to `1 + margin` count as no difference."""
    only_in: list[int]
    """Number of rows that only the second, and only the first system has."""
    rows: list[MeasuredRow]
    """Every shared row."""
    systems: list[str]
    """The second system and the first; ratios are the second's figures over the first's."""
    condition: Optional[ConditionResult] = None
    """Whether the condition held; absent without one."""
    differences: Optional[list[str]] = None
    """Known differences between the two systems that affect the rows, one sentence each."""
    lone: Optional[list[LoneRow]] = None
    """Those rows, the second's first."""


@dataclass(kw_only=True)
class MeasuredRow:
    """One row present in both documents."""
    basis: Literal['same_measurement', 'rounds', 'single_run', 'interleaved']
    """What the interval is based on."""
    ci95: list[float]
    """95 % interval of the ratio: low and high."""
    metric: Literal['throughput', 'rate', 'time']
    """The metric of `values`."""
    ratio: float
    """The second system's figure over the first's. If `basis` is `interleaved` it is the geometric mean of
    the pairs' ratios, which may differ from the quotient of `values`."""
    rounds: list[int]
    """Number of rounds or processes behind each figure."""
    values: list[float]
    """The second system's figure and the first system's; with several runs, their medians."""
    verdict: Literal['slower', 'faster', 'no_difference', 'cannot_be_told', 'not_asked']
    """The verdict on the second system; chance is ruled out over all rows together."""
    name: Optional[str] = None
    """Name of the row; absent for a workload given only by its parameters."""
    samples: Optional[list[list[float]]] = None
    """Every round of the second and of the first system, in order; absent if the documents hold them."""
    workload: Optional[Workload] = None
    """The workload; absent if the rows are not workloads."""


@dataclass(kw_only=True)
class Measurement:
    """One measured workload: its volume, speed, certainty and cost."""
    bytes: int
    """Bytes moved in the measured part."""
    cpu_ns_per_io: float
    """User and system CPU nanoseconds per request."""
    cpu_system_s: float
    """System CPU seconds of the same threads."""
    cpu_user_s: float
    """User CPU seconds of all threads of all workers, kernel helper threads included."""
    elapsed_s: float
    """Length of the measured part, in seconds."""
    io_time_frac: float
    """Fraction of the elapsed time spent in I/O: one minus the harness's own part."""
    ios: int
    """Completed requests in the measured part."""
    response_time_ns: ResponseTime
    """Response times of all requests."""
    stop: Literal['confident', 'phases_over', 'time_cap', 'interrupted']
    """Why the run ended."""
    throughput_bytes_per_s: float
    """Throughput in bytes per second, all processes together."""
    throughput_ci95: list[float]
    """95 % confidence interval of the throughput from batch means: low and high, in bytes per second. Where
    processes were stopped or had to wait for processors, it may reach up to the throughput of the remaining
    time."""
    workload: Workload
    """The workload that was run."""
    burst_ratio: Optional[float] = None
    """Throughput of the busiest tenth of the run's time slices over the mean. It is large if the run stalled,
    but also above 1 by chance if a slice has few requests (with two, about 2)."""
    clients: Optional[Clients] = None
    """The clients, if several ran the workload at the same time. Each had its own set, and all other figures
    here are their sums. Only response-time quantiles are those of the client with the longest."""
    cost_s: Optional[float] = None
    """Total wall time of the point in seconds: layout, flush, cache fill, warm-up and measurement."""
    deciding_s: Optional[float] = None
    """Seconds from the end of the previous point of an evaluation to the beginning of this one, for judging,
    saving and choosing this point; absent elsewhere and in older results."""
    disturbed: Optional[bool] = None
    """Whether other load, stolen time or drift disturbed the run."""
    fill_s: Optional[float] = None
    """Seconds spent on reading the set into the file cache before the warm-up; absent if nothing had to be
    read."""
    io_limited: Optional[bool] = None
    """Whether removing the I/O would shorten the run more than removing everything else (self-scaling paper,
    section 2)."""
    name: Optional[str] = None
    """Name of the job, if the user gave one."""
    not_read_in: Optional[bool] = None
    """Whether reading the whole set past the file cache before direct reads would have taken too long and was
    skipped or cut short. A device's own cache then holds what earlier runs left there."""
    other_cpu: Optional[float] = None
    """Average number of processors that other programs kept busy in user mode during the measured part."""
    read: Optional[Direction] = None
    """The reads; absent if none were issued."""
    resident_frac: Optional[float] = None
    """Fraction of the set in the file cache after the run; absent if unknown."""
    response_time_littles_law_ns: Optional[float] = None
    """Mean response time in nanoseconds by Little's law (requests in flight over request rate, less the think
    time): a cross-check. With pauses and a queue depth above 1 it is the time until the last request of a
    queue completes, the most that the mean can be."""
    stalled_s: Optional[float] = None
    """Seconds for which requests stalled, summed over all requests: the response times that are at least 50
    ms and 100 times the median. Absent without any, and in older results."""
    storage_read_bytes: Optional[int] = None
    """Bytes that the storage layer read for the workers; absent if the kernel does not count them."""
    sustained: Optional[Sustained] = None
    """The course of the run over time and what it shows, if requested."""
    verify: Optional[VerifyReport] = None
    """Result of verifying the data, if requested."""
    warm_up_s: Optional[float] = None
    """Seconds of warm-up before the measured part."""
    warnings: Optional[list[Warning]] = None
    """Warnings about this run."""
    witness: Optional[Witness] = None
    """What the kernel reports besides the throughput."""
    write: Optional[Direction] = None
    """The writes; absent if none were issued."""


@dataclass(kw_only=True)
class MemoryForecast:
    """An application's throughput as a function of the system's memory."""
    curve: list[list[Any]]
    """Points (bytes of memory including the file cache, throughput in bytes per second)."""
    for_90_percent_bytes: float
    """Smallest memory, in bytes, that gives 90 % of the throughput with unlimited memory. If the curve's
    first point is already enough, this is that point or less."""
    for_90_percent_interval90: Optional[list[float]] = None
    """90 % interval of that memory, in bytes, from the uncertainty of the hit ratios."""


@dataclass(kw_only=True)
class MissRatio:
    """Miss ratio of an LRU cache by its size. Reads and writes count alike, and every miss allocates."""
    curves: list[MissRatioCurve]
    """The curves: an exact one if the block table was small enough, and one sampled by block (SHARDS)."""


@dataclass(kw_only=True)
class MissRatioCurve:
    """One miss-ratio curve."""
    blocks: int
    """Distinct blocks sampled."""
    error: float
    """Mean absolute error of the miss ratio over all sizes; 0 for the exact curve. Without an exact curve it
    is a bound that holds for nine of ten traces: the mean half width of `interval90`."""
    one_in: int
    """One block in this many is sampled; 1 means exact."""
    points: list[list[Any]]
    """Points (cache size in bytes, miss ratio)."""
    interval90: Optional[list[list[float]]] = None
    """For each point of a sampled curve, the miss ratios between which the exact curve lies: the bounds hold
    for nine of ten traces at every point."""


@dataclass(kw_only=True)
class NameJob:
    """A run of operations on names."""
    entries: int
    """Number of files per thread."""
    operation: Literal['create', 'stat', 'rename', 'list', 'unlink']
    """The operation."""
    shared: bool
    """Whether all threads work in one directory."""
    threads: int
    """Number of concurrent threads."""
    tree_churn: int
    """How often half of those files, chosen at random, were removed and recreated."""
    tree_files: int
    """Total number of files in those directories beforehand."""


@dataclass(kw_only=True)
class OpTimes:
    """Times of reads, of writes, and of both."""
    all: Times
    """Both."""
    read: Optional[Times] = None
    """Reads; absent, like the writes, if the trace does not record operations."""
    write: Optional[Times] = None
    """Writes."""


@dataclass(kw_only=True)
class OperationTraits:
    """Requests of one kind."""
    seq_frac: float
    """Probability that a request starts where the same process's previous request of this kind ended, 0 to
    1."""
    sizes: list[list[Any]]
    """Sizes in bytes, each with its fraction of the requests."""


@dataclass(kw_only=True)
class OsBenchmark:
    """One case of one benchmark."""
    case: str
    """The case: `10 full`."""
    name: str
    """Name, as accepted by `--only`: `getpid`."""
    unit: Literal['ns', 'bytes/s', '1/s']
    """The unit of `value`."""
    ci95: Optional[list[float]] = None
    """95 % interval of the median over the processes that count.  From six processes on it uses order
    statistics, from three on Student's t on their logarithms; with fewer it is absent. If the processor was
    slow without a visible reason, it also includes the values at full speed."""
    contamination: Optional[Contamination] = None
    """How much other load disturbed it."""
    elapsed_s: Optional[float] = None
    """Seconds that all processes of the case took, including preparation."""
    mips_relative: Optional[float] = None
    """MIPS-relative speed, for the cases that have one in the paper."""
    not_measured: Optional[str] = None
    """Why there is no value."""
    place: Optional[Literal['local', 'remote']] = None
    """Where its files are; absent if it uses none."""
    processes: Optional[list[float]] = None
    """The number of every fresh process that counts."""
    rule: Optional[Literal['clean_quartile', 'quartile', 'mean', 'single']] = None
    """How the batches of a process are reduced to its number."""
    set_aside: Optional[list[float]] = None
    """The numbers of processes that do not count because they were disturbed: evidence, not results."""
    slower: Optional[list[float]] = None
    """Slowdown of a fixed computation during each of those processes, counted ones first: 1 means full speed,
    or that no computation was tried."""
    task_kind: Optional[Literal['processes', 'threads']] = None
    """The kind of those tasks."""
    tasks: Optional[int] = None
    """Number of tasks that do the operation concurrently; absent for a single process. `value` is their
    total."""
    teaches: Optional[str] = None
    """What the case teaches, in one sentence."""
    value: Optional[float] = None
    """The value; absent if it could not be measured, for the reason in `not_measured`."""
    warnings: Optional[list[Warning]] = None
    """Warnings about this case."""


@dataclass(kw_only=True)
class OsResults:
    """Results of `ioscape os`."""
    benchmarks: list[OsBenchmark]
    """Every case."""
    dhrystone_mips: Optional[float] = None
    """Integer rating by Dhrystone 2.1, VAX-11/780 = 1; absent if not measured."""
    elapsed_s: Optional[float] = None
    """Total time, in seconds."""
    geometric_mean_mips_relative: Optional[float] = None
    """Geometric mean of all MIPS-relative speeds without bcopy, the value of the paper's Figure 1."""
    geometric_mean_with_bcopy: Optional[float] = None
    """The same with bcopy."""
    in_geometric_mean: Optional[int] = None
    """Number of cases in the mean."""
    mab: Optional[MabProof] = None
    """Proof of work of the Modified Andrew Benchmark."""
    mips: Optional[float] = None
    """The rating used for MIPS-relative speeds: `--mips`, otherwise Dhrystone's."""
    mips_given: Optional[bool] = None
    """Whether `mips` was given by the user."""
    remote_penalty: Optional[float] = None
    """Extra time of the Modified Andrew Benchmark on a remote file system, over the local time."""
    system: Optional[OsSystem] = None
    """Properties of the system that affect the numbers."""


@dataclass(kw_only=True)
class OsSystem:
    """Properties of the system that affect these numbers, as found."""
    caches_bytes: Optional[list[int]] = None
    """Data caches from the first level on, in bytes."""
    pinned_cpu: Optional[int] = None
    """The processor that pinned benchmarks ran on."""
    second_cpu: Optional[int] = None
    """The second processor, for benchmarks that use two."""
    settings: Optional[dict[str, str]] = None
    """Settings by name: seccomp mode, frequency governor, clock source, transparent huge pages and the
    like."""
    vulnerabilities: Optional[dict[str, str]] = None
    """State of each known processor vulnerability and its mitigation."""


@dataclass(kw_only=True)
class OtherPlace:
    """A further file system or device that was used. Absent fields could not be determined."""
    path: str
    """The path as named: a directory, a file or a device."""
    device: Optional[str] = None
    """Block device below the file system, such as `vda`."""
    device_firmware: Optional[str] = None
    """Firmware of the device."""
    device_link: Optional[str] = None
    """Link speed of the device, such as `16.0 GT/s PCIe x4` or `6.0 Gbps`; `USB` if it is on a USB bus."""
    device_model: Optional[str] = None
    """Vendor and model of the device, as the device reports them."""
    file_system: Optional[str] = None
    """Type of the file system, such as `ext4`."""
    file_system_bytes: Optional[int] = None
    """Size of the file system."""
    free_bytes: Optional[int] = None
    """Free space before the run."""
    mount_options: Optional[str] = None
    """Mount options of the file system."""
    read_ahead_bytes: Optional[int] = None
    """Read-ahead of the device, in bytes."""
    rotational: Optional[bool] = None
    """Whether the device reports that it rotates."""
    scheduler: Optional[str] = None
    """I/O scheduler of the device."""


@dataclass(kw_only=True)
class Overwrites:
    """Overwrites of blocks (Figure 12).  A request of n bytes touches n / block blocks, rounded up, from the
    block in which it begins."""
    block_writes: int
    """Number of block writes."""
    count: Optional[int] = None
    """Block writes that overwrote a block written earlier in the trace; missing in older results."""
    delay_ns: Optional[Distribution] = None
    """Time from one write of a block to its next, in nanoseconds; absent if arrivals are in steps of more
    than 0.1 s."""
    within_1h: Optional[float] = None
    """Within an hour."""
    within_1s: Optional[float] = None
    """Fraction of overwrites within a second of the block's previous write.  Absent if arrivals are in steps
    of more than 0.1 s. Like the two below, also absent without overwrites, or if the trace is less than twice
    as long as the limit. An overwrite is seen only if both writes are in the trace: at a delay of half its
    length one in two is seen, and at its full length none."""
    within_30s: Optional[float] = None
    """Within 30 seconds."""


@dataclass(kw_only=True)
class Partition:
    """A partition of a device."""
    name: str
    """Name or mount point: `/usr`, `swap`."""
    number: int
    """Number, as in [`Io::partition`]."""


@dataclass(kw_only=True)
class PartitionShare:
    """One partition of one disk (Table 3)."""
    device: int
    """Index of the device."""
    disk: str
    """Name of the device."""
    ios: int
    """Number of requests."""
    name: str
    """Name of the partition; empty if the source does not name it."""
    partition: int
    """Number of the partition."""
    bytes: Optional[int] = None
    """Bytes moved, if the trace does not record operations; otherwise absent: then they are the sum of the
    two below."""
    read_bytes: Optional[int] = None
    """Bytes read."""
    reads: Optional[int] = None
    """Number of reads. Absent, like the bytes read and written, if the trace does not record operations (a
    warning of kind `operations_unknown` says so)."""
    write_bytes: Optional[int] = None
    """Bytes written; a discard moves none."""


@dataclass(kw_only=True)
class Phase:
    """A stretch of an application's life, measured in bytes moved."""
    bytes: int
    """Bytes that all processes together move in the phase, at least 1."""
    change_frac: float
    """Fraction of requests of the other kind (read or write) than the same process's previous request, 0 to
    1."""
    read_frac: float
    """Fraction of its requests that are reads, 0 to 1."""
    change_think_time_ns: Optional[int] = None
    """The same before a request of the other kind: a process works on what it read before it writes."""
    elapsed_s: Optional[float] = None
    """Duration in seconds, from its first request to the first of the next phase."""
    read: Optional[PhaseRequests] = None
    """The reads; absent if there are none."""
    think_time_ns: Optional[int] = None
    """Mean think time before a request of the same kind as the process's previous request."""
    write: Optional[PhaseRequests] = None
    """The writes; absent if there are none."""


@dataclass(kw_only=True)
class PhaseRequests:
    """The requests of one kind in a phase. The fraction left by `turn_frac` and `jump_frac` continues where
    the same process's previous request of this kind ended."""
    again_frac: float
    """Fraction of the jumps whose first page was used before (for writes: was written before), 0 to 1."""
    from_bytes: int
    """First byte of the part of the set that they access. The application's files lie in the set one after
    another, in order of first use."""
    jump_frac: float
    """Fraction that jumps to another place, 0 to 1."""
    runs: int
    """Number of sequential runs that each process has open at the same time and continues in turn, 1 to
    64."""
    sizes: list[list[Any]]
    """Sizes in bytes, each with its fraction of the requests."""
    span_bytes: int
    """Length of that part, at least 1."""
    turn_frac: float
    """Fraction that continues the run whose turn is next, 0 to 1."""
    advice: Optional[Literal['normal', 'random', 'sequential']] = None
    """The advice given to the kernel about most of them."""
    again: Optional[list[list[float]]] = None
    """How concentrated the reuse is: pairs (bytes, fraction of the reusing requests that fall into them),
    each including the one before. Empty: everything used is reused equally."""


@dataclass(kw_only=True)
class Point:
    """One point of a single-parameter curve."""
    measurement: Measurement
    """The measurement whose throughput is nearest to the median of the rounds."""
    value: float
    """Value of the varied parameter, in its own unit."""
    rounds: Optional[list[float]] = None
    """Throughput of every round that counts, in bytes per second, in order of measurement. For processes that
    computed, it is that of the time in which others did not keep them from the processors
    ([`Measurement::judged_bytes_per_s`])."""
    spread: Optional[float] = None
    """Spread of the rounds: half the difference between largest and smallest, over the median; absent with
    one round."""


@dataclass(kw_only=True)
class Popularity:
    """How writes spread over blocks, the most written blocks first (Figure 13)."""
    blocks_written: int
    """Distinct blocks written."""
    curve: list[list[Any]]
    """Points (n, fraction of the block writes that go to the n most written blocks)."""
    top_1_percent_written: float
    """Fraction that goes to the most written 1 % of the written blocks."""
    top_1_percent_capacity: Optional[float] = None
    """Fraction that goes to the most written 1 % of all blocks of the devices, if their capacity is known."""


@dataclass(kw_only=True)
class Prediction:
    """The predicted performance of one workload on one system (self-scaling paper, section 9)."""
    extrapolated: bool
    """Whether some parameter lies outside the measured range, other memory contradicts the evaluation, only a
    part of an application was seen, or more than a tenth of its time was spent in `fsync` on what may be
    other storage: the interval is then a guess."""
    interval90: list[float]
    """Range that holds nine of ten measurements of such a workload, low and high in bytes per second."""
    iops: float
    """Requests per second."""
    region: str
    """Name of the region that holds the workload's `unique_bytes` or, with other memory, a set served in the
    same way. After `group, `: a region of the evaluation in a small control group."""
    response_time_ns: float
    """Mean response time by Little's law: requests in flight over request rate."""
    throughput_bytes_per_s: float
    """Throughput in bytes per second, all processes together."""
    workload: Workload
    """The workload."""
    application: Optional[ApplicationForecast] = None
    """Further predictions for an application whose trace was given."""
    name: Optional[str] = None
    """Name of the workload in its set, such as `database`; absent for a workload given by its parameters."""
    system: Optional[str] = None
    """The system: the evaluation's target, or the name of the result file if there are several systems."""


@dataclass(kw_only=True)
class Probe:
    """One call of the probe, in order: the raw record from which an interrupted evaluation resumes."""
    measurement: Measurement
    """The result; its `workload` is the workload requested."""
    purpose: Any
    """The purpose of the call."""


@dataclass(kw_only=True)
class ProcessShare:
    """Load of one process or command."""
    command: str
    """Its command; empty if not recorded."""
    footprint_bytes: int
    """Distinct bytes touched, estimated to 3 %."""
    ios: int
    """Number of requests."""
    process: int
    """Process number."""
    bytes: Optional[int] = None
    """Bytes moved, if the trace does not record operations; otherwise absent: then they are the sum of the
    two below."""
    elapsed_mean_ns: Optional[float] = None
    """Mean elapsed time in nanoseconds."""
    read_bytes: Optional[int] = None
    """Bytes read."""
    reads: Optional[int] = None
    """Number of reads. Absent, like the bytes read and written, if the trace does not record operations (a
    warning of kind `operations_unknown` says so)."""
    write_bytes: Optional[int] = None
    """Bytes written; a discard moves none."""


@dataclass(kw_only=True)
class ProcessTraits:
    """One process or thread of an application."""
    access: Literal['buffered', 'direct', 'dsync']
    """The access mode, as far as the open flags show it."""
    active_s: float
    """Seconds in which at least one process was doing I/O."""
    bytes: int
    """Bytes moved."""
    command: str
    """The program's name, truncated to 15 bytes."""
    goodness: float
    """1 minus the largest of the three distances below: at 1 the requests follow the model exactly, at 0 not
    at all."""
    mix_distance: float
    """Distance of the fraction of read/write changes between successive requests from the model's 2 r (1 -
    r)."""
    pid: int
    """Process id as given by the system."""
    process_num: int
    """Mean number of processes that are doing I/O at the same time, rounded, at least 1."""
    read_bytes_frac: float
    """Fraction of bytes that are read. If it is far from `read_frac`, reads and writes differ in size."""
    read_frac: float
    """Fraction of requests that are reads."""
    requests: int
    """Number of requests: calls that moved bytes."""
    response_time_ns: float
    """Mean response time, without tracing overhead and waits for a processor."""
    run_distance: float
    """The same for the lengths of sequential runs, which the model takes as geometric."""
    seq_frac: float
    """Fraction of requests that start where the same process's previous request to the same file ended."""
    size_distance: float
    """Largest difference between the cumulative distributions of the observed sizes and of
    `size_distribution`."""
    size_distribution: Literal['normal', 'bernoulli', 'exponential', 'fixed']
    """The size distribution nearest to the observed sizes."""
    size_mean: int
    """Mean number of bytes per call."""
    strict_seq_frac: float
    """Fraction of requests that start where the same process's previous request to any file ended."""
    sync_time_ns: float
    """Mean time of a sync, corrected likewise."""
    syncs: int
    """Calls that waited for storage: `fsync`, `fdatasync`, a waiting `sync_file_range`; and, counted for no
    file, `msync` with `MS_SYNC`, `sync`, `syncfs` and `fsync` of a directory."""
    think_time_ns: int
    """Mean think time of a process between two requests."""
    tid: int
    """Thread id; equal to `pid` for the first thread."""
    unique_bytes: int
    """Distinct bytes read or written, in whole pages of the file cache (of 4 KiB in older results)."""
    align_bytes: Optional[int] = None
    """Alignment in bytes, if all requests have the same size, `size_mean`, that is not a multiple of the
    usual alignment; otherwise and in older results absent."""
    change_frac: Optional[float] = None
    """Fraction of requests of the other kind (read or write) than the same process's previous request; absent
    in older results."""


@dataclass(kw_only=True)
class QueueAgreement:
    """How often recorded and recomputed queue lengths agree."""
    equal: int
    """Requests for which it equals the recomputed one."""
    recorded: int
    """Requests with a recorded queue length."""


@dataclass(kw_only=True)
class RefusedSet:
    """A set that did not fit, so that the evaluation went on with smaller sets. A resumed evaluation skips
    it."""
    after_probes: int
    """Number of probes made before."""
    spent_s: float
    """Seconds of the budget spent on finding out; 0 if it was already known."""
    unique_bytes: int
    """Its size in bytes."""


@dataclass(kw_only=True)
class RefusedStep:
    """A step of a validation that was impossible on the target."""
    reason: str
    """Why it is not possible."""
    step: int
    """Its number, from 0."""


@dataclass(kw_only=True)
class Region:
    """A plateau of the `unique_bytes` curve: one level of the storage hierarchy."""
    curves: RegionCurves
    """The curves of the region."""
    focal: Workload
    """The focal vector: the workload whose other parameters stay fixed while one is varied."""
    name: str
    """Short name such as `region 1`, in order of `unique_bytes`."""
    unique_bytes: list[float]
    """Lower and upper end, in bytes."""


@dataclass(kw_only=True)
class RegionCurves:
    """The curves of the four other parameters in one region (self-scaling paper, figure 7), and of the queue
    depth."""
    client_num: Optional[list[Point]] = None
    """Total throughput of all clients against their number, each with its own set; if there were several."""
    process_num: Optional[list[Point]] = None
    """Throughput against the number of processes."""
    queue_depth: Optional[list[Point]] = None
    """Throughput against the queue depth; empty if requests are issued one at a time."""
    read_frac: Optional[list[Point]] = None
    """Throughput against the fraction of reads."""
    seq_frac: Optional[list[Point]] = None
    """Throughput against the fraction of sequential requests."""
    size_mean: Optional[list[Point]] = None
    """Throughput against mean request size."""


@dataclass(kw_only=True)
class RegionFinding:
    """A finding for one region."""
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
    """Bytes moved or discarded."""
    ios: int
    """Completed requests."""
    kind: str
    """`read`, `write`, `flush` (as `fdatasync`) or `discard` (as `fallocate`, including zeroing)."""
    response_time_ns: ResponseTime
    """Response time from issue to completion, in nanoseconds."""


@dataclass(kw_only=True)
class RequestClass:
    """Requests of one kind and of similar size."""
    bytes: int
    """Bytes moved."""
    miss_ratio: list[list[Any]]
    """Miss ratios of an initially empty LRU cache: cache size in bytes, fraction of the class's bytes that
    miss. For reads these are bytes not found; for writes, bytes that are new or were evicted since their last
    write, and so go to storage."""
    op: Literal['read', 'write']
    """Read or write."""
    requests: int
    """Number of requests."""
    response_time_ns: float
    """Mean response time on the traced system."""
    sequential: bool
    """Whether each request begins where the same process's previous request of this kind to the same file
    ended."""
    miss_ratio_half90: Optional[list[float]] = None
    """Half width of the 90 % interval of each miss ratio, from how much parts of the trace differ; empty in
    older results."""
    run_bytes: Optional[float] = None
    """Mean length, over their bytes, of the sequential run that a byte belongs to: what write-back can
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
    """Runs of requests: their lengths and the number of requests in runs of each length."""
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
    """Requests that begin where the previous one on the disk ended, or one interleave further."""
    adjacent_reads: int
    """Reads that begin where the previous request ended."""
    adjacent_writes: int
    """Writes that begin where the previous request ended."""
    interleave_bytes: int
    """The file system's interleave in bytes, as given or as detected; 0 without one."""
    interleaved_reads: int
    """Reads that begin one interleave further."""
    interleaved_writes: int
    """Writes that begin one interleave further."""


@dataclass(kw_only=True)
class Settings:
    """The settings of an evaluation: the same settings and the same answers give the same course."""
    all_parameters: bool
    """Whether section 7's search in all parameters was requested."""
    base: Workload
    """The base workload; all others differ from it only in the five parameters."""
    budget_s: float
    """Time budget of the evaluation, in seconds."""
    process_num: list[int]
    """Smallest and largest `process_num`."""
    size_mean: list[int]
    """Smallest and largest `size_mean`, in bytes."""
    unique_bytes: list[int]
    """Smallest and largest `unique_bytes`."""
    flush_interval_s: Optional[float] = None
    """Time after which a natural flush must have shown up, in seconds; absent if unknown."""
    layout_bytes_per_s: Optional[float] = None
    """Rate at which the set was laid out, in bytes per second; absent if unknown."""
    memory_limit_bytes: Optional[int] = None
    """Memory limit of the workers, if requested."""
    points_max: Optional[int] = None
    """Largest number of different workloads to measure; absent without a limit."""


@dataclass(kw_only=True)
class SimulatedCell:
    """Results for one combination of policies."""
    absorbed_bytes: int
    """Bytes overwritten in the disk's buffer and so never written to the medium."""
    cache: str
    """Write cache at the disk: `none`, `immediate`, `volatile` or `nvram`; of a solid-state drive `write
    buffer`."""
    elapsed: SimulatedOperations
    """Time in the queue and at the disk (arrival to completion)."""
    parts: SimulatedParts
    """Where the time goes."""
    physical: SimulatedOperations
    """Time at the disk (issue to completion)."""
    physical_distribution: list[list[float]]
    """Distribution of physical times: `[nanoseconds, fraction of requests that took at most this]`."""
    read_ahead: bool
    """Whether the disk reads ahead."""
    scheduler: str
    """The host's I/O scheduler; `no host queue` for a solid-state drive."""
    written_bytes: int
    """Bytes the host wrote."""
    agreement: Optional[SimulationAgreement] = None
    """Agreement with the recorded times, when every trace had its own drive; otherwise the simulation states
    it once for all cells."""
    array: Optional[str] = None
    """The array simulated for every device: `raid0:DISKS:CHUNK`, `raid1:DISKS` or `raid5:DISKS:CHUNK`; absent
    for a single drive."""
    cache_bytes: Optional[int] = None
    """Size of the write cache."""
    destage: Optional[str] = None
    """Order in which the write cache is destaged to the medium: `fcfs` or `satf`."""
    drive: Optional[str] = None
    """The drive, when drives are compared or devices have different drives."""
    energy_j: Optional[float] = None
    """Energy used by all drives, in joules, if their files state power; a disk that is destaging its cache
    counts as busy."""
    erased_blocks: Optional[int] = None
    """Blocks of flash that garbage collection erased; solid-state drives only, absent in older files."""
    queue_depth: Optional[int] = None
    """Commands that a disk accepts at once, if more than one."""
    utilization: Optional[float] = None
    """Mean fraction of the time that a drive is busy with a command; absent in older files."""
    utilization_most: Optional[float] = None
    """That fraction of the busiest of several drives; absent for one drive and in older files."""
    write_amplification: Optional[float] = None
    """Bytes programmed into flash per byte written; solid-state drives only, absent where the spare flash of
    one is assumed."""


@dataclass(kw_only=True)
class SimulatedOperations:
    """Times of all requests, of the reads and of the writes."""
    all: SimulatedTimes
    """Reads and writes together."""
    read: SimulatedTimes
    """Reads."""
    write: SimulatedTimes
    """Writes."""


@dataclass(kw_only=True)
class SimulatedParts:
    """Mean parts of a request's time, in nanoseconds. Parts that overlap count in each."""
    bus_ns: float
    """Time on the bus or waiting for it."""
    overhead_ns: float
    """Controller overhead."""
    queue_ns: float
    """Time in the host's queue."""
    rotation_ns: float
    """Rotational latency."""
    seek_ns: float
    """Seek time, including settling."""
    transfer_ns: float
    """Transfer time at the medium."""
    wait_ns: float
    """Time at the disk spent waiting for the mechanism or for room in the disk's buffer."""


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
    """90th percentile."""
    p99_ns: int
    """99th percentile."""
    requests: int
    """Number of requests."""


@dataclass(kw_only=True)
class Simulation:
    """The result of `ioscape simulate`."""
    arrivals: str
    """The arrival model: `queued`, `issued` or `closed`."""
    cells: list[SimulatedCell]
    """All combinations, in the order asked."""
    devices: list[str]
    """Devices of the trace that were simulated."""
    drive: str
    """The drive."""
    drive_status: str
    """How far the drive's parameters can be trusted."""
    requests: int
    """Requests simulated in the first cell, or in all traces where each has its own drive. Other cells have
    as many, except for discards, which not every drive accepts."""
    trace: str
    """The trace, as the user named it."""
    absorption: Optional[list[HostCacheAbsorption]] = None
    """Writes absorbed at the host."""
    agreement: Optional[SimulationAgreement] = None
    """Agreement with the recorded times, if the trace has them."""
    left_out: Optional[list[str]] = None
    """What the inputs state but this simulation leaves out: keys of drive files, discards in the trace,
    energy that no file states, and think times of a closed system that the trace does not record. Empty in
    older files."""


@dataclass(kw_only=True)
class SimulationAgreement:
    """How closely simulated physical times match the recorded ones: those of the device with the most
    requests compared."""
    demerit: float
    """Root mean square distance between the distributions as a fraction of the measured mean; it does not see
    errors of single requests."""
    measured_distribution: list[list[float]]
    """Distribution of the recorded times, in the form used by a cell."""
    measured_mean_ns: float
    """Mean of the recorded times."""
    paired_median_ns: float
    """Median absolute error of these predictions."""
    paired_requests: int
    """Number of requests that closely follow another one and were each predicted from the recorded state of
    the disk."""
    paired_within_1ms: float
    """Fraction of these predictions within a millisecond."""
    requests: int
    """Requests compared."""
    simulated_distribution: list[list[float]]
    """Distribution of the simulated times of the same requests, in the first combination."""
    simulated_mean_ns: float
    """Mean of the simulated times."""
    devices: Optional[list[DeviceAgreement]] = None
    """Every device with requests compared, those with the most first; empty if the trace has one device, and
    in older files."""
    rms_ns: Optional[float] = None
    """Root mean square distance between the distributions; 0 in older files."""


@dataclass(kw_only=True)
class SizesOfType:
    """Sizes of one type and operation (Figure 11)."""
    bytes: Distribution
    """Sizes in bytes."""
    io_type: Literal['unknown', 'user_data', 'inode', 'directory', 'indirect', 'bitmap', 'superblock', 'journal', 'swap']
    """What the blocks hold."""
    op: Optional[Literal['read', 'write']] = None
    """Read or write; absent if the trace does not record operations."""


@dataclass(kw_only=True)
class SlopePoint:
    """Slope of the `unique_bytes` curve (self-scaling paper, figure 6)."""
    slope: float
    """Change of log throughput per change of log `unique_bytes`, dimensionless."""
    unique_bytes: float
    """Geometric middle of two neighbouring points, in bytes."""


@dataclass(kw_only=True)
class SlowRequests:
    """Requests that took longer than a limit from arrival to completion."""
    above_ns: int
    """The limit."""
    alone: int
    """Slow requests that found nothing else in flight on their device."""
    behind: list[Behind]
    """The processes behind which the other slow requests waited, most frequent first. For each slow request
    it is the process whose requests were in flight longest during it."""
    ios: int
    """Number of requests that took longer."""
    mostly_queued: int
    """Slow requests that spent more time in the queue than at the device."""
    of_ios: int
    """Number of all requests."""


@dataclass(kw_only=True)
class Slower:
    """How much slower a set well beyond a border is than the largest one measured before it."""
    times: Bounded
    """Throughput before the border over throughput beyond it, with bounds."""
    unique_bytes: float
    """The set beyond the border, in bytes."""


@dataclass(kw_only=True)
class Sustained:
    """The course of a long-running workload and what it shows."""
    bytes_per_s: list[float]
    """Bytes per second in each step."""
    kind: Literal['steady', 'burst', 'settled', 'cannot_be_told']
    """What the course shows."""
    phases: list[CoursePhase]
    """Its parts, each with a constant rate. If their meaning cannot be told, they are given uninterpreted."""
    step_s: float
    """Length of a step, in seconds."""
    burst_bytes: Optional[Bounded] = None
    """For a burst: bytes moved faster than the final rate allows."""
    credit_bytes: Optional[Bounded] = None
    """For a burst: bytes moved beyond the final rate before it held, with a 95 % interval. This is the
    credit, or the part of the cache that was not emptied meanwhile."""
    disturbed_s: Optional[list[list[float]]] = None
    """Parts during which something else used the device, as start and end in seconds. Afterwards the earlier
    rate continued."""
    recovered_bytes_per_s: Optional[Bounded] = None
    """Credit regained while idle, in bytes per second with a 95 % interval; absent if not measured."""
    sentences: Optional[list[str]] = None
    """The findings in words."""


@dataclass(kw_only=True)
class TimePart:
    """One part of an application's time."""
    name: str
    """The activity: `reads from memory`, `reads from storage`, `computing` and so on."""
    seconds: float
    """Its duration, in seconds."""


@dataclass(kw_only=True)
class TimeStep:
    """One time step, by arrival."""
    ios: int
    """Number of requests."""
    bytes: Optional[int] = None
    """Bytes moved, if the trace does not record operations; otherwise absent: then they are the sum of the
    two below."""
    elapsed_max_ns: Optional[float] = None
    """Longest elapsed time."""
    elapsed_mean_ns: Optional[float] = None
    """Mean elapsed time in nanoseconds; absent without requests, or if completions are not recorded."""
    elapsed_p50_ns: Optional[float] = None
    """Median of the elapsed time; only the finest timeline keeps quantiles."""
    elapsed_p999_ns: Optional[float] = None
    """99.9th percentile of the elapsed time of 1,000 requests or more."""
    elapsed_p99_ns: Optional[float] = None
    """99th percentile of the elapsed time of 100 requests or more."""
    read_bytes: Optional[int] = None
    """Bytes read."""
    reads: Optional[int] = None
    """Number of reads. Absent, like the bytes read and written, if the trace does not record operations (a
    warning of kind `operations_unknown` says so)."""
    write_bytes: Optional[int] = None
    """Bytes written; a discard moves none."""


@dataclass(kw_only=True)
class Timeline:
    """Figures over equal time steps."""
    start_ns: int
    """Beginning of the first step relative to that of the trace; negative if the step began earlier."""
    step_ns: int
    """Width of a step."""
    steps: list[TimeStep]
    """The steps, without gaps."""


@dataclass(kw_only=True)
class Times:
    """Both times of a request, in nanoseconds."""
    elapsed_ns: Optional[Distribution] = None
    """From arrival to completion: includes queueing. Absent if more than one request in a hundred has no
    arrival in an event trace."""
    physical_ns: Optional[Distribution] = None
    """From issue to completion: service time. Absent if the trace does not record issue times."""


@dataclass(kw_only=True)
class Tool:
    """The program that wrote the document."""
    version: str
    """Version of ioscape."""
    commit: Optional[str] = None
    """Commit that it was built from, as git describes it; absent unless it was built in a clone for
    release."""


@dataclass(kw_only=True)
class TraceCharacterization:
    """A trace expressed as five-parameter workloads: the result of `trace characterize`."""
    name: str
    """The trace, as the user named it: its file names."""
    overall: TraceTraits
    """All requests."""
    disks: Optional[list[TraceTraits]] = None
    """The requests of each disk, if there are several."""
    processes: Optional[list[TraceTraits]] = None
    """The requests of each process, busiest first, if the trace records processes."""
    windows: Optional[list[TraceTraits]] = None
    """The requests that arrived in each time window, if windows were requested."""


@dataclass(kw_only=True)
class TraceComparison:
    """The result of `trace compare`."""
    distributions: list[DistributionChange]
    """Changes of distributions and of fractions of the requests."""
    figures: list[FigureChange]
    """Figures, as ratios of the second trace's to the first's."""
    margin: float
    """Margin of equality: ratios from `1 / (1 + margin)` to `1 + margin` and distances up to `margin` count
    as alike."""
    traces: list[TraceSummary]
    """Summaries of the first and of the second trace."""
    verdict: Literal['changed', 'alike', 'cannot_be_told']
    """Whether the workload changed."""
    windows: list[WindowCount]
    """The time windows of each trace, whose scatter determines the intervals."""
    condition: Optional[ConditionResult] = None
    """The figures that meet the given condition, by number from 0; absent without a condition, or if nothing
    can be told."""
    times_as_long: Optional[float] = None
    """If the verdict is open: how many times longer both traces must be to detect a change as large as the
    margin. Absent if part of what is compared is too rare."""


@dataclass(kw_only=True)
class TraceFile:
    """A trace that was imported, exported or recorded."""
    bytes: int
    """Total bytes of all requests that move data."""
    file_bytes: int
    """Size of the file."""
    format: str
    """Format of the file."""
    info: TraceInfo
    """Properties of the trace as a whole."""
    path: str
    """The file that was written."""
    rows: int
    """Number of rows."""
    span_ns: int
    """Time from the first arrival to the last."""
    reads: Optional[int] = None
    """Number of reads; absent if the source does not record operations."""
    slow: Optional[SlowRequests] = None
    """If the file holds only slow requests: how many, and what they waited for."""


@dataclass(kw_only=True)
class TraceInfo:
    """Properties of a trace as a whole: the tables that its rows refer to, its origin, and what it lost."""
    devices: list[Device]
    """Devices; [`Io::device`] is an index."""
    format: str
    """Format it was read from: `hp-srt`, `blktrace`, `msr`, `parquet`; for merged traces all of their
    formats, as in `msr, recorded`."""
    arrival_step_ns: Optional[int] = None
    """The step of all `queued_ns`, in nanoseconds, if it is so coarse that several requests arrive in one
    step and their order and distance in time within it are unknown."""
    commands: Optional[list[str]] = None
    """Commands; [`Io::command`] is an index. Index 0 is the unknown command, with an empty name."""
    lost_by_cpu: Optional[list[int]] = None
    """Events lost while recording, by CPU."""
    notes: Optional[dict[str, str]] = None
    """What the source says about the system: machine, file system, mount options, how it was recorded."""
    skipped: Optional[int] = None
    """Broken records that were skipped."""
    started_unix_ns: Optional[int] = None
    """Unix time of `queued_ns` 0, in nanoseconds, if recorded."""


@dataclass(kw_only=True)
class TraceReplay:
    """The result of `ioscape trace replay`."""
    access: Literal['buffered', 'direct', 'dsync']
    """The access mode."""
    elapsed_ns: int
    """Time from the first issue to the last completion."""
    fit: Literal['wrap', 'scale']
    """How addresses beyond the target were mapped."""
    in_flight: int
    """Largest number of requests in flight."""
    kinds: list[ReplayedKind]
    """Requests by kind, for the kinds that occurred."""
    moved: int
    """Requests that went to another place than in the trace because the target is smaller."""
    refused: int
    """Discards that the target does not support and that were skipped."""
    rounded: int
    """Requests that were made larger, to bounds that direct I/O takes."""
    span_ns: int
    """Time from the first arrival to the last, at the requested speed."""
    target: str
    """The file or device used."""
    target_bytes: int
    """Size of the target."""
    timing: Any
    """When requests were issued."""
    trace: str
    """The trace, as the user named it."""
    trace_bytes: int
    """Total size of the trace's devices, each up to the last byte touched."""
    cut: Optional[int] = None
    """Requests that were shortened because the target is smaller than they are."""
    lateness_ns: Optional[Distribution] = None
    """Delay of issue after the due time; absent if requests were issued as fast as possible, or if the
    trace's arrivals are in steps of more than a millisecond. Bins double from a microsecond."""
    recorded_mean_ns: Optional[float] = None
    """Mean time from arrival to completion of the same requests in the trace; absent if not recorded."""
    verify: Optional[VerifyReport] = None
    """Result of verifying the data, if requested."""


@dataclass(kw_only=True)
class TraceSummary:
    """The result of `trace analyze`. Tables and figures named in the comments are those of Ruemmler & Wilkes,
    "UNIX disk access patterns", 1993."""
    block_bytes: int
    """Block size of the figures that count blocks, in bytes."""
    daily: Timeline
    """The same by day."""
    disks: list[DiskSummary]
    """Each disk separately (Tables 5 and 7, Figures 2, 3, 5, 9 and 10)."""
    first_ns: int
    """Arrival of the first request, from the beginning of the trace."""
    hourly: Timeline
    """The same by hour of the clock; empty if the trace is too long for it."""
    info: TraceInfo
    """Origin of the trace, with its devices and commands."""
    ios: int
    """Number of requests analysed."""
    last_ns: int
    """Last completion, from the beginning of the trace."""
    name: str
    """The trace, as the user named it: its file names."""
    over_time: Timeline
    """Requests over time at the finest resolution kept (Figures 3, 4 and 8; tail latencies)."""
    partitions: list[PartitionShare]
    """Requests and bytes by partition (Table 3)."""
    processes: list[ProcessShare]
    """Load by process, busiest first."""
    transfer_sizes: list[SizesOfType]
    """Transfer sizes by type (Figure 11)."""
    absorption: Optional[list[Absorption]] = None
    """Non-volatile memory that absorbs the writes of 30 seconds (Figures 17 and 18); absent if the trace is
    shorter than a minute and may not hold a whole interval."""
    address_maps: Optional[list[AddressMap]] = None
    """Addresses over time, one map per disk."""
    alignment: Optional[list[AlignedShare]] = None
    """Requests aligned to sectors, pages, database blocks and RAID chunks; missing in older results."""
    burstiness: Optional[Burstiness] = None
    """Burstiness of arrivals at each time scale; if arrivals are in coarse steps, only for windows of a step
    or more."""
    by: Optional[Literal['partition', 'disk', 'process']] = None
    """Category by which the terminal summary breaks down the load."""
    distances: Optional[Distances] = None
    """Start of a request relative to the end of the previous one on its disk, over all disks (Figure 9); like
    all figures of places absent if the trace has object numbers."""
    inter_arrival_ns: Optional[Distribution] = None
    """Time between two arrivals on any disk, in nanoseconds (Figure 6); absent if arrivals are in steps of
    more than 0.1 ms. Absent, like all figures that relate requests to others, if the trace holds only slow
    ones."""
    latency_map: Optional[HeatMap] = None
    """Response times over time."""
    miss_ratio: Optional[MissRatio] = None
    """Miss ratio of an LRU cache of any size."""
    overwrites: Optional[Overwrites] = None
    """Overwrites of blocks (Figure 12); absent, like all figures of writes, without writes or if the trace
    does not record operations."""
    popularity: Optional[Popularity] = None
    """How concentrated the writes are on few blocks (Figure 13)."""
    response_times: Optional[OpTimes] = None
    """Time at the device and time including the queue (Table 4, Figure 1); absent if the trace does not
    record completions."""
    sequential: Optional[Sequential] = None
    """Sequential requests on all disks together (Table 7)."""
    types: Optional[list[TypeShare]] = None
    """What was read and written (Table 6, Figure 7); absent if the trace records neither flags nor types."""
    warnings: Optional[list[Warning]] = None
    """Warnings."""
    working_set: Optional[WorkingSet] = None
    """Distinct bytes touched, over time and in total."""


@dataclass(kw_only=True)
class TraceTraits:
    """Five parameters, and how well they describe the requests they were derived from."""
    bytes: int
    """Bytes they move."""
    elapsed_s: float
    """Time from the first arrival to the last completion in seconds."""
    goodness: float
    """1 minus the largest of the three distances: at 1 the requests follow the model exactly, at 0 not at
    all."""
    mix_distance: float
    """Distance of the fraction of read/write changes between successive requests from the model's 2 r (1 -
    r)."""
    name: str
    """What the requests have in common: a disk, a process, a window."""
    process_num: int
    """Number of processes issuing I/O at the same time, at least 1."""
    processes_seen: int
    """Number of distinct processes that issued them; 0 if the trace does not record processes."""
    read_frac: float
    """Probability that a request is a read, 0 to 1."""
    requests: int
    """Number of requests that move data."""
    run_distance: float
    """The same for the lengths of sequential runs, which the model takes as geometric."""
    seq_frac: float
    """Probability that a request starts where the same process's previous request, of either kind, ended, 0
    to 1."""
    size_distance: float
    """Largest difference between the cumulative distributions of the observed sizes and of the workload's
    size distribution."""
    size_mean: int
    """Mean request size in bytes, at most `unique_bytes`."""
    unique_bytes: int
    """Number of distinct bytes read or written by all processes together: the size of the set."""
    access: Optional[Literal['buffered', 'direct', 'dsync']] = None
    """Buffered, direct or synchronous."""
    advice: Optional[Literal['normal', 'random', 'sequential']] = None
    """Advice to the kernel about the coming accesses."""
    align_bytes: Optional[int] = None
    """Offsets and sizes are rounded to a multiple of this, a power of two. Absent: 4096, or less for a
    smaller `size_mean`."""
    by_operation: Optional[ByOperation] = None
    """How reads and writes differ; absent if the five parameters hold for both."""
    direct_above_bytes: Optional[int] = None
    """Requests larger than this many bytes bypass the file cache: discovered direct I/O (VERITAS 1996, p.
    19). It requires `psync` and buffered access, which all smaller requests use."""
    engine: Optional[Literal['psync', 'io_uring', 'mmap', 'dontcache', 'null', 'sim']] = None
    """How requests reach the kernel."""
    flush_s: Optional[float] = None
    """Time in which nothing but flushes was in flight, in seconds. It counts as think time unless the access
    is dsync."""
    memory_bytes: Optional[int] = None
    """Memory that the processes hold together besides the file cache, in bytes; absent if none."""
    phases: Optional[list[Phase]] = None
    """Phases of an application. A run executes them once, in order, starting with an empty file cache. Empty
    if the parameters hold all the time."""
    queue_depth: Optional[int] = None
    """Requests each process keeps in flight, at least 1; more than 1 needs `io_uring`."""
    response_time_ns: Optional[float] = None
    """Mean elapsed time of a request in nanoseconds; absent if the trace does not record completions."""
    size_distribution: Optional[Literal['normal', 'bernoulli', 'exponential', 'fixed']] = None
    """Distribution of the request sizes."""
    syncs: Optional[int] = None
    """Number of flushes of the drive's cache and of writes past it (FUA)."""
    think_time_ns: Optional[int] = None
    """Time for which a process pauses between two requests."""
    workers: Optional[Literal['processes', 'threads']] = None
    """Processes or threads."""


@dataclass(kw_only=True)
class TracingCost:
    """Overhead of the recorder in the times it sees, measured with calls that do nothing."""
    between_calls_ns: int
    """Nanoseconds added between two calls."""
    in_call_ns: int
    """Nanoseconds added to each call."""


@dataclass(kw_only=True)
class Traits:
    """The five parameters of an application, one of its files or processes, and how well they describe it.
    The parameters are those of the self-scaling paper, section 5."""
    access: Literal['buffered', 'direct', 'dsync']
    """The access mode, as far as the open flags show it."""
    active_s: float
    """Seconds in which at least one process was doing I/O."""
    bytes: int
    """Bytes moved."""
    goodness: float
    """1 minus the largest of the three distances below: at 1 the requests follow the model exactly, at 0 not
    at all."""
    mix_distance: float
    """Distance of the fraction of read/write changes between successive requests from the model's 2 r (1 -
    r)."""
    process_num: int
    """Mean number of processes that are doing I/O at the same time, rounded, at least 1."""
    read_bytes_frac: float
    """Fraction of bytes that are read. If it is far from `read_frac`, reads and writes differ in size."""
    read_frac: float
    """Fraction of requests that are reads."""
    requests: int
    """Number of requests: calls that moved bytes."""
    response_time_ns: float
    """Mean response time, without tracing overhead and waits for a processor."""
    run_distance: float
    """The same for the lengths of sequential runs, which the model takes as geometric."""
    seq_frac: float
    """Fraction of requests that start where the same process's previous request to the same file ended."""
    size_distance: float
    """Largest difference between the cumulative distributions of the observed sizes and of
    `size_distribution`."""
    size_distribution: Literal['normal', 'bernoulli', 'exponential', 'fixed']
    """The size distribution nearest to the observed sizes."""
    size_mean: int
    """Mean number of bytes per call."""
    strict_seq_frac: float
    """Fraction of requests that start where the same process's previous request to any file ended."""
    sync_time_ns: float
    """Mean time of a sync, corrected likewise."""
    syncs: int
    """Calls that waited for storage: `fsync`, `fdatasync`, a waiting `sync_file_range`; and, counted for no
    file, `msync` with `MS_SYNC`, `sync`, `syncfs` and `fsync` of a directory."""
    think_time_ns: int
    """Mean think time of a process between two requests."""
    unique_bytes: int
    """Distinct bytes read or written, in whole pages of the file cache (of 4 KiB in older results)."""
    align_bytes: Optional[int] = None
    """Alignment in bytes, if all requests have the same size, `size_mean`, that is not a multiple of the
    usual alignment; otherwise and in older results absent."""
    change_frac: Optional[float] = None
    """Fraction of requests of the other kind (read or write) than the same process's previous request; absent
    in older results."""


@dataclass(kw_only=True)
class TwinKept:
    """The roles of a twin's measurements. The long runs, with their courses over time, come last and are not
    counted here."""
    again: int
    """Number of measurements that repeat these workloads after all others."""
    capacity_bytes: int
    """Capacity of the target in bytes."""
    first: int
    """Number of measurements taken before all others."""
    fitted: int
    """Number of measurements that the drive is fitted to; they come first."""
    judging: int
    """Number of measurements that the drive is judged by."""
    repeated: int
    """Number of judging workloads that were measured once more."""
    target: str
    """The target, as the user named it."""
    write_buffer_bytes: int
    """Assumed size of the write buffer in bytes."""


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
    """Requests that bypassed the file system."""
    sync: Optional[int] = None
    """Requests flagged synchronous; absent, like the two below, if the trace does not record these flags."""


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
    """Number of workloads measured."""
    by_parameter: Optional[dict[str, list[ErrorBin]]] = None
    """The default model's error by parameter."""
    enhanced_median_error: Optional[float] = None
    """Median without the workloads near a border between regions (figures 15 and 24); absent if none are
    left."""
    error_over_repeatability: Optional[float] = None
    """Median error of the default model over `repeatability_error`: at 0.85 the model is as good as measuring
    once more (with three rounds; with two at 0.87)."""
    interval90_coverage: Optional[float] = None
    """Fraction of the individual measurements that fall into the 90 % interval; absent for a model without
    intervals."""
    models: Optional[dict[str, ErrorFigures]] = None
    """The same figures for every model: `default`, `product`, `orthogonal`, `single_point`. If something is
    exchanged, `as_evaluated` is the prediction without the exchange."""
    points: Optional[list[ValidationPoint]] = None
    """Every workload."""
    repeatability_error: Optional[float] = None
    """Median relative difference between two measurements of one workload in successive rounds; absent
    without repetitions."""
    target: Optional[str] = None
    """The measured target, as the user named it; empty in older results."""


@dataclass(kw_only=True)
class ValidationLog:
    """Progress of an incomplete validation: its settings and how far it came. The document's `measurements`
    are then its measurements so far, in order."""
    budget_s: float
    """Time budget of the whole validation, in seconds."""
    orthogonal: bool
    """Whether the orthogonal sample is also measured."""
    rounds: int
    """Number of rounds for each workload."""
    spent_s: float
    """Time spent so far, in seconds."""
    target: str
    """The measured target, as the user named it."""
    workloads: int
    """Number of random workloads to measure."""
    access: Optional[Literal['buffered', 'direct', 'dsync']] = None
    """The access mode requested; absent for the evaluation's first."""
    memory_limit_bytes: Optional[int] = None
    """Memory limit of the workers, in bytes; absent without one."""
    refused: Optional[list[RefusedStep]] = None
    """Steps that are impossible on the target, and why."""
    steps: Optional[list[int]] = None
    """The step number of each measurement, from 0. The steps follow from the settings above, the seed and the
    evaluation."""
    what_if: Optional[list[str]] = None
    """How the target differs from the evaluated system, as `--what-if` names it."""


@dataclass(kw_only=True)
class ValidationPoint:
    """One workload of a validation: predicted and measured."""
    measurement: Measurement
    """What was measured."""
    near_border: bool
    """Whether it is close to a border between regions."""
    prediction: Prediction
    """What the default model predicted beforehand."""
    models: Optional[dict[str, float]] = None
    """Throughput predicted by every other model, in bytes per second, by the model's name."""
    repeated_bytes_per_s: Optional[float] = None
    """Throughput measured again; absent if the workload was measured once."""
    rounds_bytes_per_s: Optional[list[float]] = None
    """Throughput of every round in bytes per second, in order; predictions are compared with the median. As
    in the evaluation, time in which others kept processes that compute from the processors does not count
    ([`Measurement::judged_bytes_per_s`])."""


@dataclass(kw_only=True)
class VerifyFinding:
    """One block that does not hold what was last written to it."""
    at_end: bool
    """Whether the final read-back found it, rather than a read of the workload."""
    expected_write: int
    """Number of the write that it should hold; a run numbers its writes in order of issue."""
    file: str
    """The file or device, as named."""
    kind: Literal['corrupt', 'misplaced', 'lost', 'stale', 'torn']
    """What is wrong with it."""
    offset: int
    """First byte of the block in the file."""
    found_file: Optional[str] = None
    """The file to which the block that it holds was written, if different."""
    found_offset: Optional[int] = None
    """Offset to which the block that it holds was written; absent if that is its own place or unknown."""
    found_write: Optional[int] = None
    """Number of the write that it holds; absent if unknown or none."""


@dataclass(kw_only=True)
class VerifyReport:
    """The outcome of verifying a run."""
    block_bytes: int
    """Size of a block, in bytes, at most 4096: all requests are multiples of it."""
    checked_blocks: int
    """Blocks returned by reads of the workload and checked."""
    corrupt: int
    """Blocks whose checksum is wrong."""
    findings: list[VerifyFinding]
    """The first wrong blocks found; the counts cover all."""
    lost: int
    """Blocks whose only write never arrived."""
    misplaced: int
    """Blocks that belong elsewhere."""
    read_back_blocks: int
    """Blocks checked by the final read-back."""
    stale: int
    """Blocks that hold an earlier write than their last."""
    torn: int
    """Blocks of which only a part of the last write arrived."""
    unjudged_blocks: int
    """Blocks returned by reads of the workload that could not be judged: written meanwhile, last written by
    two concurrent requests or in part, or never written by this run."""
    from_storage_frac: Optional[float] = None
    """Fraction of the read-back that was not in the file cache and so came from below it; absent if the
    kernel cannot tell."""


@dataclass(kw_only=True)
class VxFigures:
    """Figures of one stream, one user or all of them."""
    bytes: int
    """Bytes moved."""
    cpu_system_s: float
    """System time of the streams, in seconds."""
    cpu_user_s: float
    """User time of the streams, in seconds."""
    elapsed_s: float
    """Time from the first request issued to the last one completed, including `fsync`, in seconds."""
    ios: int
    """Completed requests."""
    throughput_bytes_per_s: float
    """`bytes` over `elapsed_s`."""
    cpu_split_told: Optional[bool] = None
    """Whether the kernel could separate user from system time. It samples at its ticks, so with little CPU
    time only the sum is known, and it is divided by whatever samples there were."""
    fsync_ns: Optional[ResponseTime] = None
    """Times of the `fsync` after each stream's last write, which do not count as requests; absent without
    `fsync`."""
    response_time_ns: Optional[ResponseTime] = None
    """Response times of the requests; absent where there are none."""


@dataclass(kw_only=True)
class VxFile:
    """One file and its user."""
    figures: VxFigures
    """Figures of all its streams together."""
    path: str
    """The file, as the user named it."""
    direct_align: Optional[int] = None
    """Alignment required for direct I/O here, in bytes."""
    extents: Optional[int] = None
    """Extents after the run (`FIEMAP`). Absent if the file system does not report them, or stores some
    compressed, for which it does not report their ends."""
    noreuse_by: Optional[str] = None
    """How `noreuse` was implemented: `RWF_DONTCACHE` or `POSIX_FADV_NOREUSE`."""
    reservation_s: Optional[float] = None
    """Time taken by the reservation (`-r`), in seconds; absent without one."""
    size_bytes: Optional[int] = None
    """Size after the run, in bytes; absent if the file was removed."""
    threads: Optional[list[VxFigures]] = None
    """Figures of each stream."""


@dataclass(kw_only=True)
class VxJob:
    """All options of one run except the names of its files. Sizes are in bytes."""
    align: bool
    """`-f align`: extents must begin at multiples of the extent size."""
    append: bool
    """`-o append`: every write goes to the end of the file."""
    best_effort: bool
    """Makes an option that the system cannot honour a warning instead of an error."""
    chgsize: bool
    """`-f chgsize`: the file size is set to that of the reservation."""
    cold: bool
    """Drops the pages of the files from the file cache before the run."""
    contig: bool
    """`-f contig`: the reservation must be one extent."""
    direct: bool
    """`-c direct`: `O_DIRECT`."""
    dsync: bool
    """`-c dsync`: `O_DSYNC`."""
    fsync: bool
    """`-i fsync`: the time includes an `fsync` after the last write of each stream."""
    iosize: int
    """`-i iosize`: size of each request, in bytes."""
    lock_buffers: bool
    """`-m`: the buffers are locked in memory."""
    noextend: bool
    """`-f noextend`: no write may go past the reservation."""
    noreserve: bool
    """`-f noreserve`: space is allocated only for the run, not set aside for the file."""
    noreuse: bool
    """`-c noreuse`: the data is not kept in the file cache."""
    nrep: int
    """`-i nrep`: how often every stream repeats its requests."""
    nthreads: int
    """`-i nthreads`: number of streams on each file."""
    rand_seed: int
    """`-i randseed`: seed of the random choices."""
    random: bool
    """`-c random`: advises the kernel of random access."""
    rdpct: int
    """`-i rdpct`: percentage of reads in `rand_mixed`, 0 to 100."""
    remove: bool
    """`-i remove`: the files are removed after the test."""
    reserve_only: bool
    """`-i reserveonly`: space is only reserved; nothing is written."""
    seq: bool
    """`-c seq`: advises the kernel of sequential access."""
    sync: bool
    """`-o sync`: `O_SYNC`."""
    trim: bool
    """`-f trim`: the unused part of the reservation is released at the last close."""
    trunc: bool
    """`-o trunc`: the file is emptied first."""
    users: Literal['processes_of_threads', 'processes', 'threads']
    """`-P`, `-p` or `-t`."""
    workload: Literal['read', 'write', 'rand_read', 'rand_write', 'rand_mixed', 'mmap_read', 'mmap_write']
    """`-w`."""
    atomic: Optional[bool] = None
    """`-c atomic`: every direct write reaches storage completely or not at all, whatever happens
    (`RWF_ATOMIC`)."""
    direct_above: Optional[int] = None
    """Discovered direct I/O: requests larger than this, in bytes, bypass the file cache (the paper, p. 19:
    256 KB)."""
    extsize: Optional[int] = None
    """`-e`: fixed extent size, in bytes."""
    huge_buffers: Optional[bool] = None
    """`--huge-buffers`: all buffers use huge pages if the kernel provides them, whatever their size and the
    caching."""
    iocount: Optional[int] = None
    """`-i iocount`: requests per stream; absent: as many as the file holds, divided among its streams."""
    max_file_size: Optional[int] = None
    """`-i maxfilesize`: random requests end before this byte; absent: the end of the file."""
    queue_depth: Optional[int] = None
    """`--queue-depth`: requests in flight per stream, through `io_uring`; absent: one at a time, by `pread`
    and `pwrite`."""
    reservation: Optional[int] = None
    """`-r`: space reserved for each file, in bytes."""
    truncup: Optional[int] = None
    """`-i truncup`: before random I/O the file is extended to this size in bytes; 0: the size that the
    requests need."""
    verify: Optional[bool] = None
    """Writes each block with its place, the number of its write and a checksum, which reads check."""


@dataclass(kw_only=True)
class VxRun:
    """One run of `vxbench`."""
    files: list[VxFile]
    """The files, in the order named."""
    job: VxJob
    """The requested job."""
    total: VxFigures
    """Total over all files."""
    clients: Optional[Clients] = None
    """The clients that did the run together, if several. One run gives no intervals for them, so none is
    marked as straggling."""
    verify: Optional[VerifyReport] = None
    """Result of verifying the data, if requested."""
    warnings: Optional[list[Warning]] = None
    """Warnings."""


@dataclass(kw_only=True)
class VxShow:
    """How a run is shown: `-k`, `-M`, `-v`, `-s`."""
    megabytes: bool
    """Throughput in MB/s instead of KB/s, both in powers of 1024."""
    per_thread: bool
    """Also every stream."""
    summary_only: bool
    """Only the summary."""


@dataclass(kw_only=True)
class Vxbench:
    """The part of a document that `vxbench` fills."""
    runs: Optional[list[VxRun]] = None
    """The runs."""
    show: Optional[VxShow] = None
    """How to show the results."""
    single_writer: Optional[list[WriterScaling]] = None
    """Whether concurrent writers to one file wait for one another."""


@dataclass(kw_only=True)
class Warning:
    """One warning: its kind, a sentence for people, and the place it concerns."""
    kind: str
    """The kind, for scripts."""
    message: str
    """One sentence: what was observed and what to do about it."""
    where: Optional[str] = None
    """The part of the result concerned, such as `unique_bytes = 64 MiB`; empty for the whole."""


@dataclass(kw_only=True)
class WindowCount:
    """Windows of equal length."""
    count: int
    """Number of windows."""
    width_ns: int
    """Length of a window."""


@dataclass(kw_only=True)
class Witness:
    """Kernel counters over the measured part of a run: a second witness beside its throughput.  A field is
    absent where the kernel cannot report it; absent never means zero: - residency and storage bytes on most
    network and FUSE mounts; - control-group figures outside a group; - device counters where the target has
    no block device or the kernel does not count for it; - residency and dirty bytes on ZFS and GPFS, which
    have their own caches; - storage bytes on ZFS, which counts bytes served by its cache.  Pairs are the
    values at the beginning and at the end of the measured part."""
    device_read_bytes: Optional[int] = None
    """Bytes read by the target's device for all processes (`/proc/diskstats`)."""
    device_written_bytes: Optional[int] = None
    """Bytes written by the target's device for all processes (`/proc/diskstats`); replicas made by the file
    system count once."""
    dirty_bytes: Optional[list[int]] = None
    """Dirty and write-back bytes before and after, of the memory control group if there is one, otherwise of
    the machine."""
    io_pressure_frac: Optional[float] = None
    """Fraction of the time that some task of the group or machine stalled for I/O (`io.pressure`, "some"), 0
    to 1."""
    lost_frac: Optional[float] = None
    """Greatest fraction of its time, 0 to 1, for which others, neither a quota nor the kernel as it writes
    back, can have kept a worker from the processors. Absent if that is unknown, and if the workers had think
    times."""
    major_faults: Optional[int] = None
    """Page faults that needed I/O."""
    memory_pressure_frac: Optional[float] = None
    """Fraction of the time that some task of the group or machine stalled for memory (`memory.pressure`,
    "some"), 0 to 1."""
    resident_frac: Optional[list[float]] = None
    """Fraction of the set's pages in the file cache before and after, each 0 to 1 (`cachestat` or
    `mincore`)."""
    run_delay_s: Optional[float] = None
    """Total seconds that the workers were runnable but waited for a processor (`/proc/PID/schedstat`)."""
    served_by_processors: Optional[bool] = None
    """Whether processors of this machine serve the storage: a program, or the kernel for a loop device,
    encryption, integrity checks or parity. Other work on them then delays even what waits for storage. Absent
    if nothing indicates that."""
    steal_s: Optional[float] = None
    """Processor seconds that the hypervisor took from the machine (`steal` in `/proc/stat`)."""
    storage_read_bytes: Optional[int] = None
    """Bytes the storage layer read for the workers (`read_bytes` of `/proc/PID/io`)."""
    sustained_write_bytes_per_s: Optional[float] = None
    """Sustainable write throughput in bytes per second: bytes written less the growth of dirty bytes. Absent
    without writes, and for buffered writes where dirty bytes are unknown."""
    throttled_s: Optional[float] = None
    """Most seconds for which a control-group quota can have stopped each worker: as counted (`cpu.stat`) or,
    in a container that does not show the groups above it, as the worker waited for a processor and one was
    idle."""
    undisturbed_bytes_per_s: Optional[float] = None
    """Throughput in bytes per second, not counting the time in which others kept the workers from the
    processors; a quota, and the kernel as it writes back, are no others. Absent in these cases: - this time
    is 10 % or more, and more than 1 % of the bytes, or an unknown part, went to or came from storage: read-
    ahead and write-back go on in that time; - an `io_uring` uses the file cache: whether its kernel threads
    waited is unknown; - the workers had think times; - the hypervisor took time: how much of it was theirs is
    unknown."""


@dataclass(kw_only=True)
class WorkingSet:
    """Distinct bytes touched."""
    bytes: int
    """Distinct bytes touched in all, in whole blocks."""
    over_time: list[WorkingSetWindows]
    """Distinct bytes touched in each time window."""
    read_bytes: Optional[int] = None
    """Distinct bytes read, in whole blocks; absent, like `write_bytes`, if the trace does not record
    operations."""
    write_bytes: Optional[int] = None
    """Distinct bytes written, in whole blocks."""


@dataclass(kw_only=True)
class WorkingSetWindows:
    """Distinct bytes in time windows of one width."""
    bytes: list[int]
    """Distinct bytes touched in each window."""
    start_ns: int
    """Start of the first window, relative to the start of the trace."""
    window_ns: int
    """Width of a window."""


@dataclass(kw_only=True)
class Workload:
    """A workload: a point in the papers' five-parameter space, and how it is executed."""
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
    """Advice to the kernel about the coming accesses."""
    align_bytes: Optional[int] = None
    """Offsets and sizes are rounded to a multiple of this, a power of two. Absent: 4096, or less for a
    smaller `size_mean`."""
    by_operation: Optional[ByOperation] = None
    """How reads and writes differ; absent if the five parameters hold for both."""
    direct_above_bytes: Optional[int] = None
    """Requests larger than this many bytes bypass the file cache: discovered direct I/O (VERITAS 1996, p.
    19). It requires `psync` and buffered access, which all smaller requests use."""
    engine: Optional[Literal['psync', 'io_uring', 'mmap', 'dontcache', 'null', 'sim']] = None
    """How requests reach the kernel."""
    memory_bytes: Optional[int] = None
    """Memory that the processes hold together besides the file cache, in bytes; absent if none."""
    phases: Optional[list[Phase]] = None
    """Phases of an application. A run executes them once, in order, starting with an empty file cache. Empty
    if the parameters hold all the time."""
    queue_depth: Optional[int] = None
    """Requests each process keeps in flight, at least 1; more than 1 needs `io_uring`."""
    size_distribution: Optional[Literal['normal', 'bernoulli', 'exponential', 'fixed']] = None
    """Distribution of the request sizes."""
    think_time_ns: Optional[int] = None
    """Time for which a process pauses between two requests."""
    workers: Optional[Literal['processes', 'threads']] = None
    """Processes or threads."""


@dataclass(kw_only=True)
class WriterScaling:
    """Writers to one file compared with writers to separate files: the effect of a file system's single-
    writer lock (pp. 32-35)."""
    alone_bytes_per_s: float
    """Throughput of one writer, in bytes per second: the median of the rounds."""
    direct: bool
    """Whether writes bypass the file cache (`O_DIRECT`) or go through it."""
    iosize: int
    """Size of each write, in bytes."""
    one_file_bytes_per_s: float
    """Throughput of all writers on one file, in bytes per second."""
    own_files_bytes_per_s: float
    """Throughput of all writers on separate files, in bytes per second."""
    ratio: float
    """Throughput on one file over that on separate files: the geometric mean."""
    ratio_ci95: list[float]
    """95 % interval of that ratio."""
    sentence: str
    """The finding in words."""
    writers: int
    """Number of concurrent writers."""
    gain_ci95: Optional[list[float]] = None
    """95 % interval of the throughput on separate files over that of one writer; absent without two
    rounds."""
    position_ci95: Optional[list[float]] = None
    """95 % interval of the throughput on one file over the geometric mean of that of one writer and that on
    separate files; absent without two rounds."""
    serialised: Optional[bool] = None
    """Whether the writers wait for one another; absent if the intervals do not decide."""


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
    """The program that wrote the document."""
    campaign: Optional[CampaignResult] = None
    """The result of `campaign run`."""
    characterization: Optional[Characterization] = None
    """The result of `characterize`."""
    cheapest: Optional[list[Cheapest]] = None
    """The cheapest systems that reach the requested throughput (`compare --price --at-least`)."""
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
    """The result of `run`, one measurement per workload; for an interrupted validation, its measurements so
    far."""
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
    """Which measurement is which, if `twin` made them; absent otherwise."""
    validation: Optional[Validation] = None
    """The result of `validate`."""
    validation_log: Optional[ValidationLog] = None
    """The progress of an incomplete validation."""
    vxbench: Optional[Vxbench] = None
    """The result of `vxbench`."""
    warnings: Optional[list[Warning]] = None
    """Warnings about the whole."""
