"""The documents of ioscape as dataclasses. Made by generate.py from the JSON Schema: do not edit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Optional


@dataclass(kw_only=True)
class Absorption:
    """Non-volatile memory needed for the writes of 30 seconds (Figures 17 and 18)."""
    # Distinct bytes written in an interval, in bytes.
    bytes: Distribution
    # Fraction of intervals (of those with writes) that fit 100 KiB.
    fit_100k: float
    # Fraction that fits 200 KiB.
    fit_200k: float
    # Length of an interval.
    interval_ns: int
    # Intervals with at least one such write.
    intervals: int
    # Fraction of the written bytes that overwrite bytes written earlier in the same interval.
    overwritten_frac: float
    # `all` or `metadata`.
    writes: str
    # Cache emptied after each interval: bytes, least share of written bytes taken, and of overwrites (Figure
    # 18).
    absorbed: Optional[list[list[float]]] = None


@dataclass(kw_only=True)
class AccessPattern:
    """An application's requests as a storage system serves them: by class, each with its own locality."""
    # The classes, reads first, smaller requests first.
    classes: list[RequestClass]
    # Seconds in which no process was at its I/O: starting, ending, computing for long.
    elsewhere_s: float
    # Mean number of processes at work at once.
    process_num: int
    # Seconds spent in `fsync` and the like, all processes together.
    sync_s: float
    # Mean time that a process spends between two requests.
    think_time_ns: float
    # Distinct bytes read or written, in whole pages of 4 KiB.
    unique_bytes: int
    # Those that were written.
    unique_write_bytes: int
    # Most memory that one process had, in bytes: it is not there for the file cache. Absent where it is not
    # known.
    memory_bytes: Optional[int] = None


@dataclass(kw_only=True)
class AddressMap:
    """Addresses over time on one disk."""
    # Requests that are not 0: column, row, reads, writes.
    cells: list[list[Any]]
    # Index of the device.
    device: int
    # Height of a row in bytes; row 0 begins at address 0.
    row_bytes: int
    # Beginning of the first column.
    start_ns: int
    # Width of a column.
    step_ns: int


@dataclass(kw_only=True)
class AlignedShare:
    """Requests of one operation that are aligned to a size."""
    # Those that begin and end at multiples of the size.
    aligned: int
    # Requests that move data.
    ios: int
    # Read or write.
    op: Literal['read', 'write']
    # The size, a power of two.
    unit_bytes: int


@dataclass(kw_only=True)
class AllParameters:
    """The first try of section 7: all parameters at their 75 % performance point at once."""
    # The focal vector that was found.
    focal: Workload
    # One range per parameter, in the papers' order.
    ranges: list[FocalRange]
    # Whether the iteration settled before its last allowed step.
    settled: bool


@dataclass(kw_only=True)
class ApplicationForecast:
    """Where the time of a traced application goes on a system, and how much memory it needs there."""
    # From its beginning to its end, in seconds.
    elapsed_s: float
    # What that time is made of; the parts add up to `elapsed_s`.
    parts: list[TimePart]
    # Share of the bytes read that the caches hold.
    read_hit_frac: float
    # Share of the bytes written that storage gets.
    written_through_frac: float
    # How memory matters; absent where no cache of the size of the system's memory was found.
    memory: Optional[MemoryForecast] = None
    # 90 % interval of that share: by how much parts of the trace differ, and how well the evaluation knows the
    # size of its caches. Absent where the trace's file does not tell how much its parts differ.
    read_hit_interval90: Optional[list[float]] = None
    # 90 % interval of that share, from the same.
    written_through_interval90: Optional[list[float]] = None


@dataclass(kw_only=True)
class Behind:
    """A process that slow requests waited behind."""
    # Its command, empty where it is not told.
    command: str
    # Slow requests that waited behind it.
    ios: int
    # Its number.
    process: int


@dataclass(kw_only=True)
class Border:
    """A value of `unique_bytes` at which performance changes from one level of the storage hierarchy to the
    next."""
    # The border is not above this.
    high: float
    # The border is not below this.
    low: float
    # The requests it was found with.
    operation: Literal['read', 'write', 'mixed']
    # Best estimate, in bytes.
    unique_bytes: float
    # Whether everything behind it still came from memory: a border of the processor's caches, not of storage.
    # Such a border makes no region.
    in_memory: Optional[bool] = None
    # Throughput just before the border over that well behind it.
    ratio: Optional[float] = None


@dataclass(kw_only=True)
class Bounded:
    """A value with its error bounds."""
    # Upper bound.
    high: float
    # Lower bound.
    low: float
    # Best estimate.
    value: float


@dataclass(kw_only=True)
class Burstiness:
    """Burstiness of arrivals."""
    # Index of dispersion for counts by window: width in nanoseconds, variance over mean of the arrivals in a
    # window; 1 is Poisson.
    dispersion: list[list[Any]]
    # Hurst exponent from the growth of the variance with the window; 0.5 has no long memory. Absent with too
    # few windows.
    hurst: Optional[float] = None
    # Squared coefficient of variation of the inter-arrival times; 1 is Poisson.
    inter_arrival_scv: Optional[float] = None


@dataclass(kw_only=True)
class CampaignCell:
    """One cell: its runs and what follows from them."""
    # Median of the runs' processor seconds.
    cpu_s: float
    # The runs, in order of the rounds.
    samples: list[CampaignSample]
    # Median of the runs' throughput.
    throughput_bytes_per_s: float
    # Its 95 % interval, by the same rule.
    cpu_ci95: Optional[list[float]] = None
    # Processor seconds over those of the row's first column.
    cpu_ratio: Optional[float] = None
    # Its 95 % interval.
    cpu_ratio_ci95: Optional[list[float]] = None
    # The same of `fsync`.
    fsync_ns: Optional[ResponseTime] = None
    # Why this cell cannot be measured.
    impossible: Optional[str] = None
    # Median of the runs' operations per second; absent where data was moved.
    operations_per_s: Optional[float] = None
    # 95 % interval of the throughput, or of the operations per second: Student's t on the runs' logarithms, and
    # the median in it. Absent of fewer than two runs.
    rate_ci95: Optional[list[float]] = None
    # Throughput over that of the row's first column, from runs of the same round.
    ratio: Optional[float] = None
    # Its 95 % interval.
    ratio_ci95: Optional[list[float]] = None
    # Of each percentile of the runs' response times, the median.
    response_time_ns: Optional[ResponseTime] = None


@dataclass(kw_only=True)
class CampaignColumn:
    """What is measured side by side with the other columns."""
    # File system of the place; `block` for a device.
    file_system: str
    # Name of the way of doing I/O, such as `direct`.
    method: str
    # Directory or device.
    path: str
    # Name of the place, such as `xfs`.
    place: str
    # How its file system was made for the campaign; absent where it was there before.
    made_by: Optional[str] = None
    # The options that it is mounted with, as the kernel tells them.
    mount_options: Optional[str] = None


@dataclass(kw_only=True)
class CampaignReference:
    """Numbers of another source, to compare with."""
    # Headings of the columns, those of the parameters included.
    columns: list[str]
    # The rows as they stand there.
    rows: list[list[float]]
    # Where they come from.
    source: str


@dataclass(kw_only=True)
class CampaignResult:
    """A table measured."""
    # The columns.
    columns: list[CampaignColumn]
    # Name of the campaign.
    name: str
    # Rounds asked for.
    rounds: int
    # The rows.
    rows: list[CampaignRow]
    # What it follows.
    source: str
    # Title of the table.
    title: str
    # Parameter on the horizontal axis of its graphs.
    x: str
    # Clients that did every run together, each on files of its own; absent of one.
    clients: Optional[int] = None
    # The paper's own numbers.
    reference: Optional[CampaignReference] = None
    # What the table shows, in words, each with its evidence.
    sentences: Optional[list[str]] = None


@dataclass(kw_only=True)
class CampaignRow:
    """One row: its parameters, and a cell per column."""
    # The cells, in order of the columns.
    cells: list[CampaignCell]
    # The parameters that vary, outermost first.
    settings: list[CampaignSetting]


@dataclass(kw_only=True)
class CampaignSample:
    """One run."""
    # Bytes moved.
    bytes: int
    # System and user seconds.
    cpu_s: float
    # Seconds it took.
    elapsed_s: float
    # Bytes per second.
    throughput_bytes_per_s: float
    # Jain's index of the clients' rates, from 1 over their number to 1; absent of one client.
    fairness: Optional[float] = None
    # Fragments of all files read or written (`FIEMAP`); absent where not recorded.
    fragments: Optional[int] = None
    # Times of the `fsync` behind each stream's last write, which are not among the requests'.
    fsync_ns: Optional[ResponseTime] = None
    # Operations on names; absent where data was moved.
    operations: Optional[int] = None
    # Response times of its requests.
    response_time_ns: Optional[ResponseTime] = None


@dataclass(kw_only=True)
class CampaignSetting:
    """One parameter of a row and its value."""
    # Name, such as `iosize`.
    name: str
    # Value as it was written, such as `64k`.
    text: str
    # The same as a number: bytes for sizes.
    value: float


@dataclass(kw_only=True)
class Characterization:
    """An application, characterized by the calls it made."""
    # Calls that stopped for the recorder.
    calls_traced: int
    # The command, word by word.
    command: list[str]
    # From its start to the end of its last process, tracing included.
    elapsed_s: float
    # The files, those with most bytes first.
    files: list[FileTraits]
    # Files beyond those listed.
    files_left_out: int
    # All counted files and processes together.
    overall: Traits
    # The processes and threads, those with most bytes first.
    processes: list[ProcessTraits]
    # Processes beyond those listed.
    processes_left_out: int
    # Bytes moved over `elapsed_s`.
    throughput_bytes_per_s: float
    # What tracing adds to the times.
    tracing: TracingCost
    # The folder or file outside of which files were not counted.
    below: Optional[str] = None
    # Calls that read or wrote something else than regular files and block devices, by its kind.
    elsewhere: Optional[dict[str, int]] = None
    # How it ended; absent when it was stopped by an interruption before.
    ending: Any = None
    # Memory of the control group it ran in.
    memory_limit_bytes: Optional[int] = None
    # The requests by kind and size, and what a cache of any size would hold; absent in older results.
    pattern: Optional[AccessPattern] = None


@dataclass(kw_only=True)
class Cheapest:
    """The cheapest of several systems that is fast enough for one workload."""
    # Throughput that was asked for, in bytes per second.
    at_least_bytes_per_s: float
    # The workload.
    workload: Workload
    # The system, its price and what it is predicted to do; absent when none reaches what was asked for.
    choice: Optional[Choice] = None
    # Name of the workload in its set; absent for one given by its parameters.
    name: Optional[str] = None


@dataclass(kw_only=True)
class Check:
    """One ability of the machine, tried or read from the kernel."""
    # What was seen.
    found: str
    # What was looked at, such as `io_uring`.
    name: str
    # What of ioscape needs it.
    needed_for: str
    # How it came out.
    state: Literal['works', 'limited', 'missing']
    # What to do where it does not work.
    advice: Optional[str] = None
    # Whether nothing can be measured without it.
    required: Optional[bool] = None


@dataclass(kw_only=True)
class Choice:
    """A system that was chosen for its price."""
    # Its price, in the currency that all prices are in.
    price: float
    # Whether even the low end of its 90 % interval reaches what was asked for.
    sure: bool
    # The system.
    system: str
    # Its predicted throughput, in bytes per second.
    throughput_bytes_per_s: float


