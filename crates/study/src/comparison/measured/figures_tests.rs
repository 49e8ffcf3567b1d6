//! Tests of verdicts: how often equal systems are told apart, and what single runs, rounds and
//! other figures show.

use super::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

fn figure(samples: &[f64]) -> Figure {
    let value = statistics::median(samples);
    Figure {
        value,
        samples: samples.to_vec(),
        within: [0.0; 2],
        between: BETWEEN_RUNS,
        least_error: 0.0,
        is_exact: false,
    }
}

fn normal(generator: &mut Pcg64Mcg) -> f64 {
    (0..12).map(|_| generator.random::<f64>()).sum::<f64>() - 6.0
}

/// A round of a system at a point of its session, from 0 to below 1.
type Round = fn(&mut Pcg64Mcg, f64) -> f64;

/// Rounds that scatter by 5 %.
fn usual(generator: &mut Pcg64Mcg, _: f64) -> f64 {
    (0.05 * normal(generator)).exp()
}

/// Two levels, equally often.
fn of_two_levels(generator: &mut Pcg64Mcg, _: f64) -> f64 {
    let level = if generator.random::<f64>() < 0.5 { 100.0 } else { 200.0 };
    level * (0.005 * normal(generator)).exp()
}

fn log_normal(generator: &mut Pcg64Mcg, _: f64) -> f64 {
    (0.5 * normal(generator)).exp()
}

fn uniform(generator: &mut Pcg64Mcg, _: f64) -> f64 {
    0.5 + generator.random::<f64>()
}

/// One round in five takes three times as long.
fn stalling(generator: &mut Pcg64Mcg, _: f64) -> f64 {
    let level = if generator.random::<f64>() < 0.2 { 1.0 } else { 3.0 };
    level * (0.03 * normal(generator)).exp()
}

/// 20 % faster at the end of the session than at its beginning.
fn trending(generator: &mut Pcg64Mcg, at: f64) -> f64 {
    (0.2 * at + 0.03 * normal(generator)).exp()
}

/// How many of 400 comparisons of equal systems, of so many rounds each, tell some row apart.
fn told_of(round: Round, rows: usize, rounds: [usize; 2]) -> usize {
    let mut generator = Pcg64Mcg::seed_from_u64(11);
    let mut is_wrong = || {
        let [a, b] = rounds.map(|count| {
            let mut sample = |at: usize| round(&mut generator, at as f64 / count as f64);
            let mut row = || (0..count).map(&mut sample).collect::<Vec<f64>>();
            (0..rows).map(|_| figure(&row())).collect::<Vec<Figure>>()
        });
        verdicts(&a, &b).iter().any(is_told)
    };
    (0..400).filter(|_| is_wrong()).count()
}

fn is_told(one: &Judged) -> bool {
    matches!(one.verdict, Verdict::Faster | Verdict::Slower)
}

/// A document with one row of `rounds` rounds for each of these standard deviations.
fn drawn(g: &mut Pcg64Mcg, scatter: &[f64], rounds: usize, factor: f64) -> Vec<Figure> {
    let of_row = |sd: &f64| {
        let samples: Vec<f64> = (0..rounds).map(|_| factor * (sd * normal(g)).exp()).collect();
        figure(&samples)
    };
    scatter.iter().map(of_row).collect()
}

/// The scatter of `rows` rows; it differs between rows by a factor of up to 7.
fn uneven(rows: usize) -> Vec<f64> {
    (0..rows).map(|row| 0.03 * (2.0 * row as f64 / rows as f64).exp()).collect()
}

fn verdicts(a: &[Figure], b: &[Figure]) -> Vec<Judged> {
    let pairs: Vec<[&Figure; 2]> = a.iter().zip(b).map(|(a, b)| [a, b]).collect();
    judge(&pairs, &vec![Metric::Throughput; pairs.len()], false)
}

