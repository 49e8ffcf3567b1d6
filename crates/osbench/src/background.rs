//! What other programs did on the machine while a process of a case ran.
//!
//! `/proc/stat` counts in steps of 10 ms, and a process of a case takes 50 ms or more. So its
//! counters only distinguish busy processors from idle ones.

use super::case::{Case, Scene};
use super::stops;
use super::waiting::{own_and_ended_children, own_io_bytes};
use ioscape_machine::cgroup::{Quota, Throttled};
use ioscape_machine::load::{self, CpuTimes, KernelThreads};
use ioscape_machine::text;
use ioscape_machine::witness::Sources;
use ioscape_schema::OsRule;
use std::rc::Rc;
use std::time::Instant;

/// Other programs were there if they used the remaining processors for more than this time share.
const OTHERS_MOST: f64 = 0.1;

/// The same for a whole benchmark in one run, which has no undisturbed batches to choose from.
const OTHERS_MOST_WHOLE: f64 = 0.03;

/// The same per processor of large machines, whose idle processors absorb others; and its maximum.
const OTHERS_MOST_WHOLE_EACH: f64 = 0.015;
const OTHERS_MOST_EVER: f64 = 0.25;

/// Differences up to this may mean nothing: one counter step, or two less the case's own time.
const STEP_S: f64 = 0.0101;

/// Memory was short if some task waited for it for more than this share of the time.
const STALL_MOST: f64 = 0.01;

/// The hypervisor disturbed a number of the whole time if it took more than this share of it.
const STEAL_MOST: f64 = 0.03;

/// The hypervisor explains a case's wait for its processors if it took at least this share of it.
const STOLEN_LEAST: f64 = 0.5;

/// Neighbours that idled for this share of a process left it many undisturbed moments.
const IDLE_LEAST: f64 = 0.5;

/// The machine's counters at one moment.
#[derive(Clone, Debug, Default)]
struct Moment {
    cpus: Vec<CpuTimes>,
    /// Whether the kernel reported other processors than those of the case; `cpus` is then empty.
    misnumbered: bool,
    throttled: Throttled,
    /// The kernel's own threads, for cases with files; absent if they are not visible, or not yet
    /// read.
    kernel: Option<KernelThreads>,
    /// Processor time of this process, which does part of some work, and of its ended children.
    own_s: f64,
    stalled_s: Option<f64>,
    /// How often processes of this program are known to have been stopped.
    stops: u64,
    /// Bytes that the case's device read and wrote, and those that this program may have caused.
    device_bytes: Option<u64>,
    own_io_bytes: u64,
}

/// What other programs did while one process of a case ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Background {
    pub(crate) elapsed_s: f64,
    /// Processor seconds of other programs, on processors that the case does not use; on all, if it
    /// is not pinned or leaves two idle in turns. Absent if the kernel does not report them.
    pub(crate) others_s: Option<f64>,
    /// Idle seconds of each processor that may share the core with the pinned one.
    pub(crate) neighbours_idle_s: Vec<f64>,
    /// Kernel threads' processor seconds, for files; absent, and in `others_s`, if not visible.
    pub(crate) kernel_s: Option<f64>,
    /// Seconds in which a quota kept this process or its control group off the processors.
    pub(crate) throttled_s: f64,
    /// Seconds in which some task waited for memory; absent if the kernel does not report them.
    pub(crate) stalled_s: Option<f64>,
    /// How often this program or one of its processes was stopped, for example by `SIGSTOP`.
    pub(crate) stops: u64,
    /// Bytes that the case's device read and wrote; absent without a device or counters.
    pub(crate) device_bytes: Option<u64>,
    /// Bytes that this program and its children read from devices, or changed in the file cache.
    pub(crate) own_io_bytes: u64,
    /// How often the file system may write the same data, on one device each; 0 without files.
    pub(crate) copies: u64,
    /// Whether the case's directory is synchronous: its changes wait for storage.
    pub(crate) is_synchronous: bool,
    /// Processor seconds that the hypervisor took from all processors, and from the case's: from
    /// all if it is not pinned, and from the hardest-hit one for concurrent tasks.
    pub(crate) steal_s: f64,
    pub(crate) own_steal_s: f64,
    /// Processor seconds that all programs used, and those that all processors had.
    pub(crate) busy_s: f64,
    pub(crate) total_s: f64,
    /// Processors of the machine.
    pub(crate) processors: usize,
    /// Whether the processors are unknown: the kernel reported others than those of the case.
    pub(crate) misnumbered: bool,
}