@dataclass(kw_only=True)
class Client:
    """What one client had of a measurement."""
    # The machine it ran on.
    host: str
    # Number of the client, from 0.
    rank: int
    # Mean response time in nanoseconds.
    response_time_mean_ns: float
    # Bytes per second.
    throughput_bytes_per_s: float
    # 95 % confidence interval of the throughput: low and high.
    throughput_ci95: list[float]
    # Its throughput is below 80 % of the median client's, by the whole of its interval.
    straggles: Optional[bool] = None


@dataclass(kw_only=True)
class Clients:
    """How evenly the clients of a measurement were served, and how well they ran together."""
    # By how much the clocks' offsets from one another may be wrong, in nanoseconds: half the shortest round
    # trip.
    clock_error_ns: int
    # Seconds that agreeing on the beginnings took, beside the clients' own preparation.
    coordination_s: float
    # Each client, by number.
    each: list[Client]
    # Jain's index of the throughputs: 1 when all are equal, 1 over the number of clients when one has
    # everything.
    fairness: float
    # Least and greatest throughput of a client over the mean.
    spread: list[float]
    # Longest time between the first and the last client's beginning of a measured part, in nanoseconds of one
    # clock.
    start_skew_ns: int
    # Agreed beginnings: the measured part may consist of several.
    windows: int


@dataclass(kw_only=True)
class Clock:
    """The clock that timed the result, as measured before anything else."""
    # Time one reading takes.
    cost_ns: float
    # Least non-zero step between two readings.
    precision_ns: float


@dataclass(kw_only=True)
class Comparison:
    """One workload on two systems (self-scaling paper, figure 17)."""
    # Whether one of the predictions is extrapolated.
    extrapolated: bool
    # Range that holds the measured ratio nine times of ten: low and high.
    interval90: list[float]
    # Throughput of the first over that of the second.
    ratio: float
    # Whether the interval leaves 1 out.
    significant: bool
    # The two systems: the ratio is the first's throughput over the second's.
    systems: list[str]
    # Predicted throughput of each, in bytes per second.
    throughput_bytes_per_s: list[float]
    # The workload.
    workload: Workload
    # Name of the workload in its set; absent for one given by its parameters.
    name: Optional[str] = None
    # Bytes per second for one unit of money, of each system; absent without prices.
    throughput_per_price: Optional[list[float]] = None
    # How the first compares with the second; absent in older results.
    verdict: Optional[Literal['slower', 'faster', 'no_difference', 'cannot_be_told']] = None


@dataclass(kw_only=True)
class ConditionResult:
    """Whether a condition that a comparison had to keep was kept."""
    # The condition under which the comparison fails, as it was given: `throughput < 0.95`.
    fail_if: str
    # The rows that meet it, and not by chance, by their number from 0.
    met_by: list[int]


@dataclass(kw_only=True)
class Contamination:
    """How far others disturbed a measurement."""
    # Share of batches in which no other program used the processor; absent where the kernel does not report it.
    clean_frac: Optional[float] = None
    # Processors that other programs kept busy besides those that the case uses: the median over processes;
    # absent where the kernel does not report it.
    other_cpus: Optional[float] = None
    # Time that other programs used the processor over the time measured; absent where the kernel does not
    # report it.
    run_delay_frac: Optional[float] = None
    # Share of processes during which the processor computed slower than at full speed.
    slowed_frac: Optional[float] = None
    # Share of all processors' time that the hypervisor took meanwhile.
    steal_frac: Optional[float] = None
    # Share of the time in which a quota kept the control group off the processors; may be above 1 where several
    # are nested.
    throttled_frac: Optional[float] = None


@dataclass(kw_only=True)
class Device:
    """A device of a trace."""
    # Name as the source gives it: `vda`, `disk 0`, `usr_0`.
    name: str
    # Capacity in bytes, when recorded.
    capacity_bytes: Optional[int] = None
    # Partitions that the source names.
    partitions: Optional[list[Partition]] = None
    # Size of a sector in bytes, 0 when not recorded.
    sector_bytes: Optional[int] = None


@dataclass(kw_only=True)
class Direction:
    """The reads alone or the writes alone of a run."""
    # Bytes they moved.
    bytes: int
    # Completed requests.
    ios: int
    # Their response times.
    response_time_ns: ResponseTime
    # Bytes per second of the whole elapsed time.
    throughput_bytes_per_s: float


@dataclass(kw_only=True)
class DiskSummary:
    """One disk."""
    # Mean queue length by day, from the first day on; absent on days without requests (Figure 3).
    daily_queue_mean: list[float]
    # Index of the device.
    device: int
    # Requests and bytes.
    load: Load
    # Its name.
    name: str
    # Where a request begins relative to the end of the one before (Figure 9).
    distances: Optional[Distances] = None
    # Fraction of arrivals that found the disk idle: a queue of 1.
    idle_frac: Optional[float] = None
    # Idle periods, in nanoseconds.
    idle_ns: Optional[Distribution] = None
    # Fraction of the time with no request in the queue or at the disk.
    idle_time_frac: Optional[float] = None
    # Mean number of requests in the queue and at the disk while there is any.
    in_flight_mean: Optional[float] = None
    # Requests whose recorded queue length equals the recomputed one; absent when none is recorded.
    queue_agreement: Optional[QueueAgreement] = None
    # Requests in the queue at an arrival, itself included, recomputed from the times (Table 5, Figure 2); like
    # all figures of queues and idle times absent where the trace tells no completions.
    queue_length: Optional[Distribution] = None
    # Mean queue length seen by reads.
    queue_mean_read: Optional[float] = None
    # Mean queue length seen by writes.
    queue_mean_write: Optional[float] = None
    # Fraction of writes that write the same bytes as the write before.
    rewrite_frac: Optional[float] = None
    # Sequential requests (Table 7).
    sequential: Optional[Sequential] = None
    # Numbers of writes that follow each other within 30 ms (Figure 10); absent where arrivals are told in whole
    # seconds.
    write_bursts: Optional[Runs] = None
    # Numbers of writes with no read between them (Figure 10); absent without writes.
    write_groups: Optional[Runs] = None


@dataclass(kw_only=True)
class Distances:
    """Signed distances from the end of one request to the beginning of the next, in bytes."""
    # Distances by sign and logarithm: upper bound in bytes (negative ones: lower bound), count; in order.
    bins: list[list[Any]]
    # Number of distances.
    count: int
    # The most frequent distances of whole KiB within 256 KiB, in KiB, with their counts; the first is the
    # largest peak.
    peaks: list[list[Any]]


@dataclass(kw_only=True)
class Distribution:
    """How values are distributed. The unit is in the name of the field that holds it.  Quantiles are the
    upper bound of the bin they fall in, so they err upwards by at most the width of a bin; mean, least and
    largest are exact. All numbers are 0 when `count` is."""
    # Number of values.
    count: int
    # Largest value.
    max: float
    # Mean.
    mean: float
    # Least value.
    min: float
    # Median.
    p50: float
    # 80th percentile.
    p80: float
    # 90th percentile.
    p90: float
    # 95th percentile.
    p95: float
    # 99th percentile.
    p99: float
    # 99.9th percentile.
    p999: float
    # Bins that hold anything, in order: largest value in the bin, number of values.
    bins: Optional[list[list[Any]]] = None


@dataclass(kw_only=True)
class DistributionChange:
    """How a distribution changed."""
    # Its 95 % interval.
    ci95: list[float]
    # The largest difference of the shares of requests that lie at or below a value (Kolmogorov and Smirnov's
    # distance, looked for at the quantiles 0.1, 0.25, 0.5, 0.75 and 0.9 of each trace); of a share, the
    # difference.
    distance: float
    # Which; the unit of its values is in its name.
    name: Literal['reads', 'sequential', 'read_bytes', 'write_bytes', 'read_elapsed_ns', 'write_elapsed_ns', 'inter_arrival_ns', 'distance_bytes', 'queue_length']
    # The shares there, of the first trace and of the second.
    shares: list[float]
    # What follows, over everything that is compared together.
    verdict: Literal['changed', 'alike', 'cannot_be_told']
    # The value at which the shares differ most; absent for a share of the requests.
    at: Optional[float] = None


@dataclass(kw_only=True)
class Doctor:
    """All checks of a machine and a directory."""
    # The checks, those of the directory first.
    checks: list[Check]
    # The directory that was tried.
    directory: str


@dataclass(kw_only=True)
class Drift:
    """How the speed of a fixed reference workload moved during the evaluation."""
    # Largest relative distance of one from the median.
    largest: float
    # Their median.
    median: float
    # Points that were measured while the reference was off, and measured again.
    remeasured: int
    # Throughput of each re-measurement, in bytes per second, in time order.
    throughputs: list[float]
    # Points that stayed in doubt because every round was disturbed or time ran out.
    unresolved: Optional[int] = None


@dataclass(kw_only=True)
class Environment:
    """What the result was measured on. Absent fields could not be determined."""
    # The clock, as measured at start.
    clock: Optional[Clock] = None
    # Processors this process may run on.
    cpu_count: Optional[int] = None
    # Processor model.
    cpu_model: Optional[str] = None
    # Block device below it, such as `vda`.
    device: Optional[str] = None
    # Its firmware.
    device_firmware: Optional[str] = None
    # Speed of its link, such as `16.0 GT/s PCIe x4` or `6.0 Gbps`.
    device_link: Optional[str] = None
    # Vendor and model of the device, as it gives them.
    device_model: Optional[str] = None
    # Type of the file system, such as `ext4`.
    file_system: Optional[str] = None
    # Size of the file system.
    file_system_bytes: Optional[int] = None
    # Free space before the run.
    free_bytes: Optional[int] = None
    # What generating and timing one request costs without any I/O, from the null engine.
    harness_overhead_ns_per_io: Optional[float] = None
    # Machine, target and options by name, of work that can be continued: what must be the same when it is.
    # Names of options begin with `--`.
    identity: Optional[dict[str, str]] = None
    # Kernel name and release.
    kernel: Optional[str] = None
    # Load average over one minute before the run.
    load_before: Optional[float] = None
    # Memory of the machine.
    memory_bytes: Optional[int] = None
    # Memory limit the workers ran under, from `--memory` or an enclosing control group.
    memory_limit_bytes: Optional[int] = None
    # Parameters of the kernel command line about mitigations of processor weaknesses, such as
    # `mitigations=off`.
    mitigations: Optional[str] = None
    # Its mount options.
    mount_options: Optional[str] = None
    # Read-ahead of the device, in bytes.
    read_ahead_bytes: Optional[int] = None
    # Whether the device says that it rotates.
    rotational: Optional[bool] = None
    # I/O scheduler of the device.
    scheduler: Optional[str] = None
    # Hypervisor or container, such as `kvm`; `none` on bare metal.
    virtualization: Optional[str] = None
    # The kernel's dirty-page settings (`/proc/sys/vm/dirty_*`), as they stand.
    vm_dirty: Optional[dict[str, int]] = None


@dataclass(kw_only=True)
class ErrorBin:
    """The median error of the workloads whose parameter lies in one range (figure 13)."""
    # Their median error.
    median_error: float
    # From and to of the parameter, in its own unit.
    range: list[float]
    # Workloads in it.
    workloads: int


@dataclass(kw_only=True)
class ErrorFigures:
    """How wrong a model is on workloads it had not seen. An error is |predicted - measured| / measured."""
    # Median over all workloads.
    median_error: float
    # 75th percentile.
    p75_error: float
    # 90th percentile.
    p90_error: float
    # Median without the workloads near a border between regions (figures 15 and 24); absent when none is left.
    enhanced_median_error: Optional[float] = None
    # Share of the single measurements that fall into the 90 % interval; absent for a model without intervals.
    interval90_coverage: Optional[float] = None


