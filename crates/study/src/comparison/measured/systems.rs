//! How the systems of two micro-benchmark results differ in what changes their figures.

use super::row::NamedDocument;
use crate::mount_options::without_names;
use ioscape_schema::os::shortened_apart;
use ioscape_schema::{
    Environment, Locality, OsBenchmark, OsResults, OsSystem, Outcome, WarningKind,
};
use std::collections::BTreeSet;

/// Settings that change how long system calls, processors and this program itself take, by their
/// names in the document, each with what its absence means.
const SETTINGS: [(&str, Option<&str>); 14] = [
    ("processes are made from", Some("the measuring program with all that it had gathered")),
    ("seccomp mode", None),
    ("quota of processor time", Some("none")),
    ("asked of the kernel at start", Some("nothing")),
    ("frequency governor", None),
    ("clock source", None),
    ("size of a page", None),
    ("transparent huge pages", None),
    ("build", Some("with optimisation")),
    ("C library of this program", None),
    ("compiler of this program", None),
    ("build profile of this program", None),
    ("link-time optimisation of this program", None),
    ("compiler flags of this program", None),
];

/// Separates the link-time optimisation from who asked for it, which does not matter.
const ASKED_BY: &str = ", by the ";

/// A document of micro-benchmarks, by its parts.
#[derive(Clone, Copy)]
struct System<'a> {
    name: &'a str,
    results: &'a OsResults,
    environment: &'a Environment,
}

impl<'a> System<'a> {
    fn of(one: NamedDocument<'a>) -> Option<Self> {
        match &one.document.outcome {
            Some(Outcome::Os(results)) => {
                Some(Self { name: one.name, results, environment: &one.document.environment })
            }
            _ => None,
        }
    }

    /// Type and mount options of the file system of the cases at `place`; the environment itself
    /// describes the place that comes first.
    fn file_system(self, place: Locality) -> Option<(&'a str, Option<&'a str>)> {
        let mut places = self.results.benchmarks.iter().filter_map(|one| one.place);
        let first = places.next()?;
        let here = self.environment;
        let [kind, options] = if first == place {
            [&here.file_system, &here.mount_options]
        } else {
            let other = here.other_places.first().filter(|_| places.any(|one| one == place))?;
            [&other.file_system, &other.mount_options]
        };
        Some((kind.as_deref()?, options.as_deref()))
    }
}

/// How the systems of two results differ in mitigations, seccomp, quotas and other settings, in the
/// build of this program and in file systems, if both report them; one sentence each.
pub(super) fn differences(first: NamedDocument<'_>, second: NamedDocument<'_>) -> Vec<String> {
    let (Some(first), Some(second)) = (System::of(first), System::of(second)) else {
        return Vec::new();
    };
    let both = [first, second];
    let mut all = of_weaknesses(both);
    all.extend(SETTINGS.into_iter().filter_map(|(name, absent)| {
        let [ours, theirs] = both.map(|one| setting(&one.results.system, name, absent));
        differ(names(both), name, [ours?, theirs?])
    }));
    let places = [Locality::Local, Locality::Remote].into_iter();
    all.extend(places.filter_map(|place| of_files(both, place)));
    all.extend([both, [second, first]].into_iter().flat_map(of_traps));
    all
}

/// The sentence about what differs between the two systems of these names.
pub(super) fn differ(
    [first, second]: [&str; 2],
    what: &str,
    [ours, theirs]: [&str; 2],
) -> Option<String> {
    (ours != theirs).then(|| {
        let [ours, theirs] = shortened_apart(ours, theirs);
        format!("{what}: {theirs} on {second}, {ours} on {first}")
    })
}

