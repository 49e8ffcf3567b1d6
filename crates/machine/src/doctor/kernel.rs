//! What the kernel allows this process to use: control groups, io_uring, tracing, clock.

use crate::cgroup::{self, MemoryGroup};
use crate::clock::Clock;
use crate::crew::{Crew, DONE};
use crate::error::Death;
use crate::memory::{Memory, memory};
use crate::namespace::as_root;
use crate::text;
use crate::tracefs;
use ioscape_schema::units::Bytes;
use ioscape_schema::{Check, CheckState, Environment};
use rustix::fs::Access;
use std::io;
use std::path::Path;
use std::ptr::null_mut;
use std::time::Duration;

/// Memory limit of the trial control group.
const TRIAL_LIMIT: u64 = 64 << 20;
/// Bits of capabilities (`linux/capability.h`).
const DAC_OVERRIDE: u32 = 1;
const SYS_PTRACE: u32 = 19;
const SYS_ADMIN: u32 = 21;
/// Capabilities that some part of ioscape needs.
const CAPABILITIES: [(u32, &str); 3] = [
    (DAC_OVERRIDE, "CAP_DAC_OVERRIDE"),
    (SYS_PTRACE, "CAP_SYS_PTRACE"),
    (SYS_ADMIN, "CAP_SYS_ADMIN"),
];
/// Steps and cost of a reading of the clock, in nanoseconds, that a cached request of a few hundred
/// nanoseconds bears.
const FINE_CLOCK_NS: f64 = 100.0;

/// `PTRACE_GET_SYSCALL_INFO` of linux/ptrace.h, which the `libc` crate lacks for musl.
pub const GET_SYSCALL_INFO: libc::c_uint = 0x420e;

/// Longest time allowed to a child that has nothing to do.
const PATIENCE: Duration = Duration::from_secs(10);

/// Returns the checks of the machine `here`; that of control groups was made before.
pub fn checks(here: &Environment, control_groups: Check) -> Vec<Check> {
    vec![
        processors(here),
        memory_limit(),
        control_groups,
        io_uring(),
        block_tracing(),
        ptrace(),
        loops(),
        accounting(),
        pressure(),
        huge_pages(),
        clock(),
        capabilities(effective_capabilities()),
    ]
}

/// Returns the check of the host of a virtual machine.
pub fn host(here: &Environment) -> Option<Check> {
    let (name, unseen) = (here.virtualization.as_ref()?, here.unseen_host()?);
    let check = Check::works("host", "the speed of the device", format!("{name}: {unseen}"));
    let advice = "ask for the disk's limits and cache mode: without a host cache (cache=none) results are of the disk, with one only those of sets larger than the host's memory";
    Some(check.but(CheckState::Limited, advice))
}

fn processors(here: &Environment) -> Check {
    let found = here.processors().unwrap_or_default();
    let check = Check::works("processors", "how many workers run at once", found);
    let advice = "a control group stops this program when its quota (cpu.max) is used up: raise it, or start the container without";
    if here.cpu_quota.is_some() { check.but(CheckState::Limited, advice) } else { check }
}

fn memory_limit() -> Check {
    let show = |bytes: u64| Bytes(bytes as f64).to_string();
    let check = |found: String| Check::works("memory", "the size of the file cache", found);
    let Memory { total, installed, .. } = memory();
    match cgroup::enclosing_limit() {
        None if total < installed => check(format!(
            "{} of {}: the rest is reserved as huge pages, or on nodes that this program may not use",
            show(total),
            show(installed)
        )),
        None => check(show(total)),
        Some(limit) => check(format!("{}, of which this process may use {}", show(total), show(limit)))
            .but(CheckState::Limited, "a control group limits the file cache too: results are of the limit, not of the machine"),
    }
}

/// Returns the check of control groups, which `--memory` needs.
pub fn control_groups() -> Check {
    let check = |found: String| Check::works("control groups", "--memory", found);
    match MemoryGroup::create(TRIAL_LIMIT) {
        Ok(group) => {
            let made = check("a group with a memory limit was made and removed".to_owned());
            match group.doubt() {
                Some(doubt) => made.but(CheckState::Limited, &doubt.message),
                None => made,
            }
        }
        Err(error) => {
            let (error, advice) = (error.to_string(), cgroup::advice());
            let why = error.strip_suffix(&format!("; {advice}")).unwrap_or(&error);
            check(why.to_owned()).but(CheckState::Missing, &advice)
        }
    }
}

#[allow(unsafe_code, reason = "io_uring_setup has no safe wrapper")]
fn io_uring() -> Check {
    let purpose = "--engine io_uring, queue depths above 1, twin";
    let check = |found: String| Check::works("io_uring", purpose, found);
    let mut parameters = rustix::io_uring::io_uring_params::default();
    // SAFETY: the parameters are a valid structure of zeros; the ring is closed at once and shares no memory.
    match unsafe { rustix::io_uring::io_uring_setup(1, &mut parameters) } {
        Ok(_) => check("a ring was made and closed".to_owned()),
        Err(error) => {
            let first = ring_advice(error.raw_os_error());
            let first = first.map_or_else(String::new, |one| format!("{one}; else "));
            check(format!("io_uring_setup: {}", io::Error::from(error)))
                .but(CheckState::Missing, &format!("{first}--engine psync --processes N"))
        }
    }
}

