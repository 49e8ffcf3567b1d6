//! Words that several plans and verdicts say alike.

/// So many of them: `1 file`, `2 files`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
