//! The fit must recover known simulated drives, which are measured in place of real ones.

use super::*;
use crate::command::Command;
use crate::drive::Status;
use crate::ssd::{Filled, Limit, Only, Parameters, Ssd, find};
use ioscape_schema::{Access, CourseKind, IoFlags, Op, Request, Stop, Sustained};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Bytes of the set.
pub const SET: u64 = 256 << 20;
/// Bytes of the write buffer.
pub const BUFFER: u64 = 1 << 20;

/// Requests of `size_mean` bytes at random places in the set, or sequential ones.
fn requests(workload: &Workload) -> Box<dyn FnMut(usize) -> Request> {
    let Workload { unique_bytes, size_mean, read_frac, seq_frac, queue_depth, .. } = *workload;
    let mut dice = Pcg64Mcg::new(u128::from(size_mean) << 32 | u128::from(queue_depth));
    let mut share = move || (dice.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let mut end = 0;
    Box::new(move |_| {
        let [place, read, follows] = [share(), share(), share()];
        let last = unique_bytes - size_mean;
        let offset =
            if follows < seq_frac && end <= last { end } else { (place * last as f64) as u64 };
        let offset = offset >> 12 << 12;
        end = offset + size_mean;
        Request {
            op: if read < read_frac { Op::Read } else { Op::Write },
            offset,
            len: size_mean as u32,
        }
    })
}

/// A drive whose numbers are all known and not round. Its channels together are slower than its
/// link: behind a slower link, one page's time on a channel would be common to all reads, as the
/// command time is.
fn known() -> Parameters {
    let mut p = find("generic-ssd").expect("it is shipped");
    p.filled = Filled::Full;
    (p.flash.channels, p.flash.dies_per_channel) = (4, 2);
    (p.flash.read_ms, p.flash.program_ms, p.flash.erase_ms) = (0.0613, 0.427, 0.0);
    (p.flash.cell_page_bytes, p.flash.planes_per_die) = (Some(16384), None);
    (p.flash.pages_per_block, p.flash.suspend_ms) = (512, Some(0.0));
    p.flash.channel_bytes_per_s = 2.71e8;
    p.controller.command_ms = 0.0127;
    p.controller.write_command_ms = Some(0.0193);
    p.controller.flush_ms = Some(0.0731);
    p.controller.link_bytes_per_s = 1.37e9;
    p.controller.link_from_host_bytes_per_s = Some(0.83e9);
    p.controller.write_buffer_bytes = BUFFER;
    super::fit::sized(p, SET, 1.0)
}

/// A drive with other numbers: its shape, the bytes of a cell page, the milliseconds of reading and
/// programming, a channel's rate, the milliseconds of a command, a write command and a flush, and
/// the link's two rates.
fn other((channels, dies): (u32, u32), cell_page_bytes: u32, numbers: [f64; 8]) -> Parameters {
    let mut p = known();
    (p.flash.channels, p.flash.dies_per_channel) = (channels, dies);
    p.flash.cell_page_bytes = Some(cell_page_bytes);
    let [read, program, channel, command, write_command, flush, link, from_host] = numbers;
    (p.flash.read_ms, p.flash.program_ms, p.flash.channel_bytes_per_s) = (read, program, channel);
    p.controller.command_ms = command;
    p.controller.write_command_ms = Some(write_command);
    p.controller.flush_ms = Some(flush);
    p.controller.link_bytes_per_s = link;
    p.controller.link_from_host_bytes_per_s = Some(from_host);
    super::fit::sized(p, SET, 1.0)
}

/// The keys of the numbers.
pub const NAMES: [&str; 8] = [
    "flash.read_ms",
    "flash.program_ms",
    "flash.channel_bytes_per_s",
    "controller.command_ms",
    "controller.write_command_ms",
    "controller.flush_ms",
    "controller.link_bytes_per_s",
    "controller.link_from_host_bytes_per_s",
];

/// The numbers of channels, of dies per channel, and of pages that a die programs at once.
pub fn shape(p: &Parameters) -> [u32; 3] {
    [p.flash.channels, p.flash.dies_per_channel, p.flash.batch_pages()]
}

/// The numbers that the fit moves.
pub fn numbers(p: &Parameters) -> [f64; 8] {
    let (flash, controller) = (&p.flash, &p.controller);
    [
        flash.read_ms,
        flash.program_ms,
        flash.channel_bytes_per_s,
        controller.command_ms,
        controller.write_command_ms.unwrap_or(0.0),
        controller.flush_ms.unwrap_or(0.0),
        controller.link_bytes_per_s,
        controller.link_from_host_bytes_per_s.unwrap_or(0.0),
    ]
}

/// Fits a drive that is measured without noise.
pub fn fitted(truth: &Parameters) -> Fitted {
    fitted_with(truth, |_| {})
}

/// Fits a drive after `change` has altered its measurements.
pub fn fitted_with(truth: &Parameters, change: impl FnMut(&mut Measurement)) -> Fitted {
    let model = truth.build().expect("the drive can be built");
    let mut drive = Replica::new(&model, &requests);
    let mut measured = Vec::new();
    let Ok(()) = all(&probes(SET, true), &mut drive, &mut measured);
    measured.iter_mut().for_each(change);
    fit(&measured, &requests, &|| false).expect("a drive is found")
}

/// The relative errors of the fitted numbers of a drive measured without noise; its shape must be
/// recovered.
fn off(truth: &Parameters) -> [f64; 8] {
    found(truth).0
}

/// As [`off`], with the numbers reported as undetermined; all others must be within 2 %.
fn found(truth: &Parameters) -> ([f64; 8], Vec<&'static str>) {
    let Fitted { parameters: found, untold, .. } = fitted(truth);
    let [found_numbers, numbers] = [numbers(&found), numbers(truth)];
    let off: [f64; 8] = std::array::from_fn(|at| found_numbers[at] / numbers[at] - 1.0);
    assert_eq!(shape(&found), shape(truth), "{off:?}");
    let is_right = |(name, off): (&&str, &f64)| untold.contains(name) || off.abs() < 0.02;
    assert!(NAMES.iter().zip(&off).all(is_right), "{untold:?} {off:?}");
    (off, untold)
}

#[test]
fn a_known_drive_is_found_again_without_noise() {
    let off = off(&known());
    assert!(off.iter().all(|e| e.abs() < 0.002), "{off:?}");
}

/// Drives that differ in shape and in pages per program operation; large reads distinguish the link
/// from the channels on all of them.
fn others() -> [Parameters; 4] {
    [
        ((2, 4), 16_384, [0.0847, 0.311, 6.7e8, 0.0091, 0.0133, 0.0411, 1.91e9, 0.83e9]),
        ((8, 2), 8192, [0.0453, 0.613, 3.1e8, 0.0211, 0.0157, 0.1031, 3.07e9, 1.53e9]),
        ((4, 4), 32_768, [0.0711, 0.813, 2.7e8, 0.0111, 0.0257, 0.0531, 1.27e9, 1.03e9]),
        ((2, 8), 8192, [0.0571, 0.513, 6.7e8, 0.0151, 0.0177, 0.0831, 2.27e9, 1.13e9]),
    ]
    .map(|(shape, cell_page_bytes, numbers)| other(shape, cell_page_bytes, numbers))
}

#[test]
#[ignore = "some minutes of fits; the full run has it"]
fn drives_of_other_shapes_are_found_again_without_noise() {
    let found = std::thread::scope(|scope| {
        let fits = others().map(|truth| scope.spawn(move || off(&truth)));
        fits.map(|one| one.join().expect("a drive is found, shape and all"))
    });
    assert!(found.iter().flatten().all(|off| off.abs() < 0.002), "{found:?}");
}

#[test]
#[ignore = "two minutes of fits; the full run has it"]
fn a_flush_behind_programming_and_a_link_behind_a_single_channel_are_said_not_to_be_told() {
    // A die takes the first page that arrives, so it programs while the flush begins; and reads of
    // any size take one page's time on the link and one command.
    let truth = other((1, 4), 4096, [0.0373, 0.491, 7.3e8, 0.0061, 0.0137, 0.0139, 2.83e9, 3.1e8]);
    let (off, untold) = found(&truth);
    let reads =
        ["controller.command_ms", "controller.link_bytes_per_s", "flash.channel_bytes_per_s"];
    for hidden in reads.into_iter().chain(["controller.flush_ms"]) {
        assert!(untold.contains(&hidden), "{untold:?} {off:?}");
    }
}

#[test]
fn large_reads_as_quick_as_small_ones_by_chance_leave_a_drive_that_can_be_built() {
    let model = known().build().expect("the drive can be built");
    let mut drive = Replica::new(&model, &requests);
    let alone = |p: &Workload| p.queue_depth == 1 && p.read_frac == 1.0;
    let asked: Vec<Workload> = probes(SET, true).into_iter().filter(alone).collect();
    let mut measured = Vec::new();
    let Ok(()) = all(&asked, &mut drive, &mut measured);
    for one in measured.iter_mut().filter(|m| m.workload.read_frac == 1.0) {
        let small = one.workload.size_mean.min(4096) as f64;
        one.throughput_bytes_per_s *= one.workload.size_mean as f64 / small;
    }
    let found = fit(&measured, &requests, &|| false).expect("a drive is found").parameters;
    assert!(found.build().is_ok(), "{:?}", found.flash);
}

/// A target no larger than the set.
const NAMED: Named<'static> = Named {
    name: "d",
    capacity_bytes: SET,
    set_bytes: SET,
    turns: Turns::No,
    write_buffer_bytes: BUFFER,
    sustained: None,
    fitted_to: &[],
    twice: [&[], &[]],
    repeated: [&[], &[]],
};