/// Returns what helps where the kernel answered `errno` when asked for a ring, if known.
pub fn ring_advice(errno: i32) -> Option<&'static str> {
    let is_disabled = text::read_number("/proc/sys/kernel/io_uring_disabled") > Some(0);
    match errno {
        libc::ENOSYS => Some(
            "the kernel has none (Linux 5.1, CONFIG_IO_URING), or a filter of system calls hides it",
        ),
        libc::EPERM if is_disabled => Some("allow it (sysctl kernel.io_uring_disabled=0)"),
        libc::EPERM => Some(
            "a filter of system calls forbids it: allow it there, in a container with `--security-opt seccomp=unconfined`",
        ),
        libc::ENOMEM => Some("raise the limit of locked memory (ulimit -l)"),
        _ => None,
    }
}

fn may(path: &Path, access: Access) -> bool {
    rustix::fs::access(path, access).is_ok()
}

fn block_tracing() -> Check {
    let check = |found: &str| Check::works("tracefs", "trace record", found);
    let places = tracefs::PLACES.map(|place| Path::new(place).join("instances"));
    match places.iter().find(|place| place.exists()) {
        Some(place) if may(place, Access::WRITE_OK) => check(&place.display().to_string()),
        Some(place) => check(&format!("{} may not be written by this user", place.display()))
            .but(CheckState::Missing, as_root()),
        None => match tracefs::detached() {
            Ok(_) if has_proc() => check("not mounted; `trace record` mounts it for itself"),
            Ok(_) => check("not mounted, and reached only through /proc")
                .but(CheckState::Missing, "mount /proc"),
            Err(error) => {
                let (why, advice) = tracefs::refusal(error);
                check(&why).but(CheckState::Missing, &advice)
            }
        },
    }
}

fn ptrace() -> Check {
    let check = |found: &str| Check::works("system call tracing", "characterize", found);
    match text::read_number("/proc/sys/kernel/yama/ptrace_scope") {
        Some(3) => check("kernel.yama.ptrace_scope = 3: nobody may trace")
            .but(CheckState::Missing, "set it to 2 or less at the next start of the machine"),
        Some(2) if !has(SYS_PTRACE) => {
            check("kernel.yama.ptrace_scope = 2: only administrators may trace")
                .but(CheckState::Missing, "run as root, or sysctl kernel.yama.ptrace_scope=1")
        }
        scope => traced(scope, trace_child()),
    }
}

/// Returns the check from the kernel's setting and the end of a child that asked to be traced,
/// which covers everything else.
fn traced(scope: Option<u64>, child: Option<Death>) -> Check {
    let check = |found: String| Check::works("system call tracing", "characterize", found);
    let setting = match scope {
        None => "the kernel sets no limit on ptrace".to_owned(),
        Some(scope) => format!("kernel.yama.ptrace_scope = {scope}"),
    };
    let why = match child {
        None => {
            return check(format!("{setting}; it could not be tried")).but(
                CheckState::Limited,
                "let this user run more processes (ulimit -u), or ask again on a quieter machine",
            );
        }
        Some(Death::Exit(DONE)) => return check(format!("{setting}; a child could be traced")),
        Some(Death::Exit(errno)) => io::Error::from_raw_os_error(errno).to_string(),
        Some(_) => "the child was killed for it".to_owned(),
    };
    let check = check(format!("{setting}, but ptrace is refused: {why}"));
    let advice = match child {
        Some(Death::Exit(libc::EIO)) => {
            "a kernel that describes the calls of traced programs (Linux 5.3)"
        }
        _ => {
            "a filter of system calls refuses it: in a container `--cap-add SYS_PTRACE`, or a seccomp filter that allows ptrace"
        }
    };
    check.but(CheckState::Missing, advice)
}

/// Returns how a child that traced one of its own ended, with the error as its exit code; `None` if
/// it cannot be tried.
fn trace_child() -> Option<Death> {
    let mut crew = Crew::fork(1, |_| trace_own()).ok()?;
    crew.wait(PATIENCE, || false);
    crew.first_dead().map(|(_, death)| death)
}

/// Asks the kernel which call a traced child of this process, which has one thread, makes. Returns
/// `DONE`, or the error.
#[allow(unsafe_code, reason = "fork and ptrace have no safe wrapper")]
fn trace_own() -> i32 {
    let none = null_mut::<libc::c_void>();
    let why = || io::Error::last_os_error().raw_os_error().unwrap_or(libc::EPERM);
    let mut status = 0;
    // SAFETY: both processes have one thread and make plain calls; the child ends in any case. The
    // kernel writes nothing where it is given no room.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            if libc::ptrace(libc::PTRACE_TRACEME, 0, none, none) == 0 {
                libc::raise(libc::SIGSTOP);
            }
            libc::_exit(why());
        }
        if child < 0 || libc::waitpid(child, &raw mut status, 0) < 0 {
            return why();
        }
        if !libc::WIFSTOPPED(status) {
            return if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { libc::EPERM };
        }
        let told = libc::ptrace(GET_SYSCALL_INFO as _, child, none, none);
        let error = if told > 0 { DONE } else { why() };
        libc::kill(child, libc::SIGKILL);
        libc::waitpid(child, &raw mut status, 0);
        error
    }
}

