//! Fits a solid-state drive to measured workloads: shapes are tried, and the times and rates of each are moved until the
//! simulated throughputs are the measured ones.
//!
//! The distance is that of the logarithms, in units of what the measurement leaves open; a workload far off pulls with a constant
//! force (Huber). Times and rates are found by damped Gauss-Newton steps with numerical derivatives (Levenberg 1944,
//! Marquardt 1963).

use super::replica::{Replica, Requests};
use crate::Error;
use crate::drive::Status;
use crate::ssd::{Controller, Filled, Flash, Parameters};
use ioscape_schema::statistics::median;
use ioscape_schema::{Access, Measurement};
use nalgebra::{DMatrix, DVector};
use std::collections::BTreeMap;

/// Channels and dies of a channel that are tried.
const CHANNELS: [u32; 5] = [1, 2, 4, 8, 16];
const DIES: [u32; 4] = [1, 2, 4, 8];
/// Pages that a die programs at once from which the search begins.
const BATCHES: [f64; 5] = [1.0, 2.0, 4.0, 8.0, 16.0];

/// A part of the search.
struct Pass {
    /// The best shapes so far that it takes, and its steps.
    kept: usize,
    rounds: u32,
    /// Step of the numerical derivatives, in logarithms: wide at first, since pages come and go in whole numbers.
    step: f64,
    /// What a throughput leaves open at least, relative, of requests one at a time; of several in flight it is [`OPEN_DEEP`].
    open_least: f64,
    /// Whether throughputs are simulated roughly.
    is_rough: bool,
    /// Whether each shape is tried with channels, too, that limit large reads: they are far from a link that does, and no step leads there.
    is_narrowed: bool,
}

/// All shapes roughly, some well, one to the end.
const PASSES: [Pass; 6] = [
    Pass { kept: 16, rounds: 1, step: 0.03, open_least: 0.01, is_rough: true, is_narrowed: false },
    Pass { kept: 6, rounds: 3, step: 0.03, open_least: 0.01, is_rough: true, is_narrowed: false },
    Pass { kept: 3, rounds: 10, step: 0.03, open_least: 0.01, is_rough: true, is_narrowed: false },
    Pass { kept: 2, rounds: 10, step: 0.003, open_least: 0.01, is_rough: false, is_narrowed: true },
    Pass {
        kept: 1,
        rounds: 10,
        step: 0.001,
        open_least: 0.001,
        is_rough: false,
        is_narrowed: false,
    },
    Pass {
        kept: 1,
        rounds: 10,
        step: 0.0003,
        open_least: 0.001,
        is_rough: false,
        is_narrowed: false,
    },
];
/// The order of several in flight hangs on every nanosecond.
const OPEN_DEEP: f64 = 0.01;
/// Requests that a throughput leaves open at least: its interval comes from ten batches or more, each of whole requests. That leaves half a
/// request of each open, and of all together twice the root of ten times as much with 95 % certainty.
const WHOLE: f64 = 3.2;
/// Distance beyond which the pull is constant.
const FAR: f64 = 3.0;
/// Half of normally distributed numbers are closer to 0 than so many standard deviations.
const QUARTILE: f64 = 0.6745;
/// Cost at which nothing is left to be explained.
const EXACT: f64 = 1e-7;
/// The write buffer while it is fitted: what is measured is the rate behind it, whatever its size.
const BUFFER: u64 = 1 << 20;
/// The page of the twin.
const PAGE: u32 = 4096;
const PAGES_PER_BLOCK: u32 = 512;

/// A drive that was fitted, and how far its throughputs are from those that it was fitted to.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The drive, as large as the set.
    pub parameters: Parameters,
    /// Of each workload, the logarithm of simulated over measured throughput.
    pub residuals: Vec<f64>,
    cost: f64,
}

/// Times and rates that are moved, and between which bounds.
struct Moved {
    of: fn(&mut Parameters) -> &mut f64,
    bounds: [f64; 2],
}

const MS: [f64; 2] = [1e-5, 3e3];
const RATE: [f64; 2] = [2e5, 5e12];
const FRAC: [f64; 2] = [0.01, 2.0];

const READS: [Moved; 4] = [
    Moved { of: |p| &mut p.controller.command_ms, bounds: MS },
    Moved { of: |p| &mut p.flash.read_ms, bounds: MS },
    Moved { of: |p| &mut p.flash.channel_bytes_per_s, bounds: RATE },
    Moved { of: |p| &mut p.controller.link_bytes_per_s, bounds: RATE },
];

