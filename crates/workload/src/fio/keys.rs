//! Keys of fio that are left out, with what ioscape does instead, and advice on keys that it cannot
//! carry out.

/// Keys that do not affect what is measured, or that ioscape handles in its own way.
pub(super) const LEFT_OUT: [(&str, &str); 47] = [
    ("description", ""),
    ("name", ""),
    ("group_reporting", ""),
    ("time_based", ""),
    ("clocksource", ""),
    ("gtod_reduce", "every request is timed"),
    ("disable_lat", "every request is timed"),
    ("randrepeat", "requests follow --seed"),
    ("allrandrepeat", "requests follow --seed"),
    ("use_os_rand", "requests follow --seed"),
    // ioscape does the same.
    ("norandommap", ""),
    ("random_generator", "requests follow --seed"),
    ("ramp_time", WARM_UP),
    ("directory", "the target is the one on the command line"),
    ("filename", "the target is the one on the command line"),
    ("refill_buffers", DATA),
    ("scramble_buffers", DATA),
    ("softrandommap", "random requests are drawn with replacement"),
    ("fallocate", "the set is written before it is measured"),
    ("overwrite", ""),
    ("create_serialize", "the set is written before it is measured"),
    ("unlink", "files made for the run are removed"),
    ("unlink_each_loop", "files made for the run are removed"),
    ("write_bw_log", NO_LOG),
    ("write_lat_log", NO_LOG),
    ("write_iops_log", NO_LOG),
    ("write_hist_log", NO_LOG),
    ("log_avg_msec", ""),
    ("log_hist_msec", ""),
    ("per_job_logs", ""),
    ("bwavgtime", ""),
    ("iopsavgtime", ""),
    ("percentile_list", "percentiles are the median, 90 %, 99 % and 99.9 %"),
    ("clat_percentiles", ""),
    ("lat_percentiles", ""),
    ("slat_percentiles", ""),
    ("unified_rw_reporting", ""),
    ("new_group", ""),
    ("exitall", "jobs run one after the other"),
    ("loops", NO_AMOUNT),
    ("io_size", NO_AMOUNT),
    ("io_limit", NO_AMOUNT),
    ("number_ios", NO_AMOUNT),
    ("disable_clat", "every request is timed"),
    ("disable_slat", "every request is timed"),
    ("disable_bw", "the course of the throughput is always kept"),
    ("disable_bw_measurement", "the course of the throughput is always kept"),
];

const WARM_UP: &str = "the warm-up ends when the rate and the cache are steady: `ioscape twin --sustain` shows whether a drive holds its rate";
/// The contents of written blocks.
pub(crate) const DATA: &str = "no two written blocks are equal; where the storage compresses, or is a server's and may do so, they have nothing in common";
const NO_LOG: &str = "there are no logs; -o keeps the result";
pub(super) const NO_AMOUNT: &str =
    "a job ends when its throughput is known well enough, or time is up";

pub(super) const LIBAIO_DIRECT: &str = "ioengine=libaio: io_uring issues the requests";
/// fio's HOWTO: "Linux may only support queued behavior with non-buffered I/O".
pub(super) const LIBAIO_BUFFERED: &str =
    "ioengine=libaio: psync, since its requests wait for one another without direct=1";

pub(super) const SYNCHRONOUS: &str = "one request is in flight, since the engine is synchronous";
pub(super) const PAUSED: &str =
    "one request is in flight, since fio waits for all of them before each pause (thinktime)";

pub(super) const OWN_FILES: &str =
    "all processes share one set of numjobs times size, where fio gives each a file of its own";
pub(super) const ONE_BEGINNING: &str =
    "the processes begin at even distances in the set, where fio's all begin at its first byte";

/// Advice on keys that cannot be carried out.
const REFUSED: [(&str, &str); 22] = [
    ("verify", "give --verify on the command line instead"),
    ("verify_pattern", "give --verify on the command line instead"),
    ("do_verify", "give --verify on the command line instead"),
    ("rate", BY_THE_CLOCK),
    ("rate_iops", BY_THE_CLOCK),
    ("rate_min", BY_THE_CLOCK),
    ("rate_process", BY_THE_CLOCK),
    ("fsync", FLUSHED),
    ("fdatasync", FLUSHED),
    ("end_fsync", FLUSHED),
    ("fsync_on_close", FLUSHED),
    ("filesize", "write size=, how much data the job touches"),
    ("nrfiles", "the set is one file: leave it out"),
    ("bssplit", "sizes are not mixed like this: write one size, bs=8k"),
    (
        "random_distribution",
        "random requests fall evenly on the whole set: leave it out, or run fio",
    ),
    ("cpus_allowed", RUN_UNDER),
    ("cpumask", RUN_UNDER),
    ("numa_cpu_nodes", RUN_UNDER),
    ("numa_mem_policy", RUN_UNDER),
    ("nice", RUN_UNDER),
    ("prio", RUN_UNDER),
    ("prioclass", RUN_UNDER),
];

const BY_THE_CLOCK: &str = "ioscape issues the next request when one is done: leave it out, or run fio (`ioscape trace replay` follows the clock of a trace)";
const FLUSHED: &str = "nothing is flushed between requests: sync=dsync has every write reach storage, or leave it out";
const RUN_UNDER: &str = "leave it out, and run ioscape under taskset, numactl, nice or ionice";

/// Returns the advice on a key that is neither converted nor left out.
pub(super) fn advice(key: &str) -> &'static str {
    let known = REFUSED.iter().find(|(name, _)| *name == key);
    known.map_or("is no key that ioscape can carry out: leave it out, or run fio", |(_, what)| what)
}
