//! Doubts about an application's workload: I/O that calls do not show, a poor fit, and the cost of
//! tracing.

use ioscape_schema::units::{Bytes, Nanos, counted};
use ioscape_schema::workload::SIZE_MEAN_MAX;
use ioscape_schema::{Access, Characterization, RequestClass, Traits, Warning, WarningKind, Ways};

/// Below this `goodness`, the five parameters are doubtful.
const GOODNESS_MIN: f64 = 0.5;

/// Tracing is doubtful if it takes more than this share of the time.
const TRACING_SHARE_MAX: f64 = 0.25;

/// Mapping is mentioned from this ratio of mapped bytes to bytes moved by calls.
const MAPPED_SHARE_MAX: f64 = 0.1;

/// Copies that may have moved nothing are mentioned from this share of the bytes.
const UNTOLD_SHARE_MAX: f64 = 0.1;

/// Waits for dirty pages are mentioned if they take more than this share of the time.
const SYNC_SHARE_MAX: f64 = 0.05;

/// Requests in flight are mentioned if there are more than this per process.
const IN_FLIGHT_MAX: f64 = 2.0;

/// A difference between the fractions of requests and of bytes is mentioned if it exceeds this.
const MIX_DIFFERENCE_MAX: f64 = 0.2;

/// Requests that pass the file cache another way than the access says are mentioned if they are
/// more than this share.
const OTHERWISE_MAX: f64 = 0.1;

/// What the recorder of calls could not see, or what a workload cannot express.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unseen {
    /// Bytes of files mapped into memory.
    pub mapped_bytes: u64,
    /// Faults on them, if the kernel reported any.
    pub faults: Option<MappedFaults>,
    /// `io_uring` rings, or calls on them, whose requests are not visible.
    pub async_calls: u64,
    /// A 32-bit program that was executed.
    pub program_32_bit: Option<String>,
    /// A setuid or setgid program that ran without its privileges.
    pub program_unprivileged: Option<String>,
    /// Descriptors whose offset and flags could not be read.
    pub unread_descriptors: u64,
    /// Bytes of copies, read and written, whose file system does not say whether it moved them.
    pub untold_copied_bytes: u64,
    /// Whether no filter could be installed, so that every call was stopped.
    pub unfiltered: bool,
    /// How the requests passed the file cache.
    pub ways: Ways,
}

/// Faults on mapped files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MappedFaults {
    /// Faults on known pages, which count as reads.
    pub pages: u64,
    /// Faults on cached pages, whose offset is unknown.
    pub unplaced: u64,
    /// Faults on files that could not be identified.
    pub unmatched: u64,
    /// Faults that the kernel dropped.
    pub lost: u64,
}

impl MappedFaults {
    /// Says which accesses to mapped files are counted, and which are not.
    fn told(faults: Option<Self>) -> String {
        let Some(Self { pages, unplaced, unmatched, lost }) = faults else {
            return "loads and stores there are not counted, since the kernel tells of faults only to root, outside of containers with process numbers of their own, from Linux 6.11 on".to_owned();
        };
        let lost = match lost {
            0 => String::new(),
            1 => "; 1 fault was lost".to_owned(),
            _ => format!("; {lost} faults were lost"),
        };
        if pages + unplaced == 0 && unmatched > 0 {
            return format!(
                "none of the faults that the kernel told of could be matched to these files: where a file system has other numbers than the kernel names (btrfs, overlayfs) none can{lost}"
            );
        }
        format!(
            "{} there, each counted as a read of its page; {} on pages in the file cache, whose place is not known, and what is done to a page that is mapped already are not counted{lost}",
            counted(pages, "fault"),
            counted(unplaced, "fault")
        )
    }
}

/// Returns the doubts about `found`, given what was not seen.
pub fn doubts(found: &Characterization, unseen: &Unseen) -> Vec<Warning> {
    let mut doubts = unseen_io(&found.overall, unseen);
    doubts.extend(unidentified(found.unidentified_calls()));
    doubts.extend(merged(found.merged_requests()));
    doubts.extend(partly_seen(found));
    doubts.extend(poor_fit(&found.overall, &unseen.ways));
    doubts.extend(sequential_together(&found.overall));
    doubts.extend(too_large(found));
    doubts.extend(tracing_cost(found));
    if let Some(program) = &unseen.program_unprivileged {
        let message = format!(
            "{program} is a setuid or setgid program and ran without its extra privileges, since it was traced by an unprivileged user: run ioscape as root (`sudo ioscape characterize -- runuser -u USER -- COMMAND`)"
        );
        doubts.push(Warning::new(WarningKind::Unsupported, message));
    }
    if unseen.unfiltered {
        let message = "a seccomp filter is not allowed here: the command was stopped at every call, which is slower";
        doubts.push(Warning::new(WarningKind::Unsupported, message));
    }
    if let Some(limit) = found.memory_limit_bytes {
        let message = format!(
            "the command ran in a control group of {}, its file cache included",
            Bytes(limit as f64)
        );
        doubts.push(Warning::new(WarningKind::MemoryLimited, message));
    }
    doubts
}

