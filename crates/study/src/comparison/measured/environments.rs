//! How the systems of two results differ, by what their documents say about machine and place.

use super::places;
use super::row::NamedDocument;
use super::systems::differ;
use crate::mount_options::without_names;
use ioscape_schema::units::Bytes;
use ioscape_schema::{Document, Environment, Outcome};

/// How two systems differ in kernel, memory limit, size and hypervisor, if both documents say so;
/// one sentence each.
pub(super) fn of_machine(first: NamedDocument<'_>, second: NamedDocument<'_>) -> Vec<String> {
    let both = [first, second];
    let kernel = told(both, "kernel", |here| here.kernel.clone());
    let limit = told(both, "memory limit", memory_limit);
    let [ours, theirs] = both.map(|one| &one.document.environment);
    let apart = ours.machines_apart(theirs).into_iter().filter_map(|(what, [ours, theirs])| {
        differ(both.map(|one| one.name), what, [&ours, &theirs])
    });
    kernel.into_iter().chain(limit).chain(apart).collect()
}

/// How the places of two results other than micro-benchmarks differ, if both documents say so: in
/// target (of validations), in file system, or else mount options, in device and scheduler, and in what caches or limits
/// requests below; one sentence each. With several places, only campaigns say where a row lies,
/// each place with its mount options.
pub(super) fn of_place(first: NamedDocument<'_>, second: NamedDocument<'_>) -> Vec<String> {
    let both = [first, second];
    if both.iter().any(|one| !one.document.environment.other_places.is_empty()) {
        return places::differences(both);
    }
    let [ours, theirs] = both.map(|one| &one.document.environment);
    let options = |here: &Environment| here.mount_options.as_deref().map(without_names);
    // Each type of file system has its own options.
    let files = told(both, "file system", |here| here.file_system.clone());
    let files = files.or_else(|| told(both, "mount options", options));
    let device = told(both, "device", |here| here.device_model.clone());
    let ways = ours.ways_apart(theirs).into_iter().filter_map(|(what, [ours, theirs])| {
        differ(both.map(|one| one.name), what, [&ours, &theirs])
    });
    let targets = (target(first.document), target(second.document));
    let target = match targets {
        (Some(ours), Some(theirs)) => differ(both.map(|one| one.name), "target", [ours, theirs]),
        _ => None,
    };
    target.into_iter().chain(files).chain(device).chain(ways).collect()
}

/// What a validation measured. The environment of a simulated system does not tell it apart.
fn target(document: &Document) -> Option<&str> {
    let Some(Outcome::Validation(run)) = &document.outcome else { return None };
    run.validation.as_ref().map(|one| one.target.as_str()).filter(|target| !target.is_empty())
}

