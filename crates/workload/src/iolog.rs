//! fio's I/O log, version 2: a generated workload that fio can replay request by request.
//!
//! fio's own sequential fraction follows the last request of the same direction, so fio cannot
//! generate a mix of reads and writes as the papers define it. When it replays this log, it issues
//! exactly the same requests.

use ioscape_schema::{Op, Request};
use std::io::{Error, ErrorKind, Result, Write};

/// fio reads a file name from the log into a buffer of 256 bytes.
const NAME_MAX: usize = 255;

/// Writes `requests` as a fio version 2 I/O log for the file `file_name`; lengths and offsets are in bytes.
///
/// Replay it with `fio --name=replay --read_iolog=LOG`.
///
/// # Errors
/// `out` fails; or fio could not read the file name back: it is empty, has blanks or control
/// characters, or is longer than 255 bytes.
pub fn write_fio_iolog(
    out: &mut impl Write,
    file_name: &str,
    requests: impl Iterator<Item = Request>,
) -> Result<()> {
    check_name(file_name).map_err(|problem| Error::new(ErrorKind::InvalidInput, problem))?;
    writeln!(out, "fio version 2 iolog\n{file_name} add\n{file_name} open")?;
    for Request { op, offset, len } in requests {
        let action = match op {
            Op::Read => "read",
            Op::Write => "write",
        };
        writeln!(out, "{file_name} {action} {offset} {len}")?;
    }
    writeln!(out, "{file_name} close")
}

/// Refuses a file name that fio could not read back from a log.
///
/// # Errors
/// It is empty, has blanks or control characters, or is longer than 255 bytes.
pub fn check_name(file_name: &str) -> std::result::Result<(), String> {
    let unreadable = |c: char| c.is_whitespace() || c.is_control();
    if file_name.is_empty() || file_name.len() > NAME_MAX || file_name.contains(unreadable) {
        return Err(format!(
            "file name {file_name:?} cannot be written to a fio log: use 1 to {NAME_MAX} bytes without blanks"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_what_fio_reads() {
        let requests = [
            Request { op: Op::Read, offset: 0, len: 4096 },
            Request { op: Op::Write, offset: 1 << 40, len: 512 },
        ];
        let mut log = Vec::new();
        write_fio_iolog(&mut log, "data.0", requests.into_iter()).unwrap();
        let expected = "fio version 2 iolog\ndata.0 add\ndata.0 open\ndata.0 read 0 4096\n\
                        data.0 write 1099511627776 512\ndata.0 close\n";
        assert_eq!(String::from_utf8(log).unwrap(), expected);
    }

    #[test]
    fn names_that_fio_cannot_read_are_refused() {
        for name in ["", "two words", "line\nbreak", &"x".repeat(256)] {
            let error = write_fio_iolog(&mut Vec::new(), name, std::iter::empty()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{name:?}");
            assert!(error.to_string().contains("without blanks"));
        }
    }
}
