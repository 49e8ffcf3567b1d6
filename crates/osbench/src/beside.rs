//! What a run saw of other programs in all of its cases, and which values are therefore too
//! uncertain to report.
//!
//! A witness may miss that a single process was disturbed. Two other signs remain: other processes
//! of the run were disturbed, and the numbers of this case scatter widely. Neither alone proves
//! anything: intervals may be wide without load, and many numbers are precise despite load.

use super::estimate::{Flaw, INTERVAL_LEAST, is_wide};
use super::result::withdraw;
use ioscape_schema::OsBenchmark;

/// Programs that disturbed a larger share of a run's processes were there throughout. In three runs
/// without load at most 3.3 % were disturbed; with five kinds of load, 11 to 81 %.
const DISTURBED_MOST: f64 = 0.05;

/// How many processes of a run were disturbed by other programs, quotas, the hypervisor or a
/// shortage of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Disturbed {
    pub(crate) disturbed: usize,
    pub(crate) processes: usize,
    /// Whether the measuring program had to share the only allowed processor with the measured
    /// case, on a machine with more.
    pub(crate) one_processor: bool,
}

impl Disturbed {
    /// Counts processes by what is wrong with each.
    pub(crate) fn of(flaws: impl Iterator<Item = Option<Flaw>>) -> Self {
        flaws.fold(Self::default(), |all, flaw| Self {
            disturbed: all.disturbed + usize::from(flaw.is_some_and(has_a_visible_reason)),
            processes: all.processes + 1,
            ..all
        })
    }

    /// Says what ran beside the cases; `None` if nothing did.
    fn in_words(self) -> Option<String> {
        let Self { disturbed, processes, one_processor } = self;
        if disturbed as f64 > processes as f64 * DISTURBED_MOST {
            Some(format!("{disturbed} of the {processes} processes of this run were disturbed"))
        } else if one_processor {
            Some("this program had to share with it the only one of the machine's processors that it may run on".to_owned())
        } else {
            None
        }
    }
}

/// Whether something visible disturbed the process. A processor that is slow without a visible
/// program may be slowed by something invisible from here.
fn has_a_visible_reason(flaw: Flaw) -> bool {
    flaw != Flaw::Unexplained
}

/// Withdraws the values whose interval is wide or absent if the run was disturbed.
pub(crate) fn withdraw_uncertain(all: &mut [OsBenchmark], seen: Disturbed) {
    let Some(load) = seen.in_words() else { return };
    for one in all.iter_mut() {
        let Some(value) = one.value else { continue };
        let counted = one.processes.len();
        let spread = match one.ci95 {
            // The measuring program disturbs every process there, so a few that agree prove
            // nothing.
            _ if seen.one_processor && counted < INTERVAL_LEAST => {
                format!("only {counted} of its processes count")
            }
            Some(ends) if !is_wide(value, ends) => continue,
            Some([low, high]) => format!(
                "its interval goes from {:+.0} to {:+.0} %",
                (low / value - 1.0) * 100.0,
                (high / value - 1.0) * 100.0
            ),
            None => "it has no interval".to_owned(),
        };
        let why = format!(
            "{spread}, and {load}, so that it cannot be told whether this is what the machine does undisturbed: measure again when it is quieter"
        );
        withdraw(one, why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(value: f64, ci95: Option<[f64; 2]>) -> OsBenchmark {
        OsBenchmark {
            value: Some(value),
            ci95,
            processes: vec![value; 6],
            set_aside: vec![1.0],
            ..OsBenchmark::default()
        }
    }

    fn of(disturbed: usize) -> Disturbed {
        Disturbed { disturbed, processes: 100, one_processor: false }
    }

    /// Returns which cases have a value, by position, and why the others have none.
    fn after(seen: Disturbed) -> (Vec<bool>, Vec<String>) {
        let mut all = [
            one(100.0, Some([97.0, 104.0])),
            one(100.0, Some([92.0, 101.0])),
            one(100.0, None),
            OsBenchmark { not_measured: Some("none".into()), ..OsBenchmark::default() },
        ];
        withdraw_uncertain(&mut all, seen);
        assert_eq!(all.iter().map(|one| one.set_aside.len()).sum::<usize>() % 2, 1);
        (
            all.iter().map(|one| one.value.is_some()).collect(),
            all.iter().filter_map(|one| one.not_measured.clone()).collect(),
        )
    }

    #[test]
    fn a_wide_number_is_none_where_the_run_was_disturbed() {
        let (kept, why) = after(of(20));
        assert_eq!(kept, [true, false, false, false]);
        assert!(why[0].contains("from -8 to +1 %") && why[0].contains("20 of the 100"), "{why:?}");
        assert!(why[1].starts_with("it has no interval"), "{why:?}");
        assert_eq!(why[2], "none", "a reason of its own stays");
    }

    #[test]
    fn without_load_a_wide_number_stays() {
        for disturbed in [0, 5] {
            let (kept, _) = after(of(disturbed));
            assert_eq!(kept, [true, true, true, false], "{disturbed} of 100");
        }
        assert_eq!(Disturbed::default().in_words(), None);
    }

    #[test]
    fn the_only_processor_is_shared() {
        let (kept, why) = after(Disturbed { one_processor: true, ..of(0) });
        assert_eq!(kept, [true, false, false, false]);
        assert!(why[0].contains("share with it the only one"), "{why:?}");
        let few = || OsBenchmark { processes: vec![100.0; 5], ..one(100.0, Some([99.0, 101.0])) };
        let mut all = [few()];
        withdraw_uncertain(&mut all, of(20));
        assert_eq!(all[0].value, Some(100.0), "few that agree are enough elsewhere");
        withdraw_uncertain(&mut all, Disturbed { one_processor: true, ..of(0) });
        assert!(all[0].not_measured.as_ref().unwrap().starts_with("only 5 of its processes count"));
    }

    #[test]
    fn a_slow_processor_without_a_program_beside_it_is_no_load() {
        let flaws = [None, Some(Flaw::Slowed), Some(Flaw::Unexplained), Some(Flaw::Memory)];
        let seen = Disturbed::of(flaws.into_iter());
        assert_eq!(seen, Disturbed { disturbed: 2, processes: 4, one_processor: false });
    }
}
