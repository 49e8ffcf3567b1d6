//! Differences in how two systems were evaluated.

use ioscape_schema::units::Bytes;
use ioscape_schema::{Environment, Filled, Warning, WarningKind, Workload};

/// What is known about how a system was evaluated.
#[derive(Clone, Copy, Debug)]
pub struct EvaluatedSystem<'a> {
    /// Its name.
    pub name: &'a str,
    /// The workload from which all its workloads differ only in the five parameters.
    pub base: &'a Workload,
    /// Memory that the workers could use, in bytes, if it was limited.
    pub memory_limit_bytes: Option<u64>,
    /// What a simulated solid-state drive held at first, if that was asked for.
    pub precondition: Option<Filled>,
    /// The machine and the place.
    pub environment: &'a Environment,
    /// Clients that ran every workload together.
    pub clients: u32,
}

/// A warning if `other` was evaluated under another memory limit than `first`, on a solid-state
/// drive that held something else, or on a machine of another size or hypervisor: these are
/// properties of the systems.
pub fn differences(first: &EvaluatedSystem<'_>, other: &EvaluatedSystem<'_>) -> Option<Warning> {
    let limit = |system: &EvaluatedSystem<'_>| {
        system.memory_limit_bytes.map_or("none".to_owned(), |bytes| Bytes(bytes as f64).to_string())
    };
    let limits = ("memory limit", [limit(first), limit(other)]);
    let is_limited = first.memory_limit_bytes.is_some() && limits.1[0] == limits.1[1];
    let matters = [first, other].iter().any(|one| one.base.access.reads_cached()) && !is_limited;
    let all = first.environment.machines_apart(other.environment).into_iter();
    let all = all.filter(|(what, _)| *what != "memory" || matters);
    let held = |system: &EvaluatedSystem<'_>| {
        system.precondition.map_or("as in its file", Filled::name).to_owned()
    };
    let held = ("precondition", [held(first), held(other)]);
    let apart = [limits, held].into_iter().chain(all).filter(|(_, [ours, theirs])| ours != theirs);
    let found: Vec<String> =
        apart.map(|(what, [ours, theirs])| format!("{what} {theirs} against {ours}")).collect();
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

/// A warning if the sets of one system enter the file cache page by page and the other system,
/// whose result is older, does not say whether its sets did. Each is given with its name and what
/// it says ([`came_by_page`](ioscape_schema::Evaluation::came_by_page)).
pub fn other_pages(
    one: (&str, Option<Option<bool>>),
    other: (&str, Option<Option<bool>>),
) -> Option<Warning> {
    let (whole, partly) = match (one.1?, other.1?) {
        (Some(true), None) => (one.0, other.0),
        (None, Some(true)) => (other.0, one.0),
        _ => return None,
    };
    let message = format!(
        "sets of {whole} come into the file cache page by page, those of {partly} need not have: that alone may make cached requests several times faster or slower; evaluate {partly} again"
    );
    Some(Warning::new(WarningKind::DifferentKinds, message))
}

/// Lists, in words, every way in which the workloads of `other` were carried out differently from
/// those of `first`, so that their throughputs are not of the same work. `None` if they were
/// carried out alike.
pub fn other_way(first: &EvaluatedSystem<'_>, other: &EvaluatedSystem<'_>) -> Option<String> {
    let (ours, theirs) = (first.clients, other.clients);
    let clients = (ours != theirs).then(|| format!("clients {theirs} against {ours}"));
    let ways = ways_apart(first.base, other.base).into_iter();
    let found: Vec<String> = ways.chain(clients).collect();
    (!found.is_empty()).then(|| {
        format!("{} was evaluated otherwise than {} ({})", other.name, first.name, found.join(", "))
    })
}

