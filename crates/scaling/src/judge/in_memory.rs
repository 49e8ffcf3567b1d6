//! Distinguishes borders of the processor's caches from those of storage: beyond the former, everything still comes from memory.

use super::borders::SetBorder;
use ioscape_schema::Measurement;

/// Marks the borders of one curve beyond which most points up to the next border were served from memory; `points` are
/// the curve's, in order of `unique_bytes`.
pub(crate) fn mark(borders: &mut [SetBorder], points: &[(f64, &Measurement)]) {
    let ends: Vec<f64> = borders.iter().skip(1).map(|b| b.gap[0]).chain([f64::INFINITY]).collect();
    for (border, end) in borders.iter_mut().zip(ends) {
        let is_behind = |p: &&(f64, &Measurement)| (border.gap[1]..=end).contains(&p.0);
        let behind: Vec<bool> =
            points.iter().filter(is_behind).map(|p| p.1.is_from_memory()).collect();
        let cached = behind.iter().filter(|&&cached| cached).count();
        border.border.in_memory = 2 * cached > behind.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use ioscape_schema::{BorderOperation, Stop, Workload};

    fn run(resident: f64, computed_s: f64) -> Measurement {
        Measurement {
            elapsed_s: 1.0,
            cpu_system_s: computed_s,
            resident_frac: Some(resident),
            ..Measurement::empty(Workload::default(), Stop::Confident)
        }
    }

    fn border(at: f64) -> SetBorder {
        let border = testing::border(BorderOperation::Write, [at; 3], 2.0);
        SetBorder { border, gap: [at / 1.05, at * 1.05] }
    }

    #[test]
    fn a_processor_s_cache_differs_from_a_dirty_limit_and_from_a_full_cache() {
        let (cached, waiting, missing) = (run(1.0, 0.99), run(1.0, 0.02), run(0.6, 0.95));
        let points = [
            (8.0, &cached),
            (16.0, &cached),
            (32.0, &cached),
            (64.0, &waiting),
            (128.0, &waiting),
            (256.0, &missing),
            (512.0, &missing),
        ];
        let mut borders = [border(12.0), border(48.0), border(200.0)];
        mark(&mut borders, &points);
        assert_eq!(borders.map(|b| b.border.in_memory), [true, false, false]);
    }

    #[test]
    fn what_nothing_is_known_of_counts_as_storage() {
        let unknown = Measurement { elapsed_s: 1.0, ..run(1.0, 0.0) };
        let mut borders = [border(12.0)];
        mark(&mut borders, &[(8.0, &unknown), (16.0, &unknown)]);
        assert!(!borders[0].border.in_memory);
        mark(&mut borders, &[]);
        assert!(!borders[0].border.in_memory, "no point, no claim");
    }
}
