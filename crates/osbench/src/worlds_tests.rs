//! Random machines whose other programs are known: every value must be within 5 % of the truth, or
//! absent.

use crate::background::Background;
use crate::case::{Case, not_here};
use crate::estimate::{Batch, Flaw};
use crate::result::{self, Gathered, Reference};
use ioscape_schema::OsRule;
use proptest::prelude::*;

/// Undisturbed nanoseconds of a batch and of the fixed computation.
const BATCH_NS: f64 = 1_000_000.0;
const PACE_NS: f64 = 2000.0;

/// What runs beside the case.
#[derive(Clone, Debug)]
struct World {
    /// Milliseconds that the case may run before another program or a quota stops it, and for which
    /// it then stays stopped.
    run_ms: f64,
    stop_ms: f64,
    is_quota: bool,
    /// Whether the hypervisor stops it; the kernel then leaves that time out of the case's own.
    is_stolen: bool,
    /// Relative slowdown of a batch after a stop, because the caches lost the case's data.
    cold: f64,
    /// Share of batches with a neighbour on the core, and how much it slows the case and the fixed
    /// computation.
    neighbour: f64,
    slows: [f64; 2],
    /// Processors that others keep busy, and how much slower memory is meanwhile.
    others: f64,
    memory: f64,
    shares: bool,
    /// Share of the time that the hypervisor takes from processors that the case does not use.
    host: f64,
    seed: u64,
}

fn worlds() -> impl Strategy<Value = World> {
    let stop_ms = prop_oneof![Just(0.0), 0.2..100.0f64];
    let stops = (0.5..20.0f64, stop_ms, any::<bool>(), 0.0..1.0f64, any::<bool>());
    let neighbours = (prop_oneof![Just(0.0), 0.0..1.0f64, Just(1.0)], 1.05..1.6f64, 1.15..1.5f64);
    let others = (prop_oneof![Just(0.0), 0.0..2.0f64], 0.0..1.0f64, any::<bool>(), 0.0..0.5f64);
    (stops, neighbours, others, any::<u64>()).prop_map(|(stops, neighbours, others, seed)| World {
        run_ms: stops.0,
        stop_ms: stops.1,
        is_quota: stops.2,
        is_stolen: stops.4,
        cold: stops.3,
        neighbour: neighbours.0,
        slows: [neighbours.1, neighbours.2],
        others: others.0,
        memory: 1.0 + others.1,
        shares: others.2,
        host: others.3,
        seed,
    })
}

/// Random fractions from a deterministic generator.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

impl World {
    /// Returns the batches of one process, each of 1000 operations of 1 us, until it had 45 ms for
    /// itself.
    fn batches(&self, dice: &mut Dice) -> Vec<Batch> {
        let (mut left_ms, mut was_stopped) = (dice.roll() * self.run_ms, false);
        let pace = |dice: &mut Dice| {
            let beside = dice.roll() < self.neighbour;
            (
                beside,
                PACE_NS * if beside { self.slows[1] } else { 1.0 } * (1.0 + 0.03 * dice.roll()),
            )
        };
        let mut before = pace(dice);
        let one = |_| {
            let after = pace(dice);
            let beside = if before.0 || after.0 { self.slows[0] } else { 1.0 };
            let memory = if dice.roll() < self.others && self.shares { self.memory } else { 1.0 };
            let cold = if was_stopped { 1.0 + self.cold } else { 1.0 };
            let own = BATCH_NS * beside * memory * cold * (1.0 + 0.02 * dice.roll());
            left_ms -= own / 1e6;
            was_stopped = left_ms < 0.0 && self.stop_ms > 0.0;
            let delay = if was_stopped { self.stop_ms * 1e6 } else { 0.0 };
            left_ms = if left_ms < 0.0 { self.run_ms } else { left_ms };
            let pace_ns = before.1.max(after.1) as u64;
            before = after;
            // At an interruption, the clocks of processor time and of real time differ by some
            // microseconds.
            let delay_ns = Some((delay * (1.0 + 0.001 * dice.roll())) as u64);
            Batch { ns: (own + delay) as u64, ops: 1000, delay_ns, pace_ns }
        };
        (0..45).map(one).collect()
    }

    fn background(&self, batches: &[Batch]) -> Background {
        let elapsed_s = batches.iter().map(|batch| batch.ns as f64 / 1e9).sum::<f64>();
        let stopped = batches.iter().filter_map(|batch| batch.delay_ns).sum::<u64>() as f64 / 1e9;
        let stolen = if self.is_stolen && !self.is_quota { stopped } else { 0.0 };
        let busy = self.others.max(self.neighbour);
        Background {
            elapsed_s,
            // Counted in steps of 10 ms.
            others_s: Some((elapsed_s * busy * 100.0).round() / 100.0),
            neighbours_idle_s: vec![elapsed_s * (1.0 - self.neighbour)],
            throttled_s: if self.is_quota { stopped } else { 0.0 },
            steal_s: stolen + elapsed_s * self.host,
            own_steal_s: stolen,
            total_s: 2.0 * elapsed_s,
            ..Background::default()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn a_number_is_right_or_not_there(world in worlds(), processes in 1usize..13) {
        let (mut dice, mut found) = (Dice(world.seed), Gathered::default());
        for _ in 0..processes {
            let batches = world.batches(&mut dice);
            let background = world.background(&batches);
            found.add(batches, background);
        }
        let case = Case::new("x", "y", "", |_| Err(not_here("no")));
        let case = if world.shares { case.sharing() } else { case };
        let reference = Reference::of(std::iter::once((&case, &found)));
        for (flaw, beside) in found.flaws(&case, reference.fastest_ns).zip(found.backgrounds()) {
            // Less than one step of the counter goes unseen.
            let is_stolen = beside.own_steal_s > 0.0 && beside.lost_to_hypervisor(&case);
            let wrong = if is_stolen { Flaw::Interrupted } else { Flaw::Stolen };
            prop_assert!(flaw != Some(wrong), "{wrong:?} in {beside:?}");
        }
        let one = result::benchmark(&case, &found, reference);
        match one.value {
            Some(value) => {
                // A neighbour that slows the case by a twentieth or less may go unseen; noise adds
                // to that.
                prop_assert!((950.0..=1060.0).contains(&value), "{value} instead of 1000 ns");
                prop_assert!(one.ci95.is_none_or(|[low, high]| low <= 1060.0 && high >= 1000.0));
            }
            None => prop_assert!(one.not_measured.is_some_and(|why| !why.is_empty())),
        }
    }

    #[test]
    fn an_undisturbed_machine_has_numbers(seed in any::<u64>(), rule in prop_oneof![Just(OsRule::CleanQuartile), Just(OsRule::Mean)]) {
        let world = World {
            run_ms: 20.0, stop_ms: 0.0, is_quota: false, is_stolen: false, cold: 0.0,
            neighbour: 0.0, slows: [1.0; 2], others: 0.0, memory: 1.0, shares: true, host: 0.0, seed,
        };
        let (mut dice, mut found) = (Dice(seed), Gathered::default());
        for _ in 0..6 {
            let batches = world.batches(&mut dice);
            let background = world.background(&batches);
            found.add(batches, background);
        }
        let case = Case::new("x", "y", "", |_| Err(not_here("no"))).sharing().by(rule);
        let reference = Reference { fastest_ns: PACE_NS as u64, ever_alone: true, unseen: None, no_time_s: None };
        let one = result::benchmark(&case, &found, reference);
        prop_assert!(one.value.is_some() && one.ci95.is_some(), "{:?}", one.not_measured);
    }
}
