//! What a machine allows, as `ioscape doctor` finds it: one check per ability.

use serde::{Deserialize, Serialize};

/// How a check came out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckState {
    /// It works, as tried.
    #[default]
    Works,
    /// It works in part; `found` says how far.
    Limited,
    /// It is not there or not allowed.
    Missing,
}

/// One ability of the machine, tried or read from the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// What was looked at, such as `io_uring`.
    pub name: String,
    /// How it came out.
    pub state: CheckState,
    /// What was seen.
    pub found: String,
    /// What of ioscape needs it.
    pub needed_for: String,
    /// Whether nothing can be measured without it.
    #[serde(default)]
    pub required: bool,
    /// What to do where it does not work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl Check {
    /// A check that works.
    pub fn works(name: &str, needed_for: &str, found: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            found: found.into(),
            needed_for: needed_for.to_owned(),
            ..Self::default()
        }
    }

    /// The same in another state, with what to do.
    #[must_use]
    pub fn but(self, state: CheckState, advice: &str) -> Self {
        Self { state, advice: Some(advice.to_owned()), ..self }
    }
}

/// All checks of a machine and a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doctor {
    /// The directory that was tried.
    pub directory: String,
    /// The checks, those of the directory first.
    pub checks: Vec<Check>,
}

impl Doctor {
    /// Whether a workload can be measured here at all.
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
