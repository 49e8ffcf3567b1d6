//! Counts over all calls, over those on one file, or over those of one process, and the parameters
//! that follow from them.

use super::distance::Histogram;
use super::fit::fit;
use super::phases::Activity;
use ioscape_schema::{Access, FileCall, Op, RequestCounts, SizeDistribution, Traits, Ways};

/// How a request relates to those before it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Neighbours {
    /// It starts where the process's previous request to the same file ended.
    pub(super) follows: bool,
    /// Where the process's previous request to any file ended.
    pub(super) follows_strictly: bool,
    /// The kind of the process's previous request.
    pub(super) before: Option<Op>,
}

/// A count of calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Share {
    pub(super) requests: u64,
    reads: u64,
    pub(super) bytes: u64,
    /// The largest size.
    largest: u64,
    read_bytes: u64,
    followers: u64,
    strict_followers: u64,
    pairs: u64,
    changes: u64,
    synchronous: u64,
    direct: u64,
    direct_bytes: u64,
    /// Writes that are both.
    direct_synchronous: u64,
    syncs: u64,
    /// Syncs that empty no drive's cache.
    write_backs: u64,
    /// Writes that were waited for, and their bytes.
    waited: (u64, u64),
    response_ns: u128,
    sync_ns: u128,
    held_ns: u128,
    sizes: Histogram,
    runs: Histogram,
}

/// Context that the counts alone do not provide.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ShareContext {
    pub(super) unique_bytes: u64,
    /// Requests without an earlier one that they could follow.
    pub(super) firsts: u64,
    pub(super) activity: Activity,
}

impl Share {
    pub(super) fn sync(&mut self, call: &FileCall) {
        self.syncs += 1;
        self.write_backs += u64::from(call.is_write_back);
        self.sync_ns += u128::from(call.own_ns());
        self.held_ns += u128::from(call.held_before_ns + call.held_within_ns);
    }

    /// Adds writes that were waited for, and their bytes.
    pub(super) fn wait(&mut self, (writes, bytes): (u64, u64)) {
        self.waited.0 += writes;
        self.waited.1 = self.waited.1.saturating_add(bytes);
    }

    pub(super) fn request(&mut self, call: &FileCall, neighbours: Neighbours) {
        let len = u64::from(call.request.len);
        self.requests += 1;
        self.reads += u64::from(call.is_read());
        self.bytes = self.bytes.saturating_add(len);
        self.largest = self.largest.max(len);
        self.read_bytes += if call.is_read() { len } else { 0 };
        self.followers += u64::from(neighbours.follows);
        self.strict_followers += u64::from(neighbours.follows_strictly);
        if let Some(before) = neighbours.before {
            self.pairs += 1;
            self.changes += u64::from(before != call.request.op);
        }
        self.synchronous += u64::from(call.is_synchronous && !call.is_read());
        self.direct += u64::from(call.is_direct);
        self.direct_bytes += if call.is_direct { len } else { 0 };
        let is_both = call.is_direct && call.is_synchronous && !call.is_read();
        self.direct_synchronous += u64::from(is_both);
        self.response_ns += u128::from(call.own_ns());
        self.held_ns += u128::from(call.held_before_ns + call.held_within_ns);
        self.sizes.add(len);
    }

    pub(super) fn ways(&self) -> Ways {
        let writes = self.requests - self.reads;
        let written = self.bytes.saturating_sub(self.read_bytes);
        let waits = self.synchronous + self.syncs - self.write_backs;
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        Ways {
            direct_frac: share(self.direct, self.requests),
            direct_bytes_frac: share(self.direct_bytes, self.bytes),
            synchronous_frac: share(self.synchronous, writes),
            // A process may also wait for what others wrote.
            waited_bytes_frac: share(self.waited.1.min(written), written),
            direct_writes_are_synchronous: self.direct_synchronous * 2 > writes,
            further_waits: waits.saturating_sub(writes),
        }
    }

    /// Records the end of a run of `length` sequential requests.
    pub(super) fn run(&mut self, length: u64) {
        self.runs.add(length);
    }