/// How many of 400 comparisons of equal systems tell some row apart, and the share of the intervals
/// that exclude 1.
fn told_apart(seed: u64, scatter: &[f64], rounds: usize) -> (usize, f64) {
    let mut generator = Pcg64Mcg::seed_from_u64(seed);
    let (mut wrong, mut outside) = (0, 0);
    for _ in 0..400 {
        let [a, b] = [(); 2].map(|()| drawn(&mut generator, scatter, rounds, 1.0));
        let judged = verdicts(&a, &b);
        wrong += usize::from(judged.iter().any(is_told));
        let misses = |one: &Judged| one.ci95()[0] > 1.0 || one.ci95()[1] < 1.0;
        outside += judged.iter().filter(|one| misses(one)).count();
    }
    (wrong, outside as f64 / (400 * scatter.len()) as f64)
}

#[test]
fn equal_systems_are_told_apart_one_time_in_twenty_at_most() {
    for (rounds, seed) in [(2, 1), (3, 2), (5, 3)] {
        for rows in [1, 2, 10, 30] {
            let (wrong, share) = told_apart(seed, &uneven(rows), rounds);
            let what = format!("{rows} rows of {rounds} rounds");
            assert!(wrong <= 28, "{what}: {wrong} of 400 comparisons");
            // Few rows have few intervals.
            assert!(rows < 10 || (0.005..0.06).contains(&share), "{what}: {share} of all");
        }
    }
}

/// Guards against a defect: the median of seven rounds jumps between levels, so that half of the
/// comparisons said faster or slower.
#[test]
fn equal_systems_of_two_levels_are_told_apart_one_time_in_twenty_at_most() {
    for rounds in [3, 5, 7, 10] {
        for rows in [1, 3, 10] {
            let wrong = told_of(of_two_levels, rows, [rounds; 2]);
            assert!(wrong <= 28, "{rows} rows of {rounds} rounds: {wrong} of 400 comparisons");
        }
    }
}

/// Guards against a defect: two rounds that lay close inherited their certainty from the ten or
/// fifty of the other system.
#[test]
fn few_rounds_against_many_tell_equal_systems_apart_no_more_often() {
    let kinds: [Round; 5] = [usual, of_two_levels, log_normal, uniform, stalling];
    for rounds in [[2, 10], [50, 2], [3, 10], [30, 3], [5, 30]] {
        for rows in [1, 2] {
            for (kind, round) in kinds.into_iter().enumerate() {
                let wrong = told_of(round, rows, rounds);
                assert!(wrong <= 28, "kind {kind}, {rows} rows, {rounds:?}: {wrong} of 400");
            }
        }
    }
}

/// Kinds of rounds that were not used in choosing the rule.
#[test]
fn however_rounds_scatter_equal_systems_are_told_apart_one_time_in_twenty_at_most() {
    let kinds: [Round; 4] = [log_normal, uniform, stalling, trending];
    for (kind, round) in kinds.into_iter().enumerate() {
        for rounds in [3, 5, 7, 10] {
            for rows in [1, 3, 10] {
                let wrong = told_of(round, rows, [rounds; 2]);
                assert!(wrong <= 28, "kind {kind}, {rows} rows of {rounds}: {wrong} of 400");
            }
        }
    }
}

#[test]
fn what_is_said_holds_of_medians_and_of_means() {
    let levels = [
        [101.0, 99.0, 100.0, 100.5, 201.0, 199.0, 200.0],
        [200.0, 201.0, 199.0, 200.5, 100.0, 101.0, 99.5],
    ];
    let [a, b] = levels.map(|samples| figure(&samples));
    let judged = verdicts(&[b], &[a])[0];
    assert!(judged.ratio() > 1.9 && judged.verdict == Verdict::CannotBeTold, "{judged:?}");
    let [low, high] = judged.ci95();
    assert!(low < 1.0 && high > judged.ratio(), "{low} to {high}");
    assert!(judged.chance_above(0.0) > 0.05 && judged.chance_below(0.6) > 0.5, "{judged:?}");
}

#[test]
fn a_noisy_row_among_quiet_ones_is_told_apart_no_more_often() {
    let scatter: Vec<f64> = (0..10).map(|row| if row == 0 { 0.3 } else { 0.03 }).collect();
    for rounds in [2, 3, 5] {
        let (wrong, _) = told_apart(7, &scatter, rounds);
        assert!(wrong <= 28, "{rounds} rounds: {wrong} of 400 comparisons");
    }
}