@dataclass(kw_only=True)
class Evaluation:
    """A self-scaling evaluation, whole or as far as it came."""
    # The borders between levels of the hierarchy.
    borders: list[Border]
    # Sum of the wall time of all probes, in seconds.
    elapsed_s: float
    # What it means.
    findings: Findings
    # Distinct points measured, repetitions and references not counted.
    points_measured: int
    # The plateaus, in order of `unique_bytes`.
    regions: list[Region]
    # What was evaluated, as the user named it.
    target: str
    # Throughput against `unique_bytes` with the focal mix.
    unique_bytes_curve: list[Point]
    # The first try of section 7, when asked for.
    all_parameters: Optional[AllParameters] = None
    # How steady the machine was.
    drift: Optional[Drift] = None
    # Workloads off all curves, measured where the prediction was least certain; `value` is their
    # `unique_bytes`.
    extra: Optional[list[Point]] = None
    # How probable each number of regions is, the most probable first; empty where it was not asked.
    level_counts: Optional[list[LevelCount]] = None
    # The same target evaluated with further accesses, or under a memory limit that its sets outgrow, each by
    # itself and with no more of these.
    other_accesses: Optional[list[Evaluation]] = None
    # Every probe in order.
    probes: Optional[list[Probe]] = None
    # What it was asked to do.
    settings: Optional[Settings] = None
    # The phases that were left out or shortened, with the reason.
    shortened: Optional[dict[str, str]] = None
    # Smallest and largest `unique_bytes` that was allowed.
    unique_bytes_range: Optional[list[float]] = None
    # The same with pure reads, random and without read-ahead: the search for the read cache.
    unique_bytes_read_curve: Optional[list[Point]] = None
    # Slope of the curve of the focal mix.
    unique_bytes_slope: Optional[list[SlopePoint]] = None
    # The same with pure writes, random: the search for the write cache.
    unique_bytes_write_curve: Optional[list[Point]] = None


@dataclass(kw_only=True)
class FigureChange:
    """How a figure changed."""
    # Its 95 % interval.
    ci95: list[float]
    # Which; its unit is in its name.
    name: Literal['requests_per_s', 'read_bytes_per_s', 'write_bytes_per_s', 'read_bytes_mean', 'write_bytes_mean', 'read_elapsed_ns_mean', 'write_elapsed_ns_mean', 'queue_length_mean']
    # The second trace's over the first's.
    ratio: float
    # Of the first trace and of the second.
    values: list[float]
    # What follows, over everything that is compared together.
    verdict: Literal['changed', 'alike', 'cannot_be_told']


@dataclass(kw_only=True)
class FileTraits:
    """One file of an application."""
    # How the requests reach storage, as far as the open flags show.
    access: Literal['buffered', 'direct', 'dsync']
    # Seconds in which at least one process was in its I/O phase.
    active_s: float
    # Bytes they moved.
    bytes: int
    # 1 less the largest of the three distances below: 1 is a workload of the model itself, 0 nothing like it.
    goodness: float
    # Regular file or block device.
    kind: Literal['regular', 'block_device', 'others']
    # Bytes that were mapped into memory; loads and stores there are not seen.
    mapped_bytes: int
    # How far the share of successive requests of different kinds, read and write, is from the model's 2 r (1 -
    # r).
    mix_distance: float
    # How often it was opened.
    opens: int
    # Path at its first use; ` (deleted)` follows where it no longer had a name.
    path: str
    # Mean number of processes in their I/O phase at the same time, rounded, at least 1.
    process_num: int
    # Fraction of bytes that are read: where it is far from `read_frac`, reads and writes have different sizes.
    read_bytes_frac: float
    # Fraction of requests that are reads.
    read_frac: float
    # Number of requests: calls that moved bytes.
    requests: int
    # Mean time of a request, less what tracing adds and waits for a processor.
    response_time_ns: float
    # The same for the lengths of sequential runs, which are geometric in the model.
    run_distance: float
    # Fraction of requests that start where the same process's previous request to the same file ended.
    seq_frac: float
    # Largest difference between the cumulative distributions of the sizes seen and of `size_distribution`.
    size_distance: float
    # The distribution that is nearest to the sizes seen.
    size_distribution: Literal['normal', 'bernoulli', 'exponential', 'fixed']
    # Mean of the bytes that a call moved.
    size_mean: int
    # Fraction of requests that start where the same process's previous request to any file ended.
    strict_seq_frac: float
    # Mean time of a sync, less the same.
    sync_time_ns: float
    # Calls that waited for dirty pages: `fsync`, `fdatasync`, `sync_file_range`.
    syncs: int
    # Mean time that a process spends between two requests.
    think_time_ns: int
    # Distinct bytes that were read or written, in whole pages of 4 KiB but never past the last byte touched.
    unique_bytes: int


@dataclass(kw_only=True)
class Findings:
    """What the papers' authors read off the graphs, in numbers and in words."""
    # Best throughput with several processes over that with one.
    concurrency_gain: Optional[list[RegionFinding]] = None
    # Undisturbed over mean write throughput in the cache: 1 when flushing costs nothing.
    flush_slowdown: Optional[Bounded] = None
    # Least depth of the queue with 90 % of the best throughput; only with asynchronous requests.
    queue_depth_for_90_percent: Optional[list[RegionFinding]] = None
    # Best throughput with a deeper queue over that with one request at a time; only with asynchronous requests.
    queue_depth_gain: Optional[list[RegionFinding]] = None
    # Effective file-cache size for reads, in bytes: the first border of pure reads.
    read_cache_bytes: Optional[Bounded] = None
    # The findings in words, each with its evidence.
    sentences: Optional[list[str]] = None
    # Throughput of all-sequential over all-random requests.
    sequential_gain: Optional[list[RegionFinding]] = None
    # Whether concurrent writers to one file wait for one another, through the file cache and past it; empty
    # where that was not measured.
    single_writer: Optional[list[WriterScaling]] = None
    # Least request size that gives 75 % of the best throughput, in bytes.
    size_for_75_percent_bytes: Optional[list[RegionFinding]] = None
    # Effective file-cache size for writes, in bytes: the first border of pure writes.
    write_cache_bytes: Optional[Bounded] = None
    # Write policy; absent when it could not be determined.
    write_policy: Optional[Literal['write-through', 'write-cancelling', 'mixed', 'not-cached']] = None
    # Throughput of pure writes over pure reads.
    write_to_read_ratio: Optional[list[RegionFinding]] = None


@dataclass(kw_only=True)
class FocalRange:
    """The range of one parameter in which the system performs well (self-scaling paper, section 7)."""
    # The curve with all other parameters at their focal points.
    curve: list[Point]
    # The 75 % performance point: the least restrictive value with at least 75 % of the best throughput.
    focal: float
    # Which parameter.
    parameter: Literal['unique_bytes', 'size_mean', 'read_frac', 'seq_frac', 'process_num', 'queue_depth']
    # From and to of the values with at least 75 % of the best throughput.
    performs_well: list[float]


@dataclass(kw_only=True)
class HeatMap:
    """Counts over time and a second, logarithmic axis."""
    # Counts that are not 0: column, row, count.
    cells: list[list[Any]]
    # Upper bounds of the rows.
    rows_to: list[float]
    # Beginning of the first column.
    start_ns: int
    # Width of a column.
    step_ns: int


@dataclass(kw_only=True)
class HostCacheAbsorption:
    """What a non-volatile cache at the host of each given size absorbs, emptied at the end of every interval:
    an exact simulation of caches that fill in the order of first writes. The summary of a trace asks the
    wider question of how much an interval writes ([`Absorption`](crate::trace_summary::Absorption)), whose
    shares are lower bounds of these."""
    # Length of an interval.
    interval_s: float
    # Intervals with such writes.
    intervals: int
    # By size.
    points: list[HostCachePoint]
    # Which writes: `all`, `metadata` or `user_data`.
    writes: str


@dataclass(kw_only=True)
class HostCachePoint:
    """One size of a write cache at the host."""
    # Its size.
    cache_bytes: int
    # Share of the intervals with writes in which it takes all of them (figure 17 of Ruemmler & Wilkes 1993).
    intervals: float
    # Share of the bytes written that overwrite bytes in it (figure 18, overwrites).
    overwrites: float
    # Share of the bytes written that it takes (figure 18, total).
    total: float


@dataclass(kw_only=True)
class LevelCount:
    """One number of regions, and how probable it is."""
    # 0 to 1, given everything that was measured.
    probability: float
    # Regions by the size of the set, 1 or more.
    regions: int
    # Where levels then most probably end for reads, in bytes, ascending.
    read_borders: Optional[list[float]] = None
    # The same for writes.
    write_borders: Optional[list[float]] = None


@dataclass(kw_only=True)
class Load:
    """Requests and bytes of one kind."""
    # Requests.
    ios: int
    # Bytes read.
    read_bytes: int
    # Those that read; all of them where the trace does not tell operations (a warning of kind
    # `operations_unknown` says so).
    reads: int
    # Bytes written; a discard moves none.
    write_bytes: int


@dataclass(kw_only=True)
class MabProof:
    """Proof that the Modified Andrew Benchmark did all of its work."""
    # Bytes of the source tree.
    bytes: int
    # The compiler: `built in`, or the command given.
    compiler: str
    # Source files compiled.
    compiles: int
    # Files and bytes of the source tree.
    files: int
    # Hash of all objects, archives and the linked program.
    object_hash: str
    # Whether the hash is the known one, so that nothing was left out.
    whole: bool
    # The program that every process of the run went over to when its step was done; absent where each step was
    # a start of `ioscape`, as up to version 0.1, which took most of the time.
    processes_end_in: Optional[str] = None


@dataclass(kw_only=True)
class MeasuredComparison:
    """Two documents of one kind, row by row."""
    # Their machines, in the same order.
    environments: list[Environment]
    # Key of the documents' outcome, such as `campaign`.
    kind: str
    # The margin of equality: ratios from `1 - margin` to `1 + margin` count as no difference.
    margin: float
    # How many rows only the second and only the first has.
    only_in: list[int]
    # Every shared row.
    rows: list[MeasuredRow]
    # The second system and the first: ratios are the second's figures over the first's.
    systems: list[str]
    # Whether the condition was kept; absent without one.
    condition: Optional[ConditionResult] = None


@dataclass(kw_only=True)
class MeasuredRow:
    """One row that both documents have."""
    # What the interval rests on.
    basis: Literal['same_measurement', 'rounds', 'single_run', 'interleaved']
    # Its 95 % interval: low and high.
    ci95: list[float]
    # What `values` count.
    metric: Literal['throughput', 'rate', 'time']
    # The second system's figure over the first's.
    ratio: float
    # Rounds or processes behind each.
    rounds: list[int]
    # The figure of the second system and that of the first.
    values: list[float]
    # How the second system is; chance is ruled out over all rows together.
    verdict: Literal['slower', 'faster', 'no_difference', 'cannot_be_told']
    # Name of the row; absent for a workload that is given by its parameters alone.
    name: Optional[str] = None
    # Every round of the second and of the first, in the order taken; absent where the documents hold them.
    samples: Optional[list[list[float]]] = None
    # The workload; absent where rows are something else.
    workload: Optional[Workload] = None


