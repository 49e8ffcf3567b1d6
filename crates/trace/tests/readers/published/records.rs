//! Published traces of lines and records: their number, and sums that other programs took.

use super::data::rows;
use ioscape_schema::{Io, IoFlags, IoType, Op, WarningKind};
use ioscape_trace::doubts;

fn sums(rows: &[Io]) -> (usize, usize, u64) {
    let reads = rows.iter().filter(|io| io.request.op == Op::Read).count();
    (rows.len(), reads, rows.iter().map(|io| u64::from(io.request.len)).sum())
}

#[test]
fn cello_of_2003() {
    let Some((rows, info)) = rows(&["cello2003/hourly.03126.srt.bz2"]) else { return };
    assert_eq!((rows.len(), info.devices.len()), (43_000, 77));
    assert_eq!(
        info.started_unix_ns,
        Some(1_053_281_044_630_058_000),
        "18 May 2003, 11:04:04 in California"
    );
    let of = |io_type| rows.iter().filter(|io| io.io_type == io_type).count();
    assert_eq!((of(IoType::UserData), of(IoType::Inode), of(IoType::Directory)), (7842, 7279, 705));
    assert_eq!(of(IoType::Unknown), 4931 + 16_593, "types 8 and 11 are not published");
    let flagged = |flag| rows.iter().filter(|io| io.flags.contains(flag)).count();
    assert_eq!((flagged(IoFlags::SYNC), flagged(IoFlags::ASYNC)), (3582, 7279));
    assert!(doubts(&info).iter().any(|doubt| doubt.kind == WarningKind::TypesUnknown));
}

#[test]
fn one_virtual_disk_in_two_formats() {
    let vscsi = rows(&["cloudphysics/cloudPhysicsIO.vscsi"]);
    let csv = rows(&["cloudphysics/cloudPhysicsIO.csv"]);
    let (Some((vscsi, info)), Some((csv, _))) = (vscsi, csv) else { return };
    assert_eq!(info.format, "vscsi1");
    assert_eq!(sums(&vscsi).0, 113_872);
    assert_eq!(sums(&vscsi), sums(&csv));
    // The text has whole seconds; within a second, the file's order counts.
    let ops = |rows: &[Io]| {
        rows.iter()
            .filter(|io| io.request.op == Op::Write)
            .map(Io::end)
            .fold(0u64, u64::wrapping_add)
    };
    assert_eq!(ops(&vscsi), ops(&csv));
}

#[test]
fn a_cut_of_msr_cambridge() {
    let name = "msr/msr.cut.per_10k.rw_20_80.105.trace";
    let Some((rows, info)) = rows(&[name]) else { return };
    assert_eq!((info.format.as_str(), rows.len()), ("replayer", 10_000));
    assert_eq!(rows[1].request.offset, 3_159_347_200);
    assert_eq!(rows[1].queued_ns, 223_412_000);
}

#[test]
fn a_minute_of_web_search() {
    let Some((rows, info)) = rows(&["spc/wsrch-small.mqsim.trace"]) else { return };
    assert_eq!((info.format.as_str(), rows.len(), info.devices.len()), ("ssdsim", 24_783, 6));
    assert!(rows.last().is_some_and(|io| io.queued_ns == 60_066_625_000 - 11_413_000));
}

#[test]
fn measured_service_times_of_six_drives() {
    for drive in ["hp_c2247a", "hp_c2490a", "st41601n", "cheetah9LP", "barracuda", "atlas10k"] {
        let name = format!("disk-validation/{drive}.trace");
        let Some((rows, info)) = rows(&[&name]) else { return };
        assert_eq!(
            (info.format.as_str(), info.devices[0].name.as_str()),
            ("disksim-validate", drive)
        );
        assert!((8_000..12_000).contains(&rows.len()), "{drive}: {}", rows.len());
        let overlap =
            rows.windows(2).filter(|pair| pair[1].queued_ns < pair[0].completed_ns).count();
        assert_eq!(overlap, 0, "one request is outstanding at a time");
    }
}
