//! What a campaign file says, as types.

use ioscape_schema::Prepare;
use ioscape_schema::units::Bytes;
use serde::Deserialize;

/// Most rows of a table.
pub const ROWS_MAX: usize = 10_000;

/// Why a campaign file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CampaignError {
    /// The text is no campaign: a syntax error, an unknown key, a value of the wrong kind.
    #[error("line {line}: {message}")]
    Text {
        /// Line of the file, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A row or method that makes no run.
    #[error("{place}: {message}")]
    Meaning {
        /// Which part.
        place: String,
        /// What is wrong and what to do.
        message: String,
    },
    /// Files may not be as large as every row needs, but of so many bytes at most.
    #[error(
        "no row is left with files of at most {}: free some space, or give a larger --max-file-size",
        Bytes(*.0 as f64)
    )]
    NoRow(u64),
}

/// Settings of a run; those of a method replace those of `[base]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// As `-w` of `vxbench`; or an operation on names: `create`, `stat`, `rename`, `list` or `unlink`.
    pub workload: Option<String>,
    /// As `-i`; iosize, iocount and nthreads follow from the other settings.
    pub options: Option<String>,
    /// As `-c`.
    pub cache: Option<String>,
    /// As `-o`.
    pub open: Option<String>,
    /// As `-r`: `file` reserves the size of the file.
    pub reservation: Option<String>,
    /// As `-f`.
    pub flags: Option<String>,
    /// As `--direct-above`.
    pub direct_above: Option<String>,
    /// Size of each request.
    pub iosize: Option<String>,
    /// Size of each file.
    pub file_size: Option<String>,
    /// Files read or written at the same time, one user each.
    pub files: Option<u32>,
    /// Files that exist; at least `files`.
    pub files_written: Option<u32>,
    /// Files of each thread, of operations on names.
    pub entries: Option<String>,
    /// Whether all threads work on names in one directory.
    pub shared: Option<bool>,
    /// Files that lie in those directories beforehand.
    pub tree_files: Option<String>,
    /// Times that half of those were removed and made again.
    pub tree_churn: Option<u32>,
    /// Share of the file system's space that is used beforehand, in percent.
    pub fill_percent: Option<u32>,
    /// Times that half of the files which use it were removed and others made.
    pub fill_turnover: Option<u32>,
    /// Streams on each file, which share its requests out.
    pub threads: Option<u32>,
    /// Requests that each stream has in flight, through `io_uring`.
    pub queue_depth: Option<u32>,
    /// Requests of all streams of a random workload together.
    pub ios: Option<String>,
    /// How the files come about.
    pub prepare: Option<Prepare>,
    /// Pieces in which aged files are written.
    pub age_piece: Option<String>,
    /// Whether the files are dropped from the file cache before each run.
    pub cold: Option<bool>,
}

/// One way of doing the I/O: a column per place.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// Heading.
    pub name: String,
    /// On a raw device instead of in a directory.
    #[serde(default)]
    pub raw: bool,
    /// What differs from `[base]`.
    #[serde(default, rename = "with")]
    pub settings: Settings,
}

/// One parameter that varies.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vary {
    /// One of the parameters that may vary, such as `iosize` or `threads`.
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
    /// The value as the file gives it.
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
    /// What the table follows, for readers.
    #[serde(default)]
    pub source: String,
    /// What the table shows, in a sentence or two.
    #[serde(default)]
    pub about: String,
    /// Times that every cell is measured.
    #[serde(default = "rounds")]
    pub rounds: u32,
    /// Parameter on the horizontal axis of the graphs; the last one that varies unless given.
    #[serde(default)]
    pub x: Option<String>,
    /// Settings of all methods.
    #[serde(default)]
    pub base: Settings,
    /// What varies, the outermost first.
    #[serde(default)]
    pub vary: Vec<Vary>,
    /// The columns of each place.
    #[serde(default)]
    pub method: Vec<Method>,
}

fn rounds() -> u32 {
    5
}
