//! Random drives: zones, skews, defects, seek curves and times within the range of real drives.

use ioscape_simulate::layout::{Remap, Zone};
use ioscape_simulate::seek::SeekCurve;
use ioscape_simulate::{Parameters, drives};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// A seeded random number generator.
pub struct Dice(Pcg64Mcg);

impl Dice {
    pub fn new(seed: u64) -> Self {
        let mut own = Pcg64Mcg::new(u128::from(seed) << 32 | 0x9e37_79b9);
        let _ = [(); 8].map(|()| own.next_u64());
        Self(own)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Up to `most` distinct numbers below `bound`, in order.
    fn some(&mut self, most: u64, bound: u64) -> Vec<u64> {
        let mut all: Vec<u64> = (0..most).map(|_| self.below(bound)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// A random variant of a shipped drive: two to four zones with skews, spares, slipped sectors and
/// tracks, some blocks remapped to spares, a two-part seek curve, and times of its own.
pub fn drive(like: &str, dice: &mut Dice) -> Parameters {
    let mut drive = drives::find(like).unwrap();
    drive.heads = 3 + dice.below(12) as u16;
    drive.rotation_ms = dice.between(8.0, 17.0);
    (drive.zones, drive.blocks) = (zones(u64::from(drive.heads), dice), None);
    let last = drive.zones[drive.zones.len() - 1].last_cylinder;
    drive.cylinders = last + 1 + dice.below(9) as u32;
    drive.seek = curve(drive.cylinders, dice);
    drive.mechanism.head_switch_ms = dice.between(0.4, 1.6);
    drive.mechanism.write_settle_ms = dice.between(-0.3, 0.7);
    drive.controller.read_before_ms = dice.between(0.3, 2.5);
    drive.controller.write_before_ms = dice.between(0.3, 2.5);
    drive.controller.write_after_ms = dice.between(0.0, 0.4);
    let spare = drive.zones[0].sectors_per_track - 1;
    // Remapped to spare sectors of the first zone.
    drive.remaps = dice
        .some(12, 50_000)
        .into_iter()
        .enumerate()
        .map(|(n, block)| Remap { block, cylinder: 7 * n as u32, head: 1, sector: spare })
        .collect();
    drive
}

fn zones(heads: u64, dice: &mut Dice) -> Vec<Zone> {
    let count = 2 + dice.below(3);
    let (mut cylinder, mut sectors) = (0, 70 + dice.below(50) as u32);
    let mut zones = Vec::new();
    for nth in 0..count {
        let cylinders = 250 + dice.below(400) as u32;
        let tracks = heads * u64::from(cylinders);
        zones.push(Zone {
            first_cylinder: cylinder,
            last_cylinder: cylinder + cylinders - 1,
            sectors_per_track: sectors,
            spares_per_track: 1,
            track_skew: dice.below(u64::from(sectors)) as u32,
            cylinder_skew: dice.below(u64::from(sectors)) as u32,
            // Angles are relative to the first zone.
            offset: if nth == 0 { 0 } else { dice.below(u64::from(sectors)) as u32 },
            // Not on the last tracks, since defective tracks take some away.
            slips: dice.some(20, (tracks - 8) * u64::from(sectors - 1)),
            slipped_tracks: dice.some(4, tracks),
            ..Zone::default()
        });
        cylinder += cylinders + dice.below(3) as u32;
        sectors -= 6 + dice.below(8) as u32;
    }
    zones
}

/// A seek curve of two parts that meet.
fn curve(cylinders: u32, dice: &mut Dice) -> SeekCurve {
    let divider = cylinders / 6 + dice.below(u64::from(cylinders / 4)) as u32;
    let [a, b, e] = [dice.between(1.5, 4.0), dice.between(0.2, 0.5), dice.between(0.003, 0.009)];
    let c = a + b * f64::from(divider).sqrt() - e * f64::from(divider);
    SeekCurve::TwoPart { divider, a, b, c, e, short: Vec::new() }
}
