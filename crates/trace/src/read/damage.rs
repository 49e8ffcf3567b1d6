//! Compressed bytes that are damaged or cut off: read up to the damage, which is told.

use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What was found of one source, while it is read or afterwards.
#[derive(Clone, Debug, Default)]
pub(crate) struct Damage(Arc<Mutex<Option<String>>>);

impl Damage {
    /// The sentence, if there is damage.
    pub fn told(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn tell(&self, text: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }
}

/// Counts the compressed bytes that the decompressor took.
pub(crate) struct Taken<R> {
    bytes: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Taken<R> {
    /// Counts into `count`.
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

/// Unpacked bytes of a source.
pub(crate) struct UpToDamage {
    /// Its name, for the sentence.
    pub name: String,
    /// The unpacked bytes.
    pub bytes: Box<dyn Read + Send>,
    /// Compressed bytes taken so far.
    pub taken: Arc<AtomicU64>,
    /// Compressed bytes in all, where that is known.
    pub length: Option<u64>,
    /// Whether to end at the damage instead of failing.
    pub skip_bad: bool,
    /// Where it is told.
    pub damage: Damage,
}

impl UpToDamage {
    fn sentence(&self, error: &io::Error) -> String {
        let taken = self.taken.load(Ordering::Relaxed);
        match self.length {
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
