//! The condition under which a comparison of traces fails: `time > 1.1`, or `changed`.

use super::figures::{FigureParts, Ratio};
use super::interval::ALPHA;
use ioscape_schema::trace_comparison::{Change, TraceComparison, TraceFigure};
use ioscape_schema::{ConditionResult, RatioLimit};
use std::str::FromStr;

/// The figures behind each word, which are judged together.
const METRICS: [(&str, &[TraceFigure]); 5] = [
    ("throughput", &[TraceFigure::ReadBytesPerS, TraceFigure::WriteBytesPerS]),
    ("rate", &[TraceFigure::RequestsPerS]),
    ("time", &[TraceFigure::ReadElapsedNsMean, TraceFigure::WriteElapsedNsMean]),
    ("size", &[TraceFigure::ReadBytesMean, TraceFigure::WriteBytesMean]),
    ("queue", &[TraceFigure::QueueLengthMean]),
];

/// Fails if the workload changed at all, or if the ratio of a figure is beyond a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The text as given.
    text: String,
    /// `None`: any change.
    limit: Option<Limit>,
}

#[derive(Clone, Debug, PartialEq)]
struct Limit {
    figures: &'static [TraceFigure],
    below: bool,
    ratio: f64,
}

/// A text that is not a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no condition: give throughput, rate, time, size or queue, < or >, and a ratio above 0, such as 'time > 1.1'; or changed"
)]
pub struct ConditionError(String);

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let wrong = || ConditionError(text.to_owned());
        let text = text.trim();
        if text == "changed" {
            return Ok(Self { text: text.to_owned(), limit: None });
        }
        let RatioLimit { metric, below, ratio } = RatioLimit::read(text).ok_or_else(wrong)?;
        let (_, figures) = METRICS.iter().find(|(name, _)| *name == metric).ok_or_else(wrong)?;
        Ok(Self { text: text.to_owned(), limit: Some(Limit { figures, below, ratio }) })
    }
}

impl Condition {
    /// Which figures are beyond the limit, and not by chance; without a limit, all that changed.
    pub(super) fn met(&self, found: &TraceComparison, parts: &[FigureParts]) -> ConditionResult {
        let figures = (0u32..).zip(&found.figures);
        let met_by = match &self.limit {
            None => figures
                .filter(|(_, one)| one.verdict == Change::Changed)
                .map(|(at, _)| at)
                .collect(),
            Some(limit) => {
                let about = |part: &&FigureParts| limit.figures.contains(&part.name);
                let alpha = ALPHA / parts.iter().filter(about).count().max(1) as f64;
                let told = figures.zip(parts).filter(|(_, part)| about(part));
                told.filter(|(_, part)| part.is_told() && limit.is_met(&part.ratio(), alpha))
                    .map(|((at, _), _)| at)
                    .collect()
            }
        };
        ConditionResult { fail_if: self.text.clone(), met_by, lost: Vec::new() }
    }

    /// Checks that the comparison covers what the condition is about.
    ///
    /// # Errors
    /// It does not: the reason.
    pub fn check(&self, found: &TraceComparison) -> Result<(), String> {
        let Some(limit) = &self.limit else { return Ok(()) };
        match found.figures.iter().any(|one| limit.figures.contains(&one.name)) {
            true => Ok(()),
            false => Err(format!(
                "`{}` speaks of what the traces do not tell: times need completions, sizes reads or writes in both, rates ten requests or more in each that arrive over some time",
                self.text
            )),
        }
    }

    /// Says that the comparison fails; `None` if it does not.
    pub fn failure(&self, found: &TraceComparison) -> Option<String> {
        let met = found.condition.as_ref().is_some_and(|condition| !condition.met_by.is_empty());
        let fails = if self.limit.is_some() { met } else { found.verdict == Change::Changed };
        let [first, second] = found.traces.each_ref().map(|trace| trace.name.as_str());
        fails.then(|| format!("{second} against {first} meets `{}` beyond chance", self.text))
    }
}

impl Limit {
    /// Whether the whole interval lies beyond the limit.
    fn is_met(&self, found: &Ratio, alpha: f64) -> bool {
        let (limit, half) = (self.ratio.ln(), found.half_width(alpha));
        if self.below { found.log + half < limit } else { found.log - half > limit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_and_others_refused() {
        let read = |text: &str| text.parse::<Condition>();
        let limit = read(" time>1.1 ").unwrap().limit.unwrap();
        assert_eq!((limit.below, limit.ratio, limit.figures.len()), (false, 1.1, 2));
        assert!(read("rate < 0.9").unwrap().limit.unwrap().below);
        assert_eq!(read("changed").unwrap().limit, None);
        for bad in ["", "> 1", "speed > 1", "time > 0", "Changed"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
