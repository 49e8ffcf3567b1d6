//! Converts a characterized application to a job.

use super::Job;
use ioscape_schema::workload::SIZE_MEAN_MAX;
use ioscape_schema::{Advice, ByOperation, Characterization, Op, Phase};

impl Job {
    /// Returns the workload that an application was characterized as, named after its program.
    pub fn of_application(found: &Characterization) -> Self {
        let mut workload = found.overall.workload();
        workload.by_operation = by_operation(found, workload.unique_bytes);
        workload.phases = phases(found, workload.unique_bytes);
        workload.advice = advice(&workload.phases);
        let memory_bytes = found.pattern.as_ref().and_then(|pattern| pattern.memory_bytes);
        workload.memory_bytes = memory_bytes.filter(|_| !workload.phases.is_empty());
        Self { is_partial: found.is_partial(), ..Self::named(&found.program(), workload) }
    }
}

/// Returns how the application's reads and writes differ, as far as a set of this size allows;
/// older results do not record it.
fn by_operation(found: &Characterization, unique_bytes: u64) -> Option<ByOperation> {
    let own = found.pattern.as_ref()?.by_operation(found.overall.change_frac?)?;
    own.validate(unique_bytes.min(SIZE_MEAN_MAX)).is_ok().then_some(own)
}

/// Returns the advice for most of the data: that of the phases that move more than half of the
/// bytes.
fn advice(phases: &[Phase]) -> Advice {
    let all: u128 = phases.iter().map(|phase| u128::from(phase.bytes)).sum();
    let of = |advice: &Advice| {
        let alike = phases
            .iter()
            .filter(|phase| phase.read.as_ref().is_some_and(|read| read.advice == *advice));
        alike.map(|phase| u128::from(phase.bytes)).sum::<u128>() > all / 2
    };
    [Advice::Sequential, Advice::Random].into_iter().find(of).unwrap_or_default()
}

/// Returns its phases, with their reuse, as far as a set of this size allows; older results have
/// none.
fn phases(found: &Characterization, unique_bytes: u64) -> Vec<Phase> {
    let mut phases = found.phases.clone();
    for phase in &mut phases {
        for (op, kind) in [(Op::Read, &mut phase.read), (Op::Write, &mut phase.write)] {
            let again = || found.pattern.as_ref().map(|pattern| pattern.again(op));
            if let Some(kind) = kind.as_mut().filter(|kind| kind.again_frac > 0.0) {
                kind.again = again().unwrap_or_default();
            }
        }
    }
    let are_valid = phases.iter().all(|phase| phase.validate(unique_bytes, SIZE_MEAN_MAX).is_ok());
    if are_valid { phases } else { Vec::new() }
}
