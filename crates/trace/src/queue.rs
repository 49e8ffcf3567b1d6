//! The queue length that a request finds at arrival, derived from the times of earlier requests.

use crate::analyze::in_flight::InFlight;
use ioscape_schema::Io;

/// Requests in flight, by device.
#[derive(Clone, Debug, Default)]
pub struct Queues {
    in_flight: Vec<InFlight>,
}

impl Queues {
    /// Returns how many requests are in the device's queue when this one arrives, itself included.
    /// Requests must come in the order of their arrival.
    pub fn arrive(&mut self, io: &Io) -> u32 {
        let device = usize::from(io.device);
        if self.in_flight.len() <= device {
            self.in_flight.resize_with(device + 1, InFlight::default);
        }
        let length = self.in_flight[device].arrive(io.queued_ns, io.completed_ns);
        u32::try_from(length).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_have_left_do_not_count() {
        let mut queues = Queues::default();
        let mut arrive = |device, queued_ns, completed_ns| {
            queues.arrive(&Io { device, queued_ns, completed_ns, ..Io::default() })
        };
        let lengths = [
            arrive(0, 0, 10),
            arrive(0, 1, 5),
            arrive(1, 2, 9),
            arrive(0, 5, 20),
            arrive(0, 10, 11),
        ];
        assert_eq!(lengths, [1, 2, 1, 2, 2]);
    }
}
