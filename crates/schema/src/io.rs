//! The common row type: an I/O is an I/O, whether measured, read from a trace or simulated.

use crate::text::inert;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What a request does to its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Bytes move from the system to the process.
    #[default]
    Read,
    /// Bytes move from the process to the system.
    Write,
}

/// One request as issued by a workload: an operation on `len` bytes at byte `offset` of the set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Read or write.
    pub op: Op,
    /// First byte, from the beginning of the set or, in a trace, of the device.
    pub offset: u64,
    /// Length in bytes; 0 only for a flush.
    pub len: u32,
}

bitflags::bitflags! {
    /// Further properties of a request: the flags of the block layer and of supported trace
    /// formats.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(transparent)]
    pub struct IoFlags: u32 {
        /// A process waits for it (`REQ_SYNC`, or synchronous in HP-UX).
        const SYNC = 1;
        /// Marked asynchronous by a trace that records this; neither this nor `SYNC` means not
        /// recorded.
        const ASYNC = 1 << 1;
        /// Metadata, according to the file system (`REQ_META`).
        const META = 1 << 2;
        /// Read-ahead (`REQ_RAHEAD`).
        const READ_AHEAD = 1 << 3;
        /// Write through to the medium (`REQ_FUA`).
        const FUA = 1 << 4;
        /// The device cache is flushed first (`REQ_PREFLUSH`); with length 0, only a flush.
        const FLUSH = 1 << 5;
        /// The bytes are discarded at the device (`REQ_OP_DISCARD`); its operation is a write.
        const DISCARD = 1 << 6;
        /// To or from swap space (`REQ_SWAP`).
        const SWAP = 1 << 7;
        /// Bypasses the file system (character device, `O_DIRECT` on a device).
        const RAW = 1 << 8;
        /// Zeroes are written without being transferred (`REQ_OP_WRITE_ZEROES`); they count as data
        /// moved.
        const ZEROES = 1 << 9;
        /// Low priority (`REQ_BACKGROUND`, `REQ_IDLE`).
        const BACKGROUND = 1 << 10;
    }
}

/// What a block holds (Table 6 and Figure 7 of Ruemmler & Wilkes 1993, with the journal of later file systems).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum IoType {
    /// Not known.
    #[default]
    Unknown,
    /// Contents of files.
    UserData,
    /// Inodes.
    Inode,
    /// Directories.
    Directory,
    /// Indirect or extent blocks: where a file's blocks are.
    Indirect,
    /// Bitmaps of free blocks and inodes, cylinder or block groups.
    Bitmap,
    /// Superblocks and group descriptors.
    Superblock,
    /// The journal or log.
    Journal,
    /// Swapping and paging of anonymous memory.
    Swap,
}

impl IoType {
    /// All types, in the order of their numbers.
    pub const ALL: [Self; 9] = [
        Self::Unknown,
        Self::UserData,
        Self::Inode,
        Self::Directory,
        Self::Indirect,
        Self::Bitmap,
        Self::Superblock,
        Self::Journal,
        Self::Swap,
    ];

    /// Returns whether the file system keeps it for its own use.
    pub fn is_metadata(self) -> bool {
        !matches!(self, Self::Unknown | Self::UserData | Self::Swap)
    }
}

/// One completed request with its times (Q, D and C of the block layer's event names).
///
/// What a source does not record stays at the default: `queue_length` 0, `io_type` unknown, `process` 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Io {
    /// The request.
    pub request: Request,
    /// Issuing process: its number from 1 in a measurement, its process id in a trace.
    pub process: u32,
    /// When the request entered the queue, from the beginning of the trace or run.
    pub queued_ns: u64,
    /// When it was issued to the device or system; not before `queued_ns`.
    pub issued_ns: u64,
    /// When it completed; not before `issued_ns`.
    pub completed_ns: u64,
    /// Index of the device in the trace's table of devices.
    pub device: u16,
    /// Partition (HP-UX section) of the device, 0 when the source does not record it.
    pub partition: u16,
    /// Number of requests in the device's queue when this one arrived, itself included; 0 when not
    /// recorded.
    pub queue_length: u32,
    /// Index of the submitting command in the trace's table of commands; 0 means unknown.
    pub command: u32,
    /// Flags.
    pub flags: IoFlags,
    /// What the block holds.
    pub io_type: IoType,
    /// Error number of the completion, 0 for success.
    pub error: u16,
}

impl Io {
    /// Returns the time at the device: completion minus issue ("physical" in the paper).
    pub fn physical_ns(&self) -> u64 {
        self.completed_ns.saturating_sub(self.issued_ns)
    }

    /// Returns the time in the queue and at the device: completion minus arrival ("elapsed" in the
    /// paper, Q2C today).
    pub fn elapsed_ns(&self) -> u64 {
        self.completed_ns.saturating_sub(self.queued_ns)
    }

    /// Returns whether the source records its completion: 0 ns at the device means that it does
    /// not.
    pub fn is_timed(&self) -> bool {
        self.completed_ns > self.issued_ns
    }

