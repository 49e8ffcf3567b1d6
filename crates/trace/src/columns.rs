//! The columns of a trace in this project's own formats, by name; `docs/trace-schema.md` describes them.

use ioscape_schema::{Io, IoFlags, IoType, Op};

/// Arrival, from the beginning of the trace.
pub(crate) const QUEUED: &str = "queued_ns";
/// Issue to the device.
pub(crate) const ISSUED: &str = "issued_ns";
/// Completion.
pub(crate) const COMPLETED: &str = "completed_ns";
/// Device: its name as text, its index in Parquet.
pub(crate) const DEVICE: &str = "device";
/// Partition.
pub(crate) const PARTITION: &str = "partition";
/// Whether it writes.
pub(crate) const IS_WRITE: &str = "is_write";
/// First byte.
pub(crate) const OFFSET: &str = "offset_bytes";
/// Length.
pub(crate) const LENGTH: &str = "length_bytes";
/// Flags, a sum of bits.
pub(crate) const FLAGS: &str = "flags";
/// What the block holds.
pub(crate) const TYPE: &str = "io_type";
/// Requests in the queue at arrival.
pub(crate) const QUEUE_LENGTH: &str = "queue_length";
/// Process.
pub(crate) const PROCESS: &str = "process_id";
/// Command: its name as text, its index in Parquet.
pub(crate) const COMMAND: &str = "command";
/// Error number.
pub(crate) const ERROR: &str = "error";

/// Key of the tables in the metadata of a Parquet file.
pub(crate) const TABLES: &str = "ioscape.trace";
/// Key that says that the rows of a Parquet file are in the order of arrival.
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

/// A column that holds whole numbers: what it is of a row.
pub(crate) fn get(column: usize, io: &Io) -> u64 {
    match ALL[column] {
        QUEUED => io.queued_ns,
        ISSUED => io.issued_ns,
        COMPLETED => io.completed_ns,
        DEVICE => u64::from(io.device),
        PARTITION => u64::from(io.partition),
        IS_WRITE => u64::from(io.request.op == Op::Write),
        OFFSET => io.request.offset,
        LENGTH => u64::from(io.request.len),
        FLAGS => u64::from(io.flags.bits()),
        TYPE => io.io_type as u64,
        QUEUE_LENGTH => u64::from(io.queue_length),
        PROCESS => u64::from(io.process),
        COMMAND => u64::from(io.command),
        _ => u64::from(io.error),
    }
}

/// Sets a column of a row; `false` when the value is out of its range.
pub(crate) fn set(column: usize, value: u64, io: &mut Io) -> bool {
    let word = u32::try_from(value);
    let half = u16::try_from(value);
    match (ALL[column], word, half) {
        (QUEUED, ..) => io.queued_ns = value,
        (ISSUED, ..) => io.issued_ns = value,
        (COMPLETED, ..) => io.completed_ns = value,
        (OFFSET, ..) => io.request.offset = value,
        (IS_WRITE, ..) => io.request.op = if value == 0 { Op::Read } else { Op::Write },
        (LENGTH, Ok(value), _) => io.request.len = value,
        (FLAGS, Ok(value), _) => io.flags = IoFlags::from_bits_retain(value),
        (QUEUE_LENGTH, Ok(value), _) => io.queue_length = value,
        (PROCESS, Ok(value), _) => io.process = value,
        (COMMAND, Ok(value), _) => io.command = value,
        (DEVICE, _, Ok(value)) => io.device = value,
        (PARTITION, _, Ok(value)) => io.partition = value,
        (ERROR, _, Ok(value)) => io.error = value,
        (TYPE, ..) => match IoType::ALL.get(value as usize) {
            Some(io_type) => io.io_type = *io_type,
            None => return false,
        },
        _ => return false,
    }
    true
}

/// Names of the flags, as text writes them.
pub(crate) fn flag_names(flags: IoFlags) -> String {
    let known: Vec<&str> = flags.iter_names().map(|(name, _)| name).collect();
    known.join("|").to_lowercase()
}

/// The flags of `flag_names`.
pub(crate) fn flags_of(names: &str) -> Option<IoFlags> {
    names.split('|').filter(|name| !name.is_empty()).try_fold(IoFlags::empty(), |flags, name| {
        Some(flags | IoFlags::from_name(&name.to_uppercase())?)
    })
}

/// Names of the types, as text writes them.
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
    fn every_column_is_set_as_it_is_got() {
        let mut io = Io::default();
        for (column, name) in ALL.iter().enumerate() {
            assert!(set(column, 1, &mut io), "{name}");
            assert_eq!(get(column, &io), 1, "{name}");
        }
        assert!(!set(7, 1 << 40, &mut io) && !set(9, 9, &mut io) && !set(3, 1 << 20, &mut io));
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
