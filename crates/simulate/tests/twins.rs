//! Random solid-state drives are measured without noise, as a real one is by `ioscape twin`, and what is fitted to them foretells workloads
//! that it has not seen.

use ioscape_schema::{Engine, Op, Request, SizeDistribution, Workload};
use ioscape_simulate::ssd::{self, Filled, Parameters};
use ioscape_simulate::twin::{self, Errors, Named, Replica};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

const SET: u64 = 256 << 20;
const BUFFER: u64 = 1 << 20;
const UNSEEN: usize = 40;

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

    /// Even in its logarithm.
    fn scaled(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.share())
    }

    fn one_of<T: Copy>(&mut self, some: &[T]) -> T {
        some[((self.share() * some.len() as f64) as usize).min(some.len() - 1)]
    }
}

/// A drive of a shape that can be found, whose dies can be erased in no time.
fn drive(dice: &mut Dice) -> Parameters {
    let mut p = ssd::find("generic-ssd").expect("it is shipped");
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
    let dies = u64::from(flash.channels * flash.dies_per_channel);
    let share = (SET / u64::from(flash.page_bytes)).div_ceil(dies);
    flash.blocks_per_die = 2 * share.div_ceil(512) as u32 + 3;
    p.capacity_bytes = SET;
    p
}

/// Requests of `size_mean` anywhere in the set, or behind the one before.
fn requests(workload: &Workload) -> Box<dyn FnMut(usize) -> Request> {
    let Workload { unique_bytes, size_mean, read_frac, seq_frac, queue_depth, .. } = *workload;
    let mut dice = Dice(Pcg64Mcg::new(u128::from(size_mean) << 32 | u128::from(queue_depth)));
    let mut end = 0;
    Box::new(move |_| {
        let [place, read, follows] = [dice.share(), dice.share(), dice.share()];
        let last = unique_bytes - size_mean;
        let anywhere = (place * last as f64) as u64;
        let offset = if follows < seq_frac && end <= last { end } else { anywhere };
        let offset = offset >> 12 << 12;
        end = offset + size_mean;
        let op = if read < read_frac { Op::Read } else { Op::Write };
        Request { op, offset, len: size_mean as u32 }
    })
}

fn unseen(dice: &mut Dice) -> Vec<Workload> {
    let mut one = || {
        let queue_depth = dice.scaled(1.0, 32.99) as u32;
        Workload {
            unique_bytes: SET,
            size_mean: dice.scaled(4096.0, 524_288.0) as u64 >> 12 << 12,
            size_distribution: SizeDistribution::Fixed,
            read_frac: dice.share(),
            seq_frac: dice.share(),
            queue_depth,
            engine: if queue_depth > 1 { Engine::IoUring } else { Engine::Psync },
            ..twin::base()
        }
    };
    (0..UNSEEN).map(|_| one()).collect()
}

/// Errors of the throughput of unseen workloads.
fn judged(seed: u64) -> Errors {
    let dice = &mut Dice::new(seed);
    let model = drive(dice).build().expect("the drive can be built");
    let mut real = Replica::new(&model, &requests);
    let (mut probed, mut judging) = (Vec::new(), Vec::new());
    let Ok(()) = twin::all(&twin::probes(SET, true), &mut real, &mut probed);
    let Ok(()) = twin::all(&unseen(dice), &mut real, &mut judging);
    let fitted = twin::fit(&probed, &requests).expect("a drive is found");
    let named = Named {
        name: "twin",
        capacity_bytes: SET,
        write_buffer_bytes: BUFFER,
        sustained: None,
        twice: [&[], &[]],
        repeated: [&[], &[]],
    };
    let verdict = twin::verdict(fitted, &judging, &named, &requests).expect("it is judged");
    Errors::of(verdict.told.iter().map(|told| told.bytes_per_s)).expect("workloads")
}

/// Seeds of the drives, `IOSCAPE_WORLDS=10..20`, or one.
fn seeds() -> std::ops::Range<u64> {
    let asked = std::env::var("IOSCAPE_WORLDS").ok();
    let ends = asked.as_deref().and_then(|asked| asked.split_once(".."));
    let ends = ends.and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    ends.map_or(0..1, |(from, to)| from..to)
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are for whoever runs it with --nocapture")]
fn twins_of_random_drives_foretell_workloads_that_they_have_not_seen() {
    for seed in seeds() {
        let errors = judged(seed);
        println!("{seed}: throughput {errors}");
        assert!(errors.median < 0.02 && errors.p90 < 0.1, "{seed}: {errors}");
    }
}
