//! Threads that read a file in turn, as those of a pool do: together they are one reader.

use ioscape_schema::FileCall;

/// The most open files whose last read is remembered.
const REMEMBERED: usize = 16;

/// The last read through an open file.
#[derive(Clone, Copy, Debug)]
struct Last {
    description: u32,
    end: u64,
    actor: u32,
    completed_ns: u64,
}

/// Learns from the reads of one file, in the order of completion.
///
/// Programs that leave file I/O to a pool of threads (Node.js, tokio) let any of them read the next
/// part of a stream. The kernel reads ahead for the open file, whoever reads, and the stream has one
/// request in flight. So a read that continues the one before it through the same open file, and
/// began when that was over, counts for the process of that one. Reads that overlap do not: those
/// processes read at the same time.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns(Vec<Last>);

impl Turns {
    /// Adds the next read; returns the process that it counts for.
    pub(super) fn actor(&mut self, call: &FileCall) -> u32 {
        let Some(description) = call.description else { return call.process };
        let at = self.0.iter().position(|last| last.description == description);
        let last = at.map(|at| self.0.remove(at));
        let (offset, completed_ns) = (call.request.offset, call.completed_ns);
        let is_continued = |last: &Last| last.end == offset && last.completed_ns <= call.issued_ns;
        let actor = last.filter(is_continued).map_or(call.process, |last| last.actor);
        if self.0.len() == REMEMBERED {
            self.0.remove(0);
        }
        let end = offset.saturating_add(u64::from(call.request.len));
        self.0.push(Last { description, end, actor, completed_ns });
        actor
    }
}

#[cfg(test)]
mod tests {
    use super::super::Application;
    use super::*;
    use ioscape_schema::chance::mix;
    use ioscape_schema::{Op, Request, Traits};

    /// Characterizes 4000 reads of a file by four threads, in order through each of two open file
    /// descriptions. One begins every 100 us and takes `own_ns`.
    fn read_in_order(own_ns: u64, is_known: bool) -> Traits {
        let mut seen = Application::new(4096);
        for i in 0..4000 {
            let (description, issued_ns) = ((i % 2) as u32, i * 100_000);
            let request = Request { op: Op::Read, offset: i / 2 * 65_536, len: 65_536 };
            seen.record(&FileCall {
                process: if i < 4 { i } else { mix(i) % 4 } as u32,
                description: is_known.then_some(description),
                request,
                issued_ns,
                completed_ns: issued_ns + own_ns,
                ..FileCall::default()
            });
        }
        seen.finish().overall
    }

    #[test]
    fn threads_of_a_pool_that_read_a_file_in_order_are_one_reader() {
        let pool = read_in_order(50_000, true);
        assert_eq!((pool.process_num, pool.seq_frac), (2, 1.0), "two streams: {pool:?}");
        let parallel = read_in_order(250_000, true);
        assert_eq!(parallel.process_num, 4, "each began before the one before was over");
        assert_eq!(read_in_order(50_000, false).process_num, 4, "who shares a file is not known");
    }
}
