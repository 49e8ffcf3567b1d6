//! The abilities of a machine, as `ioscape doctor` finds them: one check per ability.

use serde::{Deserialize, Serialize};

/// The result of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckState {
    /// It works, as tried.
    #[default]
    Works,
    /// It works in part; `found` says how far.
    Limited,
    /// It is missing or not allowed.
    Missing,
}

crate::words!(CheckState, Works => "works", Limited => "limited", Missing => "missing");

/// One ability of the machine, tested or read from the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The ability checked, such as `io_uring`.
    pub name: String,
    /// The result.
    pub state: CheckState,
    /// The observation.
    pub found: String,
    /// The features of ioscape that need it.
    pub needed_for: String,
    /// Whether nothing can be measured without it.
    #[serde(default)]
    pub required: bool,
    /// What to do if it does not work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl Check {
    /// Returns a check that works.
    pub fn works(name: &str, needed_for: &str, found: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            found: found.into(),
            needed_for: needed_for.to_owned(),
            ..Self::default()
        }
    }

    /// Returns the check in another state, with advice.
    #[must_use]
    pub fn but(self, state: CheckState, advice: &str) -> Self {
        Self { state, advice: Some(advice.to_owned()), ..self }
    }
}

/// All checks of a machine and a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doctor {
    /// The directory tested.
    pub directory: String,
    /// The checks, beginning with those of the directory.
    pub checks: Vec<Check>,
}

impl Doctor {
    /// Returns whether something can be measured here.
    pub fn can_measure(&self) -> bool {
        !self.checks.iter().any(|check| check.required && check.state == CheckState::Missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_missing_requirement_keeps_from_measuring() {
        let check = |required, state| Check { required, ..Check::default().but(state, "") };
        let can = |checks: Vec<Check>| Doctor { checks, ..Doctor::default() }.can_measure();
        assert!(can(vec![check(false, CheckState::Missing), check(true, CheckState::Limited)]));
        assert!(!can(vec![check(true, CheckState::Missing)]));
    }
}
