//! Rows that lack a required value: finds them in the columns and leaves them out.

use ioscape_schema::Io;

/// Which of the rows read together lack a required value; empty if none does.
#[derive(Default)]
pub(crate) struct Gaps(Vec<bool>);

impl Gaps {
    /// Marks the rows in which a column has no value, and returns the place of the first.
    pub fn add(&mut self, absent: impl ExactSizeIterator<Item = bool> + Clone) -> Option<usize> {
        let first = absent.clone().position(|absent| absent)?;
        self.0.resize(absent.len(), false);
        self.0.iter_mut().zip(absent).for_each(|(lacks, absent)| *lacks |= absent);
        Some(first)
    }

    /// Removes the marked rows, where the rows read together begin at place `from`. Returns how
    /// many it removed.
    pub fn leave_out(&self, from: usize, rows: &mut Vec<Io>) -> u64 {
        if self.0.is_empty() {
            return 0;
        }
        let had = rows.len();
        let read = rows.split_off(from);
        let whole = read.into_iter().zip(&self.0).filter(|(_, lacks)| !**lacks);
        rows.extend(whole.map(|(io, _)| io));
        (had - rows.len()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_lack_one_value_or_several_are_left_out_once() {
        let mut rows: Vec<Io> = (0..6).map(|queued_ns| Io { queued_ns, ..Io::default() }).collect();
        let mut gaps = Gaps::default();
        assert_eq!((gaps.add([false; 4].into_iter()), gaps.leave_out(2, &mut rows)), (None, 0));
        assert_eq!(gaps.add([false, true, false, false].into_iter()), Some(1));
        assert_eq!(gaps.add([false, true, false, true].into_iter()), Some(1));
        assert_eq!(gaps.leave_out(2, &mut rows), 2);
        assert_eq!(rows.iter().map(|io| io.queued_ns).collect::<Vec<_>>(), [0, 1, 2, 4]);
    }
}
