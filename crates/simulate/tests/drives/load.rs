//! Compares random reads under load with DiskSim's rules, restated here sector by sector.

use crate::data::io;
use crate::data::random::{self, Dice};
use crate::data::specs::specs;
use ioscape_schema::{Io, Op};
use ioscape_simulate::disksim::Specs;
use ioscape_simulate::drive::ReadAheadTo;
use ioscape_simulate::mechanism::Arm;
use ioscape_simulate::{Configuration, Drive, drives, jobs, simulate};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// What the head is doing, and until when.
#[derive(Clone, Copy)]
enum Doing {
    /// Moving to the track of the next block.
    Switching(u64),
    /// Waiting for that block to pass.
    Waiting(u64),
    /// Reading that block.
    Reading(u64),
}

impl Doing {
    fn until(self) -> u64 {
        let (Self::Switching(ns) | Self::Waiting(ns) | Self::Reading(ns)) = self;
        ns
    }
}

/// A head that reads block after block up to a limit.
#[derive(Clone, Copy)]
struct Head {
    next: u64,
    limit: u64,
    doing: Doing,
}

/// A drive that reads, event by event.
struct Stepwise<'a> {
    drive: &'a Drive,
    arm: Arm,
    head: Option<Head>,
    stops_in_sector: bool,
}

impl Stepwise<'_> {
    fn go(&mut self, block: u64) {
        let layout = &self.drive.mechanism.layout;
        let on = &layout.tracks()[layout.locate(block).track];
        (self.arm.cylinder, self.arm.head) = (on.cylinder, on.head);
    }

    fn seek_ns(&self, block: u64) -> u64 {
        let mechanism = &self.drive.mechanism;
        mechanism.seek_to(&self.arm, mechanism.layout.locate(block).track, false)
    }

    /// The head's next state, and whether a block has been read.
    fn step(&mut self, head: Head) -> (Option<Head>, bool) {
        let layout = &self.drive.mechanism.layout;
        let at = layout.locate(head.next);
        let sector_ns = layout.span_ns(at.track, 1);
        match head.doing {
            Doing::Switching(end_ns) => {
                self.go(head.next);
                let (rotation, angle) = (layout.rotation_ns(), layout.angle_ns(at.track, at.slot));
                let wait = (angle + rotation - layout.turned_ns(end_ns)) % rotation;
                (Some(Head { doing: Doing::Waiting(end_ns + wait), ..head }), false)
            }
            Doing::Waiting(end_ns) => {
                (Some(Head { doing: Doing::Reading(end_ns + sector_ns), ..head }), false)
            }
            Doing::Reading(_) if head.next + 1 >= head.limit => (None, true),
            Doing::Reading(end_ns) => {
                let (next, after) = (head.next + 1, layout.locate(head.next + 1));
                let doing = if after.track == at.track {
                    Doing::Reading(end_ns + sector_ns * u64::from(after.slot - at.slot))
                } else {
                    Doing::Switching(end_ns + self.seek_ns(next))
                };
                (Some(Head { next, doing, ..head }), true)
            }
        }
    }

    /// The block before which a request's read-ahead stops.
    fn limit(&self, specs: &Specs, [block, end]: [u64; 2]) -> u64 {
        let (layout, buffer) = (&self.drive.mechanism.layout, &specs.parameters.buffer);
        let last = layout.blocks();
        if end >= last {
            return last;
        }
        let [first, stop] = layout.track_of(end);
        let most = match buffer.read_ahead_to {
            ReadAheadTo::Track if block < first => {
                stop + (layout.track_of(block)[1] - layout.track_of(block)[0])
            }
            ReadAheadTo::Track => stop,
            _ => end + buffer.read_ahead_blocks.unwrap_or(0),
        };
        most.min(last)
    }

    /// Stops read-ahead for a command that arrives at `now_ns`; returns the time until which it
    /// continues.
    fn stop(&mut self, now_ns: u64) -> u64 {
        let Some(mut head) = self.head.take() else { return now_ns };
        while head.doing.until() <= now_ns {
            match self.step(head).0 {
                Some(next) => head = next,
                None => return now_ns,
            }
        }
        match head.doing {
            Doing::Switching(end_ns) => {
                self.go(head.next);
                end_ns
            }
            Doing::Waiting(end_ns) | Doing::Reading(end_ns) if !self.stops_in_sector => end_ns,
            _ => now_ns,
        }
    }

    /// The completion time of a read that arrives at `now_ns`.
    fn read(&mut self, specs: &Specs, now_ns: u64, [block, count]: [u64; 2]) -> u64 {
        let (controller, bus) = (&self.drive.controller, &self.drive.bus);
        let [before, after, reconnect] = [
            controller.read_before_ns[0],
            controller.read_after_ns,
            controller.read_reconnect_ns + bus.arbitration_ns,
        ];
        let start_ns = self.stop(now_ns) + before;
        let limit = self.limit(specs, [block, block + count]);
        let doing = Doing::Switching(start_ns + self.seek_ns(block));
        let mut head = Some(Head { next: block, limit, doing });
        let mut passed = Vec::new();
        while let Some(now) = head.filter(|_| passed.len() < count as usize) {
            let (next, was_read) = self.step(now);
            if was_read {
                passed.push(now.doing.until());
            }
            head = next;
        }
        self.head = head;
        // Of a longer read, a segment holds only this much.
        let held = count.min(specs.parameters.buffer.segment_bytes() / 512);
        let mark = ((held * bus.read_water_mark) >> 10).max(1) as usize;
        let mut out = passed[mark - 1] + reconnect;
        for passed in &passed {
            out = out.max(*passed) + bus.time_ns(1, false);
        }
        out + after
    }
}