@dataclass(kw_only=True)
class Measurement:
    """One workload, measured: how much, how fast, how certain, at what cost."""
    # Bytes moved in the measured part.
    bytes: int
    # User and system nanoseconds per request.
    cpu_ns_per_io: float
    # System seconds of the same.
    cpu_system_s: float
    # User seconds of all threads of all workers, kernel helper threads included.
    cpu_user_s: float
    # Length of the measured part, in seconds.
    elapsed_s: float
    # Share of the elapsed time spent in I/O: one minus what the harness itself needs.
    io_time_frac: float
    # Completed requests in the measured part.
    ios: int
    # Response times of all requests.
    response_time_ns: ResponseTime
    # Why the run ended.
    stop: Literal['confident', 'time_cap', 'interrupted']
    # Bytes per second, all processes together.
    throughput_bytes_per_s: float
    # 95 % confidence interval of the throughput: low and high, from batch means.
    throughput_ci95: list[float]
    # What was run.
    workload: Workload
    # Throughput of the busiest tenth of the run's time slices over its mean: about 1 when steady, large when
    # stalled.
    burst_ratio: Optional[float] = None
    # The clients, where several ran the workload at the same time: each ran it with a set of its own, and
    # everything else here is their sum. Quantiles of response times are those of the client with the longest.
    clients: Optional[Clients] = None
    # Wall seconds the whole point took: layout, flush, warm-up and measurement.
    cost_s: Optional[float] = None
    # Whether load by others, stolen time or drift disturbed the run.
    disturbed: Optional[bool] = None
    # Whether removing the I/O would shorten the run more than removing all else (self-scaling paper, section
    # 2).
    io_limited: Optional[bool] = None
    # Name of the job, where the user gave one.
    name: Optional[str] = None
    # Processors that other programs kept busy in user mode during the measured part, on average.
    other_cpu: Optional[float] = None
    # The reads; absent when none was issued.
    read: Optional[Direction] = None
    # Share of the set that was in the file cache after the run; absent where it cannot be asked.
    resident_frac: Optional[float] = None
    # Mean response time by Little's law, requests in flight over request rate, in nanoseconds: a cross-check.
    response_time_littles_law_ns: Optional[float] = None
    # Bytes the storage layer read for the workers; absent where the kernel does not count them.
    storage_read_bytes: Optional[int] = None
    # What verifying its data found, where it was asked for.
    verify: Optional[VerifyReport] = None
    # Seconds of warm-up before the measured part.
    warm_up_s: Optional[float] = None
    # Warnings about this run.
    warnings: Optional[list[Warning]] = None
    # What the kernel says in addition to the throughput.
    witness: Optional[Witness] = None
    # The writes; absent when none was issued.
    write: Optional[Direction] = None


@dataclass(kw_only=True)
class MemoryForecast:
    """An application's throughput by the memory of the system."""
    # Bytes of memory, file cache included, and the throughput in bytes per second with them.
    curve: list[list[Any]]
    # Least memory with which it reaches 90 % of the throughput that any memory gives, in bytes.
    for_90_percent_bytes: float
    # 90 % interval of that memory, in bytes, from what makes the shares of hits uncertain.
    for_90_percent_interval90: Optional[list[float]] = None


@dataclass(kw_only=True)
class MissRatio:
    """Miss ratio of an LRU cache by its size, reads and writes alike, every miss allocating."""
    # The curves: exact where the block table was small enough, and sampled by block (SHARDS).
    curves: list[MissRatioCurve]


@dataclass(kw_only=True)
class MissRatioCurve:
    """One miss-ratio curve."""
    # Distinct blocks followed.
    blocks: int
    # Mean absolute error of the miss ratio over all sizes: against the exact curve where there is one, else a
    # bound of it that holds for nine of ten traces, the mean half width of `interval90`; 0 for the exact curve.
    error: float
    # One block in this many is followed; 1 is exact.
    one_in: int
    # Cache size in bytes, miss ratio.
    points: list[list[Any]]
    # For each point of a sampled curve, between which miss ratios the exact curve lies: for nine of ten traces
    # at every point.
    interval90: Optional[list[list[float]]] = None


@dataclass(kw_only=True)
class OpTimes:
    """Times of reads, of writes, and of both."""
    # Both.
    all: Times
    # Reads.
    read: Times
    # Writes.
    write: Times


@dataclass(kw_only=True)
class OsBenchmark:
    """One case of one benchmark."""
    # Which case of it: `10 full`.
    case: str
    # Name as `--only` takes it: `getpid`.
    name: str
    # What `value` counts.
    unit: Literal['ns', 'bytes/s', '1/s']
    # Distribution-free interval that holds the median over processes 95 times of 100: over those that count, or
    # over all where fewer than six count; absent with fewer than six in all. Where the processor was slow
    # without a visible reason it also holds what they would be at full speed.
    ci95: Optional[list[float]] = None
    # How far others disturbed it.
    contamination: Optional[Contamination] = None
    # Seconds that all processes of the case took, preparation included.
    elapsed_s: Optional[float] = None
    # MIPS-relative speed, for the cases that the paper has one for.
    mips_relative: Optional[float] = None
    # Why there is no value.
    not_measured: Optional[str] = None
    # Where its files are; absent where no files are used.
    place: Optional[Literal['local', 'remote']] = None
    # The number of every fresh process that counts.
    processes: Optional[list[float]] = None
    # How a process's number is made of its batches.
    rule: Optional[Literal['clean_quartile', 'quartile', 'mean', 'single']] = None
    # The numbers of processes that do not count, for they were disturbed: evidence, and no results.
    set_aside: Optional[list[float]] = None
    # How many times as long as at full speed a fixed computation took during each of those processes, those
    # that count first: 1 where the number was made at full speed, or no computation tried.
    slower: Optional[list[float]] = None
    # What those tasks are.
    task_kind: Optional[Literal['processes', 'threads']] = None
    # How many tasks do the operation at the same time; absent where it is one process. `value` is then of all
    # together.
    tasks: Optional[int] = None
    # What the case tells, in one sentence.
    teaches: Optional[str] = None
    # The value; absent when it could not be measured, and `not_measured` then says why.
    value: Optional[float] = None
    # Warnings about this case.
    warnings: Optional[list[Warning]] = None


@dataclass(kw_only=True)
class OsResults:
    """Results of `ioscape os`."""
    # Every case.
    benchmarks: list[OsBenchmark]
    # Integer rating by Dhrystone 2.1, VAX-11/780 = 1; absent when it was not measured.
    dhrystone_mips: Optional[float] = None
    # Time all of it took, in seconds.
    elapsed_s: Optional[float] = None
    # Geometric mean of all MIPS-relative speeds without bcopy, the value of the paper's Figure 1.
    geometric_mean_mips_relative: Optional[float] = None
    # The same with bcopy.
    geometric_mean_with_bcopy: Optional[float] = None
    # How many of the eight benchmarks of the paper the mean is made of.
    in_geometric_mean: Optional[int] = None
    # Proof of work of the Modified Andrew Benchmark.
    mab: Optional[MabProof] = None
    # The rating that MIPS-relative speeds use: `--mips`, else that of Dhrystone.
    mips: Optional[float] = None
    # Whether `mips` was given by the user.
    mips_given: Optional[bool] = None
    # Time the Modified Andrew Benchmark takes more on a remote file system, over the local time.
    remote_penalty: Optional[float] = None
    # What of the system affects the numbers.
    system: Optional[OsSystem] = None


@dataclass(kw_only=True)
class OsSystem:
    """What of the system affects these numbers, as found."""
    # Data caches from the first level on, in bytes.
    caches_bytes: Optional[list[int]] = None
    # The processor that pinned benchmarks ran on.
    pinned_cpu: Optional[int] = None
    # The processor that benchmarks on two processors used in addition.
    second_cpu: Optional[int] = None
    # Settings by name: seccomp mode, frequency governor, clock source, transparent huge pages and the like.
    settings: Optional[dict[str, str]] = None
    # State of each known processor weakness and its mitigation.
    vulnerabilities: Optional[dict[str, str]] = None


@dataclass(kw_only=True)
class Overwrites:
    """Blocks written again (Figure 12).  A request of n bytes touches n / block blocks, rounded up, from the
    block it begins in."""
    # Blocks written, each time counted.
    block_writes: int
    # Within an hour.
    within_1h: float
    # Within 30 seconds.
    within_30s: float
    # Time from one write of a block to its next, in nanoseconds; absent where arrivals are told in whole
    # seconds.
    delay_ns: Optional[Distribution] = None
    # Fraction of the overwrites within a second; absent where arrivals are told in whole seconds.
    within_1s: Optional[float] = None


@dataclass(kw_only=True)
class Partition:
    """A partition of a device."""
    # Name or mount point: `/usr`, `swap`.
    name: str
    # Number as in [`Io::partition`].
    number: int


@dataclass(kw_only=True)
class PartitionShare:
    """One partition of one disk (Table 3)."""
    # Index of the device.
    device: int
    # Name of the device.
    disk: str
    # Requests.
    ios: int
    # Name of the partition, empty when the source tells none.
    name: str
    # Number of the partition.
    partition: int
    # Bytes read.
    read_bytes: int
    # Those that read; all of them where the trace does not tell operations (a warning of kind
    # `operations_unknown` says so).
    reads: int
    # Bytes written; a discard moves none.
    write_bytes: int


@dataclass(kw_only=True)
class Point:
    """One point of a single-parameter curve."""
    # The measurement whose throughput is nearest to the median of the rounds.
    measurement: Measurement
    # Value of the varied parameter, in its own unit.
    value: float
    # Throughput of every round that counts, in bytes per second, in the order measured.
    rounds: Optional[list[float]] = None
    # Spread of the rounds: half of largest minus smallest, over the median; absent with one round.
    spread: Optional[float] = None


@dataclass(kw_only=True)
class Popularity:
    """How writes spread over blocks, the most written first (Figure 13)."""
    # Distinct blocks written.
    blocks_written: int
    # Share of the block writes that go to the most written n blocks: n, share.
    curve: list[list[Any]]
    # Share that goes to 1 % of the written blocks.
    top_1_percent_written: float
    # Share that goes to 1 % of all blocks of the devices, when their capacity is told.
    top_1_percent_capacity: Optional[float] = None


@dataclass(kw_only=True)
class Prediction:
    """The predicted performance of one workload on one system (self-scaling paper, section 9)."""
    # Whether some parameter lies outside the range that was measured: then the interval is a guess.
    extrapolated: bool
    # Range that holds nine of ten measurements of such a workload, in bytes per second: low and high.
    interval90: list[float]
    # Requests per second.
    iops: float
    # Name of the region that holds the workload's `unique_bytes`.
    region: str
    # Mean response time by Little's law: requests in flight over request rate.
    response_time_ns: float
    # Bytes per second, all processes together.
    throughput_bytes_per_s: float
    # The workload.
    workload: Workload
    # What else is predicted of an application whose trace was given.
    application: Optional[ApplicationForecast] = None
    # Name of the workload in its set, such as `database`; absent for one given by its parameters.
    name: Optional[str] = None
    # The system: the evaluation's target, or the name of the result file where several systems are asked.
    system: Optional[str] = None


@dataclass(kw_only=True)
class Probe:
    """One call of the probe, in the order made: the raw record, from which an interrupted evaluation
    resumes."""
    # What came out; its `workload` is what was asked.
    measurement: Measurement
    # What it was made for.
    purpose: Any


@dataclass(kw_only=True)
class ProcessShare:
    """What one process or command issued."""
    # Its command, empty when not told.
    command: str
    # Distinct bytes touched, estimated to 3 %.
    footprint_bytes: int
    # Requests.
    ios: int
    # Process number.
    process: int
    # Bytes read.
    read_bytes: int
    # Those that read; all of them where the trace does not tell operations (a warning of kind
    # `operations_unknown` says so).
    reads: int
    # Bytes written; a discard moves none.
    write_bytes: int
    # Mean elapsed time in nanoseconds.
    elapsed_mean_ns: Optional[float] = None