const WRITES: [Moved; 4] = [
    Moved { of: |p| p.controller.flush_ms.get_or_insert(0.01), bounds: MS },
    Moved { of: |p| p.controller.write_command_ms.get_or_insert(0.01), bounds: MS },
    Moved { of: |p| p.controller.link_from_host_bytes_per_s.get_or_insert(1e9), bounds: RATE },
    Moved { of: |p| &mut p.flash.program_ms, bounds: MS },
];

/// For how long commands keep the controller busy, where they do.
const BUSY: [Moved; 3] = [
    Moved { of: |p| p.controller.wake_ms.get_or_insert(0.01), bounds: MS },
    Moved { of: |p| p.controller.busy_ms.get_or_insert(0.01), bounds: MS },
    Moved { of: |p| p.controller.adjacent_busy_frac.get_or_insert(1.0), bounds: FRAC },
];

const BUSY_WRITES: [Moved; 3] = [
    Moved { of: |p| p.controller.write_busy_ms.get_or_insert(0.01), bounds: MS },
    Moved { of: |p| p.controller.write_adjacent_busy_frac.get_or_insert(1.0), bounds: FRAC },
    Moved { of: |p| p.controller.write_copy_bytes_per_s.get_or_insert(1e12), bounds: RATE },
];

/// Fits a drive to measured workloads, all on one set. `requests` makes the requests that
/// were measured.
///
/// # Errors
/// Nothing was measured, or no drive can be built.
pub fn fit(measured: &[Measurement], requests: &Requests<'_>) -> Result<Fitted, Error> {
    let measured: Vec<&Measurement> =
        measured.iter().filter(|m| m.throughput_bytes_per_s > 0.0).collect();
    let Some(seen) = Seen::of(&measured) else {
        return Err(Error::Configuration("no read of 4 KiB was measured".to_owned()));
    };
    let writes = measured.iter().any(|m| m.workload.read_frac < 1.0);
    let mut search = Search { measured, requests, writes, pass: &PASSES[0], unexplained: 0.0 };
    let mut shapes = Vec::new();
    for channels in CHANNELS {
        for dies in DIES {
            for start in seen.starts([channels, dies]) {
                shapes.push(search.judged(start)?);
            }
        }
    }
    for pass in &PASSES {
        shapes.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        shapes.truncate(pass.kept);
        search.pass = pass;
        search.unexplained = shapes.first().map_or(0.0, |best| search.unexplained(&best.residuals));
        if pass.is_narrowed {
            let other = |shape: &Fitted| search.judged(seen.narrow(&shape.parameters));
            let others: Vec<Fitted> = shapes.iter().map(other).collect::<Result<_, _>>()?;
            shapes.extend(others);
        }
        for shape in &mut shapes {
            *shape = search.descend(shape.parameters.clone())?;
        }
    }
    let best = shapes.into_iter().min_by(|a, b| a.cost.total_cmp(&b.cost));
    best.ok_or_else(|| Error::Configuration("no shape was tried".to_owned()))
}

struct Search<'a> {
    measured: Vec<&'a Measurement>,
    requests: &'a Requests<'a>,
    writes: bool,
    pass: &'static Pass,
    /// What no drive of this kind explains, relative: what is known to 1 % counts no more than what is known to 3 % where the drive is
    /// off by 10 %.
    unexplained: f64,
}

