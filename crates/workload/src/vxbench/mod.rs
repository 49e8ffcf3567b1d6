//! Turns the words of `vxbench` (VERITAS white paper, 1996, pp. 5-7) into a job, and the job into
//! its requests.

mod details;
mod error;
mod plan;
mod rules;
#[cfg(test)]
mod tests;

pub use details::DETAILS;
pub use error::VxError;
pub use plan::{VxPlan, VxRequests, plan, plan_on};
pub use rules::validate;

use ioscape_schema::units::parse_bytes;
use ioscape_schema::{VxJob, VxUsers, VxWorkload};

/// The largest request, in bytes.
pub const IOSIZE_MAX: u64 = 1 << 30;

/// The most streams on one file.
pub const NTHREADS_MAX: u64 = 4096;

/// The most repetitions.
const NREP_MAX: u64 = 1 << 30;

/// The words as typed. An entry of a list may hold several words, separated by commas.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VxWords {
    /// `-w`.
    pub workload: String,
    /// `-i`.
    pub suboptions: Vec<String>,
    /// `-o`.
    pub opens: Vec<String>,
    /// `-c`.
    pub cache: Vec<String>,
    /// `-e`.
    pub extsize: Option<String>,
    /// `-r`.
    pub reservation: Option<String>,
    /// `-f`.
    pub flags: Vec<String>,
    /// `-P`, `-p` or `-t`.
    pub users: VxUsers,
    /// `-m`.
    pub lock_buffers: bool,
    /// `--direct-above`.
    pub direct_above: Option<String>,
    /// `--cold`.
    pub cold: bool,
    /// `--best-effort`.
    pub best_effort: bool,
    /// `--verify`.
    pub verify: bool,
    /// `--huge-buffers`.
    pub huge_buffers: bool,
    /// `--queue-depth`.
    pub queue_depth: Option<u32>,
}

const SUBOPTIONS: [&str; 12] = [
    "nrep",
    "nthreads",
    "iosize",
    "fsync",
    "remove",
    "iocount",
    "reserveonly",
    "maxfilesize",
    "randseed",
    "truncup",
    "rdpct",
    "direct_above",
];
const OPENS: [&str; 3] = ["append", "sync", "trunc"];
const CACHE: [&str; 6] = ["atomic", "direct", "dsync", "noreuse", "random", "seq"];
const FLAGS: [&str; 7] = ["align", "chgsize", "chgsiz", "contig", "noextend", "noreserve", "trim"];

/// Returns the job that `words` describe.
///
/// # Errors
/// A word is unknown, a value is invalid, or words contradict each other.
pub fn parse(words: &VxWords) -> Result<VxJob, VxError> {
    let names = VxWorkload::ALL.map(VxWorkload::word);
    let name = known("workload", &words.workload, &names)?;
    let workload = VxWorkload::ALL.into_iter().find(|w| w.word() == name).unwrap_or_default();
    let mut job = VxJob {
        workload,
        users: words.users,
        lock_buffers: words.lock_buffers,
        cold: words.cold,
        best_effort: words.best_effort,
        verify: words.verify,
        huge_buffers: words.huge_buffers,
        queue_depth: words.queue_depth,
        ..VxJob::default()
    };
    suboptions(&mut job, &words.suboptions)?;
    for word in split(&words.opens) {
        match plain("open type (-o)", word, &OPENS)? {
            "append" => job.append = true,
            "sync" => job.sync = true,
            _ => job.trunc = true,
        }
    }
    for word in split(&words.cache) {
        match plain("cache option (-c)", word, &CACHE)? {
            "atomic" => job.atomic = true,
            "direct" => job.direct = true,
            "dsync" => job.dsync = true,
            "noreuse" => job.noreuse = true,
            "random" => job.random = true,
            _ => job.seq = true,
        }
    }
    for word in split(&words.flags) {
        match plain("flag (-f)", word, &FLAGS)? {
            "align" => job.align = true,
            "chgsize" | "chgsiz" => job.chgsize = true,
            "contig" => job.contig = true,
            "noextend" => job.noextend = true,
            "noreserve" => job.noreserve = true,
            _ => job.trim = true,
        }
    }
    let size = |name, text: &Option<String>| text.as_ref().map(|t| bytes(name, t)).transpose();
    job.extsize = size("-e", &words.extsize)?;
    job.reservation = size("-r", &words.reservation)?;
    let above = size("--direct-above", &words.direct_above)?;
    if above.is_some() && job.direct_above.is_some() {
        return Err(VxError::Twice("direct_above"));
    }
    job.direct_above = above.or(job.direct_above);
    validate(&job)?;
    Ok(job)
}

/// Splits several lists into words, without empty ones.
fn split(lists: &[String]) -> impl Iterator<Item = &str> {
    lists.iter().flat_map(|list| list.split(',')).map(str::trim).filter(|word| !word.is_empty())
}