@dataclass(kw_only=True)
class ProcessTraits:
    """One process or thread of an application."""
    # How the requests reach storage, as far as the open flags show.
    access: Literal['buffered', 'direct', 'dsync']
    # Seconds in which at least one process was in its I/O phase.
    active_s: float
    # Bytes they moved.
    bytes: int
    # The program's name, at most 15 bytes of it.
    command: str
    # 1 less the largest of the three distances below: 1 is a workload of the model itself, 0 nothing like it.
    goodness: float
    # How far the share of successive requests of different kinds, read and write, is from the model's 2 r (1 -
    # r).
    mix_distance: float
    # Process number as the system gave it.
    pid: int
    # Mean number of processes in their I/O phase at the same time, rounded, at least 1.
    process_num: int
    # Fraction of bytes that are read: where it is far from `read_frac`, reads and writes have different sizes.
    read_bytes_frac: float
    # Fraction of requests that are reads.
    read_frac: float
    # Number of requests: calls that moved bytes.
    requests: int
    # Mean time of a request, less what tracing adds and waits for a processor.
    response_time_ns: float
    # The same for the lengths of sequential runs, which are geometric in the model.
    run_distance: float
    # Fraction of requests that start where the same process's previous request to the same file ended.
    seq_frac: float
    # Largest difference between the cumulative distributions of the sizes seen and of `size_distribution`.
    size_distance: float
    # The distribution that is nearest to the sizes seen.
    size_distribution: Literal['normal', 'bernoulli', 'exponential', 'fixed']
    # Mean of the bytes that a call moved.
    size_mean: int
    # Fraction of requests that start where the same process's previous request to any file ended.
    strict_seq_frac: float
    # Mean time of a sync, less the same.
    sync_time_ns: float
    # Calls that waited for dirty pages: `fsync`, `fdatasync`, `sync_file_range`.
    syncs: int
    # Mean time that a process spends between two requests.
    think_time_ns: int
    # Thread number; the same as `pid` for the first thread.
    tid: int
    # Distinct bytes that were read or written, in whole pages of 4 KiB but never past the last byte touched.
    unique_bytes: int


@dataclass(kw_only=True)
class QueueAgreement:
    """How often recorded and recomputed queue lengths agree."""
    # Those where it equals the recomputed one.
    equal: int
    # Requests with a recorded queue length.
    recorded: int


@dataclass(kw_only=True)
class RefusedStep:
    """A step of a validation that the target refused."""
    # Why it is not possible.
    reason: str
    # Its number, from 0.
    step: int


@dataclass(kw_only=True)
class Region:
    """A plateau of the `unique_bytes` curve: one level of the storage hierarchy."""
    # The four curves.
    curves: RegionCurves
    # The focal vector: the workload at which all other parameters stay while one is varied.
    focal: Workload
    # Short name such as `region 1`, in order of `unique_bytes`.
    name: str
    # From and to, in bytes.
    unique_bytes: list[float]


@dataclass(kw_only=True)
class RegionCurves:
    """The curves of the four other parameters in one region (self-scaling paper, figure 7), and that of the
    queue's depth."""
    # Throughput of all clients together against their number, each with a set of its own; where several took
    # part.
    client_num: Optional[list[Point]] = None
    # Throughput against the number of processes.
    process_num: Optional[list[Point]] = None
    # Throughput against the depth of the queue; empty where requests are issued one at a time.
    queue_depth: Optional[list[Point]] = None
    # Throughput against the fraction of reads.
    read_frac: Optional[list[Point]] = None
    # Throughput against the fraction of sequential requests.
    seq_frac: Optional[list[Point]] = None
    # Throughput against mean request size.
    size_mean: Optional[list[Point]] = None


@dataclass(kw_only=True)
class RegionFinding:
    """A finding that differs from region to region."""
    # Upper error bound.
    high: float
    # Lower error bound.
    low: float
    # Name of the region.
    region: str
    # Best estimate.
    value: float


@dataclass(kw_only=True)
class ReplayedKind:
    """Requests of one kind."""
    # Bytes they moved or discarded.
    bytes: int
    # Completed requests.
    ios: int
    # `read`, `write`, `flush` (as `fdatasync`) or `discard` (zeroing included, as `fallocate`).
    kind: str
    # From issue to completion, in nanoseconds.
    response_time_ns: ResponseTime


@dataclass(kw_only=True)
class RequestClass:
    """Requests of one kind and about one size."""
    # Bytes they moved.
    bytes: int
    # Sizes of an LRU cache that begins empty, in bytes, each with the share of the class's bytes that it
    # misses: read bytes not found there; written bytes that are new to it or left it since they were last
    # written, and so go to storage.
    miss_ratio: list[list[Any]]
    # Read or write.
    op: Literal['read', 'write']
    # Number of requests.
    requests: int
    # Mean time of one where it was traced.
    response_time_ns: float
    # Whether each begins where the same process's previous request of this kind to the same file ended.
    sequential: bool
    # Half the width of the 90 % interval of each share of `miss_ratio`, from how much parts of the trace
    # differ; empty in older results.
    miss_ratio_half90: Optional[list[float]] = None
    # Bytes of the sequential run that one of their bytes belongs to, in the mean: what write-back can gather.
    run_bytes: Optional[float] = None


@dataclass(kw_only=True)
class ResponseTime:
    """Summary of response times, in nanoseconds."""
    # Longest.
    max: int
    # Arithmetic mean.
    mean: float
    # Median.
    p50: int
    # 90th percentile.
    p90: int
    # 99th percentile.
    p99: int
    # 99.9th percentile.
    p999: int


@dataclass(kw_only=True)
class Runs:
    """Runs of requests: how long they are and how many requests are in runs of each length."""
    # Requests by length of their run: upper bound of the length, requests.
    bins: list[list[Any]]
    # Fraction of requests that continue a run: all but the first of each.
    following_frac: float
    # Fraction of requests in runs of 100 or more.
    in_100_frac: float
    # Fraction of requests in runs of 20 or more.
    in_20_frac: float
    # Fraction of requests in runs of 50 or more.
    in_50_frac: float
    # Requests in them.
    ios: int
    # The longest run.
    longest: int
    # Number of runs.
    runs: int
    # Fraction of requests in runs of one.
    single_frac: float


@dataclass(kw_only=True)
class Sequential:
    """Requests that begin where the one before on the disk ended, or the interleave after it."""
    # Reads that begin where the request before ended.
    adjacent_reads: int
    # Writes that do.
    adjacent_writes: int
    # The file system's interleave in bytes, as given or as found; 0 without one.
    interleave_bytes: int
    # Reads that begin that much further.
    interleaved_reads: int
    # Writes that do.
    interleaved_writes: int


@dataclass(kw_only=True)
class Settings:
    """What an evaluation was asked to do: with the same settings and the same answers it takes the same
    course."""
    # Whether section 7's search in all parameters was asked for.
    all_parameters: bool
    # The workload that all others differ from in the five parameters only.
    base: Workload
    # Time the evaluation may take, in seconds.
    budget_s: float
    # Smallest and largest `process_num`.
    process_num: list[int]
    # Smallest and largest `size_mean`, in bytes.
    size_mean: list[int]
    # Smallest and largest `unique_bytes`.
    unique_bytes: list[int]
    # Time after which a natural flush must have shown itself, in seconds; absent when unknown.
    flush_interval_s: Optional[float] = None
    # Rate at which the set was laid out, in bytes per second; absent when unknown.
    layout_bytes_per_s: Optional[float] = None
    # Memory limit of the workers, when one was asked for.
    memory_limit_bytes: Optional[int] = None
    # Most different workloads that may be measured; absent without a limit.
    points_max: Optional[int] = None


@dataclass(kw_only=True)
class SimulatedCell:
    """One combination of policies."""
    # Bytes overwritten in the disk's buffer, which never went to the medium.
    absorbed_bytes: int
    # Write cache at the disk: `none`, `immediate` or `nvram`.
    cache: str
    # Time in queue and at the disk.
    elapsed: SimulatedOperations
    # Where the time goes.
    parts: SimulatedParts
    # Time at the disk (issue to completion).
    physical: SimulatedOperations
    # Distribution of physical times: `[nanoseconds, share of requests that took at most this]`.
    physical_distribution: list[list[float]]
    # Whether the disk reads ahead.
    read_ahead: bool
    # The host's order of requests.
    scheduler: str
    # Bytes the host wrote.
    written_bytes: int
    # Against the recorded times, where every trace was simulated on a drive of its own; otherwise it is told
    # once for all cells.
    agreement: Optional[SimulationAgreement] = None
    # The array that stands for every device: `raid0:DISKS:CHUNK`, `raid1:DISKS` or `raid5:DISKS:CHUNK`; absent:
    # a drive alone.
    array: Optional[str] = None
    # Its size.
    cache_bytes: Optional[int] = None
    # Order in which it is written to the medium: `fcfs` or `satf`.
    destage: Optional[str] = None
    # The drive, where drives are compared or devices have different ones.
    drive: Optional[str] = None
    # Energy that all drives took, in joules, where their files tell it.
    energy_j: Optional[float] = None
    # Commands that a disk takes at once, where it is more than one.
    queue_depth: Optional[int] = None
    # Mean share of the time in which a drive has a command; absent in files of before it was kept.
    utilization: Optional[float] = None
    # Bytes programmed into flash for every byte written, of a solid-state drive.
    write_amplification: Optional[float] = None


@dataclass(kw_only=True)
class SimulatedOperations:
    """Times of all requests, of reads and of writes."""
    # Both.
    all: SimulatedTimes
    # Reads.
    read: SimulatedTimes
    # Writes.
    write: SimulatedTimes


@dataclass(kw_only=True)
class SimulatedParts:
    """Mean parts of a request's time, in nanoseconds; what overlaps counts in each."""
    # On the bus or waiting for it.
    bus_ns: float
    # Controller.
    overhead_ns: float
    # In the host's queue.
    queue_ns: float
    # Rotation.
    rotation_ns: float
    # Seek and settling.
    seek_ns: float
    # Medium.
    transfer_ns: float
    # At the disk, waiting for the mechanism or for room in its buffer.
    wait_ns: float


@dataclass(kw_only=True)
class SimulatedTimes:
    """Times of a group of requests, in nanoseconds."""
    # Longest.
    max_ns: int
    # Mean.
    mean_ns: float
    # Median.
    p50_ns: int
    # 90 % are at most this.
    p90_ns: int
    # 99 % are at most this.
    p99_ns: int
    # Requests.
    requests: int


@dataclass(kw_only=True)
class Simulation:
    """The result of `ioscape simulate`."""
    # When requests came: `queued`, `issued` or `closed`.
    arrivals: str
    # All combinations, in the order asked.
    cells: list[SimulatedCell]
    # Devices of the trace that were simulated.
    devices: list[str]
    # The drive.
    drive: str
    # How far its parameters can be trusted.
    drive_status: str
    # Requests simulated in every cell.
    requests: int
    # The trace, as named.
    trace: str
    # Writes absorbed at the host.
    absorption: Optional[list[HostCacheAbsorption]] = None
    # Against the recorded times, when the trace has them.
    agreement: Optional[SimulationAgreement] = None


@dataclass(kw_only=True)
class SimulationAgreement:
    """How far simulated physical times are from the recorded ones."""
    # Root mean square distance of the distributions as a share of the measured mean; blind to single requests.
    demerit: float
    # Distribution of the recorded times, as in a cell.
    measured_distribution: list[list[float]]
    # Mean of the recorded times.
    measured_mean_ns: float
    # Median of their absolute errors.
    paired_median_ns: float
    # Requests soon after another, predicted one by one from the recorded state of the disk: how many.
    paired_requests: int
    # Share of them within a millisecond.
    paired_within_1ms: float
    # Requests compared.
    requests: int
    # Distribution of the simulated times of the same requests, in the first combination.
    simulated_distribution: list[list[float]]
    # Mean of the simulated times.
    simulated_mean_ns: float
    # Root mean square distance of the distributions; 0 in files of before it was kept.
    rms_ns: Optional[float] = None