impl Search<'_> {
    fn moved(&self, of: &Parameters) -> impl Iterator<Item = &'static Moved> {
        let (writes, busy) = (self.writes, of.controller.busy_ms.is_some());
        let of_writes = WRITES.iter().filter(move |_| writes);
        let of_busy = BUSY.iter().filter(move |_| busy);
        let of_both = BUSY_WRITES.iter().filter(move |_| writes && busy);
        READS.iter().chain(of_writes).chain(of_busy).chain(of_both)
    }

    fn residuals(&self, parameters: &Parameters) -> Result<Vec<f64>, Error> {
        let model = parameters.build()?;
        let replica = match self.pass.is_rough {
            true => Replica::rough(&model, self.requests),
            false => Replica::new(&model, self.requests),
        };
        let one = |m: &&Measurement| {
            (replica.told(&m.workload).throughput_bytes_per_s / m.throughput_bytes_per_s).ln()
        };
        Ok(self.measured.iter().map(one).collect())
    }

    /// Residuals in units of what the measurements leave open.
    fn scaled(&self, residuals: &[f64]) -> Vec<f64> {
        let open = |m: &&Measurement| self.open(m).hypot(self.unexplained);
        residuals.iter().zip(&self.measured).map(|(r, m)| r / open(m)).collect()
    }

    /// What a measurement leaves open.
    fn open(&self, m: &Measurement) -> f64 {
        let least = if m.workload.queue_depth > 1 { OPEN_DEEP } else { self.pass.open_least };
        known_to(m).clamp(least, 1.0)
    }

    /// The standard deviation beside what the measurements leave open with which half of the residuals are below the quartile of a normal
    /// distribution, as they are to be.
    fn unexplained(&self, residuals: &[f64]) -> f64 {
        let middle = |beside: f64| {
            let open = self.measured.iter().map(|m| self.open(m).hypot(beside));
            let scaled: Vec<f64> = residuals.iter().zip(open).map(|(r, o)| r.abs() / o).collect();
            median(&scaled)
        };
        if middle(0.0) <= QUARTILE {
            return 0.0;
        }
        let mut bounds = [0.0, residuals.iter().fold(1.0_f64, |most, r| most.max(2.0 * r.abs()))];
        for _ in 0..40 {
            let half = (bounds[0] + bounds[1]) / 2.0;
            bounds[usize::from(middle(half) <= QUARTILE)] = half;
        }
        bounds[1]
    }

    fn judged(&self, parameters: Parameters) -> Result<Fitted, Error> {
        let residuals = self.residuals(&parameters)?;
        let cost = self.cost(&residuals);
        Ok(Fitted { parameters, residuals, cost })
    }

    fn cost(&self, residuals: &[f64]) -> f64 {
        self.scaled(residuals).iter().map(|z| cost(*z)).sum()
    }

    fn descend(&self, from: Parameters) -> Result<Fitted, Error> {
        let mut damping = 1e-3;
        let mut here = self.judged(from)?;
        for _ in 0..self.pass.rounds {
            let slopes = self.slopes(&here, self.pass.step)?;
            let mut settled = true;
            for _ in 0..4 {
                let tried = self.judged(self.moved_by(&here, &slopes, damping))?;
                if tried.cost < here.cost {
                    settled = tried.cost > 0.999 * here.cost;
                    (here, damping) = (tried, damping / 10.0);
                    break;
                }
                damping *= 10.0;
            }
            if settled || here.cost < EXACT {
                break;
            }
        }
        Ok(here)
    }

    /// Derivatives of the scaled residuals by the logarithm of each parameter that is moved.
    fn slopes(&self, here: &Fitted, step: f64) -> Result<DMatrix<f64>, Error> {
        let base = self.scaled(&here.residuals);
        let mut columns = Vec::new();
        for moved in self.moved(&here.parameters) {
            let mut other = here.parameters.clone();
            *(moved.of)(&mut other) *= step.exp();
            let there = self.scaled(&self.residuals(&other)?);
            let slope = there.iter().zip(&base).map(|(there, base)| (there - base) / step);
            columns.push(DVector::from_iterator(base.len(), slope));
        }
        Ok(DMatrix::from_columns(&columns))
    }

    /// The parameters after a damped step.
    fn moved_by(&self, here: &Fitted, slopes: &DMatrix<f64>, damping: f64) -> Parameters {
        let z = DVector::from_vec(self.scaled(&here.residuals));
        let weights = z.map(weight);
        let weighed = DMatrix::from_diagonal(&weights) * slopes;
        let mut normal = slopes.transpose() * &weighed;
        for i in 0..normal.nrows() {
            normal[(i, i)] += damping * (normal[(i, i)] + 1.0);
        }
        let wanted = weighed.transpose() * z;
        let mut parameters = here.parameters.clone();
        if let Some(step) = normal.cholesky().map(|normal| normal.solve(&wanted)) {
            for (moved, step) in self.moved(&here.parameters).zip(step.iter()) {
                let value = (moved.of)(&mut parameters);
                let [least, most] = moved.bounds;
                *value = (*value * (-step).clamp(-1.0, 1.0).exp()).clamp(least, most);
            }
        }
        parameters
    }
}

/// What a measurement leaves open of its throughput. Where few requests happen to be as many in each of equal times, they seem to be known
/// far better than they are.
fn known_to(m: &Measurement) -> f64 {
    match m.relative_error() {
        // Only a simulated drive is known exactly.
        0.0 => 0.0,
        told => told.max(WHOLE / m.ios.max(1) as f64),
    }
}

/// Huber's weight of a residual.
fn weight(z: f64) -> f64 {
    (FAR / z.abs()).min(1.0)
}

/// Huber's cost of it.
fn cost(z: f64) -> f64 {
    let far = z.abs();
    if far < FAR { z * z } else { FAR * (2.0 * far - FAR) }
}

/// What the measurements say at a glance, where the search begins.
struct Seen {
    unique_bytes: u64,
    /// Seconds of a read, of a write and of a synchronous write, one at a time, the smallest there were.
    read_s: f64,
    write_s: f64,
    synchronous_s: f64,
    /// Seconds of a read for each of its bytes.
    byte_s: f64,
    /// Most reads a second; most bytes a second read, and written; most small writes a second.
    reads_per_s: f64,
    read_rate: f64,
    write_rate: f64,
    writes_per_s: f64,
}

