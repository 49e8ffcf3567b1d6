//! Lays out a set to learn how fast that is, or anew to let it lie elsewhere.

use super::options::RunOptions;
use super::state::Session;
use crate::worker::task::Task;
use ioscape_machine::error::Error;
use std::time::Instant;

/// The most of a set that is laid out to learn how fast that is, in bytes.
const LAYOUT_TRIAL: u64 = 1 << 30;
/// Below this many bytes, no rate is derived.
const LAYOUT_LEAST: u64 = 16 << 20;

impl Session {
    /// Measures how fast a set of `most` bytes is laid out, in bytes per second; `None` if that is
    /// too little to tell. Lays out a first part, doubles it until that took `enough_s` seconds,
    /// and returns the rate of the last half; of the one before if the last had no room.
    pub fn layout_rate(
        &mut self,
        most: u64,
        enough_s: f64,
        options: &RunOptions,
    ) -> Result<Option<f64>, Error> {
        let most = LAYOUT_TRIAL.min(most);
        let begun = Instant::now();
        // The first touch of memory and of a new file is several times slower than later ones.
        let mut trial = (LAYOUT_LEAST / 2).min(most / 2);
        self.layout(trial, options)?;
        let mut rate = None;
        loop {
            let (from, to) = (trial, (2 * trial).clamp(LAYOUT_LEAST.min(most), most));
            let started = Instant::now();
            match self.layout(to, options) {
                Err(error) if self.lacks_room(to, &error) => return Ok(rate),
                laid_out => laid_out?,
            }
            trial = to;
            let elapsed_s = started.elapsed().as_secs_f64();
            let is_told = trial >= LAYOUT_LEAST && elapsed_s > 0.0;
            rate = is_told.then(|| (to - from) as f64 / elapsed_s);
            if to >= most || begun.elapsed().as_secs_f64() >= enough_s {
                return Ok(rate);
            }
        }
    }

    /// Lays out the first `bytes` of a scratch file anew, in other pages and blocks. Keeps what a
    /// larger set has beyond them, unless the file system makes no holes.
    ///
    /// # Errors
    /// As [`Self::layout`].
    pub fn layout_anew(&mut self, bytes: u64, options: &RunOptions) -> Result<(), Error> {
        let before = self.laid_out;
        if self.target.is_scratch() && before > 0 {
            self.do_task(&Task::Free(bytes), options, None).1?;
            (self.laid_out, self.touched, self.left) = (0, 0, (0, 0));
        }
        self.layout(bytes, options)?;
        if self.target.len()? >= before {
            self.laid_out = self.laid_out.max(before);
        }
        Ok(())
    }
}
