//! How differently two systems were evaluated.

use ioscape_schema::units::Bytes;
use ioscape_schema::{Warning, WarningKind, Workload};

/// What is known of how a system was evaluated.
#[derive(Clone, Copy, Debug)]
pub struct EvaluatedSystem<'a> {
    /// Its name.
    pub name: &'a str,
    /// The workload that all its workloads differ from in the five parameters alone.
    pub base: &'a Workload,
    /// Memory that the workers could use, in bytes, where it was limited.
    pub memory_limit_bytes: Option<u64>,
}

/// One doubt that names every way in which `other` was evaluated differently from `first`.
pub fn differences(first: &EvaluatedSystem<'_>, other: &EvaluatedSystem<'_>) -> Option<Warning> {
    let (a, b) = (first.base, other.base);
    let limit = |system: &EvaluatedSystem<'_>| {
        system.memory_limit_bytes.map_or("none".to_owned(), |bytes| Bytes(bytes as f64).to_string())
    };
    let both = [
        ("access", a.access.to_string(), b.access.to_string()),
        ("engine", a.engine.to_string(), b.engine.to_string()),
        ("workers", a.workers.to_string(), b.workers.to_string()),
        ("size distribution", a.size_distribution.to_string(), b.size_distribution.to_string()),
        ("memory limit", limit(first), limit(other)),
    ];
    let differs = |(what, ours, theirs): (&str, String, String)| {
        (ours != theirs).then(|| format!("{what} {theirs} against {ours}"))
    };
    let found: Vec<String> = both.into_iter().filter_map(differs).collect();
    (!found.is_empty()).then(|| {
        let message = format!(
            "{} and {} were evaluated differently ({}): the ratios include that difference",
            other.name,
            first.name,
            found.join(", ")
        );
        Warning::new(WarningKind::DifferentKinds, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Access;

    #[test]
    fn every_difference_is_named_once() {
        let (buffered, direct) =
            (Workload::default(), Workload { access: Access::Direct, ..Workload::default() });
        let first = EvaluatedSystem { name: "a", base: &buffered, memory_limit_bytes: None };
        assert_eq!(differences(&first, &EvaluatedSystem { name: "b", ..first }), None);
        let limit = Some(1 << 30);
        let other = EvaluatedSystem { name: "b", base: &direct, memory_limit_bytes: limit };
        let said = differences(&first, &other).unwrap().message;
        assert!(said.contains("access direct against buffered"), "{said}");
        assert!(said.contains("memory limit 1 GiB against none"), "{said}");
        assert!(!said.contains("engine"), "{said}");
    }
}
