//! A traced application on a system, for a terminal.
//!
//! It shows where time goes, what the caches hold, and how much memory the application needs.

use super::ink::Style;
use super::tables::{Column, table};
use crate::text::{duration, fine_seconds, percent};
use ioscape_schema::units::{Bytes, Rate};
use ioscape_schema::{Access, ApplicationForecast, MemoryForecast, Prediction, Workload};

/// The forecast for an application beyond its throughput; empty for a workload of five parameters.
pub fn forecast(prediction: &Prediction, style: &Style) -> String {
    let Some(one) = &prediction.application else { return String::new() };
    let share = |seconds: f64| percent(seconds / one.elapsed_s.max(f64::MIN_POSITIVE));
    let columns = [
        Column::words("Time goes to", one.parts.iter().map(|part| part.name.clone())),
        Column::numbers("Seconds", one.parts.iter().map(|part| fine_seconds(part.seconds))),
        Column::numbers("Share", one.parts.iter().map(|part| share(part.seconds))),
    ];
    let heading = style.heading(&format!("Where {} go", duration(one.elapsed_s * 1e9)));
    let mut out = format!("\n{heading}\n{}", table(&columns, style));
    for sentence in told(one, &prediction.workload) {
        out += &style.paragraph("  ", "  ", &sentence);
    }
    out
}

/// What the caches hold, and how much memory is enough, for an application predicted as `workload`.
pub fn told(one: &ApplicationForecast, workload: &Workload) -> Vec<String> {
    vec![held(one, workload.read_frac), memory(one, workload.access)]
}

/// Whether an interval of a share covers every possible share.
fn is_unknown(ends: Option<[f64; 2]>) -> bool {
    ends.is_some_and(|[low, high]| low <= 0.0 && high >= 1.0)
}

/// How much of the reads the caches hold, and how much of the writes they keep from storage, if
/// any.
fn held(one: &ApplicationForecast, read_frac: f64) -> String {
    let between = |ends: Option<[f64; 2]>| {
        ends.map_or_else(String::new, |[low, high]| {
            format!(" ({} to {})", percent(low), percent(high))
        })
    };
    let share = |share, ends| format!("{}{}", percent(share), between(ends));
    let reads = match is_unknown(one.read_hit_interval90) {
        true => "How many of the bytes it reads caches hold is not known, since the evaluation found no cache of reads".to_owned(),
        false => {
            let share = share(one.read_hit_frac, one.read_hit_interval90);
            format!("Caches hold {share} of the bytes it reads")
        }
    };
    let writes = match is_unknown(one.written_through_interval90) {
        true => "how many of the bytes it writes storage gets is not known, since the evaluation found no cache of writes".to_owned(),
        false => {
            let share = share(one.written_through_frac, one.written_through_interval90);
            format!("storage gets {share} of the bytes it writes")
        }
    };
    match read_frac {
        0.0 => format!("It reads nothing; {writes}."),
        1.0 => format!("{reads}; it writes nothing."),
        _ => format!("{reads}; {writes}."),
    }
}

/// How much memory the application needs.
fn memory(one: &ApplicationForecast, access: Access) -> String {
    match &one.memory {
        Some(memory) => {
            let best = memory.curve.iter().map(|point| point.1).fold(0.0, f64::max);
            format!(
                "With {} of memory, file cache included, and its own as far as that is known, it reaches 90 % of its best throughput, {}.",
                needed(memory),
                Rate(best)
            )
        }
        None if !access.reads_cached() => {
            "More memory changes nothing: direct access bypasses the file cache.".to_owned()
        }
        None => "How much memory it needs is not known: the evaluation found no cache of the size of the system's memory, or does not tell how large that is.".to_owned(),
    }
}

/// The memory that is enough, with its interval.
///
/// Nothing is known below the smallest size considered, so the interval ends there.
fn needed(memory: &MemoryForecast) -> String {
    let bytes = memory.for_90_percent_bytes;
    let middle = Bytes(bytes).to_string();
    let at_least = memory.is_least(bytes);
    let told = if at_least { middle.clone() + " or less" } else { middle.clone() };
    match memory.for_90_percent_interval90 {
        Some([low, high]) if at_least || memory.is_least(low) => {
            let most = Bytes(high).to_string();
            if at_least && most == middle { told } else { format!("{told} (at most {most})") }
        }
        Some([low, high]) => format!("{told} ({} to {})", Bytes(low), Bytes(high)),
        None => told,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_memory_that_was_looked_at_is_no_exact_need() {
        let mib = |count: f64| count * f64::from(1 << 20);
        let said = |needs: f64, ends: Option<[f64; 2]>| {
            let curve = vec![(mib(8.0), 1e6), (mib(16.0), 1.1e6)];
            needed(&MemoryForecast {
                curve,
                for_90_percent_bytes: mib(needs),
                for_90_percent_interval90: ends.map(|ends| ends.map(mib)),
            })
        };
        assert_eq!(said(8.0, Some([8.0, 8.0])), "8 MiB or less");
        assert_eq!(said(8.0, None), "8 MiB or less");
        assert_eq!(said(8.0, Some([7.0, 12.0])), "8 MiB or less (at most 12 MiB)");
        assert_eq!(said(10.0, Some([8.0, 12.0])), "10 MiB (at most 12 MiB)");
        assert_eq!(said(12.0, Some([10.0, 15.0])), "12 MiB (10 MiB to 15 MiB)");
    }

    #[test]
    fn memory_that_is_unknown_is_not_called_a_missing_cache() {
        let forecast = ApplicationForecast {
            elapsed_s: 1.0,
            read_hit_frac: 0.5,
            written_through_frac: 0.5,
            ..ApplicationForecast::default()
        };
        let [buffered, direct] = [Access::Buffered, Access::Direct]
            .map(|access| told(&forecast, &Workload { access, ..Workload::default() })[1].clone());
        assert!(buffered.ends_with("or does not tell how large that is."), "{buffered}");
        assert_eq!(direct, "More memory changes nothing: direct access bypasses the file cache.");
        let of = |read_frac| Workload { read_frac, ..Workload::default() };
        let held = [0.0, 0.5, 1.0].map(|read_frac| told(&forecast, &of(read_frac))[0].clone());
        assert!(held[0].starts_with("It reads nothing; storage gets 50 %"), "{held:?}");
        assert!(held[1].contains("reads; storage gets"), "{held:?}");
        assert!(held[2].ends_with("it writes nothing."), "{held:?}");
        let unknown = ApplicationForecast { read_hit_interval90: Some([0.0, 1.0]), ..forecast };
        let held = told(&unknown, &of(0.5))[0].clone();
        assert!(
            held.starts_with("How many of the bytes it reads caches hold is not known"),
            "{held}"
        );
        assert!(held.ends_with("storage gets 50 % of the bytes it writes."), "{held}");
    }
}