/// Judges the twin of a target of `capacity_bytes`: a known drive, recovered on a set, which
/// predicts the measurements there exactly.
fn judged(capacity_bytes: u64, rotates: bool, sustained: Option<&Endured>) -> Verdict {
    let turns = if rotates { Turns::Yes } else { Turns::No };
    let named = Named { capacity_bytes, turns, sustained, ..NAMED };
    judged_by(known(), &probes(SET, false)[..6], &named)
}

/// Measures these workloads on a drive.
fn measured(truth: &Parameters, workloads: &[Workload]) -> Vec<Measurement> {
    let model = truth.build().expect("the drive can be built");
    let mut measured = Vec::new();
    let Ok(()) = all(workloads, &mut Replica::new(&model, &requests), &mut measured);
    measured
}

/// Judges an exactly recovered drive by these workloads.
fn judged_by(truth: Parameters, workloads: &[Workload], named: &Named<'_>) -> Verdict {
    let unseen = measured(&truth, workloads);
    judged_of(truth, &unseen, named)
}

/// Judges an exactly recovered drive by these measurements.
fn judged_of(truth: Parameters, unseen: &[Measurement], named: &Named<'_>) -> Verdict {
    let fitted = Fitted {
        looked: Looked::Everywhere,
        ended: Ended::Explained,
        ..Fitted::new(truth, Vec::new())
    };
    verdict(fitted, unseen, named, &requests).expect("the drive can be built")
}

