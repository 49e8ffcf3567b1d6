//! Job files in every supported format, recognised by the ending of the name.

use super::{KnownJobs, LineError, parse_jobs};
use crate::fio::parse_fio_jobs;
use crate::vdbench::parse_vdbench;

/// Parses a job file; each reason for refusing it is a sentence.
type Read = fn(&str) -> Result<KnownJobs, Vec<String>>;

/// The endings of job files, and their parsers.
const FORMATS: [(&[&str], Read); 3] =
    [(&["toml"], toml), (&["fio"], fio), (&["vdb", "vdbench", "parm"], vdbench)];

impl KnownJobs {
    /// Whether a file name with this ending is that of a job file.
    pub fn is_ending(ending: &str) -> bool {
        FORMATS.iter().any(|(endings, _)| endings.contains(&ending))
    }

    /// Parses `text` of a file whose name has this ending; unknown endings mean our own format.
    ///
    /// # Errors
    /// Everything that cannot be carried out as written, one sentence each.
    pub fn parse(ending: &str, text: &str) -> Result<Self, Vec<String>> {
        let known = FORMATS.iter().find(|(endings, _)| endings.contains(&ending));
        known.map_or(toml as Read, |(_, read)| *read)(text)
    }
}

fn toml(text: &str) -> Result<KnownJobs, Vec<String>> {
    let jobs = parse_jobs(text).map_err(|error| vec![error.to_string()])?;
    Ok(KnownJobs { jobs, ..KnownJobs::default() })
}

fn fio(text: &str) -> Result<KnownJobs, Vec<String>> {
    parse_fio_jobs(text).map_err(sentences)
}

fn vdbench(text: &str) -> Result<KnownJobs, Vec<String>> {
    parse_vdbench(text).map_err(sentences)
}

fn sentences(all: Vec<LineError>) -> Vec<String> {
    all.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_apart_by_their_endings() {
        let ours = "[[job]]\nname = \"a\"\n";
        for ending in ["toml", ""] {
            assert_eq!(KnownJobs::parse(ending, ours).unwrap().jobs[0].name, "a");
        }
        let fio = KnownJobs::parse("fio", "[a]\nrw=read\nsize=1m\n").unwrap();
        assert_eq!(fio.jobs[0].workload.read_frac, 1.0);
        let wrong = KnownJobs::parse("vdb", "rd=a,wd=b\nrd=c,wd=d\n").unwrap_err();
        assert!(!wrong.is_empty());
        assert!(KnownJobs::is_ending("parm") && !KnownJobs::is_ending("json"));
    }
}
