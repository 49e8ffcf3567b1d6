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
}
