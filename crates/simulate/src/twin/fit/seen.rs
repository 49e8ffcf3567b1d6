//! Estimates from the measurements at a glance: the drives with which the search for a twin starts.

use super::moved::{MS, RATE};
use crate::drive::Status;
use crate::ssd::{Controller, Filled, Flash, Parameters};
use ioscape_schema::statistics::median;
use ioscape_schema::{Access, Measurement};
use std::collections::BTreeMap;

/// The write buffer during a fit. The measured rate is the one behind the buffer, regardless of its
/// size, as long as it holds twice what all dies program at once; shapes that program more write
/// out less of it at a time.
const BUFFER: u64 = 1 << 20;
/// Bytes of the twin's page.
const PAGE: u32 = 4096;
const PAGES_PER_BLOCK: u32 = 512;
/// The numbers of channels, of dies per channel, and of pages that a die programs at once to try.
pub const CHANNELS: [u32; 5] = [1, 2, 4, 8, 16];
pub const DIES: [u32; 4] = [1, 2, 4, 8];
pub const BATCHES: [u32; 5] = [1, 2, 4, 8, 16];

/// Least share of a flush in the extra time of a synchronous write, at the start of a search.
const FLUSH_LEAST: f64 = 0.1;

/// Largest share of sensing the cells in the time of a single read, at the start of a search.
const READ_MOST: f64 = 0.95;

/// Estimates from the measurements with which the search starts.
pub struct Seen {
    unique_bytes: u64,
    /// Seconds of the smallest read, write and synchronous write, one at a time.
    read_s: f64,
    write_s: f64,
    synchronous_s: f64,
    /// Seconds of a read per byte.
    byte_s: f64,
    /// Highest read IOPS; highest read and write throughput in bytes per second; highest write
    /// IOPS.
    reads_per_s: f64,
    read_rate: f64,
    write_rate: f64,
    writes_per_s: f64,
}

impl Seen {
    /// Takes the estimates; `None` if no single read was measured.
    pub fn of(measured: &[&Measurement]) -> Option<Self> {
        let of = |read_frac: f64, access: Access| {
            let some = measured.iter().copied();
            some.filter(move |m| m.workload.read_frac == read_frac && m.workload.access == access)
        };
        let alone = |m: &&Measurement| m.workload.queue_depth == 1;
        let smallest = |some: &mut dyn Iterator<Item = &Measurement>| {
            some.min_by_key(|m| m.workload.size_mean).map(time_s)
        };
        let reads = || of(1.0, Access::Direct);
        let writes = || of(0.0, Access::Direct);
        let small = reads().filter(alone).min_by_key(|m| m.workload.size_mean)?;
        let large = reads().filter(alone).max_by_key(|m| m.workload.size_mean)?;
        let bytes = large.workload.size_mean.saturating_sub(small.workload.size_mean).max(1);
        let rate = |some: &mut dyn Iterator<Item = &Measurement>| {
            some.map(|m| m.throughput_bytes_per_s).fold(0.0, f64::max)
        };
        let each = |some: &mut dyn Iterator<Item = &Measurement>| {
            some.map(|m| 1.0 / time_s(m)).fold(0.0, f64::max)
        };
        let read_s = time_s(small);
        let write_s = smallest(&mut writes().filter(alone)).unwrap_or(read_s);
        // The extra time of a synchronous write is about the same for all sizes; the median ignores
        // a stall in one of them.
        let more = of(0.0, Access::Dsync).filter(alone).filter_map(|m| {
            let same = |w: &&Measurement| w.workload.size_mean == m.workload.size_mean;
            Some(time_s(m) - time_s(writes().filter(alone).find(same)?))
        });
        let more: Vec<f64> = more.collect();
        let synchronous = (!more.is_empty()).then(|| write_s + median(&more));
        Some(Self {
            unique_bytes: small.workload.unique_bytes,
            read_s,
            write_s,
            synchronous_s: synchronous.unwrap_or(2.0 * write_s),
            byte_s: (time_s(large) - read_s).max(1e-13) / bytes as f64,
            reads_per_s: each(&mut reads()),
            read_rate: rate(&mut reads()),
            write_rate: rate(&mut writes()).max(1e6),
            writes_per_s: each(&mut writes()).max(1.0),
        })
    }