fn names(both: [System<'_>; 2]) -> [&str; 2] {
    both.map(|one| one.name)
}

fn of_weaknesses(both: [System<'_>; 2]) -> Vec<String> {
    let [ours, theirs] = both.map(|one| &one.results.system.vulnerabilities);
    let told = ours.iter().filter_map(|(name, ours)| Some((name, ours, theirs.get(name)?)));
    let sentence = |(name, ours, theirs): (&String, &String, &String)| {
        differ(names(both), &format!("mitigation of {name}"), [ours, theirs])
    };
    told.filter_map(sentence).collect()
}

/// A setting as a document reports it. An absent one is `absent` if the document reports any
/// settings.
fn setting<'a>(system: &'a OsSystem, name: &str, absent: Option<&'a str>) -> Option<&'a str> {
    let all = &system.settings;
    let told = all.get(name).map(|told| told.split(ASKED_BY).next().unwrap_or(told));
    told.or_else(|| absent.filter(|_| !all.is_empty()))
}

/// How the file systems at a place differ; if they are of one type, how their mount options differ.
fn of_files(both: [System<'_>; 2], place: Locality) -> Option<String> {
    let [ours, theirs] = both.map(|one| one.file_system(place));
    let ((kind, options), (other_kind, other_options)) = (ours?, theirs?);
    let what = |what: &str| format!("{what} ({})", place.word());
    differ(names(both), &what("file system"), [kind, other_kind]).or_else(|| {
        let [ours, theirs] = [options?, other_options?].map(without_names);
        differ(names(both), &what("mount options"), [&ours, &theirs])
    })
}

/// The traps that cases with files of the second result ran into and those of the first did not.
fn of_traps([first, second]: [System<'_>; 2]) -> Vec<String> {
    let counterpart = |one: &OsBenchmark| {
        let ours = first.results.benchmarks.iter();
        ours.filter(|other| other.value.is_some()).find(|other| {
            (&other.name, &other.case, other.place) == (&one.name, &one.case, one.place)
        })
    };
    let with_files = second.results.benchmarks.iter();
    let with_files = with_files.filter(|one| one.place.is_some() && one.value.is_some());
    // The trap of `read` is decided by two intervals. If they are too wide, nothing is reported,
    // although files lie in the cache in the same way.
    let certain = with_files.filter(|one| one.name != "read");
    let new = certain.filter(|one| counterpart(one).is_some_and(|one| traps(one).is_empty()));
    let told: BTreeSet<&str> = new.flat_map(traps).collect();
    told.into_iter().map(|message| format!("on {} alone {message}", second.name)).collect()
}

/// The traps that a case ran into, in words.
fn traps(one: &OsBenchmark) -> Vec<&str> {
    let all = one.warnings.iter().filter(|warning| warning.kind == WarningKind::Trap);
    all.map(|warning| warning.message.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{Document, Warning};

    /// A document with these settings, with one case that uses files on a file system.
    fn document(settings: &[(&str, &str)], file_system: &str) -> Document {
        let one = OsBenchmark {
            name: "fsync".into(),
            case: "4 KB overwritten".into(),
            place: Some(Locality::Local),
            value: Some(1e6),
            ..OsBenchmark::default()
        };
        let mut results = OsResults { benchmarks: vec![one], ..OsResults::default() };
        let settings = settings.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        results.system.settings = settings.collect();
        Document {
            environment: Environment {
                file_system: Some(file_system.into()),
                mount_options: Some("rw,relatime".into()),
                ..Environment::default()
            },
            outcome: Some(results.into()),
            ..Document::default()
        }
    }

    fn told(first: &Document, second: &Document) -> Vec<String> {
        let [first, second] =
            [("a", first), ("b", second)].map(|(name, document)| NamedDocument { name, document });
        differences(first, second)
    }

    #[test]
    fn another_size_of_pages_and_another_c_library_are_told() {
        for (name, ours, theirs) in [
            ("size of a page", "4096 bytes", "65536 bytes"),
            ("C library of this program", "glibc, shared", "musl, static"),
        ] {
            let [one, other] = [ours, theirs].map(|value| document(&[(name, value)], "ext4"));
            assert_eq!(told(&one, &other), [format!("{name}: {theirs} on b, {ours} on a")]);
            assert!(told(&one, &document(&[], "ext4")).is_empty(), "older documents do not tell");
        }
        let lto = |by| document(&[("link-time optimisation of this program", by)], "ext4");
        assert!(told(&lto("fat, by the manifest"), &lto("fat, by the environment")).is_empty());
    }

    #[test]
    fn other_file_systems_and_their_options_are_told() {
        let (disk, memory) = (document(&[], "ext4"), document(&[], "tmpfs"));
        assert_eq!(told(&disk, &memory), ["file system (local): tmpfs on b, ext4 on a"]);
        let mut safe = disk.clone();
        safe.environment.mount_options = Some("rw,sync".into());
        assert_eq!(told(&disk, &safe), ["mount options (local): rw,sync on b, rw,relatime on a"]);
    }

    #[test]
    fn mount_options_that_name_a_place_are_no_difference() {
        let of = |layer: &str, further: &str| {
            let folder = format!("/var/lib/docker/overlay2/{layer}");
            let names = format!("lowerdir={folder}/l:{folder}/m,upperdir={folder}/diff");
            let mut one = document(&[], "overlay");
            one.environment.mount_options = Some(format!("rw,relatime,{names}{further}"));
            one
        };
        assert!(told(&of("6Y5IM2XC", ""), &of("QK3LCO4D", "")).is_empty());
        assert_eq!(
            told(&of("6Y5IM2XC", ""), &of("QK3LCO4D", ",volatile")),
            ["mount options (local): rw,relatime,volatile on b, rw,relatime on a"]
        );
    }

    #[test]
    fn security_labels_ports_and_accounts_of_a_mount_are_no_difference() {
        let told = |options: [&str; 2]| {
            let [one, other] = options.map(|options| {
                let mut one = document(&[], "overlay");
                one.environment.mount_options = Some(format!("rw,{options},relatime"));
                one
            });
            told(&one, &other)
        };
        for options in [
            [r#"context="u:o:t:s0:c560,c898""#, r#"context="u:o:t:s0:c44,c651""#],
            [r#"context="u:o:t:s0:c5,c8",lowerdir=/a"#, "context=u:o:t:s0,lowerdir=/b"],
            ["mountport=41723", "mountport=20048"],
            ["rfdno=5,wfdno=5", "rfdno=8,wfdno=9"],
            ["username=ann", "username=bob"],
            ["mon_addr=10.0.0.1:6789", "mon_addr=10.0.0.2:6789"],
        ] {
            assert!(told(options).is_empty(), "{options:?}");
        }
        let behind = [r#"context="u:o:t:s0:c560,c898",volatile"#, r#"context="u:o:t:s0:c44,c651""#];
        assert_eq!(
            told(behind),
            ["mount options (local): rw,relatime on b, rw,volatile,relatime on a"]
        );
    }

    #[test]
    fn a_trap_that_the_other_system_may_have_missed_is_not_told() {
        let of = |warnings: Vec<Warning>| {
            let mut one = document(&[], "ext4");
            if let Some(Outcome::Os(results)) = &mut one.outcome {
                let read = &mut results.benchmarks[0];
                (read.name, read.warnings) = ("read".into(), warnings);
            }
            one
        };
        let trap = Warning::new(WarningKind::Trap, "the same file is read 1.3 times as fast");
        assert!(told(&of(Vec::new()), &of(vec![trap])).is_empty());
    }

    #[test]
    fn a_trap_of_one_system_alone_is_told() {
        let (disk, mut memory) = (document(&[], "ext4"), document(&[], "ext4"));
        if let Some(Outcome::Os(results)) = &mut memory.outcome {
            let trap = Warning::new(WarningKind::Trap, "files are in memory here");
            results.benchmarks[0].warnings.push(trap);
        }
        assert_eq!(told(&disk, &memory), ["on b alone files are in memory here"]);
        assert_eq!(told(&memory, &disk), ["on a alone files are in memory here"]);
        assert!(told(&memory, &memory).is_empty());
    }
}
