//! How large the files of a campaign may be.

use ioscape_schema::units::{Bytes, counted};
use ioscape_schema::{CellPlan, RowPlan, Warning, WarningKind};

/// The free space of a directory, which it may share with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Major and minor number of the file system's device: directories of one file system share its
    /// free space.
    pub device: (u32, u32),
    /// Free bytes on the file system.
    pub free_bytes: u64,
}

/// Returns the largest file size, in bytes, with which as many files as the rows want in each
/// directory fit into half of the free space of every file system. Space that filling will take
/// does not count as free.
pub fn max_file_bytes(rows: &[RowPlan], rooms: &[Room]) -> u64 {
    let full_percent = u64::from(fullest(rows));
    let share = |room: &Room| {
        let sharers = rooms.iter().filter(|other| other.device == room.device).count() as u64;
        (room.free_bytes - room.free_bytes / 100 * full_percent) / 2 / sharers
    };
    each_of(rows, rooms.iter().map(share).min())
}

/// Returns the largest file size, in bytes, with which `many` file systems on loop devices fit into
/// half of `free_bytes`. Each holds as many files as the rows want, and what it is filled with, at
/// a size of `fs_bytes`.
pub fn max_file_bytes_on_loops(
    rows: &[RowPlan],
    fs_bytes: u64,
    many: usize,
    free_bytes: u64,
) -> u64 {
    let filled = fs_bytes / 100 * u64::from(fullest(rows));
    let share = (free_bytes / 2).checked_div(many as u64);
    each_of(rows, share.map(|share| share.saturating_sub(filled)))
}

/// The block size, in bytes, of the largest requests that campaigns use: larger files are multiples
/// of it.
const WHOLE: u64 = 2 << 20;

/// The bytes of each file if `bytes` are shared by the most files that any cell wants; unbounded if
/// `bytes` is `None`.
fn each_of(rows: &[RowPlan], bytes: Option<u64>) -> u64 {
    let each = bytes.map(|bytes| bytes / most_files(rows));
    each.map_or(u64::MAX, |bytes| if bytes > WHOLE { bytes / WHOLE * WHOLE } else { bytes })
}

/// The bytes that the most files of any cell take together, each as large as the largest that some
/// cell wants but no larger than `largest`.
pub fn wanted(rows: &[RowPlan], largest: u64) -> u64 {
    let each = cells(rows).map(|cell| cell.file_bytes).max().unwrap_or(0).min(largest);
    let whole = if each > WHOLE { each.div_ceil(WHOLE).saturating_mul(WHOLE) } else { each };
    whole.saturating_mul(most_files(rows))
}

/// The most files for which any cell needs space, at least one; what is appended to a file counts as
/// others.
fn most_files(rows: &[RowPlan]) -> u64 {
    let files = |cell: &CellPlan| cell.space_bytes().div_ceil(cell.file_bytes.max(1));
    cells(rows).map(files).max().unwrap_or(1).max(1)
}

fn cells(rows: &[RowPlan]) -> impl Iterator<Item = &CellPlan> {
    rows.iter().flat_map(|row| &row.cells)
}

/// The percentage to which the fullest file system is filled before measuring.
pub fn fullest(rows: &[RowPlan]) -> u8 {
    cells(rows).filter_map(|cell| cell.fill).map(|fill| fill.percent).max().unwrap_or(0)
}

/// The warnings about the `whole` campaign, planned without a limit, where no file may be larger
/// than `most` bytes and `rows` remain.
pub fn doubts_of_sizes(whole: &[RowPlan], rows: &[RowPlan], most: u64) -> Vec<Warning> {
    [limited(whole, most), left_out(whole, rows, most), shortened(rows)]
        .into_iter()
        .flatten()
        .collect()
}

/// Warns if rows of the `whole` campaign are missing from `rows`, which keep their order.
fn left_out(whole: &[RowPlan], rows: &[RowPlan], most: u64) -> Option<Warning> {
    let mut kept = rows.iter().peekable();
    let is_out = |row: &&RowPlan| kept.next_if(|one| one.settings == row.settings).is_none();
    let out: Vec<&RowPlan> = whole.iter().filter(is_out).collect();
    let taken = out.iter().map(|row| row.space_bytes()).max()?;
    let message = format!(
        "{} of {} are left out: they need larger files than {} each (whole, they take up to {}); give a larger --max-file-size, which needs free space",
        out.len(),
        counted(whole.len() as u64, "row"),
        Bytes(most as f64),
        Bytes(taken as f64)
    );
    Some(Warning::new(WarningKind::SetLimited, message))
}

/// Warns if the files of `rows`, planned without a limit, are larger than `most` bytes. Files in
/// trees never become smaller.
fn limited(rows: &[RowPlan], most: u64) -> Option<Warning> {
    let moved = cells(rows).filter(|cell| cell.names.is_none());
    let largest = moved.map(|cell| cell.file_bytes).max()?;
    (largest > most).then(|| {
        let message = format!(
            "the campaign's files of up to {} are limited to {}",
            Bytes(largest as f64),
            Bytes(most as f64)
        );
        Warning::new(WarningKind::SetLimited, message)
    })
}