#[test]
fn a_twin_that_was_judged_on_a_part_of_its_target_says_so() {
    let said = |verdict: &Verdict| verdict.summary.join("\n");
    let part = judged(4 * SET, false, None);
    assert!(said(&part).contains("judged on a set of 256 MiB of 1 GiB"), "{}", said(&part));
    assert!(said(&part).contains("a virtual machine's host, held the set"), "{}", said(&part));
    assert_eq!(part.parameters.status, Status::Calibrated);
    let arm = judged(4 * SET, true, None);
    assert!(said(&arm).contains("not calibrated: the device rotates"), "{}", said(&arm));
    assert_eq!(arm.parameters.status, Status::NotCalibrated);
    for rotates in [false, true] {
        // A target larger by less than a page counts as measured in full.
        let whole = judged(SET + 1, rotates, None);
        assert!(!said(&whole).contains("judged on a set of"), "{}", said(&whole));
        assert_eq!(whole.parameters.status, Status::Calibrated);
    }
}

#[test]
fn the_source_of_a_twins_size_is_the_one_that_it_has() {
    let [whole, large] = [4 * SET, 32 << 40].map(|bytes| judged(bytes, false, None).parameters);
    assert_eq!(whole.capacity_bytes, 4 * SET);
    assert_eq!(whole.sources["capacity_bytes"], "size of the target");
    assert_eq!(large.capacity_bytes, SET, "none of 32 TiB can be simulated");
    assert_eq!(large.sources["capacity_bytes"], "size of the set that was measured");
    let mut many = known();
    (many.flash.channels, many.flash.dies_per_channel) = (16, 8);
    let many = judged_by(many, &[], &NAMED).parameters;
    // Of 7 blocks of 512 pages on each of 128 dies, 256 MiB are a seventh.
    assert!(many.sources["filled"].starts_with("600 % spare"), "{}", many.sources["filled"]);
    for twin in [whole, large, many] {
        let flash = &twin.flash;
        let pages = flash.channels * flash.dies_per_channel * flash.blocks_per_die;
        let bytes = f64::from(pages * flash.pages_per_block) * f64::from(flash.page_bytes);
        let spare = format!("{:.0} % spare", 100.0 * (bytes / twin.capacity_bytes as f64 - 1.0));
        for key in ["filled", "flash"] {
            assert!(twin.sources[key].contains(&spare), "{spare}: {}", twin.sources[key]);
        }
    }
}

