//! Why two documents cannot be compared by what they measured.

/// Why two documents cannot be compared by what they measured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotComparable {
    /// They are of different kinds.
    #[error(
        "{0} holds {1} and {2} holds {3}: only results of one kind can be compared; measure both with the same command"
    )]
    Kinds(String, &'static str, String, &'static str),
    /// One of them holds nothing that was measured in rows.
    #[error(
        "{0} holds {1}: runs, evaluations, validations, campaigns, vxbench runs and os results can be compared here; {2}"
    )]
    Unmeasured(String, &'static str, &'static str),
    /// Their workloads were carried out in different ways.
    #[error(
        "{first} was measured with {asked}, {second} with {measured}: their rows are not the same work; measure both the same way, or one against the other with `ioscape ab`{help}"
    )]
    Ways {
        /// The first system.
        first: String,
        /// The second system.
        second: String,
        /// How the first was measured.
        asked: String,
        /// How the second was measured.
        measured: String,
        /// What else may make them comparable, after a semicolon; empty if nothing is known.
        help: &'static str,
    },
    /// They are campaigns or runs of different work.
    #[error("{first} and {second} did not do the same work: {how}; {help}")]
    OtherWork {
        /// The first system.
        first: String,
        /// The second system.
        second: String,
        /// How their work differs.
        how: String,
        /// What would make them comparable.
        help: &'static str,
    },
    /// They have no row in common.
    #[error(
        "{0} and {1} measured nothing alike: no row with a figure has the same name and workload in both; {2}"
    )]
    NothingShared(String, String, String),
    /// No row of both counts the metric of the condition.
    #[error("--fail-if {condition}: no row counts {metric} on both sides, only {found}")]
    NoMetric {
        /// The condition, as it was given.
        condition: String,
        /// The metric of the condition.
        metric: &'static str,
        /// What the rows of both count.
        found: String,
    },
}
