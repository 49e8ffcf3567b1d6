//! Two traces side by side: did the workload change, and by how much, or can it not be told?
//!
//! Requests of a trace depend on one another, so they are no sample. Instead, sums over time
//! windows are compared, 64 to 128 per trace. Their scatter is taken from single windows, from
//! pairs and from fours, and the widest interval counts: it holds if bursts last for less than a
//! thirtieth of the trace ("batch means": Law & Kelton, "Simulation modeling and analysis", section
//! 9.5). A mean or a share scatters only over the windows that hold its requests; with fewer than
//! 16 of them, it cannot be told. Verdicts rule out chance over everything compared (Bonferroni).

mod condition;
mod course;
mod figures;
mod interval;
#[cfg(test)]
mod tests;
mod told;

pub use condition::{Condition, ConditionError};
pub use course::Course;

use crate::analyze::unarrived::lacks_arrivals;
use course::Window;
use figures::FigureParts;
use interval::{ALPHA, LEAST_WINDOWS, MARGIN, Parts, Shares, is_told};
use ioscape_schema::TraceSummary;
use ioscape_schema::trace_comparison::{
    Change, DistributionChange, TraceComparison, TraceDistribution, TraceFigure, WindowCount,
};
use ioscape_schema::trace_lacks::TraceLacks;

/// Compares the second trace with the first. `summaries` are of the same requests; a condition may
/// say when the comparison fails.
pub fn compare(
    courses: [&Course; 2],
    summaries: [TraceSummary; 2],
    fail_if: Option<&Condition>,
) -> TraceComparison {
    let all = courses.map(Course::windows);
    let arrived = !summaries.iter().any(lacks_arrivals);
    let timed = arrived && courses.iter().all(|course| course.is_timed());
    let windows: [&[Window]; 2] = [&all[0].1, &all[1].1];
    let lacks = summaries.each_ref().map(|summary| TraceLacks::of(&summary.info));
    // If too many requests lack a beginning or an end, the summary has no queues either.
    let has_queues = |one: &TraceSummary| {
        one.disks.is_empty() || one.disks.iter().any(|disk| !disk.queue_length.is_empty())
    };
    let queued = summaries.iter().all(has_queues);
    let rated = courses.iter().zip(windows).all(|(course, windows)| course.has_rate(windows));
    let figures = TraceFigure::ALL.into_iter().filter(|figure| timed || !figure.needs_times());
    let figures = figures.filter(|figure| queued || *figure != TraceFigure::QueueLengthMean);
    let figures = figures.filter(|figure| rated || !told::is_rate(*figure));
    let figures = figures.filter(|figure| lacks.iter().all(|lacks| told::figure(*figure, lacks)));
    let parts: Vec<_> = figures.filter_map(|name| FigureParts::of(name, windows)).collect();
    let shares = TraceDistribution::ALL.into_iter().filter(|one| timed || !one.needs_times());
    let shares = shares.filter(|one| queued || *one != TraceDistribution::QueueLength);
    let shares = shares.filter(|one| arrived || !told::needs_arrivals(*one));
    let shares = shares.filter(|one| lacks.iter().all(|lacks| told::distribution(*one, lacks)));
    let shares = shares.filter_map(|one| Some((one, shares_of(one, windows)?)));
    let shares: Vec<_> = shares.collect();
    let tests = parts.len() + shares.iter().map(|(_, one)| one.thresholds.len()).sum::<usize>();
    let told =
        windows.iter().all(|all| all.iter().filter(|one| one.ios() > 0).count() >= LEAST_WINDOWS);
    let alpha = ALPHA / tests.max(1) as f64;
    let figures = parts.iter().map(|one| one.change(alpha, told));
    let (figures, of_figures): (Vec<_>, Vec<_>) = figures.unzip();
    let changes = shares.iter().map(|(name, one)| distribution_change(*name, one, alpha, told));
    let (distributions, of_shares): (Vec<_>, Vec<_>) = changes.unzip();
    let verdicts =
        || figures.iter().map(|one| one.verdict).chain(distributions.iter().map(|one| one.verdict));
    let verdict = overall(verdicts());
    let half = of_figures.into_iter().chain(of_shares).fold(0.0, f64::max);
    let times = Some((half / MARGIN).powi(2).max(1.0)).filter(|times| times.is_finite());
    let mut found = TraceComparison {
        times_as_long: times.filter(|_| told && verdict == Change::CannotBeTold),
        windows: all.map(|(width_ns, all)| WindowCount { count: all.len() as u64, width_ns }),
        traces: summaries,
        verdict,
        figures,
        distributions,
        margin: MARGIN,
        condition: None,
    };
    found.condition = fail_if.filter(|_| told).map(|condition| condition.met(&found, &parts));
    found
}

fn overall(verdicts: impl Iterator<Item = Change> + Clone) -> Change {
    if verdicts.clone().any(|one| one == Change::Changed) {
        Change::Changed
    } else if verdicts.clone().next().is_some() && verdicts.clone().all(|one| one == Change::Alike)
    {
        Change::Alike
    } else {
        Change::CannotBeTold
    }
}

/// The shares of both traces that lie below some thresholds; `None` if one trace has no values.
fn shares_of(name: TraceDistribution, windows: [&[Window]; 2]) -> Option<Shares> {
    let below = |threshold: u64| {
        windows.map(|all| -> Parts {
            let one = |window: &Window| match name {
                TraceDistribution::Reads => [window.reads() as f64, window.ios() as f64],
                TraceDistribution::Sequential => {
                    let followers = window.seen(TraceDistribution::DistanceBytes).count();
                    [window.adjacent as f64, followers as f64]
                }
                _ => {
                    let seen = window.seen(name);
                    [seen.count_to(threshold) as f64, seen.count() as f64]
                }
            };
            all.iter().map(one).collect()
        })
    };
    let thresholds = match name {
        TraceDistribution::Reads | TraceDistribution::Sequential => vec![None],
        _ => course::thresholds(name, windows)?.into_iter().map(Some).collect(),
    };
    let parts = thresholds.iter().map(|at| below(at.unwrap_or(0)));
    Some(Shares { parts: parts.collect(), thresholds })
}

/// How a distribution changed, and how far off the distance may be: without limit if too few
/// windows show that.
fn distribution_change(
    name: TraceDistribution,
    shares: &Shares,
    alpha: f64,
    told: bool,
) -> (DistributionChange, f64) {
    let told = told && shares.parts.iter().all(is_told);
    let own = ALPHA / shares.thresholds.len().max(1) as f64;
    let (single, all) = (shares.distance(own), shares.distance(alpha));
    let verdict = match () {
        () if !told => Change::CannotBeTold,
        () if all.range[1] <= MARGIN => Change::Alike,
        () if all.range[0] > 0.0 => Change::Changed,
        () => Change::CannotBeTold,
    };
    let change = DistributionChange {
        name,
        distance: single.value,
        ci95: single.range,
        at: shares.thresholds.get(single.at).copied().flatten().map(|at| at as f64),
        shares: single.shares,
        verdict,
    };
    (change, if told { all.range[1] - all.value } else { f64::INFINITY })
}
