//! Tests of the solid-state drive against what follows from its parameters.

use super::*;
use crate::command::Command;
use ioscape_schema::IoFlags;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

pub(super) fn generic() -> Parameters {
    find("generic-ssd").expect("it is shipped")
}

/// An empty drive of 64 MiB, whose dies program one page at a time, so that tests stay short.
pub(super) fn small() -> Parameters {
    let mut parameters = generic();
    parameters.capacity_bytes = 64 << 20;
    parameters.flash.blocks_per_die = 5;
    parameters.flash.pages_per_block = 256;
    parameters.flash.cell_page_bytes = None;
    parameters.flash.planes_per_die = None;
    parameters.filled = Filled::Empty;
    parameters.controller.write_buffer_bytes = 1 << 20;
    parameters
}

/// A number below `bound`.
pub(super) fn below(dice: &mut Pcg64Mcg, bound: u32) -> u32 {
    ((u128::from(dice.next_u64()) * u128::from(bound)) >> 64) as u32
}

/// One die of 200 blocks of 64 pages and one more to write to; `used` is the share that the host
/// sees.
fn one_die(used: f64) -> (Flash, u32) {
    die_of([200, 64], used)
}

/// One die of `blocks` blocks and one more to write to; `used` is the share that the host sees.
fn die_of([blocks, pages_per_block]: [u32; 2], used: f64) -> (Flash, u32) {
    let flash = Flash {
        channels: 1,
        dies_per_channel: 1,
        blocks_per_die: blocks + 1,
        pages_per_block,
        ..small().flash
    };
    (flash, (f64::from(blocks * pages_per_block) * used) as u32)
}

/// Pages programmed per page written, over the last `counted` of `written` writes to a drive that begins `filled`.
fn amplification(
    (flash, pages): (Flash, u32),
    filled: Filled,
    [written, counted]: [u32; 2],
    mut next: impl FnMut(u32) -> u32,
) -> f64 {
    let mut ftl = Ftl::new(&flash, precondition::filling(&flash, pages, filled));
    let mut moved = 0;
    for n in 0..written {
        let done = ftl.program(next(pages));
        if n >= written - counted {
            moved += done.moved;
        }
    }
    1.0 + f64::from(moved) / f64::from(counted)
}

/// Lambert's W between -1 and 0, by Newton's method.
fn lambert(x: f64) -> f64 {
    (0..60).fold(-0.1, |w: f64, _| w - (w * w.exp() - x) / (w.exp() * (1.0 + w)))
}

/// Write amplification of greedy collection under uniform random writes (Desnoyers, "Analytic models of SSD write
/// performance", ACM Transactions on Storage 10, 2014).
fn closed_form(used: f64, per_block: f64) -> f64 {
    let alpha = 1.0 / used;
    let grown = (1.0 + 0.5 / per_block) * alpha;
    let left = 0.5 - per_block / alpha * lambert(-grown * (-grown).exp());
    per_block / (per_block - (left - 1.0))
}

/// Over-provisioning: spare pages for every page that the host sees.
const OVER_PROVISIONING: [f64; 4] = [0.07, 0.15, 0.28, 0.5];

#[test]
fn random_writes_are_amplified_as_greedy_collection_is_known_to() {
    for spare in OVER_PROVISIONING {
        let used = 1.0 / (1.0 + spare);
        let mut dice = Pcg64Mcg::new(3);
        let next = |pages| below(&mut dice, pages);
        let found = amplification(one_die(used), Filled::Full, [360_000, 60_000], next);
        let truth = closed_form(used, 64.0);
        assert!((found / truth - 1.0).abs() < 0.03, "{spare}: {found} for {truth}");
    }
}

