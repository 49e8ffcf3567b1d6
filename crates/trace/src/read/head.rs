//! The first bytes of a source, and how much they look like a format.

use super::input::Input;
use crate::error::Error;

/// The most bytes examined.
const HEAD: usize = 1 << 16;
/// The most lines examined.
const LINES: usize = 64;

/// How much a source looks like a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Likeness {
    /// This many of the first lines can be rows of the format. Other formats may fit more lines.
    Lines(usize),
    /// The same, but in the units of the format they would be at impossible times or places.
    Doubtful(usize),
    /// The source begins as no other format does: by a magic number, a header, or a form of its
    /// own.
    Certain,
}

impl Likeness {
    /// Returns `Certain` if `found`, else `NONE`.
    pub fn certain_if(found: bool) -> Self {
        if found { Self::Certain } else { Self::NONE }
    }

    /// The source does not look like the format at all.
    pub const NONE: Self = Self::Lines(0);
}

/// The first bytes of a source, unpacked.
pub(crate) struct Head<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// The first whole lines, without their ends, empty lines and comments.
    pub lines: Vec<&'a [u8]>,
}

impl<'a> Head<'a> {
    /// Examines the beginning of `input` without consuming it.
    ///
    /// # Errors
    /// The source cannot be read.
    pub fn of(input: &'a mut Input) -> Result<Self, Error> {
        let bytes = input.peek(HEAD)?;
        Ok(Self::of_bytes(&bytes[..bytes.len().min(HEAD)]))
    }

    /// Examines the beginning of a source.
    pub fn of_bytes(bytes: &'a [u8]) -> Self {
        let lines = lines(bytes).take(LINES).collect();
        Self { bytes, lines }
    }

    /// Returns all lines at hand, not only the first.
    pub fn all_lines(&self) -> Vec<&'a [u8]> {
        lines(self.bytes).collect()
    }

    /// Returns the first line if it names the fields: it has no digits, and the next one has.
    pub fn names(&self) -> Option<&'a [u8]> {
        let has_digits = |line: &[u8]| line.iter().any(u8::is_ascii_digit);
        let [first, second, ..] = self.lines[..] else { return None };
        (!has_digits(first) && has_digits(second)).then_some(first)
    }

    /// Whether the bytes cannot be text.
    pub fn is_binary(&self) -> bool {
        self.bytes.contains(&0)
    }
}

/// Returns the whole lines that are neither empty nor comments, without their ends.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = match bytes.len() {
        HEAD.. => memchr::memrchr(b'\n', bytes).unwrap_or(0),
        all => all,
    };
    let lines = bytes[..whole].split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"))
}