    /// A drive of this shape from which to start fitting reads. Its dies limit many requests in
    /// flight; large reads are limited by its channels if `is_narrow`, otherwise by its link.
    pub fn reader(&self, shape: [u32; 3], is_narrow: bool) -> Parameters {
        let start = self.start(shape);
        if is_narrow { self.narrow(&start) } else { start }
    }

    /// Drives of this shape from which to start. The time of a flush is either all programming or a
    /// time of its own, and many requests in flight are limited either by the dies or by a
    /// controller that handles one command at a time.
    pub fn starts(&self, shape: [u32; 2]) -> Vec<Parameters> {
        let programs = self.programming(shape, (self.synchronous_s - self.write_s).max(1e-6));
        let dies = f64::from(shape[0] * shape[1]);
        let own = |batch: u32| {
            let program_s = f64::from(batch) * dies * f64::from(PAGE) / self.write_rate;
            self.programming(shape, program_s.min(1e-3 * MS[1]))
        };
        let idle: Vec<Parameters> = BATCHES.into_iter().map(own).chain([programs]).collect();
        let each = |p: &Parameters| [self.busy(p, 0.5), self.busy(p, 1e-3), p.clone()];
        idle.iter().flat_map(each).collect()
    }

    /// The same drive, but with a controller instead of the dies as the limit for many requests in
    /// flight; the share `waking` of the shorter of a read's and a write's time is wake-up time.
    fn busy(&self, p: &Parameters, waking: f64) -> Parameters {
        let [busy_ms, write_busy_ms] =
            [self.reads_per_s, self.writes_per_s].map(|rate| Some(0.98e3 / rate));
        let woken_ms = waking * 1e3 * self.read_s.min(self.write_s);
        let wake_ms = Some(woken_ms);
        let left = |ms: f64| (ms - woken_ms).max(1e-3);
        let controller = Controller {
            busy_ms,
            write_busy_ms,
            wake_ms,
            adjacent_busy_frac: Some(1.0),
            write_adjacent_busy_frac: Some(1.0),
            command_ms: left(p.controller.command_ms),
            write_command_ms: p.controller.write_command_ms.map(left),
            write_copy_bytes_per_s: Some((20.0 * self.write_rate).clamp(RATE[0], RATE[1])),
            ..p.controller
        };
        Parameters { controller, ..p.clone() }
    }

    /// A drive of this shape whose dies are just fast enough and program in `program_s` seconds.
    fn programming(&self, [channels, dies_per_channel]: [u32; 2], program_s: f64) -> Parameters {
        let dies = f64::from(channels * dies_per_channel);
        let batch = (self.writes_per_s * program_s / dies).log2().round().clamp(0.0, 6.0);
        let p = self.start([channels, dies_per_channel, 1 << batch as u32]);
        let flush_s = (self.synchronous_s - self.write_s - program_s).max(1e-7);
        let controller = Controller { flush_ms: Some(1e3 * flush_s), ..p.controller };
        Parameters { controller, flash: Flash { program_ms: 1e3 * program_s, ..p.flash }, ..p }
    }

