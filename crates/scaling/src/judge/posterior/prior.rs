//! Prior on ends of levels: how many there are, where they lie, and what memory holds.

use super::ends::{LevelEnd, Requests, log_prior};
use super::place::Places;
use ioscape_schema::{BorderOperation, Bounded};

/// Most ends of levels that are searched for.
pub(crate) const MOST: usize = 4;
/// Prior of the number of ends, 0 to [`MOST`].
const COUNT: [f64; MOST + 1] = [0.2, 0.43, 0.23, 0.11, 0.03];
/// Prior factor for what memory holds being no border at all.
const HELD_IS_NONE: f64 = 0.1;
/// An end within this many standard deviations of what memory holds is the end of memory.
const AT_HELD: f64 = 5.0;
/// Least standard deviation of what memory holds, in ln(bytes).
const HELD_LEAST: f64 = 0.004;
/// Log odds against no end of writes where dirty bytes show that writers are held up.
const NOT_HELD_UP: f64 = 4.0;
/// Log odds against an end for reads in sets that memory holds.
const WITHIN_HELD: f64 = 8.0;
/// Sets smaller than this, in bytes, concern the processors' caches; and the log odds against an
/// end there.
const SMALL: f64 = 16.0 * 1_048_576.0;
const AMONG_SMALL: f64 = 5.0;

/// Logarithm of the density of a normal distribution, by its mean and standard deviation.
pub(crate) fn log_density(at: f64, [mean, sd]: [f64; 2]) -> f64 {
    -0.5 * ((at - mean) / sd).powi(2) - (sd * 2.5066).ln()
}

/// Prior on ends, by where they may lie and by what memory holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prior {
    /// Where ends may be, in ln(bytes).
    pub range: [f64; 2],
    /// Mean and standard deviation of what memory holds, in ln(bytes).
    pub held: Option<[f64; 2]>,
    /// Between which sets writers begin to be held up, by dirty bytes, in ln(bytes).
    pub limit: Option<[f64; 2]>,
}

impl Prior {
    /// Creates the prior on ends within `range`, in ln(bytes), if memory holds `held`, in bytes, of
    /// a set by its residency, and writers are held up from within `limit`, in bytes, on.
    pub(crate) fn new(held: Option<Bounded>, limit: Option<[f64; 2]>, range: [f64; 2]) -> Self {
        let sd = |held: Bounded| ((held.high / held.low).ln() / 3.92).max(HELD_LEAST);
        let held = held.map(|held| [held.value.ln(), sd(held)]);
        Self { range, held, limit: limit.map(|limit| limit.map(f64::ln)) }
    }

    /// Whether dirty bytes show that writers begin to be held up there.
    fn is_at_limit(&self, log_bytes: f64) -> bool {
        self.limit.is_some_and(|[low, high]| (low..=high).contains(&log_bytes))
    }

    /// Returns the standard deviation of what memory holds, in ln(bytes), if this end is the end of
    /// memory.
    pub(crate) fn held_at(&self, end: &LevelEnd) -> Option<f64> {
        let [mean, sd] = self.held?;
        let is_near = (end.log_bytes - mean).abs() < AT_HELD * sd;
        (end.of.has(BorderOperation::Read) && is_near).then_some(sd)
    }

    /// Returns where memory ends, by its residency alone.
    ///
    /// Throughput shows that there is an end, but not as well where. In sets that hardly outgrew a
    /// control group of 512 MiB, which held 505 MiB of what was read, the few misses took up to
    /// twice as long as in larger sets, so the law of their times put the end at 486.
    pub(crate) fn held_places(&self) -> Places {
        let [mean, sd] = self.held.unwrap_or_default();
        Places::new(mean, 4.0 * sd, |at| log_density(at, [mean, sd]).exp())
    }

    /// Returns the prior of a place for the end of one kind of request that all place at `end`,
    /// relative to other places: by what memory holds of the sets read, or by dirty bytes.
    pub(crate) fn of_one(&self, operation: BorderOperation, end: f64, log_bytes: f64) -> f64 {
        let is_of_writes = operation == BorderOperation::Write;
        if is_of_writes && self.is_at_limit(end) && !self.is_at_limit(log_bytes) {
            return (-NOT_HELD_UP).exp();
        }
        match self.held {
            Some([mean, sd])
                if operation == BorderOperation::Read && log_bytes < mean - AT_HELD * sd =>
            {
                (-WITHIN_HELD).exp()
            }
            _ => 1.0,
        }
    }

