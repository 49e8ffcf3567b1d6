//! Latencies over time as a heat map.
//!
//! It has a column per second and a row per range of times; the shade is the number of requests.

use ioscape_schema::TopSecond;
use ioscape_schema::units::Nanos;

/// The number of shades that can be told apart, including none.
pub const SHADES: usize = 6;

/// Ranges of latencies, the longest first, with a shade for each second.
pub struct Heat {
    /// The lower end of each row's range, and the shades of its seconds, the latest last.
    pub rows: Vec<(String, Vec<usize>)>,
}

impl Heat {
    /// The heat map of the latest `seconds`, with at most `rows` rows and `columns` seconds.
    ///
    /// Empty if there were no requests.
    pub fn of<'a>(
        seconds: impl DoubleEndedIterator<Item = &'a TopSecond>,
        rows: usize,
        columns: usize,
    ) -> Self {
        let mut counts: Vec<&[u64]> =
            seconds.rev().take(columns).map(|second| &*second.latency_counts).collect();
        counts.reverse();
        let is_used =
            |step: &usize| counts.iter().any(|one| one.get(*step).is_some_and(|n| *n > 0));
        let mut used = (0..TopSecond::LATENCY_STEPS).filter(is_used);
        let Some(first) = used.next().filter(|_| rows > 0) else {
            return Self { rows: Vec::new() };
        };
        let last = used.next_back().unwrap_or(first);
        let per_row = (last - first + 1).div_ceil(rows);
        let sum = |from: usize| {
            let steps = move |one: &&[u64]| one.iter().skip(from).take(per_row).sum::<u64>();
            counts.iter().map(steps).collect::<Vec<_>>()
        };
        let summed: Vec<_> =
            (first..=last).step_by(per_row).map(|from| (from, sum(from))).collect();
        let most = summed.iter().flat_map(|(_, counts)| counts).copied().max().unwrap_or(0);
        let shaded = summed.into_iter().rev().map(|(from, counts)| {
            (least(from), counts.into_iter().map(|count| shade(count, most)).collect())
        });
        Self { rows: shaded.collect() }
    }
}

/// The shortest time of a step, in words.
fn least(step: usize) -> String {
    match step.checked_sub(1) {
        None => "0".to_owned(),
        Some(octave) => Nanos((1000u64 << octave) as f64).to_string(),
    }
}

/// The shade by the logarithm of the count, so that one slow request among thousands is visible.
fn shade(count: u64, most: u64) -> usize {
    if count == 0 {
        return 0;
    }
    let share = (count as f64).ln_1p() / (most as f64).ln_1p();
    ((share * (SHADES - 1) as f64).ceil() as usize).clamp(1, SHADES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(counts: &[(usize, u64)]) -> TopSecond {
        let mut latency_counts = vec![0; TopSecond::LATENCY_STEPS];
        counts.iter().for_each(|(step, count)| latency_counts[*step] = *count);
        TopSecond { latency_counts, ..TopSecond::default() }
    }

    #[test]
    fn the_page_says_what_its_colours_mean_as_it_draws_them() {
        let page = crate::TOP_PAGE;
        assert!(page.contains("from dark blue for few requests to orange for the most"));
        let (_, drawn) = page.split_once("draw.fillStyle = `hsl(").expect("a colour");
        let (drawn, _) = drawn.split_once(")`").expect("its end");
        let numbers = drawn.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok());
        let numbers: Vec<i32> = numbers.collect();
        let [hue, less, _, lightness, more] = numbers[..] else { panic!("{drawn}") };
        assert!(drawn.contains(" - ") && drawn.contains(" + "), "{drawn}");
        assert!((200..=250).contains(&hue) && lightness < 40, "dark blue: {drawn}");
        assert!((15..=45).contains(&(hue - less)) && more > 0, "orange: {drawn}");
    }

    #[test]
    fn rows_reach_from_the_slowest_to_the_fastest_request() {
        let seconds = [second(&[(0, 9)]), second(&[(7, 1000), (10, 1)]), second(&[])];
        let heat = Heat::of(seconds.iter(), 20, 2);
        let labels: Vec<&str> = heat.rows.iter().map(|row| row.0.as_str()).collect();
        assert_eq!(labels, ["512 us", "256 us", "128 us", "64 us"]);
        assert_eq!(heat.rows[0].1, [1, 0], "one slow request is seen");
        assert_eq!(heat.rows[3].1, [SHADES - 1, 0]);
        let narrow = Heat::of(seconds.iter(), 3, 80);
        assert_eq!(narrow.rows.len(), 3);
        assert_eq!(narrow.rows[2].0, "0");
        assert!(Heat::of([second(&[])].iter(), 5, 5).rows.is_empty());
        assert!(Heat::of(seconds.iter(), 0, 0).rows.is_empty());
    }
}