#[test]
fn a_row_without_rounds_scatters_as_is_usual_or_more_where_others_do() {
    let [lone, other] = [50.0, 46.0].map(|value| figure(&[value]));
    let high_beside = |samples: [f64; 2]| {
        let rounds = figure(&samples);
        let pairs = [[&rounds, &rounds], [&other, &lone]];
        judge(&pairs, &[Metric::Throughput; 2], false)[1].ci95()[1]
    };
    let quiet = high_beside([5000.0, 5010.0]);
    assert!((1.3..1.5).contains(&quiet) && high_beside([2000.0, 5000.0]) > 10.0, "{quiet}");
}

/// Guards against a defect: with one pair of rounds in another row, a scatter of 13.9 % left 30
/// degrees of freedom, and 14.1 % left 1.
#[test]
fn a_row_without_rounds_is_hardly_less_known_where_others_scatter_hardly_more() {
    let one = figure(&[100.0]);
    let freedom = |scatter: f64| {
        let others = Scatter { variance: scatter * scatter, freedom: 1.0 };
        of_one(&one, others).1
    };
    assert_eq!(freedom(0.139), ASSUMED_FREEDOM);
    assert!((freedom(0.141) - ASSUMED_FREEDOM).abs() < 2.0, "{}", freedom(0.141));
    assert!(freedom(0.4) < 2.0, "{}", freedom(0.4));
}

#[test]
fn a_true_difference_is_found() {
    let mut generator = Pcg64Mcg::seed_from_u64(4);
    let [a, b] = [1.5, 1.0].map(|factor| drawn(&mut generator, &uneven(10), 5, factor));
    let judged = verdicts(&a, &b);
    assert!(judged[..7].iter().all(|one| one.verdict == Verdict::Faster), "{judged:?}");
}

#[test]
fn the_same_measurement_does_not_differ_and_a_single_run_says_little() {
    let one = figure(&[100.0]);
    let same = judge(&[[&one, &one]], &[Metric::Throughput], true)[0];
    assert_eq!((same.verdict, same.basis), (Verdict::NoDifference, Basis::SameMeasurement));
    assert_eq!(same.ci95(), [1.0, 1.0]);
    let equal = verdicts(std::slice::from_ref(&one), std::slice::from_ref(&one))[0];
    assert_eq!((equal.verdict, equal.basis), (Verdict::CannotBeTold, Basis::SingleRun));
    // Percentiles come in steps, so rounds may be equal by chance.
    let rounds = figure(&[100.0, 101.0]);
    let again = verdicts(std::slice::from_ref(&rounds), std::slice::from_ref(&rounds))[0];
    assert_eq!((again.ratio(), again.basis), (1.0, Basis::Rounds));
    let alone = |value: f64| verdicts(&[figure(&[value])], std::slice::from_ref(&one))[0];
    assert_eq!(alone(90.0).verdict, Verdict::CannotBeTold);
    assert_eq!((alone(50.0).verdict, alone(50.0).basis), (Verdict::Slower, Basis::SingleRun));
    let exact = |value: f64| Figure { is_exact: true, ..figure(&[value]) };
    let virtual_time = verdicts(&[exact(99.0)], &[exact(100.0)])[0];
    assert_eq!(virtual_time.verdict, Verdict::Slower);
}

#[test]
fn a_figure_is_no_surer_than_its_least_error() {
    let [a, b] = [[15.0, 15.1, 14.9, 15.0], [10.0, 10.1, 9.9, 10.0]].map(|s| figure(&s));
    assert_eq!(judge(&[[&a, &b]], &[Metric::Time], false)[0].verdict, Verdict::Slower);
    // Its processor was slower by a factor of 1.6 at the time, so it may take as long as the other.
    let slow = Figure { least_error: 1.6f64.ln() / NORMAL95, ..a };
    let judged = judge(&[[&slow, &b]], &[Metric::Time], false)[0];
    assert_eq!(judged.verdict, Verdict::CannotBeTold);
    assert!(judged.ci95()[0] < 1.0, "{:?}", judged.ci95());
}

#[test]
fn less_time_is_faster() {
    let [a, b] = [[10.0, 10.1, 9.9, 10.0], [20.0, 20.1, 19.9, 20.0]].map(|s| figure(&s));
    let judged = judge(&[[&a, &b]], &[Metric::Time], false);
    assert_eq!(judged[0].verdict, Verdict::Faster);
}
