//! The trace formats by name.

use std::str::FromStr;

/// A trace format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// HP Labs' SRT, versions 1.x and 1.7.
    HpSrt,
}

impl Format {
    /// All formats with their names.
    pub const ALL: [(Self, &'static str); 1] = [(Self::HpSrt, "hp-srt")];

    /// The name, as in `--format` and in [`ioscape_schema::TraceInfo::format`].
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(format, _)| *format == self).map_or("", |(_, name)| name)
    }

    /// All names, for messages.
    pub fn names() -> String {
        Self::ALL.map(|(_, name)| name).join(", ")
    }
}

impl FromStr for Format {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .iter()
            .find(|(_, name)| *name == text)
            .map(|(format, _)| *format)
            .ok_or_else(|| format!("no such format: known are {}", Self::names()))
    }
}
