//! Further sentences with a truth that the world knows: flushing, borders beyond the first, request
//! sizes, the law of a write-through cache, and what disturbed the evaluation.

use super::world::{Counters, World};
use super::{Outcome, Tally, true_borders};
use ioscape_schema::{BorderOperation, Evaluation, RegionFinding, Workload};

/// A statement is true within this factor.
const ROOM: f64 = 1.1;
/// The share of the best throughput that is enough.
const ENOUGH: f64 = 0.75;
/// The least factor by which a flush counts as slowing writes down.
const SLOWER: f64 = 1.5;
/// The law of a write-through cache counts as followed within this factor.
const FOLLOWS: f64 = 1.3;

fn is_true(holds: bool) -> Outcome {
    if holds { Outcome::True } else { Outcome::False }
}

/// The sentence with this beginning.
pub(super) fn said<'a>(evaluation: &'a Evaluation, begins: &[&str]) -> Option<&'a String> {
    let is_about = |s: &&String| begins.iter().any(|words| s.starts_with(words));
    evaluation.findings.sentences.iter().find(is_about)
}

impl Tally {
    pub(super) fn further(&mut self, world: &World, evaluation: &Evaluation) {
        self.flush(world, evaluation);
        self.further_borders(world, evaluation);
        self.law(world, evaluation);
        self.steadiness(world, evaluation);
        for found in &evaluation.findings.size_for_75_percent_bytes {
            self.size(world, evaluation, found);
        }
    }

    fn flush(&mut self, world: &World, evaluation: &Evaluation) {
        let begins = ["In the run that was long", "A flush does not", "Whether a flush"];
        let (Some(text), Some(run)) = (said(evaluation, &begins), world.long_run) else { return };
        let outcome = if text.starts_with("Whether") {
            let is_plain = run.slower.is_some_and(|by| by < 1.1 && world.noise < 0.1);
            match is_plain && world.counters == Counters::Full {
                true => Outcome::Withheld,
                false => Outcome::Open,
            }
        } else if text.starts_with("A flush does not") {
            is_true(run.slower.is_some_and(|by| by < SLOWER * ROOM))
        } else {
            is_true(run.slower.is_some_and(|by| by > SLOWER / ROOM.powi(3)))
        };
        self.sentence(world, "flush", outcome, &format!("{text} (true: {run:?})"));
    }

    fn further_borders(&mut self, world: &World, evaluation: &Evaluation) {
        for operation in [BorderOperation::Read, BorderOperation::Write] {
            let word = if operation == BorderOperation::Read { "reads" } else { "writes" };
            let begins = format!("For {word}, throughput has another border at");
            let of = evaluation.borders.iter().filter(|b| b.operation == operation && !b.in_memory);
            // A level that may not exist has no border to report.
            let of = of.skip(1).filter(|border| !evaluation.may_be_no_level(border));
            let texts = evaluation.findings.sentences.iter().filter(|s| s.starts_with(&begins));
            let truths = true_borders(world, operation);
            let untold = format!("Whether {word} have another border");
            let is_told = !evaluation.findings.sentences.iter().any(|s| s.starts_with(&untold));
            for (border, text) in of.zip(texts).filter(|_| is_told) {
                let holds =
                    |[low, high]: &[f64; 2]| border.low <= high * ROOM && border.high >= low / ROOM;
                let text = format!("{text} (true: {truths:?})");
                self.sentence(world, "further borders", is_true(truths.iter().any(holds)), &text);
            }
        }
    }

    fn law(&mut self, world: &World, evaluation: &Evaluation) {
        let begins =
            ["Throughput follows", "Throughput does not follow", "Whether throughput follows"];
        let Some(text) = said(evaluation, &begins) else { return };
        let Some(region) = evaluation.regions.first() else { return };
        let at = |read_frac| world.law(&Workload { read_frac, ..region.focal.clone() });
        let inner = region.curves.read_frac.iter().filter(|p| p.value > 0.0 && p.value < 0.97);
        let mut departures: Vec<f64> =
            inner.map(|p| (at(p.value) * (1.0 - p.value) / at(0.0)).ln().abs().exp()).collect();
        departures.sort_by(f64::total_cmp);
        let typical = departures[departures.len() / 2];
        let outcome = if text.starts_with("Whether") {
            Outcome::Open
        } else if text.starts_with("Throughput follows") {
            is_true(typical < FOLLOWS * ROOM)
        } else {
            is_true(typical > FOLLOWS / ROOM)
        };
        self.sentence(world, "write-through law", outcome, &format!("{text} (true: {typical:.2})"));
    }

    fn steadiness(&mut self, world: &World, evaluation: &Evaluation) {
        if let Some(text) = said(evaluation, &["Storage became"]) {
            self.sentence(world, "lasting change", is_true(world.is_changing()), text);
        }
        let begins = ["The reference workload changed its speed", "Other load"];
        let Some(text) = said(evaluation, &begins) else { return };
        let changed =
            !text.starts_with("The reference") || world.is_changing() || world.noise > 0.05;
        let disturbed = !text.contains("ther load") || world.is_disturbed();
        self.sentence(world, "steadiness", is_true(changed && disturbed), text);
    }

    fn size(&mut self, world: &World, evaluation: &Evaluation, found: &RegionFinding) {
        let Some(region) = evaluation.regions.iter().find(|r| r.name == found.region) else {
            return;
        };
        let Some(largest) = region.curves.size_mean.last() else { return };
        let untold = format!("In {}, the request size that gives", found.region);
        if let Some(text) = said(evaluation, &[&untold]) {
            return self.sentence(world, "size for 75 %", Outcome::Open, text);
        }
        let begins = format!("In {}, requests of ", found.region);
        let Some(text) = said(evaluation, &[&begins]) else { return };
        let at =
            |size: f64| world.law(&Workload { size_mean: size as u64, ..region.focal.clone() });
        let speed = |size: f64| at(size) / at(largest.value);
        // Throughput rises with the size, and only gently near its best.
        let holds = speed(found.high) > ENOUGH / ROOM && speed(found.low) < ENOUGH * ROOM;
        self.sentence(world, "size for 75 %", is_true(holds), text);
    }
}
