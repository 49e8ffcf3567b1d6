//! The report on a course, in sentences.

use ioscape_schema::Bounded;
use ioscape_schema::sustained::{CourseKind, CoursePhase, Sustained};
use ioscape_schema::units::{Bytes, Nanos, Rate};

/// Why the kind of a course cannot be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Too few steps.
    TooShort,
    /// Its halves may differ.
    Noisy,
    /// Its halves differ.
    Changing,
    /// An apparent step may be a slope.
    Sloping,
    /// The last rate did not hold long enough.
    ChangedLate,
    /// It rose and fell.
    UpAndDown,
    /// Nothing was moved at the end.
    Stalled,
    /// Other processes used the processors meanwhile.
    Load,
}

/// Reports what a course shows, and what it cannot show.
pub fn sentences(told: &Sustained, why: Option<Why>) -> Vec<String> {
    let (Some(first), Some(last)) = (told.phases.first(), told.phases.last()) else {
        return vec![untold(Why::TooShort).to_owned()];
    };
    let mut all = match (told.kind, why) {
        (_, Some(why)) => vec![format!("cannot be told: {}", untold(why)), as_it_went(told)],
        (CourseKind::Steady, None) => steady(told, last),
        (CourseKind::Burst, None) => ended(told, first, last),
        (CourseKind::Settled | CourseKind::CannotBeTold, None) => settled(told, last),
    };
    all.extend(told.disturbed_s.iter().map(|[from, until]| {
        let [from, until] = [from, until].map(|s| seconds(*s));
        format!("from {from} to {until} the rate was another, and came back: left out")
    }));
    all
}

fn untold(why: Why) -> &'static str {
    match why {
        Why::TooShort => "too short; a longer time would",
        Why::Noisy => {
            "too noisy: its halves may differ by more than 15 %; a quiet machine or a longer time would"
        }
        Why::Changing => "it was still changing at the end; a longer time would",
        Why::Sloping => {
            "it may have sloped all the while, rather than have fallen or risen at once; a quiet machine or a longer time would"
        }
        Why::ChangedLate => {
            "it changed so late that the last rate may not last; a longer time would"
        }
        Why::UpAndDown => {
            "it went up and down, as where others use the device; a quiet one would, or a longer time"
        }
        Why::Stalled => "nothing was moved at the end",
        Why::Load => {
            "others had the processors meanwhile, as the warnings say, and may have set the rate; a quiet machine would"
        }
    }
}

/// The bytes moved in a course.
pub fn moved(told: &Sustained) -> f64 {
    told.bytes_per_s.iter().sum::<f64>() * told.step_s
}

/// The length of a course in seconds.
pub fn length_s(told: &Sustained) -> f64 {
    told.step_s * told.bytes_per_s.len() as f64
}

fn steady(told: &Sustained, last: &CoursePhase) -> Vec<String> {
    let moved = Bytes(moved(told));
    let shortest = seconds(4.0 * told.step_s);
    vec![
        format!("one rate for {}: {}", seconds(last.until_s), rate(last.bytes_per_s)),
        format!(
            "not told: a burst of less than {shortest}, and a limit of bytes that shows only after more than {moved}"
        ),
    ]
}

/// Reports which limits of operations a steady rate of large requests cannot show, nor one of small
/// requests if that held as well. Each course comes with its request size in bytes.
pub fn operations(large: (&Sustained, u64), small: Option<(&Sustained, u64)>) -> String {
    let one = |(told, bytes): (&Sustained, u64)| {
        let bytes = bytes as f64;
        format!("{:.0} requests of {}", moved(told) / bytes, Bytes(bytes))
    };
    let small = small.map_or_else(String::new, |small| format!(", or {}", one(small)));
    format!(
        "not told: a limit of operations that shows only after more than {}{small} in a row",
        one(large)
    )
}