@dataclass(kw_only=True)
class SizesOfType:
    """Sizes of one type and operation (Figure 11)."""
    # Sizes in bytes.
    bytes: Distribution
    # What the blocks hold.
    io_type: Literal['unknown', 'user_data', 'inode', 'directory', 'indirect', 'bitmap', 'superblock', 'journal', 'swap']
    # Read or write.
    op: Literal['read', 'write']


@dataclass(kw_only=True)
class SlopePoint:
    """Slope of the `unique_bytes` curve (self-scaling paper, figure 6)."""
    # Change of log throughput per change of log `unique_bytes`, without unit.
    slope: float
    # Geometric middle of two neighbouring points, in bytes.
    unique_bytes: float


@dataclass(kw_only=True)
class SlowRequests:
    """Requests that took longer than a limit from arrival to completion."""
    # The limit.
    above_ns: int
    # Those that found nothing else under way on their device.
    alone: int
    # Whose requests the others waited behind, the most frequent first: the process whose requests were under
    # way for longest while the slow one was.
    behind: list[Behind]
    # How many took longer.
    ios: int
    # Those that spent more time in the queue than at the device.
    mostly_queued: int
    # Of so many requests.
    of_ios: int


@dataclass(kw_only=True)
class TimePart:
    """One part of an application's time."""
    # What is done: `reads from memory`, `reads from storage`, `computing` and so on.
    name: str
    # For how long, in seconds.
    seconds: float


@dataclass(kw_only=True)
class TimeStep:
    """One step of time, by arrival."""
    # Requests.
    ios: int
    # Bytes read.
    read_bytes: int
    # Those that read; all of them where the trace does not tell operations (a warning of kind
    # `operations_unknown` says so).
    reads: int
    # Bytes written; a discard moves none.
    write_bytes: int
    # Longest elapsed time.
    elapsed_max_ns: Optional[float] = None
    # Mean elapsed time in nanoseconds; absent without requests, and where the trace tells no completions.
    elapsed_mean_ns: Optional[float] = None
    # Median of the elapsed time; quantiles are kept for the finest timeline only.
    elapsed_p50_ns: Optional[float] = None
    # 99.9th percentile of the elapsed time.
    elapsed_p999_ns: Optional[float] = None
    # 99th percentile of the elapsed time.
    elapsed_p99_ns: Optional[float] = None


@dataclass(kw_only=True)
class Timeline:
    """Numbers by equal steps of time."""
    # Beginning of the first step, from the beginning of the trace; negative when the step began before it.
    start_ns: int
    # Width of a step.
    step_ns: int
    # The steps, without gaps.
    steps: list[TimeStep]


@dataclass(kw_only=True)
class Times:
    """Both times of a request, in nanoseconds."""
    # From arrival to completion: queueing included.
    elapsed_ns: Distribution
    # From issue to completion: the disk works on it; absent where the trace does not tell when requests were
    # issued.
    physical_ns: Optional[Distribution] = None


@dataclass(kw_only=True)
class Tool:
    """The program that wrote the document."""
    # Version of ioscape.
    version: str
    # Commit that it was built from, as git describes it; absent when it was not built in a clone for release.
    commit: Optional[str] = None


@dataclass(kw_only=True)
class TraceCharacterization:
    """A trace as workloads of five parameters: `trace characterize`."""
    # Name the user gave the trace: its file names.
    name: str
    # All requests.
    overall: TraceTraits
    # Those of each disk, when there are several.
    disks: Optional[list[TraceTraits]] = None
    # Those of each process, the busiest first, when the trace tells processes.
    processes: Optional[list[TraceTraits]] = None
    # Those that arrived in each window of time, when windows were asked for.
    windows: Optional[list[TraceTraits]] = None


@dataclass(kw_only=True)
class TraceComparison:
    """The result of `trace compare`."""
    # Distributions, and shares of the requests.
    distributions: list[DistributionChange]
    # Figures, as ratios of the second trace's to the first's.
    figures: list[FigureChange]
    # What counts as alike: ratios from `1 - margin` to `1 + margin`, and distances up to `margin`.
    margin: float
    # Everything that each trace holds: the first, the second.
    traces: list[TraceSummary]
    # Whether the workload changed.
    verdict: Literal['changed', 'alike', 'cannot_be_told']
    # The windows of time of each, whose scatter the intervals follow from.
    windows: list[WindowCount]
    # Whether a condition that was given is met by figures, by their number from 0; absent without one, or where
    # nothing can be told.
    condition: Optional[ConditionResult] = None
    # Where it cannot be told: how many times as long both traces would have to be to tell a change of the
    # margin.
    times_as_long: Optional[float] = None


@dataclass(kw_only=True)
class TraceFile:
    """A trace that was imported, exported or recorded."""
    # Bytes of all requests that move data.
    bytes: int
    # Size of the file.
    file_bytes: int
    # Format it was written in.
    format: str
    # What holds for the trace as a whole.
    info: TraceInfo
    # The file that was written.
    path: str
    # Rows that read, as far as the source tells.
    reads: int
    # Rows.
    rows: int
    # From the first arrival to the last.
    span_ns: int
    # Where the file holds only slow requests: how many, and what they waited for.
    slow: Optional[SlowRequests] = None


@dataclass(kw_only=True)
class TraceInfo:
    """What holds for a trace as a whole: the tables its rows point into, where it comes from, and what it
    lost."""
    # Devices; [`Io::device`] is an index.
    devices: list[Device]
    # Format it was read from: `hp-srt`, `blktrace`, `msr`, `parquet`.
    format: str
    # Commands; [`Io::command`] is an index, 0 the unknown one (an empty name).
    commands: Optional[list[str]] = None
    # Events lost while recording, by CPU.
    lost_by_cpu: Optional[list[int]] = None
    # What the source says of the system: machine, file system, mount options, how it was recorded.
    notes: Optional[dict[str, str]] = None
    # Records that were broken and skipped.
    skipped: Optional[int] = None
    # Time of `queued_ns` 0 in nanoseconds since 1970, when recorded.
    started_unix_ns: Optional[int] = None


@dataclass(kw_only=True)
class TraceReplay:
    """The result of `ioscape trace replay`."""
    # How requests reached the target.
    access: Literal['buffered', 'direct', 'dsync']
    # From the first issue to the last completion.
    elapsed_ns: int
    # How addresses beyond the target were mapped.
    fit: Literal['wrap', 'scale']
    # Most requests in flight.
    in_flight: int
    # By kind, those that occurred.
    kinds: list[ReplayedKind]
    # Requests that went to another place than in the trace because the target is smaller.
    moved: int
    # Discards that the target does not support; they were left out.
    refused: int
    # Requests whose bounds were rounded to what direct I/O needs.
    rounded: int
    # From the first arrival to the last, at the speed asked for.
    span_ns: int
    # The file or device that was used.
    target: str
    # Its size.
    target_bytes: int
    # When requests were issued.
    timing: Any
    # The trace, as named.
    trace: str
    # Size that the trace's devices have side by side, up to the last byte touched of each.
    trace_bytes: int
    # Issue less the time it was due; absent when requests were issued as fast as possible. Bins double from a
    # microsecond.
    lateness_ns: Optional[Distribution] = None
    # Mean time from arrival to completion in the trace, of the same requests; absent when it does not tell.
    recorded_mean_ns: Optional[float] = None
    # What verifying the data found, where it was asked for.
    verify: Optional[VerifyReport] = None


@dataclass(kw_only=True)
class TraceSummary:
    """The whole result of `trace analyze`; tables and figures named in the comments are those of Ruemmler &
    Wilkes, "UNIX disk access patterns", 1993."""
    # Block size of the figures that count blocks, in bytes.
    block_bytes: int
    # The same by day.
    daily: Timeline
    # Each disk by itself (Tables 5 and 7, Figures 2, 3, 5, 9 and 10).
    disks: list[DiskSummary]
    # Arrival of the first, from the beginning of the trace.
    first_ns: int
    # The same by hour of the clock, empty when the trace is too long for it.
    hourly: Timeline
    # Where the trace comes from, its devices and commands.
    info: TraceInfo
    # Number of requests analysed.
    ios: int
    # Last completion, from the beginning of the trace.
    last_ns: int
    # Name the user gave the trace: its file names.
    name: str
    # Requests over time at the finest resolution kept (Figures 3, 4 and 8; tail latencies).
    over_time: Timeline
    # Requests and bytes by partition (Table 3).
    partitions: list[PartitionShare]
    # Who issued what, the busiest first.
    processes: list[ProcessShare]
    # Transfer sizes by type (Figure 11).
    transfer_sizes: list[SizesOfType]
    # Non-volatile memory that would absorb the writes of 30 seconds (Figures 17 and 18).
    absorption: Optional[list[Absorption]] = None
    # Addresses over time, one picture per disk.
    address_maps: Optional[list[AddressMap]] = None
    # Requests that begin and end at multiples of sectors, pages, database blocks and RAID chunks; older results
    # lack it.
    alignment: Optional[list[AlignedShare]] = None
    # How bursty arrivals are at each time scale; of windows shorter than a second absent where arrivals are
    # told in whole seconds.
    burstiness: Optional[Burstiness] = None
    # What the terminal's summary breaks the load down by.
    by: Optional[Literal['partition', 'disk', 'process']] = None
    # Where requests begin relative to the end of the one before on their disk, all disks together (Figure 9);
    # like all figures of places absent where the trace numbers objects.
    distances: Optional[Distances] = None
    # Time between two arrivals, whatever their disks, in nanoseconds (Figure 6); absent where arrivals are told
    # in whole seconds. Like all that follows from requests between others absent where the trace holds the slow
    # ones alone.
    inter_arrival_ns: Optional[Distribution] = None
    # Response times over time.
    latency_map: Optional[HeatMap] = None
    # Miss ratio of an LRU cache of any size.
    miss_ratio: Optional[MissRatio] = None
    # Blocks written again (Figure 12); like all figures of writes absent without writes, and where operations
    # are not told.
    overwrites: Optional[Overwrites] = None
    # How few blocks take how many of the writes (Figure 13).
    popularity: Optional[Popularity] = None
    # Time at the device and time including the queue (Table 4, Figure 1); absent where the trace tells no
    # completions.
    response_times: Optional[OpTimes] = None
    # Sequential requests of all disks together (Table 7).
    sequential: Optional[Sequential] = None
    # What was read and written (Table 6, Figure 7); absent where the trace tells neither flags nor types.
    types: Optional[list[TypeShare]] = None
    # Warnings.
    warnings: Optional[list[Warning]] = None
    # Distinct bytes touched, over time and in all.
    working_set: Optional[WorkingSet] = None


