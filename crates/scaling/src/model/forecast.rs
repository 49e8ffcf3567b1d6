//! The forecast of a traced application on a system, each figure with its interval.
//!
//! The model's own interval is that of its throughput. Hit ratios and the memory needed depend on
//! two further uncertainties. One is the trace, whose parts differ. The other is the sizes of the
//! caches, which the evaluation knows within bounds and which grow with memory by an approximate
//! rule. Each is moved to its ends, and the resulting changes are added in squares, as independent
//! errors are.

use super::application::{Application, WAIT_BYTES};
use super::exchange::CacheDoubt;
use super::input::{ModelInput, Observation};
use super::predict::Estimate;
use super::system_model::{Model, predict, prediction};
use super::what_if::{WhatIf, WhatIfError};
use ioscape_schema::{Access, AccessPattern, MemoryForecast, Op, Prediction, Workload};

/// The interval of a share that is unknown.
const UNKNOWN: [f64; 2] = [0.0, 1.0];

/// Predicts a traced application with the five parameters of `workload` on `model`'s system with
/// the exchanges of `what_if`. `memory_bytes` is the memory that the evaluated caches could use; if
/// it is known, so is how much the application needs. Waits for `fsync` are those of the trace.
///
/// # Errors
/// Those of [`predict_what_if`](super::predict_what_if); no model of levels fits the evaluation.
pub fn predict_application(
    model: &Model,
    what_if: &WhatIf,
    memory_bytes: Option<u64>,
    workload: &Workload,
    pattern: &AccessPattern,
) -> Result<Prediction, WhatIfError> {
    model.knows(workload)?;
    let one = application(model, what_if, memory_bytes, pattern);
    let own = one.memory_bytes;
    let lender = what_if.storage.as_ref();
    lender.map_or(Ok(()), |lender| lender.knows(workload))?;
    let here = one.exchanged(what_if)?;
    // Without a known cache of reads, nothing says how many of them other memory serves.
    let needed = pattern.unique_bytes.saturating_add(pattern.memory_bytes.unwrap_or(0));
    let is_larger = |[own, other]: [u64; 2]| own != other && needed > other;
    if one.lacks_read_cache(&here) && what_if.memory_bytes.is_some_and(is_larger) {
        return Err(WhatIfError::NoCache(model.target().to_owned()));
    }
    let found = one.on(&here);
    let ends = [-1.0, 1.0].map(|end| pattern.at_end(end));
    let doubts = Doubts::new(&one, &ends);
    let mut estimate = Estimate { log_throughput: found.throughput.ln(), half_width: found.half };
    estimate.half_width = estimate.half_width.hypot(doubts.of_trace(what_if, found.throughput));
    let place = ModelInput::of(workload);
    let alike = here.alike(&place, model.measured_sets());
    let measured = one.measured(what_if, &here, &place).into_iter();
    let outside =
        measured.map(|(model, region)| one.outside(model, &place, region)).fold(0.0, f64::max);
    estimate.half_width += outside;
    let mut predicted = prediction(model, workload, estimate);
    predicted.extrapolated = outside > 0.0 || one.is_beyond_sets(&here);
    predicted.region = model.region(alike.unique_bytes);
    predicted.iops = pattern.requests() as f64 / found.forecast.elapsed_s;
    predicted.response_time_ns = found.response_s * 1e9;
    let mut forecast = found.forecast;
    let share = |op: Op| {
        move |other: &Application<'_>| Some(other.missed(&other.exchanged(what_if).ok()?, op))
    };
    forecast.read_hit_interval90 = doubts
        .interval(one.missed(&here, Op::Read), share(Op::Read))
        .map(|[low, high]| [1.0 - high.min(1.0), 1.0 - low.max(0.0)]);
    forecast.written_through_interval90 = doubts
        .interval(forecast.written_through_frac, share(Op::Write))
        .map(|ends| ends.map(|end| end.clamp(0.0, 1.0)));
    // A level that was not seen to leave memory may be a cache or storage: where it may be a file
    // cache, the shares are unknown.
    if !here.leaves_memory(0) && workload.access.reads_cached() {
        forecast.read_hit_interval90 = Some(UNKNOWN);
    }
    if !here.leaves_memory(1) && workload.access == Access::Buffered {
        forecast.written_through_interval90 = Some(UNKNOWN);
    }
    let grows = one.meets_file_cache() && !one.lacks_read_cache(&here);
    let known = own.filter(|_| grows);
    forecast.memory = known.and_then(|own| memory(&one, &doubts, what_if, own));
    predicted.application = Some(forecast);
    Ok(predicted)
}