    /// Returns the parameters.
    pub(super) fn traits(&self, beside: &ShareContext) -> Traits {
        let requests = self.requests.max(1) as f64;
        let pairs = self.requests.saturating_sub(beside.firsts).max(1) as f64;
        let read_frac = self.reads as f64 / requests;
        let seq_frac = (self.followers as f64 / pairs).min(1.0);
        let mut traits = Traits {
            unique_bytes: beside.unique_bytes,
            size_mean: (self.bytes as f64 / requests).round() as u64,
            read_frac,
            read_bytes_frac: self.read_bytes as f64 / self.bytes.max(1) as f64,
            seq_frac,
            process_num: beside.activity.processes(),
            think_time_ns: self.think_ns(beside),
            access: self.access(),
            change_frac: (self.pairs > 0).then(|| self.changes as f64 / self.pairs as f64),
            strict_seq_frac: (self.strict_followers as f64 / pairs).min(1.0),
            requests: self.requests,
            bytes: self.bytes,
            syncs: self.syncs,
            response_time_ns: Self::mean_ns(self.response_ns, self.requests),
            sync_time_ns: Self::mean_ns(self.sync_ns, self.syncs),
            active_s: beside.activity.union_ns as f64 / 1e9,
            ..Traits::default()
        };
        let counts = self.counts();
        let workload = traits.workload();
        let mut found = fit(&counts, &workload);
        // If there is only one size, draw it exactly instead of as a mix of neighbouring granules.
        if self.is_of_one_size() {
            let exact = workload.with_exact_size();
            let nearer = fit(&counts, &exact);
            if nearer.size_distribution == SizeDistribution::Fixed && nearer.size_distance == 0.0 {
                (traits.align_bytes, found) = (exact.align_bytes, nearer);
            }
        }
        traits.size_distribution = found.size_distribution;
        traits.size_distance = found.size_distance;
        traits.run_distance = found.run_distance;
        traits.mix_distance = found.mix_distance;
        traits.goodness = if self.requests == 0 { 0.0 } else { found.goodness() };
        traits
    }

    /// Whether all requests have the largest size: the mean of several sizes may be one that no
    /// request has.
    fn is_of_one_size(&self) -> bool {
        self.requests.checked_mul(self.largest) == Some(self.bytes)
    }

    /// Returns the mean time in nanoseconds of `count` events.
    fn mean_ns(sum: u128, count: u64) -> f64 {
        sum as f64 / count.max(1) as f64
    }

    /// Returns the part of a process's I/O phase that remains without its requests, its syncs, and
    /// delays caused by others. With it, `process_num` processes, each on its own processor, issue
    /// as many requests in the time that at least one was at work. Time that sequential requests
    /// spent in flight behind others counts once.
    fn think_ns(&self, beside: &ShareContext) -> u64 {
        let requests = self.requests.max(1) as f64;
        // The first request of a phase has no pause before it, but such requests are too few to
        // matter.
        let activity = &beside.activity;
        let others = (self.response_ns + self.held_ns) as f64 - activity.queued_ns as f64
            + activity.synced_ns(self.sync_ns as f64);
        ((activity.at_work_ns() - others) / requests).max(0.0) as u64
    }

    /// Returns the seconds that its processes, in their number, waited for syncs.
    pub(super) fn sync_s(&self, activity: &Activity) -> f64 {
        activity.all_synced_ns(self.sync_ns as f64) / 1e9
    }

    /// Returns how most bytes were moved. Writes are synchronous only if most of them are waited
    /// for, too: one large write that is does not make many small ones so.
    fn access(&self) -> Access {
        let ways = self.ways();
        if ways.direct_bytes_frac > 0.5 {
            Access::Direct
        } else if self.waited.0 * 2 > self.requests - self.reads && ways.waited_bytes_frac > 0.5 {
            Access::Dsync
        } else {
            Access::Buffered
        }
    }

    fn counts(&self) -> RequestCounts {
        RequestCounts {
            requests: self.requests,
            reads: self.reads,
            followers: self.followers,
            pairs: self.pairs,
            changes: self.changes,
            sizes: self.sizes.counted(),
            runs: self.runs.counted(),
        }
    }
}
