//! Memory that no evaluated set filled: predictions at its speed would be far too fast for sets
//! that outgrow it.

use crate::model::{Model, ModelKind, WhatIf, WhatIfError, predict_what_if};
use ioscape_schema::units::Bytes;
use ioscape_schema::{
    Border, BorderOperation, Evaluation, Parameter, Prediction, Warning, WarningKind, Workload,
};

/// The beginning of a region's name that stands for a control group's evaluation.
const IN_GROUP: &str = "group, ";

/// Memory that no evaluated set filled, and the evaluation in a small control group, which shows
/// sets that outgrow memory.
#[derive(Clone, Debug)]
pub(super) struct Unfilled {
    /// The size of the memory, in bytes.
    memory_bytes: u64,
    /// The largest set that was evaluated, in bytes.
    largest: f64,
    group: Option<Box<Group>>,
}

/// The same target evaluated in a control group.
#[derive(Clone, Debug)]
struct Group {
    limit_bytes: u64,
    model: Model,
}

impl Group {
    /// `error` with this group in place of the target, where its own evaluation falls short.
    fn called(&self, error: WhatIfError) -> WhatIfError {
        match error {
            WhatIfError::Beyond { target, is_lender: false, parameter, value } => {
                let target =
                    format!("{target} in a control group of {}", Bytes(self.limit_bytes as f64));
                WhatIfError::Beyond { target, is_lender: false, parameter, value }
            }
            error => error,
        }
    }
}

impl Unfilled {
    /// Of an evaluation in `memory_bytes` of memory and the `model` made from it; `confined` are
    /// further evaluations in control groups. `None` where some set outgrew the memory, where the
    /// end of a cache of reads was found within it, and where no file cache is in use.
    pub(super) fn new(
        evaluation: &Evaluation,
        model: &Model,
        memory_bytes: u64,
        (confined, kind): (Vec<Evaluation>, ModelKind),
    ) -> Option<Self> {
        let [_, largest] = model.measured(Parameter::UniqueBytes);
        let is_unfilled = model.base().access.reads_cached()
            && largest < memory_bytes as f64
            && !is_filled_by_reads(evaluation);
        let group = |one: Evaluation| {
            let (limit, model) = (one.memory_limit_bytes(), Model::of_kind(kind, &one));
            Some(Box::new(Group { limit_bytes: limit?, model: model.ok()? }))
        };
        is_unfilled.then(|| {
            let same = confined.into_iter().find(|one| one.access() == evaluation.access());
            Self { memory_bytes, largest, group: same.and_then(group) }
        })
    }

    /// Whether the set of `workload` and the `own_bytes` of memory that it has for itself outgrow this memory.
    pub(super) fn is_outgrown_by(&self, workload: &Workload, own_bytes: u64) -> bool {
        workload.unique_bytes.saturating_add(own_bytes) > self.memory_bytes
    }

    /// This memory, or what `what_if` has in its place, in bytes.
    pub(super) fn memory_with(&self, what_if: &WhatIf) -> u64 {
        what_if.memory_bytes.map_or(self.memory_bytes, |[_, other]| other)
    }

    /// The model of the evaluation in the control group.
    pub(super) fn group_model(&self) -> Option<&Model> {
        self.group.as_deref().map(|group| &group.model)
    }

    /// The prediction for a workload with the exchanges of `what_if`, as the evaluation in the
    /// control group says, with this memory or the exchanged one in place of the group's, or why it
    /// has none; `None` where there was no such evaluation.
    pub(super) fn predict(
        &self,
        what_if: &WhatIf,
        workload: &Workload,
    ) -> Option<Result<Prediction, WhatIfError>> {
        let group = self.group.as_deref()?;
        let memory_bytes = Some([group.limit_bytes, self.memory_with(what_if)]);
        let what_if = WhatIf { memory_bytes, ..what_if.clone() };
        let named =
            |told: Prediction| Prediction { region: format!("{IN_GROUP}{}", told.region), ..told };
        let told = predict_what_if(&group.model, &what_if, workload).map(named);
        Some(told.map_err(|error| group.called(error)))
    }

    /// Whether `predicted` comes from a control group.
    pub(super) fn is_as_in_group(predicted: &Prediction) -> bool {
        predicted.region.starts_with(IN_GROUP)
    }

    /// Why a workload called `label` that outgrows it, beside at least `own_bytes` for itself, has
    /// no prediction.
    pub(super) fn why(&self, label: &str, workload: &Workload, own_bytes: u64) -> String {
        let sizes = [workload.unique_bytes, own_bytes, self.memory_bytes];
        let [set, own, memory] = sizes.map(|bytes| Bytes(bytes as f64));
        let largest = Bytes(self.largest);
        let outgrows = match own_bytes {
            0 => format!("its set of {set} outgrows"),
            _ => format!("its set of {set} and the {own} or more that it had for itself outgrow"),
        };
        format!(
            "{label} is not predicted: {outgrows} the {memory} of memory, and no set that was evaluated did (up to {largest})"
        )
    }

    /// The doubt about predictions, called `names`, that come from the control group.
    pub(super) fn doubt(&self, names: &[&str]) -> Option<Warning> {
        let group = self.group.as_deref().filter(|_| !names.is_empty())?;
        let [memory, limit] =
            [self.memory_bytes, group.limit_bytes].map(|bytes| Bytes(bytes as f64));
        let message = format!(
            "no evaluated set filled the {memory} of memory: {} comes from the evaluation in a control group of {limit}, with the memory asked about in place of that limit",
            names.join(", ")
        );
        Some(Warning::new(WarningKind::Extrapolated, message))
    }
}

/// Whether some border is the end of a cache of reads: a border of writes alone is that of dirty
/// pages, which the mix shows too.
fn is_filled_by_reads(evaluation: &Evaluation) -> bool {
    let is_of_writes = |border: &Border| {
        evaluation.of_storage(BorderOperation::Write).any(|write| write.meets(border))
    };
    evaluation.of_storage(BorderOperation::Read).next().is_some()
        || evaluation.of_storage(BorderOperation::Mixed).any(|border| !is_of_writes(border))
}