/// Warns of calls whose files could not be identified.
fn unidentified(calls: u64) -> Option<Warning> {
    let message = format!(
        "{} went to files that could not be identified and are not counted: mount /proc if it is not mounted; else run as root, since only root can see the files of a program that is not readable, has capabilities or set itself undumpable",
        counted(calls, "call")
    );
    (calls > 0).then(|| Warning::new(WarningKind::CallsUnseen, message))
}

/// Warns of requests to files beyond those that are told apart.
fn merged(requests: u64) -> Option<Warning> {
    let message = format!(
        "{} went to files after the first 100,000, which are not told apart: the set, what is used again and what is deleted are those of the first; characterize a part of the work, or fewer files with --below",
        counted(requests, "request")
    );
    (requests > 0).then(|| Warning::new(WarningKind::CallsUnseen, message))
}

/// Warns where the requests are not the command's workload.
fn partly_seen(found: &Characterization) -> Option<Warning> {
    found.is_partial().then(|| {
        let why = match found.is_mostly_mapped() {
            true => format!(
                "up to {} of mapped files were used unseen, more than calls moved",
                Bytes(found.mapped_unseen_bytes as f64)
            ),
            false => format!(
                "more than one request per 20 was not seen or not told apart by file ({} in all)",
                found.unseen_requests()
            ),
        };
        let message =
            format!("{why}: no command to run it is given, and a prediction of it is a guess");
        Warning::new(WarningKind::CallsUnseen, message)
    })
}

/// Warns of concurrent sequential requests: a workload has one at a time.
fn sequential_together(overall: &Traits) -> Option<Warning> {
    let in_flight_ns = overall.requests as f64 * overall.response_time_ns;
    let in_flight = in_flight_ns / (overall.active_s * 1e9).max(1.0);
    let are_more = in_flight > f64::from(overall.process_num) * IN_FLIGHT_MAX;
    (are_more && overall.seq_frac > 0.5).then(|| {
        let message = format!(
            "about {in_flight:.0} requests were in flight together, most of them sequential: it is described as {}, with one request at a time, which storage that is fast only with many in flight serves more slowly",
            counted(u64::from(overall.process_num), "stream")
        );
        Warning::new(WarningKind::PoorFit, message)
    })
}

/// Warns of requests larger than those of a workload can be.
fn too_large(found: &Characterization) -> Option<Warning> {
    let most = SIZE_MEAN_MAX as f64;
    let classes = found.pattern.iter().flat_map(|pattern| &pattern.classes);
    let sizes = classes.map(RequestClass::size_mean);
    let largest = sizes.fold(found.overall.size_mean as f64, f64::max);
    (largest > most).then(|| {
        let message = format!(
            "requests of {}: `ioscape run` issues each as several, since its own have at most {}",
            Bytes(largest),
            Bytes(most)
        );
        Warning::new(WarningKind::PoorFit, message)
    })
}

fn tracing_cost(found: &Characterization) -> Option<Warning> {
    let cost_ns = found.tracing.in_call_ns + found.tracing.between_calls_ns;
    let elapsed_ns = (found.elapsed_s * 1e9).max(1.0);
    let share = found.calls_traced as f64 * cost_ns as f64 / elapsed_ns;
    (share > TRACING_SHARE_MAX).then(|| {
        let message = format!(
            "about {:.0} % of the time was spent tracing {} calls: the command is faster without it",
            share.min(1.0) * 100.0,
            found.calls_traced
        );
        Warning::new(WarningKind::TracingCost, message)
    })
}

