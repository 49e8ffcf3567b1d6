//! The fit must recover random drives, including their shape, as far as the measurements determine
//! it.

use super::fit::{Ended, Fitted, Looked};
use super::inside;
use super::tests::{BUFFER, NAMES, SET, fitted, fitted_with, numbers, shape};
use crate::ssd::{Filled, Parameters, find};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// Relative standard deviation of the noise in a throughput.
const NOISE: f64 = 0.01;
/// Assumed number of measured requests: so many that counting whole requests adds no uncertainty.
const MANY: u64 = 100_000;

struct Dice(Pcg64Mcg);

impl Dice {
    fn new(seed: u64) -> Self {
        let mut dice = Self(Pcg64Mcg::new(u128::from(seed) << 24 | 4711));
        let _ = [(); 8].map(|()| dice.share());
        dice
    }

    fn share(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number whose logarithm is uniformly distributed.
    fn scaled(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.share())
    }

    /// A normally distributed number (Box & Muller 1958).
    fn normal(&mut self) -> f64 {
        let far = (-2.0 * (1.0 - self.share()).ln()).sqrt();
        far * (std::f64::consts::TAU * self.share()).cos()
    }

    fn one_of<T: Copy>(&mut self, some: &[T]) -> T {
        some[((self.share() * some.len() as f64) as usize).min(some.len() - 1)]
    }
}

/// A random drive of a shape that the fit tries, whose erases take no time.
fn drive(dice: &mut Dice) -> Parameters {
    let mut p = find("generic-ssd").expect("it is shipped");
    p.filled = Filled::Full;
    let flash = &mut p.flash;
    (flash.channels, flash.dies_per_channel) =
        (dice.one_of(&[1, 2, 4, 8]), dice.one_of(&[1, 2, 4]));
    (flash.pages_per_block, flash.planes_per_die) = (512, None);
    flash.cell_page_bytes = Some(dice.one_of(&[4096, 8192, 16_384, 32_768]));
    (flash.erase_ms, flash.suspend_ms) = (0.0, Some(0.0));
    flash.read_ms = dice.scaled(0.02, 0.2);
    flash.program_ms = dice.scaled(0.1, 1.0);
    flash.channel_bytes_per_s = dice.scaled(1e8, 1.2e9);
    let controller = &mut p.controller;
    controller.command_ms = dice.scaled(0.005, 0.05);
    controller.write_command_ms = Some(dice.scaled(0.005, 0.05));
    controller.flush_ms = Some(dice.scaled(0.01, 0.2));
    controller.link_bytes_per_s = dice.scaled(5e8, 3e9);
    controller.link_from_host_bytes_per_s = Some(dice.scaled(3e8, 2e9));
    controller.write_buffer_bytes = BUFFER;
    super::fit::sized(p, SET, 1.0)
}

/// Fits the drive of this seed. Returns whether its shape is found (alone or among those named as
/// equally good), and whether the report is right: no wrong shape, and correct numbers.
#[expect(clippy::print_stdout, reason = "the figures are for whoever runs it with --nocapture")]
fn is_right(seed: u64) -> [bool; 2] {
    let truth = drive(&mut Dice::new(seed));
    let found = fitted(&truth);
    let off = std::iter::zip(numbers(&found.parameters), numbers(&truth)).map(|(f, t)| f / t - 1.0);
    let told: Vec<(&str, f64)> =
        NAMES.into_iter().zip(off).filter(|(name, _)| !found.untold.contains(name)).collect();
    let [is, was] = [found.shape(), shape(&truth)];
    let (looked, ended) = (&found.looked, found.ended);
    println!(
        "{seed}: shape {is:?}, in truth {was:?}; {looked:?}, {ended:?}; told, and off by: {told:.4?}"
    );
    let is_named = matches!(looked, Looked::Alike { as_good } if as_good.contains(&was));
    let is_told = *looked == Looked::Everywhere && ended == Ended::Explained;
    let is_right = told.iter().all(|(_, off)| off.abs() < 0.02);
    [is == was || is_named, is_right && (is == was || !is_told)]
}

/// Fits eight drives from this seed on, which were not used to tune the search. At least `least`
/// must be found, and no report may be wrong; prints the reports.
fn are_found(first: u64, least: usize) {
    let of = |seed: u64| [seed, seed + 1].map(is_right);
    let all = std::thread::scope(|scope| {
        let some = [0, 2, 4, 6].map(|more| scope.spawn(move || of(first + more)));
        some.map(|some| some.join().expect("fitted")).concat()
    });
    let [found, right] = [0, 1].map(|what| all.iter().filter(|one| one[what]).count());
    assert!(found >= least && right == 8, "{found} found, {right} right, of 8");
}

#[test]
#[ignore = "some minutes of fits; the full run has it"]
fn most_random_drives_are_found_and_what_is_told_of_them_is_right() {
    are_found(7009, 7);
}

#[test]
#[ignore = "some minutes of fits; the full run has it"]
fn as_many_are_found_of_random_drives_that_were_set_aside_later() {
    are_found(7017, 6);
}

#[test]
#[ignore = "some minutes of fits; the full run has it"]
fn as_many_are_found_of_random_drives_that_were_looked_at_once() {
    are_found(7025, 6);
}

/// Fits a drive measured with noise: the report may claim a single shape only if it is the true
/// one.
#[expect(clippy::print_stdout, reason = "the figures are for whoever runs it with --nocapture")]
fn is_no_shape_told_falsely(seed: u64) {
    let truth = drive(&mut Dice::new(seed));
    let mut dice = Dice::new(seed + 1_000_000);
    let found: Fitted = fitted_with(&truth, |measured| {
        let rate = measured.throughput_bytes_per_s * (NOISE * dice.normal()).exp();
        measured.throughput_bytes_per_s = rate;
        measured.throughput_ci95 = [-1.96, 1.96].map(|sure| rate * (1.0 + sure * NOISE));
        measured.ios = MANY;
    });
    let [is, was] = [found.shape(), shape(&truth)];
    let said = inside::says(&found).join("\n");
    println!("{seed}: shape {is:?}, in truth {was:?}, {:?}\n{said}", found.looked);
    let is_named = matches!(&found.looked, Looked::Near { as_good, farther }
        if as_good.contains(&was) || farther.contains(&was));
    let is_open = said.contains("cannot be told: whether the drive has")
        || said.contains("cannot be told: how many channels");
    assert!(
        is_open && (is == was || is_named || said.contains("each of the others may")),
        "{said}"
    );
}

#[test]
#[ignore = "a minute of fits; the full run has it"]
fn of_a_drive_that_is_measured_with_noise_no_shape_is_told_falsely() {
    is_no_shape_told_falsely(7003);
}
