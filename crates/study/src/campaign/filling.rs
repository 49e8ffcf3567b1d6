//! How full file systems are made before a campaign's files are laid out in them.

use super::room::{fullest, wanted};
use ioscape_schema::units::Bytes;
use ioscape_schema::{Fill, RowPlan};

/// Follows the label in a sentence of [`filling`].
const TO_FILL: &str = ", to be filled to ";

/// Returns the sentence on how filling a file system went: the number of files in it, their bytes,
/// and the share of the space in use, in percent.
pub fn filling(label: &str, fill: Fill, files: u64, bytes: u64, percent: f64) -> String {
    let Fill { percent: wanted, turnover } = fill;
    let turned = match turnover {
        0 => String::new(),
        n => format!("; {n} times half of the files were removed and others made"),
    };
    format!(
        "{label}{TO_FILL}{wanted} %, was {percent:.1} % full with {files} files of {} in all{turned}.",
        Bytes(bytes as f64)
    )
}

/// Whether a sentence is one of [`filling`].
pub fn is_filling(sentence: &str) -> bool {
    about(sentence).is_some()
}

/// The label and the percentage in a sentence of [`filling`].
fn about(sentence: &str) -> Option<(&str, &str)> {
    let (label, rest) = sentence.split_once(TO_FILL)?;
    Some((label, rest.split_once(" %, was ")?.0))
}

/// Adds sentences of [`filling`], replacing those about the same label and percentage. What an
/// earlier part of the campaign filled is not filled again once its cells are measured, so its
/// sentences stay.
pub fn add_fillings(sentences: &mut Vec<String>, anew: Vec<String>) {
    let is_told = |one: &String| {
        let what = about(one);
        what.is_some() && anew.iter().any(|other| about(other) == what)
    };
    sentences.retain(|one| !is_told(one));
    sentences.extend(anew);
}

/// Refuses to fill `many` loop devices of `fs_bytes` each if their contents would take more than
/// half of the free space. The files measured there, of at most `largest_file` bytes, count for at
/// most half of that half, since they may be made smaller.
pub fn room_to_fill(
    rows: &[RowPlan],
    fs_bytes: u64,
    many: usize,
    free_bytes: u64,
    largest_file: u64,
) -> Result<(), String> {
    let percent = u64::from(fullest(rows));
    if percent == 0 {
        return Ok(());
    }
    let room = free_bytes / 2 / many.max(1) as u64;
    let files = wanted(rows, largest_file).min(room / 2);
    let each = (fs_bytes / 100 * percent).saturating_add(files);
    let taken = each.saturating_mul(many as u64);
    if taken <= free_bytes / 2 {
        return Ok(());
    }
    let fits = (room - files) / percent * 100;
    Err(format!(
        "file systems of {} filled to {percent} % take {} in all with the files that are measured there, and half of the free space is {}: give --fs-size {}M or less",
        Bytes(fs_bytes as f64),
        Bytes(taken as f64),
        Bytes(free_bytes as f64 / 2.0),
        fits >> 20
    ))
}

#[cfg(test)]
mod tests {
    use super::super::room::max_file_bytes_on_loops;
    use super::super::room::tests::cell;
    use super::*;
    use ioscape_schema::{CellPlan, Prepare, VxWorkload};

    /// A row with so many files of so many bytes on a file system that is filled to so many
    /// percent.
    fn row(files_written: u32, file_bytes: u64, percent: u8) -> RowPlan {
        let cell = cell(Prepare::Fresh, false, VxWorkload::Write);
        let fill = (percent > 0).then_some(Fill { percent, turnover: 2 });
        let cells = vec![CellPlan { files_written, file_bytes, fill, ..cell }];
        RowPlan { settings: Vec::new(), cells }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_would() {
        let fits = |rows: &[RowPlan], fs_bytes| room_to_fill(rows, fs_bytes, 2, 2 << 30, u64::MAX);
        assert_eq!(fits(&[row(1, 1 << 20, 0)], 1 << 40), Ok(()), "nothing is filled");
        let rows = [row(1, 1 << 20, 50)];
        assert_eq!(fits(&rows, 1000 << 20), Ok(()));
        let why = fits(&rows, 4 << 30).unwrap_err();
        assert!(why.contains("--fs-size 1021M"), "{why}");
        assert_eq!(fits(&rows, 1021 << 20), Ok(()), "the advice holds");
        assert!(fits(&rows, 1 << 30).is_err(), "no file would have room beside the filling");
    }

    /// Guards against a defect: with 20 GiB free and the advised size, the largest file had 838,940
    /// bytes instead of 64 MiB.
    #[test]
    fn the_size_that_is_advised_leaves_the_files_their_room() {
        const FREE: u64 = 20 << 30;
        let both = [
            [row(1, 64 << 20, 0), row(1, 64 << 20, 90)],
            [row(4, 5 << 20, 50), row(1, 64 << 20, 80)],
        ];
        for rows in both {
            let why = room_to_fill(&rows, 1 << 40, 2, FREE, u64::MAX).unwrap_err();
            let advice = why.split("--fs-size ").nth(1).and_then(|text| text.split_once("M or"));
            let fs_bytes = advice.unwrap().0.parse::<u64>().unwrap() << 20;
            assert_eq!(room_to_fill(&rows, fs_bytes, 2, FREE, u64::MAX), Ok(()));
            let largest = max_file_bytes_on_loops(&rows, fs_bytes, 2, FREE);
            assert!(largest >= 64 << 20, "{largest}");
        }
        // Files count at their limited size.
        let rows = [row(1, 1 << 40, 50)];
        assert_eq!(room_to_fill(&rows, 9 << 30, 2, FREE, 64 << 20), Ok(()));
        assert!(room_to_fill(&rows, 9 << 30, 2, FREE, u64::MAX).is_err());
    }

    /// Guards against a defect: a continued campaign reported only the filling of its last row.
    #[test]
    fn fillings_that_are_not_made_again_stay_told() {
        let of = |label: &str, percent, files| {
            filling(label, Fill { percent, turnover: 0 }, files, 1 << 20, f64::from(percent))
        };
        let other = "xfs: fragments per file: 1 written alone.".to_owned();
        let mut sentences = vec![other.clone(), of("ext4", 50, 1), of("ext4", 80, 2)];
        add_fillings(&mut sentences, vec![of("ext4", 80, 3), of("xfs", 50, 4)]);
        let expected = [other, of("ext4", 50, 1), of("ext4", 80, 3), of("xfs", 50, 4)];
        assert_eq!(sentences, expected);
        assert_eq!(sentences.iter().filter(|one| is_filling(one)).count(), 3);
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