    /// Returns the offset of the first byte after the request.
    pub fn end(&self) -> u64 {
        self.request.offset.saturating_add(u64::from(self.request.len))
    }

    /// Returns whether data moves, which excludes flushes and discards. Zeroes count: the device
    /// holds them afterwards.
    pub fn moves_data(&self) -> bool {
        self.request.len > 0 && !self.flags.contains(IoFlags::DISCARD)
    }
}

/// A device of a trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// Name as the source gives it: `vda`, `disk 0`, `usr_0`.
    pub name: String,
    /// Size of a sector in bytes, 0 when not recorded.
    #[serde(default)]
    pub sector_bytes: u32,
    /// Capacity in bytes, when recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_bytes: Option<u64>,
    /// Partitions named by the source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<Partition>,
}

/// A partition of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partition {
    /// Number, as in [`Io::partition`].
    pub number: u16,
    /// Name or mount point: `/usr`, `swap`.
    pub name: String,
}

/// Properties of a trace as a whole: the tables that its rows refer to, its origin, and what it
/// lost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceInfo {
    /// Format it was read from: `hp-srt`, `blktrace`, `msr`, `parquet`; for merged traces all of
    /// their formats, as in `msr, recorded`.
    pub format: String,
    /// Unix time of `queued_ns` 0, in nanoseconds, if recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_unix_ns: Option<i64>,
    /// Devices; [`Io::device`] is an index.
    pub devices: Vec<Device>,
    /// Commands; [`Io::command`] is an index. Index 0 is the unknown command, with an empty name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Events lost while recording, by CPU.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_by_cpu: Vec<u64>,
    /// Broken records that were skipped.
    #[serde(default)]
    pub skipped: u64,
    /// The step of all `queued_ns`, in nanoseconds, if it is so coarse that several requests arrive
    /// in one step and their order and distance in time within it are unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrival_step_ns: Option<u64>,
    /// What the source says about the system: machine, file system, mount options, how it was
    /// recorded.
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub notes: std::collections::BTreeMap<String, String>,
}

/// Separator between the formats of merged traces.
const BETWEEN: &str = ", ";

/// Note that counts the requests without room; readers of the trace turn it into a warning.
const WITHOUT_ROOM: &str = "requests after the last row";

