//! The properties of the machine that affect the micro-benchmarks: processors, caches, mitigations,
//! settings.

pub(crate) use ioscape_machine::affinity::allowed as processors;
use ioscape_machine::text;
use ioscape_schema::units::parse_bytes;
use ioscape_schema::{OsSystem, Warning, WarningKind};
use std::collections::BTreeMap;
use std::path::Path;

/// The assumed caches if the kernel reports none: those of a small server.
const CACHES: [u64; 3] = [32 << 10, 1 << 20, 32 << 20];

/// A processor with at least this share of the fastest one's speed is of the same kind. Some cores
/// of a kind reach a clock a few per cent higher; kinds sold together differ by more than a tenth.
const ALIKE: f64 = 0.9;

/// Where the kernel reports a processor's relative speed: its capacity, which is the same for all
/// if unknown, and its highest clock frequency.
const SPEEDS: [&str; 2] = ["cpu_capacity", "cpufreq/cpuinfo_max_freq"];

/// Returns the processors of the fastest kind, for machines that also have slower ones to save
/// energy; all if the kernel does not report speeds.
pub(crate) fn fastest(cpus: &[usize]) -> Vec<usize> {
    let told = |cpu: usize, name: &str| {
        text::read_number(format!("/sys/devices/system/cpu/cpu{cpu}/{name}"))
    };
    fastest_as_told(cpus, told)
}

/// The same, given the value `told` for each name in [`SPEEDS`]: the first name that distinguishes
/// kinds decides.
fn fastest_as_told(cpus: &[usize], told: impl Fn(usize, &str) -> Option<u64>) -> Vec<usize> {
    let fastest_by = |name: &str| {
        let speeds = cpus.iter().map(|&cpu| Some((cpu, told(cpu, name)?)));
        Some(of_fastest_kind(&speeds.collect::<Option<Vec<_>>>()?))
    };
    let mut kinds = SPEEDS.into_iter().filter_map(fastest_by);
    kinds.find(|kind| kind.len() < cpus.len()).unwrap_or_else(|| cpus.to_vec())
}

fn of_fastest_kind(speeds: &[(usize, u64)]) -> Vec<usize> {
    let most = speeds.iter().map(|(_, speed)| *speed).max().unwrap_or(0);
    let of_kind = speeds.iter().filter(|(_, speed)| *speed as f64 >= most as f64 * ALIKE);
    of_kind.map(|(cpu, _)| *cpu).collect()
}

/// Returns the warning that this many of this program's processors are slower than the kind of
/// `cpu`, which runs pinned cases.
pub(crate) fn kinds_warning(slower: usize, cpu: usize) -> Option<Warning> {
    (slower > 0).then(|| {
        let text = format!(
            "{slower} of the processors that this program may use are of a slower kind than processor {cpu}, on which the rating and all cases on one processor are measured: cases on several processors, or where the scheduler places them, may run on those as well"
        );
        Warning::new(WarningKind::DifferentKinds, text)
    })
}

/// Returns the numbers of concurrent tasks to measure: 1, 2, 4 and so on up to all processors, or
/// only the two ends.
pub(crate) fn task_counts(processors: usize, all: bool) -> Vec<u32> {
    let most = u32::try_from(processors.max(1)).unwrap_or(u32::MAX);
    let mut counts: Vec<u32> = (0..32).map(|power| 1 << power).take_while(|&n| n < most).collect();
    counts.push(most);
    if !all {
        counts.retain(|&count| count == 1 || count == most);
    }
    counts
}

/// Returns the sizes of a processor's data caches from the first level on, and whether the kernel
/// reported them.
pub(crate) fn caches(cpu: usize) -> (Vec<u64>, bool) {
    let folder = format!("/sys/devices/system/cpu/cpu{cpu}/cache");
    let mut found = BTreeMap::new();
    for index in 0..8 {
        let of = |name: &str| text::read(format!("{folder}/index{index}/{name}"));
        let size = of("size").and_then(|size| parse_bytes(&size).ok());
        let (Some(kind), Some(size)) = (of("type"), size) else { continue };
        let level: u32 = of("level").and_then(|l| l.parse().ok()).unwrap_or(0);
        if kind != "Instruction" && level > 0 {
            found.insert(level, size);
        }
    }
    if found.is_empty() { (CACHES.to_vec(), false) } else { (found.into_values().collect(), true) }
}

/// Returns the active mitigations and the settings, as far as the kernel reports them.
pub(crate) fn system(cpu: usize, caches: &[u64]) -> OsSystem {
    let folder = Path::new("/sys/devices/system/cpu/vulnerabilities");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| {
        Some((entry.file_name().to_string_lossy().into_owned(), text::read(entry.path())?))
    });
    OsSystem {
        vulnerabilities: named.collect(),
        settings: settings(cpu),
        caches_bytes: caches.to_vec(),
        pinned_cpu: u32::try_from(cpu).ok(),
        second_cpu: None,
    }
}

