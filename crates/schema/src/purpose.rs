//! The purpose of a probe in an evaluation: one log entry, a type here and text in a document.

use crate::{BorderOperation, Parameter};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The curve a point belongs to. Regions, levels and steps count from 0 here and from 1 in a
/// document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CurveKey {
    /// The nominal mix over all set sizes.
    Pilot,
    /// One parameter at one level of the pilot, used to choose the focal vector.
    Focal {
        /// Number of the level.
        level: usize,
        /// Parameter varied.
        parameter: Parameter,
    },
    /// Set sizes with the focal mix, pure reads or pure writes.
    UniqueBytes(BorderOperation),
    /// One parameter in a region.
    Region {
        /// Number of the region.
        region: usize,
        /// Parameter varied.
        parameter: Parameter,
    },
    /// One parameter at one step of the search in all parameters (self-scaling paper, section 7).
    AllParameters {
        /// Number of the step.
        step: usize,
        /// Parameter varied.
        parameter: Parameter,
    },
}

/// The purpose of a probe.
///
/// A document holds it as text. Unknown text is kept as [`Purpose::Other`], so that every document
/// is written back unchanged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub enum Purpose {
    /// The fixed small workload that shows whether the machine itself got faster or slower.
    Reference,
    /// A point on a curve.
    Curve(CurveKey),
    /// A point off all curves, where the model was least certain.
    Interaction,
    /// Synchronous writes to a set that fits in the cache: the evidence for the write policy.
    SynchronousWrites,
    /// Writes that continue until a flush.
    Flush,
    /// A point measured again.
    Repeat {
        /// What the point was first measured for.
        of: Box<Purpose>,
        /// The round; the first repetition is round 2.
        round: usize,
    },
    /// Anything else.
    Other(String),
}

impl Purpose {
    /// Returns the purpose of round `round` of a point first measured for this purpose.
    pub fn repeated(&self, round: usize) -> Self {
        Self::Repeat { of: Box::new(self.clone()), round }
    }

    /// Returns the round within its point; 1 if it is the first or only one.
    pub fn round(&self) -> usize {
        match self {
            Self::Repeat { round, .. } => *round,
            _ => 1,
        }
    }

    /// Returns the purpose without its round: what the point was first measured for.
    pub fn first(&self) -> &Self {
        match self {
            Self::Repeat { of, .. } => of.first(),
            other => other,
        }
    }
}

impl From<CurveKey> for Purpose {
    fn from(key: CurveKey) -> Self {
        Self::Curve(key)
    }
}

impl fmt::Display for CurveKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pilot => f.write_str("pilot"),
            Self::Focal { level, parameter } => write!(f, "focal {parameter}, level {}", level + 1),
            Self::UniqueBytes(BorderOperation::Mixed) => f.write_str("unique_bytes"),
            Self::UniqueBytes(BorderOperation::Read) => f.write_str("unique_bytes read"),
            Self::UniqueBytes(BorderOperation::Write) => f.write_str("unique_bytes write"),
            Self::Region { region, parameter } => write!(f, "region {} {parameter}", region + 1),
            Self::AllParameters { step, parameter } => {
                write!(f, "all parameters {parameter}, step {}", step + 1)
            }
        }
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reference => f.write_str("reference"),
            Self::Curve(key) => key.fmt(f),
            Self::Interaction => f.write_str("interaction"),
            Self::SynchronousWrites => f.write_str("dsync"),
            Self::Flush => f.write_str("flush"),
            Self::Repeat { of, round } => write!(f, "{of}, round {round}"),
            Self::Other(text) => f.write_str(text),
        }
    }
}

/// Converts a number from the documents' base 1 to base 0.
fn index(text: &str) -> Option<usize> {
    text.parse::<usize>().ok()?.checked_sub(1)
}

