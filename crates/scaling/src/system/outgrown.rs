//! Workloads whose sets outgrow memory, on a system whose evaluation never did: at memory's speed they would be told far too fast.

use super::changed::{ChangedSystem, Exchange, whole_mebibytes};
use super::{Missing, NotPredicted, System};
use ioscape_schema::units::Bytes;
use ioscape_schema::{BorderOperation, Parameter, Prediction, Warning, WarningKind, Workload};

impl System {
    /// Memory, in bytes, that no evaluated set filled, and within which no cache of reads ended; absent where one did, where no file cache is
    /// asked, and where the memory is not known.
    pub(super) fn unfilled_memory(&self) -> Option<u64> {
        let [_, largest] = self.model.measured(Parameter::UniqueBytes);
        let is_cached = self.model.base().access.reads_cached();
        let mut borders = self.evaluation.borders.iter();
        let is_writes_alone = borders.all(|border| border.operation == BorderOperation::Write);
        let is_unfilled = |memory: &u64| largest < *memory as f64;
        self.memory_bytes().filter(is_unfilled).filter(|_| is_cached && is_writes_alone)
    }

    /// That memory, where the set of `workload` outgrows it.
    pub(super) fn outgrown(&self, workload: &Workload) -> Option<u64> {
        self.unfilled_memory().filter(|memory| workload.unique_bytes > *memory)
    }

    /// What is said of a workload that outgrows memory that no evaluated set filled: as the evaluation of a small control group tells, with
    /// this much memory; absent where the workload does not.
    ///
    /// # Errors
    /// There was no such group, or it does not tell of a workload like that.
    pub(super) fn beyond_memory(
        &self,
        label: &str,
        workload: &Workload,
    ) -> Option<Result<Prediction, NotPredicted<'_>>> {
        let memory = self.outgrown(workload)?;
        let as_in_the_group = self.in_group(memory, workload);
        Some(as_in_the_group.ok_or_else(|| self.never_outgrown(label, workload, memory)))
    }

    fn in_group(&self, memory: u64, workload: &Workload) -> Option<Prediction> {
        let group = self.confined.as_deref()?;
        let larger = ChangedSystem::new(group, vec![Exchange::Memory(memory)]).ok()?;
        let predicted = larger.predict(None, workload).ok()?;
        Some(Prediction { region: format!("group, {}", predicted.region), ..predicted })
    }

    /// Why nothing is said of such a workload.
    pub(super) fn never_outgrown(
        &self,
        label: &str,
        workload: &Workload,
        memory: u64,
    ) -> NotPredicted<'_> {
        let [set, largest, memory] = [
            workload.unique_bytes as f64,
            self.model.measured(Parameter::UniqueBytes)[1],
            memory as f64,
        ]
        .map(Bytes);
        let why = format!(
            "{label} is not predicted: its set of {set} outgrows the {memory} of memory, and no set that was evaluated did (up to {largest})"
        );
        let missing = Missing {
            system: self,
            workload: self.model.base().clone(),
            max_unique_bytes: Some(whole_mebibytes(set.0)),
            beyond: None,
        };
        NotPredicted { why, missing: Some(Box::new(missing)) }
    }

    /// The doubt about predictions that are as the small control group tells.
    pub(super) fn doubt_of_group(&self, predictions: &[&Prediction]) -> Option<Warning> {
        let group = self.confined.as_deref()?;
        let limit = Bytes(group.memory_limit_bytes()? as f64);
        let outgrown = predictions.iter().filter_map(|one| {
            let memory = self.outgrown(&one.workload)?;
            Some((one.name.as_deref().unwrap_or("the workload"), Bytes(memory as f64)))
        });
        let (names, memory): (Vec<_>, Vec<_>) = outgrown.unzip();
        let memory = memory.first()?;
        let message = format!(
            "the sets of {} outgrow the {memory} of memory, which no evaluated set did: they are predicted as the evaluation in a control group of {limit} tells, with {memory} instead",
            names.join(", ")
        );
        Some(Warning::new(WarningKind::Extrapolated, message))
    }
}