@dataclass(kw_only=True)
class TraceTraits:
    """Five parameters and how well they describe the requests they were taken from."""
    # Bytes they move.
    bytes: int
    # Time from the first arrival to the last completion in seconds.
    elapsed_s: float
    # 1 less the largest of the three distances: 1 is a workload of the model itself, 0 nothing like it.
    goodness: float
    # How far the share of successive requests of different kinds, read and write, is from the model's 2 r (1 -
    # r).
    mix_distance: float
    # What the requests have in common: a disk, a process, a window.
    name: str
    # Number of processes issuing I/O at the same time, at least 1.
    process_num: int
    # Distinct processes that issued them; 0 when the trace tells none.
    processes_seen: int
    # Probability that a request is a read, 0 to 1.
    read_frac: float
    # Requests that move data.
    requests: int
    # The same for the lengths of sequential runs, which are geometric in the model.
    run_distance: float
    # Probability that a request starts where the same process's previous request, of either kind, ended, 0 to
    # 1.
    seq_frac: float
    # Largest difference between the cumulative distributions of the sizes seen and of the workload's size
    # distribution.
    size_distance: float
    # Mean request size in bytes, at most `unique_bytes`.
    size_mean: int
    # Number of distinct bytes read or written by all processes together: the size of the set.
    unique_bytes: int
    # Buffered, direct or synchronous.
    access: Optional[Literal['buffered', 'direct', 'dsync']] = None
    # What the kernel is told about the accesses to come.
    advice: Optional[Literal['normal', 'random', 'sequential']] = None
    # Multiple that offsets and sizes are rounded to, a power of two; absent: 4096, or less for a smaller
    # `size_mean`.
    align_bytes: Optional[int] = None
    # Requests of more than so many bytes bypass the file cache: discovered direct I/O (VERITAS 1996, p. 19).
    # Only `psync` has it, and only with buffered access, which is that of all smaller requests.
    direct_above_bytes: Optional[int] = None
    # How requests reach the kernel.
    engine: Optional[Literal['psync', 'io_uring', 'mmap', 'dontcache', 'null', 'sim']] = None
    # Requests each process keeps in flight, at least 1; more than 1 needs `io_uring`.
    queue_depth: Optional[int] = None
    # Mean elapsed time of a request in nanoseconds; absent where the trace tells no completions.
    response_time_ns: Optional[float] = None
    # Distribution of the request sizes.
    size_distribution: Optional[Literal['normal', 'bernoulli', 'exponential', 'fixed']] = None
    # Time a process computes between two requests.
    think_time_ns: Optional[int] = None
    # Processes or threads.
    workers: Optional[Literal['processes', 'threads']] = None


@dataclass(kw_only=True)
class TracingCost:
    """What the recorder's own work adds to the times it sees, measured with calls that do nothing."""
    # Nanoseconds added between two calls.
    between_calls_ns: int
    # Nanoseconds added to each call.
    in_call_ns: int


@dataclass(kw_only=True)
class Traits:
    """The five parameters of an application, a file of it, or a process of it, and how well they describe it.
    The parameters are those of the self-scaling paper, section 5."""
    # How the requests reach storage, as far as the open flags show.
    access: Literal['buffered', 'direct', 'dsync']
    # Seconds in which at least one process was in its I/O phase.
    active_s: float
    # Bytes they moved.
    bytes: int
    # 1 less the largest of the three distances below: 1 is a workload of the model itself, 0 nothing like it.
    goodness: float
    # How far the share of successive requests of different kinds, read and write, is from the model's 2 r (1 -
    # r).
    mix_distance: float
    # Mean number of processes in their I/O phase at the same time, rounded, at least 1.
    process_num: int
    # Fraction of bytes that are read: where it is far from `read_frac`, reads and writes have different sizes.
    read_bytes_frac: float
    # Fraction of requests that are reads.
    read_frac: float
    # Number of requests: calls that moved bytes.
    requests: int
    # Mean time of a request, less what tracing adds and waits for a processor.
    response_time_ns: float
    # The same for the lengths of sequential runs, which are geometric in the model.
    run_distance: float
    # Fraction of requests that start where the same process's previous request to the same file ended.
    seq_frac: float
    # Largest difference between the cumulative distributions of the sizes seen and of `size_distribution`.
    size_distance: float
    # The distribution that is nearest to the sizes seen.
    size_distribution: Literal['normal', 'bernoulli', 'exponential', 'fixed']
    # Mean of the bytes that a call moved.
    size_mean: int
    # Fraction of requests that start where the same process's previous request to any file ended.
    strict_seq_frac: float
    # Mean time of a sync, less the same.
    sync_time_ns: float
    # Calls that waited for dirty pages: `fsync`, `fdatasync`, `sync_file_range`.
    syncs: int
    # Mean time that a process spends between two requests.
    think_time_ns: int
    # Distinct bytes that were read or written, in whole pages of 4 KiB but never past the last byte touched.
    unique_bytes: int


@dataclass(kw_only=True)
class TypeShare:
    """Requests of one type and operation (Table 6, Figure 7)."""
    # Requests flagged asynchronous.
    async_: int
    # Bytes.
    bytes: int
    # What the blocks hold.
    io_type: Literal['unknown', 'user_data', 'inode', 'directory', 'indirect', 'bitmap', 'superblock', 'journal', 'swap']
    # Requests.
    ios: int
    # Read or write.
    op: Literal['read', 'write']
    # Requests that did not come through a file system.
    raw: int
    # Requests flagged synchronous.
    sync: int


@dataclass(kw_only=True)
class Validation:
    """Predictions compared with measurements of random workloads (self-scaling paper, section 9, figures 12
    to 15)."""
    # Median over all workloads.
    median_error: float
    # 75th percentile.
    p75_error: float
    # 90th percentile.
    p90_error: float
    # Workloads that were measured.
    workloads: int
    # The default model's error against each parameter.
    by_parameter: Optional[dict[str, list[ErrorBin]]] = None
    # Median without the workloads near a border between regions (figures 15 and 24); absent when none is left.
    enhanced_median_error: Optional[float] = None
    # Median error of the default model over `repeatability_error`: at 1 it is as good as measuring once more.
    error_over_repeatability: Optional[float] = None
    # Share of the single measurements that fall into the 90 % interval; absent for a model without intervals.
    interval90_coverage: Optional[float] = None
    # The same figures for every model: `default`, `product`, `orthogonal`, `single_point`.
    models: Optional[dict[str, ErrorFigures]] = None
    # Every workload.
    points: Optional[list[ValidationPoint]] = None
    # Median difference of the same workload measured twice, in rounds that follow each other, over the first;
    # absent without repetitions.
    repeatability_error: Optional[float] = None


@dataclass(kw_only=True)
class ValidationLog:
    """A validation that is not whole: what it was asked to do and how far it came. The document's
    `measurements` are then what it measured, in order."""
    # Time that the whole may take, in seconds.
    budget_s: float
    # Whether the orthogonal sample is measured, too.
    orthogonal: bool
    # Rounds in which each is measured.
    rounds: int
    # Time that it took so far, in seconds.
    spent_s: float
    # What is measured, as the user named it.
    target: str
    # Random workloads to measure.
    workloads: int
    # The access that was asked for; absent for the evaluation's first.
    access: Optional[Literal['buffered', 'direct', 'dsync']] = None
    # Memory limit of the workers, in bytes; absent without one.
    memory_limit_bytes: Optional[int] = None
    # Steps that are not possible on the target, and why.
    refused: Optional[list[RefusedStep]] = None
    # Which of the steps that follow from the above, the seed and the evaluation each measurement is, from 0.
    steps: Optional[list[int]] = None


@dataclass(kw_only=True)
class ValidationPoint:
    """One workload of a validation: predicted and measured."""
    # What was measured.
    measurement: Measurement
    # Whether it lies in the zone of a border between regions.
    near_border: bool
    # What the default model said beforehand.
    prediction: Prediction
    # Throughput in bytes per second that every other model predicts, by the model's name.
    models: Optional[dict[str, float]] = None
    # The same, measured again; absent when it was measured once.
    repeated_bytes_per_s: Optional[float] = None
    # Every round's throughput in bytes per second, in the order taken; predictions are compared with their
    # median.
    rounds_bytes_per_s: Optional[list[float]] = None


@dataclass(kw_only=True)
class VerifyFinding:
    """One block that does not hold what was written to it last."""
    # Whether it was found when all blocks were read back at the end, not by a read of the workload.
    at_end: bool
    # Number of the write that it should hold; the writes of a run are numbered in the order of their issue.
    expected_write: int
    # The file or device, as named.
    file: str
    # What is wrong with it.
    kind: Literal['corrupt', 'misplaced', 'lost', 'stale', 'torn']
    # First byte of the block in the file.
    offset: int
    # The file that the block it holds was written to, where that is another one.
    found_file: Optional[str] = None
    # Byte that the block it holds was written to; absent where that is its own place or cannot be told.
    found_offset: Optional[int] = None
    # Number of the write that it holds; absent where it holds none that can be told.
    found_write: Optional[int] = None


@dataclass(kw_only=True)
class VerifyReport:
    """The outcome of verifying a run."""
    # Size of a block, in bytes: what the requests are multiples of, at most 4096.
    block_bytes: int
    # Blocks that reads of the workload returned and that were checked.
    checked_blocks: int
    # Blocks whose checksum is wrong.
    corrupt: int
    # The first of them; the counts are of all.
    findings: list[VerifyFinding]
    # Blocks whose only write never arrived.
    lost: int
    # Blocks that belong elsewhere.
    misplaced: int
    # Blocks that were checked when all were read back at the end.
    read_back_blocks: int
    # Blocks whose last write did not arrive.
    stale: int
    # Blocks of which a part of the last write arrived.
    torn: int
    # Blocks that reads of the workload returned and that could not be judged: written meanwhile, written last
    # by two requests at a time or in part, or never written by this run.
    unjudged_blocks: int
    # Share of what was read back that was not in the file cache and so came from below it; absent where the
    # kernel cannot tell.
    from_storage_frac: Optional[float] = None


@dataclass(kw_only=True)
class VxFigures:
    """What one stream, one user or all of them did."""
    # Bytes moved.
    bytes: int
    # System time of the streams, in seconds.
    cpu_system_s: float
    # User time of the streams, in seconds.
    cpu_user_s: float
    # From the first request issued to the last one completed, `fsync` included, in seconds.
    elapsed_s: float
    # Completed requests.
    ios: int
    # `bytes` over `elapsed_s`.
    throughput_bytes_per_s: float
    # Whether the kernel could tell user from system time. It samples at its ticks, so that of little processor
    # time only the sum is known; the two are then shared out by whatever samples there were.
    cpu_split_told: Optional[bool] = None
    # Times of the `fsync` behind each stream's last write, which are not among the requests'; absent without.
    fsync_ns: Optional[ResponseTime] = None
    # Response times of the requests; absent where there are none.
    response_time_ns: Optional[ResponseTime] = None


@dataclass(kw_only=True)
class VxFile:
    """One file and its user."""
    # All its streams.
    figures: VxFigures
    # The file as it was named.
    path: str
    # Multiple that direct I/O needed here, in bytes.
    direct_align: Optional[int] = None
    # Extents after the run (`FIEMAP`); absent where the file system does not report it.
    extents: Optional[int] = None
    # How `noreuse` was carried out: `RWF_DONTCACHE` or `POSIX_FADV_NOREUSE`.
    noreuse_by: Optional[str] = None
    # Time that the reservation (`-r`) took, in seconds; absent without one.
    reservation_s: Optional[float] = None
    # Size after the run, in bytes; absent if the file was removed.
    size_bytes: Optional[int] = None
    # Every stream.
    threads: Optional[list[VxFigures]] = None


