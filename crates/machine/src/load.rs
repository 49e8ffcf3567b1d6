//! The load on the machine by other programs and the hypervisor.
//!
//! Load by others is the machine's user time minus our own. The kernel writes our pages back in
//! system time of its own threads, which must not count as load by others.

use crate::{affinity, text};
use ioscape_schema::{Warning, WarningKind};
use std::collections::BTreeMap;

/// Number of processors without a stream from which on the kernel's own threads delay no program:
/// they have these to run on.
const ROOM: u64 = 2;

/// Why nothing can be said of disturbances if [`Snapshot::doubt`] has a doubt.
pub const UNSEEN: &str = "nothing here tells what other programs do (/proc/stat cannot be read, or counts nothing), so whether they disturbed this cannot be told: mount /proc";

/// The machine's counters at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// User time of all processors, low priority included, in seconds since boot.
    pub user_s: f64,
    /// The same of the processors that this program may run on; of all if the kernel does not tell
    /// these apart.
    pub user_here_s: f64,
    /// Time taken by the hypervisor, in seconds since boot.
    pub steal_s: f64,
    /// Time in which no program wanted a processor, in seconds since boot.
    pub idle_s: f64,
    /// The same of the processors that this program may run on; `None` if the kernel does not tell
    /// these apart.
    pub idle_here_s: Option<f64>,
    /// Total time of all processors, idle time included, in seconds since boot.
    pub total_s: f64,
}

/// Load by others between two snapshots.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Average number of processors that others kept busy in user mode.
    pub other_cpu: f64,
    /// The same among the processors that this program may run on.
    pub other_cpu_here: f64,
    /// Average number of idle processors among them; `None` if the kernel does not tell.
    pub idle_here: Option<f64>,
    /// Average number of online processors; 0 if the kernel does not tell.
    pub processors: f64,
    /// Average number of processors that the hypervisor took.
    pub stolen: f64,
    /// Fraction of the processor time that programs wanted which the hypervisor took. Idle
    /// processors lose nothing.
    pub steal_frac: f64,
}

impl Snapshot {
    /// Reads the counters; unreadable ones stay 0.
    pub fn take() -> Self {
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        snapshot(&text::read("/proc/stat").unwrap_or_default(), ticks, &affinity::allowed())
    }

    /// Returns the warning that the kernel tells nothing of other programs.
    pub fn doubt(&self) -> Option<Warning> {
        (self.total_s <= 0.0).then(|| Warning::new(WarningKind::Unsupported, UNSEEN))
    }

    /// Returns the load by other programs since `earlier`, given our own processes' user seconds
    /// meanwhile.
    ///
    /// The counters have steps of 10 ms, so intervals well below a second say little.
    pub fn since(&self, earlier: &Self, own_user_s: f64, elapsed_s: f64) -> Load {
        let share = |part: f64, whole: f64| if whole > 0.0 { (part / whole).max(0.0) } else { 0.0 };
        let (steal_s, total_s) = (self.steal_s - earlier.steal_s, self.total_s - earlier.total_s);
        let wanted_s = total_s - (self.idle_s - earlier.idle_s);
        let idle_here_s = self.idle_here_s.zip(earlier.idle_here_s).map(|(now, then)| now - then);
        Load {
            other_cpu: share(self.user_s - earlier.user_s - own_user_s, elapsed_s),
            other_cpu_here: share(self.user_here_s - earlier.user_here_s - own_user_s, elapsed_s),
            idle_here: idle_here_s.map(|idle_s| share(idle_s, elapsed_s)),
            processors: share(total_s, elapsed_s),
            stolen: share(steal_s, elapsed_s),
            steal_frac: share(steal_s, wanted_s),
        }
    }
}

/// Returns the load average over one minute.
pub fn load_average() -> Option<f64> {
    text::read("/proc/loadavg")?.split(' ').next()?.parse().ok()
}

/// How one processor spent its time, in seconds since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuTimes {
    /// Its number.
    pub number: usize,
    /// User mode, low priority included.
    pub user_s: f64,
    /// Kernel mode, interrupts included.
    pub system_s: f64,
    /// Idle.
    pub idle_s: f64,
    /// Taken by the hypervisor.
    pub steal_s: f64,
}