/// The throughput, in bytes per second, of random 4 KiB writes at queue depth 16 over a whole
/// drive, after `before` other writes.
fn rewritten(drive: &Parameters, before: u32) -> f64 {
    const COUNTED: u32 = 16_384;
    let model = drive.build().expect("the drive can be built");
    let (mut ssd, mut dice) = (Ssd::new(&model), Pcg64Mcg::new(5));
    let mut flying = BinaryHeap::from([Reverse(0); 16]);
    let mut write = |_: u64, _: u32| {
        let Reverse(now_ns) = flying.pop().expect("some are in flight");
        let block = dice.next_u64() % (SET >> 12) * 8;
        let command = Command { block, count: 8, write: true, synchronous: true };
        flying.push(Reverse(ssd.act(now_ns, command, IoFlags::empty()).completed_ns));
        now_ns
    };
    let begun_ns = (0..before).fold(0, &mut write);
    let ended_ns = (0..COUNTED).fold(0, &mut write);
    f64::from(COUNTED) * 4096.0 * 1e9 / (ended_ns - begun_ns) as f64
}

#[test]
fn writes_to_all_of_a_twin_stay_as_fast_as_they_were_judged_however_many_there_are() {
    let twin = judged(SET, false, None).parameters;
    let fitted = rewritten(&known(), 20_000);
    // The larger number overwrites the set six times.
    for before in [20_000, 400_000] {
        let told = rewritten(&twin, before);
        assert!((told / fitted - 1.0).abs() < 0.15, "{before}: {told:.0} for {fitted:.0}");
    }
}

