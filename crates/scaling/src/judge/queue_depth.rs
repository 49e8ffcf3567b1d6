//! What a deeper queue gains: how much faster it is, and the depth beyond which only waiting grows.

use super::curve::{Repeatability, inverse};
use super::reached::{reached, surely_below};
use super::words::{factor, open_times, tried, within};
use ioscape_schema::{
    Bounded, Difference, Evaluation, Findings, Point, Region, RegionFinding, is_uncertain,
};

/// Share of the best throughput at which a queue counts as saturated.
const SATURATED: f64 = 0.9;

/// Best throughput of several requests at once over that of one at a time.
pub(super) fn gain(noise: Repeatability, region: &Region) -> Option<Bounded> {
    noise.several_ratio(&region.curves.queue_depth)
}

/// The last depth whose throughput is surely below 90 % of the best; `None` without one.
fn not_saturated(noise: Repeatability, curve: &[Point]) -> Option<f64> {
    surely_below(noise, curve, SATURATED)
}

/// Returns the least depth with 90 % of the best throughput, between two measured depths.
pub(super) fn saturation(noise: Repeatability, region: &Region) -> Option<Bounded> {
    reached(noise, &region.curves.queue_depth, SATURATED)
}

/// A sentence for each region whose queue was varied.
pub(super) fn sentences(evaluation: &Evaluation, findings: &Findings) -> Vec<String> {
    let noise = Repeatability::of(evaluation);
    let sentence = |region: &Region| {
        let of = |all: &[RegionFinding]| all.iter().find(|one| one.region == region.name).cloned();
        let gain = of(&findings.queue_depth_gain)?;
        let saturated = of(&findings.queue_depth_for_90_percent)?;
        let curve = &region.curves.queue_depth;
        Some(sentence(curve, not_saturated(noise, curve), &gain, &saturated))
    };
    evaluation.regions.iter().filter_map(sentence).collect()
}

fn sentence(
    curve: &[Point],
    below: Option<f64>,
    gain: &RegionFinding,
    saturated: &RegionFinding,
) -> String {
    let RegionFinding { region, value, low, high } = gain;
    let gained = Bounded { value: *value, low: *low, high: *high };
    let by = within(gained);
    let most = curve.last().map_or(0.0, |last| last.value);
    let deeper = format!("a deeper queue{}", tried(curve));
    match gain.difference() {
        Difference::Alike if !gain.is_nil() => {
            return format!(
                "In {region}, {deeper} differs from one request at a time by less than a fifth{by}."
            );
        }
        Difference::Alike => {
            return format!("In {region}, {deeper} is no faster than one request at a time{by}.");
        }
        Difference::Less => {
            let slower = inverse(gained);
            return format!(
                "In {region}, {deeper} is {} times slower than one request at a time{}.",
                factor(slower.value),
                within(slower)
            );
        }
        Difference::Unknown => {
            let open = match *high <= 1.0 {
                true => format!(
                    "{deeper} is no faster than one request at a time; whether it is slower"
                ),
                false => format!("whether {deeper} is faster than one request at a time"),
            };
            return format!(
                "In {region}, {open} cannot be told from this run{}; more rounds would tell.",
                open_times(gained)
            );
        }
        Difference::More => {}
    }
    let times =
        format!("a deeper queue is {} times faster than one request at a time{by}", factor(*value));
    format!("In {region}, {times}; {}", saturates(below, saturated, most))
}