/// Returns the times of each online processor, in steps of 10 ms; empty if the kernel does not
/// tell.
pub fn cpus() -> Vec<CpuTimes> {
    let ticks = rustix::param::clock_ticks_per_second() as f64;
    each_processor(&text::read("/proc/stat").unwrap_or_default(), ticks)
}

/// CPU seconds of each kernel thread since it began, by thread number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelThreads(BTreeMap<String, f64>);

impl KernelThreads {
    /// Returns their CPU seconds since `earlier`; a thread that ended meanwhile does not reduce the
    /// sum.
    pub fn since(&self, earlier: &Self) -> f64 {
        let then = |thread: &String| earlier.0.get(thread).copied().unwrap_or(0.0);
        self.0.iter().map(|(thread, now)| (now - then(thread)).max(0.0)).sum()
    }
}

/// Reads the CPU times of the kernel's threads; `None` if none is visible, as in a container.
pub fn kernel_threads() -> Option<KernelThreads> {
    let ticks = rustix::param::clock_ticks_per_second() as f64;
    let read = |file: &str| text::read(format!("/proc/{file}"));
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let one = |thread: String| {
        let seconds = thread_s(|file| read(&format!("{thread}/{file}")), ticks)?;
        Some((thread, seconds))
    };
    let all: BTreeMap<_, _> = thread_numbers(read, names).into_iter().filter_map(one).collect();
    (!all.is_empty()).then_some(KernelThreads(all))
}

/// CPU time of the kernel's threads during a run, if its streams may wait for them: where these
/// leave hardly a processor free, of those that they may run on.
#[derive(Clone, Debug)]
pub struct Contending {
    streams: u64,
    /// Number of those that they may run on.
    processors: u64,
    before: Option<KernelThreads>,
    /// After the end, the seconds that they took of one processor. Some may precede the run, if
    /// clients agree on its start. Absent if they are not visible; 0 with enough processors, where
    /// there is room for both.
    pub seconds: Option<f64>,
}

impl Contending {
    /// Returns the time that contends with this many streams, on the processors that this thread may
    /// run on.
    pub fn with(streams: u64) -> Self {
        let processors = affinity::allowed().len() as u64;
        Self { streams, processors, before: None, seconds: None }
    }

    /// Starts; this may take long if the kernel keeps no list of its threads.
    pub fn begin(&mut self) {
        self.before = if self.have_room() { None } else { kernel_threads() };
    }

    /// Ends and computes the seconds.
    pub fn end(&mut self) {
        self.seconds = match self.have_room() {
            false => kernel_threads().and_then(|now| self.of_each_processor(&now, cpus().len())),
            true => Some(0.0),
        };
    }

    /// Whether the kernel's threads and the streams have processors of their own.
    fn have_room(&self) -> bool {
        self.processors >= self.streams.saturating_add(ROOM)
    }

    /// The kernel does not tell on which of the machine's processors, `online` by its own count, a
    /// thread ran, and a program can only wait for those on its own.
    fn of_each_processor(&self, now: &KernelThreads, online: usize) -> Option<f64> {
        let all = self.processors.max(online as u64).max(1);
        Some(now.since(self.before.as_ref()?) / all as f64)
    }
}

/// Returns the CPU seconds of the thread whose files `read` returns. They are exact to the
/// nanosecond if the kernel counts so (CONFIG_SCHED_INFO), otherwise in steps of 1/`ticks` seconds.
fn thread_s(read: impl Fn(&str) -> Option<String>, ticks: f64) -> Option<f64> {
    let exact_ns = || read("schedstat")?.split(' ').next()?.parse::<f64>().ok();
    let in_steps_s = || {
        let stat = read("stat")?;
        let (_, rest) = stat.rsplit_once(") ")?;
        // `utime` and `stime`, fields 14 and 15 of proc_pid_stat(5); the remainder begins with
        // field 3.
        let mut times = rest.split(' ').skip(11).map(|word| word.parse::<f64>().ok());
        Some((times.next()?? + times.next()??) / ticks)
    };
    // Without such fine counts the file may exist and hold zeros.
    exact_ns().filter(|ns| *ns > 0.0).map(|ns| ns / 1e9).or_else(in_steps_s)
}

