//! A traced application on a system, for a terminal: where its time goes, what the caches hold, and how much memory it needs.

use super::ink::Style;
use super::tables::{Column, table};
use crate::text::{duration, fine_seconds, percent};
use ioscape_schema::units::{Bytes, Rate};
use ioscape_schema::{ApplicationForecast, Prediction};

/// What is said of an application beside its throughput; empty for a workload of five parameters.
pub fn forecast(prediction: &Prediction, style: &Style) -> String {
    let Some(one) = &prediction.application else { return String::new() };
    let share = |seconds: f64| percent(seconds / one.elapsed_s.max(f64::MIN_POSITIVE));
    let columns = [
        Column::words("Time goes to", one.parts.iter().map(|part| part.name.clone())),
        Column::numbers("Seconds", one.parts.iter().map(|part| fine_seconds(part.seconds))),
        Column::numbers("Share", one.parts.iter().map(|part| share(part.seconds))),
    ];
    let heading = style.heading(&format!("Where {} go", duration(one.elapsed_s * 1e9)));
    let mut out = format!("\n{heading}\n{}", table(&columns.iter().collect::<Vec<_>>(), style));
    for sentence in sentences(one) {
        out += &style.paragraph("  ", "  ", &sentence);
    }
    out
}

/// What the caches hold, and what memory would do.
pub fn sentences(one: &ApplicationForecast) -> Vec<String> {
    let between = |ends: Option<[f64; 2]>| {
        ends.map_or_else(String::new, |[low, high]| {
            format!(" ({} to {})", percent(low), percent(high))
        })
    };
    let mut said = vec![format!(
        "Caches hold {}{} of the bytes it reads; storage gets {}{} of those it writes.",
        percent(one.read_hit_frac),
        between(one.read_hit_interval90),
        percent(one.written_through_frac),
        between(one.written_through_interval90)
    )];
    said.push(match &one.memory {
        Some(memory) => {
            let best = memory.curve.iter().map(|point| point.1).fold(0.0, f64::max);
            let between = memory.for_90_percent_interval90.map_or_else(String::new, |[low, high]| {
                format!(" ({} to {})", Bytes(low), Bytes(high))
            });
            format!(
                "With {}{between} of memory, file cache included, it reaches 90 % of its best throughput, {}.",
                Bytes(memory.for_90_percent_bytes),
                Rate(best)
            )
        }
        None => "How much memory it needs is not known: the evaluation found no cache of the size of the system's memory, or does not tell how large that is.".to_owned(),
    });
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_unknown_is_not_called_a_missing_cache() {
        let forecast = ApplicationForecast {
            elapsed_s: 1.0,
            parts: Vec::new(),
            read_hit_frac: 0.5,
            read_hit_interval90: None,
            written_through_frac: 0.5,
            written_through_interval90: None,
            memory: None,
        };
        let said = sentences(&forecast);
        assert!(said[1].contains("or does not tell how large that is"), "{said:?}");
    }
}
