//! Worlds whose storage becomes far slower for good, as when a burst credit has ended.

use super::world::World;
use super::world::cold::Cold;
use ioscape_scaling::{Probe, ProbeRequest, Progress};
use ioscape_schema::{Evaluation, Measurement};
use rand::RngExt;
use rand_pcg::Pcg32;

/// A world of one cache over storage, which becomes this many times slower at this time.
pub struct Worn {
    pub world: World,
    pub slower: f64,
    pub at_s: f64,
}

impl Worn {
    pub fn new(seed: u64) -> Self {
        let world = Cold::new(seed).world;
        let random = &mut Pcg32::new(seed, u64::MAX / 5);
        let slower = 4.0 * 25f64.powf(random.random());
        let at_s = (0.3 + 0.6 * random.random::<f64>()) * world.budget_s;
        Self { world, slower, at_s }
    }
}

impl Probe for Worn {
    type Error = String;

    fn measure(&mut self, request: &ProbeRequest) -> Result<Measurement, String> {
        let is_worn = self.world.clock_s > self.at_s;
        let mut m = self.world.measure(request)?;
        if is_worn && m.waits() {
            m.throughput_bytes_per_s /= self.slower;
            m.throughput_ci95 = m.throughput_ci95.map(|bound| bound / self.slower);
        }
        Ok(m)
    }

    fn progress(&mut self, _: &Evaluation, _: &Progress) {}
}