fn curve(text: &str) -> Option<CurveKey> {
    if let Some(operation) = match text {
        "unique_bytes" => Some(BorderOperation::Mixed),
        "unique_bytes read" => Some(BorderOperation::Read),
        "unique_bytes write" => Some(BorderOperation::Write),
        _ => None,
    } {
        return Some(CurveKey::UniqueBytes(operation));
    }
    if let Some((name, level)) = text.strip_prefix("focal ").and_then(|t| t.split_once(", level "))
    {
        return Some(CurveKey::Focal { level: index(level)?, parameter: name.parse().ok()? });
    }
    if let Some((region, name)) = text.strip_prefix("region ").and_then(|t| t.split_once(' ')) {
        return Some(CurveKey::Region { region: index(region)?, parameter: name.parse().ok()? });
    }
    let (name, step) = text.strip_prefix("all parameters ")?.split_once(", step ")?;
    Some(CurveKey::AllParameters { step: index(step)?, parameter: name.parse().ok()? })
}

fn first(text: &str) -> Option<Purpose> {
    Some(match text {
        "reference" => Purpose::Reference,
        "pilot" => Purpose::Curve(CurveKey::Pilot),
        "interaction" => Purpose::Interaction,
        "dsync" => Purpose::SynchronousWrites,
        "flush" => Purpose::Flush,
        other => Purpose::Curve(curve(other)?),
    })
}

fn known(text: &str) -> Option<Purpose> {
    match text.rsplit_once(", round ") {
        Some((of, round)) => Some(first(of)?.repeated(round.parse().ok()?)),
        None => first(text),
    }
}

impl From<String> for Purpose {
    fn from(text: String) -> Self {
        // Accept only text that is written back unchanged: `region 01 size_mean` is not a known
        // purpose.
        known(&text).filter(|purpose| purpose.to_string() == text).unwrap_or(Self::Other(text))
    }
}

impl From<&str> for Purpose {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<Purpose> for String {
    fn from(purpose: Purpose) -> Self {
        purpose.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_purpose_has_the_text_that_documents_hold() {
        let parameter = Parameter::SizeMean;
        let unique = |operation| Purpose::Curve(CurveKey::UniqueBytes(operation));
        for (purpose, text) in [
            (Purpose::Reference, "reference"),
            (Purpose::Curve(CurveKey::Pilot), "pilot"),
            (CurveKey::Focal { level: 1, parameter }.into(), "focal size_mean, level 2"),
            (unique(BorderOperation::Mixed), "unique_bytes"),
            (unique(BorderOperation::Read), "unique_bytes read"),
            (unique(BorderOperation::Write).repeated(3), "unique_bytes write, round 3"),
            (CurveKey::Region { region: 0, parameter }.into(), "region 1 size_mean"),
            (
                CurveKey::Region { region: 1, parameter: Parameter::QueueDepth }.into(),
                "region 2 queue_depth",
            ),
            (
                CurveKey::AllParameters { step: 0, parameter }.into(),
                "all parameters size_mean, step 1",
            ),
            (Purpose::Interaction, "interaction"),
            (Purpose::Interaction.repeated(2), "interaction, round 2"),
            (Purpose::SynchronousWrites, "dsync"),
            (Purpose::Flush, "flush"),
            (Purpose::Other("region 0 size_mean".into()), "region 0 size_mean"),
            (Purpose::Other("region 01 size_mean".into()), "region 01 size_mean"),
            (Purpose::Other("first, round 2".into()), "first, round 2"),
            (Purpose::Other("flush, round 2, round 3".into()), "flush, round 2, round 3"),
        ] {
            assert_eq!(purpose.to_string(), text);
            assert_eq!(Purpose::from(text), purpose);
            let json = serde_json::to_string(&purpose).unwrap();
            assert_eq!(json, format!("{text:?}"));
            assert_eq!(serde_json::from_str::<Purpose>(&json).unwrap(), purpose);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_kept(
            text in "((all parameters|focal|region|unique_bytes|read|size_mean|round|level|step|, | |[0-9]{1,3}|\\PC)){0,8}",
        ) {
            prop_assert_eq!(Purpose::from(text.as_str()).to_string(), text);
        }
    }
}