/// Random reads of `least` to `most` blocks at `rate` per second, none near any of the sixteen
/// before it.
fn random(drive: &Drive, [least, most]: [u64; 2], rate: f64, seed: u128, count: usize) -> Vec<Io> {
    let mut dice = Pcg64Mcg::new(seed);
    let places = drive.mechanism.layout.blocks() / most - 1;
    let (mut now, mut latest) = (0.0, Vec::<u64>::new());
    let mut rows = Vec::with_capacity(count);
    while rows.len() < count {
        let block = dice.next_u64() % places * most;
        if latest.iter().rev().take(16).any(|near| near.abs_diff(block) < 5_000) {
            continue;
        }
        latest.push(block);
        let blocks = least + dice.next_u64() % (most - least + 1);
        let uniform = ((dice.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        now -= uniform.ln() / rate * 1e9;
        rows.push(io(Op::Read, block * 512, blocks as u32 * 512, now as u64));
    }
    rows
}

fn mean(times: impl Iterator<Item = u64>) -> f64 {
    let all: Vec<u64> = times.collect();
    all.iter().map(|ns| *ns as f64).sum::<f64>() / all.len() as f64
}

/// Requests per run.
const COUNT: usize = 10_000;

/// A drive under load, as simulated here and by DiskSim's rules.
#[derive(Debug)]
struct Compared {
    /// Mean response times in milliseconds: here, and by the rules.
    response: [f64; 2],
    /// How much longer the mean service time is here than by the rules.
    service: f64,
    /// Utilization by the rules.
    busy: f64,
}

/// The comparison for a drive whose files are among the test data.
fn given(stem: &str, blocks: u64, rate: f64) -> Option<Compared> {
    let specs = specs(&format!("{stem}.diskspecs"))?;
    Some(compared(&specs, [blocks; 2], rate, 9, COUNT))
}

fn compared(specs: &Specs, blocks: [u64; 2], rate: f64, seed: u128, count: usize) -> Compared {
    let drive = specs.parameters.build().unwrap();
    let rows = random(&drive, blocks, rate, seed, count);
    let stops_in_sector = specs.parameters.buffer.stops_in_sector;
    let mut rules = Stepwise { drive: &drive, arm: Arm::default(), head: None, stops_in_sector };
    let (mut free, mut theirs) = (0, [Vec::new(), Vec::new()]);
    for Io { request, queued_ns, .. } in &rows {
        let begun = free.max(*queued_ns);
        free = rules.read(specs, begun, [request.offset / 512, u64::from(request.len / 512)]);
        theirs[0].push(free - queued_ns);
        theirs[1].push(free - begun);
    }
    let options = Configuration { disk: drive.buffer.usual(), ..Configuration::default() };
    let run = simulate(&drive, &jobs(&rows, &[0], &drive).unwrap(), &options);
    let ours =
        |from: fn(&Io) -> u64| mean(run.rows.iter().map(|row| row.io.completed_ns - from(&row.io)));
    let [response, service] = theirs.map(|times| mean(times.into_iter()));
    Compared {
        response: [ours(|io| io.queued_ns) / 1e6, response / 1e6],
        service: ours(|io| io.issued_ns) / service - 1.0,
        busy: service * count as f64 / free as f64,
    }
}

/// Drives that finish the head's current action before they start a command, as DiskSim assumes of
/// all drives; each with rates that keep it busy.
const FINISH: [(&str, [f64; 2]); 2] = [("cheetah9LP", [25.0, 75.0]), ("barracuda", [25.0, 50.0])];
/// Drives that start a command during a track switch, as measured on two of them, which hides the
/// command's overhead. Each with a rate, and the most by which this may shorten the mean response
/// time.
const AT_ONCE: [(&str, f64, f64); 3] =
    [("hp_c2247a", 25.0, 0.004), ("hp_c2490a", 50.0, 0.06), ("st41601n", 50.0, 0.02)];

#[test]
fn responses_under_load_are_disksims() {
    for (stem, rates) in FINISH {
        for (blocks, rate) in [(8, rates[0]), (32, rates[0]), (8, rates[1]), (32, rates[1])] {
            let Some(found) = given(stem, blocks, rate) else { return };
            let off = found.response[0] / found.response[1] - 1.0;
            assert!(off.abs() < 0.001, "{stem}, {blocks} blocks, {rate}/s: {off:+.5}, {found:?}");
            assert!(rate < 50.0 || found.busy > 0.7, "not under load: {found:?}");
        }
    }
}

#[test]
fn drives_that_turn_to_a_command_at_once_are_a_little_faster_than_in_disksim() {
    for (stem, rate, most) in AT_ONCE {
        let Some(found) = given(stem, 8, rate) else { return };
        let off = found.response[0] / found.response[1] - 1.0;
        assert!((-most..=0.0).contains(&off), "{stem}, {rate}/s: {off:+.5}, {found:?}");
        assert!((-0.003..0.0).contains(&found.service), "{stem}, {rate}/s: {found:?}");
    }
}

/// Requests per random drive, and the number of random drives.
const FEW: usize = 2_000;
const WORLDS: u64 = 24;

#[test]
fn responses_of_random_drives_with_zones_and_defects_are_those_of_the_rules() {
    for seed in 0..WORLDS {
        let dice = &mut Dice::new(seed);
        let mut parameters = random::drive("hp-c2247a", dice);
        parameters.bus.read_water_mark = dice.between(0.0, 1.0);
        parameters.buffer.stops_in_sector = false;
        parameters.buffer.read_ahead_blocks = Some(1 + dice.below(200));
        let whole_tracks = dice.below(2) == 0;
        parameters.buffer.read_ahead_to =
            if whole_tracks { ReadAheadTo::Track } else { ReadAheadTo::Buffer };
        let specs = Specs { parameters, left_out: Vec::new() };
        let found = compared(&specs, [1, 64], 45.0, u128::from(seed) + 1, FEW);
        let off = found.response[0] / found.response[1] - 1.0;
        assert!(off.abs() < 0.001, "world {seed}: {off:+.5}, {found:?}, {:#?}", specs.parameters);
        assert!(found.busy > 0.4, "world {seed}: {found:?}");
    }
}

/// Neither side models a head that waits while the segment is full: the bus does not wait for it.
#[test]
fn responses_to_reads_longer_than_a_segment_are_those_of_the_rules() {
    let mut parameters = drives::find("hp-c2247a").unwrap();
    parameters.buffer.stops_in_sector = false;
    let specs = Specs { parameters, left_out: Vec::new() };
    let found = compared(&specs, [200, 800], 4.0, 3, FEW);
    let off = found.response[0] / found.response[1] - 1.0;
    assert!(off.abs() < 0.001, "{off:+.5}, {found:?}");
    assert!(found.busy > 0.3, "{found:?}");
}