/// Reports what a steady rate of writes, or of reads, does not show since all of it went to a set of
/// `set_bytes`, or came from there; `is_largest` says that there is no room for a larger set.
pub fn beyond_set(told: &Sustained, set_bytes: u64, is_largest: bool, is_write: bool) -> String {
    let (moved, set) = (moved(told), set_bytes as f64);
    // A set that is read was written before, so a cache may hold all of it from the beginning.
    if is_write && moved <= set {
        return format!("not told: a cache that holds more than {}", Bytes(moved));
    }
    let way = if is_write { "to" } else { "from" };
    let (room, advice) = match is_largest {
        true => (", the largest that there is room for", ""),
        false => ("", "; the larger the set, the more does (--unique-bytes)"),
    };
    let of_flash = match is_write {
        true => {
            ", nor what shows only where more of a flash drive is written (an SLC cache that runs dry, garbage to collect)"
        }
        false => "",
    };
    format!(
        "all of it {way} a set of {}{room}: a cache that holds it, such as an array's or that of a virtual machine's host, does not show{of_flash}{advice}",
        Bytes(set)
    )
}

fn ended(told: &Sustained, first: &CoursePhase, last: &CoursePhase) -> Vec<String> {
    let mut all = vec![format!(
        "{} for {}, then {} until {}",
        rate(first.bytes_per_s),
        seconds(last.from_s),
        rate(last.bytes_per_s),
        seconds(last.until_s)
    )];
    all.extend(told.credit_bytes.map(|credit| {
        format!(
            "{} beyond the last rate: a credit that was used up, or a cache that was filled; or something else began to use the device",
            bytes(credit)
        )
    }));
    all
}

fn settled(told: &Sustained, last: &CoursePhase) -> Vec<String> {
    let before = told.bytes_per_s.iter().take((last.from_s / told.step_s).round() as usize);
    let count = before.clone().count().max(1) as f64;
    let before = Rate(before.sum::<f64>() / count);
    vec![format!(
        "{} from {} on, until {}; before, it changed, and was {before} on average",
        rate(last.bytes_per_s),
        seconds(last.from_s),
        seconds(last.until_s)
    )]
}

fn as_it_went(told: &Sustained) -> String {
    let part = |part: &CoursePhase| {
        format!("{} until {}", Rate(part.bytes_per_s.value), seconds(part.until_s))
    };
    format!("on average {}", told.phases.iter().map(part).collect::<Vec<_>>().join(", "))
}

/// A rate with its interval.
pub fn rate(rate: Bounded) -> String {
    format!("{} ({} to {})", Rate(rate.value), Rate(rate.low), Rate(rate.high))
}

/// Bytes with their interval.
pub fn bytes(bytes: Bounded) -> String {
    format!("{} ({} to {})", Bytes(bytes.value), Bytes(bytes.low), Bytes(bytes.high))
}

/// Formats seconds with a precision that suits their size.
pub fn seconds(s: f64) -> String {
    Nanos(s * 1e9).to_string()
}

#[cfg(test)]
mod tests {
    use super::super::judge;
    use super::*;

    /// The report on what lies beyond a set of 64 MiB, after `moved` bytes at one rate.
    fn said(moved: u64, is_largest: bool, is_write: bool) -> String {
        let course = judge(0.1, &[moved as f64 / 4.0; 40]);
        beyond_set(&course, 64 << 20, is_largest, is_write)
    }

    #[test]
    fn a_rate_that_held_on_a_set_does_not_speak_for_what_lies_beyond_it() {
        let (writes, flash) = (said(1 << 30, false, true), "more of a flash drive is written");
        assert!(writes.contains("all of it to a set of 64 MiB: a cache that holds it"), "{writes}");
        assert!(writes.contains(flash) && writes.contains("--unique-bytes"), "{writes}");
        assert_eq!(said(1 << 20, false, true), "not told: a cache that holds more than 1 MiB");
        let largest = said(1 << 30, true, true);
        assert!(largest.contains("all of it to a set of 64 MiB, the largest"), "{largest}");
        assert!(!largest.contains("--unique-bytes"), "there is no larger one: {largest}");
    }

    /// Guards against a defect: reads of one set again and again were said to show a cache once
    /// more had been moved.
    #[test]
    fn reads_of_one_set_show_no_cache_that_holds_it_however_long_they_last() {
        for moved in [1 << 20, 1 << 40] {
            let reads = said(moved, false, false);
            assert!(reads.starts_with("all of it from a set of 64 MiB: a cache that"), "{reads}");
            assert!(!reads.contains("flash"), "reads wear nothing out: {reads}");
        }
    }
}
