//! Many documents of any kinds: each compared with the first of its own kind.

use super::{NamedDocument, compare_measured};
use ioscape_schema::{MeasuredComparison, Outcome};
use std::mem::discriminant;

/// Compares every result of runs, `vxbench`, a campaign or micro-benchmarks with the first of its
/// kind, as far as both did the same work.
pub fn compare_with_firsts(named: &[NamedDocument<'_>]) -> Vec<MeasuredComparison> {
    let mut firsts: Vec<NamedDocument> = Vec::new();
    let mut all = Vec::new();
    for this in named {
        let Some(kind) = this.document.outcome.as_ref().filter(|one| has_rows(one)) else {
            continue;
        };
        let is_alike = |one: &&NamedDocument| {
            let first = one.document.outcome.as_ref();
            first.is_some_and(|first| discriminant(first) == discriminant(kind))
        };
        match firsts.iter().find(is_alike) {
            // A result that cannot be compared is shown without a comparison.
            Some(first) => all.extend(compare_measured(*first, *this, None)),
            None => firsts.push(*this),
        }
    }
    all
}

fn has_rows(outcome: &Outcome) -> bool {
    use Outcome::{Campaign, Measurements, Os, Vxbench};
    matches!(outcome, Measurements(_) | Vxbench(_) | Campaign(_) | Os(_))
}
