//! The settings of an evaluation besides the five parameters: a model answers only for workloads of
//! that kind.

use ioscape_schema::{Access, SizeDistribution, Workload};

/// A setting besides the five parameters in which a workload differs from all measured ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindDifference {
    /// The name of the setting.
    pub setting: &'static str,
    /// The workload's value.
    pub asked: String,
    /// The measured value.
    pub measured: String,
}

/// A workload of a kind that was never measured: its speed is unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} was never measured on {target}, which was evaluated with {}", self.asked(), self.measured())]
pub struct OtherKind {
    /// The evaluation's target.
    pub target: String,
    /// Every difference, at least one.
    pub differences: Vec<KindDifference>,
}

impl OtherKind {
    /// The same for a target that was evaluated with all of these accesses.
    #[must_use]
    pub fn among(mut self, accesses: &[Access]) -> Self {
        for one in self.differences.iter_mut().filter(|one| one.setting == "access") {
            one.measured =
                accesses.iter().map(|access| access.word()).collect::<Vec<_>>().join(" or ");
        }
        self
    }

    fn asked(&self) -> String {
        self.settings(|one| &one.asked)
    }

    fn measured(&self) -> String {
        self.settings(|one| &one.measured)
    }

    /// The settings that differ, each with the value that `of` picks, in words.
    fn settings(&self, of: impl Fn(&KindDifference) -> &String) -> String {
        let each: Vec<String> =
            self.differences.iter().map(|one| format!("{} {}", one.setting, of(one))).collect();
        each.join(", ")
    }
}

/// Every setting besides the five parameters and the advice in which `asked` differs from `measured`.
fn differences_in_mechanism(asked: &Workload, measured: &Workload) -> Vec<KindDifference> {
    let bytes =
        |limit: Option<u64>| limit.map_or("none".to_owned(), |bytes| format!("{bytes} bytes"));
    // One size is the same by any distribution and with any alignment that divides it, but finer
    // positions than those measured are another kind.
    let measured_so = Workload { size_mean: asked.size_mean, ..measured.clone() };
    let is_one = asked.has_one_size() && measured_so.has_one_size();
    let is_within = is_one && asked.is_aligned_within(measured.align_bytes);
    // Each access has the alignment that its evaluation chose.
    let is_free = is_within || asked.access != measured.access;
    let sizes = |w: &Workload| if is_one { SizeDistribution::Fixed } else { w.size_distribution };
    let by_kind = |apart: bool| if apart { "of reads and writes apart" } else { "of all requests" };
    let of = |w: &Workload| {
        [
            ("access", w.access.to_string()),
            ("engine", w.engine.to_string()),
            ("size distribution", sizes(w).to_string()),
            ("queue depth", w.queue_depth.to_string()),
            ("workers", w.workers.to_string()),
            ("think time", format!("{} ns", w.think_time_ns)),
            ("alignment", bytes(w.align_bytes.filter(|_| !is_free)).replace("none", "by size")),
            ("direct I/O above", bytes(w.direct_above_bytes)),
            ("sizes and order", by_kind(w.by_operation.is_some()).to_owned()),
        ]
    };
    let both = of(asked).into_iter().zip(of(measured));
    both.filter(|((_, asked), (_, measured))| asked != measured)
        .map(|((setting, asked), (_, measured))| KindDifference { setting, asked, measured })
        .collect()
}

/// Every setting besides the five parameters in which `asked` differs from `measured`.
pub(super) fn differences(asked: &Workload, measured: &Workload) -> Vec<KindDifference> {
    let mut found = differences_in_mechanism(asked, measured);
    if asked.advice != measured.advice {
        let (asked, measured) = (asked.advice.to_string(), measured.advice.to_string());
        found.push(KindDifference { setting: "advice", asked, measured });
    }
    found
}

/// Whether two workloads differ only in the five parameters and in their advice: the searches for
/// cache sizes advise the kernel not to read ahead, and the model knows the effect of that.
pub(super) fn same_kind(a: &Workload, b: &Workload) -> bool {
    differences_in_mechanism(a, b).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{Advice, Engine};

    #[test]
    fn every_setting_beside_the_five_parameters_is_a_kind_of_its_own() {
        let base = Workload::default();
        let kinds = [
            Workload { access: Access::Direct, ..base.clone() },
            Workload { engine: Engine::Mmap, ..base.clone() },
            Workload { size_distribution: SizeDistribution::Fixed, ..base.clone() },
            Workload { queue_depth: 32, engine: Engine::IoUring, ..base.clone() },
            Workload { advice: Advice::Random, ..base.clone() },
            Workload { think_time_ns: 1, ..base.clone() },
            Workload { align_bytes: Some(512), ..base.clone() },
            Workload { direct_above_bytes: Some(1 << 18), ..base.clone() },
        ];
        for other in &kinds {
            assert!(!differences(other, &base).is_empty(), "{other:?}");
        }
        let five = Workload {
            unique_bytes: 1,
            size_mean: 1,
            read_frac: 0.0,
            seq_frac: 0.0,
            process_num: 9,
            ..base.clone()
        };
        assert_eq!(differences(&five, &base), []);
        assert!(same_kind(&kinds[4], &base), "advice is part of the model");
    }

    #[test]
    fn one_size_is_of_one_kind_whichever_alignment_no_finer_divides_it() {
        let fixed = Workload { size_distribution: SizeDistribution::Fixed, ..Workload::default() };
        let job =
            |size_mean, align| Workload { size_mean, align_bytes: Some(align), ..fixed.clone() };
        for known in [job(2048, 2048), job(65_536, 65_536)] {
            assert_eq!(differences(&known, &fixed), []);
        }
        // One multiple of the alignment is one size by any distribution, two are not.
        let default = Workload::default();
        assert_eq!(differences(&job(2048, 2048), &default), []);
        assert_eq!(differences(&Workload { size_mean: 2048, ..default.clone() }, &fixed), []);
        assert!(!differences(&job(65_536, 65_536), &default).is_empty());
        assert!(!differences(&job(8192, 4096), &default).is_empty());
        let settings = |asked: &Workload, measured: &Workload| {
            differences(asked, measured).iter().map(|one| one.setting).collect::<Vec<_>>()
        };
        for other in [job(4096, 512), job(5120, 1024), job(5120, 2048)] {
            assert_eq!(settings(&other, &fixed), ["alignment"], "{other:?}");
        }
        let [sectors, pages] =
            [512, 4096].map(|align| Workload { align_bytes: Some(align), ..fixed.clone() });
        assert!(settings(&job(8192, 4096), &sectors).is_empty());
        assert_eq!(settings(&job(8192, 512), &pages), ["alignment"]);
        let direct = Workload { access: Access::Direct, ..sectors };
        assert_eq!(settings(&fixed, &direct), ["access"]);
    }

    #[test]
    fn the_refusal_names_both_sides() {
        let asked = Workload { access: Access::Direct, queue_depth: 8, ..Workload::default() };
        let differences = differences(&asked, &Workload::default());
        let refusal = OtherKind { target: "/srv".into(), differences };
        assert_eq!(
            refusal.to_string(),
            "access direct, queue depth 8 was never measured on /srv, which was evaluated with access buffered, queue depth 1"
        );
    }
}