/// Lists, in words, every way in which two workloads are carried out differently, the second
/// against the first.
pub(super) fn ways_apart(first: &Workload, second: &Workload) -> Vec<String> {
    let of = |one: &Workload| {
        [
            ("access", one.access.to_string()),
            ("engine", one.engine.to_string()),
            ("workers", one.workers.to_string()),
            ("queue depth", one.queue_depth.to_string()),
            ("size distribution", one.size_distribution.to_string()),
        ]
    };
    let both = of(first).into_iter().zip(of(second));
    let differ = both.filter(|(ours, theirs)| ours != theirs);
    differ.map(|((what, ours), (_, theirs))| format!("{what} {theirs} against {ours}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reach::tests::LIMITS;
    use ioscape_schema::{Access, Engine, Evaluation};

    /// Guards against a defect: older results were judged "slower, surely", and their predictions
    /// missed, without a hint why.
    #[test]
    fn results_from_before_sets_came_in_page_by_page_are_doubted() {
        let [old, new] = [("old.json", Some(None)), ("new.json", Some(Some(true)))];
        let said = other_pages(old, new).unwrap().message;
        assert!(said.starts_with("sets of new.json come into the file cache page"), "{said}");
        assert_eq!(other_pages(new, old).unwrap().message, said);
        for alike in [old, ("direct.json", None)] {
            assert_eq!(other_pages(old, alike), None);
            assert_eq!(other_pages(alike, old), None);
        }
        // A file system in memory, or on a server, is another system rather than an older result.
        assert_eq!(other_pages(new, ("tmpfs.json", Some(Some(false)))), None);
        assert_eq!(other_pages(new, new), None);
    }

    #[test]
    fn only_what_goes_through_a_real_file_cache_tells_how_its_sets_came_in() {
        let of = |base: Workload| {
            let settings = Some(LIMITS.settings(base, None));
            Evaluation { settings, by_page: Some(true), ..Evaluation::default() }
        };
        assert_eq!(of(Workload::default()).came_by_page(), Some(Some(true)));
        let old = Evaluation { by_page: None, ..of(Workload::default()) };
        assert_eq!(old.came_by_page(), Some(None));
        let direct = Workload { access: Access::Direct, ..Workload::default() };
        let simulated = Workload { engine: Engine::Sim, ..Workload::default() };
        assert_eq!([direct, simulated].map(|base| of(base).came_by_page()), [None, None]);
    }

    #[test]
    fn every_difference_is_named_once() {
        let (buffered, direct) =
            (Workload::default(), Workload { access: Access::Direct, ..Workload::default() });
        let of = |cpu_count| Environment { cpu_count: Some(cpu_count), ..Environment::default() };
        let (environment, large) = (&of(2), of(16));
        let first = EvaluatedSystem {
            name: "a",
            base: &buffered,
            memory_limit_bytes: None,
            precondition: None,
            environment,
            clients: 1,
        };
        assert_eq!(differences(&first, &EvaluatedSystem { name: "b", ..first }), None);
        let memory_limit_bytes = Some(1 << 30);
        let other = EvaluatedSystem { name: "b", base: &direct, memory_limit_bytes, ..first };
        let said = differences(&first, &other).unwrap().message;
        assert!(said.contains("(memory limit 1 GiB against none):"), "{said}");
        let worn = EvaluatedSystem { precondition: Some(Filled::SteadyState), ..first };
        let said = differences(&first, &worn).unwrap().message;
        assert!(said.contains("(precondition steady-state against as in its file):"), "{said}");
        let said = differences(&first, &EvaluatedSystem { environment: &large, ..first }).unwrap();
        assert!(said.message.contains("(processors 16 against 2)"), "{said}");
        let [small, big] = [8, 64]
            .map(|gib: u64| Environment { memory_bytes: Some(gib << 30), ..environment.clone() });
        let apart = |base, memory_limit_bytes| {
            let first = EvaluatedSystem { environment: &small, base, memory_limit_bytes, ..first };
            differences(&first, &EvaluatedSystem { environment: &big, ..first }).is_some()
        };
        let of_memory = [apart(&buffered, None), apart(&buffered, memory_limit_bytes)];
        assert_eq!((of_memory, apart(&direct, None)), ([true, false], false), "its use is equal");
        assert_eq!(other_way(&first, &first), None);
        let way = other_way(&first, &other).unwrap();
        assert!(way.contains("access direct against buffered") && !way.contains("engine"), "{way}");
        let many = other_way(&first, &EvaluatedSystem { name: "b", clients: 4, ..first });
        assert!(many.is_some_and(|way| way.contains("(clients 4 against 1)")));
    }
}
