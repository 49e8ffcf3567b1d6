//! Whether writers wait for one another, judged from paired throughputs and their intervals.

use super::Writing;
use super::throughputs::Throughputs;
use crate::ratio::{PairedRatio, paired_ratio};
use ioscape_schema::statistics::median;
use ioscape_schema::{WriterScaling, is_uncertain};

/// Least gain of several writers on a file each over one writer. Below it nothing can be concluded.
const GAIN_MIN: f64 = 1.25;
/// A share of the throughput on a file each that counts as all of it.
const WHOLE: f64 = 0.9;
/// Ratios known within this factor do not vary too much: if there is still no verdict, their values
/// are the reason.
const NARROW: f64 = 1.1;

/// The evidence for the verdict: three ratios of runs of the same rounds, each with its 95 %
/// interval.
struct Evidence {
    /// All writers on one file over one writer.
    shared: PairedRatio,
    /// All writers on a file each over one writer.
    gain: PairedRatio,
    /// All writers on one file over the geometric mean of one writer and all writers on a file
    /// each. Below 1, they are nearer to no gain; above 1, nearer to the full gain.
    position: PairedRatio,
}

impl Evidence {
    fn of(all: &Throughputs) -> Option<Self> {
        let middle: Vec<f64> =
            all.alone.iter().zip(&all.own_files).map(|(alone, own)| (alone * own).sqrt()).collect();
        Some(Self {
            shared: paired_ratio(&all.one_file, &all.alone)?,
            gain: paired_ratio(&all.own_files, &all.alone)?,
            position: paired_ratio(&all.one_file, &middle)?,
        })
    }

    /// `None` if the intervals do not decide, or if one of the two ratios is itself unknown.
    fn serialised(&self) -> Option<bool> {
        match self.position.ci95 {
            _ if self.gain.ci95[0] < GAIN_MIN => None,
            _ if shown(&self.shared).is_none() || shown(&self.gain).is_none() => None,
            // Under a lock, several writers on one file gain next to nothing over one.
            [_, high] if high < 1.0 && self.shared.ci95[1] < GAIN_MIN => Some(true),
            [low, _] if low > 1.0 => Some(false),
            _ => None,
        }
    }

    /// Whether several writers surely gain on one file, surely less than on a file each, and are
    /// not nearer to the full gain than to none.
    fn is_partial(&self, ratio: PairedRatio) -> bool {
        let are_known = shown(&self.shared).is_some() && shown(&self.gain).is_some();
        let gains = self.shared.ci95[0] > 1.0 && self.gain.ci95[0] >= GAIN_MIN;
        let is_placed = self.position.ci95[1] < 1.0 || self.is_known();
        are_known && gains && is_placed && ratio.ci95[1] < 1.0
    }

    /// Whether all three ratios have narrow intervals.
    fn is_known(&self) -> bool {
        [&self.shared, &self.gain, &self.position]
            .iter()
            .all(|ratio| ratio.ci95[1] < NARROW * ratio.ci95[0])
    }

    /// What the intervals say, or what would decide; `ratio` is the throughput on one file over
    /// that on a file each.
    fn words(&self, ratio: PairedRatio) -> String {
        match self.serialised() {
            Some(true) => "they wait for one another, as under a single-writer lock".to_owned(),
            Some(false) if ratio.ci95[1] < 1.0 => {
                let [low, high] = ratio.ci95.map(|part| 100.0 * (1.0 - part));
                format!(
                    "they do not take turns, but sharing the file costs {high:.0} to {low:.0} % of the throughput"
                )
            }
            Some(false) if ratio.ci95[0] > WHOLE => "they do not wait for one another".to_owned(),
            Some(false) => {
                let most = 100.0 * (1.0 - ratio.ci95[0]);
                format!(
                    "they do not take turns; whether sharing the file costs anything cannot be told (up to {most:.0} %)"
                )
            }
            None if self.is_partial(ratio) => "they wait for one another in part: several gain over one, but less than on a file each".to_owned(),
            None if self.gain.ci95[1] < GAIN_MIN => format!(
                "whether they wait for one another cannot be told: even on a file each they gain less than {:.0} %; more processors or a faster device would tell",
                100.0 * (GAIN_MIN - 1.0)
            ),
            None => "whether they wait for one another cannot be told: the rounds vary too much; a quieter machine or more rounds would tell".to_owned(),
        }
    }
}