    /// Drives that read as this one does, from which to start fitting writes. Either the cells or
    /// the link limit large writes. The programming time is that of cells that are just fast
    /// enough, or three times as fast, or it is all or half of the extra time of a synchronous
    /// write.
    pub fn writers(&self, of: &Parameters) -> Vec<Parameters> {
        let pages = of.flash.channels * of.flash.dies_per_channel * of.flash.batch_pages();
        let rated_s = f64::from(pages) * f64::from(PAGE) / self.write_rate;
        let more_s = (self.synchronous_s - self.write_s).max(1e-6);
        let one = |program_s: f64, faster: f64| {
            let program_ms = (1e3 * program_s).clamp(MS[0], MS[1]);
            // From a value near zero, no step leads to the true one.
            let flush_s = (more_s - program_s).max(FLUSH_LEAST * more_s);
            let flush_ms = (1e3 * flush_s).min(MS[1]);
            let rate = (faster * self.write_rate).clamp(RATE[0], RATE[1]);
            let controller = Controller {
                flush_ms: Some(flush_ms),
                write_command_ms: Some(950.0 * self.write_s),
                link_from_host_bytes_per_s: Some(rate),
                ..of.controller
            };
            Parameters { controller, flash: Flash { program_ms, ..of.flash }, ..of.clone() }
        };
        let programs = [rated_s, 0.3 * rated_s, more_s, 0.5 * more_s];
        programs
            .into_iter()
            .flat_map(|program_s| [1.05, 3.0].map(|faster| one(program_s, faster)))
            .collect()
    }

    /// A drive of another shape that is otherwise like this one.
    pub fn shaped(
        of: &Parameters,
        [channels, dies_per_channel, batch_pages]: [u32; 3],
    ) -> Parameters {
        let cell_page_bytes = Some(PAGE * batch_pages);
        let flash = Flash { channels, dies_per_channel, cell_page_bytes, ..of.flash };
        sized(Parameters { flash, ..of.clone() }, of.capacity_bytes, 1.0)
    }

    /// Drives of another shape that are as fast as this one, from which to search for an equally
    /// good one. Together its dies program as much; they read as much together, or each as quickly;
    /// and its channels carry as much together, or each as much.
    pub fn as_fast(of: &Parameters, shape: [u32; 3]) -> [Parameters; 4] {
        let flash = &of.flash;
        let of_dies = |[channels, dies, _]: [u32; 3]| f64::from(channels * dies);
        let is = [flash.channels, flash.dies_per_channel, flash.batch_pages()];
        let more_dies = of_dies(shape) / of_dies(is);
        let more_pages = more_dies * f64::from(shape[2]) / f64::from(is[2]);
        let program_ms = (flash.program_ms * more_pages).clamp(MS[0], MS[1]);
        let alone_ms = flash.read_ms + of.controller.command_ms;
        let together_ms = (flash.read_ms * more_dies).min(READ_MOST * alone_ms);
        let total = flash.channel_bytes_per_s * f64::from(is[0]) / f64::from(shape[0]);
        let one = |read_ms: f64, rate: f64| {
            let mut other = Self::shaped(of, shape);
            other.flash.program_ms = program_ms;
            other.flash.read_ms = read_ms.clamp(MS[0], MS[1]);
            other.flash.channel_bytes_per_s = rate.clamp(RATE[0], RATE[1]);
            other.controller.command_ms = (alone_ms - read_ms).max(MS[0]);
            other
        };
        let [each, all] = [flash.channel_bytes_per_s, total]
            .map(|rate| [flash.read_ms, together_ms].map(|read_ms| one(read_ms, rate)));
        let [[a, b], [c, d]] = [each, all];
        [a, b, c, d]
    }

    /// Two drives like this one, with large reads limited by the channels and by the link.
    pub fn otherwise_limited(&self, of: &Parameters) -> [Parameters; 2] {
        let narrow = self.narrow(of);
        let wide = (4.0 * narrow.flash.channel_bytes_per_s).clamp(RATE[0], RATE[1]);
        let flash = Flash { channel_bytes_per_s: wide, ..of.flash };
        let link_bytes_per_s = (1.05 * self.read_rate).clamp(RATE[0], RATE[1]);
        let controller = Controller { link_bytes_per_s, ..of.controller };
        [narrow, Parameters { flash, controller, ..of.clone() }]
    }

