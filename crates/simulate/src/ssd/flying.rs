//! How many bytes are in flight, and how much more time that takes each byte that is read: of a virtual disk, in the memory of its host,
//! data that is still in a processor's caches is copied faster.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Bytes in flight up to about which it makes no difference how many they are, as a power of two: 64 KiB.
const FEW: u32 = 16;
/// A factor of one.
pub const ONE: u64 = 1 << 10;

/// What is in flight.
#[derive(Clone, Debug)]
pub struct Flying {
    /// What a doubling of the bytes in flight adds to the time of one, as a share in 2^-10.
    crowding: u64,
    bytes: u64,
    /// When each command is complete, and its bytes.
    until: BinaryHeap<Reverse<(u64, u64)>>,
}

impl Flying {
    /// Nothing.
    pub fn new(crowding: u64) -> Self {
        Self { crowding, bytes: 0, until: BinaryHeap::new() }
    }

    /// How many times as long, in 2^-10, a byte takes of a command that comes at `now_ns`.
    #[inline]
    pub fn factor(&mut self, now_ns: u64, bytes: u64) -> u64 {
        if self.crowding == 0 {
            return ONE;
        }
        while let Some(&Reverse((at_ns, done))) = self.until.peek() {
            if at_ns > now_ns {
                break;
            }
            self.until.pop();
            self.bytes -= done;
        }
        ONE + ((self.crowding * doublings(self.bytes + bytes)) >> 10)
    }

    /// The command that came last is complete at `completed_ns`.
    #[inline]
    pub fn hold(&mut self, completed_ns: u64, bytes: u64) {
        if self.crowding > 0 {
            self.bytes += bytes;
            self.until.push(Reverse((completed_ns, bytes)));
        }
    }
}

/// How often 64 KiB are doubled until these bytes come to it, in 2^-10: log2(1 + bytes / 64 KiB), straight between powers of two.
fn doublings(bytes: u64) -> u64 {
    let all = bytes + (1 << FEW);
    let whole = all.ilog2();
    let part = ((u128::from(all) << 10) >> whole) as u64 - ONE;
    (u64::from(whole - FEW) << 10) + part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_is_in_flight_the_longer_each_byte_takes() {
        let logs = [0u64, 1 << 14, 1 << 16, 3 << 16, 7 << 16, 15 << 16].map(doublings);
        assert_eq!(logs, [0, 256, 1024, 2048, 3072, 4096]);
        let mut flying = Flying::new(512);
        assert_eq!(flying.factor(0, 1 << 16), 1024 + 512);
        flying.hold(100, 1 << 16);
        assert_eq!(flying.factor(99, 2 << 16), 1024 + 1024, "three times 64 KiB in flight");
        assert_eq!(flying.factor(100, 1 << 16), 1024 + 512, "the first is complete");
        let mut never = Flying::new(0);
        never.hold(100, 1 << 30);
        assert_eq!((never.factor(0, 1 << 30), never.until.len()), (ONE, 0));
    }
}
