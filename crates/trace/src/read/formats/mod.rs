//! The registry of the trace formats that can be read: one row each, in the order in which they are
//! tried.
//!
//! A new format is one file here, with its `mod` line, and one row of [`FORMATS`]. Its name then
//! appears in `--format`, in messages and in the help.

mod alibaba;
mod arrow;
mod blkparse;
mod blktrace;
mod cloudphysics;
mod csv;
mod disksim;
mod fio;
mod fiu;
mod five_numbers;
mod lcs;
mod msr;
mod oracle;
mod parquet;
mod recording;
mod replayer;
mod spc;
mod srt;
mod ssdsim;
mod systor;
mod tencent;
mod trace_events;
mod vscsi;

use super::decode::Decode;
use super::head::{Head, Likeness};
use super::lines::{cut, fits};
use super::source::Opened;
use crate::columns::NEEDED;
use crate::error::Error;
use std::fmt;
use std::str::FromStr;

/// The name of a format.
type Name = &'static str;
/// Returns how much the first bytes of a source look like a format.
type LooksLike = fn(&Head<'_>) -> Likeness;
/// Opens the decoders of sources of one format: one for each source, or one for all of them. The
/// arguments are the format's name, the sources, and whether to leave out broken records.
type Open = fn(Name, Vec<Opened>, bool) -> Result<Vec<Box<dyn Decode>>, Error>;

/// Whether sources of a format record something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tells {
    /// They record it: where it is missing, the request does not have it.
    Yes,
    /// They do not record it.
    No,
    /// They hold rows from any source, which may record it or not.
    Anyone,
}
use Tells::{Anyone, No, Yes};

impl Tells {
    /// Returns what sources of both together record: no more than either of them.
    pub fn both(self, other: Self) -> Self {
        match (self, other) {
            (No, _) | (_, No) => No,
            (Anyone, _) | (_, Anyone) => Anyone,
            (Yes, Yes) => Yes,
        }
    }
}

/// What sources of a format record about requests besides operation, place and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Types {
    /// Which requests are synchronous.
    pub sync: Tells,
    /// Which requests are declared asynchronous, and not merely lack the synchronous flag.
    pub asynchronous: Tells,
    /// Which requests bypassed the file system.
    pub raw: Tells,
    /// What their blocks hold.
    pub blocks: Tells,
}

impl Types {
    /// The same for all properties.
    const fn all(tells: Tells) -> Self {
        Self { sync: tells, asynchronous: tells, raw: tells, blocks: tells }
    }

    /// Requests as Linux's block layer reports them: one flag says that somebody waits.
    const KERNEL: Self = Self { sync: Yes, ..Self::all(No) };
    /// Our own recordings of these requests, which ask file systems what blocks hold. Not all
    /// recordings have the answer.
    pub const RECORDED: Self = Self { blocks: Anyone, ..Self::KERNEL };
    /// Rows of unknown origin.
    pub const OF_ANYONE: Self = Self::all(Anyone);
    const NONE: Self = Self::all(No);

    /// Returns what sources of both together record.
    pub fn both(self, other: Self) -> Self {
        Self {
            sync: self.sync.both(other.sync),
            asynchronous: self.asynchronous.both(other.asynchronous),
            raw: self.raw.both(other.raw),
            blocks: self.blocks.both(other.blocks),
        }
    }
}

/// Whether sources record when requests were issued to the device.
type Issue = Tells;

/// The formats. The first one that is certain is taken. If none is, the one that can read the most
/// of the first lines is taken. Of several such, the first is taken, unless they differ only in
/// units.
static FORMATS: [(Name, LooksLike, Open, Types, Issue); 24] = [
    ("parquet", parquet::looks_like, parquet::open, Types::OF_ANYONE, Anyone),
    ("arrow", arrow::looks_like, arrow::open, Types::OF_ANYONE, Anyone),
    ("hp-srt", srt::looks_like, srt::open, Types::all(Yes), Yes),
    ("lcs", lcs::looks_like, lcs::open, Types::NONE, No),
    ("fio-iolog", fio::looks_like, cut::<fio::FioLog>, Types::NONE, No),
    ("recording", recording::looks_like, recording::open, Types::KERNEL, Yes),
    ("csv", csv::looks_like, cut::<csv::Csv>, Types::OF_ANYONE, Anyone),
    ("blktrace", blktrace::looks_like, blktrace::open, Types::KERNEL, Yes),
    ("vscsi1", vscsi::looks_like::<1>, cut::<vscsi::Vscsi<1>>, Types::NONE, No),
    ("vscsi2", vscsi::looks_like::<2>, cut::<vscsi::Vscsi<2>>, Types::NONE, No),
    ("oracle-general", oracle::looks_like, cut::<lcs::Lcs<24>>, Types::NONE, No),
    ("blkparse", blkparse::looks_like, cut::<blkparse::Blkparse>, Types::KERNEL, Yes),
    (
        "trace-events",
        trace_events::looks_like,
        cut::<trace_events::TraceEvents>,
        Types::KERNEL,
        Yes,
    ),
    ("msr", fits::<msr::Msr>, cut::<msr::Msr>, Types::NONE, No),
    ("systor", fits::<systor::Systor>, cut::<systor::Systor>, Types::NONE, No),
    ("alibaba", fits::<alibaba::Alibaba>, cut::<alibaba::Alibaba>, Types::NONE, No),
    (
        "cloudphysics-csv",
        fits::<cloudphysics::CloudPhysics>,
        cut::<cloudphysics::CloudPhysics>,
        Types::NONE,
        No,
    ),
    ("tencent", tencent::looks_like, cut::<tencent::Tencent>, Types::NONE, No),
    ("spc", fits::<spc::Spc>, cut::<spc::Spc>, Types::NONE, No),
    ("fiu", fits::<fiu::Fiu>, cut::<fiu::Fiu>, Types::NONE, No),
    ("disksim-validate", fits::<disksim::Validate>, cut::<disksim::Validate>, Types::NONE, Yes),
    ("replayer", five_numbers::like_replayer, cut::<replayer::Replayer>, Types::NONE, No),
    ("ssdsim", five_numbers::like_ssdsim, cut::<ssdsim::SsdSim>, Types::NONE, No),
    ("disksim", five_numbers::like_disksim, cut::<disksim::Ascii>, Types::NONE, No),
];

