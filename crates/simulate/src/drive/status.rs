//! How far a drive can be trusted.

use serde::{Deserialize, Serialize};

/// How far a drive's parameters can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Fitted to measured times of the very drive.
    Calibrated,
    /// Fitted to measured times that it does not explain well enough.
    NotCalibrated,
    /// Taken from publications, compared with no measured times.
    FromPublishedParameters,
    /// Stands for a kind of drive, not for a product.
    Generic,
}

impl Status {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Calibrated => "calibrated",
            Self::NotCalibrated => "not calibrated",
            Self::FromPublishedParameters => "from published parameters",
            Self::Generic => "generic",
        }
    }

    /// What is to be known of all that is simulated with a drive that is trusted no farther.
    pub fn doubt(self) -> Option<&'static str> {
        (self == Self::NotCalibrated).then_some(
            "the drive's file calls it not calibrated: how far the real one is from what is simulated is not known",
        )
    }
}
