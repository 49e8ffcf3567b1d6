//! The columns of a trace in this project's own formats, by name. `docs/trace-schema.md` describes
//! them.

use ioscape_schema::{Io, IoFlags, IoType, Op};

/// Arrival, from the beginning of the trace.
pub(crate) const QUEUED: &str = "queued_ns";
/// Issue to the device.
pub(crate) const ISSUED: &str = "issued_ns";
/// Completion.
pub(crate) const COMPLETED: &str = "completed_ns";
/// Device: its name in text formats, its index in Parquet.
pub(crate) const DEVICE: &str = "device";
/// Partition.
pub(crate) const PARTITION: &str = "partition";
/// Whether the request writes.
pub(crate) const IS_WRITE: &str = "is_write";
/// First byte.
pub(crate) const OFFSET: &str = "offset_bytes";
/// Length.
pub(crate) const LENGTH: &str = "length_bytes";
/// Flags, as a sum of bits.
pub(crate) const FLAGS: &str = "flags";
/// What the block holds.
pub(crate) const TYPE: &str = "io_type";
/// Requests in the device's queue at arrival, this one included.
pub(crate) const QUEUE_LENGTH: &str = "queue_length";
/// Process ID.
pub(crate) const PROCESS: &str = "process_id";
/// Command: its name in text formats, its index in Parquet.
pub(crate) const COMMAND: &str = "command";
/// Error number.
pub(crate) const ERROR: &str = "error";

/// The key of the device and command tables in a Parquet file's metadata.
pub(crate) const TABLES: &str = "ioscape.trace";
/// The key that marks the rows of a Parquet file as sorted by arrival.
pub(crate) const SORTED: &str = "ioscape.sorted_by_queued_ns";

/// All columns in their order.
pub(crate) const ALL: [&str; 14] = [
    QUEUED,
    ISSUED,
    COMPLETED,
    DEVICE,
    PARTITION,
    IS_WRITE,
    OFFSET,
    LENGTH,
    FLAGS,
    TYPE,
    QUEUE_LENGTH,
    PROCESS,
    COMMAND,
    ERROR,
];

/// Columns that every row needs.
pub(crate) const NEEDED: [&str; 4] = [QUEUED, IS_WRITE, OFFSET, LENGTH];

/// Returns a row's value in a column, as a whole number.
pub(crate) fn get(column: usize, io: &Io) -> u64 {
    let mut found = 0;
    each(column, std::slice::from_ref(io), |value| found = value);
    found
}

/// Whether every row has `value` in a column.
pub(crate) fn all_are(column: usize, rows: &[Io], value: u64) -> bool {
    // No early exit, so that rows are compared without a branch.
    let mut differing = 0;
    each(column, rows, |other| differing |= other ^ value);
    differing == 0
}

/// Whether a column of times equals the column before it in every row; `false` for other columns.
pub(crate) fn is_as_before(column: usize, rows: &[Io]) -> bool {
    fn all(rows: &[Io], differ: impl Fn(&Io) -> u64) -> bool {
        rows.iter().fold(0, |differing, io| differing | differ(io)) == 0
    }
    match ALL[column] {
        ISSUED => all(rows, |io| io.issued_ns ^ io.queued_ns),
        COMPLETED => all(rows, |io| io.completed_ns ^ io.issued_ns),
        _ => false,
    }
}

/// Returns the values of a column, row by row, converted by `of`.
pub(crate) fn values<T>(column: usize, rows: &[Io], of: impl Fn(u64) -> T) -> Vec<T> {
    let mut values = Vec::new();
    extend(&mut values, column, rows, of);
    values
}

/// Appends the values of a column to `values`, row by row, converted by `of`.
pub(crate) fn extend<T>(values: &mut Vec<T>, column: usize, rows: &[Io], of: impl Fn(u64) -> T) {
    values.reserve(rows.len());
    each(column, rows, |value| values.push(of(value)));
}