impl Background {
    /// Processors that others kept busy, on average.
    pub(crate) fn others(&self) -> Option<f64> {
        self.others_s.map(|busy| busy / self.elapsed_s.max(1e-9))
    }

    /// The same, plus the kernel's threads if [`Self::has_others`] counts them.
    pub(crate) fn busy(&self, case: &Case) -> Option<f64> {
        self.others_s.map(|busy| (busy + self.kernels_s(case)) / self.elapsed_s.max(1e-9))
    }

    /// Returns the processor seconds of the kernel's threads if they count as those of others.
    fn kernels_s(&self, case: &Case) -> f64 {
        self.kernel_s.filter(|_| case.rule == OsRule::Single).unwrap_or(0.0)
    }

    /// Whether other programs ran that share memory, storage or a second processor with the case.
    pub(crate) fn has_others(&self, case: &Case) -> bool {
        let whole = OTHERS_MOST_WHOLE_EACH * self.processors as f64;
        let whole = whole.clamp(OTHERS_MOST_WHOLE, OTHERS_MOST_EVER);
        let shared = if case.pinned { OTHERS_MOST } else { OTHERS_MOST.max(whole) };
        let of_programs = case.rule == OsRule::Single && self.kernel_s.is_some();
        let share = if of_programs { whole } else { shared };
        let taken_off = !case.pinned || alternates(case) || case.place.is_some();
        let steps = if taken_off { 2.0 * STEP_S } else { STEP_S };
        let most = |share: f64| (self.elapsed_s * share).max(steps);
        self.others_s.is_some_and(|busy| {
            let kernels = self.kernels_s(case);
            busy > most(share) || kernels > 0.0 && busy + kernels > most(shared)
        })
    }

    /// Whether other programs are known to have done hardly anything.
    pub(crate) fn is_quiet(&self, case: &Case) -> bool {
        self.others_s.is_some() && !self.has_others(case)
    }

    /// Whether the neighbours idled enough for the fastest of many computations to have had the
    /// core for itself; `true` without neighbours or counters.
    pub(crate) fn was_alone(&self) -> bool {
        self.neighbours_idle_s.iter().all(|idle| *idle >= self.elapsed_s * IDLE_LEAST)
    }

    /// Whether the hypervisor took too much of the time (steal) for a number of the whole time: from
    /// the processors of a pinned case, or of all the time that programs wanted if the scheduler may
    /// place the case anywhere.
    pub(crate) fn lost_to_hypervisor(&self, case: &Case) -> bool {
        let wanted_s = if case.pinned { 0.0 } else { self.busy_s + self.steal_s };
        self.own_steal_s > (self.elapsed_s.max(wanted_s) * STEAL_MOST).max(STEP_S)
    }

    /// Whether it was the hypervisor for which the case waited for this share of the time.
    pub(crate) fn waited_for_hypervisor(&self, delay_frac: f64) -> bool {
        self.own_steal_s >= self.elapsed_s * delay_frac * STOLEN_LEAST
    }

    /// Whether memory was seen to be short.
    pub(crate) fn lacks_memory(&self) -> bool {
        self.stalled_s.is_some_and(|stalled| stalled > self.elapsed_s * STALL_MOST)
    }
}

/// What is below a directory of the user.
#[derive(Clone, Debug)]
pub(crate) struct Below {
    /// The counters of its devices.
    pub(crate) devices: Sources,
    /// How many copies of the same data the file system may write.
    pub(crate) copies: u64,
    /// What makes changes of its names wait for storage, if anything.
    pub(crate) synchronous: Option<String>,
}

/// Looks at the machine before and after each process.
#[derive(Clone, Debug)]
pub(crate) struct Observer {
    /// The processors for pinned cases, in the order in which they take them.
    cpus: Vec<usize>,
    /// Processors that may share the core with the pinned one.
    neighbours: Vec<usize>,
    /// The tightest quota on this process.
    pub(crate) quota: Option<Quota>,
    /// Of each directory of the user.
    below: Rc<[Below]>,
}

