//! Tests of `vxbench` on files of the build directory.

use super::*;
use ioscape_machine::clock::monotonic_ns;
use ioscape_machine::testing::{build_directory, skipped};
use ioscape_schema::{Op, VxWorkload};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

const BLOCK: u64 = 16 << 10;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(build_directory()).unwrap()
}

fn job(workload: VxWorkload) -> VxJob {
    VxJob { workload, iosize: BLOCK, iocount: Some(8), ..VxJob::default() }
}

fn blocks(job: &VxJob) -> impl Fn(u32, u32) -> std::vec::IntoIter<Request> + Sync + use<> {
    let op = if job.workload.writes() { Op::Write } else { Op::Read };
    let (count, streams) = (job.iocount.unwrap_or(8), u64::from(job.nthreads));
    let size = job.iosize;
    move |_, thread| {
        let place = |i: u64| (i * streams + u64::from(thread)) * size;
        let all: Vec<Request> =
            (0..count).map(|i| Request { op, offset: place(i), len: size as u32 }).collect();
        all.into_iter()
    }
}

fn attempt(job: &VxJob, paths: &[PathBuf], destroy: bool) -> Result<VxRun, Error> {
    let end = BLOCK * job.iocount.unwrap_or(8) * u64::from(job.nthreads);
    let end_bytes = if job.workload.writes() { end } else { 0 };
    let extent = Extent { range_bytes: end, grow_to: job.truncup, end_bytes };
    let named: Vec<_> = paths.iter().map(|path| (path.clone(), extent.clone())).collect();
    let files = Files::open(&named, job, destroy)?;
    run(files, job, &Clock::new(), &Watch::default(), blocks(job))
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn every_way_of_carrying_users_moves_the_same_bytes() {
    let folder = folder();
    for (users, processes) in
        [(VxUsers::ProcessesOfThreads, 2), (VxUsers::Processes, 6), (VxUsers::Threads, 1)]
    {
        let paths = [folder.path().join("a"), folder.path().join("b")];
        let write = VxJob { users, nthreads: 3, fsync: true, nrep: 2, ..job(VxWorkload::Write) };
        assert_eq!(groups(&write, 2).len(), processes);
        let run = attempt(&write, &paths, true).unwrap();
        assert_eq!((run.total.ios, run.total.bytes), (96, 96 * BLOCK));
        assert!(run.files.iter().all(|f| f.size_bytes == Some(24 * BLOCK) && f.threads.len() == 3));
        assert!(run.total.elapsed_s > 0.0 && run.total.cpu_s() > 0.0);
        let read = VxJob { users, nthreads: 3, ..job(VxWorkload::Read) };
        let run = attempt(&read, &paths, false).unwrap();
        assert_eq!(run.files[1].figures.bytes, 24 * BLOCK);
        assert!(run.files[1].figures.response_time_ns.unwrap().p50 > 0);
    }
}

#[test]
fn mappings_touch_the_whole_file() {
    let folder = folder();
    let path = [folder.path().join("a")];
    attempt(&job(VxWorkload::Write), &path, false).unwrap();
    let before = std::fs::read(&path[0]).unwrap();
    let read = attempt(&job(VxWorkload::MmapRead), &path, false).unwrap();
    assert_eq!(read.total.bytes, 8 * BLOCK);
    assert_eq!(std::fs::read(&path[0]).unwrap(), before, "reads never write");
    attempt(&VxJob { fsync: true, rand_seed: 2, ..job(VxWorkload::MmapWrite) }, &path, true)
        .unwrap();
    let after = std::fs::read(&path[0]).unwrap();
    assert_eq!(after.len(), before.len());
    let same = |page: usize| before[page * 4096..][..4096] == after[page * 4096..][..4096];
    assert!((0..after.len() / 4096).all(|page| !same(page)), "every page changed");
}

#[test]
fn what_exists_is_kept_without_consent() {
    let folder = folder();
    let path = folder.path().join("precious");
    std::fs::write(&path, "precious").unwrap();
    for workload in VxWorkload::ALL.into_iter().filter(|w| w.writes()) {
        let error = attempt(&job(workload), std::slice::from_ref(&path), false).unwrap_err();
        assert!(error.is_misuse() && error.to_string().contains("--destroy-data"), "{error}");
    }
    let remove = VxJob { remove: true, ..job(VxWorkload::Read) };
    assert!(attempt(&remove, std::slice::from_ref(&path), false).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    assert_eq!(names(folder.path()), ["precious"]);
}

#[test]
fn a_refused_run_leaves_nothing_behind() {
    let folder = folder();
    let (new, precious) = (folder.path().join("new"), folder.path().join("precious"));
    std::fs::write(&precious, "precious").unwrap();
    let both = [new.clone(), precious.clone()];
    assert!(attempt(&job(VxWorkload::Write), &both, false).is_err());
    let twice = [new.clone(), new.clone()];
    let error = attempt(&job(VxWorkload::Write), &twice, true).unwrap_err();
    assert!(error.to_string().contains("twice"), "{error}");
    let huge = VxJob { iocount: Some(1 << 44), ..job(VxWorkload::Write) };
    let error = attempt(&huge, std::slice::from_ref(&new), false).unwrap_err();
    assert!(matches!(error, Error::Space { .. }), "{error}");
    let odd = VxJob { direct: true, iosize: 1000, ..job(VxWorkload::Write) };
    let error = attempt(&odd, std::slice::from_ref(&new), false).unwrap_err();
    assert!(error.is_misuse() && error.to_string().contains("direct"), "{error}");
    let missing = attempt(&job(VxWorkload::Read), &[new], false).unwrap_err();
    assert!(missing.to_string().contains("does not exist"), "{missing}");
    assert_eq!(names(folder.path()), ["precious"]);
}

#[test]
fn a_file_that_is_shorter_than_it_was_is_a_failure() {
    let folder = folder();
    let path = folder.path().join("short");
    std::fs::write(&path, vec![1; BLOCK as usize]).unwrap();
    let error = attempt(&job(VxWorkload::Read), &[path], false).unwrap_err();
    assert!(!error.is_misuse() && error.to_string().contains("the file ends there"), "{error}");
}

#[test]
fn what_an_option_cannot_do_is_an_error_or_with_best_effort_a_warning() {
    let folder = folder();
    let path = [folder.path().join("a")];
    attempt(&job(VxWorkload::Write), &path, false).unwrap();
    let refused = |job: &VxJob, path: &[PathBuf], words: &str| {
        let error = attempt(job, path, true).unwrap_err();
        assert!(error.is_misuse() && error.to_string().contains(words), "{error}");
        let run = attempt(&VxJob { best_effort: true, ..job.clone() }, path, true).unwrap();
        let told = run.warnings.iter().filter(|one| one.message.contains(words)).count();
        assert_eq!(told, 1, "{words}: {:?}", run.warnings);
    };
    refused(&VxJob { noreuse: true, ..job(VxWorkload::MmapRead) }, &path, "-c noreuse");
    refused(&VxJob { cold: true, nrep: 3, ..job(VxWorkload::Read) }, &path, "first of 3 passes");
    // No extent begins at a multiple of 64 GiB, if the file system supports such an extent size at
    // all.
    let align =
        VxJob { align: true, extsize: Some(64 << 30), best_effort: true, ..job(VxWorkload::Write) };
    let run = attempt(&align, &path, true).unwrap();
    assert!(run.warnings.iter().any(|one| one.message.contains("-f align")), "{:?}", run.warnings);
    let memory = Path::new("/dev/shm");
    if !memory.is_dir() {
        return skipped("there is no file system in memory");
    }
    let folder = tempfile::tempdir_in(memory).unwrap();
    let path = [folder.path().join("a")];
    attempt(&job(VxWorkload::Write), &path, false).unwrap();
    refused(&VxJob { cold: true, ..job(VxWorkload::Read) }, &path, "--cold");
}

/// Guards against the cells of a campaign advising an option that a campaign does not have.
#[test]
fn what_best_effort_does_is_told_where_it_can_be_asked_for() {
    let folder = folder();
    let odd = VxJob { direct: true, iosize: 1000, ..job(VxWorkload::Write) };
    let extent = Extent { range_bytes: 8000, grow_to: None, end_bytes: 8000 };
    let refused = |of: fn(Files) -> Files| {
        let named = [(folder.path().join("file"), extent.clone())];
        let files = of(Files::open(&named, &odd, false).unwrap());
        run(files, &odd, &Clock::new(), &Watch::default(), blocks(&odd)).unwrap_err().to_string()
    };
    let alone = refused(|files| files);
    assert!(alone.contains("is not possible here") && !alone.contains("--best-effort"), "{alone}");
    let advised = refused(Files::with_best_effort);
    assert!(advised.starts_with(&format!("{alone}; --best-effort goes on with")), "{advised}");
}

/// Its warnings, but for those about the other tests.
fn of_itself(run: &VxRun) -> impl Iterator<Item = &Warning> {
    run.warnings.iter().filter(|one| one.kind != WarningKind::LoadByOthers)
}

#[test]
fn what_takes_the_place_of_unaligned_direct_writes_is_said() {
    let folder = folder();
    let path = [folder.path().join("file")];
    let job = VxJob { direct: true, best_effort: true, iosize: 1000, ..job(VxWorkload::Write) };
    let run = attempt(&job, &path, true).unwrap();
    let said: Vec<&str> = of_itself(&run).map(|warning| warning.message.as_str()).collect();
    if said.iter().any(|text| text.contains("refuses O_DIRECT")) {
        return skipped("this file system has no direct I/O");
    }
    assert!(
        matches!(said[..], [one] if one.ends_with("went on with synchronous writes (O_DSYNC)")),
        "{said:?}"
    );
    assert_eq!(run.files[0].direct_align, None, "no request was direct");
}

#[test]
fn a_file_that_another_process_maps_is_not_cold() {
    let folder = folder();
    let path = [folder.path().join("a")];
    attempt(&job(VxWorkload::Write), &path, false).unwrap();
    let cold = VxJob { cold: true, ..job(VxWorkload::Read) };
    if let Err(error) = attempt(&cold, &path, false) {
        assert!(error.is_misuse(), "{error}");
        return skipped(&error.to_string());
    }
    let file = std::fs::File::open(&path[0]).unwrap();
    let mapped = crate::engine::mmap::Mmap::new(
        &file,
        8 * BLOCK,
        false,
        crate::engine::buffer::Buffer::new(BLOCK as usize, 1, 1).unwrap(),
        crate::engine::buffer::Stamp::new(),
    );
    let mut mapped = mapped.unwrap();
    for i in 0..8 {
        let request = Request { op: Op::Read, offset: i * BLOCK, len: BLOCK as u32 };
        crate::engine::Perform::perform(&mut mapped, &request).unwrap();
    }
    let error = attempt(&cold, &path, false).unwrap_err();
    assert!(error.to_string().contains("stay in the file cache"), "{error}");
}

/// Guards against reporting the speed of unwritten blocks as that of the disk, which never reaches
/// it.
#[test]
fn reads_of_what_was_never_written_are_doubted() {
    let folder = folder();
    let paths = ["written", "holes", "reserved"].map(|name| folder.path().join(name));
    let [written, holes, reserved] = paths.each_ref();
    attempt(&job(VxWorkload::Write), std::slice::from_ref(written), false).unwrap();
    let make = |path: &Path| std::fs::File::create(path).unwrap();
    make(holes).set_len(8 * BLOCK).unwrap();
    let is_doubted = |path: &PathBuf, workload| {
        let run = attempt(&job(workload), std::slice::from_ref(path), true).unwrap();
        run.warnings.iter().any(|one| one.kind == WarningKind::NeverWritten)
    };
    assert!(!is_doubted(written, VxWorkload::Read));
    if extents::unwritten_bytes(&std::fs::File::open(holes).unwrap(), 8 * BLOCK) == 0 {
        return skipped("the file system tells of no holes");
    }
    assert!(is_doubted(holes, VxWorkload::Read));
    assert!(is_doubted(holes, VxWorkload::RandMixed), "before its own writes fill them");
    assert!(!is_doubted(holes, VxWorkload::Read), "they are filled");
    let keep = rustix::fs::FallocateFlags::empty();
    if rustix::fs::fallocate(make(reserved), keep, 0, 8 * BLOCK).is_ok() {
        assert!(is_doubted(reserved, VxWorkload::Read));
    }
    assert!(!is_doubted(reserved, VxWorkload::Write), "nothing is read");
}

#[test]
fn direct_reads_reach_the_end_of_the_file() {
    let folder = folder();
    let path = [folder.path().join("a")];
    std::fs::write(&path[0], vec![1; 3 * BLOCK as usize + 100]).unwrap();
    let direct = VxJob { direct: true, iocount: Some(4), ..job(VxWorkload::Read) };
    let size = 3 * BLOCK + 100;
    let extent = Extent { range_bytes: size, grow_to: None, end_bytes: 0 };
    let tail = |_: u32, _: u32| {
        (0..4u64).map(move |i| {
            let len = (size - i * BLOCK).min(BLOCK) as u32;
            Request { op: Op::Read, offset: i * BLOCK, len }
        })
    };
    let files = Files::open(&[(path[0].clone(), extent)], &direct, false).unwrap();
    match run(files, &direct, &Clock::new(), &Watch::default(), tail) {
        Ok(run) => assert_eq!((run.total.ios, run.total.bytes), (4, size)),
        Err(Error::Unsupported { why, .. }) => skipped(&why),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn removal_and_appending_do_what_they_say() {
    let folder = folder();
    let path = [folder.path().join("a")];
    let append = VxJob { append: true, ..job(VxWorkload::Write) };
    attempt(&append, &path, false).unwrap();
    let run = attempt(&append, &path, true).unwrap();
    assert_eq!(run.files[0].size_bytes, Some(16 * BLOCK));
    let run = attempt(&VxJob { trunc: true, ..job(VxWorkload::Write) }, &path, true).unwrap();
    assert_eq!(run.files[0].size_bytes, Some(8 * BLOCK));
    let run = attempt(&VxJob { remove: true, ..job(VxWorkload::Write) }, &path, true).unwrap();
    assert_eq!((run.files[0].size_bytes, names(folder.path()).len()), (None, 0));
}

#[test]
fn by_a_link_the_file_is_removed_and_not_the_link() {
    let folder = folder();
    let (file, link) = (folder.path().join("a"), folder.path().join("link"));
    std::fs::write(&file, vec![1; 8 * BLOCK as usize]).unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let remove = VxJob { remove: true, ..job(VxWorkload::Write) };
    let run = attempt(&remove, &[link], true).unwrap();
    assert_eq!((run.files[0].size_bytes, file.exists()), (None, false));
}

#[test]
fn reservations_are_made_and_given_back() {
    let folder = folder();
    let path = [folder.path().join("a")];
    let reserving = |trim, chgsize| VxJob {
        reserve_only: true,
        reservation: Some(1 << 20),
        trim,
        chgsize,
        remove: true,
        ..job(VxWorkload::Write)
    };
    let tries = [reserving(false, true), reserving(true, false)];
    for job in tries {
        match attempt(&job, &path, false) {
            Ok(run) => {
                assert_eq!((run.total.ios, of_itself(&run).count()), (0, 0));
                assert!(run.files[0].reservation_s.is_some_and(|s| s > 0.0), "it is timed");
            }
            Err(Error::Unsupported { why, .. }) => skipped(&why),
            Err(error) => panic!("{error}"),
        }
    }
    let sized = VxJob { extsize: Some(3), best_effort: true, ..job(VxWorkload::Write) };
    let run = attempt(&sized, &path, true).unwrap();
    assert_eq!(of_itself(&run).count(), 1, "no file system takes extents of three bytes");
    let strict = VxJob { best_effort: false, ..sized };
    assert!(attempt(&strict, &path, true).unwrap_err().is_misuse());
}

#[test]
fn several_requests_in_flight_move_the_same_bytes() {
    if io_uring::IoUring::new(4).is_err() {
        return skipped("there is no io_uring");
    }
    let folder = folder();
    let path = [folder.path().join("a")];
    let deep = |workload| VxJob { queue_depth: Some(4), nthreads: 2, ..job(workload) };
    let write = VxJob { fsync: true, verify: true, ..deep(VxWorkload::Write) };
    let run = attempt(&write, &path, true).unwrap();
    assert_eq!((run.total.ios, run.total.bytes), (16, 16 * BLOCK));
    let report = run.verify.unwrap();
    assert!(report.findings.is_empty() && report.read_back_blocks > 0, "{report:?}");
    let fsync = run.total.fsync_ns.unwrap();
    assert!(fsync.max > 0 && run.files[0].threads[1].fsync_ns.is_some());
    let read = attempt(&deep(VxWorkload::RandRead), &path, false).unwrap();
    assert_eq!((read.total.ios, read.total.fsync_ns), (16, None));
}

#[test]
fn requests_are_kept_one_by_one_when_asked_for() {
    let folder = folder();
    let named = |name: &&str| {
        let extent = Extent { range_bytes: 16 * BLOCK, grow_to: None, end_bytes: 16 * BLOCK };
        (folder.path().join(name), extent)
    };
    let write = VxJob { nthreads: 2, ..job(VxWorkload::Write) };
    let kept = |names: &[&str], most| {
        let named: Vec<_> = names.iter().map(named).collect();
        let files = Files::open(&named, &write, true).unwrap();
        let (clock, watch) = (Clock::new(), Watch::default());
        run_keeping(files, &write, &clock, &watch, (blocks(&write), most)).unwrap()
    };
    let all = kept(&["a"], 100);
    assert_eq!((all.run.total.ios, all.rows.rows.len()), (16, 16));
    assert!(all.rows.rows.is_sorted_by_key(|io| io.issued_ns));
    let mut places: Vec<u64> = all.rows.rows.iter().map(|io| io.request.offset / BLOCK).collect();
    places.sort_unstable();
    assert_eq!(places, (0..16).collect::<Vec<_>>());
    assert!(kept(&["b"], 6).rows.rows.len() <= 6);
    // The same offset in two files is not the same place.
    let two = kept(&["c", "d"], 100);
    assert_eq!(two.sizes, [16 * BLOCK; 2]);
    for device in 0..2 {
        let own = two.rows.rows.iter().filter(|io| io.device == device);
        let mut places: Vec<u64> = own.map(|io| io.request.offset / BLOCK).collect();
        places.sort_unstable();
        assert_eq!(places, (0..16).collect::<Vec<_>>(), "file {device}");
    }
}

/// Storage that deduplicates would write nothing for the second file, and serve both from one
/// place.
#[test]
fn no_block_of_a_run_was_written_by_the_run_before() {
    let folder = folder();
    let written = ["a", "b"].map(|name| {
        let path = [folder.path().join(name)];
        attempt(&job(VxWorkload::Write), &path, false).unwrap();
        std::fs::read(&path[0]).unwrap()
    });
    let blocks: HashSet<&[u8]> = written.iter().flat_map(|bytes| bytes.chunks(4096)).collect();
    assert_eq!(blocks.len() as u64, 2 * 8 * BLOCK / 4096);
}

/// The processor's counter may go on while the machine is suspended, and would then show another
/// time.
#[test]
fn the_time_of_a_run_is_that_of_the_kernels_clock() {
    let told = |began_ns, ended_ns| StreamOutcome {
        report: Report::new(),
        began_ns,
        ended_ns,
        fsync_ns: None,
        split: false,
    };
    let together = [told(2_000_000_000, 5_000_000_000), told(3_000_000_000, 6_500_000_000)];
    assert_eq!(figures(&together).elapsed_s, 4.5);
    let (folder, job) = (folder(), job(VxWorkload::Write));
    let extent = Extent { range_bytes: 8 * BLOCK, grow_to: None, end_bytes: 8 * BLOCK };
    let made = Files::open(&[(folder.path().join("a"), extent)], &job, false).unwrap();
    let (shared, clock) = (Shared::new(1, STREAM_WORDS).unwrap(), Clock::new());
    let (files, direct) = (&made.opened, &[false]);
    let plan = Plan { shared: &shared, files, direct, job: &job, clock: &clock, verify: None };
    shared.set_phase(phase::MEASURE);
    let before = monotonic_ns();
    assert_eq!(worker::carry_out(&plan, 0..1, &blocks(&job)), DONE);
    let word = |number: usize| shared.report(0)[REPORT_WORDS + number].load(Ordering::Relaxed);
    let (began_ns, ended_ns) = (word(0), word(1));
    assert!(before <= began_ns && began_ns < ended_ns && ended_ns <= monotonic_ns());
}

/// Once, a run beside busy loops took twelve times as long, without a word.
#[test]
fn streams_that_waited_for_a_processor_are_told() {
    let told = |count, waited_ns| {
        let mut report = Report::new();
        report.waited(Some(waited_ns));
        let one = || StreamOutcome {
            report: report.clone(),
            began_ns: 0,
            ended_ns: 1_000_000_000,
            fsync_ns: None,
            split: false,
        };
        let all: Vec<_> = (0..count).map(|_| one()).collect();
        doubt_of_waiting(&all).map(|doubt| doubt.message)
    };
    assert!(told(1, 900_000_000).is_some_and(|said| said.contains("90 % of the time")));
    assert_eq!(told(1, 50_000_000), None);
    assert_eq!(told(allowed() + 1, 900_000_000), None, "they wait for one another");
}

#[test]
fn a_reservation_alone_is_timed() {
    let folder = folder();
    let path = [folder.path().join("a")];
    let reserve = VxJob {
        reserve_only: true,
        reservation: Some(64 * BLOCK),
        best_effort: true,
        ..job(VxWorkload::Write)
    };
    let run = attempt(&reserve, &path, true).unwrap();
    assert_eq!(Some(run.files[0].figures.elapsed_s), run.files[0].reservation_s);
    assert!(run.total.elapsed_s > 0.0 && run.total.ios == 0);
}
