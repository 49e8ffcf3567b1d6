//! The sums over all pairs and findings, and whether they reach the aim.

use ioscape_scaling::judge::testing_agreement::Agreement;

/// Pairs of evaluations, over all findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    pairs: usize,
    agreeing: usize,
    /// Pairs that agree on something that both report.
    told: usize,
    /// Pairs of which at least one reports something.
    telling: usize,
    contradicting: usize,
    withholding: usize,
}

impl Sums {
    /// Sums up these findings.
    pub fn of(found: &[Agreement]) -> Self {
        let sum = |count: fn(&Agreement) -> usize| found.iter().map(count).sum::<usize>();
        Self {
            pairs: sum(|one| one.pairs),
            agreeing: sum(|one| one.agreeing),
            told: sum(Agreement::told),
            telling: sum(|one| one.telling),
            contradicting: sum(|one| one.contradicting),
            withholding: sum(|one| one.withholding),
        }
    }

    /// Whether this share of all pairs agrees. Evaluations that report nothing agree as well, so at
    /// least one pair must report something.
    pub fn reach(&self, aim: f64) -> bool {
        share(self.agreeing, self.pairs) >= aim && self.told > 0
    }

    /// The sums as readable text, one per line.
    pub fn lines(&self) -> [String; 2] {
        let Self { pairs, agreeing, told, telling, contradicting, withholding } = *self;
        [
            format!(
                "{agreeing} of {pairs} pairs agree: {:.0} %, {told} in what both tell and {} by telling nothing; {contradicting} contradict each other, in {withholding} one withholds the verdict and the bounds overlap, {} differ otherwise",
                share(agreeing, pairs) * 100.0,
                agreeing - told,
                pairs - agreeing - contradicting - withholding
            ),
            format!(
                "of pairs where one tells, {told} of {telling} agree: {:.0} %",
                share(told, telling) * 100.0
            ),
        ]
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(pairs: usize, agreeing: usize, withheld: usize, telling: usize) -> Agreement {
        Agreement { pairs, agreeing, withheld, telling, ..Agreement::default() }
    }

    #[test]
    fn silence_alone_does_not_reach_the_aim() {
        let silent = Sums::of(&[one(10, 10, 10, 0), one(10, 10, 10, 0)]);
        assert!(!silent.reach(0.95), "{silent:?}");
        assert!(Sums::of(&[one(10, 10, 10, 0), one(10, 10, 9, 1)]).reach(0.95));
        assert!(!Sums::of(&[]).reach(0.95));
    }

    #[test]
    fn the_share_of_what_is_told_is_beside_that_of_all() {
        let [all, telling] = Sums::of(&[one(10, 9, 6, 4)]).lines();
        assert!(all.starts_with("9 of 10 pairs agree: 90 %, 3 in what both tell"), "{all}");
        assert_eq!(telling, "of pairs where one tells, 3 of 4 agree: 75 %");
    }
}