/// Returns the numbers of the kernel's threads, from the process files that `read` returns. They
/// are the children that the kernel lists for process 2, or else those of `all` processes that it
/// created. Empty if process 2 is a program, as in a container: its children are not kernel
/// threads.
fn thread_numbers(
    read: impl Fn(&str) -> Option<String>,
    all: impl Iterator<Item = String>,
) -> Vec<String> {
    let stat = |process: &str| read(&format!("{process}/stat")).unwrap_or_default();
    if !stat("2").starts_with("2 (kthreadd) ") {
        return Vec::new();
    }
    let listed = read("2/task/2/children").unwrap_or_default();
    if listed.trim().is_empty() {
        return all.filter(|process| is_kernel_thread(&stat(process))).collect();
    }
    listed.split_whitespace().map(str::to_owned).collect()
}

/// Returns whether the text of a process's `stat` is that of a kernel thread: all of them descend
/// from process 2 (kernel: kthreadd).
fn is_kernel_thread(stat: &str) -> bool {
    let rest = stat.rsplit_once(") ").map(|(_, rest)| rest);
    rest.and_then(|rest| rest.split(' ').nth(1)) == Some("2")
}

/// Returns the times in the lines `cpu0`, `cpu1`, ... of `/proc/stat`, in units of 1/`ticks`
/// seconds (proc_stat(5)).
fn each_processor(stat: &str, ticks: f64) -> Vec<CpuTimes> {
    let one = |line: &str| {
        let mut words = line.strip_prefix("cpu")?.split_whitespace();
        let number = words.next()?.parse().ok()?;
        let all: Vec<f64> = words.map(|word| word.parse::<f64>().unwrap_or(0.0) / ticks).collect();
        let [user, nice, system, idle, iowait, irq, softirq, steal] = *all.first_chunk()?;
        Some(CpuTimes {
            number,
            user_s: user + nice,
            system_s: system + irq + softirq,
            idle_s: idle + iowait,
            steal_s: steal,
        })
    };
    stat.lines().filter(|line| !line.starts_with("cpu ")).filter_map(one).collect()
}

