//! Checks of a drive's numbers: an impossible one is rejected, never silently changed.

use super::{BufferParameters, Parameters};
use crate::Error;

impl Parameters {
    /// Rejects impossible values.
    pub(super) fn check(&self) -> Result<(), Error> {
        let wrong = |why: String| Error::parameter(&self.name, why);
        if self.sector_bytes == 0 {
            return Err(wrong("sector_bytes: 0 is no size".into()));
        }
        if self.queue_depth == Some(0) {
            return Err(wrong("queue_depth: it must be at least 1".into()));
        }
        for (key, ms) in self.times() {
            if !(0.0..4000.0).contains(&ms) {
                return Err(wrong(format!("{key}: {ms} ms is not between 0 and 4 s")));
            }
        }
        self.check_bus().map_err(wrong)?;
        self.power.map_or(Ok(()), |power| power.check()).map_err(wrong)?;
        check_buffer(&self.buffer, self.sector_bytes).map_err(wrong)
    }

    /// All times that the file gives, with their keys.
    fn times(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let (mechanism, controller) = (&self.mechanism, &self.controller);
        let scattered = controller.scattered_write;
        let given = [
            ("rotation_ms", Some(self.rotation_ms)),
            ("mechanism.head_switch_ms", Some(mechanism.head_switch_ms)),
            ("mechanism.write_settle_ms", Some(mechanism.write_settle_ms.abs())),
            ("mechanism.write_seek_least_ms", Some(mechanism.write_seek_least_ms)),
            ("controller.read_before_ms", Some(controller.read_before_ms)),
            ("controller.read_after_ms", Some(controller.read_after_ms)),
            ("controller.write_before_ms", Some(controller.write_before_ms)),
            ("controller.write_after_ms", Some(controller.write_after_ms)),
            ("controller.read_hit_before_ms", controller.read_hit_before_ms),
            ("controller.read_before_after_write_ms", controller.read_before_after_write_ms),
            (
                "controller.read_hit_before_after_write_ms",
                controller.read_hit_before_after_write_ms,
            ),
            ("controller.write_before_after_write_ms", controller.write_before_after_write_ms),
            ("controller.write_hit_before_ms", controller.write_hit_before_ms),
            (
                "controller.write_hit_before_after_write_ms",
                controller.write_hit_before_after_write_ms,
            ),
            ("controller.read_reconnect_ms", Some(controller.read_reconnect_ms)),
            ("controller.write_reconnect_ms", Some(controller.write_reconnect_ms)),
            ("controller.scattered_write.seek_after_ms", scattered.map(|s| s.seek_after_ms)),
            ("controller.scattered_write.data_after_ms", scattered.map(|s| s.data_after_ms)),
            ("controller.scattered_write.reconnect_ms", scattered.map(|s| s.reconnect_ms)),
            ("bus.arbitration_ms", Some(self.bus.arbitration_ms)),
        ];
        given.into_iter().filter_map(|(key, ms)| Some((key, ms?)))
    }

    fn check_bus(&self) -> Result<(), String> {
        let bus = &self.bus;
        for (key, rate) in [
            ("bus.to_host_bytes_per_s", bus.to_host_bytes_per_s),
            ("bus.to_drive_bytes_per_s", bus.to_drive_bytes_per_s),
        ] {
            if !(1e5..=1e13).contains(&rate) {
                return Err(format!("{key}: {rate} bytes/s is not between 1e5 and 1e13"));
            }
        }
        if !(0.0..=1.0).contains(&bus.read_water_mark) {
            return Err(format!(
                "bus.read_water_mark: {} is no share between 0 and 1",
                bus.read_water_mark
            ));
        }
        if bus.write_lead.windows(2).any(|pair| pair[0][0] >= pair[1][0]) {
            return Err("bus.write_lead: the least lengths must rise".into());
        }
        Ok(())
    }
}

fn check_buffer(buffer: &BufferParameters, sector_bytes: u32) -> Result<(), String> {
    let uses = [
        ("read_ahead", buffer.read_ahead),
        ("immediate_reporting", buffer.immediate_reporting),
        ("write_back", buffer.write_back),
        ("segments", buffer.segments > 0),
    ];
    if let Some((key, _)) = uses.iter().find(|(_, used)| *used && buffer.bytes == 0) {
        return Err(format!("buffer.{key}: a buffer of 0 bytes has no room for it"));
    }
    let of_segments = [
        ("own_write_segment", buffer.own_write_segment),
        ("read_ahead_after_hit", buffer.read_ahead_after_hit),
    ];
    if let Some((key, _)) = of_segments.iter().find(|(_, used)| *used && buffer.segments == 0) {
        return Err(format!("buffer.{key}: the buffer has no segments"));
    }
    if buffer.bytes > 0 && buffer.segment_bytes() < u64::from(sector_bytes) {
        return Err(format!(
            "buffer: {} bytes in {} segments hold no sector of {sector_bytes} bytes each",
            buffer.bytes, buffer.segments
        ));
    }
    Ok(())
}
