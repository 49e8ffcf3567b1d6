//! The shipped systems under the workloads that the self-scaling benchmark chose for the real ones,
//! compared with the papers' results (Chen & Patterson 1994: "self-scaling" and "Unix I/O").

use super::host::{Access, BLOCK};
use super::tests::{measured, op, place};
use super::*;
use ioscape_schema::Request;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

const MIB: u64 = 1 << 20;

/// The throughput, in megabytes (10^6) per second, of one process, half of whose requests are
/// sequential.
fn speed(system: &SystemParameters, bytes: u64, size: u64, reads: f64) -> f64 {
    let mut dice = Pcg64Mcg::new(9);
    let size = size / BLOCK * BLOCK;
    let mut last = 0;
    let next = |_| {
        let op = op(&mut dice, reads);
        let follows = dice.next_u64() & 1 == 0 && last + 2 * size <= bytes;
        last = if follows { last + size } else { place(&mut dice, bytes, size) };
        Request { op, offset: last, len: size as u32 }
    };
    measured(system, bytes, next, Access::Buffered) / 1e6
}

/// Asserts that a throughput is within this share of the wanted one.
fn close(found: f64, wanted: f64, share: f64) {
    assert!((found / wanted - 1.0).abs() < share, "{found} MB/s for {wanted}");
}

#[test]
fn memory_is_as_fast_as_reported() {
    // Unix I/O, table 3, at the nominal sizes of its table 2; the HP 730 with its small cache: self-scaling, figure 20.
    for (name, set, size, wanted, share) in [
        ("decstation-5000-sprite", 2, 32, 6.7, 0.05),
        ("hp-730-hpux9", 39, 40, 7.7, 0.15),
        ("hp-730", 2, 32, 30.0, 0.1),
        // The DECstation's disk is replaced by a similar one, to which its writes go.
        ("decstation-5000-ultrix", 2, 13, 0.6, 0.35),
        // The real system writes inodes to disk; 3.0 MB/s is the throughput of its reads alone
        // (figure 12).
        ("sparcstation-1", 12, 20, 3.0, 0.05),
    ] {
        close(speed(&find(name).unwrap(), set * MIB, size << 10, 0.5), wanted, share);
    }
}

#[test]
fn sprite_has_three_plateaus_with_their_own_ratio_of_writes_to_reads() {
    // Self-scaling, figure 8: equal at 2 MB, reads much faster at 15 MB, writes not much slower at
    // 36 MB.
    let sprite = find("decstation-5000-sprite").unwrap();
    let ratio = |set| {
        let at = |reads| speed(&sprite, set * MIB, 40 << 10, reads);
        at(0.0) / at(1.0)
    };
    let (memory, between, disk) = (ratio(2), ratio(15), ratio(36));
    assert!(
        (memory - 1.0).abs() < 0.01 && between < 0.25 && disk > 0.6,
        "{memory} {between} {disk}"
    );
}

#[test]
fn flushing_costs_the_more_the_more_is_dirty() {
    // Unix I/O, section 4.2: 8 MB/s instead of 30 at 39 MB, and a smaller loss on smaller sets
    // (figure 8).
    let (flushed, never) = (find("hp-730-hpux9").unwrap(), find("hp-730-no-flush").unwrap());
    let slower = |set| {
        let at = |system| speed(system, set * MIB, 40 << 10, 0.5);
        at(&never) / at(&flushed)
    };
    let found = [2, 10, 39].map(slower);
    assert!(found[0] < 1.2 && found[0] < found[1] && found[1] < 2.0, "{found:?}");
    assert!((3.0..5.0).contains(&found[2]), "{found:?}");
}

#[test]
fn cached_writes_over_a_network_win_by_the_reported_factors() {
    // Unix I/O, figure 6, at the nominal sizes of 22 and 11 KB: 6 times as fast for reads alone, 25
    // times with a fifth of writes, a hundred times for writes alone.
    let (nfs, dux) = (find("sparc-nfs").unwrap(), find("hp-dux").unwrap());
    for (reads, wanted, share) in [(1.0, 6.0, 0.5), (0.8, 25.0, 0.25), (0.0, 100.0, 0.25)] {
        let [dux, nfs] = [(&dux, 22), (&nfs, 11)]
            .map(|(system, size)| speed(system, 2 * MIB, size << 10, reads));
        close(dux / nfs, wanted, share);
    }
}