#[test]
fn writes_to_a_small_set_are_judged_with_the_buffer_with_which_the_drive_was_fitted() {
    let set = 64 << 20;
    let truth = super::fit::sized(known(), set, 1.0);
    let mut writes = probes(set, true);
    writes.retain(|w| w.read_frac == 0.0 && w.access == Access::Direct);
    let named =
        Named { capacity_bytes: set, set_bytes: set, write_buffer_bytes: 16 << 20, ..NAMED };
    let Verdict { parameters, told, summary } = judged_by(truth, &writes, &named);
    let errors = Errors::of(told.iter().map(|one| one.bytes_per_s)).expect("writes");
    assert!(errors.median < 0.05 && errors.p90 < 0.05, "{errors}");
    assert_eq!(parameters.controller.write_buffer_bytes, 16 << 20);
    assert!(summary.iter().any(|said| said.contains("rewrites are merged")), "{summary:#?}");
    let small = judged(SET, false, None);
    assert!(!small.summary.iter().any(|said| said.contains("rewrites are merged")));
}

#[test]
fn a_limit_that_cannot_be_simulated_is_left_out_of_the_drive_and_said() {
    let only = Some(Only::Writes);
    let limit = |credit| Limit { operations_per_s: None, bytes_per_s: Some(4e6), only, credit };
    let mut found = Endured::default();
    found.limits.extend([limit(5e11), limit(5e8)]);
    let Verdict { parameters, summary, .. } = judged(SET, false, Some(&found));
    assert_eq!(parameters.limits, [limit(5e8)]);
    assert!(parameters.build().is_ok());
    let why = "a credit of 500000000000 is not between 0 and a day's";
    assert!(summary.iter().any(|said| said.contains(why)), "{summary:#?}");
}

/// The reported reason why a twin is not calibrated; empty if it is.
fn why(verdict: &Verdict) -> String {
    let is_why = |said: &&String| said.starts_with("not calibrated: ");
    let said: Vec<&str> = verdict.summary.iter().filter(is_why).map(String::as_str).collect();
    assert_eq!(said.is_empty(), verdict.parameters.status == Status::Calibrated, "{said:?}");
    said.join("\n")
}

#[test]
fn a_twin_of_a_machine_that_others_kept_busy_is_not_called_calibrated() {
    let quiet = measured(&known(), &probes(SET, false)[..6]);
    let mut busy = quiet.clone();
    busy.iter_mut().for_each(|one| one.disturbed = true);
    let of = |fitted_to: &[Measurement], unseen: &[Measurement]| {
        why(&judged_of(known(), unseen, &Named { fitted_to, ..NAMED }))
    };
    assert_eq!(of(&quiet, &quiet), "");
    assert!(of(&quiet, &busy).contains("6 of 6 that judge it"), "{}", of(&quiet, &busy));
    assert!(of(&busy, &quiet).contains("6 of 6 workloads"), "{}", of(&busy, &quiet));
}

#[test]
fn a_drive_that_became_another_while_it_was_measured_has_no_calibrated_twin() {
    let first = measured(&known(), &references(SET));
    let mut again = first.clone();
    for one in &mut again {
        one.throughput_bytes_per_s /= 3.0;
        one.throughput_ci95 = one.throughput_ci95.map(|rate| rate / 3.0);
    }
    let of = |again: &[Measurement]| {
        let twice: [&[Measurement]; 2] = [&first, again];
        let named = Named { twice, repeated: [&first, &first], ..NAMED };
        why(&judged_by(known(), &probes(SET, false)[..6], &named))
    };
    assert_eq!(of(&first), "");
    assert!(of(&again).contains("the drive changed"), "{}", of(&again));
}

#[test]
fn a_part_of_what_a_cache_may_hide_or_what_may_rotate_has_no_calibrated_twin() {
    let of = |capacity_bytes, turns| {
        let named = Named { capacity_bytes, turns, ..NAMED };
        why(&judged_by(known(), &probes(SET, false)[..6], &named))
    };
    let hidden = of(4 * SET, Turns::Hidden);
    assert!(hidden.contains("faster than anything that does"), "{hidden}");
    assert!(hidden.contains("queue/rotational") && !hidden.contains("USB"), "{hidden}");
    let perhaps = of(4 * SET, Turns::Perhaps);
    assert!(perhaps.contains("the device may rotate"), "{perhaps}");
    let whole = [Turns::Hidden, Turns::Perhaps].map(|turns| of(SET, turns));
    assert_eq!(whole, ["", ""], "all of it was measured");
}