/// Returns what helps where a file of `/proc` cannot be read: `otherwise`, if `/proc` is mounted.
fn of_proc(otherwise: &'static str) -> &'static str {
    if has_proc() { otherwise } else { "mount /proc" }
}

fn has_proc() -> bool {
    Path::new("/proc/self").exists()
}

fn loops() -> Check {
    let check = |found: &str| Check::works("loop devices", "campaign run --fs", found);
    let control = Path::new("/dev/loop-control");
    match (control.exists(), may(control, Access::READ_OK | Access::WRITE_OK)) {
        (true, true) => check("/dev/loop-control can be opened"),
        (true, false) => check("/dev/loop-control may not be opened by this user")
            .but(CheckState::Missing, as_root()),
        (false, _) => {
            check("no /dev/loop-control").but(CheckState::Missing, "modprobe loop, as root")
        }
    }
}

fn accounting() -> Check {
    let check = |found: &str| {
        Check::works("I/O accounting", "bytes that reached storage, per process", found)
    };
    match text::read("/proc/self/io").is_some_and(|io| text::field(&io, "read_bytes").is_some()) {
        true => check("/proc/self/io"),
        false => check("/proc/self/io cannot be read")
            .but(CheckState::Missing, of_proc("a kernel with CONFIG_TASK_IO_ACCOUNTING")),
    }
}

fn pressure() -> Check {
    let check =
        |found: &str| Check::works("pressure", "recognizing runs that others disturbed", found);
    match text::read("/proc/pressure/io") {
        Some(_) => check("/proc/pressure"),
        None => check("/proc/pressure cannot be read").but(
            CheckState::Limited,
            of_proc(
                "start the kernel with psi=1; until then load and steal time alone are witnesses",
            ),
        ),
    }
}

fn huge_pages() -> Check {
    let setting = text::read("/sys/kernel/mm/transparent_hugepage/enabled");
    let found = setting
        .map_or("the kernel has none, or /sys does not show them".to_owned(), |line| {
            format!("transparent: {line}")
        });
    Check::works("huge pages", "comparing results: they change the cost of mapped I/O", found)
}

fn clock() -> Check {
    let source = text::read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    clock_of(Clock::new().measure(), source.as_deref().unwrap_or("unknown"))
}

/// Returns the check of a clock, where the kernel's own clock has this `source`.
fn clock_of(measured: ioscape_schema::environment::Clock, source: &str) -> Check {
    let ioscape_schema::environment::Clock { precision_ns, cost_ns } = measured;
    let found = format!(
        "steps of {precision_ns:.0} ns, {cost_ns:.0} ns for each reading; the kernel's source: {source}"
    );
    let check = Check::works("clock", "timing every request", found);
    let has_faster = cfg!(target_arch = "x86_64") && source != "tsc";
    let advice = match () {
        () if cost_ns > FINE_CLOCK_NS && has_faster => {
            "times of cached requests include readings: a kernel that trusts the processor's counter (clock source tsc; dmesg says why not) has a faster clock"
        }
        () if cost_ns > FINE_CLOCK_NS => {
            "times of cached requests include a reading each: subtract its cost"
        }
        () if precision_ns > FINE_CLOCK_NS => {
            "a single time is no finer than a step of the clock: compare means of many cached requests"
        }
        () => return check,
    };
    check.but(CheckState::Limited, advice)
}

/// Returns the effective capabilities of this process, one bit each.
fn effective_capabilities() -> Option<u64> {
    text::field_in(&text::read("/proc/self/status")?, "CapEff", 16)
}

/// Returns whether a capability is effective for this process.
fn has(bit: u32) -> bool {
    effective_capabilities().is_some_and(|set| set & (1 << bit) != 0)
}

/// Returns the check of the `effective` capabilities.
fn capabilities(effective: Option<u64>) -> Check {
    let check = |found: String| Check::works("capabilities", "what needs root above", found);
    let Some(set) = effective else {
        return check("/proc/self/status cannot be read".to_owned())
            .but(CheckState::Limited, "mount /proc");
    };
    let (held, lacking): (Vec<_>, Vec<_>) =
        CAPABILITIES.iter().partition(|(bit, _)| set & (1 << bit) != 0);
    let names =
        |all: &[&(u32, &str)]| all.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(", ");
    if lacking.is_empty() {
        return check(names(&held));
    }
    let found = match held.is_empty() {
        true => "none of those that matter".to_owned(),
        false => format!("{}; not {}", names(&held), names(&lacking)),
    };
    check(found).but(CheckState::Limited, "run as root for what is missing above")
}

#[cfg(test)]
mod tests {
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
}
