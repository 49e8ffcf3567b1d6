//! Plans and verdicts over many runs: campaigns, validation, concurrent writers, comparisons.