impl Observer {
    /// Creates one for `scene`, with what is `below` its directories.
    pub(crate) fn new(scene: &Scene, below: Vec<Below>) -> Self {
        let cpus = if scene.cpus.is_empty() { vec![scene.cpu] } else { scene.cpus.clone() };
        let all = numbered(load::cpus(), &cpus).unwrap_or_default();
        let all: Vec<usize> = all.iter().map(|cpu| cpu.number).collect();
        let named = siblings(scene.cpu);
        Self {
            neighbours: neighbours(&all, scene.cpu, named.as_deref(), scene.is_virtual),
            cpus,
            quota: Quota::find(),
            below: below.into(),
        }
    }

    /// Runs `work`, and returns what others did meanwhile, as seen from the processors of `case`.
    pub(crate) fn beside<T>(&self, case: &Case, work: impl FnOnce() -> T) -> (T, Background) {
        self.beside_kernel(case, load::kernel_threads, work)
    }

    /// The same, with the kernel's threads as `threads` reads them: thousands of files on a large
    /// machine, so only if they work for the case, and outside of the time in which others are
    /// looked for, since this program's own reading would count as theirs.
    fn beside_kernel<T>(
        &self,
        case: &Case,
        threads: impl Fn() -> Option<KernelThreads>,
        work: impl FnOnce() -> T,
    ) -> (T, Background) {
        let kernel = || case.place.and_then(|_| threads());
        let kernel_before = kernel();
        let begun = Instant::now();
        let before = Moment { kernel: kernel_before, ..self.now(case) };
        let done = work();
        let elapsed_s = begun.elapsed().as_secs_f64();
        let after = self.now(case);
        let after = Moment { kernel: kernel(), ..after };
        (done, self.between(case, elapsed_s, &before, &after))
    }

    /// Returns what is below the files of a case.
    fn below(&self, case: &Case) -> Option<&Below> {
        case.place.and_then(|(home, _)| self.below.get(home))
    }

    fn now(&self, case: &Case) -> Moment {
        let cpus = numbered(load::cpus(), &self.cpus);
        Moment {
            misnumbered: cpus.is_none(),
            cpus: cpus.unwrap_or_default(),
            kernel: None,
            throttled: self.quota.as_ref().map(Quota::throttled).unwrap_or_default(),
            own_s: own_and_ended_children().unwrap_or(0) as f64 / 1e9,
            stalled_s: stalled_s(),
            stops: stops::counted(),
            device_bytes: self.below(case).and_then(|below| below.devices.disk_bytes()),
            own_io_bytes: own_io_bytes(),
        }
    }

    fn between(&self, case: &Case, elapsed_s: f64, before: &Moment, after: &Moment) -> Background {
        let passed = |cpu: &CpuTimes, of: fn(&CpuTimes) -> f64| {
            let then = before.cpus.iter().find(|one| one.number == cpu.number);
            then.map_or(0.0, |then| (of(cpu) - of(then)).max(0.0))
        };
        let sum = |of: fn(&CpuTimes) -> f64| -> f64 {
            after.cpus.iter().map(|cpu| passed(cpu, of)).sum()
        };
        let busy: fn(&CpuTimes) -> f64 = |cpu| cpu.user_s + cpu.system_s;
        let own = |number| self.cpus.iter().take(case.processors).any(|&cpu| cpu == number);
        // Kernel threads do the case's I/O and reclaim memory: they are no other programs.
        let kernels = after.kernel.as_ref().zip(before.kernel.as_ref());
        let kernel_s = kernels.map(|(now, then)| now.since(then));
        let elsewhere = after.cpus.iter().filter(|cpu| !own(cpu.number));
        let its_own = after.cpus.iter().filter(|cpu| !case.pinned || own(cpu.number));
        let stolen = its_own.map(|cpu| passed(cpu, |cpu| cpu.steal_s));
        let others_s = if case.pinned {
            // Two alternating tasks are idle in turns, so others run there without delaying them.
            // Idle time is exact; the hypervisor's time belongs to no program.
            let used = |cpu: &&CpuTimes| alternates(case) && own(cpu.number);
            let used = after.cpus.iter().filter(used);
            let unused = |cpu: &CpuTimes| passed(cpu, |cpu| cpu.idle_s + cpu.steal_s);
            let used: f64 = used.map(|cpu| (elapsed_s - unused(cpu)).max(0.0)).sum();
            let own_s = if alternates(case) { after.own_s - before.own_s } else { 0.0 };
            let elsewhere = elsewhere.map(|cpu| passed(cpu, busy)).sum::<f64>();
            (elsewhere - kernel_s.unwrap_or(0.0)).max(0.0) + (used - own_s).max(0.0)
        } else {
            (sum(busy) - (after.own_s - before.own_s) - kernel_s.unwrap_or(0.0)).max(0.0)
        };
        let idle = |number: &usize| {
            let cpu = after.cpus.iter().find(|cpu| cpu.number == *number);
            cpu.map_or(0.0, |cpu| passed(cpu, |cpu| cpu.idle_s))
        };
        Background {
            elapsed_s,
            others_s: (!after.cpus.is_empty()).then_some(others_s),
            neighbours_idle_s: self.neighbours.iter().map(idle).collect(),
            kernel_s,
            throttled_s: after.throttled.since(&before.throttled, elapsed_s),
            stalled_s: after
                .stalled_s
                .zip(before.stalled_s)
                .map(|(now, then)| (now - then).max(0.0)),
            stops: after.stops - before.stops,
            device_bytes: after
                .device_bytes
                .zip(before.device_bytes)
                .map(|(now, then)| now.saturating_sub(then)),
            own_io_bytes: after.own_io_bytes.saturating_sub(before.own_io_bytes),
            copies: self.below(case).map_or(0, |below| below.copies),
            is_synchronous: self.below(case).is_some_and(|below| below.synchronous.is_some()),
            steal_s: sum(|cpu| cpu.steal_s),
            own_steal_s: match case.tasks {
                Some(_) => stolen.fold(0.0, f64::max),
                None => stolen.sum(),
            },
            busy_s: sum(busy),
            total_s: sum(|cpu| cpu.user_s + cpu.system_s + cpu.idle_s + cpu.steal_s),
            processors: after.cpus.len(),
            misnumbered: after.misnumbered,
        }
    }
}

