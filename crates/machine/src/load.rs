//! How busy other programs and the hypervisor keep the machine.
//!
//! Others are judged by the machine's user time less our own, since the kernel writes our pages back in system time of its
//! own threads, which must not count as load by others.

use crate::text;

/// The machine's counters at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// User time of all processors, low priority included, in seconds since start.
    pub user_s: f64,
    /// Time that the hypervisor took.
    pub steal_s: f64,
    /// All time of all processors, idle time included.
    pub total_s: f64,
}

/// What others did between two snapshots.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Processors that others kept busy in user mode, on average.
    pub other_cpu: f64,
    /// Processors that were switched on, on average; 0 where the kernel does not tell.
    pub processors: f64,
    /// Share of all processors' time that the hypervisor took.
    pub steal_frac: f64,
}

impl Snapshot {
    /// Reads the counters; what cannot be read stays 0.
    pub fn take() -> Self {
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        processors(&text::read("/proc/stat").unwrap_or_default(), ticks)
    }

    /// What other programs did since `earlier`, given the user seconds of our own processes meanwhile.
    ///
    /// The counters move in steps of 10 ms, so that intervals well below a second say little.
    pub fn since(&self, earlier: &Self, own_user_s: f64, elapsed_s: f64) -> Load {
        let share = |part: f64, whole: f64| if whole > 0.0 { (part / whole).max(0.0) } else { 0.0 };
        Load {
            other_cpu: share(self.user_s - earlier.user_s - own_user_s, elapsed_s),
            processors: share(self.total_s - earlier.total_s, elapsed_s),
            steal_frac: share(self.steal_s - earlier.steal_s, self.total_s - earlier.total_s),
        }
    }
}

/// The load average over one minute.
pub fn load_average() -> Option<f64> {
    text::read("/proc/loadavg")?.split(' ').next()?.parse().ok()
}

/// How one processor spent its time, in seconds since start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuTimes {
    /// Its number.
    pub number: usize,
    /// In user mode, low priority included.
    pub user_s: f64,
    /// In the kernel, interrupts included.
    pub system_s: f64,
    /// With nothing to run.
    pub idle_s: f64,
    /// Taken by the hypervisor.
    pub steal_s: f64,
}

/// The times of each processor that is switched on, in steps of 10 ms; none where the kernel does not tell.
pub fn cpus() -> Vec<CpuTimes> {
    let ticks = rustix::param::clock_ticks_per_second() as f64;
    each_processor(&text::read("/proc/stat").unwrap_or_default(), ticks)
}

/// Processor seconds of the kernel's own threads since they began; 0 where they are not seen, as in a container.
pub fn kernel_threads_s() -> f64 {
    let ns = |thread: String| {
        let text = text::read(format!("/proc/{thread}/schedstat"))?;
        text.split(' ').next()?.parse::<f64>().ok()
    };
    kernel_threads().into_iter().filter_map(ns).sum::<f64>() / 1e9
}

/// The numbers of the kernel's own threads: its list of those that process 2 made, or all processes looked at.
fn kernel_threads() -> Vec<String> {
    let of = |process: &str| text::read(format!("/proc/{process}/stat")).unwrap_or_default();
    if of("2").starts_with("2 (kthreadd) ")
        && let Some(listed) = text::read("/proc/2/task/2/children")
        && !listed.trim().is_empty()
    {
        return listed.split_whitespace().map(str::to_owned).collect();
    }
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| is_kernel_thread(&of(name))).collect()
}

/// Whether the text of a process's `stat` is that of a kernel thread: all of them come from process 2 (kernel: kthreadd).
fn is_kernel_thread(stat: &str) -> bool {
    let rest = stat.rsplit_once(") ").map(|(_, rest)| rest);
    rest.and_then(|rest| rest.split(' ').nth(1)) == Some("2")
}

/// The lines `cpu0`, `cpu1`, ... of `/proc/stat`, whose unit is 1/`ticks` seconds (proc_stat(5)).
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

/// The times in the first line of `/proc/stat`, whose unit is 1/`ticks` seconds (proc_stat(5)).
fn processors(stat: &str, ticks: f64) -> Snapshot {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu ")).unwrap_or_default();
    let mut times = [0.0; 8];
    for (time, word) in times.iter_mut().zip(line.split_whitespace()) {
        *time = word.parse::<f64>().unwrap_or(0.0) / ticks;
    }
    let [user, nice, .., steal] = times;
    Snapshot { user_s: user + nice, steal_s: steal, total_s: times.iter().sum() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_threads_are_told_by_their_parent() {
        assert!(is_kernel_thread("75 (kworker/0:1 (a) b) I 2 0 0 0 -1 69238880"));
        assert!(!is_kernel_thread("76 (sh) S 1 76 2 0"));
        assert!(!is_kernel_thread(""));
        assert!(kernel_threads_s() >= 0.0);
    }

    const STAT: &str = "cpu  5315 100 6084 284178 617 0 71 12 0 0\ncpu0 1 0 2 3 4 0 5 6 0 0\n";

    #[test]
    fn the_first_line_is_the_sum_of_all_processors() {
        let snapshot = processors(STAT, 100.0);
        assert_eq!((snapshot.user_s, snapshot.steal_s), (54.15, 0.12));
        assert!((snapshot.total_s - 2963.77).abs() < 1e-6);
        assert_eq!(processors("", 100.0), Snapshot::default());
        assert_eq!(processors("cpu  x y", 100.0), Snapshot::default());
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
        let now = Snapshot { user_s: 13.0, steal_s: 0.4, total_s: 104.0 };
        let load = now.since(&then, 2.0, 2.0);
        assert_eq!((load.other_cpu, load.steal_frac), (0.5, 0.1));
        assert_eq!(now.since(&then, 5.0, 2.0).other_cpu, 0.0);
        assert_eq!(now.since(&now, 0.0, 0.0).other_cpu, 0.0);
    }

    #[test]
    fn a_program_that_computes_is_seen() {
        let then = Snapshot::take();
        // Of this thread: with those of other tests it would be over within few of the kernel's ticks, by which it counts.
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