fn settings(cpu: usize) -> BTreeMap<String, String> {
    let frequency = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq");
    let status = text::read("/proc/self/status").unwrap_or_default();
    let command_line = text::read("/proc/cmdline").unwrap_or_default();
    let asked: Vec<&str> = command_line
        .split(' ')
        .filter(|word| {
            ["mitigations=", "nopti", "pti=", "audit="].iter().any(|m| word.starts_with(m))
        })
        .collect();
    let known = [
        ("frequency governor", text::read(format!("{frequency}/scaling_governor"))),
        ("frequency, kHz", text::read(format!("{frequency}/scaling_cur_freq"))),
        (
            "clock source",
            text::read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        ),
        ("size of a page", Some(format!("{} bytes", rustix::param::page_size()))),
        ("transparent huge pages", text::read("/sys/kernel/mm/transparent_hugepage/enabled")),
        ("idle driver", text::read("/sys/devices/system/cpu/cpuidle/current_driver")),
        ("seccomp mode", text::field(&status, "Seccomp").map(|mode| mode.to_string())),
        ("traced by process", text::field(&status, "TracerPid").map(|pid| pid.to_string())),
        ("asked of the kernel at start", Some(asked.join(" ")).filter(|words| !words.is_empty())),
        ("C library of this program", Some(c_library())),
        ("compiler of this program", built(env!("IOSCAPE_COMPILER"))),
        ("build profile of this program", built(env!("IOSCAPE_PROFILE"))),
        ("link-time optimisation of this program", built(env!("IOSCAPE_LTO"))),
        (
            "compiler flags of this program",
            Some(built(env!("IOSCAPE_COMPILER_FLAGS")).unwrap_or_else(|| "none".to_owned())),
        ),
        (
            "program of a process: smallest",
            crate::today::small_program()
                .map(|bytes| format!("{} bytes, static, without a runtime", bytes.len())),
        ),
        ("program of a process: ioscape", own_size().map(|bytes| format!("{bytes} bytes"))),
        (
            "shortage of memory",
            crate::background::stalled_s()
                .is_none()
                .then(|| "not told by this kernel (/proc/pressure/memory), so not seen".to_owned()),
        ),
        ("build", cfg!(debug_assertions).then(|| "without optimisation".to_owned())),
    ];
    known.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Returns the C library that this program was built for; the rating depends on its `strcmp`, and
/// `bcopy` on its `memcpy`.
fn c_library() -> String {
    let name = match (cfg!(target_env = "gnu"), cfg!(target_env = "musl")) {
        (true, _) => "glibc",
        (_, true) => "musl",
        _ => "another",
    };
    let linked = if cfg!(target_feature = "crt-static") { "static" } else { "shared" };
    format!("{name}, {linked}")
}

/// Returns what was recorded when this program was built; `None` if it was unknown.
fn built(noted: &str) -> Option<String> {
    (!noted.is_empty()).then(|| noted.to_owned())
}

/// Returns the size of this program's executable.
fn own_size() -> Option<u64> {
    Some(std::fs::metadata(std::env::current_exe().ok()?).ok()?.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_fastest_kind_of_processor_is_taken() {
        assert_eq!(of_fastest_kind(&[(0, 1024), (1, 1024), (2, 600)]), [0, 1]);
        assert_eq!(of_fastest_kind(&[(0, 446), (4, 1024)]), [4]);
        let turbo = [(0, 5_500_000), (1, 5_800_000), (2, 5_500_000)];
        assert_eq!(of_fastest_kind(&turbo), [0, 1, 2], "one kind");
        assert!(of_fastest_kind(&[]).is_empty());
        assert_eq!(kinds_warning(0, 1), None);
        assert!(kinds_warning(8, 15).unwrap().message.contains("slower kind than processor 15"));
        let nowhere = [1 << 20, 1 << 21];
        assert_eq!(fastest(&nowhere), nowhere, "the kernel tells nothing of them");
    }

    #[test]
    fn what_says_the_same_of_all_processors_gives_way_to_what_tells_them_apart() {
        let frequency = |cpu: usize| if cpu < 2 { 2_800_000 } else { 1_800_000 };
        let told = |capacity: fn(usize) -> Option<u64>| {
            fastest_as_told(&[0, 1, 2, 3], |cpu, name| match name {
                "cpu_capacity" => capacity(cpu),
                _ => Some(frequency(cpu)),
            })
        };
        assert_eq!(told(|_| Some(1024)), [0, 1], "nothing was known of the capacity");
        assert_eq!(told(|_| None), [0, 1]);
        assert_eq!(told(|cpu| Some(if cpu == 3 { 1024 } else { 446 })), [3]);
        assert_eq!(fastest_as_told(&[0, 1], |_, _| Some(1024)), [0, 1]);
    }

    #[test]
    fn counts_double_up_to_all_processors() {
        assert_eq!(task_counts(1, true), [1]);
        assert_eq!(task_counts(2, true), [1, 2]);
        assert_eq!(task_counts(12, true), [1, 2, 4, 8, 12]);
        assert_eq!(task_counts(12, false), [1, 12]);
    }

    #[test]
    fn there_is_a_processor_with_caches() {
        let cpus = processors();
        assert!(!cpus.is_empty());
        let (sizes, _) = caches(cpus[0]);
        assert!(sizes.windows(2).all(|pair| pair[0] < pair[1]) && !sizes.is_empty());
        let settings = system(cpus[0], &sizes).settings;
        assert!(settings.contains_key("build"));
        assert!(settings["compiler of this program"].contains("optimisation level"));
        let lto = settings["link-time optimisation of this program"].as_str();
        let (value, by) = lto.split_once(", by the ").unwrap();
        assert!(["off", "false", "true", "thin", "fat"].contains(&value), "{lto}");
        assert!(["environment", "manifest"].contains(&by), "{lto}");
        assert!(!settings["build profile of this program"].is_empty());
        assert!(!settings["compiler flags of this program"].is_empty());
        let library = settings["C library of this program"].as_str();
        assert!(library.ends_with(", static") || library.ends_with(", shared"), "{library}");
        assert!(settings["size of a page"].ends_with(" bytes"), "{settings:?}");
        if crate::today::small_program().is_some() {
            assert!(settings["program of a process: smallest"].contains(" bytes, static"));
        }
    }
}
