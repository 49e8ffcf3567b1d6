//! What other programs did on the machine while a process of a case ran.
//!
//! The counters of `/proc/stat` move in steps of 10 ms, a process of a case takes 50 ms or more. So they tell a processor that was busy
//! from one that was idle, and no more is asked of them.

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

/// Others that used the remaining processors for more than this share of the time were there.
const OTHERS_MOST: f64 = 0.1;

/// The same in a run of a whole benchmark, which has no batches to choose the undisturbed ones from.
const OTHERS_MOST_WHOLE: f64 = 0.03;

/// On many processors the kernel puts others on idle ones, and they share less: so much of this for each processor, up to the last value.
const OTHERS_MOST_WHOLE_EACH: f64 = 0.015;
const OTHERS_MOST_EVER: f64 = 0.25;

/// Counters this far apart may mean nothing: one of their steps, or two where the case's own time is taken off.
const STEP_S: f64 = 0.0101;

/// Some task that waited for memory for more than this share of the time disturbed.
const STALL_MOST: f64 = 0.01;

/// A hypervisor that took more than this share of the time, from whichever processors, disturbed a number of all of it.
const STEAL_MOST: f64 = 0.03;

/// A hypervisor that took less than this share of what a case waited for its processors is not what kept it waiting.
const STOLEN_LEAST: f64 = 0.5;

/// Neighbouring processors that were idle for this share of a process leave it many undisturbed moments.
const IDLE_LEAST: f64 = 0.5;

/// The machine's counters at one moment.
#[derive(Clone, Debug, Default)]
struct Moment {
    cpus: Vec<CpuTimes>,
    /// Whether the kernel told of other processors than those that the case may use, which are none of these then.
    misnumbered: bool,
    throttled: Throttled,
    /// The kernel's own threads, where a case asks for them; absent where they are not seen.
    kernel: Option<KernelThreads>,
    /// Processor time of the conductor, which does a part of the Modified Andrew Benchmark, and of its children that ended.
    own_s: f64,
    stalled_s: Option<f64>,
    /// How often processes of this program were seen to have been stopped.
    stops: u64,
    /// Bytes that the device below the case read and wrote, and what of it this program may have caused.
    device_bytes: Option<u64>,
    own_io_bytes: u64,
}

/// What other programs did while one process of a case ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Background {
    pub(crate) elapsed_s: f64,
    /// Processor seconds of other programs, on the processors that the case does not use; on all for a case that is not pinned, or that
    /// leaves two processors idle in turns. Absent where the kernel does not tell.
    pub(crate) others_s: Option<f64>,
    /// Idle seconds of each processor that may share the core with the pinned one.
    pub(crate) neighbours_idle_s: Vec<f64>,
    /// Processor seconds of the kernel's own threads, only for cases with files; absent where they are not seen, and so are among those of other programs.
    pub(crate) kernel_s: Option<f64>,
    /// Seconds in which a quota kept this process or others of its control group off the processors, at most all of them.
    pub(crate) throttled_s: f64,
    /// Seconds in which some task waited for memory; absent where the kernel does not tell.
    pub(crate) stalled_s: Option<f64>,
    /// How often this program or a process of it was stopped, as by `SIGSTOP`.
    pub(crate) stops: u64,
    /// Bytes that the device below the case read and wrote; absent where no device is below, or the kernel does not tell.
    pub(crate) device_bytes: Option<u64>,
    /// Bytes that this program and its children read from devices, or changed in the file cache.
    pub(crate) own_io_bytes: u64,
    /// How often the file system may write the same, to one device each; 0 where the case has no files.
    pub(crate) copies: u64,
    /// Processor seconds that the hypervisor took of all processors, and of those of the case: of all where it is not pinned; of those of tasks that work
    /// at the same time the most of one, as the longest wait is that of one.
    pub(crate) steal_s: f64,
    pub(crate) own_steal_s: f64,
    /// Processor seconds that all programs used, and those of all processors.
    pub(crate) busy_s: f64,
    pub(crate) total_s: f64,
    /// Processors of the machine.
    pub(crate) processors: usize,
    /// Whether nothing is known of them, for the kernel told of others than those that the case may use.
    pub(crate) misnumbered: bool,
}

