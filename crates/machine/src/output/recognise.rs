//! Whether a file is a result of this program, by what it holds.

use ioscape_schema::text::{
    DRIVE_MARK, JOBS_MARK, MANUAL_MARK, METRICS_MARK, PAGE_MARK, RESULT_MARK, STATE_MARK,
    TRACE_MARK,
};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Bytes looked at from the beginning of a file.
const HEAD: u64 = 4096;
/// Bytes looked at at the end of a Parquet file, where it says who wrote it.
const TAIL: u64 = 64 << 10;

/// First words of the texts that are recognised by them.
const TEXTS: [&str; 6] = [TRACE_MARK, STATE_MARK, JOBS_MARK, DRIVE_MARK, MANUAL_MARK, METRICS_MARK];

/// Whether `file` holds a result: a document, a page, a trace or the state of its analysis, rows, jobs, a fitted drive, a manual
/// page, or metrics.
///
/// Traces in the formats of other programs look the same whoever wrote them, and are none.
pub fn is_result(file: &File) -> bool {
    looks_ours(file).unwrap_or(false)
}

fn looks_ours(mut file: &File) -> io::Result<bool> {
    let head = part(file, HEAD)?;
    if head.starts_with(b"PAR1") {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
        let tail = part(file, TAIL)?;
        return Ok(tail.windows(8).any(|part| part == b"ioscape "));
    }
    let head = String::from_utf8_lossy(&head);
    let tight: String = head.chars().filter(|c| !c.is_whitespace()).collect();
    let is_document = tight.starts_with('{') && tight.contains(RESULT_MARK);
    Ok(is_document || head.contains(PAGE_MARK) || TEXTS.iter().any(|text| head.starts_with(text)))
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

    fn is_ours(bytes: &[u8]) -> bool {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        is_result(&file)
    }

    #[test]
    fn results_are_told_from_other_files() {
        assert!(is_ours(b"{\n  \"schema\": \"ioscape/1\",\n"));
        assert!(is_ours(format!("<!DOCTYPE html><head>{PAGE_MARK}0.1.0\">").as_bytes()));
        assert!(is_ours(b"PAR1....ioscape 0.1.0....PAR1"));
        assert!(is_ours(b"# ioscape trace {}\n"));
        assert!(is_ours(b"# HELP ioscape_run_info The machine.\n"));
        for other in ["", "{}", "[]", "{\"a\": 1}", "PAR1 parquet-mr PAR1", "<!DOCTYPE html>", "x"]
        {
            assert!(!is_ours(other.as_bytes()), "{other}");
        }
        assert!(!is_ours(&[0xff; 10_000]));
    }
}