/// Judges `writers` concurrent writers to one file of `file_system` (empty if its name is unknown).
///
/// [`serialised`](WriterScaling::serialised) is set only where three 95 % intervals of paired
/// rounds allow it: the gain on a file each lies above a least gain; the throughput on one file
/// lies on one side of the geometric mean of no gain and the full gain; and both these multiples of
/// one writer's throughput are known.
pub fn verdict(way: Writing, writers: u32, file_system: &str, all: &Throughputs) -> WriterScaling {
    let [alone, one_file, own_files] =
        [&all.alone, &all.one_file, &all.own_files].map(|rates| median(rates));
    let ratio = paired_ratio(&all.one_file, &all.own_files)
        .unwrap_or(PairedRatio { mean: one_file / own_files.max(1.0), ci95: [0.0, f64::MAX] });
    let evidence = Evidence::of(all);
    let measured = match &evidence {
        Some(Evidence { shared, gain, .. }) => {
            format!("{writers} writers {}; ", gains(shown(shared), shown(gain)))
        }
        None => String::new(),
    };
    let words = evidence.as_ref().map_or_else(
        || {
            format!(
                "whether {writers} writers wait for one another cannot be told: fewer than two rounds were measured; a longer run would tell"
            )
        },
        |evidence| evidence.words(ratio),
    );
    let sentence = format!(
        "{} overwrites of {} KiB on {}: {measured}{words}.",
        if way.is_direct() { "Direct" } else { "Buffered" },
        way.iosize() >> 10,
        if file_system.is_empty() { "this file system" } else { file_system },
    );
    WriterScaling {
        direct: way.is_direct(),
        iosize: way.iosize(),
        writers,
        alone_bytes_per_s: alone,
        one_file_bytes_per_s: one_file,
        own_files_bytes_per_s: own_files,
        ratio: ratio.mean,
        ratio_ci95: ratio.ci95,
        gain_ci95: evidence.as_ref().map(|evidence| evidence.gain.ci95),
        position_ci95: evidence.as_ref().map(|evidence| evidence.position.ci95),
        serialised: evidence.as_ref().and_then(Evidence::serialised),
        sentence,
    }
}

/// The throughput of the writers on one file and on a file each, as far as it is known.
fn gains(shared: Option<String>, own: Option<String>) -> String {
    match (shared, own) {
        (Some(shared), Some(own)) => format!(
            "reach {shared} times one writer's throughput on one file, {own} times on a file each"
        ),
        (Some(shared), None) => format!(
            "reach {shared} times one writer's throughput on one file; what they reach on a file each cannot be told"
        ),
        (None, Some(own)) => format!(
            "reach {own} times one writer's throughput on a file each; what they reach on one file cannot be told"
        ),
        (None, None) => {
            "reach a multiple of one writer's throughput that cannot be told, on one file and on a file each".to_owned()
        }
    }
}