#[test]
fn a_drive_in_its_steady_state_is_amplified_so_from_its_first_write() {
    // Less than a fifth of the drive is written in all. The last has blocks as large as today's.
    let drives = OVER_PROVISIONING.map(|spare| (spare, 64, 12_000)).into_iter();
    for (spare, per_block, written) in drives.chain([(0.07, 4096, 100_000)]) {
        let used = 1.0 / (1.0 + spare);
        let mut dice = Pcg64Mcg::new(4);
        let next = |pages| below(&mut dice, pages);
        let die = die_of([1000, per_block], used);
        let found = amplification(die, Filled::SteadyState, [written, written], next);
        let truth = closed_form(used, f64::from(per_block));
        assert!((found / truth - 1.0).abs() < 0.03, "{spare}: {found} for {truth}");
    }
}

/// Other over-provisioning and other blocks than those with which the model was developed.
#[test]
fn nor_does_it_differ_where_nobody_looked_while_it_was_made() {
    for spare in [0.10, 0.20, 0.35] {
        for shape in [[200, 64], [240, 32], [150, 128]] {
            let used = 1.0 / (1.0 + spare);
            let truth = closed_form(used, f64::from(shape[1]));
            let far = |found: f64| (found / truth - 1.0).abs();
            let mut dice = Pcg64Mcg::new(5);
            let mut next = |pages| below(&mut dice, pages);
            let written = 30 * shape[0] * shape[1];
            let counted = [written, written / 4];
            let long = amplification(die_of(shape, used), Filled::Full, counted, &mut next);
            assert!(far(long) < 0.03, "{spare} {shape:?}: {long} for {truth}");
            let die = die_of([5 * shape[0], shape[1]], used);
            let fifth = shape[0] * shape[1] * 9 / 10;
            let soon = amplification(die, Filled::SteadyState, [fifth, fifth], &mut next);
            assert!(far(soon) < 0.03, "{spare} {shape:?}: {soon} for {truth} at once");
        }
    }
}

#[test]
fn sequential_writes_are_not_amplified() {
    let mut at = 0;
    let next = |pages| {
        let page = at;
        at = (at + 1) % pages;
        page
    };
    assert_eq!(amplification(one_die(0.99), Filled::Full, [180_000, 30_000], next), 1.0);
}

#[test]
fn every_page_is_found_where_it_was_written_last() {
    let (flash, pages) = one_die(0.9);
    let flash = Flash { channels: 2, dies_per_channel: 2, blocks_per_die: 60, ..flash };
    let pages = pages + 1;
    for filled in [Filled::Empty, Filled::Full, Filled::SteadyState] {
        let mut ftl = Ftl::new(&flash, precondition::filling(&flash, pages, filled));
        let mut dice = Pcg64Mcg::new(5);
        let mut gone = std::collections::BTreeSet::new();
        for round in 0..60_000 {
            let page = below(&mut dice, pages);
            if round % 7 == 0 {
                let end = (page + 1 + below(&mut dice, 200)).min(pages);
                ftl.discard(page..end);
                gone.extend(page..end);
            } else {
                ftl.program(page);
                gone.remove(&page);
            }
            if round % 5 == 0 {
                ftl.skip(ftl.die(page), below(&mut dice, 3));
            }
        }
        let mut places = std::collections::BTreeSet::new();
        for page in 0..pages {
            let place = ftl.place(page);
            assert!(place.is_none_or(|at| places.insert(at)), "two pages in one place");
            assert!(!(gone.contains(&page) && place.is_some()), "{page} was discarded");
            assert!(filled == Filled::Empty || gone.contains(&page) || place.is_some());
            let die = place.map(|at| at / flash.pages_per_block / flash.blocks_per_die);
            assert!(die.is_none_or(|die| die as usize == ftl.die(page)));
        }
    }
}

/// The time that a request takes.
pub(super) fn send(ssd: &mut Ssd<'_>, now_ns: u64, block: u64, count: u64, write: bool) -> u64 {
    ssd.serve(now_ns, Command { block, count, write, synchronous: true }).completed_ns - now_ns
}

