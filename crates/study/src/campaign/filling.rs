//! What file systems are filled with before a campaign's files are laid out in them.

use super::room::fullest;
use ioscape_schema::units::Bytes;
use ioscape_schema::{Fill, RowPlan};

/// What became of filling a file system: the files that lie there, their bytes, and the share of the space that is used, in percent.
pub fn filling(label: &str, fill: Fill, files: u64, bytes: u64, percent: f64) -> String {
    let Fill { percent: wanted, turnover } = fill;
    let turned = match turnover {
        0 => String::new(),
        n => format!("; {n} times half of the files were removed and others made"),
    };
    format!(
        "{label}, to be filled to {wanted} %, was {percent:.1} % full with {files} files of {} in all{turned}.",
        Bytes(bytes as f64)
    )
}

/// Refuses loop devices of `fs_bytes` each, so `many` of them, whose contents would take more than half of the free space.
///
/// # Errors
/// The sentence for the user.
pub fn room_to_fill(
    rows: &[RowPlan],
    fs_bytes: u64,
    many: usize,
    free_bytes: u64,
) -> Result<(), String> {
    let percent = u64::from(fullest(rows));
    let taken = (fs_bytes / 100 * percent).saturating_mul(many as u64);
    if taken <= free_bytes / 2 {
        return Ok(());
    }
    let fits = free_bytes / 2 / many.max(1) as u64 * 100 / percent.max(1);
    Err(format!(
        "file systems of {} filled to {percent} % take {} in all, and half of the free space is {}: give --fs-size {}M or less",
        Bytes(fs_bytes as f64),
        Bytes(taken as f64),
        Bytes(free_bytes as f64 / 2.0),
        fits >> 20
    ))
}

#[cfg(test)]
mod tests {
    use super::super::room::tests::cell;
    use super::*;
    use ioscape_schema::{Prepare, VxWorkload};

    #[test]
    fn what_does_not_fit_is_refused_with_what_would() {
        let mut cell = cell(Prepare::Fresh, false, VxWorkload::Write);
        let rows = |cell| vec![RowPlan { settings: Vec::new(), cells: vec![cell] }];
        assert_eq!(room_to_fill(&rows(cell.clone()), 1 << 40, 3, 0), Ok(()), "nothing is filled");
        cell.fill = Some(Fill { percent: 50, turnover: 2 });
        let rows = rows(cell);
        assert_eq!(room_to_fill(&rows, 1 << 30, 2, 2 << 30), Ok(()));
        let why = room_to_fill(&rows, 4 << 30, 2, 2 << 30).unwrap_err();
        assert!(why.contains("--fs-size 1024M"), "{why}");
        assert_eq!(room_to_fill(&rows, 1024 << 20, 2, 2 << 30), Ok(()), "the advice holds");
    }

    #[test]
    fn a_filling_is_told_with_what_was_reached() {
        let fill = Fill { percent: 80, turnover: 2 };
        assert_eq!(
            filling("xfs", fill, 12_345, 3 << 30, 79.96),
            "xfs, to be filled to 80 %, was 80.0 % full with 12345 files of 3 GiB in all; 2 times half of the files were removed and others made."
        );
    }
}
