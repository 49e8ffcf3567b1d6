//! Tests of what is seen of other programs while a case runs.

use super::*;
use crate::case::not_here;

fn observer(quota: Option<Quota>) -> Observer {
    Observer { cpus: vec![1, 0, 2], neighbours: vec![0, 2], quota, below: Rc::new([]) }
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
    // Both compute for 0.1 s of 0.25 s and rest for as long.
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

/// Guards against withholding numbers in guests of 128 processors, each of which loses one
/// ten-thousandth of its time when its timer wakes it.
#[test]
fn what_the_hypervisor_took_of_other_processors_was_not_taken_from_the_case() {
    let steal_s = 0.03;
    let lost = |case: &Case, own_steal_s, busy_s| {
        let beside =
            Background { elapsed_s: 0.5, steal_s, own_steal_s, busy_s, ..Background::default() };
        beside.lost_to_hypervisor(case)
    };
    assert!(!lost(&case(), 0.0, 0.5) && lost(&case(), steal_s, 0.5));
    let placed = case().by(OsRule::Single).unpinned();
    assert!(!lost(&placed, steal_s, 1.5) && lost(&placed, steal_s, 0.5));
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
    // The pinned processor 5 computes all the time, and its neighbour 4 is idle.
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
    let of = |named: Option<&[usize]>, is_virtual| neighbours(&[0, 1, 2, 3], 3, named, is_virtual);
    assert!(of(Some(&[]), false).is_empty());
    assert_eq!(of(Some(&[]), true), [0, 1, 2]);
    assert_eq!(of(None, false), [0, 1, 2], "nothing is told");
    assert_eq!(of(Some(&[1]), true), [1]);
}

/// Once, on an idle machine with a thousand processors, this program's own reading of the kernel's
/// threads counted as other programs.
#[test]
fn the_kernels_threads_are_read_outside_of_the_time_in_which_others_are_looked_for() {
    let observer = Observer::new(&Scene::default(), Vec::new());
    let reading = std::time::Duration::from_millis(400);
    let threads = || {
        std::thread::sleep(reading);
        Some(KernelThreads::default())
    };
    let with_files = case().at((0, ioscape_schema::Locality::Local));
    let (_, found) = observer.beside_kernel(&with_files, threads, || ());
    assert!(found.elapsed_s < reading.as_secs_f64(), "{found:?}");
    assert_eq!(found.kernel_s, Some(0.0));
    let (_, found) = observer.beside_kernel(&case(), threads, || ());
    assert_eq!(found.kernel_s, None, "no threads work for it");
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
    // All processors together had no more time than elapsed on them.
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