#[test]
fn an_idle_drive_takes_the_sum_of_its_parts() {
    let model = small().build().unwrap();
    let mut ssd = Ssd::new(&model);
    let second = 1_000_000_000;
    // Command 10 us, link of 3.2 GB/s: 1.28 us per page.
    assert_eq!(send(&mut ssd, 0, 0, 8 * 64, true), 10_000 + 64 * 1_280);
    // Sense 50 us, channel of 800 MB/s: 5.12 us per page.
    assert_eq!(send(&mut ssd, second, 0, 8, false), 10_000 + 50_000 + 5_120 + 1_280);
    assert_eq!(send(&mut ssd, second + 1_000_000, 3, 1, false), 10_000 + 50_000 + 5_120 + 160);
    // 32 pages on 32 dies: a channel carries its second while the link carries the first of all eight.
    let all = 10_000 + 50_000 + 5_120 + 32 * 1_280;
    assert_eq!(send(&mut ssd, 2 * second, 0, 8 * 32, false), all);
    // Never written: nothing to sense.
    assert_eq!(send(&mut ssd, 3 * second, 8 * 1000, 8, false), 10_000 + 1_280);
    // Just written: still in the buffer.
    send(&mut ssd, 4 * second, 0, 8, true);
    assert_eq!(send(&mut ssd, 4 * second + 20_000, 0, 8, false), 10_000 + 1_280);
}

#[test]
fn a_controller_that_wakes_takes_all_that_has_come_one_after_the_other() {
    let mut parameters = small();
    parameters.controller.busy_ms = Some(0.010);
    parameters.controller.wake_ms = Some(0.040);
    let model = parameters.build().unwrap();
    let mut ssd = Ssd::new(&model);
    // Never written, so nothing to sense: woken after 40 us, 10 us and 1.28 us of data each, and a command of 10 us.
    let turn = 10_000 + 1_280;
    let read = |ssd: &mut Ssd<'_>, now| send(ssd, now, 8 * 1000, 8, false);
    assert_eq!(read(&mut ssd, 0), 40_000 + turn + 10_000);
    assert_eq!(read(&mut ssd, 1_000), 39_000 + 2 * turn + 10_000);
    // It arrives while those are in progress, and waits until the controller wakes again.
    assert_eq!(read(&mut ssd, 45_000), (40_000 + 2 * turn - 45_000) + 40_000 + turn + 10_000);
}

#[test]
fn a_write_is_copied_while_others_are_served() {
    let mut parameters = small();
    parameters.controller.busy_ms = Some(0.010);
    parameters.controller.write_copy_bytes_per_s = Some(4096.0 / 30e-6);
    let model = parameters.build().unwrap();
    let mut ssd = Ssd::new(&model);
    let turn = 10_000 + 1_280;
    assert_eq!(send(&mut ssd, 0, 0, 8, true), turn + 10_000 + 30_000);
    assert_eq!(send(&mut ssd, 0, 8, 8, true), 2 * turn + 10_000 + 30_000);
    assert_eq!(send(&mut ssd, 1_000_000, 8 * 1000, 8, false), turn + 10_000, "no write");
}

#[test]
fn a_command_at_the_end_of_one_of_its_kind_keeps_the_controller_for_a_share_of_the_time() {
    let mut parameters = small();
    parameters.controller.busy_ms = Some(0.010);
    parameters.controller.adjacent_busy_frac = Some(0.5);
    parameters.controller.write_adjacent_busy_frac = Some(0.2);
    let model = parameters.build().unwrap();
    let mut ssd = Ssd::new(&model);
    let second = 1_000_000_000;
    let mut turn =
        |at: u64, page: u64, write| send(&mut ssd, at * second, 8 * page, 8, write) - 11_280;
    let reads = [turn(1, 1000, false), turn(2, 1001, false), turn(3, 1003, false)];
    assert_eq!(reads, [10_000, 5_000, 10_000]);
    let writes = [turn(4, 1004, true), turn(5, 1005, true), turn(6, 1006, true)];
    assert_eq!(writes, [10_000, 2_000, 2_000], "the first is of another kind than the one before");
    parameters.controller.write_adjacent_busy_frac = Some(11.0);
    let refused = parameters.build().unwrap_err().to_string();
    assert!(refused.contains("controller.write_adjacent_busy_frac: 11 is not"), "{refused}");
}

