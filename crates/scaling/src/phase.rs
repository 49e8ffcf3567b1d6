//! The phases of an evaluation, in the order in which they run.

/// The steps of an evaluation, in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Coarse sweep of `unique_bytes` with the nominal mix.
    Pilot,
    /// Coarse sweeps of `size_mean` and `process_num` that set the focal vector.
    Focal,
    /// The `unique_bytes` curve with the focal mix.
    Mixed,
    /// The same with pure reads.
    Read,
    /// The same with pure writes.
    Write,
    /// Extra probes for findings.
    Findings,
    /// The other four curves in every region.
    Curves,
    /// The search of section 7.
    AllParameters,
    /// Workloads off all curves, where the model's prediction is least sure.
    Interactions,
    /// Repeated rounds.
    Rounds,
}

impl Phase {
    /// All phases in order.
    pub const ALL: [Self; 10] = [
        Self::Pilot,
        Self::Focal,
        Self::Mixed,
        Self::Read,
        Self::Write,
        Self::Findings,
        Self::Curves,
        Self::AllParameters,
        Self::Interactions,
        Self::Rounds,
    ];

    /// The phase's name, as shown in plans, progress and `shortened`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pilot => "pilot: set sizes, coarsely",
            Self::Focal => "focal request size and processes",
            Self::Mixed => "set sizes, half reads",
            Self::Read => "set sizes, pure reads",
            Self::Write => "set sizes, pure writes",
            Self::Curves => "the other parameters in every region",
            Self::Findings => "write policy and flushing",
            Self::AllParameters => "scaling all parameters",
            Self::Interactions => "where parameters interact",
            Self::Rounds => "repeated rounds",
        }
    }
}
