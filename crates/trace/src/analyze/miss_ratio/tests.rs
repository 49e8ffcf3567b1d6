//! Miss ratios of streams with known curves, and how often the stated bounds contain them.

use super::*;
use crate::analyze::blocks::spread;
use ioscape_schema::chance::mix;

/// A use of a block on the device whose number by name is 0.
fn of_block(key: u64) -> Use {
    Use { key, hash: spread(key, 0), row: 0 }
}

fn over(blocks: impl Iterator<Item = u64>) -> StackDistances {
    let mut seen = StackDistances::new(BlockSize::of(4096), 0, false);
    for block in blocks {
        seen.update_all(&[of_block(block)]);
    }
    seen
}

#[test]
fn a_loop_hits_only_in_a_cache_that_holds_it() {
    let found = over((0..10).flat_map(|_| 0..96)).finish();
    let exact = &found.curves[0];
    assert_eq!((exact.one_in, exact.blocks, exact.error), (1, 96, 0.0));
    let at = |blocks: u64| {
        let size = (blocks * 4096) as f64;
        exact.points.iter().find(|p| p.0 == size).map(|p| p.1)
    };
    assert_eq!([at(64), at(96), at(128)], [Some(1.0), Some(0.1), Some(0.1)]);
}

#[test]
fn a_sample_is_near_the_exact_curve_and_states_its_error() {
    // A skewed stream over 60,000 blocks: the cube of a uniform number.
    let block = |i: u64| ((mix(i) as f64 / u64::MAX as f64).powi(3) * 60_000.0) as u64;
    let found = over((0..400_000).map(block)).finish();
    let sampled = &found.curves[1];
    assert_eq!((found.curves[0].one_in, sampled.one_in), (1, 16));
    assert!(sampled.error > 0.0 && sampled.error < 0.03, "{}", sampled.error);
}

#[test]
fn too_many_blocks_leave_the_sample_alone() {
    let found = over((0..2).flat_map(|_| 0..200_000)).finish();
    assert_eq!(found.curves[0].one_in, 16);
    let last = found.curves[0].points.last().map(|p| p.1);
    assert!(last.is_some_and(|miss| (miss - 0.5).abs() < 0.02), "{last:?}");
}

/// Number of kinds of synthetic streams.
const KINDS: u64 = 12;

/// 100,000 uses of up to 75,000 blocks: uniform, skewed, in loops, in runs, hot and cold,
/// wandering, by recency, and mixtures.
fn made_up(kind: u64, seed: u64) -> Vec<u64> {
    const USES: u64 = 100_000;
    let blocks = [3_000, 10_000, 30_000, 75_000][(seed % 4) as usize];
    let random = |draw: u64, i: u64| mix(mix(seed * KINDS + kind) ^ (i + draw * USES));
    let unit = |i: u64| (random(0, i) >> 11) as f64 / (1u64 << 53) as f64;
    let skewed = |i: u64, power: f64| (unit(i).powf(power) * blocks as f64) as u64;
    let any = |i: u64| random(0, i) % blocks;
    let one_in = |n: u64, i: u64| random(1, i).is_multiple_of(n);
    let mut used: Vec<u64> = Vec::new();
    let mut next = |i: u64| match kind {
        0 => any(i),
        1 => skewed(i, 2.0),
        2 => skewed(i, 4.0),
        3 => skewed(i, 10.0),
        4 => i % blocks,
        5 if one_in(10, i) => any(i),
        5 => any(i) % (blocks / 10),
        6 if (i / 10_000).is_multiple_of(2) => i % blocks,
        6 => skewed(i, 3.0),
        7 => (i / 5_000) * blocks / 20 + any(i) % (blocks / 20),
        8 => {
            let back = (1.0 / unit(i).max(1e-6)) as usize;
            let again = used.len().checked_sub(back).filter(|_| !one_in(5, i));
            used.push(again.map_or(random(2, i) % blocks, |place| used[place]));
            used[used.len() - 1]
        }
        9 => random(0, i / 8) % blocks / 8 * 8 + i % 8,
        10 if one_in(2, i) => random(2, i) % 5 * 977,
        10 => any(i),
        _ if one_in(3, i) => i % blocks,
        _ => skewed(i, 6.0),
    };
    (0..USES).map(|i| (seed << 30) + next(i)).collect()
}

/// Uses other seeds than those with which the standard errors were chosen.
#[test]
fn the_bounds_of_a_sample_hold_the_exact_curve_in_nine_streams_of_ten() {
    let (mut curves, mut held, mut width) = (0, 0, 0.0);
    for (seed, kind) in (100..104).flat_map(|seed| (0..KINDS).map(move |kind| (seed, kind))) {
        let mut seen = StackDistances::new(BlockSize::of(4096), 1 << 17, false);
        for block in made_up(kind, seed) {
            seen.update_all(&[of_block(block)]);
        }
        let found = seen.finish();
        let [exact, sampled @ ..] = &found.curves[..] else { panic!("no curve") };
        assert_eq!((exact.one_in, exact.interval90.len()), (1, 0));
        for curve in sampled {
            let truth = |size: f64| exact.points.iter().find(|p| p.0 == size).expect("it is").1;
            let mut points = curve.points.iter().zip(&curve.interval90);
            width += points.clone().map(|(_, [low, high])| high - low).sum::<f64>()
                / points.len() as f64;
            held += u32::from(points.all(|(p, [low, high])| (*low..=*high).contains(&truth(p.0))));
            curves += 1;
        }
    }
    assert!(held * 10 >= curves * 9, "{held} of {curves}");
    // Bounds that say nothing would contain everything.
    assert!(width / f64::from(curves) < 0.35, "mean width {}", width / f64::from(curves));
}

#[test]
fn a_sample_without_an_exact_curve_states_its_bounds() {
    let found = over((0..2).flat_map(|_| 0..200_000)).finish();
    let curve = &found.curves[0];
    let half = curve.points.iter().zip(&curve.interval90);
    let half: f64 = half.map(|(p, [low, high])| (p.1 - low).max(high - p.1)).sum();
    assert!((curve.error - half / curve.points.len() as f64).abs() < 1e-12);
    // All accesses miss unless the cache holds the loop; below that size, little is uncertain.
    let [low, high] = curve.interval90[0];
    assert!(low > 0.95 && high == 1.0, "{low} to {high}");
}