@dataclass(kw_only=True)
class VxJob:
    """All options of one run but the names of its files. Sizes are bytes."""
    # `-f align`: extents must begin at multiples of the extent size.
    align: bool
    # `-o append`: every write goes to the end of the file.
    append: bool
    # An option that the system cannot honour is a warning instead of an error.
    best_effort: bool
    # `-f chgsize`: the file gets the size of the reservation.
    chgsize: bool
    # The pages of the files are dropped from the file cache before the run.
    cold: bool
    # `-f contig`: the reservation must be one extent.
    contig: bool
    # `-c direct`: `O_DIRECT`.
    direct: bool
    # `-c dsync`: `O_DSYNC`.
    dsync: bool
    # `-i fsync`: the time includes an `fsync` after the last write of each stream.
    fsync: bool
    # `--huge-buffers`: every buffer is in huge pages, where the kernel gives them, whatever its size and the
    # caching.
    huge_buffers: bool
    # `-i iosize`: size of each request.
    iosize: int
    # `-m`: the buffers are locked in memory.
    lock_buffers: bool
    # `-f noextend`: no write may go past the reservation.
    noextend: bool
    # `-f noreserve`: space is allocated for the run only, not set aside for the file.
    noreserve: bool
    # `-c noreuse`: the data is not kept in the file cache.
    noreuse: bool
    # `-i nrep`: times that every stream goes through its requests.
    nrep: int
    # `-i nthreads`: streams on each file.
    nthreads: int
    # `-i randseed`: seed of the random choices.
    rand_seed: int
    # `-c random`: the kernel is told that places are random.
    random: bool
    # `-i rdpct`: percentage of reads in `rand_mixed`, 0 to 100.
    rdpct: int
    # `-i remove`: the files are removed after the test.
    remove: bool
    # `-i reserveonly`: space is reserved and nothing is written.
    reserve_only: bool
    # `-c seq`: the kernel is told that places follow one another.
    seq: bool
    # `-o sync`: `O_SYNC`.
    sync: bool
    # `-f trim`: what the file does not use of the reservation is given back at the last close.
    trim: bool
    # `-o trunc`: the file is emptied first.
    trunc: bool
    # `-P`, `-p` or `-t`.
    users: Literal['processes_of_threads', 'processes', 'threads']
    # `-w`.
    workload: Literal['read', 'write', 'rand_read', 'rand_write', 'rand_mixed', 'mmap_read', 'mmap_write']
    # `-c atomic`: every direct write is on storage whole or not at all, whatever happens (`RWF_ATOMIC`).
    atomic: Optional[bool] = None
    # Discovered direct I/O: requests larger than this bypass the file cache (the paper, p. 19: 256 KB).
    direct_above: Optional[int] = None
    # `-e`: fixed extent size.
    extsize: Optional[int] = None
    # `-i iocount`: requests of each stream; absent: as many as the file holds, shared out among its streams.
    iocount: Optional[int] = None
    # `-i maxfilesize`: random requests end before this byte; absent: the end of the file.
    max_file_size: Optional[int] = None
    # `--queue-depth`: requests that each stream has in flight, through `io_uring`; absent: one at a time, by
    # `pread` and `pwrite`.
    queue_depth: Optional[int] = None
    # `-r`: space reserved for each file.
    reservation: Optional[int] = None
    # `-i truncup`: the file gets at least this size before random I/O; 0: the size that the requests need.
    truncup: Optional[int] = None
    # Every block that is written carries its place, the number of its write and a checksum, which reads check.
    verify: Optional[bool] = None


@dataclass(kw_only=True)
class VxRun:
    """One run of `vxbench`."""
    # One per file, in the order named.
    files: list[VxFile]
    # What was asked for.
    job: VxJob
    # All of them together.
    total: VxFigures
    # The clients that did it together, where there were several; one run tells no intervals of theirs, so none
    # straggles.
    clients: Optional[Clients] = None
    # What verifying the data found, where it was asked for.
    verify: Optional[VerifyReport] = None
    # Warnings.
    warnings: Optional[list[Warning]] = None


@dataclass(kw_only=True)
class VxShow:
    """How a run is shown: `-k`, `-M`, `-v`, `-s`."""
    # Throughput in MB/s instead of KB/s, both in powers of 1024.
    megabytes: bool
    # Every stream too.
    per_thread: bool
    # The summary alone.
    summary_only: bool


@dataclass(kw_only=True)
class Vxbench:
    """The part of a document that `vxbench` fills."""
    # The runs.
    runs: Optional[list[VxRun]] = None
    # How to show it.
    show: Optional[VxShow] = None
    # Whether concurrent writers to one file wait for one another.
    single_writer: Optional[list[WriterScaling]] = None


@dataclass(kw_only=True)
class Warning:
    """One warning: its kind, a sentence for people, and what it is about."""
    # The kind, for scripts.
    kind: Any
    # One sentence: what was seen and what to do about it.
    message: str
    # What part of the result is concerned, such as `unique_bytes = 64 MiB`; empty for the whole.
    where: Optional[str] = None


@dataclass(kw_only=True)
class WindowCount:
    """Windows of equal length."""
    # How many.
    count: int
    # Their length.
    width_ns: int


@dataclass(kw_only=True)
class Witness:
    """The second witness of a measurement: counters of the kernel over the measured part of a run.  A field
    is absent where it cannot be asked: residency and storage bytes on most network and FUSE mounts, control-
    group figures outside a group, device counters where no block device lies under the target. Absent never
    means zero. Pairs are values at the beginning and at the end of the measured part."""
    # Bytes the target's device read, for everybody (`/proc/diskstats`).
    device_read_bytes: Optional[int] = None
    # Bytes the target's device wrote, for everybody (`/proc/diskstats`).
    device_written_bytes: Optional[int] = None
    # Dirty and write-back bytes before and after: of the memory group where there is one, of the machine
    # elsewhere.
    dirty_bytes: Optional[list[int]] = None
    # Share of the time some task of the group or machine stalled for I/O (`io.pressure`, "some"), 0 to 1.
    io_pressure_frac: Optional[float] = None
    # Page faults that needed I/O.
    major_faults: Optional[int] = None
    # Share of the time some task of the group or machine stalled for memory (`memory.pressure`, "some"), 0 to
    # 1.
    memory_pressure_frac: Optional[float] = None
    # Share of the set's pages in the file cache before and after, each 0 to 1 (`cachestat` or `mincore`).
    resident_frac: Optional[list[float]] = None
    # Seconds the workers were ready to run and waited for a processor, all together (`/proc/PID/schedstat`).
    run_delay_s: Optional[float] = None
    # Processor seconds the hypervisor took from the machine (`steal` of `/proc/stat`).
    steal_s: Optional[float] = None
    # Bytes the storage layer read for the workers (`read_bytes` of `/proc/PID/io`).
    storage_read_bytes: Optional[int] = None
    # Bytes written less the growth of dirty bytes, per second: what the system can keep up. Absent without
    # writes.
    sustained_write_bytes_per_s: Optional[float] = None
    # Seconds a quota of the control group kept the workers off the processors (`cpu.stat`).
    throttled_s: Optional[float] = None
    # Throughput over the time less what the workers waited for processors, in bytes per second.
    undisturbed_bytes_per_s: Optional[float] = None


@dataclass(kw_only=True)
class WorkingSet:
    """Distinct bytes touched."""
    # Distinct bytes touched in all, in whole blocks.
    bytes: int
    # Distinct bytes touched in each window of time.
    over_time: list[WorkingSetWindows]
    # Distinct bytes read, in whole blocks.
    read_bytes: int
    # Distinct bytes written, in whole blocks.
    write_bytes: int


@dataclass(kw_only=True)
class WorkingSetWindows:
    """Distinct bytes by windows of one width."""
    # Distinct bytes touched in each.
    bytes: list[int]
    # Beginning of the first window, from the beginning of the trace.
    start_ns: int
    # Width of a window.
    window_ns: int


@dataclass(kw_only=True)
class Workload:
    """A workload: a point of the papers' five-parameter space, and how it is carried out."""
    # Number of processes issuing I/O at the same time, at least 1.
    process_num: int
    # Probability that a request is a read, 0 to 1.
    read_frac: float
    # Probability that a request starts where the same process's previous request, of either kind, ended, 0 to
    # 1.
    seq_frac: float
    # Mean request size in bytes, at most `unique_bytes`.
    size_mean: int
    # Number of distinct bytes read or written by all processes together: the size of the set.
    unique_bytes: int
    # Buffered, direct or synchronous.
    access: Optional[Literal['buffered', 'direct', 'dsync']] = None
    # What the kernel is told about the accesses to come.
    advice: Optional[Literal['normal', 'random', 'sequential']] = None
    # Multiple that offsets and sizes are rounded to, a power of two; absent: 4096, or less for a smaller
    # `size_mean`.
    align_bytes: Optional[int] = None
    # Requests of more than so many bytes bypass the file cache: discovered direct I/O (VERITAS 1996, p. 19).
    # Only `psync` has it, and only with buffered access, which is that of all smaller requests.
    direct_above_bytes: Optional[int] = None
    # How requests reach the kernel.
    engine: Optional[Literal['psync', 'io_uring', 'mmap', 'dontcache', 'null', 'sim']] = None
    # Requests each process keeps in flight, at least 1; more than 1 needs `io_uring`.
    queue_depth: Optional[int] = None
    # Distribution of the request sizes.
    size_distribution: Optional[Literal['normal', 'bernoulli', 'exponential', 'fixed']] = None
    # Time a process computes between two requests.
    think_time_ns: Optional[int] = None
    # Processes or threads.
    workers: Optional[Literal['processes', 'threads']] = None


@dataclass(kw_only=True)
class WriterScaling:
    """Writers to one file compared with writers to a file each: the effect of a file system's single-writer
    lock (pp. 32-35)."""
    # Throughput of one writer, in bytes per second: the median of the rounds.
    alone_bytes_per_s: float
    # Past the file cache (`O_DIRECT`) or through it.
    direct: bool
    # Size of each write, in bytes.
    iosize: int
    # Throughput of all writers on one file.
    one_file_bytes_per_s: float
    # Throughput of all writers on a file each.
    own_files_bytes_per_s: float
    # Throughput on one file over that on a file each: geometric mean and 95 % interval.
    ratio: float
    # Ends of that interval.
    ratio_ci95: list[float]
    # The finding in words.
    sentence: str
    # Writers at the same time.
    writers: int
    # 95 % interval of the throughput on a file each over that of one writer; absent without two rounds.
    gain_ci95: Optional[list[float]] = None
    # 95 % interval of the throughput on one file over the geometric middle of one writer and a file each;
    # absent without two rounds.
    position_ci95: Optional[list[float]] = None
    # Whether the writers wait for one another; absent where the intervals do not decide.
    serialised: Optional[bool] = None


@dataclass(kw_only=True)
class Document:
    """A result file: where, when and how it was made, and one outcome. Keys are only ever added."""
    command: list[str]
    environment: Environment
    interrupted: bool
    schema: str
    seed: int
    started_at: str
    tool: Tool
    campaign: Optional[CampaignResult] = None
    characterization: Optional[Characterization] = None
    cheapest: Optional[list[Cheapest]] = None
    comparison: Optional[list[Comparison]] = None
    doctor: Optional[Doctor] = None
    evaluation: Optional[Evaluation] = None
    host: Optional[str] = None
    measured_comparison: Optional[list[MeasuredComparison]] = None
    measurements: Optional[list[Measurement]] = None
    os: Optional[OsResults] = None
    predictions: Optional[list[Prediction]] = None
    simulation: Optional[Simulation] = None
    trace_characterization: Optional[TraceCharacterization] = None
    trace_comparison: Optional[TraceComparison] = None
    trace_files: Optional[list[TraceFile]] = None
    trace_replay: Optional[TraceReplay] = None
    trace_summary: Optional[TraceSummary] = None
    validation: Optional[Validation] = None
    validation_log: Optional[ValidationLog] = None
    vxbench: Optional[Vxbench] = None
    warnings: Optional[list[Warning]] = None