impl TraceInfo {
    /// Returns the properties of rows of real I/O. The devices are named after their `targets`,
    /// each with its size in bytes; `lacking` requests came after the last row.
    pub fn of_targets<'a>(targets: impl Iterator<Item = (&'a str, u64)>, lacking: u64) -> Self {
        let device = |(target, bytes)| {
            let name = inert(target).into_owned();
            Device { name, capacity_bytes: Some(bytes), ..Device::default() }
        };
        let lacks = (lacking > 0).then(|| (WITHOUT_ROOM.to_owned(), lacking.to_string()));
        Self {
            format: "measurement".to_owned(),
            devices: targets.map(device).collect(),
            notes: lacks.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Returns the individual formats that a [`format`](Self::format) names, mostly one.
    pub fn formats_in(format: &str) -> impl Iterator<Item = &str> {
        format.split(BETWEEN)
    }

    /// Takes over what `later` knows: the same trace, read further.
    ///
    /// Rows refer to devices and commands by index, so their tables only grow, and what is known of
    /// a device may. Nothing else is copied of them: a table may hold a million names.
    pub fn follow(&mut self, later: &Self) {
        let known = self.devices.iter_mut().zip(&later.devices);
        known.filter(|(mine, told)| *mine != *told).for_each(|(mine, told)| mine.clone_from(told));
        self.learn(&later.since([self.devices.len(), self.commands.len()]));
    }

    /// Returns what is new to a reader that knows the first so many devices and commands: the
    /// others, and all that is not a table.
    pub fn since(&self, [devices, commands]: [usize; 2]) -> Self {
        Self {
            format: self.format.clone(),
            devices: self.devices.get(devices..).unwrap_or_default().to_vec(),
            commands: self.commands.get(commands..).unwrap_or_default().to_vec(),
            lost_by_cpu: self.lost_by_cpu.clone(),
            notes: self.notes.clone(),
            ..*self
        }
    }

    /// Takes in what is new, as [`since`](Self::since) returns it.
    pub fn learn(&mut self, news: &Self) {
        let Self { format, devices, commands, lost_by_cpu, notes, .. } = news;
        self.format.clone_from(format);
        self.devices.extend_from_slice(devices);
        self.commands.extend_from_slice(commands);
        self.lost_by_cpu.clone_from(lost_by_cpu);
        self.notes.clone_from(notes);
        (self.started_unix_ns, self.skipped) = (news.started_unix_ns, news.skipped);
        self.arrival_step_ns = news.arrival_step_ns;
    }

    /// Adds the properties of another trace that is merged into this one.
    ///
    /// Losses and numeric notes are summed; of any other note the first value stays, and of steps of
    /// arrivals the coarser. The tables of devices and commands are left alone.
    pub fn absorb(&mut self, other: &Self) {
        if self.format != other.format {
            // Sorted, so that the order of the traces does not matter.
            let both = [&self.format, &other.format].into_iter();
            let formats = both.flat_map(|format| Self::formats_in(format));
            let formats: BTreeSet<&str> = formats.filter(|format| !format.is_empty()).collect();
            let joined = Vec::from_iter(formats).join(BETWEEN);
            self.format = joined;
        }
        let started = [self.started_unix_ns, other.started_unix_ns];
        self.started_unix_ns = started.into_iter().flatten().min();
        self.skipped = self.skipped.saturating_add(other.skipped);
        self.arrival_step_ns = self.arrival_step_ns.max(other.arrival_step_ns);
        self.lost_by_cpu.resize(self.lost_by_cpu.len().max(other.lost_by_cpu.len()), 0);
        self.lost_by_cpu.iter_mut().zip(&other.lost_by_cpu).for_each(|(all, one)| *all += one);
        for (name, told) in &other.notes {
            let known = self.notes.entry(name.clone()).or_default();
            match (known.parse::<u64>(), told.parse::<u64>()) {
                (Ok(mine), Ok(theirs)) => *known = mine.saturating_add(theirs).to_string(),
                _ if known.is_empty() => known.clone_from(told),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_its_three_times() {
        let io = Io {
            request: Request { op: Op::Write, offset: 4096, len: 512 },
            queued_ns: 5,
            issued_ns: 7,
            completed_ns: 20,
            ..Io::default()
        };
        assert_eq!((io.physical_ns(), io.elapsed_ns(), io.end()), (13, 15, 4608));
        assert!(io.moves_data() && io.is_timed());
        assert!(!Io { completed_ns: 7, ..io }.is_timed(), "no time at the device: none is told");
        assert!(!Io { flags: IoFlags::DISCARD, ..io }.moves_data());
        assert!(!Io::default().moves_data(), "a flush moves nothing");
    }

    #[test]
    fn what_two_traces_lost_and_count_is_summed_and_their_first_words_stay() {
        let note = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let info = |lost: &[u64], started_unix_ns, [count, words]: [&str; 2]| TraceInfo {
            started_unix_ns,
            lost_by_cpu: lost.to_vec(),
            skipped: 2,
            notes: [note("count", count), note("words", words)].into(),
            ..TraceInfo::default()
        };
        let mut all = TraceInfo::default();
        all.absorb(&info(&[1], None, ["3", "one"]));
        all.absorb(&info(&[4, 5], Some(7), ["4", "other"]));
        assert_eq!(all, TraceInfo { skipped: 4, ..info(&[5, 5], Some(7), ["7", "one"]) });
    }

    /// Guards against a defect: a million names of commands were copied for every 8,192 rows.
    #[test]
    fn a_trace_read_further_adds_what_is_new_and_copies_no_name_again() {
        let device = |name: &str| Device { name: name.to_owned(), ..Device::default() };
        let mut info = TraceInfo {
            devices: vec![device("sda")],
            commands: vec![String::new(), "postgres".to_owned()],
            ..TraceInfo::default()
        };
        let mut later = info.clone();
        later.devices[0].partitions.push(Partition { number: 1, name: "sda1".to_owned() });
        later.devices.push(device("sdb"));
        later.commands.push("fio".to_owned());
        (later.skipped, later.lost_by_cpu, later.started_unix_ns) = (3, vec![5], Some(7));
        later.notes.insert("damage".to_owned(), "at byte 9".to_owned());
        let held = info.commands[1].as_ptr();
        info.follow(&later);
        assert_eq!(info, later);
        assert_eq!(info.commands[1].as_ptr(), held);
    }

    #[test]
    fn formats_of_traces_that_become_one_are_all_named_whatever_their_order() {
        let of = |format: &str| TraceInfo { format: format.to_owned(), ..TraceInfo::default() };
        let joined = |formats: &[&str]| {
            let mut all = TraceInfo::default();
            formats.iter().for_each(|format| all.absorb(&of(format)));
            all.format
        };
        assert_eq!(joined(&["msr", "recorded", "msr"]), "msr, recorded");
        assert_eq!(joined(&["recorded", "blktrace, msr", ""]), "blktrace, msr, recorded");
        assert_eq!(joined(&["msr", "msr"]), "msr");
        assert!(TraceInfo::formats_in("blktrace, msr").eq(["blktrace", "msr"]));
    }

    #[test]
    fn a_row_stays_small() {
        assert!(size_of::<Io>() <= 72, "{}", size_of::<Io>());
    }

    #[test]
    fn types_are_numbered_in_order() {
        for (number, io_type) in IoType::ALL.into_iter().enumerate() {
            assert_eq!(io_type as usize, number);
        }
        assert!(IoType::Journal.is_metadata() && !IoType::Swap.is_metadata());
    }
}