/// Warns of I/O that calls do not show.
fn unseen_io(overall: &Traits, unseen: &Unseen) -> Vec<Warning> {
    let mut messages = Vec::new();
    let mapped = unseen.mapped_bytes as f64;
    if mapped > (overall.bytes as f64 * MAPPED_SHARE_MAX).max(1.0) {
        messages.push(format!(
            "{} of files were mapped into memory: {}",
            Bytes(mapped),
            MappedFaults::told(unseen.faults)
        ));
    }
    if unseen.async_calls > 0 {
        messages.push(format!(
            "io_uring was used in a way that calls do not show (polled by the kernel, in memory of the program's own, or on files that a ring opened for itself), {} times: requests issued that way are not counted",
            unseen.async_calls
        ));
    }
    let untold = unseen.untold_copied_bytes as f64;
    if untold > overall.bytes as f64 * UNTOLD_SHARE_MAX {
        messages.push(format!(
            "{} of what counts as read or written are copies (copy_file_range) on a file system that does not say whether its server made them or both files share the blocks now (NFS, SMB, FUSE, ZFS): the counters of the device or the network would tell",
            Bytes(untold)
        ));
    }
    if unseen.unread_descriptors > 0 {
        messages.push(format!(
            "position and flags of {} descriptors could not be read, most often because too many files were open (ulimit -Hn): they were taken to begin at the first byte, without O_APPEND, O_DSYNC and O_DIRECT",
            unseen.unread_descriptors
        ));
    }
    if let Some(program) = &unseen.program_32_bit {
        messages.push(format!("{program} is a 32-bit program: its calls are not counted"));
    }
    let doubt = |message: String| Warning::new(WarningKind::CallsUnseen, message);
    messages.into_iter().map(doubt).collect()
}

/// Warns if the five parameters describe the application poorly.
fn poor_fit(overall: &Traits, ways: &Ways) -> Vec<Warning> {
    let mut messages = Vec::new();
    if overall.requests == 0 {
        messages.push("no bytes of counted files were read or written".to_owned());
    } else if overall.goodness < GOODNESS_MIN {
        let distances = [
            (overall.size_distance, "its request sizes"),
            (overall.run_distance, "the lengths of its sequential runs"),
            (overall.mix_distance, "the order of its reads and writes"),
        ];
        let worst =
            distances.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).map_or("", |one| one.1);
        messages.push(format!(
            "the five parameters describe it poorly: {worst} differ much from the model's (goodness {:.2})",
            overall.goodness
        ));
    }
    // With access dsync, every write waits like this.
    let (syncs, beyond) = match overall.access {
        Access::Dsync => (ways.further_waits, " beyond one for each write"),
        _ => (overall.syncs, ""),
    };
    let waited_s = syncs as f64 * overall.sync_time_ns / 1e9;
    if waited_s > overall.active_s * SYNC_SHARE_MAX {
        messages.push(format!(
            "it waited {} for dirty pages ({syncs} calls of fsync and the like{beyond}), which a workload of five parameters does not model",
            Nanos(waited_s * 1e9)
        ));
    }
    messages.extend(other_ways(overall.access, ways));
    if (overall.read_frac - overall.read_bytes_frac).abs() > MIX_DIFFERENCE_MAX {
        messages.push(format!(
            "its reads and writes have different sizes: {:.0} % of the requests read, but {:.0} % of the bytes",
            overall.read_frac * 100.0,
            overall.read_bytes_frac * 100.0
        ));
    }
    let doubt = |message: String| Warning::new(WarningKind::PoorFit, message);
    messages.into_iter().map(doubt).collect()
}

