//! Tests of the checks of the kernel.

use super::*;

#[test]
fn every_check_says_what_was_found_and_what_to_do() {
    let all = checks(&crate::environment::machine(None), control_groups());
    assert_eq!(all.len(), 12);
    for check in &all {
        assert!(!check.found.is_empty() && !check.needed_for.is_empty(), "{check:?}");
        assert_eq!(check.state == CheckState::Works, check.advice.is_none(), "{check:?}");
    }
    let mut names: Vec<&str> = all.iter().map(|check| check.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 12);
}

#[test]
fn a_virtual_machine_is_told_what_it_does_not_see() {
    let told = |name: &str| {
        let virtualization = Some(name.to_owned());
        host(&Environment { virtualization, ..Environment::default() })
    };
    assert_eq!(["none", "docker", "unknown"].map(told), [None, None, None]);
    let found = told("kvm, docker").expect("a host").found;
    assert!(found.starts_with("kvm, docker: the host may limit I/O"), "{found}");
}

/// Guards against judging by the kernel's clock source, which is not what times requests.
#[test]
fn a_clock_is_judged_by_its_own_steps_and_cost() {
    let state = |precision_ns, cost_ns| {
        let measured = ioscape_schema::environment::Clock { precision_ns, cost_ns };
        clock_of(measured, "hpet").state
    };
    assert_eq!([state(1.0, 14.0), state(40.0, 12.0)], [CheckState::Works; 2]);
    assert_eq!([state(279.0, 900.0), state(100.1, 12.0)], [CheckState::Limited; 2]);
}

/// Guards against advice that cannot be followed: boards whose counter takes 250 ns for a step
/// have no other, and where a hypervisor intercepts readings the kernel trusts the counter.
#[test]
fn another_clock_is_advised_only_where_there_may_be_one() {
    let names_tsc = |precision_ns, cost_ns, source| {
        let measured = ioscape_schema::environment::Clock { precision_ns, cost_ns };
        clock_of(measured, source).advice.expect("advice").contains("tsc")
    };
    assert_eq!(names_tsc(279.0, 900.0, "acpi_pm"), cfg!(target_arch = "x86_64"));
    assert!(!names_tsc(250.0, 40.0, "riscv_clocksource") && !names_tsc(1.0, 2000.0, "tsc"));
}

#[test]
fn where_proc_is_not_mounted_no_other_kernel_is_asked_for() {
    crate::testing::with_mount(&["-t", "tmpfs", "tmpfs"], &[Path::new("/proc")], || {
        for check in [accounting(), pressure()] {
            assert_eq!(check.advice.as_deref(), Some("mount /proc"), "{check:?}");
        }
    });
}

#[test]
fn what_helps_where_there_are_no_rings_follows_from_the_error() {
    let told = |errno| ring_advice(errno).unwrap_or_default();
    assert!(told(libc::ENOSYS).contains("CONFIG_IO_URING"));
    assert!(!told(libc::ENOSYS).contains("sysctl") && told(libc::ENOMEM).contains("ulimit"));
    assert_eq!(told(libc::EINVAL), "");
}

#[test]
fn every_capability_that_something_asks_for_is_told() {
    let found = |set| capabilities(Some(set)).found;
    assert_eq!(found(0), "none of those that matter");
    assert_eq!(found(1 << DAC_OVERRIDE), "CAP_DAC_OVERRIDE; not CAP_SYS_PTRACE, CAP_SYS_ADMIN");
    assert_eq!(capabilities(Some(u64::MAX)).state, CheckState::Works);
    assert_eq!(capabilities(None).state, CheckState::Limited);
}

/// Guards against judging by the setting alone, which says that tracing works even if a
/// system-call filter refuses it.
#[test]
fn tracing_works_where_a_child_could_be_traced() {
    let said = |child| {
        let told = traced(Some(1), child);
        (told.state, told.found)
    };
    let (state, found) = said(Some(Death::Exit(DONE)));
    assert!(state == CheckState::Works && found.ends_with("could be traced"), "{found}");
    let (state, found) = said(Some(Death::Exit(libc::EPERM)));
    assert!(state == CheckState::Missing && found.contains("not permitted"), "{found}");
    assert_eq!(said(Some(Death::Signal(libc::SIGSYS))).0, CheckState::Missing);
    let old = traced(Some(1), Some(Death::Exit(libc::EIO)));
    assert!(old.advice.is_some_and(|advice| advice.contains("Linux 5.3")));
    assert_eq!(said(None).0, CheckState::Limited, "nobody knows");
    assert!(trace_child().is_some());
}

/// Guards against calling the machine's memory, processors and devices unlimited in a container
/// that does not show the groups above it.
#[test]
fn limits_that_may_be_hidden_are_told() {
    let cgroups = [Path::new("/sys/fs/cgroup")];
    crate::testing::with_mount(&["-t", "tmpfs", "tmpfs"], &cgroups, || {
        for check in [processors(&Environment::default()), memory_limit()] {
            assert_eq!(check.state, CheckState::Limited, "{check:?}");
            assert!(check.found.ends_with("above do not show here"), "{check:?}");
        }
    });
}

/// Guards against "loop devices works" where the mounts of a campaign are refused.
#[test]
#[allow(unsafe_code, reason = "unshare has no safe wrapper")]
fn loop_devices_do_not_work_without_the_right_to_mount() {
    let told = crate::testing::in_child(|| {
        // SAFETY: a plain call, in a process with one thread.
        let is_apart = unsafe { libc::unshare(libc::CLONE_NEWUSER) } == 0;
        i32::from(!is_apart || (may_not_mount() && loops().state == CheckState::Missing))
    });
    assert_eq!(told, Some(1));
}

/// Guards against `modprobe` in a container, where it changes nothing.
#[test]
fn loop_devices_that_do_not_show_are_told() {
    let is_loaded = Path::new("/sys/module/loop").exists();
    crate::testing::with_mount(&["-t", "tmpfs", "tmpfs"], &[Path::new("/dev")], || {
        let advice = loops().advice.expect("there is no node");
        assert_eq!(advice.starts_with("in a container"), is_loaded, "{advice}");
    });
}