/// How many times as slow, and as fast, as predicted an application that called `fsync` and the like
/// `syncs` times may be, each at least 1. It waited for the storage of the trace; here each wait may
/// take `wait_s` seconds, or no time.
pub(crate) fn by_syncs(
    model: &Model,
    what_if: &WhatIf,
    memory_bytes: Option<u64>,
    (pattern, syncs, wait_s): (&AccessPattern, u64, f64),
) -> [f64; 2] {
    let traced_s = pattern.sync_s;
    let throughput = |sync_s: f64| {
        let pattern = AccessPattern { sync_s, ..pattern.clone() };
        let one = application(model, what_if, memory_bytes, &pattern);
        Some(one.on(&one.exchanged(what_if).ok()?).throughput)
    };
    match [traced_s.max(syncs as f64 * wait_s), traced_s, 0.0].map(throughput) {
        [Some(slowest), Some(traced), Some(fastest)] => [traced / slowest, fastest / traced],
        _ => [1.0; 2],
    }
}

/// How long a synchronous write waits for storage, in seconds; `None` if none was measured.
pub(crate) fn synchronous_s(model: &Model) -> Option<f64> {
    if let Some(Observation { place, log_throughput, .. }) = model.synchronous {
        return Some(model.clients * place.process_num * place.size_mean / log_throughput.exp());
    }
    let base = model.base();
    let small = Workload { read_frac: 0.0, size_mean: WAIT_BYTES, process_num: 1, ..base.clone() };
    let predicted = (base.access == Access::Dsync).then(|| predict(model, &small).ok()).flatten();
    predicted.map(|one| one.response_time_ns / 1e9)
}

fn application<'a>(
    model: &'a Model,
    what_if: &WhatIf,
    memory_bytes: Option<u64>,
    pattern: &'a AccessPattern,
) -> Application<'a> {
    let memory_bytes = what_if.memory_bytes.map(|[own, _]| own).or(memory_bytes);
    Application { model, pattern, memory_bytes, caches: CacheDoubt::None }
}

/// The memory that the application needs, with its interval.
fn memory(
    one: &Application<'_>,
    doubts: &Doubts<'_>,
    what_if: &WhatIf,
    own: u64,
) -> Option<MemoryForecast> {
    let found = one.memory(what_if, own)?;
    let needed =
        |other: &Application<'_>| Some(other.memory(what_if, own)?.for_90_percent_bytes.ln());
    let between = doubts.interval(found.for_90_percent_bytes.ln(), needed);
    let for_90_percent_interval90 = between.map(|ends| ends.map(f64::exp));
    Some(MemoryForecast { for_90_percent_interval90, ..found })
}

/// The same application in the other states that are possible.
struct Doubts<'a> {
    /// With the trace's shares at their ends; `None` where these are unknown.
    trace: Option<[Application<'a>; 2]>,
    /// With the caches' sizes at their ends, and with the alternative rule of their growth.
    caches: [Application<'a>; 3],
}

impl<'a> Doubts<'a> {
    fn new(first: &Application<'a>, ends: &'a [Option<AccessPattern>; 2]) -> Self {
        let one = |pattern, caches| Application { pattern, caches, ..*first };
        let trace = match ends {
            [Some(low), Some(high)] => Some([low, high].map(|end| one(end, CacheDoubt::None))),
            _ => None,
        };
        let caches = [CacheDoubt::Sizes(-1.0), CacheDoubt::Sizes(1.0), CacheDoubt::Growth];
        Self { trace, caches: caches.map(|doubt| one(first.pattern, doubt)) }
    }

    /// Half the width of the interval of ln(throughput) due to the trace alone; the model's own
    /// interval already includes the caches.
    fn of_trace(&self, what_if: &WhatIf, throughput: f64) -> f64 {
        let off = |other: &Application<'_>| {
            let here = other.exchanged(what_if).ok()?;
            Some((other.on(&here).throughput / throughput).ln().abs())
        };
        self.trace.iter().flatten().filter_map(off).fold(0.0, f64::max)
    }

    /// The 90 % interval of a figure whose most probable value is `middle`; `None` where the trace
    /// does not determine it.
    fn interval(
        &self,
        middle: f64,
        figure: impl Fn(&Application<'_>) -> Option<f64>,
    ) -> Option<[f64; 2]> {
        let (sizes, growth) = self.caches.split_at(2);
        let mut off = [0.0f64; 2];
        for both in [&self.trace.as_ref()?[..], sizes, growth] {
            let values: Vec<f64> = both.iter().filter_map(&figure).collect();
            let most = |sign: f64| values.iter().map(|v| sign * (v - middle)).fold(0.0, f64::max);
            off = [off[0].hypot(most(-1.0)), off[1].hypot(most(1.0))];
        }
        Some([middle - off[0], middle + off[1]])
    }
}
