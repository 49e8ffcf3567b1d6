//! How far a drive can be trusted.

use serde::{Deserialize, Serialize};

/// How far a drive's parameters can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Fitted to measured times of that very drive.
    Calibrated,
    /// Fitted to measured times that the parameters do not explain well enough.
    NotCalibrated,
    /// Taken from publications and not compared with measured times.
    FromPublishedParameters,
    /// Stands for a kind of drive, not for a product.
    Generic,
}

ioscape_schema::words!(Status, Calibrated => "calibrated", NotCalibrated => "not calibrated",
    FromPublishedParameters => "from published parameters", Generic => "generic");

impl Status {
    /// The warning that every simulation with a drive of this status carries, if any.
    pub fn doubt(self) -> Option<&'static str> {
        (self == Self::NotCalibrated).then_some(
            "the drive's file calls it not calibrated: how far the real one is from what is simulated is not known",
        )
    }
}