impl Background {
    /// Processors that others kept busy, on average.
    pub(crate) fn others(&self) -> Option<f64> {
        self.others_s.map(|busy| busy / self.elapsed_s.max(1e-9))
    }

    /// The same, with the kernel's threads where [`Self::has_others`] counts what these did.
    pub(crate) fn busy(&self, case: &Case) -> Option<f64> {
        self.others_s.map(|busy| (busy + self.kernels_s(case)) / self.elapsed_s.max(1e-9))
    }

    /// What the kernel's threads did, in processor seconds, where it counts as what others did.
    fn kernels_s(&self, case: &Case) -> f64 {
        self.kernel_s.filter(|_| case.rule == OsRule::Single).unwrap_or(0.0)
    }

    /// Whether other programs were there that share memory, storage or a second processor with the case.
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

    /// Whether the kernel tells what others did, and that they hardly did anything.
    pub(crate) fn is_quiet(&self, case: &Case) -> bool {
        self.others_s.is_some() && !self.has_others(case)
    }

    /// Whether the neighbouring processors were idle so much that the fastest of many computations had the core for itself; `true` where
    /// there are none, or the kernel does not tell.
    pub(crate) fn was_alone(&self) -> bool {
        self.neighbours_idle_s.iter().all(|idle| *idle >= self.elapsed_s * IDLE_LEAST)
    }

    /// Whether the hypervisor took so much of the time (steal) that a number of all of it is off: of the time of all processors that were used, where the
    /// scheduler may place the case on any number of them.
    pub(crate) fn lost_to_hypervisor(&self, case: &Case) -> bool {
        let used_s = if case.rule == OsRule::Quartile { self.busy_s + self.steal_s } else { 0.0 };
        self.steal_s > (self.elapsed_s.max(used_s) * STEAL_MOST).max(STEP_S)
    }

    /// Whether the case waited for the hypervisor when it waited for its processors, which was this share of the time.
    pub(crate) fn waited_for_hypervisor(&self, delay_frac: f64) -> bool {
        self.own_steal_s >= self.elapsed_s * delay_frac * STOLEN_LEAST
    }

    /// Whether memory was seen to be short.
    pub(crate) fn lacks_memory(&self) -> bool {
        self.stalled_s.is_some_and(|stalled| stalled > self.elapsed_s * STALL_MOST)
    }
}

/// Looks at the machine before and after each process.
#[derive(Clone, Debug)]
pub(crate) struct Observer {
    /// The processors that pinned cases run on, in the order in which they take them.
    cpus: Vec<usize>,
    /// Processors that may share the core with the pinned one.
    neighbours: Vec<usize>,
    /// The tightest quota on this process.
    pub(crate) quota: Option<Quota>,
    /// For each directory that the user named, the counters of what is below it, and how often that may get the same.
    devices: Rc<[(Sources, u64)]>,
}

impl Observer {
    /// For cases in `scene`, whose directories are on `devices` that may get so many copies of what is written.
    pub(crate) fn new(scene: &Scene, devices: Vec<(Sources, u64)>) -> Self {
        let cpus = if scene.cpus.is_empty() { vec![scene.cpu] } else { scene.cpus.clone() };
        let all = numbered(load::cpus(), &cpus).unwrap_or_default();
        let all: Vec<usize> = all.iter().map(|cpu| cpu.number).collect();
        let named = siblings(scene.cpu);
        Self {
            neighbours: neighbours(&all, scene.cpu, named.as_deref(), scene.is_virtual),
            cpus,
            quota: Quota::find(),
            devices: devices.into(),
        }
    }

