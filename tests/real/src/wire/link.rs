//! One direction of the cable: when a frame arrives at the other end.

/// Bytes that Ethernet adds to a frame on the cable: preamble, check sum and gap.
const FRAMING_BYTES: u64 = 24;

/// A cable of a given length and speed.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    delay_ns: u64,
    /// 0 for no limit.
    mbit_per_s: u64,
    /// When the last frame will have left the sender.
    free_ns: u64,
}

impl Link {
    /// Creates a cable with this one-way delay and speed; 0 `mbit_per_s` means no limit.
    pub fn new(delay_us: u64, mbit_per_s: u64) -> Self {
        Self { delay_ns: delay_us * 1000, mbit_per_s, free_ns: 0 }
    }

    /// Sends a frame of `bytes` at `now_ns`; returns its arrival time, in nanoseconds.
    pub fn send(&mut self, bytes: u64, now_ns: u64) -> u64 {
        let bits = (bytes + FRAMING_BYTES) * 8;
        let on_cable_ns = (bits * 1000).checked_div(self.mbit_per_s).unwrap_or(0);
        self.free_ns = self.free_ns.max(now_ns) + on_cable_ns;
        self.free_ns + self.delay_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_wait_for_the_cable_and_then_for_its_length() {
        let mut link = Link::new(250, 100);
        let frame_ns = (1514 + 24) * 8 * 10;
        assert_eq!(link.send(1514, 0), frame_ns + 250_000);
        assert_eq!(link.send(1514, 10), 2 * frame_ns + 250_000);
        assert_eq!(link.send(1514, 10_000_000), 10_000_000 + frame_ns + 250_000);
    }

    #[test]
    fn without_a_limit_only_the_length_counts() {
        let mut link = Link::new(1, 0);
        assert_eq!(link.send(1514, 5), 1_005);
        assert_eq!(link.send(1514, 5), 1_005);
    }
}
