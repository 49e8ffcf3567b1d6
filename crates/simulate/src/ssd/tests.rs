//! Tests of the solid-state drive against what follows from its parameters.

use super::*;
use crate::command::Command;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

fn generic() -> Parameters {
    let (name, text) = SHIPPED[0];
    Parameters::parse(text, name).expect("the shipped file is valid")
}

/// The generic drive with 64 MiB, empty, so that tests stay short.
fn small() -> Parameters {
    let mut parameters = generic();
    parameters.capacity_bytes = 64 << 20;
    parameters.flash.blocks_per_die = 5;
    parameters.filled = Filled::Empty;
    parameters.controller.write_buffer_bytes = 1 << 20;
    parameters
}

/// One die of 200 blocks of 64 pages, of which this share is seen by the host.
fn one_die(used: f64) -> (Flash, u32) {
    let flash = Flash {
        channels: 1,
        dies_per_channel: 1,
        blocks_per_die: 201,
        pages_per_block: 64,
        ..generic().flash
    };
    (flash, (200.0 * 64.0 * used) as u32)
}

/// Pages programmed per page written, over the last `counted` of all writes.
fn amplification(used: f64, counted: u32, mut next: impl FnMut(u32) -> u32) -> f64 {
    let (flash, pages) = one_die(used);
    let mut ftl = Ftl::new(&flash, pages);
    let mut moved = 0;
    for n in 0..pages + 6 * counted {
        let page = if n < pages { n } else { next(pages) };
        let done = ftl.program(page);
        if n >= pages + 5 * counted {
            moved += done.moved;
        }
    }
    1.0 + f64::from(moved) / f64::from(counted)
}

/// Lambert's W between -1 and 0, by Newton's method.
fn lambert(x: f64) -> f64 {
    (0..60).fold(-0.1, |w: f64, _| w - (w * w.exp() - x) / (w.exp() * (1.0 + w)))
}

#[test]
fn random_writes_are_amplified_as_greedy_collection_is_known_to() {
    // Desnoyers, "Analytic models of SSD write performance", ACM Transactions on Storage 10 (2014), greedy cleaning.
    for used in [0.7, 0.8, 0.9] {
        let mut dice = Pcg64Mcg::new(3);
        let found = amplification(used, 60_000, |pages| {
            ((u128::from(dice.next_u64()) * u128::from(pages)) >> 64) as u32
        });
        let (per_block, alpha) = (64.0, 1.0 / used);
        let grown = (1.0 + 0.5 / per_block) * alpha;
        let left = 0.5 - per_block / alpha * lambert(-grown * (-grown).exp());
        let truth = per_block / (per_block - (left - 1.0));
        assert!((found / truth - 1.0).abs() < 0.02, "{used}: {found} for {truth}");
    }
}

#[test]
fn sequential_writes_are_not_amplified() {
    let mut at = 0;
    let found = amplification(0.99, 30_000, |pages| {
        let page = at;
        at = (at + 1) % pages;
        page
    });
    assert_eq!(found, 1.0);
}

fn send(ssd: &mut Ssd<'_>, now_ns: u64, block: u64, count: u64, write: bool) -> u64 {
    ssd.serve(now_ns, Command { block, count, write, synchronous: true }).completed_ns - now_ns
}

#[test]
fn an_idle_drive_takes_the_sum_of_its_parts() {
    let model = small().build().unwrap();
    let mut ssd = Ssd::new(&model);
    let second = 1_000_000_000;
    // Command 10 us, link of 3.2 GB/s: 1.28 us a page.
    assert_eq!(send(&mut ssd, 0, 0, 8 * 64, true), 10_000 + 64 * 1_280);
    // Sense 50 us, channel of 800 MB/s: 5.12 us a page.
    assert_eq!(send(&mut ssd, second, 0, 8, false), 10_000 + 50_000 + 5_120 + 1_280);
    assert_eq!(send(&mut ssd, second + 1_000_000, 3, 1, false), 10_000 + 50_000 + 5_120 + 160);
    // 32 pages on 32 dies: four on each channel.
    let all = 10_000 + 50_000 + 4 * 5_120 + 32 * 1_280;
    assert_eq!(send(&mut ssd, 2 * second, 0, 8 * 32, false), all);
    // Never written: nothing to sense.
    assert_eq!(send(&mut ssd, 3 * second, 8 * 1000, 8, false), 10_000 + 1_280);
    // Just written: still in the buffer.
    send(&mut ssd, 4 * second, 0, 8, true);
    assert_eq!(send(&mut ssd, 4 * second + 20_000, 0, 8, false), 10_000 + 1_280);
}

#[test]
fn writes_beyond_the_buffer_run_at_the_speed_of_the_dies() {
    let model = small().build().unwrap();
    let mut ssd = Ssd::new(&model);
    let mut now = 0;
    for n in 0..128 {
        now += send(&mut ssd, now, n * 1024, 1024, true);
    }
    let rate = f64::from(64 << 20) * 1e9 / now as f64;
    let truth = 32.0 * 4096.0 / 0.5e-3;
    // The megabyte of the buffer comes for free.
    assert!((rate / truth - 1.0).abs() < 0.03, "{rate} for {truth}");
}

#[test]
fn a_part_of_a_page_is_read_before_it_is_written() {
    let model = small().build().unwrap();
    let read_behind = |blocks: u64| {
        let mut ssd = Ssd::new(&model);
        // Pages 0 and 32 live on the same die.
        send(&mut ssd, 0, 0, 8 * 33, true);
        send(&mut ssd, 1_000_000_000, 0, blocks, true);
        let time = send(&mut ssd, 1_000_020_000, 8 * 32, 8, false);
        assert_eq!(ssd.traffic.destaged, 8 * 34);
        time
    };
    // Five blocks fewer on the link, and the cells are sensed before.
    assert_eq!(read_behind(3) - read_behind(8), 50_000 - 5 * 160);
}

#[test]
fn the_shipped_drive_names_its_sources_and_wrong_files_are_refused() {
    let shipped = generic();
    for key in ["capacity_bytes", "filled", "flash", "controller"] {
        assert!(shipped.sources.contains_key(key), "where does {key} come from?");
    }
    let (_, text) = SHIPPED[0];
    for (from, to, word) in [
        ("read_ms = 0.05", "read_ms = -1.0", "read_ms"),
        ("page_bytes = 4096", "page_bytes = 1000", "page_bytes"),
        ("blocks_per_die = 1096", "blocks_per_die = 1025", "spare"),
        ("channels = 8", "channels = 8\ncolour = 1", "colour"),
        ("channels = 8", "channels = 4000000", "pages"),
    ] {
        let error = Parameters::parse(&text.replacen(from, to, 1), "x")
            .and_then(|p| p.build())
            .unwrap_err()
            .to_string();
        assert!(error.contains(word), "{error}");
    }
}
