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
    match here.cpu_quota {
        Some(_) => check.but(CheckState::Limited, advice),
        None => unless_hidden(check, "cpu"),
    }
}

/// Returns the check, limited if a container may hide limits by this controller.
fn unless_hidden(check: Check, controller: &str) -> Check {
    if cgroup::shows_limits(controller) {
        return check;
    }
    let found = format!("{}; limits of control groups above do not show here", check.found);
    let advice =
        "ask who runs this container for its limits: results are of these, if there are any";
    Check { found, ..check }.but(CheckState::Limited, advice)
}

fn memory_limit() -> Check {
    let show = |bytes: u64| Bytes(bytes as f64).to_string();
    let check = |found: String| Check::works("memory", "the size of the file cache", found);
    let Memory { total, installed, .. } = memory();
    match cgroup::enclosing_limit() {
        None => {
            let rest = match total < installed {
                true => format!(
                    " of {}: the rest is reserved as huge pages, or on nodes that this program may not use",
                    show(installed)
                ),
                false => String::new(),
            };
            unless_hidden(check(show(total) + &rest), "memory")
        }
        Some(limit) => check(format!("{}, of which this process may use {}", show(total), show(limit)))
            .but(CheckState::Limited, "a control group limits the file cache too: results are of the limit, not of the machine"),
    }
}

/// Returns the check of control groups, which `--memory` needs.
pub fn control_groups() -> Check {
    let check = |found: String| Check::works("control groups", "--memory", found);
    match MemoryGroup::attempt(TRIAL_LIMIT) {
        Ok(group) => {
            let made = check("a group with a memory limit was made and removed".to_owned());
            match group.doubt() {
                Some(doubt) => made.but(CheckState::Limited, &doubt.message),
                None => made,
            }
        }
        Err([why, advice]) => check(why).but(CheckState::Missing, &advice),
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
    let missing = |found, advice| check(found).but(CheckState::Missing, advice);
    match may(control, Access::READ_OK | Access::WRITE_OK) {
        true if may_not_mount() => missing(
            "/dev/loop-control can be opened, but this process may not mount file systems",
            as_root(),
        ),
        true => check("/dev/loop-control can be opened"),
        false if control.exists() => {
            missing("/dev/loop-control may not be opened by this user", as_root())
        }
        false if Path::new("/sys/module/loop").exists() => missing(
            "the kernel has loop devices, but no /dev/loop-control is here",
            "in a container `--privileged -v /dev:/dev`; else mknod /dev/loop-control c 10 237, as root",
        ),
        false => missing("no /dev/loop-control", "modprobe loop, as root"),
    }
}

/// Returns whether this process is known not to be allowed to mount a device: it lacks the
/// capability, or has it only in a user namespace.
fn may_not_mount() -> bool {
    const ALL: [&str; 3] = ["0", "0", "4294967295"];
    let is_mapped = |users: String| users.split_whitespace().ne(ALL);
    effective_capabilities().is_some_and(|set| set & (1 << SYS_ADMIN) == 0)
        || text::read("/proc/self/uid_map").is_some_and(is_mapped)
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
#[path = "kernel_tests.rs"]
mod tests;