/// A trace format that can be read: a row of the registry.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Format(usize);

impl Format {
    /// Returns all formats, in the order in which they are tried.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..FORMATS.len()).map(Self)
    }

    /// Returns the name, as in `--format` and in [`ioscape_schema::TraceInfo::format`].
    pub fn name(self) -> &'static str {
        FORMATS[self.0].0
    }

    /// Returns all names, for messages.
    pub fn names() -> String {
        FORMATS.map(|(name, ..)| name).join(", ")
    }

    /// Returns which flags and types the format records.
    pub(crate) fn types(self) -> Types {
        FORMATS[self.0].3
    }

    /// Whether the format records when requests were issued to the device.
    pub(crate) fn issue(self) -> Tells {
        FORMATS[self.0].4
    }

    /// Detects the format of a source.
    ///
    /// # Errors
    /// The source cannot be read, is empty, looks like no format, or looks like several that differ
    /// only in units.
    pub(crate) fn of(opened: &mut Opened) -> Result<Self, Error> {
        let name = opened.name().to_owned();
        let head = opened.head()?;
        if head.bytes.is_empty() {
            return Err(Error::Empty { name });
        }
        let (mut best, mut doubtful) = ((0, Vec::new()), (0, Vec::new()));
        for (index, (_, looks_like, ..)) in FORMATS.iter().enumerate() {
            let (count, most) = match looks_like(&head) {
                Likeness::Certain => return Ok(Self(index)),
                Likeness::Lines(count) => (count, &mut best),
                Likeness::Doubtful(count) => (count, &mut doubtful),
            };
            if count > most.0 {
                *most = (count, Vec::new());
            }
            if count > 0 && count == most.0 {
                most.1.push(Self(index));
            }
        }
        let are_most = |count: usize| 2 * count >= head.lines.len();
        match best.1[..] {
            [one, ref others @ ..] if are_most(best.0) => {
                // Formats with different fields are tried in an order that tells them apart. Units
                // cannot be told apart by any order.
                let in_units = |other: &&Self| one.units().is_some() && other.units().is_some();
                let alike = others.iter().filter(in_units);
                let formats: Vec<String> =
                    [&one].into_iter().chain(alike).map(Self::described).collect();
                if formats.len() < 2 {
                    return Ok(one);
                }
                Err(Error::Ambiguous { name, formats: formats.join(" or ") })
            }
            _ => {
                let alike = if are_most(doubtful.0) { doubtful.1 } else { Vec::new() };
                Err(Error::Unknown { name, advice: advice(&head, &alike) })
            }
        }
    }

    fn units(self) -> Option<&'static str> {
        five_numbers::units(self.name())
    }

    fn described(&self) -> String {
        format!("{} ({})", self.name(), self.units().unwrap_or_default())
    }

    /// Opens the decoders of sources of this format.
    ///
    /// # Errors
    /// A source cannot be read, or its header is broken.
    pub(crate) fn open(
        self,
        sources: Vec<Opened>,
        skip_bad: bool,
    ) -> Result<Vec<Box<dyn Decode>>, Error> {
        let (name, _, open, ..) = FORMATS[self.0];
        open(name, sources, skip_bad)
    }
}

/// The most bytes of a line of names that a message repeats.
const LONGEST_NAMES: usize = 200;

/// Returns what to do about a source of no known format, whose lines are those of the formats
/// `alike` but for impossible times or places.
fn advice(head: &Head<'_>, alike: &[Format]) -> String {
    if fio::are_samples(head) {
        let text = "it looks like a log of fio's samples (write_bw_log, write_lat_log, write_iops_log), which holds no requests: have fio log those with write_iolog";
        return text.to_owned();
    }
    let names = head.names().filter(|_| !head.is_binary()).map_or(String::new(), |names| {
        let names = String::from_utf8_lossy(&names[..names.len().min(LONGEST_NAMES)]);
        format!("its fields are called {names}; ")
    });
    let alike = alike.iter().map(|format| format.name()).collect::<Vec<_>>().join(" or ");
    let (why, formats) = match alike.is_empty() {
        true => (names, Format::names()),
        false => (
            format!(
                "its lines have the form of {alike}, but the units of that would give impossible times or disks; if they hold all the same, as of times since the trace began, "
            ),
            alike,
        ),
    };
    let columns = NEEDED.join(",");
    format!(
        "{why}name it with --format ({formats}), or write it as CSV with at least the columns {columns} (docs/trace-schema.md)"
    )
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Format({})", self.name())
    }
}

impl FromStr for Format {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::all().find(|format| format.name() == text);
        found.ok_or_else(|| format!("no such format: known are {}", Self::names()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_read_back() {
        for format in Format::all() {
            assert_eq!(format.name().parse(), Ok(format));
        }
        assert!("nonsense".parse::<Format>().is_err());
    }
}