/// Passes the values of a column to `put`. The column is looked up once, not for each row.
#[inline]
fn each(column: usize, rows: &[Io], put: impl FnMut(u64)) {
    fn all(rows: &[Io], of: impl Fn(&Io) -> u64, put: impl FnMut(u64)) {
        rows.iter().map(of).for_each(put);
    }
    match ALL[column] {
        QUEUED => all(rows, |io| io.queued_ns, put),
        ISSUED => all(rows, |io| io.issued_ns, put),
        COMPLETED => all(rows, |io| io.completed_ns, put),
        DEVICE => all(rows, |io| u64::from(io.device), put),
        PARTITION => all(rows, |io| u64::from(io.partition), put),
        IS_WRITE => all(rows, |io| u64::from(io.request.op == Op::Write), put),
        OFFSET => all(rows, |io| io.request.offset, put),
        LENGTH => all(rows, |io| u64::from(io.request.len), put),
        FLAGS => all(rows, |io| u64::from(io.flags.bits()), put),
        TYPE => all(rows, |io| io.io_type as u64, put),
        QUEUE_LENGTH => all(rows, |io| u64::from(io.queue_length), put),
        PROCESS => all(rows, |io| u64::from(io.process), put),
        COMMAND => all(rows, |io| u64::from(io.command), put),
        _ => all(rows, |io| u64::from(io.error), put),
    }
}

/// Sets a column of a row; returns `false` if the value is out of range.
pub(crate) fn set(column: usize, value: u64, io: &mut Io) -> bool {
    setter(column)(value, io)
}

/// Returns the function that [`set`]s a column.
pub(crate) fn setter(column: usize) -> fn(u64, &mut Io) -> bool {
    /// Stores a value if it fits.
    fn put<N: TryFrom<u64>>(field: &mut N, value: u64) -> bool {
        N::try_from(value).map(|value| *field = value).is_ok()
    }
    /// Stores a value of a signed column. Values below zero are out of range here.
    fn put_signed(field: &mut u64, value: u64) -> bool {
        i64::try_from(value).is_ok() && put(field, value)
    }
    match ALL[column] {
        QUEUED => |value, io| put_signed(&mut io.queued_ns, value),
        ISSUED => |value, io| put_signed(&mut io.issued_ns, value),
        COMPLETED => |value, io| put_signed(&mut io.completed_ns, value),
        OFFSET => |value, io| put_signed(&mut io.request.offset, value),
        IS_WRITE => |value, io| {
            io.request.op = if value == 0 { Op::Read } else { Op::Write };
            true
        },
        LENGTH => |value, io| put(&mut io.request.len, value),
        FLAGS => |value, io| {
            let bits = u32::try_from(value).map(IoFlags::from_bits_retain);
            bits.map(|flags| io.flags = flags).is_ok()
        },
        QUEUE_LENGTH => |value, io| put(&mut io.queue_length, value),
        PROCESS => |value, io| put(&mut io.process, value),
        COMMAND => |value, io| put(&mut io.command, value),
        DEVICE => |value, io| put(&mut io.device, value),
        PARTITION => |value, io| put(&mut io.partition, value),
        ERROR => |value, io| put(&mut io.error, value),
        _ => |value, io| {
            let known = IoType::ALL.get(usize::try_from(value).unwrap_or(usize::MAX));
            known.map(|known| io.io_type = *known).is_some()
        },
    }
}

/// Says that a value is out of the range of the column `name`.
pub(crate) fn out_of_range(name: &str) -> String {
    let advice = match name {
        DEVICE => {
            ": numbers there count the devices from 0; write names and device numbers as text"
        }
        _ => "",
    };
    format!("a value of {name} is out of its range{advice}")
}

/// Fills in a column that the source lacks: an issue time defaults to the arrival, a completion
/// time to the issue.
pub(crate) fn default(column: usize, rows: &mut [Io]) {
    match ALL[column] {
        ISSUED => rows.iter_mut().for_each(|io| io.issued_ns = io.queued_ns),
        COMPLETED => rows.iter_mut().for_each(|io| io.completed_ns = io.issued_ns),
        _ => {}
    }
}

