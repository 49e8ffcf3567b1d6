//! The trace formats by name.

use std::str::FromStr;

/// A trace format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// This project's typed columns.
    Parquet,
    /// This project's rows as text.
    Csv,
    /// HP Labs' SRT, versions 1.x and 1.7.
    HpSrt,
    /// `blktrace` binary, versions 7 and 8; one file for each CPU.
    Blktrace,
    /// `blkparse`'s default text.
    Blkparse,
    /// Block events as text of tracefs or `perf script`.
    TraceEvents,
    /// MSR Cambridge.
    Msr,
    /// Alibaba block traces.
    Alibaba,
    /// Tencent cloud block storage.
    Tencent,
    /// SPC, as of the UMass repository.
    Spc,
    /// SYSTOR '17.
    Systor,
    /// FIU.
    Fiu,
    /// vscsi, version 1.
    VscsiOne,
    /// vscsi, version 2.
    VscsiTwo,
    /// CloudPhysics as CSV of libCacheSim.
    CloudPhysics,
    /// fio's iolog, versions 2 and 3.
    FioLog,
    /// DiskSim's ascii requests.
    DiskSim,
    /// DiskSim's measured service times.
    DiskSimValidate,
    /// MQSim and SSDSim.
    SsdSim,
    /// The replayer of Heimdall and IODA.
    Replayer,
    /// libCacheSim's oracleGeneral.
    OracleGeneral,
}

/// All formats with their names.
const NAMES: [(Format, &str); 21] = [
    (Format::Parquet, "parquet"),
    (Format::Csv, "csv"),
    (Format::HpSrt, "hp-srt"),
    (Format::Blktrace, "blktrace"),
    (Format::Blkparse, "blkparse"),
    (Format::TraceEvents, "trace-events"),
    (Format::Msr, "msr"),
    (Format::Alibaba, "alibaba"),
    (Format::Tencent, "tencent"),
    (Format::Spc, "spc"),
    (Format::Systor, "systor"),
    (Format::Fiu, "fiu"),
    (Format::VscsiOne, "vscsi1"),
    (Format::VscsiTwo, "vscsi2"),
    (Format::CloudPhysics, "cloudphysics-csv"),
    (Format::FioLog, "fio-iolog"),
    (Format::DiskSim, "disksim"),
    (Format::DiskSimValidate, "disksim-validate"),
    (Format::SsdSim, "ssdsim"),
    (Format::Replayer, "replayer"),
    (Format::OracleGeneral, "oracle-general"),
];

impl Format {
    /// All formats.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|(format, _)| *format)
    }

    /// The name, as in `--format` and in [`ioscape_schema::TraceInfo::format`].
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(format, _)| *format == self).map_or("", |(_, name)| name)
    }

    /// All names, for messages.
    pub fn names() -> String {
        NAMES.map(|(_, name)| name).join(", ")
    }
}

impl FromStr for Format {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        NAMES
            .iter()
            .find(|(_, name)| *name == text)
            .map(|(format, _)| *format)
            .ok_or_else(|| format!("no such format: known are {}", Self::names()))
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