/// Says which requests pass the file cache another way than the access of all says.
fn other_ways(access: Access, ways: &Ways) -> Vec<String> {
    let Ways { direct_frac, direct_bytes_frac, synchronous_frac, waited_bytes_frac, .. } = *ways;
    let mut messages = Vec::new();
    let is_mixed = |share: f64| (OTHERWISE_MAX..=1.0 - OTHERWISE_MAX).contains(&share);
    if is_mixed(direct_frac) || is_mixed(direct_bytes_frac) {
        messages.push(format!(
            "{:.0} % of its requests, with {:.0} % of the bytes, bypassed the file cache: `run` and `predict` treat all of them as {access}",
            direct_frac * 100.0,
            direct_bytes_frac * 100.0
        ));
    }
    let is_waiting = access == Access::Dsync;
    if is_waiting && waited_bytes_frac < 1.0 - OTHERWISE_MAX {
        messages.push(format!(
            "{:.0} % of the bytes that it wrote were not waited for, but with access dsync `run` and `predict` wait for every write",
            (1.0 - waited_bytes_frac) * 100.0
        ));
    }
    if access == Access::Direct && ways.direct_writes_are_synchronous {
        messages.push(
            "most of its direct writes were synchronous too (O_DIRECT and O_DSYNC): those of a workload do not wait until a drive has emptied its cache"
                .to_owned(),
        );
    } else if !is_waiting && synchronous_frac > OTHERWISE_MAX {
        messages.push(format!(
            "{:.0} % of its writes were synchronous (O_DSYNC): with access {access}, those of `run` and `predict` are not",
            synchronous_frac * 100.0
        ));
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{AccessPattern, FileKind, FileTraits, TracingCost};

    fn kinds(found: &Characterization, unseen: &Unseen) -> Vec<WarningKind> {
        doubts(found, unseen).into_iter().map(|doubt| doubt.kind).collect()
    }

    fn application() -> Characterization {
        let overall = Traits {
            requests: 1000,
            bytes: 1 << 20,
            goodness: 0.9,
            active_s: 1.0,
            ..Traits::default()
        };
        Characterization { overall, elapsed_s: 1.0, ..Characterization::default() }
    }

    #[test]
    fn a_good_fit_seen_whole_has_no_doubt() {
        assert!(kinds(&application(), &Unseen::default()).is_empty());
    }

    #[test]
    fn what_is_not_seen_is_mentioned() {
        let unseen = Unseen {
            mapped_bytes: 1 << 20,
            faults: None,
            async_calls: 3,
            unread_descriptors: 2,
            untold_copied_bytes: 1 << 19,
            program_32_bit: Some("old".into()),
            program_unprivileged: Some("sudo".into()),
            unfiltered: true,
            ways: Ways::default(),
        };
        let expected = [[WarningKind::CallsUnseen; 5].as_slice(), &[WarningKind::Unsupported; 2]];
        assert_eq!(kinds(&application(), &unseen), expected.concat());
        let faults = Some(MappedFaults { pages: 17, unplaced: 5, unmatched: 3, lost: 2 });
        let told = doubts(&application(), &Unseen { faults, ..unseen }).remove(0).message;
        assert!(
            ["17 faults", "5 faults", "2 faults were lost"].iter().all(|one| told.contains(one))
        );
        let none = MappedFaults { pages: 0, unplaced: 0, unmatched: 9, lost: 0 };
        assert!(MappedFaults::told(Some(none)).starts_with("none of the faults"));
        let told =
            MappedFaults::told(Some(MappedFaults { pages: 0, unplaced: 1, unmatched: 0, lost: 1 }));
        assert!(
            ["0 faults there", "1 fault on", "1 fault was lost"]
                .iter()
                .all(|one| told.contains(one))
        );
        let little = Unseen { mapped_bytes: 1 << 10, ..Unseen::default() };
        assert!(kinds(&application(), &little).is_empty());
    }

    #[test]
    fn calls_on_files_that_could_not_be_identified_are_mentioned() {
        let mut found = application();
        let mut told = |calls| {
            found.elsewhere = [(Characterization::UNIDENTIFIED.to_owned(), calls)].into();
            kinds(&found, &Unseen::default())
        };
        let unseen = WarningKind::CallsUnseen;
        assert_eq!(told(50), [unseen]);
        assert_eq!(told(51), [unseen, unseen], "no longer its workload");
        assert!(told(0).is_empty());
        let traits = Traits { requests: 51, ..Traits::default() };
        let kind = FileKind::Others;
        found.files = vec![FileTraits { kind, traits, ..FileTraits::default() }];
        assert_eq!(kinds(&found, &Unseen::default()), [unseen, unseen]);
    }

    #[test]
    fn of_what_was_seen_in_part_the_reason_is_named() {
        let named = |found: Characterization, why: &str| {
            let doubt = partly_seen(&found).expect("a doubt");
            assert!(doubt.message.contains(why), "{}", doubt.message);
        };
        named(Characterization { unplaced_faults: 51, ..application() }, "(51 in all): no");
        named(Characterization { mapped_unseen_bytes: 3 << 20, ..application() }, "up to 3 MiB of");
    }

    #[test]
    fn a_poor_fit_names_its_worst_part() {
        let mut found = application();
        found.overall.goodness = 0.4;
        found.overall.run_distance = 0.6;
        let all = doubts(&found, &Unseen::default());
        assert!(all[0].message.contains("sequential runs"), "{}", all[0].message);
        found.overall = Traits::default();
        assert!(doubts(&found, &Unseen::default())[0].message.contains("no bytes"));
    }

    #[test]
    fn requests_that_are_larger_than_those_of_a_workload_are_mentioned() {
        let told = |found: &Characterization| {
            let all = doubts(found, &Unseen::default());
            let about = all.iter().find(|one| one.message.starts_with("requests of 80 MiB"));
            about.is_some_and(|one| one.message.ends_with("at most 64 MiB"))
        };
        let mut found = application();
        found.overall.size_mean = 64 << 20;
        assert!(!told(&found));
        found.overall.size_mean = 80 << 20;
        assert!(told(&found));
        // A few large ones among smaller ones.
        let class = RequestClass { requests: 2, bytes: 160 << 20, ..RequestClass::default() };
        let pattern = Some(AccessPattern { classes: vec![class], ..AccessPattern::default() });
        assert!(told(&Characterization { pattern, ..application() }));
    }

    #[test]
    fn waits_mixes_and_tracing_are_mentioned_where_they_are_large() {
        let mut found = application();
        found.overall.syncs = 10;
        found.overall.sync_time_ns = 1e7;
        found.overall.read_frac = 0.9;
        found.calls_traced = 100_000;
        found.tracing = TracingCost { in_call_ns: 2000, between_calls_ns: 1000 };
        let expected = [WarningKind::PoorFit, WarningKind::PoorFit, WarningKind::TracingCost];
        assert_eq!(kinds(&found, &Unseen::default()), expected);
        found.overall.access = Access::Dsync;
        let ways = Ways { waited_bytes_frac: 1.0, ..Ways::default() };
        assert_eq!(kinds(&found, &Unseen { ways, ..Unseen::default() }), expected[1..]);
        let ways = Ways { further_waits: 6, ..ways };
        let told = doubts(&found, &Unseen { ways, ..Unseen::default() }).remove(0).message;
        assert!(told.starts_with("it waited 60 ms for dirty pages (6 calls"), "{told}");
        assert!(told.contains("beyond one for each write"), "{told}");
        found.overall.access = Access::Direct;
        assert_eq!(kinds(&found, &Unseen::default()), expected, "it waits beside its requests");
    }

    #[test]
    fn sequential_requests_in_flight_together_are_mentioned() {
        let told = |seq_frac, process_num| {
            let mut found = application();
            found.overall.response_time_ns = 32e6;
            (found.overall.seq_frac, found.overall.process_num) = (seq_frac, process_num);
            doubts(&found, &Unseen::default()).into_iter().map(|doubt| doubt.message).next()
        };
        let one = told(1.0, 1).expect("it is told");
        assert!(one.starts_with("about 32 requests") && one.contains("as 1 stream,"), "{one}");
        assert_eq!([told(0.4, 1), told(1.0, 16)], [None, None]);
    }

    #[test]
    fn direct_writes_that_are_synchronous_too_are_mentioned() {
        let ways = Ways { direct_writes_are_synchronous: true, ..Ways::default() };
        let both = Unseen { ways, ..Unseen::default() };
        let mut found = application();
        found.overall.access = Access::Direct;
        let told = doubts(&found, &both);
        assert!(told.len() == 1 && told[0].message.contains("O_DSYNC"), "{told:?}");
        assert!(kinds(&found, &Unseen::default()).is_empty());
        found.overall.access = Access::Buffered;
        assert!(kinds(&found, &both).is_empty(), "its requests are mostly others");
    }

    /// As with `use_direct_io_for_flush_and_compaction`, and with a log beside a compaction.
    #[test]
    fn requests_that_pass_the_file_cache_another_way_are_mentioned() {
        let told = |access, direct_bytes_frac, synchronous_frac, waited_bytes_frac| {
            let one =
                Ways { direct_bytes_frac, synchronous_frac, waited_bytes_frac, ..Ways::default() };
            other_ways(access, &one).concat()
        };
        assert!(told(Access::Direct, 0.88, 0.0, 0.0).contains("with 88 % of the bytes, bypassed"));
        assert!(told(Access::Dsync, 0.0, 0.0, 0.6).starts_with("40 % of the bytes"));
        assert!(told(Access::Buffered, 0.0, 0.6, 0.01).starts_with("60 % of its writes"));
        let alike = [
            told(Access::Direct, 0.95, 0.0, 0.0),
            told(Access::Dsync, 0.0, 1.0, 0.95),
            told(Access::Buffered, 0.05, 0.05, 0.6),
        ];
        assert_eq!(alike, ["", "", ""]);
    }
}