/// Throughput in bytes per second of sequential writes of 512 KiB over 64 MiB, without those still
/// in the buffer.
pub(super) fn write_rate(parameters: &Parameters) -> f64 {
    let model = parameters.build().unwrap();
    let mut ssd = Ssd::new(&model);
    let mut now = 0;
    for n in 0..128 {
        now += send(&mut ssd, now, n * 1024, 1024, true);
    }
    let held = parameters.controller.write_buffer_bytes as f64;
    (f64::from(64 << 20) - held) * 1e9 / now as f64
}

#[test]
fn writes_beyond_the_buffer_run_at_the_speed_of_the_dies() {
    // A program and the transfer before it; the four dies of a channel overlap.
    let [one, truth] = [write_rate(&small()), 32.0 * 4096.0 / (0.5e-3 + 5.12e-6)];
    assert!((one / truth - 1.0).abs() < 0.03, "{one} for {truth}");
    let mut planes = small();
    planes.flash.planes_per_die = Some(2);
    planes.flash.cell_page_bytes = Some(16_384);
    planes.controller.write_buffer_bytes = 4 << 20;
    let [eight, truth] = [write_rate(&planes), 32.0 * 8.0 * 4096.0 / (0.5e-3 + 8.0 * 5.12e-6)];
    assert!((eight / truth - 1.0).abs() < 0.05, "{eight} for {truth}");
}

#[test]
fn reads_go_before_buffered_writes() {
    let mut parameters = small();
    parameters.controller.write_buffer_bytes = 64 << 20;
    let read = |parameters: &Parameters| {
        let model = parameters.build().unwrap();
        let mut ssd = Ssd::new(&model);
        send(&mut ssd, 0, 0, 8, true);
        send(&mut ssd, 1_000_000_000, 8 * 8192, 8 * 8192, true);
        // A millisecond after 32 MiB, while 16 ms of programs wait for every die.
        send(&mut ssd, 1_012_000_000, 0, 8, false)
    };
    let idle = 10_000 + 50_000 + 5_120 + 1_280;
    assert_eq!(read(&parameters), idle + 20_000, "the program in progress is suspended");
    parameters.flash.suspend_ms = None;
    assert!((idle..idle + 510_000).contains(&read(&parameters)), "or read after it");
}

#[test]
fn reads_delay_programs_by_as_much_as_they_take() {
    let model = small().build().unwrap();
    let programmed = |reads: u64| {
        let mut ssd = Ssd::new(&model);
        send(&mut ssd, 0, 0, 8, true);
        let begun = 1_000_000_000;
        send(&mut ssd, begun, 8 * 32, 8, true);
        for n in 0..reads {
            send(&mut ssd, begun + 100_000 * (n + 1), 0, 8, false);
        }
        ssd.flush(begun + 450_000).completed_ns
    };
    // Each read suspends it.
    assert_eq!(programmed(3) - programmed(0), 3 * (50_000 + 20_000));
}

#[test]
fn rewrites_of_a_page_are_merged() {
    let model = small().build().unwrap();
    let mut ssd = Ssd::new(&model);
    let mut now = 0;
    for _ in 0..20_000 {
        let took = send(&mut ssd, now, 0, 8, true);
        assert_eq!(took, 10_000 + 1_280);
        now += took;
    }
    // One program at a time takes what has arrived since the one before.
    let programs = now / 505_120 + 2;
    assert!(ssd.traffic().destaged <= 8 * programs, "{:?}", ssd.traffic());
    assert!(ssd.traffic().absorbed >= 8 * (20_000 - programs));
}