    /// Logarithm of the prior of places, kinds and requests.
    pub(crate) fn log(&self, ends: &[LevelEnd]) -> f64 {
        let none = self.held.is_some() && !ends.iter().any(|e| self.held_at(e).is_some());
        let holds_up =
            |e: &LevelEnd| e.of.has(BorderOperation::Write) && self.is_at_limit(e.log_bytes);
        let is_limited = self.limit.is_none() || ends.iter().any(holds_up);
        let own = |e: &LevelEnd| self.log_place(e) + log_prior(e.overflow);
        let orders: f64 = (1..=ends.len()).map(|n| (n as f64).ln()).sum();
        ends.iter().map(own).sum::<f64>()
            + Requests::log_prior(ends)
            + orders
            + COUNT[ends.len()].ln()
            + if none { HELD_IS_NONE.ln() } else { 0.0 }
            - if is_limited { 0.0 } else { NOT_HELD_UP }
    }

    /// Logarithm of the prior density of the place of one end.
    fn log_place(&self, end: &LevelEnd) -> f64 {
        let [low, high] = self.range;
        let even = -(high - low).max(0.1).ln();
        let place = match (self.held, self.held_at(end)) {
            (Some([mean, sd]), Some(_)) => log_density(end.log_bytes, [mean, sd]),
            (Some([mean, _]), None)
                if end.of.has(BorderOperation::Read) && end.log_bytes < mean =>
            {
                even - WITHIN_HELD
            }
            _ => even,
        };
        if end.log_bytes < SMALL.ln() { place - AMONG_SMALL } else { place }
    }
}

#[cfg(test)]
mod tests {
    use super::super::overflow::Overflow;
    use super::*;

    #[test]
    fn an_end_is_likely_where_memory_ends_and_not_in_what_it_holds() {
        let range = [16.0, 24.0];
        let held = Some(Bounded { value: 20f64.exp(), low: 19.98f64.exp(), high: 20.02f64.exp() });
        let (open, known) = (Prior::new(None, None, range), Prior::new(held, None, range));
        let at = |log_bytes, of| [LevelEnd { log_bytes, overflow: Overflow::Random, of }];
        let gains = |log_bytes, of| known.log(&at(log_bytes, of)) - open.log(&at(log_bytes, of));
        assert!(gains(20.0, Requests::All) > 3.0, "its density is that of its bounds");
        assert!(gains(18.0, Requests::Reads) < -5.0);
        // An end of writes alone may lie anywhere; memory's own end is then missing.
        assert!((gains(18.0, Requests::Writes) - HELD_IS_NONE.ln()).abs() < 1e-9);
        assert_eq!(known.held_at(&at(18.0, Requests::All)[0]), None);
        assert!(known.held_at(&at(20.01, Requests::All)[0]).is_some());
        assert_eq!(known.held_at(&at(20.01, Requests::Writes)[0]), None);
        // Bounds of what memory holds are those of its residency.
        let place = known.held_places().bounds(0.0);
        let off = [place.low - 19.98, place.at - 20.0, place.high - 20.02];
        assert!(off.iter().all(|off| off.abs() < 0.002), "{off:?}");
    }

    #[test]
    fn an_end_of_writes_is_likely_where_dirty_bytes_hold_them_up() {
        let range = [16.0, 24.0];
        let limit = Some([19.0f64.exp(), 20.0f64.exp()]);
        let (open, limited) = (Prior::new(None, None, range), Prior::new(None, limit, range));
        let gains = |log_bytes, of| {
            let ends = [LevelEnd { log_bytes, overflow: Overflow::Random, of }];
            limited.log(&ends) - open.log(&ends)
        };
        assert_eq!(gains(19.5, Requests::Writes), 0.0);
        assert_eq!(gains(19.5, Requests::All), 0.0);
        assert!((gains(19.5, Requests::Reads) + NOT_HELD_UP).abs() < 1e-9);
        assert!((gains(21.0, Requests::Writes) + NOT_HELD_UP).abs() < 1e-9);
        let of = |operation, end| limited.of_one(operation, end, 21.0);
        assert!(of(BorderOperation::Write, 19.5) < 0.02);
        assert_eq!(of(BorderOperation::Write, 22.0), 1.0, "another end of writes");
        assert_eq!(of(BorderOperation::Read, 19.5), 1.0);
    }
}
