//! Counts lost events by gaps in the event numbers: each device numbers its events on each CPU.

use ioscape_schema::TraceInfo;
use rustc_hash::FxHashMap;

/// The most CPUs whose losses are counted.
const MOST_CPUS: u32 = 1 << 13;
/// The most pairs of device and CPU in one stream whose numbers are tracked.
const MOST_NUMBERED: usize = 1 << 16;

/// A device and a CPU.
type Source = (u32, u32);

/// The latest event numbers in a stream.
#[derive(Default)]
pub(crate) struct Numbers {
    latest: Option<(Source, u32)>,
    /// The latest numbers of other devices and CPUs.
    others: FxHashMap<Source, u32>,
}

impl Numbers {
    /// Takes in the next number of a device and CPU; 0 if the trace does not number its events.
    pub fn count(&mut self, of: Source, number: u32, info: &mut TraceInfo) {
        if number == 0 || of.1 >= MOST_CPUS {
            return;
        }
        let before = match self.latest {
            Some((latest, before)) if latest == of => Some(before),
            Some((other, its)) => {
                if self.others.len() < MOST_NUMBERED {
                    self.others.insert(other, its);
                }
                self.others.remove(&of)
            }
            None => None,
        };
        if let Some(before) = before
            && number > before.saturating_add(1)
        {
            let cpu = of.1 as usize;
            info.lost_by_cpu.resize(info.lost_by_cpu.len().max(cpu + 1), 0);
            info.lost_by_cpu[cpu] += u64::from(number - before - 1);
        }
        self.latest = Some((of, number));
    }

    /// Whether the stream has numbers of several devices or CPUs.
    pub fn are_several(&self) -> bool {
        !self.others.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_device_and_cpu_has_numbers_of_its_own() {
        let (mut numbers, mut info) = (Numbers::default(), TraceInfo::default());
        let mut count = |of, number| numbers.count(of, number, &mut info);
        for number in [7, 8] {
            count((1, 0), number);
            count((2, 0), 5000 + number);
            count((1, 3), 100 + number);
        }
        count((1, 3), 111);
        count((2, 0), 0);
        count((2, 0), 5009);
        assert!(numbers.are_several());
        assert_eq!(info.lost_by_cpu, [0, 0, 0, 2], "109 and 110 are not there");
    }
}
