//! The times and rates that a calibration changes one by one.

use crate::drive::Parameters;
use crate::seek::SeekCurve;
use crate::seen::RATE_STEP;

/// A parameter that the search can change.
#[derive(Clone, Copy)]
pub struct Knob {
    /// Its key in the file.
    pub name: &'static str,
    /// First step: a share of the value for rates, a time in milliseconds otherwise.
    step: f64,
    relative: bool,
    /// Least value of a time, in milliseconds.
    least: f64,
    at: fn(&mut Parameters) -> Option<&mut f64>,
    /// A time that changes by as much the other way.
    against: Option<fn(&mut Parameters) -> &mut f64>,
}

impl Knob {
    /// The parameters after `steps` of the first step; `None` if they have no such value.
    pub fn turned(&self, from: &Parameters, steps: f64) -> Option<Parameters> {
        let (mut turned, by) = (from.clone(), steps * self.step);
        let value = (self.at)(&mut turned)?;
        *value = if self.relative { *value * (1.0 + by) } else { (*value + by).max(self.least) };
        if let Some(other) = self.against.map(|at| at(&mut turned)) {
            *other = (*other - by).max(0.0);
        }
        Some(turned)
    }
}

const fn time(name: &'static str, step: f64, at: fn(&mut Parameters) -> Option<&mut f64>) -> Knob {
    Knob { name, step, relative: false, least: 0.0, at, against: None }
}

/// A write may need less time to settle than a read.
pub const fn write_settle(step: f64) -> Knob {
    let name = "mechanism.write_settle_ms";
    Knob { least: -3999.0, ..time(name, step, |p| Some(&mut p.mechanism.write_settle_ms)) }
}

/// How long writes settle, while writes behind a seek take as long as before, which their waits
/// show. Only writes that go on to another track show how much of that is settling.
const fn settle_alone(step: f64) -> Knob {
    Knob { against: Some(|p| &mut p.controller.write_before_ms), ..write_settle(step) }
}

const fn rate(name: &'static str, step: f64, at: fn(&mut Parameters) -> Option<&mut f64>) -> Knob {
    Knob { relative: true, ..time(name, step, at) }
}

/// Keys of what is not always fitted.
pub const ROTATION: &str = "rotation_ms";
pub const TO_HOST: &str = "bus.to_host_bytes_per_s";
pub const TO_DRIVE: &str = "bus.to_drive_bytes_per_s";

/// The times and rates that are fitted, in the order in which they are tried. Those that only
/// switches between tracks show come first: the others, which the waits told, would make up for them.
pub const KNOBS: [Knob; 17] = [
    rate(ROTATION, 0.002, |p| Some(&mut p.rotation_ms)),
    time("mechanism.head_switch_ms", 0.3, |p| Some(&mut p.mechanism.head_switch_ms)),
    settle_alone(0.2),
    time("controller.write_before_ms", 0.4, |p| Some(&mut p.controller.write_before_ms)),
    time("controller.write_after_ms", 0.2, |p| Some(&mut p.controller.write_after_ms)),
    time("controller.read_before_ms", 0.4, |p| Some(&mut p.controller.read_before_ms)),
    time("controller.read_after_ms", 0.4, |p| Some(&mut p.controller.read_after_ms)),
    write_settle(0.2),
    time("bus.arbitration_ms", 0.3, |p| Some(&mut p.bus.arbitration_ms)),
    rate(TO_HOST, RATE_STEP, |p| Some(&mut p.bus.to_host_bytes_per_s)),
    rate(TO_DRIVE, RATE_STEP, |p| Some(&mut p.bus.to_drive_bytes_per_s)),
    time("seek.short", 0.3, |p| match &mut p.seek {
        SeekCurve::TwoPart { short, .. } => short.first_mut(),
        _ => None,
    }),
    time("seek.a", 0.3, |p| match &mut p.seek {
        SeekCurve::TwoPart { a, .. } => Some(a),
        _ => None,
    }),
    time("seek.b", 0.02, |p| match &mut p.seek {
        SeekCurve::TwoPart { b, .. } => Some(b),
        _ => None,
    }),
    time("seek.c", 0.3, |p| match &mut p.seek {
        SeekCurve::TwoPart { c, .. } => Some(c),
        _ => None,
    }),
    time("seek.e", 0.001, |p| match &mut p.seek {
        SeekCurve::TwoPart { e, .. } => Some(e),
        _ => None,
    }),
    write_settle(0.05),
];