/// A ratio with its bounds; `None` if these are too wide to say anything.
fn shown(ratio: &PairedRatio) -> Option<String> {
    let [low, high] = ratio.ci95;
    (!is_uncertain(low, high)).then(|| format!("{:.2} ({low:.2} to {high:.2})", ratio.mean))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    /// Seven rounds around these throughputs; values alternate between `wobble` times higher and
    /// lower.
    fn rounds(alone: f64, one_file: f64, own_files: f64, wobble: f64) -> Throughputs {
        let around = |rate: f64, phase: usize| {
            (0..7).map(move |i| {
                if (i + phase).is_multiple_of(2_usize) { rate * wobble } else { rate / wobble }
            })
        };
        Throughputs {
            alone: around(alone, 0).collect(),
            one_file: around(one_file, 1).collect(),
            own_files: around(own_files, 0).collect(),
        }
    }

    fn judged(all: &Throughputs) -> WriterScaling {
        verdict(Writing::Buffered, 4, "xfs", all)
    }

    #[test]
    fn a_verdict_needs_a_gain_and_a_narrow_interval() {
        assert_eq!(judged(&rounds(100.0, 101.0, 400.0, 1.05)).serialised, Some(true));
        assert_eq!(judged(&rounds(100.0, 390.0, 400.0, 1.05)).serialised, Some(false));
        assert_eq!(judged(&rounds(100.0, 210.0, 400.0, 1.10)).serialised, None, "in the middle");
        assert_eq!(judged(&rounds(100.0, 101.0, 110.0, 1.01)).serialised, None, "no gain");
        assert_eq!(judged(&rounds(100.0, 101.0, 140.0, 1.50)).serialised, None, "an unsure gain");
    }

    #[test]
    fn an_open_question_says_what_would_tell() {
        let told = |all: &Throughputs| judged(all).sentence;
        assert!(told(&rounds(100.0, 101.0, 110.0, 1.01)).contains("more processors"));
        assert!(told(&rounds(100.0, 210.0, 400.0, 1.10)).contains("more rounds"));
        let one = Throughputs { alone: vec![1.0], one_file: vec![1.0], own_files: vec![4.0] };
        assert!(told(&one).contains("fewer than two rounds") && !told(&one).contains("reach"));
        assert!(told(&rounds(100.0, 300.0, 400.0, 1.01)).contains("costs"));
    }

    #[test]
    fn several_writers_that_gain_are_under_no_single_writer_lock() {
        let part = judged(&rounds(100.0, 190.0, 400.0, 1.001));
        assert_eq!(part.serialised, None);
        assert!(part.position_ci95.unwrap()[1] < 1.0, "nearer to no gain, yet a gain");
        assert!(part.sentence.contains("in part") && !part.sentence.contains("lock"));
        let middle = judged(&rounds(100.0, 200.0, 400.0, 1.001)).sentence;
        assert!(middle.contains("in part") && !middle.contains("vary too much"), "{middle}");
        let open = judged(&rounds(100.0, 355.0, 400.0, 1.08));
        assert!(open.ratio_ci95[0] < 0.8 && open.ratio_ci95[1] > 1.0, "{:?}", open.ratio_ci95);
        assert_eq!(open.serialised, Some(false));
        assert!(open.sentence.contains("whether sharing the file costs anything cannot be told"));
        assert!(!open.sentence.contains("do not wait"), "{}", open.sentence);
    }

    #[test]
    fn bounds_that_say_nothing_are_not_shown() {
        let two = |one_file: [f64; 2], own_files: [f64; 2]| {
            let alone = vec![100.0, 100.0];
            judged(&Throughputs { alone, one_file: one_file.into(), own_files: own_files.into() })
                .sentence
        };
        let said = two([100.0, 101.0], [700.0, 1400.0]);
        assert!(said.contains("1.00 (0.94 to 1.07) times one writer's throughput on one file; what they reach on a file each cannot be told;"), "{said}");
        let said = two([100.0, 200.0], [700.0, 700.0]);
        assert!(said.contains("7.00 (7.00 to 7.00) times one writer's throughput on a file each; what they reach on one file cannot be told;"), "{said}");
        let said = two([100.0, 200.0], [700.0, 1400.0]);
        assert!(!said.contains(" to "), "{said}");
    }

    #[test]
    fn a_verdict_needs_both_ratios() {
        // The throughput on one file is known, and far below that on a file each, which lies
        // between 3 and 500 times one writer's.
        let mut all = rounds(100.0, 86.0, 4000.0, 1.2);
        all.own_files = vec![900.0, 30000.0, 1500.0, 20000.0, 800.0, 25000.0, 1200.0];
        let found = judged(&all);
        assert!(found.gain_ci95.unwrap()[0] > GAIN_MIN && found.position_ci95.unwrap()[1] < 1.0);
        assert_eq!(found.serialised, None);
        let said = found.sentence;
        assert!(said.contains("on a file each cannot be told; whether they wait"), "{said}");
    }

    #[test]
    fn a_sentence_shows_its_evidence() {
        let steady = rounds(100.0, 100.0, 400.0, 1.0);
        assert_eq!(
            judged(&steady).sentence,
            "Buffered overwrites of 64 KiB on xfs: 4 writers reach 1.00 (1.00 to 1.00) times one writer's throughput on one file, \
             4.00 (4.00 to 4.00) times on a file each; they wait for one another, as under a single-writer lock."
        );
    }

    /// Worlds whose truth is known: writers who share a lock, or do not, on machines with various
    /// noise.
    #[test]
    fn confident_verdicts_are_rarely_false() {
        let (mut given, mut wrong) = (0, 0);
        for seed in 0..2000 {
            let mut random = Pcg64Mcg::seed_from_u64(seed);
            let serialised: bool = random.random();
            let gain = 1.0 + 7.0 * random.random::<f64>();
            let noise = 0.3 * random.random::<f64>();
            let mut draw = |rate: f64| {
                let normal = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
                rate * (noise * normal).exp()
            };
            let mut all = Throughputs::default();
            for _ in 0..7 {
                all.alone.push(draw(1e8));
                all.one_file.push(draw(if serialised { 1e8 } else { gain * 1e8 }));
                all.own_files.push(draw(gain * 1e8));
            }
            if let Some(said) = judged(&all).serialised {
                given += 1;
                wrong += u32::from(said != serialised);
            }
        }
        assert!(given > 1000, "a verdict is given in {given} of 2000 worlds");
        assert!(f64::from(wrong) < 0.01 * f64::from(given), "{wrong} of {given} are wrong");
    }
}