/// Returns what is wrong with the times of a row. A request must arrive, be issued and complete in
/// this order; a time of 0 was not recorded.
#[inline]
pub(crate) fn backwards(io: &Io) -> Option<String> {
    let issued_ns = io.issued_ns.max(io.queued_ns);
    let told = |ns: u64, least_ns: u64| ns > 0 && ns < least_ns;
    let (name, ns, than, least_ns) = if told(io.issued_ns, io.queued_ns) {
        (ISSUED, io.issued_ns, QUEUED, io.queued_ns)
    } else if told(io.completed_ns, issued_ns) {
        let than = if io.issued_ns == issued_ns { ISSUED } else { QUEUED };
        (COMPLETED, io.completed_ns, than, issued_ns)
    } else {
        return None;
    };
    Some(format!("{name} {ns} is before {than} {least_ns}"))
}

/// Returns the names of the flags, as the text formats write them.
pub(crate) fn flag_names(flags: IoFlags) -> String {
    let known: Vec<&str> = flags.iter_names().map(|(name, _)| name).collect();
    known.join("|").to_lowercase()
}

/// Describes the names of all flags in words.
pub(crate) fn all_flags() -> String {
    flag_names(IoFlags::all()).replace('|', ", ") + ", joined by | where there are several"
}

/// Parses the flags that [`flag_names`] writes.
pub(crate) fn flags_of(names: &str) -> Option<IoFlags> {
    names.split('|').filter(|name| !name.is_empty()).try_fold(IoFlags::empty(), |flags, name| {
        Some(flags | IoFlags::from_name(&name.to_uppercase())?)
    })
}

/// The names of the block types, as the text formats write them.
pub(crate) const TYPES: [&str; 9] = [
    "unknown",
    "user_data",
    "inode",
    "directory",
    "indirect",
    "bitmap",
    "superblock",
    "journal",
    "swap",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_run_backwards_are_named_and_0_is_no_time() {
        let of = |queued_ns, issued_ns, completed_ns| {
            backwards(&Io { queued_ns, issued_ns, completed_ns, ..Io::default() })
        };
        assert_eq!(of(5, 4, 9).unwrap(), "issued_ns 4 is before queued_ns 5");
        assert_eq!(of(5, 6, 5).unwrap(), "completed_ns 5 is before issued_ns 6");
        assert_eq!(of(5, 0, 4).unwrap(), "completed_ns 4 is before queued_ns 5");
        assert_eq!([of(5, 5, 5), of(5, 0, 0), of(5, 7, 0), of(0, 0, 0)], [const { None }; 4]);
    }

    #[test]
    fn every_column_is_set_as_it_is_got() {
        let mut io = Io::default();
        for (column, name) in ALL.iter().enumerate() {
            assert!(set(column, 1, &mut io), "{name}");
            assert_eq!(get(column, &io), 1, "{name}");
        }
        assert!(!set(7, 1 << 40, &mut io) && !set(9, 9, &mut io) && !set(3, 1 << 20, &mut io));
        for column in [QUEUED, ISSUED, COMPLETED, OFFSET] {
            let at = ALL.iter().position(|name| *name == column).unwrap();
            assert!(!set(at, (-5i64).cast_unsigned(), &mut io), "{column} below zero");
        }
    }

    #[test]
    fn columns_of_one_value_and_times_that_are_one_are_found() {
        let mut rows = vec![Io { queued_ns: 5, issued_ns: 5, completed_ns: 9, ..Io::default() }; 9];
        let found = |rows: &[Io]| [0, 1, 2, 3].map(|column| is_as_before(column, rows));
        assert_eq!(found(&rows), [false, true, false, false]);
        assert!(all_are(2, &rows, 9) && !all_are(2, &rows, 5));
        (rows[8].issued_ns, rows[8].completed_ns) = (6, 10);
        assert_eq!(found(&rows), [false; 4]);
        assert!(all_are(0, &rows, 5) && !all_are(2, &rows, 9));
    }

    #[test]
    fn flags_and_types_have_the_names_of_the_schema() {
        let flags = IoFlags::SYNC | IoFlags::READ_AHEAD;
        assert_eq!(flag_names(flags), "sync|read_ahead");
        assert_eq!(
            (flags_of("sync|read_ahead"), flags_of(""), flags_of("x")),
            (Some(flags), Some(IoFlags::empty()), None)
        );
        for (io_type, name) in IoType::ALL.iter().zip(TYPES) {
            assert_eq!(serde_json::to_string(io_type).unwrap(), format!("\"{name}\""));
        }
    }
}
