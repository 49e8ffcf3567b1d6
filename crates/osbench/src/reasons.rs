//! Messages that say why a case has no value.

use super::division::COUNTED_LEAST;
use super::estimate::{Flaw, Number};
use ioscape_schema::Contamination;

/// Why no pinned case has a value if the neighbouring processors were never idle.
pub(crate) const NEVER_ALONE: &str = "other programs kept a processor that may share the core busy throughout the run, so how fast this one is alone cannot be told: measure again when the machine is quieter";

/// Why no case has a value if only other processors are reported, as in containers whose `/proc` renumbers them.
pub(crate) const MISNUMBERED: &str = "the processors in /proc/stat are neither by number nor by count those that this program may run on, so whether other programs disturbed this cannot be told: measure outside of the container, or let the program run on all of its processors (taskset)";

/// Why no sleeping case has a value if the kernel does not count its waiting for a processor.
pub(crate) const UNQUEUED: &str = "this case sleeps, and the kernel does not tell how long it then waited for its processor (/proc/PID/schedstat), so whether other programs disturbed it cannot be told: measure with a kernel that counts it (CONFIG_SCHED_INFO)";

/// Says that only this many processes ran within the seconds of the run.
pub(crate) fn no_time(ran: usize, run_s: f64) -> String {
    format!(
        "no time left: in the {run_s:.0} s of the run {ran} of the {COUNTED_LEAST} processes ran that a number needs: give more with --budget, or fewer benchmarks with --only"
    )
}

/// Says why too few of these numbers count; `None` if enough do. `beside` is the number of
/// processors that others kept busy during the disturbed processes.
pub(crate) fn disturbed(
    numbers: &[Number],
    processes: usize,
    good: usize,
    (contamination, beside): (&Contamination, Option<f64>),
) -> Option<String> {
    if good >= (COUNTED_LEAST as usize).min(processes) {
        return None;
    }
    let mut flaws: Vec<Flaw> = numbers.iter().filter_map(|number| number.flaw).collect();
    // Processes without a number were interrupted before one batch was long enough.
    flaws.resize(flaws.len() + processes - numbers.len(), Flaw::Interrupted);
    let count = |flaw: &Flaw| flaws.iter().filter(|one| *one == flaw).count();
    let most = flaws.iter().copied().max_by_key(count)?;
    let percent = |share: Option<f64>| share.map_or(0.0, |share| share * 100.0);
    let what = match most {
        Flaw::Throttled => format!(
            "a quota of processor time stopped it ({:.0} % of the time)",
            percent(contamination.throttled_frac)
        ),
        Flaw::Stopped => {
            "it was stopped and let go on (SIGSTOP, a frozen control group, a suspended machine)".to_owned()
        }
        Flaw::Interrupted => {
            let share = contamination.run_delay_frac;
            let share = share.map(|share| format!(" ({:.0} % of the time)", share * 100.0));
            format!(
                "other programs used its processor{}, so that too little ran undisturbed",
                share.unwrap_or_default()
            )
        }
        Flaw::Others => {
            let busy = beside.unwrap_or(0.0);
            let digits = if busy < 0.1 { 2 } else { 1 };
            format!(
                "other programs, or the kernel for them, kept {busy:.digits$} processors busy and share memory, storage or a processor with this case"
            )
        }
        Flaw::Stolen => "the hypervisor took part of the time".to_owned(),
        Flaw::Storage => {
            "more was read and written on its device than it can have caused: other programs use it".to_owned()
        }
        Flaw::Memory => "programs had to wait for memory".to_owned(),
        Flaw::Slowed | Flaw::Unexplained => {
            "its processor was slower than at its best in this run, as next to another program on its core or at a lower clock".to_owned()
        }
    };
    let advice = match most {
        Flaw::Throttled => "measure outside of the control group that has it",
        _ => "measure again when the machine is quieter",
    };
    Some(format!("in {} of {} processes {what}: {advice}", count(&most), processes))
}
