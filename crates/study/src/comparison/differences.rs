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
    /// Clients that ran every workload together.
    pub clients: u32,
}

/// A doubt where `other` was evaluated under another memory limit than `first`: that is a property of the systems.
pub fn differences(first: &EvaluatedSystem<'_>, other: &EvaluatedSystem<'_>) -> Option<Warning> {
    let limit = |system: &EvaluatedSystem<'_>| {
        system.memory_limit_bytes.map_or("none".to_owned(), |bytes| Bytes(bytes as f64).to_string())
    };
    let (ours, theirs) = (limit(first), limit(other));
    (ours != theirs).then(|| {
        let message = format!(
            "{} and {} were evaluated differently (memory limit {theirs} against {ours}): the ratios include that difference",
            other.name, first.name
        );
        Warning::new(WarningKind::DifferentKinds, message)
    })
}

/// In words, every way in which the workloads of `other` were carried out differently from those of `first`: then their
/// throughputs are not of the same work. `None` where they were carried out alike.
pub fn other_way(first: &EvaluatedSystem<'_>, other: &EvaluatedSystem<'_>) -> Option<String> {
    let (a, b) = (first.base, other.base);
    let both = [
        ("access", a.access.to_string(), b.access.to_string()),
        ("engine", a.engine.to_string(), b.engine.to_string()),
        ("workers", a.workers.to_string(), b.workers.to_string()),
        ("queue depth", a.queue_depth.to_string(), b.queue_depth.to_string()),
        ("size distribution", a.size_distribution.to_string(), b.size_distribution.to_string()),
        ("clients", first.clients.to_string(), other.clients.to_string()),
    ];
    let differs = |(what, ours, theirs): (&str, String, String)| {
        (ours != theirs).then(|| format!("{what} {theirs} against {ours}"))
    };
    let found: Vec<String> = both.into_iter().filter_map(differs).collect();
    (!found.is_empty()).then(|| {
        format!("{} was evaluated otherwise than {} ({})", other.name, first.name, found.join(", "))
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
        let first =
            EvaluatedSystem { name: "a", base: &buffered, memory_limit_bytes: None, clients: 1 };
        assert_eq!(differences(&first, &EvaluatedSystem { name: "b", ..first }), None);
        let limit = Some(1 << 30);
        let other =
            EvaluatedSystem { name: "b", base: &direct, memory_limit_bytes: limit, clients: 1 };
        let said = differences(&first, &other).unwrap().message;
        assert!(said.contains("memory limit 1 GiB against none"), "{said}");
        assert_eq!(other_way(&first, &first), None);
        let way = other_way(&first, &other).unwrap();
        assert!(way.contains("access direct against buffered") && !way.contains("engine"), "{way}");
        let many = other_way(&first, &EvaluatedSystem { name: "b", clients: 4, ..first });
        assert!(many.is_some_and(|way| way.contains("(clients 4 against 1)")));
    }
}
