//! A resource that carries one thing at a time: the link to the host, a channel, or a die that
//! senses. Reservations for later leave it free until then.

use std::collections::VecDeque;
use std::ops::Range;

/// The times at which a line is taken.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Begin and end of each, in order and disjoint; all of them may lie ahead.
    taken: VecDeque<[u64; 2]>,
}

impl Line {
    /// Discards the times that ended before `now_ns`, before which nothing more arrives.
    #[inline]
    pub fn pass(&mut self, now_ns: u64) {
        while self.taken.front().is_some_and(|&[_, ends]| ends < now_ns) {
            self.taken.pop_front();
        }
    }

    /// When something that is ready at `from_ns` and takes `for_ns` would be done, using the free
    /// time only.
    pub fn carried(&self, from_ns: u64, for_ns: u64) -> u64 {
        self.fit(from_ns, for_ns).1
    }

    /// Reserves that time, and returns when it is done.
    pub fn take(&mut self, from_ns: u64, for_ns: u64) -> u64 {
        let (met, done_ns) = self.fit(from_ns, for_ns);
        if for_ns == 0 {
            return done_ns;
        }
        if met.is_empty() {
            self.taken.insert(met.start, [from_ns, done_ns]);
        } else {
            // The free time between them is now filled.
            let first = &mut self.taken[met.start];
            *first = [first[0].min(from_ns), done_ns];
            self.taken.drain(met.start + 1..met.end);
        }
        done_ns
    }

    /// How long the line is free between two instants.
    pub fn free_ns(&self, from_ns: u64, until_ns: u64) -> u64 {
        if until_ns <= from_ns {
            return 0;
        }
        let first = self.taken.partition_point(|&[_, ends]| ends <= from_ns);
        let met = self.taken.range(first..).take_while(|[begins, _]| *begins < until_ns);
        let taken = met.map(|[begins, ends]| until_ns.min(*ends) - from_ns.max(*begins));
        until_ns - from_ns - taken.sum::<u64>()
    }

    /// Which of the taken times it must go around, and when it is done.
    fn fit(&self, from_ns: u64, for_ns: u64) -> (Range<usize>, u64) {
        let first = self.taken.partition_point(|&[_, ends]| ends < from_ns);
        let (mut end, mut done_ns) = (first, from_ns + for_ns);
        while let Some(&[begins, ends]) = self.taken.get(end)
            && begins < done_ns
        {
            done_ns += ends - begins.max(from_ns);
            end += 1;
        }
        (first..end, done_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_later_leaves_the_line_free_until_then() {
        let mut line = Line::default();
        assert_eq!(line.take(100, 10), 110);
        assert_eq!(line.take(20, 10), 30, "before it");
        assert_eq!(line.take(25, 10), 40, "behind what is being carried");
        assert_eq!(line.take(90, 30), 130, "around what lies in its way");
        assert_eq!(line.carried(105, 5), 135, "which is only looked at");
        assert_eq!(line.take(40, 50), 90, "all of a gap");
        assert_eq!(line.free_ns(0, 200), 20 + 70);
        assert_eq!(line.carried(110, 0), 130, "nothing waits for it, too");
        line.pass(131);
        assert_eq!(line.free_ns(0, 200), 200);
    }

    #[test]
    fn all_that_is_carried_takes_its_time_in_whatever_order_it_comes() {
        let (mut line, mut taken_ns, mut last_ns) = (Line::default(), 0, 0);
        for n in 0..1000u64 {
            let for_ns = n * 7919 % 13;
            last_ns = last_ns.max(line.take(n * 104_729 % 5000, for_ns));
            taken_ns += for_ns;
            assert_eq!(line.free_ns(0, last_ns), last_ns - taken_ns, "{n}");
        }
        assert!(line.taken.iter().zip(line.taken.iter().skip(1)).all(|(a, b)| a[1] <= b[0]));
    }
}