/// Gives the reported processors the numbers of `ours`, which a program may run on: the `/proc` of
/// a container may count from 0. `None` if they cannot be matched.
fn numbered(mut told: Vec<CpuTimes>, ours: &[usize]) -> Option<Vec<CpuTimes>> {
    let is_told = |number: &usize| told.iter().any(|cpu| cpu.number == *number);
    if told.is_empty() || ours.iter().all(is_told) {
        return Some(told);
    }
    if told.len() != ours.len() {
        return None;
    }
    let mut numbers = ours.to_vec();
    numbers.sort_unstable();
    told.iter_mut().zip(numbers).for_each(|(cpu, number)| cpu.number = number);
    Some(told)
}

/// Returns the seconds since boot in which a task waited for memory; `None` if unknown (`psi=0`).
pub(crate) fn stalled_s() -> Option<f64> {
    let text = text::read("/proc/pressure/memory")?;
    let (_, us) = text.lines().next()?.rsplit_once("total=")?;
    Some(us.trim().parse::<f64>().ok()? / 1e6)
}

/// Whether a case is one of two tasks that take turns on two processors.
fn alternates(case: &Case) -> bool {
    case.pinned && case.processors == 2 && case.tasks.is_none()
}

/// Returns the number of the machine's processors; 0 if unknown.
pub(crate) fn online() -> usize {
    load::cpus().len()
}

/// Orders the processors for cases: `first`, then the others, with those that share a core last.
pub(crate) fn in_order(first: usize, all: &[usize]) -> Vec<usize> {
    let mut taken = vec![first];
    let mut shared = Vec::new();
    for &cpu in all.iter().filter(|&&cpu| cpu != first) {
        let same_core = siblings(cpu).iter().flatten().any(|one| taken.contains(one));
        if same_core { shared.push(cpu) } else { taken.push(cpu) }
    }
    taken.extend(shared);
    taken
}

/// Returns the other threads of a processor's core, listed like `0,64` or `2-3`; `None` if unknown.
fn siblings(cpu: usize) -> Option<Vec<usize>> {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    let core = text::list(&text::read(path)?);
    core.contains(&cpu).then(|| core.into_iter().filter(|&one| one != cpu).collect())
}

/// Returns which of `all` may share the core with `cpu`, by the siblings that the kernel names. All
/// others without a list, or with an empty one in a virtual machine, which often hides siblings.
fn neighbours(all: &[usize], cpu: usize, named: Option<&[usize]>, is_virtual: bool) -> Vec<usize> {
    let named = named.filter(|named| !(named.is_empty() && is_virtual));
    let is_near = |other: &usize| named.is_none_or(|named| named.contains(other));
    all.iter().copied().filter(|other| *other != cpu && is_near(other)).collect()
}

#[cfg(test)]
#[path = "background_tests.rs"]
mod tests;