/// A workload of large writes, and its throughput on a known drive.
fn large_writes() -> (Workload, f64) {
    let small = probes(SET, true)[0].clone();
    let workload = Workload { size_mean: 256 << 10, read_frac: 0.0, queue_depth: 8, ..small };
    let told = measured(&known(), std::slice::from_ref(&workload))[0].throughput_bytes_per_s;
    (workload, told)
}

/// The reported reason why that drive's twin is not calibrated if large writes had this course and
/// these limits were found.
fn why_after(course: Sustained, disturbed: bool, limits: &[Limit]) -> String {
    let mut found = Endured::default();
    found.limits.extend(limits);
    found.measurements.push(Measurement {
        sustained: Some(Box::new(course)),
        disturbed,
        ..Measurement::empty(large_writes().0, Stop::TimeCap)
    });
    why(&judged(SET, false, Some(&found)))
}

#[test]
fn a_drive_that_does_not_hold_what_was_found_to_hold_is_not_called_calibrated() {
    use CourseKind::{Settled, Steady};
    let (_, told) = large_writes();
    let of = |kind, share: f64, limits: &[Limit]| {
        let course = Sustained { kind, ..course::judge(0.1, &[share * told; 40]) };
        why_after(course, false, limits)
    };
    assert_eq!([of(Settled, 0.95, &[]), of(Steady, 0.6, &[])], ["", ""]);
    let said = of(Settled, 0.1, &[]);
    assert!(said.contains("writes of 256 KiB hold ") && said.contains("drive says"), "{said}");
    assert!(!of(Steady, 0.1, &[]).is_empty() && !of(Settled, 10.0, &[]).is_empty());
    let limit = |only| {
        let bytes_per_s = Some(0.1 * told);
        Limit { operations_per_s: None, bytes_per_s, only: Some(only), credit: 0.0 }
    };
    assert_eq!(of(Settled, 0.1, &[limit(Only::Writes)]), "");
    assert_ne!(of(Settled, 0.1, &[limit(Only::Reads)]), "");
}

/// A course with these numbers of half-second steps at these rates, from which the sustained rate
/// cannot be told.
fn course_of(parts: &[(usize, f64)]) -> Sustained {
    let steps = parts.iter().flat_map(|&(count, rate)| std::iter::repeat_n(rate, count));
    let course = course::judge(0.5, &steps.collect::<Vec<f64>>());
    assert_eq!(course.kind, CourseKind::CannotBeTold, "{parts:?}");
    course
}

#[test]
fn a_drive_whose_writes_fell_too_late_to_tell_what_holds_is_not_called_calibrated() {
    let (_, told) = large_writes();
    let of = |share: f64, disturbed| {
        why_after(course_of(&[(100, told), (20, share * told)]), disturbed, &[])
    };
    let said = of(0.1, false);
    assert!(said.contains("writes of 256 KiB fell to ") && said.contains("drive says"), "{said}");
    assert_eq!(of(0.8, false), "", "a twin between the two is near both");
    assert_eq!(of(0.1, true), "", "others may have set the rate");
}

#[test]
fn a_fall_that_came_back_or_is_as_short_as_a_disturbance_leaves_a_twin_calibrated() {
    let (_, told) = large_writes();
    let of = |parts: &[(usize, f64)]| {
        let parts: Vec<_> = parts.iter().map(|(count, share)| (*count, share * told)).collect();
        why_after(course_of(&parts), false, &[])
    };
    assert_eq!(of(&[(48, 1.0), (24, 0.5), (48, 1.0)]), "", "it came back");
    assert_eq!(of(&[(114, 1.0), (6, 0.5)]), "", "three seconds");
    let said = of(&[(96, 1.0), (12, 0.5), (12, 0.25)]);
    assert!(said.contains("writes of 256 KiB fell to "), "two falls, together long: {said}");
}