#[test]
fn flushes_wait_for_the_cells_and_protected_buffers_do_not() {
    let mut parameters = small();
    let flushed = |parameters: &Parameters| {
        let model = parameters.build().unwrap();
        let mut ssd = Ssd::new(&model);
        send(&mut ssd, 0, 0, 8, true);
        ssd.flush(1_000_000_000);
        send(&mut ssd, 2_000_000_000, 0, 8, true);
        ssd.flush(2_000_000_000 + 11_280).completed_ns - 2_000_011_280
    };
    // The transfer began when the page had arrived, before the flush did.
    assert_eq!(flushed(&parameters), 505_120);
    parameters.controller.power_loss_protection = true;
    assert_eq!(flushed(&parameters), 10_000);
}

#[test]
fn small_flushed_writes_fill_whole_cell_pages() {
    let mut parameters = small();
    parameters.flash.cell_page_bytes = Some(16_384);
    let model = parameters.build().unwrap();
    let mut ssd = Ssd::new(&model);
    let mut now = 0;
    for n in 0..100 {
        now += send(&mut ssd, now, n * 8, 8, true);
        now = ssd.flush(now).completed_ns;
    }
    assert_eq!(ssd.traffic().destaged, 4 * ssd.traffic().written);
}

#[test]
fn discarded_pages_are_not_collected() {
    let mut parameters = small();
    parameters.capacity_bytes = 80 << 20;
    parameters.flash.blocks_per_die = 5;
    parameters.filled = Filled::Full;
    let amplification = |discard: bool| {
        let model = parameters.build().unwrap();
        let mut ssd = Ssd::new(&model);
        if discard {
            // All but the first eighth.
            let eighth = model.blocks / 8;
            ssd.discard(0, eighth, model.blocks - eighth);
            assert_eq!(send(&mut ssd, 1_000, eighth + 800, 8, false), 10_000 + 1_280);
        }
        let mut dice = Pcg64Mcg::new(6);
        let mut now = 1_000_000;
        for _ in 0..40_000 {
            let page = u64::from(below(&mut dice, 2048));
            now += send(&mut ssd, now, page * 8, 8, true);
        }
        ssd.flush(now);
        ssd.traffic().destaged as f64 / (ssd.traffic().written - ssd.traffic().absorbed) as f64
    };
    let [kept, gone] = [amplification(false), amplification(true)];
    assert!(kept > 1.2 && gone < 1.1, "{kept} and {gone}");
}

#[test]
fn a_part_of_a_page_is_read_before_it_is_written() {
    let model = small().build().unwrap();
    let programmed = |blocks: u64| {
        let mut ssd = Ssd::new(&model);
        send(&mut ssd, 0, 0, 8, true);
        send(&mut ssd, 1_000_000_000, 0, blocks, true);
        ssd.flush(1_000_000_000).completed_ns
    };
    // Five blocks fewer on the link, but the page is sensed and carried first.
    assert_eq!(programmed(3) - programmed(8), 50_000 + 5_120 - 5 * 160);
}

#[test]
fn a_page_that_is_written_in_part_twice_is_still_read_before() {
    let mut parameters = small();
    parameters.flash.cell_page_bytes = Some(16_384);
    let model = parameters.build().unwrap();
    let flushed = |parts: &[[u64; 2]]| {
        let mut ssd = Ssd::new(&model);
        send(&mut ssd, 0, 0, 8, true);
        ssd.flush(1_000_000);
        for &[block, count] in parts {
            send(&mut ssd, 1_000_000_000, block, count, true);
        }
        ssd.flush(2_000_000_000).completed_ns
    };
    let whole = flushed(&[[0, 8]]);
    assert_eq!(flushed(&[[0, 3]]) - whole, 50_000 + 5_120);
    assert_eq!(flushed(&[[0, 3], [3, 3]]) - whole, 50_000 + 5_120);
    assert_eq!(flushed(&[[0, 4], [4, 4]]), whole, "both are all of it");
}

