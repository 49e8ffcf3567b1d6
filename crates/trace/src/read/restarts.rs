//! Sources whose time starts over: recordings joined in one file, or a clock that began anew. Put
//! in the order of arrival, their rows are a mixture.

use ioscape_schema::Io;
use ioscape_schema::units::Nanos;

/// So many rows in a row among earlier ones show that time goes on from there: fewer are late.
const RUN: u64 = 64;
/// A step back of less than one part in this many of the disk's time is disorder.
const PART: u64 = 100;

/// The time of each disk in the order of the source, and its longest step back.
#[derive(Default)]
pub(crate) struct Restarts {
    disks: Vec<Option<Disk>>,
    /// Whether any disk has a step back.
    found: bool,
    rows: u64,
}

struct Disk {
    /// The earliest and the latest arrival.
    span_ns: [u64; 2],
    /// The latest arrival since time last started over.
    reached_ns: u64,
    /// The latest completion since then.
    ended_ns: u64,
    doubted: Option<StepBack>,
    longest: Option<StepBack>,
}

#[derive(Clone, Copy)]
struct StepBack {
    /// Number of the first row behind it.
    row: u64,
    back_ns: u64,
    /// The earliest arrival before it.
    begin_ns: u64,
    /// Rows behind it that arrive among those before it.
    among: u64,
}

impl Restarts {
    /// Takes in the next rows in the order of the source.
    pub fn update(&mut self, rows: &[Io]) {
        for io in rows {
            self.rows += 1;
            let place = usize::from(io.device);
            if place >= self.disks.len() {
                self.disks.resize_with(place + 1, || None);
            }
            match &mut self.disks[place] {
                Some(disk) => self.found |= disk.update(io, self.rows),
                new => *new = Some(Disk::new(io)),
            }
        }
    }

    /// Says where time starts over, if it does; complete after the last row.
    pub fn told(&self) -> Option<String> {
        let disks = self.disks.iter().filter(|_| self.found);
        let longest = disks.flatten().filter_map(Disk::starts_over);
        let StepBack { row, back_ns, .. } = longest.max_by_key(|step| step.back_ns)?;
        Some(format!(
            "time goes back by {} at row {row} and goes on from there, among rows above: if these are several recordings, or a clock began anew, rates, queues, distances and times between arrivals are of all at once; make each a file of its own, and analyze them one by one or compare them (trace compare)",
            Nanos(back_ns as f64)
        ))
    }
}

impl Disk {
    fn new(first: &Io) -> Self {
        let first_ns = first.queued_ns;
        Self {
            span_ns: [first_ns; 2],
            reached_ns: first_ns,
            ended_ns: first.completed_ns.max(first_ns),
            doubted: None,
            longest: None,
        }
    }

    /// Takes in the next row; returns whether it shows that time goes on from behind.
    #[inline]
    fn update(&mut self, io: &Io, row: u64) -> bool {
        let now_ns = io.queued_ns;
        let ended_ns = io.completed_ns.max(now_ns);
        // Rows in the order of completion may go back in that of arrival, but not in both.
        let is_behind = now_ns < self.reached_ns && ended_ns < self.ended_ns;
        let shows = is_behind && self.fall_behind(now_ns, row);
        if shows {
            self.ended_ns = ended_ns;
        }
        if !is_behind {
            self.reached_ns = self.reached_ns.max(now_ns);
            self.ended_ns = self.ended_ns.max(ended_ns);
            self.doubted = None;
        }
        let [begin_ns, end_ns] = self.span_ns;
        self.span_ns = [begin_ns.min(now_ns), end_ns.max(now_ns)];
        shows
    }

    /// Takes in a row that arrives before an earlier one; returns the same.
    fn fall_behind(&mut self, now_ns: u64, row: u64) -> bool {
        let back_ns = self.reached_ns - now_ns;
        let new = StepBack { row, back_ns, begin_ns: self.span_ns[0], among: 0 };
        let step = self.doubted.get_or_insert(new);
        step.among += u64::from(now_ns > step.begin_ns);
        // Else time has gone on where it was.
        let is_back = back_ns >= step.back_ns / 2;
        let shows = is_back && step.among >= RUN;
        if shows {
            let longest = self.longest.into_iter().chain([*step]);
            self.longest = longest.max_by_key(|step| step.back_ns);
            self.reached_ns = now_ns;
        }
        if shows || !is_back {
            self.doubted = None;
        }
        shows
    }

    /// The longest step back, if it is one of the whole trace.
    fn starts_over(&self) -> Option<StepBack> {
        let span_ns = self.span_ns[1] - self.span_ns[0];
        self.longest.filter(|step| step.back_ns.saturating_mul(PART) > span_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(rows: impl IntoIterator<Item = (u16, u64)>) -> Option<String> {
        let row = |(device, queued_ns)| Io { device, queued_ns, ..Io::default() };
        let mut all = Restarts::default();
        Vec::from_iter(rows.into_iter().map(row)).chunks(100).for_each(|rows| all.update(rows));
        all.told()
    }

    #[test]
    fn joined_recordings_of_a_disk_are_told() {
        const MS: u64 = 1_000_000;
        let one = |from: u64| (0..1000).map(move |at| (0, from + at * MS));
        let said = told(one(5).chain(one(0))).expect("told");
        assert!(said.starts_with("time goes back by 999 ms at row 1001 and goes on"), "{said}");
        let begun_later = told(one(0).chain(one(500 * MS)));
        assert!(begun_later.expect("told").starts_with("time goes back by 499 ms at row 1001"));
        assert!(told(one(0).chain(one(0)).chain(one(0))).is_some());
    }

    #[test]
    fn rows_that_can_be_put_in_order_are_not_told() {
        // Writes that a read overtakes, in the order of completion.
        let row = |queued_ns, completed_ns| Io { queued_ns, completed_ns, ..Io::default() };
        let mut all = Restarts::default();
        all.update(&[row(0, 1), row(1500, 1900)]);
        all.update(&Vec::from_iter((0..200).map(|at| row(1 + at, 2000 + at))));
        assert_eq!(all.told(), None);
        assert_eq!(told((0..1000).map(|at| (0, at))), None);
        // Parts of one recording in the wrong order.
        assert_eq!(told((1000..1900).chain(0..1000).map(|at| (0, at))), None);
        // One disk behind the other.
        assert_eq!(told((0..2).flat_map(|disk| (0..1000).map(move |at| (disk, at)))), None);
        // Rows shuffled within 500, single late rows, and 50 late ones together.
        assert_eq!(told((0..2000).map(|at| (0, at / 500 * 500 + at * 7919 % 500))), None);
        let late = |at: u64| at.is_multiple_of(10) || (500..550).contains(&at);
        assert_eq!(told((0..2000).map(|at| (0, 1000 + at - if late(at) { 400 } else { 0 }))), None);
        // Of each processor its part of a hundredth of the time.
        let part = |from: u64| from..from + 100;
        assert_eq!(told((0..200).flat_map(|at| part(at / 2 * 100)).map(|at| (0, at))), None);
    }
}