impl Seen {
    fn of(measured: &[&Measurement]) -> Option<Self> {
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
        // What being on storage takes more is much the same for all sizes; one of them may have met a stall.
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

    /// Drives of this shape from which to start: what a flush takes is all programming, or a time of its own; and what is in flight
    /// is limited by the dies, or by a controller that takes one command after the other.
    fn starts(&self, shape: [u32; 2]) -> Vec<Parameters> {
        let programs = self.start(shape, (self.synchronous_s - self.write_s).max(1e-6));
        let dies = f64::from(shape[0] * shape[1]);
        let own = |batch: f64| {
            let program_s = batch * dies * f64::from(PAGE) / self.write_rate;
            self.start(shape, program_s.min(1e-3 * MS[1]))
        };
        let idle: Vec<Parameters> = BATCHES.into_iter().map(own).chain([programs]).collect();
        let busy = |p: &Parameters, waking: f64| {
            let [busy_ms, write_busy_ms] =
                [self.reads_per_s, self.writes_per_s].map(|rate| Some(0.98e3 / rate));
            // This part of what a read takes, and of what a write takes at least, is waking up.
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
        };
        let each = |p: &Parameters| [busy(p, 0.5), busy(p, 1e-3), p.clone()];
        idle.iter().flat_map(each).collect()
    }

    /// A drive whose channels limit large reads, where this one's link does.
    fn narrow(&self, of: &Parameters) -> Parameters {
        let each = 1.05 * self.read_rate / f64::from(of.flash.channels);
        let flash = Flash { channel_bytes_per_s: each.clamp(RATE[0], RATE[1]), ..of.flash };
        let link_bytes_per_s = (4.0 * self.read_rate).clamp(RATE[0], RATE[1]);
        Parameters {
            flash,
            controller: Controller { link_bytes_per_s, ..of.controller },
            ..of.clone()
        }
    }

    /// A drive of this shape whose dies are just fast enough, and program in this time.
    fn start(&self, [channels, dies_per_channel]: [u32; 2], program_s: f64) -> Parameters {
        let dies = f64::from(channels * dies_per_channel);
        let read_s = (0.8 * self.read_s).min(0.9 * dies / self.reads_per_s);
        let link = (1.05 * self.read_rate).clamp(RATE[0], RATE[1]);
        let channel_s = (self.byte_s - 1.0 / link).max(0.05 * self.byte_s) * f64::from(channels);
        let batch = (self.writes_per_s * program_s / dies).log2().round().clamp(0.0, 6.0);
        let flush_s = (self.synchronous_s - self.write_s - program_s).max(1e-7);
        let command_s = self.read_s - read_s - f64::from(PAGE) * (channel_s + 1.0 / link);
        let controller = Controller {
            command_ms: 1e3 * command_s.max(0.05 * self.read_s),
            write_command_ms: Some(1e3 * 0.95 * self.write_s),
            busy_ms: None,
            write_busy_ms: None,
            wake_ms: None,
            adjacent_busy_frac: None,
            write_adjacent_busy_frac: None,
            flush_ms: Some(1e3 * flush_s),
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
            cell_page_bytes: Some(PAGE << batch as u32),
            planes_per_die: None,
            suspend_ms: Some(0.0),
            read_ms: 1e3 * read_s,
            program_ms: 1e3 * program_s,
            erase_ms: 0.0,
            // Where large requests took no longer than small ones, by noise, nothing tells the rate but its bound.
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
        // As much room again: what garbage collection costs cannot be seen in seconds, and is left out of the fit.
        sized(parameters, self.unique_bytes, 1.0)
    }
}

/// Seconds between completions.
fn time_s(m: &Measurement) -> f64 {
    m.workload.size_mean as f64 / m.throughput_bytes_per_s
}

/// A drive that holds so many bytes, with this share of them to spare.
pub(super) fn sized(parameters: Parameters, bytes: u64, spare: f64) -> Parameters {
    let page = u64::from(parameters.flash.page_bytes);
    let pages = bytes.div_ceil(page);
    let dies = parameters.flash.channels * parameters.flash.dies_per_channel;
    let share = pages as f64 / f64::from(dies) * (1.0 + spare);
    let blocks = (share / f64::from(parameters.flash.pages_per_block)).ceil() as u32 + 3;
    let flash = Flash { blocks_per_die: blocks, ..parameters.flash };
    Parameters { capacity_bytes: pages * page, flash, ..parameters }
}