    /// Runs `work`, and tells what others did meanwhile from where `case` uses the processors.
    pub(crate) fn beside<T>(&self, case: &Case, work: impl FnOnce() -> T) -> (T, Background) {
        let begun = Instant::now();
        let before = self.now(case);
        let done = work();
        let elapsed_s = begun.elapsed().as_secs_f64();
        (done, self.between(case, elapsed_s, &before, &self.now(case)))
    }

    /// What is below the files of a case, and how often that may get the same.
    fn below(&self, case: &Case) -> Option<&(Sources, u64)> {
        case.place.and_then(|(home, _)| self.devices.get(home))
    }

    fn now(&self, case: &Case) -> Moment {
        let cpus = numbered(load::cpus(), &self.cpus);
        Moment {
            misnumbered: cpus.is_none(),
            cpus: cpus.unwrap_or_default(),
            // A thousand files on a large machine: only where the kernel's threads work for the case.
            kernel: case.place.and_then(|_| load::kernel_threads()),
            throttled: self.quota.as_ref().map(Quota::throttled).unwrap_or_default(),
            own_s: own_and_ended_children().unwrap_or(0) as f64 / 1e9,
            stalled_s: stalled_s(),
            stops: stops::counted(),
            device_bytes: self.below(case).and_then(|(devices, _)| devices.disk_bytes()),
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
        // The kernel's threads do the case's I/O, write back what it wrote, and watch over memory: their time is no other program's.
        let kernels = after.kernel.as_ref().zip(before.kernel.as_ref());
        let kernel_s = kernels.map(|(now, then)| now.since(then));
        let elsewhere = after.cpus.iter().filter(|cpu| !own(cpu.number));
        let its_own = after.cpus.iter().filter(|cpu| !case.pinned || own(cpu.number));
        let stolen = its_own.map(|cpu| passed(cpu, |cpu| cpu.steal_s));
        let others_s = if case.pinned {
            // Two that alternate are idle in turns, so that others run there without keeping them waiting. Idle time is exact; what the hypervisor took
            // is no program's.
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
            throttled_s: self.quota.as_ref().map_or(0.0, |quota| {
                quota.stopped_s(&before.throttled, &after.throttled, elapsed_s)
            }),
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
            copies: self.below(case).map_or(0, |(_, copies)| *copies),
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

/// Processors as the kernel told of them, by the numbers that `ours` have, which a program may run on: where `/proc` is that of a container, it may count
/// these alone, from 0 on. `None` where they cannot be told apart.
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

/// Seconds in which some task waited for memory since the machine was started; `None` where the kernel does not tell, as with `psi=0`.
pub(crate) fn stalled_s() -> Option<f64> {
    let text = text::read("/proc/pressure/memory")?;
    let (_, us) = text.lines().next()?.rsplit_once("total=")?;
    Some(us.trim().parse::<f64>().ok()? / 1e6)
}

/// Whether a case is one of two tasks that take turns on two processors.
fn alternates(case: &Case) -> bool {
    case.pinned && case.processors == 2 && case.tasks.is_none()
}

/// Processors of the machine; 0 where the kernel does not tell.
pub(crate) fn online() -> usize {
    load::cpus().len()
}

/// Processors in the order in which cases take them: `first`, then the others in order, those last that share a core with one before.
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

/// The other hardware threads of a processor's core, which the kernel lists with it: `0,64` or `2-3`. `None` where it does not tell.
fn siblings(cpu: usize) -> Option<Vec<usize>> {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    let core = listed(&text::read(path)?);
    core.contains(&cpu).then(|| core.into_iter().filter(|&one| one != cpu).collect())
}

/// Which of `all` may share the core with processor `cpu`, by the siblings that the kernel names: all others where it tells of none, or where it names
/// none in a virtual machine, which often hides them.
fn neighbours(all: &[usize], cpu: usize, named: Option<&[usize]>, is_virtual: bool) -> Vec<usize> {
    let named = named.filter(|named| !(named.is_empty() && is_virtual));
    let is_near = |other: &usize| named.is_none_or(|named| named.contains(other));
    all.iter().copied().filter(|other| *other != cpu && is_near(other)).collect()
}

/// The numbers of a list as the kernel writes them.
fn listed(text: &str) -> Vec<usize> {
    let ends = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        Some(from.trim().parse::<usize>().ok()?..=to.trim().parse::<usize>().ok()?)
    };
    text.split(',').filter_map(ends).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::not_here;

    fn observer(quota: Option<Quota>) -> Observer {
        Observer { cpus: vec![1, 0, 2], neighbours: vec![0, 2], quota, devices: Rc::new([]) }
    }

    fn moment(times: [(f64, f64, f64); 3], own_s: f64) -> Moment {
        let cpu = |(number, (user_s, system_s, idle_s))| CpuTimes {
            number,
            user_s,
            system_s,
            idle_s,
            steal_s: 0.0,
        };
        let cpus = times.into_iter().enumerate().map(cpu).collect();
        Moment { cpus, own_s, stalled_s: Some(0.0), ..Moment::default() }
    }

    /// A tenth of a second: the pinned processor 1 computes, 0 computes half of the time, 2 is idle.
    fn tenth(case: &Case) -> Background {
        let before = moment([(5.0, 1.0, 9.0); 3], 3.0);
        let after = moment([(5.04, 1.01, 9.05), (5.09, 1.01, 9.0), (5.0, 1.0, 9.1)], 3.1);
        observer(None).between(case, 0.1, &before, &after)
    }

    fn case() -> Case {
        Case::new("x", "y", "", |_| Err(not_here("no")))
    }

    #[test]
    fn the_processors_of_a_case_are_its_own() {
        let near = |found: Option<f64>, s: f64| assert!((found.unwrap() - s).abs() < 1e-9, "{s}");
        near(tenth(&case()).others_s, 0.05);
        near(tenth(&case().at((0, ioscape_schema::Locality::Local))).others_s, 0.05);
        near(tenth(&case().across_two()).others_s, 0.05);
        near(tenth(&case().unpinned()).others_s, 0.05);
        let found = tenth(&case());
        assert!(found.has_others(&case()) && !found.lacks_memory());
        assert!((found.others().unwrap() - 0.5).abs() < 1e-6);
        let two = case().across_two();
        assert!(tenth(&two).has_others(&two), "the conductor's tenth leaves half of a processor");
    }

    #[test]
    fn what_the_hypervisor_took_of_two_processors_is_no_other_program() {
        // Both compute for 0.1 s of 0.25 and rest for as long.
        let before = moment([(5.0, 1.0, 9.0); 3], 3.0);
        let mut after = moment([(5.1, 1.0, 9.1), (5.1, 1.0, 9.1), (5.0, 1.0, 9.25)], 3.2);
        after.cpus.iter_mut().take(2).for_each(|cpu| cpu.steal_s = 0.05);
        let two = case().across_two();
        let found = observer(None).between(&two, 0.25, &before, &after);
        assert!(found.others_s.is_some_and(|others| others < 1e-9), "{found:?}");
        assert!(!found.has_others(&two) && found.lost_to_hypervisor(&two));
        let own = |case: &Case| observer(None).between(case, 0.25, &before, &after).own_steal_s;
        let of_each = [own(&case()), own(&two), own(&case().unpinned())];
        assert_eq!(of_each, [0.05, 0.1, 0.1], "of one, of two, of all");
        let at_once = case().by_tasks(2, ioscape_schema::OsTasks::Threads);
        assert_eq!(own(&at_once), 0.05, "a task waits for its own processor alone");
    }

    #[test]
    fn processors_that_a_container_counts_anew_get_their_numbers_back() {
        let told = |count: usize| -> Vec<CpuTimes> {
            (0..count).map(|number| CpuTimes { number, ..CpuTimes::default() }).collect()
        };
        let numbers = |count, ours: &[usize]| -> Option<Vec<usize>> {
            Some(numbered(told(count), ours)?.iter().map(|cpu| cpu.number).collect())
        };
        assert_eq!(numbers(2, &[5, 4]), Some(vec![4, 5]));
        assert_eq!(numbers(3, &[5, 4]), None, "which of the three they are is not known");
        assert_eq!(numbers(4, &[3, 1]), Some(vec![0, 1, 2, 3]), "as the kernel numbers them");
        assert_eq!(numbers(0, &[5, 4]), Some(Vec::new()), "nothing is told");
        // The pinned processor 5 computes all the time, and its neighbour 4 rests.
        let observer = Observer { cpus: vec![5, 4], neighbours: vec![4], ..observer(None) };
        let mut after = told(2);
        (after[0].idle_s, after[1].user_s) = (0.1, 0.1);
        let moment = |told| {
            let cpus = numbered(told, &observer.cpus).unwrap();
            Moment { cpus, ..Moment::default() }
        };
        let found = observer.between(&case(), 0.1, &moment(told(2)), &moment(after));
        assert_eq!((found.others_s, found.was_alone()), (Some(0.0), true));
    }

    #[test]
    fn the_kernels_threads_are_no_other_program_unless_they_do_much() {
        let whole = case().by(OsRule::Single).unpinned();
        let with = |others_s, kernel_s| {
            let (others_s, kernel_s) = (Some(others_s), Some(kernel_s));
            Background { elapsed_s: 1.0, others_s, kernel_s, ..Background::default() }
                .has_others(&whole)
        };
        assert!(!with(0.02, 0.0) && with(0.04, 0.0), "3 %, programs alone");
        assert!(!with(0.02, 0.07) && with(0.02, 0.09), "10 % with the kernel");
    }

    #[test]
    fn a_neighbour_that_hardly_rests_leaves_no_undisturbed_moment() {
        let one = |idle: [f64; 2]| {
            let neighbours_idle_s = idle.to_vec();
            Background { elapsed_s: 1.0, neighbours_idle_s, ..Background::default() }.was_alone()
        };
        assert!(one([0.6, 0.9]) && !one([0.2, 0.9]) && !one([0.0, 0.0]));
        assert!(Background::default().was_alone(), "one processor has no neighbour");
        let seen = tenth(&case());
        assert!(seen.was_alone() && seen.neighbours_idle_s.len() == 2);
    }

    #[test]
    fn a_processor_that_the_kernel_names_alone_has_neighbours_in_a_virtual_machine_only() {
        let of =
            |named: Option<&[usize]>, is_virtual| neighbours(&[0, 1, 2, 3], 3, named, is_virtual);
        assert!(of(Some(&[]), false).is_empty());
        assert_eq!(of(Some(&[]), true), [0, 1, 2]);
        assert_eq!(of(None, false), [0, 1, 2], "nothing is told");
        assert_eq!(of(Some(&[1]), true), [1]);
    }

    #[test]
    fn lists_of_processors_are_read() {
        assert_eq!(listed("0,64"), [0, 64]);
        assert_eq!(listed("2-3\n"), [2, 3]);
        assert!(listed("").is_empty());
    }

    #[test]
    fn what_the_conductor_computes_is_not_others() {
        let observer = Observer::new(&Scene::default(), Vec::new());
        let (_, found) = observer.beside(&case().unpinned(), || {
            let begun = own_and_ended_children().unwrap();
            while own_and_ended_children().unwrap() < begun + 300_000_000 {
                std::hint::black_box(0);
            }
        });
        // All processors together had no more than their time.
        let most = found.total_s.max(found.elapsed_s) - 0.3;
        assert!(found.others_s.unwrap() <= most.max(0.0) + 0.05, "{found:?}");
    }

    #[test]
    fn the_machine_is_observed() {
        let scene = Scene { cpu: 0, ..Scene::default() };
        let observer = Observer::new(&scene, Vec::new());
        let (answer, found) = observer.beside(&case(), || 7);
        assert!(answer == 7 && found.elapsed_s >= 0.0 && found.others_s.is_some());
    }
}