/// Warns if requests are smaller than the name of their row says, since no request is larger than
/// its file.
fn shortened(rows: &[RowPlan]) -> Option<Warning> {
    let of_row = |row: &RowPlan| {
        let asked = row.settings.iter().find(|setting| setting.name == "iosize")?;
        let moves = row.cells.iter().filter(|cell| cell.names.is_none());
        let most = moves.map(|cell| cell.job.iosize).max()?;
        ((most as f64) < asked.value).then(|| format!("{} are {}", asked.text, Bytes(most as f64)))
    };
    let mut all: Vec<String> = rows.iter().filter_map(of_row).collect();
    all.dedup();
    (!all.is_empty()).then(|| {
        let message = format!(
            "no request is larger than its file: those of the rows with iosize {}",
            all.join(", ")
        );
        Warning::new(WarningKind::SetLimited, message)
    })
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use ioscape_schema::{CampaignSetting, Fill, Prepare, VxJob, VxWorkload};

    #[test]
    fn requests_that_are_smaller_than_their_row_says_are_told() {
        let row = |text: &str, asked: u32, iosize: u64| {
            let mut cell = cell(Prepare::Written, false, VxWorkload::Read);
            cell.job.iosize = iosize;
            let (name, text) = ("iosize".to_owned(), text.to_owned());
            let settings = vec![CampaignSetting { name, text, value: f64::from(asked) }];
            RowPlan { settings, cells: vec![cell] }
        };
        let told = shortened(&[row("64k", 65_536, 65_536), row("2M", 2 << 20, 1 << 20)]);
        assert!(told.is_some_and(|one| one.message.ends_with("iosize 2M are 1 MiB")));
        assert_eq!(shortened(&[row("64k", 65_536, 65_536)]), None);
    }

    #[test]
    fn rows_that_are_left_out_are_counted_and_files_of_trees_are_not_limited() {
        let names = Some(super::super::jobs::TRIAL_NAMES);
        let tree = CellPlan { names, ..CellPlan::of_file(VxJob::default(), 8 << 10) };
        let setting = |n: u32| CampaignSetting {
            name: "tree_files".to_owned(),
            text: n.to_string(),
            value: f64::from(n),
        };
        let row = |n| {
            let cell = CellPlan { files_written: n, ..tree.clone() };
            RowPlan { settings: vec![setting(n)], cells: vec![cell] }
        };
        let whole = [row(0), row(10_000), row(1), row(20_000)];
        let rows = [whole[0].clone(), whole[2].clone()];
        let told = doubts_of_sizes(&whole, &rows, 1677);
        let told: Vec<&str> = told.iter().map(|one| &*one.message).collect();
        assert_eq!(
            told,
            [
                "2 of 4 rows are left out: they need larger files than 1.64 KiB each (whole, they take up to 156 MiB); give a larger --max-file-size, which needs free space"
            ]
        );
        assert!(doubts_of_sizes(&whole, &whole, 1677).is_empty());
    }

    /// A cell with one file of 1 MiB.
    pub fn cell(prepare: Prepare, raw: bool, workload: VxWorkload) -> CellPlan {
        let job = VxJob { workload, ..VxJob::default() };
        CellPlan { prepare, age_piece: 65536, raw, ..CellPlan::of_file(job, 1 << 20) }
    }

    fn row(files_written: u32) -> RowPlan {
        let cell = cell(Prepare::Written, false, VxWorkload::Read);
        RowPlan { settings: Vec::new(), cells: vec![CellPlan { files_written, ..cell }] }
    }

    /// Directories with so many bytes free, each on its own file system.
    fn rooms(free: &[u64]) -> Vec<Room> {
        let room =
            |(minor, free_bytes): (u32, &u64)| Room { device: (8, minor), free_bytes: *free_bytes };
        (0..).zip(free).map(room).collect()
    }

    #[test]
    fn the_fullest_directory_limits_the_files() {
        let rows = [row(1), row(4)];
        assert_eq!(max_file_bytes(&rows, &rooms(&[1 << 40, 80 << 20])), 10 << 20);
        assert_eq!(max_file_bytes(&rows, &rooms(&[1 << 40, (80 << 20) + 9])), 10 << 20);
        assert_eq!(max_file_bytes(&rows, &[]), u64::MAX, "devices have their size");
        let mut appended = rows.clone();
        appended[1].cells[0].job.append = true;
        assert_eq!(max_file_bytes(&appended, &rooms(&[80 << 20])), 8 << 20);
        let full = Fill { percent: 90, turnover: 2 };
        let mut filled = rows.clone();
        filled[0].cells[0].fill = Some(full);
        assert_eq!(max_file_bytes(&filled, &rooms(&[800 << 20])), 10 << 20);
        assert_eq!(full.written_bytes(1000), 1800, "filled, and twice half of it again");
        assert_eq!(limited(&rows, 1 << 20), None);
        assert!(limited(&rows, 4096).unwrap().message.contains("limited to 4 KiB"));
    }

    #[test]
    fn directories_and_loop_devices_of_one_file_system_share_half_of_its_free_space() {
        let rows = [row(1)];
        let mut rooms = rooms(&[80 << 20, 80 << 20, 800 << 20]);
        assert_eq!(max_file_bytes(&rows, &rooms), 40 << 20);
        rooms[1].device = rooms[0].device;
        assert_eq!(max_file_bytes(&rows, &rooms), 20 << 20);
        let on_loops =
            |rows: &[RowPlan], many| max_file_bytes_on_loops(rows, 1 << 30, many, 6 << 30);
        assert_eq!(on_loops(&rows, 3), 1 << 30);
        assert_eq!(on_loops(&rows, 0), u64::MAX, "file systems in memory");
        let mut filled = rows.clone();
        filled[0].cells[0].fill = Some(Fill { percent: 50, turnover: 0 });
        let left: u64 = (1 << 30) - (1 << 30) / 100 * 50;
        assert_eq!(on_loops(&filled, 3), left >> 21 << 21);
        assert_eq!(max_file_bytes_on_loops(&filled, 1 << 40, 3, 6 << 30), 0);
    }
}
