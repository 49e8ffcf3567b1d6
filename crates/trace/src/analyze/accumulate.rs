//! The common shape of every analysis: fed rows in order of arrival, merged with later parts, asked
//! for its result.

use ioscape_schema::Io;

/// An analysis that learns something from the rows of a trace in one pass.
pub trait Accumulate {
    /// Takes in the next row; rows come in order of arrival (`queued_ns`).
    fn update(&mut self, io: &Io);

    /// Takes in the next rows.
    fn update_all(&mut self, ios: &[Io]) {
        for io in ios {
            self.update(io);
        }
    }

    /// Adds what `later` saw, as if its rows had followed those already taken in.
    fn merge(&mut self, later: Self);
}
