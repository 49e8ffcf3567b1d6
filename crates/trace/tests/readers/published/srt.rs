//! HP Labs' traces: hplajw of 1992, which the paper analyzes, and cello of 2003.

use super::data;
use ioscape_schema::{Io, IoFlags, IoType, Op};

#[test]
fn a_week_of_hplajw() {
    let Some((rows, info)) = data::rows(&["hplajw/ajw.1week.srt"]) else { return };
    assert_eq!(rows.len(), 44_519);
    assert_eq!(info.format, "hp-srt");
    assert_eq!(info.started_unix_ns, Some(707_184_186_000_000_000), "30 May 1992 00:03:06");
    assert_eq!((info.devices.len(), info.skipped), (2, 0));
    assert_eq!(info.devices[0].capacity_bytes, Some(113 * 8 * 1449 * 256));
    assert_eq!(info.notes["system"], "hplajw.hpl.hp.com");
    let mean_ms = |op: Option<Op>| {
        let of: Vec<u64> = rows
            .iter()
            .filter(|io| op.is_none_or(|op| io.request.op == op))
            .map(Io::physical_ns)
            .collect();
        of.iter().sum::<u64>() as f64 / of.len() as f64 / 1e6
    };
    // The paper's Table 4 for 63 days: 27.5, 24.1 and 25.5 ms.
    for (op, paper) in [(Some(Op::Read), 27.5), (Some(Op::Write), 24.1), (None, 25.5)] {
        let mean = mean_ms(op);
        assert!((mean / paper - 1.0).abs() < 0.02, "{op:?}: {mean} ms, the paper has {paper} ms");
    }
    let capacity = info.devices[0].capacity_bytes.unwrap();
    assert!(rows.iter().all(|io| io.end() <= capacity), "offsets are bytes of the whole disk");
    assert!(rows.iter().all(|io| io.queue_length > 0));
    let of = |io_type| rows.iter().filter(|io| io.io_type == io_type).count();
    assert!(of(IoType::Directory) > 0 && of(IoType::Indirect) > 0 && of(IoType::Journal) == 0);
    let sync = rows.iter().filter(|io| io.flags.contains(IoFlags::SYNC)).count();
    assert!(sync > 10_000 && sync < rows.len(), "{sync}");
}