/// Returns the words on where the queue saturates, of depths up to `most`; `below` is the last
/// depth at which it surely does not yet.
fn saturates(below: Option<f64>, saturated: &RegionFinding, most: f64) -> String {
    let RegionFinding { low, high, .. } = saturated;
    if *high > most / 2.0 {
        let not_yet = below.map_or(String::new(), |depth| {
            format!("it is not saturated at a depth of {depth}, and ")
        });
        return format!(
            "{not_yet}whether it is saturated below a depth of {most} cannot be told from this run."
        );
    }
    if is_uncertain(*low, *high) {
        return format!(
            "where it saturates cannot be told more closely than between depths of {low} and {high}; more rounds would tell."
        );
    }
    let place = match below {
        Some(depth) => format!("between depths of {depth} and {high}"),
        None => format!("at a depth of {high} or less"),
    };
    format!(
        "it saturates {place}: from there on it has 90 % of the best throughput of depths up to {most}, and deeper queues mostly add waiting time."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use ioscape_schema::{Parameter, RegionCurves};

    /// A device that serves `parallel` requests at once: throughput grows with the depth up to there.
    fn region(parallel: f64, noise: f64) -> Region {
        let point = |depth: f64| {
            let rate = 1e6 * depth.min(parallel);
            let mut point = testing::point((Parameter::QueueDepth, depth), rate, 3);
            point.measurement.throughput_ci95 = [rate * (1.0 - noise), rate * (1.0 + noise)];
            point
        };
        let queue_depth = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0].map(point).into();
        testing::region(RegionCurves { queue_depth, ..RegionCurves::default() })
    }

    fn said(parallel: f64, noise: f64) -> String {
        let regions = vec![region(parallel, noise)];
        let evaluation = Evaluation { regions, ..Evaluation::default() };
        super::super::findings(&evaluation).sentences.join(" ")
    }

    #[test]
    fn the_depth_of_a_device_that_serves_so_many_at_once_is_found() {
        let evaluation = Evaluation::default();
        let found = saturation(Repeatability::of(&evaluation), &region(16.0, 0.01)).unwrap();
        assert_eq!((found.low, found.high), (8.0, 16.0));
        assert!((8.0..=16.0).contains(&found.value), "{found:?}");
        let sentence = said(16.0, 0.01);
        assert!(sentence.contains("it saturates between depths of 8 and 16"), "{sentence}");
        assert!(sentence.contains("16 times faster than one request at a time (15 to 17)"));
    }

    #[test]
    fn deeper_queues_that_are_all_slower_than_one_request_at_a_time_are_slower() {
        let mut slower = region(1.0, 0.01);
        for point in slower.curves.queue_depth.iter_mut().skip(1) {
            point.rounds = vec![0.25e6; 3];
        }
        let evaluation = Evaluation { regions: vec![slower], ..Evaluation::default() };
        let said = super::super::findings(&evaluation).sentences.join(" ");
        assert!(said.contains("and 64) is 4.0 times slower than one request"), "{said}");
    }

    #[test]
    fn a_deeper_queue_is_not_called_faster_where_it_is_surely_no_faster() {
        let said = |value, low, high| {
            let gain = RegionFinding { region: "region 1".into(), value, low, high };
            sentence(&region(1.0, 0.01).curves.queue_depth, None, &gain, &gain)
        };
        let small = said(0.94, 0.914, 0.967);
        let words = "differs from one request at a time by less than a fifth (0.91 to 0.97)";
        assert!(small.contains(words), "{small}");
        let open = said(0.85, 0.7, 1.0);
        assert!(open.contains("is no faster than one request at a time; whether it is slower"));
        let wide = said(0.9, 0.7, 1.1);
        assert!(wide.contains(") is faster than one request"), "{wide}");
    }

    #[test]
    fn what_the_interval_does_not_say_is_not_said() {
        assert!(said(1.0, 0.01).contains("is no faster than one request at a time"));
        let endless = said(1000.0, 0.01);
        assert!(endless.contains("is not saturated at a depth of 32"), "{endless}");
        assert!(said(1.3, 0.6).contains("cannot be told from this run"), "{}", said(1.3, 0.6));
        assert!(!said(2.0, 0.9).contains("saturates between"), "{}", said(2.0, 0.9));
    }

    /// One request at a time has 0.92 of the best, which is itself uncertain.
    #[test]
    fn that_a_queue_is_not_saturated_needs_a_depth_that_surely_is_not() {
        let mut near = region(1.0, 0.01);
        for (point, share) in near.curves.queue_depth.iter_mut().zip([0.92, 0.99, 0.97, 1.0]) {
            point.rounds = vec![1e6 * share; 3];
        }
        let noise = Repeatability::of(&Evaluation::default());
        let found =
            |value, low, high| RegionFinding { region: "region 1".into(), value, low, high };
        let curve = &near.curves.queue_depth;
        assert_eq!(not_saturated(noise, curve), None);
        let open = saturates(None, &found(2.0, 1.0, 64.0), 64.0);
        assert!(open.starts_with("whether it is saturated below a depth of 64 cannot"), "{open}");
        let early = saturates(None, &found(2.0, 1.0, 4.0), 64.0);
        assert!(early.starts_with("it saturates at a depth of 4 or less"), "{early}");
        // A depth at 0.88 of the best is not surely below 0.9 of it where the best may be a lucky one.
        near.curves.queue_depth[0].rounds = vec![0.88e6; 3];
        assert_eq!(not_saturated(noise, &near.curves.queue_depth), None);
        near.curves.queue_depth[0].rounds = vec![0.7e6; 3];
        assert_eq!(not_saturated(noise, &near.curves.queue_depth), Some(1.0));
    }

    #[test]
    fn a_region_without_a_queue_has_no_finding() {
        let mut bare = region(4.0, 0.01);
        bare.curves.queue_depth.clear();
        let noise = Repeatability::of(&Evaluation::default());
        assert_eq!((gain(noise, &bare), saturation(noise, &bare)), (None, None));
    }
}