/// Returns the known word that equals `word`.
fn known(kind: &'static str, word: &str, valid: &[&'static str]) -> Result<&'static str, VxError> {
    if let Some(same) = valid.iter().find(|known| **known == word) {
        return Ok(same);
    }
    let alike = |known: &&'static str| (strsim::jaro_winkler(word, known), *known);
    let best = valid.iter().map(alike).max_by(|a, b| a.0.total_cmp(&b.0));
    let nearest = best.filter(|(alike, _)| *alike > 0.7).map(|(_, known)| known);
    Err(VxError::Unknown { kind, word: word.to_owned(), nearest, valid: valid.to_vec() })
}

/// Returns a known word that must not have a value.
fn plain(kind: &'static str, word: &str, valid: &[&'static str]) -> Result<&'static str, VxError> {
    let (name, value) = word.split_once('=').map_or((word, None), |(n, v)| (n, Some(v)));
    let name = known(kind, name, valid)?;
    if value.is_some() { Err(VxError::NeedlessValue(name)) } else { Ok(name) }
}

/// Parses the words of `-i` into `job`.
fn suboptions(job: &mut VxJob, lists: &[String]) -> Result<(), VxError> {
    let mut seen: Vec<&str> = Vec::new();
    for word in split(lists) {
        let (name, value) = word.split_once('=').map_or((word, None), |(n, v)| (n, Some(v.trim())));
        let name = known("suboption of -i", name.trim(), &SUBOPTIONS)?;
        if seen.contains(&name) {
            return Err(VxError::Twice(name));
        }
        seen.push(name);
        suboption(job, name, value)?;
    }
    Ok(())
}

fn suboption(job: &mut VxJob, name: &'static str, value: Option<&str>) -> Result<(), VxError> {
    let needed = || value.ok_or(VxError::NoValue(name));
    match name {
        "fsync" | "remove" | "reserveonly" => {
            if value.is_some() {
                return Err(VxError::NeedlessValue(name));
            }
            match name {
                "fsync" => job.fsync = true,
                "remove" => job.remove = true,
                _ => job.reserve_only = true,
            }
        }
        "truncup" => job.truncup = Some(value.map_or(Ok(0), |text| bytes(name, text))?),
        "nrep" => job.nrep = count(name, needed()?, NREP_MAX)? as u32,
        "nthreads" => job.nthreads = count(name, needed()?, NTHREADS_MAX)? as u32,
        "iosize" => {
            let text = needed()?;
            job.iosize = at_most(name, text, bytes(name, text)?, IOSIZE_MAX)?;
        }
        "iocount" => job.iocount = Some(count(name, needed()?, 1 << 62)?),
        "maxfilesize" => job.max_file_size = Some(kilobytes(name, needed()?)?),
        "direct_above" => job.direct_above = Some(bytes(name, needed()?)?),
        "randseed" => job.rand_seed = whole(name, needed()?, u64::MAX)?,
        _ => job.rdpct = whole(name, needed()?, 100)? as u32,
    }
    Ok(())
}

fn bad(name: &'static str, text: &str, why: impl Into<String>) -> VxError {
    VxError::Value { name, text: text.to_owned(), why: why.into() }
}

/// Parses a size with an optional suffix.
fn bytes(name: &'static str, text: &str) -> Result<u64, VxError> {
    parse_bytes(text).map_err(|error| bad(name, text, error.to_string()))
}

/// Parses a size; bare numbers are KB, as in the paper for `maxfilesize`.
fn kilobytes(name: &'static str, text: &str) -> Result<u64, VxError> {
    let bare = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    bytes(name, &if bare { format!("{text}k") } else { text.to_owned() })
}

/// Parses a count above 0, with an optional suffix, of at most `most`.
fn count(name: &'static str, text: &str, most: u64) -> Result<u64, VxError> {
    let is_whole = !text.contains('.') || text.ends_with(|c: char| c.is_ascii_alphabetic());
    match parse_bytes(text).ok().filter(|_| is_whole) {
        Some(value) => at_most(name, text, value, most),
        None => Err(bad(name, text, "give a whole number above 0, such as 16 or 128k (131072)")),
    }
}

fn at_most(name: &'static str, text: &str, value: u64, most: u64) -> Result<u64, VxError> {
    let why = || bad(name, text, format!("at most {most} is possible"));
    if value <= most { Ok(value) } else { Err(why()) }
}

/// Parses a whole number from 0 to `most`.
fn whole(name: &'static str, text: &str, most: u64) -> Result<u64, VxError> {
    text.parse()
        .ok()
        .filter(|value| *value <= most)
        .ok_or_else(|| bad(name, text, format!("give a whole number from 0 to {most}")))
}