#[test]
fn a_drive_that_uses_little_of_its_flash_can_begin_in_every_state() {
    for filled in [Filled::Empty, Filled::Full, Filled::SteadyState] {
        for capacity_bytes in [4096, 16 << 20] {
            let model = Parameters { filled, capacity_bytes, ..generic() }.build().unwrap();
            let mut ssd = Ssd::new(&model);
            let last = model.blocks - 8;
            let is_held = send(&mut ssd, 0, last, 8, false) > 50_000;
            assert_eq!(is_held, filled != Filled::Empty);
            send(&mut ssd, 1_000_000_000, last, 8, true);
            assert_eq!(send(&mut ssd, 1_000_020_000, last, 8, false), 10_000 + 1_280);
        }
    }
}

#[test]
fn a_terabyte_nobody_wrote_to_takes_little_memory() {
    for filled in [Filled::Full, Filled::SteadyState] {
        let parameters = Parameters { filled, ..generic() };
        let model = parameters.build().unwrap();
        let mut ssd = Ssd::new(&model);
        let far = model.blocks - 8;
        assert!(send(&mut ssd, 0, far, 8, false) > 50_000, "it holds data");
        send(&mut ssd, 1_000_000_000, far, 8, true);
        assert_eq!(send(&mut ssd, 1_000_020_000, far, 8, false), 10_000 + 1_280);
    }
}

#[test]
fn a_drive_with_a_queue_of_one_does_one_thing_after_the_other() {
    let mut parameters = Parameters { filled: Filled::Full, ..small() };
    let mut completed = |queue_depth| {
        parameters.controller.queue_depth = queue_depth;
        let model = parameters.build().unwrap();
        let mut ssd = Ssd::new(&model);
        let read =
            |page: u64| Command { block: page * 8, count: 8, write: false, synchronous: true };
        let all: Vec<_> = (0..4).map(|page| ssd.act(1000, read(page), IoFlags::empty())).collect();
        all.iter().map(|done| (done.completed_ns - 1000, done.parts.waited_ns)).collect::<Vec<_>>()
    };
    let (alone, _) = completed(None)[0];
    let one_by_one: Vec<_> = (1..=4).map(|n| (n * alone, (n - 1) * alone)).collect();
    assert_eq!(completed(Some(1)), one_by_one);
    // The four dies are on channels of their own, so they share only the link.
    assert!(completed(None)[3].0 < 2 * alone);
    assert_eq!(completed(Some(4)), completed(None));
    parameters.controller.queue_depth = Some(0);
    assert!(parameters.build().unwrap_err().to_string().contains("queue_depth"));
}

#[test]
fn shipped_drives_can_be_built_and_name_their_sources_and_wrong_files_are_refused() {
    for (name, text) in SHIPPED {
        let shipped = Parameters::parse(text, name).unwrap();
        assert_eq!(&shipped.name, name);
        shipped.build().unwrap();
        for key in ["capacity_bytes", "filled", "flash", "controller"] {
            assert!(shipped.sources.contains_key(key), "{name}: where does {key} come from?");
        }
    }
    let (_, text) = SHIPPED[0];
    for (from, to, word) in [
        ("read_ms = 0.05", "read_ms = -1.0", "read_ms"),
        ("idle_w = 1.0", "idle_w = inf", "power.idle_w"),
        ("\npage_bytes = 4096", "\npage_bytes = 1000", "page_bytes"),
        ("blocks_per_die = 2000", "blocks_per_die = 1864", "spare"),
        ("channels = 8", "channels = 8\ncolour = 1", "colour"),
        ("channels = 8", "channels = 4000000", "pages"),
        ("pages_per_block = 4096", "pages_per_block = 36864", "pages_per_block: 36864"),
    ] {
        let error = Parameters::parse(&text.replacen(from, to, 1), "x")
            .and_then(|p| p.build())
            .unwrap_err()
            .to_string();
        assert!(error.contains(word), "{error}");
    }
}
