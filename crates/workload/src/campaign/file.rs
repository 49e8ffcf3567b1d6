//! The contents of a campaign file, as types.

use ioscape_schema::Prepare;
use ioscape_schema::units::Bytes;
use serde::Deserialize;

/// The most rows of a table.
pub const ROWS_MAX: usize = 10_000;

/// Why a campaign file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CampaignError {
    /// The text is no campaign: it has a syntax error, an unknown key, or a value of the wrong
    /// type.
    #[error("line {line}: {message}")]
    Text {
        /// Line of the file, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A row or method does not describe a valid run.
    #[error("{place}: {message}")]
    Meaning {
        /// The part of the file.
        place: String,
        /// What is wrong and what to do.
        message: String,
    },
    /// Every row needs larger files than the limit in bytes allows.
    #[error(
        "no row is left with files of at most {}: free some space, or give a larger --max-file-size",
        Bytes(*.0 as f64)
    )]
    NoRow(u64),
}

/// Settings of a run; a method's settings override those of `[base]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Like `-w` of `vxbench`, or an operation on names: `create`, `stat`, `rename`, `list` or
    /// `unlink`.
    pub workload: Option<String>,
    /// Like `-i`, but iosize, iocount and nthreads follow from the other settings.
    pub options: Option<String>,
    /// Like `-c`.
    pub cache: Option<String>,
    /// Like `-o`.
    pub open: Option<String>,
    /// Like `-r`: `file` reserves the size of the file.
    pub reservation: Option<String>,
    /// Like `-f`.
    pub flags: Option<String>,
    /// Like `--direct-above`.
    pub direct_above: Option<String>,
    /// Size of each request.
    pub iosize: Option<String>,
    /// Size of each file.
    pub file_size: Option<String>,
    /// Files read or written concurrently, one user each.
    pub files: Option<u32>,
    /// Files that exist; at least `files`.
    pub files_written: Option<u32>,
    /// Files of each thread, for operations on names.
    pub entries: Option<String>,
    /// Whether all threads work on names in one directory.
    pub shared: Option<bool>,
    /// Files that the directories hold beforehand.
    pub tree_files: Option<String>,
    /// How often half of those were removed and created again.
    pub tree_churn: Option<u32>,
    /// Share of the file system's space that is in use beforehand, in percent.
    pub fill_percent: Option<u32>,
    /// How often half of the files in that space were removed and replaced.
    pub fill_turnover: Option<u32>,
    /// Streams on each file, which divide its requests among them.
    pub threads: Option<u32>,
    /// Requests that each stream keeps in flight, through `io_uring`.
    pub queue_depth: Option<u32>,
    /// Requests of all streams on each file, for random workloads.
    pub ios: Option<String>,
    /// How the files are created.
    pub prepare: Option<Prepare>,
    /// Pieces in which aged files are written.
    pub age_piece: Option<String>,
    /// Whether the files are evicted from the file cache before each run.
    pub cold: Option<bool>,
}

/// One way to do the I/O: a column per place.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// Heading.
    pub name: String,
    /// Whether it uses a raw device instead of a directory.
    #[serde(default)]
    pub raw: bool,
    /// What differs from `[base]`.
    #[serde(default, rename = "with")]
    pub settings: Settings,
}

/// A parameter that varies.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vary {
    /// Its name, such as `iosize` or `threads`.
    pub name: String,
    /// Its values, in the order of the rows.
    pub values: Vec<Text>,
}

/// A value written as a number or as text.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Text {
    /// `64`.
    Number(u64),
    /// `"64k"`.
    Text(String),
}

impl Text {
    /// Returns the value as written in the file.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// A campaign file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Campaign {
    /// Title of the table.
    pub title: String,
    /// The source that the table follows, for readers.
    #[serde(default)]
    pub source: String,
    /// What the table shows, in a sentence or two.
    #[serde(default)]
    pub about: String,
    /// How often every cell is measured.
    #[serde(default = "rounds")]
    pub rounds: u32,
    /// The parameter on the horizontal axis of the graphs; by default the last one that varies.
    #[serde(default)]
    pub x: Option<String>,
    /// Settings common to all methods.
    #[serde(default)]
    pub base: Settings,
    /// The parameters that vary, outermost first.
    #[serde(default)]
    pub vary: Vec<Vary>,
    /// The columns of each place.
    #[serde(default)]
    pub method: Vec<Method>,
}

fn rounds() -> u32 {
    5
}