/// Returns the times in the first line of `/proc/stat`, in units of 1/`ticks` seconds
/// (proc_stat(5)), and the user and idle time of the processors `ours`.
fn snapshot(stat: &str, ticks: f64, ours: &[usize]) -> Snapshot {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu ")).unwrap_or_default();
    let mut times = [0.0; 8];
    for (time, word) in times.iter_mut().zip(line.split_whitespace()) {
        *time = word.parse::<f64>().unwrap_or(0.0) / ticks;
    }
    let [user, nice, _, idle, iowait, .., steal] = times;
    let user_s = user + nice;
    let here = each_processor(stat, ticks).into_iter().filter(|cpu| ours.contains(&cpu.number));
    let here: Vec<[f64; 2]> = here.map(|cpu| [cpu.user_s, cpu.idle_s]).collect();
    // In a container, `/proc/stat` may number the processors anew.
    let is_told = !ours.is_empty() && here.len() == ours.len();
    let sum = |at: usize| is_told.then(|| here.iter().map(|times| times[at]).sum());
    Snapshot {
        user_s,
        user_here_s: sum(0).unwrap_or(user_s),
        steal_s: steal,
        idle_s: idle + iowait,
        idle_here_s: sum(1),
        total_s: times.iter().sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_threads_are_told_by_their_parent() {
        assert!(is_kernel_thread("75 (kworker/0:1 (a) b) I 2 0 0 0 -1 69238880"));
        assert!(!is_kernel_thread("76 (sh) S 1 76 2 0"));
        assert!(!is_kernel_thread(""));
        let none = KernelThreads::default();
        assert!(kernel_threads().is_none_or(|threads| threads.since(&none) > 0.0));
    }

    /// As below `unshare --pid`: once, the time of our own workers was subtracted from their waits,
    /// which hid load by others.
    #[test]
    fn what_process_2_made_is_no_kernel_thread_where_that_is_a_program() {
        let of = |second: &str, children: &str| {
            let read = |file: &str| match file {
                "2/stat" => Some(format!("2 ({second}) S 1 2 1 0")),
                "2/task/2/children" => Some(children.to_owned()),
                _ => Some("7 (worker) R 2 2 1 0".to_owned()),
            };
            thread_numbers(read, ["7".to_owned()].into_iter())
        };
        assert_eq!(of("kthreadd", "3 4"), ["3", "4"]);
        assert_eq!(of("kthreadd", ""), ["7"]);
        assert!(of("ioscape", "").is_empty() && of("ioscape", "7").is_empty());
    }

    /// Guards against calling encryption a load by others: on four processors its 2 s delayed four
    /// writers by 2 s together, in every run.
    #[test]
    fn kernel_threads_that_find_no_free_processor_contend_with_the_streams() {
        let with = |streams, processors| Contending { processors, ..Contending::with(streams) };
        let then = KernelThreads(BTreeMap::from([("3".to_owned(), 60.0)]));
        let now = KernelThreads(BTreeMap::from([("3".to_owned(), 62.0)]));
        let four = Contending { before: Some(then), ..with(4, 4) };
        assert_eq!(four.of_each_processor(&now, 0), Some(0.5), "the kernel does not count them");
        // Once, below taskset, threads of the whole machine hid a neighbour on those few processors.
        assert_eq!(four.of_each_processor(&now, 64), Some(0.03125));
        let have_room = [(1, 0), (1, 1), (1, 2), (4, 4), (3, 4), (2, 4), (1, 3)]
            .map(|(streams, processors)| with(streams, processors).have_room());
        assert_eq!(have_room, [false, false, false, false, false, true, true]);
        let mut idle = with(1, 64);
        idle.begin();
        idle.end();
        assert_eq!((idle.before, idle.seconds), (None, Some(0.0)), "nothing is read");
    }

    /// Once, 40 s computed earlier by a thread that ended were subtracted from the time of the
    /// others.
    #[test]
    fn a_kernel_thread_that_ends_takes_nothing_of_what_others_did_away() {
        let of = |all: &[(&str, f64)]| {
            KernelThreads(all.iter().map(|(thread, s)| ((*thread).to_owned(), *s)).collect())
        };
        let then = of(&[("3", 60.0), ("4", 40.0)]);
        assert_eq!(of(&[("3", 60.5), ("5", 0.25)]).since(&then), 0.75);
        assert_eq!(of(&[("3", 60.0), ("4", 0.0)]).since(&then), 0.0, "the number of another");
    }

    /// Once, on a kernel without fine times, its threads seemed to do nothing, and their work was
    /// attributed to other programs.
    #[test]
    fn the_time_of_a_kernel_thread_is_read_where_the_kernel_keeps_no_fine_one() {
        let of = |fine: Option<&str>| {
            let stat = "75 (kworker/0:1 (a) b) I 2 0 0 0 -1 69238880 0 0 0 0 3 42 0 0 20 0 1 0\n";
            let file = |name: &str| match name {
                "stat" => Some(stat.to_owned()),
                _ => fine.map(str::to_owned),
            };
            thread_s(file, 100.0)
        };
        assert_eq!(of(Some("500000000 7 1\n")), Some(0.5));
        assert_eq!([of(Some("0 0 0\n")), of(None)], [Some(0.45); 2]);
        assert_eq!(thread_s(|_| None, 100.0), None, "it has ended");
    }

    const STAT: &str = "cpu  5315 100 6084 284178 617 0 71 12 0 0\ncpu0 1 0 2 3 4 0 5 6 0 0\n";

    #[test]
    fn a_kernel_that_tells_of_no_other_programs_leaves_a_doubt() {
        assert!(Snapshot::default().doubt().unwrap().message.contains("mount /proc"));
        assert_eq!(Snapshot { total_s: 1.0, ..Snapshot::default() }.doubt(), None);
    }

    #[test]
    fn the_first_line_is_the_sum_of_all_processors() {
        let of_all = snapshot(STAT, 100.0, &[]);
        assert_eq!((of_all.user_s, of_all.steal_s), (54.15, 0.12));
        assert!((of_all.total_s - 2963.77).abs() < 1e-6);
        assert!((of_all.idle_s - 2847.95).abs() < 1e-6);
        assert_eq!(snapshot("", 100.0, &[0]), Snapshot::default());
        assert_eq!(snapshot("cpu  x y", 100.0, &[0]), Snapshot::default());
    }

    /// Once, agents on other processors disturbed a run that was confined to one of its own.
    #[test]
    fn load_where_this_program_may_not_run_is_told_apart() {
        let stat = |first: u32, third: u32| {
            format!(
                "cpu  {} 0 0 0 0 0 0 0\ncpu0 {first} 0 0 0 0 0 0 0\ncpu3 {third} 0 0 0 0 0 0 0\n",
                first + third
            )
        };
        let here = |ours: &[usize]| {
            let of = |first, third| snapshot(&stat(first, third), 100.0, ours);
            let load = of(20, 100).since(&of(0, 0), 1.0, 1.0);
            assert!((load.other_cpu - 0.2).abs() < 1e-9);
            (load.other_cpu_here * 10.0).round() / 10.0
        };
        assert_eq!([here(&[3]), here(&[0, 3])], [0.0, 0.2]);
        assert_eq!([here(&[]), here(&[3, 4])], [0.2; 2], "the kernel does not tell them apart");
    }

    #[test]
    fn processors_where_this_program_may_not_run_are_not_idle_for_it() {
        let stat = "cpu  0 0 0 300 0 0 0 0\ncpu0 0 0 0 200 0 0 0 0\ncpu3 0 0 0 60 40 0 0 0\n";
        let idle = |ours: &[usize]| {
            let now = snapshot(stat, 100.0, ours);
            let then = Snapshot { idle_here_s: now.idle_here_s.map(|_| 0.5), ..now.clone() };
            now.since(&then, 0.0, 1.0).idle_here
        };
        assert_eq!([idle(&[3]), idle(&[0, 3]), idle(&[3, 4])], [Some(0.5), Some(2.5), None]);
    }

    #[test]
    fn each_processor_has_a_line() {
        let stat = format!("{STAT}cpu3 100 50 20 500 30 4 6 7 0 0\nintr 5\n");
        let all = each_processor(&stat, 100.0);
        assert_eq!(all.iter().map(|cpu| cpu.number).collect::<Vec<_>>(), [0, 3]);
        let third = all[1];
        assert_eq!((third.user_s, third.idle_s, third.steal_s), (1.5, 5.3, 0.07));
        assert!((third.system_s - 0.3).abs() < 1e-12);
        assert!(each_processor("", 100.0).is_empty() && !cpus().is_empty());
    }

    #[test]
    fn our_own_time_is_not_others() {
        let then = Snapshot { user_s: 10.0, total_s: 100.0, ..Snapshot::default() };
        let now = Snapshot { user_s: 13.0, total_s: 104.0, ..then.clone() };
        let load = now.since(&then, 2.0, 2.0);
        assert_eq!((load.other_cpu, load.processors), (0.5, 2.0));
        assert_eq!(now.since(&then, 5.0, 2.0).other_cpu, 0.0);
        assert_eq!(now.since(&now, 0.0, 0.0).other_cpu, 0.0);
    }

    /// Once, a guest of 16 processors could not tell that the busy one lost most of its time.
    #[test]
    fn idle_processors_do_not_dilute_what_the_hypervisor_took() {
        let then = Snapshot::default();
        let now = Snapshot { steal_s: 1.5, idle_s: 45.0, total_s: 48.0, ..then.clone() };
        let load = now.since(&then, 0.0, 3.0);
        assert_eq!((load.stolen, load.steal_frac), (0.5, 0.5));
    }

    #[test]
    fn a_program_that_computes_is_seen() {
        let then = Snapshot::take();
        // Time of this thread only: with the threads of other tests it would end within few of the
        // kernel's ticks, which it counts by.
        let start = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        let cpu_s = || {
            let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
            (now.tv_sec - start.tv_sec) as f64 + (now.tv_nsec - start.tv_nsec) as f64 / 1e9
        };
        let mut sum = 0.0f64;
        while cpu_s() < 0.3 {
            for i in 0..1000 {
                sum = std::hint::black_box(sum + f64::from(i));
            }
        }
        let load = Snapshot::take().since(&then, 0.0, 1.0);
        assert!(load.other_cpu > 0.1, "{load:?}");
    }
}
