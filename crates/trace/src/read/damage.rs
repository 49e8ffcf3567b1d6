//! Reads damaged or truncated compressed files up to the damage, and describes it.

use super::members::NoMember;
use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The damage found in one source, readable while it is read and afterwards.
#[derive(Clone, Debug, Default)]
pub(crate) struct Damage(Arc<Mutex<Option<String>>>);

impl Damage {
    /// Returns the sentence that describes the damage, if there is any.
    pub fn told(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn tell(&self, text: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }
}

/// A reader that counts the compressed bytes that the decompressor takes.
pub(crate) struct Taken<R> {
    bytes: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Taken<R> {
    /// Counts the bytes taken from `bytes` in `count`.
    pub fn new(bytes: R, count: Arc<AtomicU64>) -> Self {
        Self { bytes, count }
    }
}

impl<R: Read> Read for Taken<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(into)?;
        self.count.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// The unpacked bytes of a source, up to its damage.
pub(crate) struct UpToDamage {
    /// Its name, for the sentence.
    pub name: String,
    /// The unpacked bytes.
    pub bytes: Box<dyn Read + Send>,
    /// Compressed bytes taken so far.
    pub taken: Arc<AtomicU64>,
    /// Total compressed bytes, if known.
    pub length: Option<u64>,
    /// Whether to end at the damage rather than fail.
    pub skip_bad: bool,
    /// Receives the description of the damage.
    pub damage: Damage,
}

impl UpToDamage {
    fn sentence(&self, error: &io::Error) -> String {
        let taken = self.taken.load(Ordering::Relaxed);
        match self.length {
            _ if error.get_ref().is_some_and(|inner| inner.is::<NoMember>()) => {
                format!("followed by {NoMember}: these were not read")
            }
            _ if error.kind() == io::ErrorKind::UnexpectedEof => {
                format!("cut off at compressed byte {taken}: what is missing cannot be told")
            }
            Some(length) if taken < length => {
                let left = length - taken;
                format!(
                    "damaged before compressed byte {taken} of {length} ({error}): {left} were not read, and rows just before may be wrong"
                )
            }
            _ => format!(
                "damaged somewhere before its end ({error}): rows behind the damage are wrong"
            ),
        }
    }
}

impl Read for UpToDamage {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.damage.told().is_some() {
            return Ok(0);
        }
        match self.bytes.read(into) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                let sentence = self.sentence(&error);
                if self.skip_bad {
                    self.damage.tell(format!("{} is {sentence}", self.name));
                    return Ok(0);
                }
                let text = format!("{sentence}; --skip-bad reads up to there");
                Err(io::Error::new(error.kind(), text))
            }
            other => other,
        }
    }
}
