//! Recognises files of this program by their content.

use ioscape_schema::text::{
    DRIVE_MARK, JOBS_MARK, MANUAL_MARK, METRICS_MARK, PAGE_MARK, RESULT_MARK, STATE_MARK,
    TRACE_MARK,
};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Bytes examined at the beginning of a file.
const HEAD: u64 = 4096;
/// Bytes examined at the end of a Parquet file, which names its writer.
const TAIL: u64 = 64 << 10;

/// The content of a file of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A document: a result as JSON.
    Document,
    /// A page of HTML.
    Page,
    /// A trace, or rows of one.
    Trace,
    /// The state of an analysis.
    State,
    /// A job file.
    Jobs,
    /// A fitted drive.
    Drive,
    /// A manual page.
    Manual,
    /// Metrics as OpenMetrics text.
    Metrics,
}

/// First words by which texts are recognised.
const TEXTS: [(&str, Content); 6] = [
    (TRACE_MARK, Content::Trace),
    (STATE_MARK, Content::State),
    (JOBS_MARK, Content::Jobs),
    (DRIVE_MARK, Content::Drive),
    (MANUAL_MARK, Content::Manual),
    (METRICS_MARK, Content::Metrics),
];

impl Content {
    /// Returns the content of `file`; `None` for files that are not ours.
    ///
    /// Traces in other programs' formats look the same whoever wrote them, and do not count as
    /// ours.
    pub fn of(file: &File) -> Option<Self> {
        recognised(file).ok().flatten()
    }

    /// Returns the content in words, for a sentence.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Document => "a result",
            Self::Page => "a page",
            Self::Trace => "a trace",
            Self::State => "the state of an analysis",
            Self::Jobs => "a job file",
            Self::Drive => "a fitted drive",
            Self::Manual => "a manual page",
            Self::Metrics => "a file of metrics",
        }
    }
}

fn recognised(mut file: &File) -> io::Result<Option<Content>> {
    let head = part(file, HEAD)?;
    if head.starts_with(b"PAR1") {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
        let tail = part(file, TAIL)?;
        let is_ours = tail.windows(8).any(|part| part == b"ioscape ");
        return Ok(is_ours.then_some(Content::Trace));
    }
    let head = String::from_utf8_lossy(&head);
    let tight: String = head.chars().filter(|c| !c.is_whitespace()).collect();
    if tight.starts_with('{') && tight.contains(RESULT_MARK) {
        return Ok(Some(Content::Document));
    }
    if head.contains(PAGE_MARK) {
        return Ok(Some(Content::Page));
    }
    Ok(TEXTS.iter().find(|(mark, _)| head.starts_with(mark)).map(|(_, content)| *content))
}

fn part(file: &File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn content(bytes: &[u8]) -> Option<Content> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        Content::of(&file)
    }

    #[test]
    fn results_are_told_from_other_files_and_from_one_another() {
        let page = format!("<!DOCTYPE html><head>{PAGE_MARK}0.1.0\">");
        for (text, expected) in [
            ("{\n  \"schema\": \"ioscape/1\",\n", Content::Document),
            (page.as_str(), Content::Page),
            ("PAR1....ioscape 0.1.0....PAR1", Content::Trace),
            ("# ioscape trace {}\n", Content::Trace),
            (STATE_MARK, Content::State),
            (JOBS_MARK, Content::Jobs),
            (DRIVE_MARK, Content::Drive),
            (MANUAL_MARK, Content::Manual),
            ("# HELP ioscape_run_info The machine.\n", Content::Metrics),
        ] {
            assert_eq!(content(text.as_bytes()), Some(expected), "{text}");
        }
        for other in ["", "{}", "[]", "{\"a\": 1}", "PAR1 parquet-mr PAR1", "<!DOCTYPE html>", "x"]
        {
            assert_eq!(content(other.as_bytes()), None, "{other}");
        }
        assert_eq!(content(&[0xff; 10_000]), None);
    }
}