/// The sentence about a property that differs between the two systems.
fn told(
    both: [NamedDocument<'_>; 2],
    what: &str,
    of: fn(&Environment) -> Option<String>,
) -> Option<String> {
    let [ours, theirs] = both.map(|one| of(&one.document.environment));
    let (ours, theirs) = (ours?, theirs?);
    differ(both.map(|one| one.name), what, [&ours, &theirs])
}

/// The memory limit in words. A document without a kernel comes from another program or is
/// simulated: its limit is unknown.
fn memory_limit(here: &Environment) -> Option<String> {
    let bytes = |bytes: u64| Bytes(bytes as f64).to_string();
    here.kernel.as_ref().map(|_| here.memory_limit_bytes.map_or("none".to_owned(), bytes))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{compared, document, os, run, validated};
    use super::*;
    use ioscape_schema::{OtherPlace, Workload};

    /// The differences reported for a run as `second` against one as `first`.
    fn told(first: &Environment, second: &Environment) -> Vec<String> {
        let [first, second] = [first, second].map(|environment| Document {
            environment: environment.clone(),
            ..document(vec![run("x", Workload::default(), 5e8)])
        });
        compared(&first, &second, None).expect("one row").differences
    }

    fn usual() -> Environment {
        Environment {
            kernel: Some("Linux 6.8".into()),
            file_system: Some("ext4".into()),
            mount_options: Some("rw,relatime".into()),
            memory_limit_bytes: Some(512 << 20),
            ..Environment::default()
        }
    }

    /// Guards against a defect: a job that had lost its memory limit was 83 times as fast, with no
    /// hint why.
    #[test]
    fn runs_under_another_memory_limit_and_with_other_mount_options_say_so() {
        let mount_options = Some("rw,sync".into());
        let other = Environment { memory_limit_bytes: None, mount_options, ..usual() };
        let [options, limit] = &told(&usual(), &other)[..] else { panic!("two differences") };
        assert_eq!(options, "mount options: rw,sync on b, rw,relatime on a");
        assert_eq!(limit, "memory limit: none on b, 512 MiB on a");
        assert_eq!(told(&usual(), &usual()), Vec::<String>::new());
    }

    #[test]
    fn validations_of_two_targets_name_them() {
        let of = |target: &str| {
            let mut document = validated(run("x", Workload::default(), 5e8));
            if let Some(Outcome::Validation(run)) = &mut document.outcome {
                run.validation.as_mut().expect("whole").target = target.to_owned();
            }
            document
        };
        let told = |there: &str| {
            compared(&of("sim:hp-97560"), &of(there), None).expect("one row").differences
        };
        assert_eq!(told("sim:c2247a"), ["target: sim:c2247a on b, sim:hp-97560 on a"]);
        assert_eq!([told("sim:hp-97560"), told("")], [Vec::<String>::new(), Vec::new()]);
    }

    #[test]
    fn a_machine_of_another_size_is_told() {
        let of = |cpu_count| Environment { cpu_count: Some(cpu_count), ..usual() };
        assert_eq!(told(&of(2), &of(16)), ["processors: 16 on b, 2 on a"]);
    }

    #[test]
    fn another_file_system_and_another_kernel_are_told_of_runs() {
        let (kernel, file_system) = (Some("Linux 6.12".into()), Some("bcachefs".into()));
        let mount_options = Some("rw,compression=none".into());
        let other = Environment { kernel, file_system, mount_options, ..usual() };
        assert_eq!(
            told(&usual(), &other),
            ["file system: bcachefs on b, ext4 on a", "kernel: Linux 6.12 on b, Linux 6.8 on a"]
        );
    }

    /// Guards against a defect: direct I/O that a loop device cached was 83 times as fast, and a
    /// device in a limited group 24 times as slow, with no hint why.
    #[test]
    fn a_cache_below_and_a_limit_of_io_are_told() {
        let of = |cache: &str, limit: &str| {
            let (cached_below, io_limit) = (Some(cache.to_owned()), Some(limit.to_owned()));
            Environment { cached_below, io_limit, ..usual() }
        };
        let (plain, other) = (of("none", "none"), of("loop0 on /i", "sda: reads up to 20 MB/s"));
        assert_eq!(
            told(&plain, &other),
            [
                "loop device that caches: loop0 on /i on b, none on a",
                "I/O limit of a control group: sda: reads up to 20 MB/s on b, none on a"
            ]
        );
        assert_eq!(told(&usual(), &other), Vec::<String>::new(), "older results do not tell");
    }

    /// Once, results on LUKS and LVM differed from older ones in a scheduler that was the same.
    #[test]
    fn the_scheduler_of_a_volume_is_not_compared_with_that_of_its_drive() {
        let of = |device: &str, scheduler: &str, cached_below: Option<&str>| Environment {
            device: Some(device.to_owned()),
            scheduler: Some(scheduler.to_owned()),
            cached_below: cached_below.map(str::to_owned),
            ..usual()
        };
        let later = |device| of(device, "bfq", Some("none"));
        assert_eq!(told(&of("dm-0", "none", None), &later("dm-0")), Vec::<String>::new());
        let differs = ["scheduler: bfq on b, none on a"];
        assert_eq!(told(&of("dm-0", "none", Some("none")), &later("dm-0")), differs);
        assert_eq!(told(&of("sda", "none", None), &later("sda")), differs);
    }

    /// Guards against a defect: runs on xfs were said to be on ext4 because the other result's
    /// first place was ext4.
    #[test]
    fn of_several_places_none_is_taken_for_another() {
        let other_places = vec![OtherPlace::default()];
        let several = Environment { other_places, ..usual() };
        let (kernel, file_system) = (Some("Linux 6.12".into()), Some("xfs".into()));
        let one = Environment { kernel, file_system, ..usual() };
        assert_eq!(told(&several, &one), ["kernel: Linux 6.12 on b, Linux 6.8 on a"]);
        assert_eq!(told(&one, &several), ["kernel: Linux 6.8 on b, Linux 6.12 on a"]);
    }

    #[test]
    fn another_kernel_is_told_of_micro_benchmarks_too() {
        let [one, other] = ["Linux 6.8", "Linux 6.12"].map(|kernel| Document {
            environment: Environment { kernel: Some(kernel.into()), ..Environment::default() },
            ..os(1.0)
        });
        let told = compared(&one, &other, None).expect("one row").differences;
        assert_eq!(told, ["kernel: Linux 6.12 on b, Linux 6.8 on a"]);
    }

    #[test]
    fn what_a_result_does_not_tell_and_where_a_layer_lies_are_no_difference() {
        assert_eq!(told(&usual(), &Environment::default()), Vec::<String>::new());
        let of = |layer: &str| {
            let mount_options = Some(format!("rw,lowerdir={layer}"));
            Environment { file_system: Some("overlay".into()), mount_options, ..usual() }
        };
        assert_eq!(told(&of("/a"), &of("/b")), Vec::<String>::new());
    }
}