    /// A drive like this one, with large reads limited by the channels instead of the link.
    pub fn narrow(&self, of: &Parameters) -> Parameters {
        let each = 1.05 * self.read_rate / f64::from(of.flash.channels);
        let flash = Flash { channel_bytes_per_s: each.clamp(RATE[0], RATE[1]), ..of.flash };
        let link_bytes_per_s = (4.0 * self.read_rate).clamp(RATE[0], RATE[1]);
        Parameters {
            flash,
            controller: Controller { link_bytes_per_s, ..of.controller },
            ..of.clone()
        }
    }

    /// A drive of this shape that is just fast enough.
    fn start(&self, [channels, dies_per_channel, batch_pages]: [u32; 3]) -> Parameters {
        let dies = f64::from(channels * dies_per_channel);
        let read_s = (0.8 * self.read_s).min(0.9 * dies / self.reads_per_s);
        let link = (1.05 * self.read_rate).clamp(RATE[0], RATE[1]);
        let channel_s = (self.byte_s - 1.0 / link).max(0.05 * self.byte_s) * f64::from(channels);
        let more_s = (self.synchronous_s - self.write_s).max(1e-6);
        let command_s = self.read_s - read_s - f64::from(PAGE) * (channel_s + 1.0 / link);
        let controller = Controller {
            command_ms: 1e3 * command_s.max(0.05 * self.read_s),
            write_command_ms: Some(1e3 * 0.95 * self.write_s),
            busy_ms: None,
            write_busy_ms: None,
            wake_ms: None,
            adjacent_busy_frac: None,
            write_adjacent_busy_frac: None,
            flush_ms: Some(MS[0]),
            link_bytes_per_s: link,
            link_from_host_bytes_per_s: Some((1.05 * self.write_rate).clamp(RATE[0], RATE[1])),
            write_copy_bytes_per_s: None,
            write_buffer_bytes: BUFFER,
            queue_depth: None,
            power_loss_protection: false,
        };
        let flash = Flash {
            channels,
            dies_per_channel,
            blocks_per_die: 0,
            pages_per_block: PAGES_PER_BLOCK,
            page_bytes: PAGE,
            cell_page_bytes: Some(PAGE * batch_pages),
            planes_per_die: None,
            suspend_ms: Some(0.0),
            read_ms: 1e3 * read_s,
            program_ms: (1e3 * more_s).clamp(MS[0], MS[1]),
            erase_ms: 0.0,
            // If noise made large requests no slower than small ones, only the bound limits the
            // rate.
            channel_bytes_per_s: (1.0 / channel_s).clamp(RATE[0], RATE[1]),
        };
        let parameters = Parameters {
            name: "twin".to_owned(),
            title: "Twin of a measured drive".to_owned(),
            status: Status::NotCalibrated,
            capacity_bytes: 0,
            filled: Filled::Full,
            flash,
            controller,
            limits: Vec::new(),
            power: None,
            sources: BTreeMap::new(),
        };
        // As much spare as capacity: short runs cannot show the cost of garbage collection, so the
        // fit leaves it out.
        sized(parameters, self.unique_bytes, 1.0)
    }
}

/// Mean seconds between completions.
fn time_s(m: &Measurement) -> f64 {
    m.workload.size_mean as f64 / m.throughput_bytes_per_s
}

/// Resizes a drive to `bytes`, with at least the share `spare` of them as spare, in whole blocks
/// per die.
pub fn sized(parameters: Parameters, bytes: u64, spare: f64) -> Parameters {
    let page = u64::from(parameters.flash.page_bytes);
    let pages = bytes.div_ceil(page);
    let dies = parameters.flash.channels * parameters.flash.dies_per_channel;
    let share = pages as f64 / f64::from(dies) * (1.0 + spare);
    let blocks = (share / f64::from(parameters.flash.pages_per_block)).ceil() as u32 + 3;
    let flash = Flash { blocks_per_die: blocks, ..parameters.flash };
    Parameters { capacity_bytes: pages * page, flash, ..parameters }
}
