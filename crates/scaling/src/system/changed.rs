//! Predictions for an evaluated system with something exchanged, and the measurements that are
//! missing where nothing is known.

use super::outgrown::Unfilled;
use super::pauses::with_pauses;
use super::{Missing, NotPredicted, System};
use crate::model::{
    WhatIf, WhatIfError, WriteDone, by_syncs, doubt_of_sizes, doubts_of_memory, predict,
    predict_application, predict_what_if,
};
use ioscape_schema::units::{Bytes, bytes_word};
use ioscape_schema::{
    Access, AccessPattern, BorderOperation, Engine, Environment, Filled, Parameter, Prediction,
    Warning, WarningKind, Workload, WritePolicy,
};

/// Multiple of the memory up to which sets must be measured to show a cache.
const PAST_MEMORY: u64 = 4;

/// One exchange.
#[derive(Clone, Debug)]
pub enum Exchange {
    /// Other memory, in bytes.
    Memory(u64),
    /// The storage of another system.
    Storage(Box<System>),
    /// Another time at which a write counts as done.
    WritePolicy(WriteDone),
}

impl Exchange {
    /// Names what it exchanges.
    fn what(&self) -> &'static str {
        match self {
            Self::Memory(_) => "memory",
            Self::Storage(_) => "storage",
            Self::WritePolicy(_) => "write policy",
        }
    }

    /// Says so if it changes nothing for requests of this access.
    fn without_effect(&self, access: Access) -> Option<String> {
        let what = match self {
            Self::Memory(bytes) => format!("memory of {}", Bytes(*bytes as f64)),
            Self::WritePolicy(_) => "another write policy".to_owned(),
            Self::Storage(_) => return None,
        };
        let why = match (self, access) {
            (_, Access::Direct) => "bypasses the file cache",
            (Self::WritePolicy(_), Access::Dsync) => "waits for storage at each write",
            _ => return None,
        };
        Some(format!("{what} changes nothing: access {access} {why}"))
    }
}

/// Why nothing can be exchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotExchanged {
    /// The result of an evaluation does not say how much memory there was to exchange.
    #[error(
        "{0} does not say how much memory it had: evaluations of real targets and of simulated systems with one file cache do, so evaluate one"
    )]
    MemoryUnknown(String),
    /// One thing is exchanged twice.
    #[error("the {0} is exchanged twice: name one {0}")]
    Twice(&'static str),
}

/// A system with something exchanged.
#[derive(Clone, Debug)]
pub struct ChangedSystem<'a> {
    system: &'a System,
    what_if: WhatIf,
    /// Other memory, in bytes, even where it changes nothing.
    memory_bytes: Option<u64>,
    lender: Option<Box<System>>,
    /// What is said of exchanges that change nothing.
    without_effect: Vec<String>,
    name: String,
}

impl<'a> ChangedSystem<'a> {
    /// `system` after the exchanges, which become part of its name.
    ///
    /// # Errors
    /// Memory is exchanged, but the evaluation does not say how much there was; or one thing is
    /// exchanged twice.
    pub fn new(system: &'a System, exchanges: Vec<Exchange>) -> Result<Self, NotExchanged> {
        let (mut what_if, mut lender, mut named) = (WhatIf::default(), None, Vec::new());
        let (known, mut memory_bytes) = (write_done(system), None);
        let (base, mut without_effect) = (system.model.base(), Vec::new());
        for (at, exchange) in exchanges.iter().enumerate() {
            let what = exchange.what();
            if exchanges[..at].iter().any(|earlier| earlier.what() == what) {
                return Err(NotExchanged::Twice(what));
            }
            let idle = exchange.without_effect(base.access);
            let has_effect = idle.is_none();
            without_effect.extend(idle);
            match exchange {
                Exchange::Memory(bytes) => {
                    if has_effect && base.engine != Engine::Dontcache {
                        let own = system.memory_bytes();
                        let own =
                            own.ok_or_else(|| NotExchanged::MemoryUnknown(system.name.clone()))?;
                        what_if.memory_bytes = Some([own, *bytes]);
                    }
                    memory_bytes = Some(*bytes);
                    named.push(format!("memory {}", bytes_word(*bytes)));
                }
                Exchange::Storage(other) => {
                    let other = other.with_access(base.access);
                    // Borrowing a system's own storage changes nothing.
                    if other.evaluation != system.evaluation {
                        what_if.storage = other.of_storage().or(Some(&other.model)).cloned();
                    }
                    named.push(format!("the storage of {}", other.name));
                    lender = Some(Box::new(other.clone()));
                }
                Exchange::WritePolicy(done) => {
                    // Writes may already complete there.
                    if has_effect && known != Some(*done) {
                        what_if.write_done = Some(*done);
                    }
                    named.push(format!("writes done {done:?}").to_lowercase());
                }
            }
        }
        let name = match named.is_empty() {
            true => system.name.clone(),
            false => format!("{} with {}", system.name, named.join(", ")),
        };
        Ok(Self { system, what_if, memory_bytes, lender, without_effect, name })
    }

    /// Predicts a workload under the changed system's name.
    ///
    /// # Errors
    /// An exchange that the evaluations do not cover.
    pub fn predict(
        &self,
        name: Option<&str>,
        workload: &Workload,
    ) -> Result<Prediction, NotPredicted<'_>> {
        if self.what_if.is_nothing() {
            let predicted = self.system.predict(name, workload)?;
            return Ok(Prediction { system: self.name.clone(), ..predicted });
        }
        let predicted = with_pauses(workload, self.base().think_time_ns, |one| {
            self.system.check(name, one)?;
            self.exchanged(one)
                .and_then(|told| self.check_lender().map(|()| told))
                .map_err(|error| self.refused(&error, name, one))
        })?;
        Ok(Prediction { name: name.map(str::to_owned), system: self.name.clone(), ..predicted })
    }

    /// Predicts a workload that pauses as evaluated. Where no evaluated set filled the memory, only
    /// the control group shows what other memory or storage would change.
    fn exchanged(&self, workload: &Workload) -> Result<Prediction, WhatIfError> {
        let (model, what_if) = (&self.system.model, &self.what_if);
        let told = predict_what_if(model, what_if, workload);
        let Some(unfilled) = &self.system.unfilled else { return told };
        let is_held = workload.unique_bytes <= unfilled.memory_with(what_if);
        let told = match told {
            Ok(told) if is_held => return Ok(told),
            Ok(_) => Err(WhatIfError::NoCache(model.target().to_owned())),
            Err(WhatIfError::NoCache(_)) if what_if.leaves_held(workload) => {
                return Ok(predict(model, workload)?);
            }
            Err(error) => Err(error),
        };
        unfilled.predict(what_if, workload).unwrap_or(told)
    }

    /// The first `wanted` of some random workloads that can be predicted, with a warning about the
    /// others.
    ///
    /// # Errors
    /// None can be predicted: those of [`Self::predict`].
    pub fn known(
        &self,
        random: Vec<Workload>,
        wanted: usize,
    ) -> Result<(Vec<Workload>, Option<Warning>), NotPredicted<'_>> {
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        for workload in random {
            if known.len() == wanted {
                break;
            }
            match self.predict(None, &workload) {
                Ok(_) => known.push(workload),
                Err(not) => unknown.push(not),
            }
        }
        let (drawn, left_out) = (known.len() + unknown.len(), unknown.len());
        let Some(last) = unknown.pop() else { return Ok((known, None)) };
        if known.is_empty() {
            return Err(last);
        }
        let message = format!(
            "{left_out} of {drawn} random workloads were not measured, since nothing is known of them: {}",
            last.why
        );
        Ok((known, Some(Warning::new(WarningKind::Unsupported, message))))
    }

    /// Predicts a traced application with the five parameters of `workload`.
    ///
    /// # Errors
    /// Those of [`Self::predict`]; no model of levels fits the evaluation.
    pub fn predict_application(
        &self,
        name: &str,
        workload: &Workload,
        pattern: &AccessPattern,
    ) -> Result<Prediction, NotPredicted<'_>> {
        // Where memory is exchanged, the levels decide whether they know a cache of its size.
        let is_same = self.what_if.memory_bytes.is_none_or(|[own, other]| own == other);
        let own_bytes = pattern.memory_bytes.unwrap_or(0);
        if let Some(unfilled) = self.system.outgrown(workload, own_bytes).filter(|_| is_same) {
            return Err(self.system.never_outgrown(unfilled, name, (workload, own_bytes)));
        }
        let (model, memory) = (&self.system.model, self.system.memory_bytes());
        let predicted = predict_application(model, &self.what_if, memory, workload, pattern)
            .and_then(|told| self.check_lender().map(|()| told))
            .map_err(|error| self.refused(&error, Some(name), workload))?;
        let extrapolated = predicted.extrapolated || self.lack_of_memory(name, pattern).is_some();
        let (name, system) = (Some(name.to_owned()), self.name.clone());
        Ok(Prediction { name, system, extrapolated, ..predicted })
    }

    /// The doubt about an application called `name` whose own memory was at least as large as the
    /// system's.
    pub(super) fn lack_of_memory(&self, name: &str, pattern: &AccessPattern) -> Option<Warning> {
        let all = self.memory_bytes.or_else(|| self.system.memory_bytes())?;
        let own = pattern.memory_bytes.filter(|own| *own >= all)?;
        let [own, all] = [own, all].map(|bytes| Bytes(bytes as f64));
        let message = format!(
            "{name} had {own} of memory or more for itself when it was recorded, and there is {all}: it would be swapped out or killed, or work otherwise, and the prediction is a guess"
        );
        Some(Warning::new(WarningKind::Extrapolated, message).at(self.name.clone()))
    }

    /// The doubt about an application where the sizes of its requests make it extrapolated.
    pub(super) fn doubt_of_sizes(
        &self,
        named: (&str, &Workload),
        pattern: &AccessPattern,
    ) -> Option<Warning> {
        let doubt = doubt_of_sizes(&self.system.model, &self.what_if, named, pattern)?;
        Some(doubt.at(self.name.clone()))
    }

    /// How long a synchronous write waits for its storage, in seconds; `None` if none was measured.
    pub(super) fn synchronous_s(&self) -> Option<f64> {
        self.storage().synchronous_s
    }

    /// How many times as slow, and as fast, as predicted an application that called `fsync` `syncs`
    /// times may be if each call may wait for `wait_s` seconds.
    pub(super) fn by_syncs(&self, pattern: &AccessPattern, syncs: u64, wait_s: f64) -> [f64; 2] {
        let (model, memory) = (&self.system.model, self.system.memory_bytes());
        by_syncs(model, &self.what_if, memory, (pattern, syncs, wait_s))
    }

    /// The command that measures how long synchronous writes wait for its storage.
    pub(super) fn measuring_syncs(&self) -> String {
        format!(
            "ioscape evaluate {} --access {},dsync",
            self.storage().evaluation.target,
            self.base().access
        )
    }

    /// The system that stores its data.
    fn storage(&self) -> &System {
        self.lender.as_deref().unwrap_or(self.system)
    }

    /// The doubt about an application called `name` that was counted in other pages than those of
    /// the file cache here.
    pub(super) fn doubt_of_pages(&self, name: &str, pattern: &AccessPattern) -> Option<Warning> {
        let here = self.system.document.environment.page_bytes.filter(|_| self.has_file_cache())?;
        let counted = Some(pattern.page_bytes()).filter(|counted| *counted != here)?;
        let [counted, here] = [counted, here].map(|bytes| Bytes(bytes as f64));
        let message = format!(
            "{name} was counted in pages of {counted}, and this file cache holds pages of {here}: small files and scattered requests take another part of it than predicted; run `ioscape characterize` where pages have {here}"
        );
        Some(Warning::new(WarningKind::Extrapolated, message).at(self.name.clone()))
    }

    /// Whether requests go through a file cache.
    pub(super) fn has_file_cache(&self) -> bool {
        let is_cached = self.base().access.reads_cached();
        is_cached && self.system.evaluation.has_file_cache(BorderOperation::Read)
    }

    /// The doubt about requests called `name` that had passed a file cache already.
    pub(super) fn second_cache(&self, name: &str) -> Warning {
        let message = match self.base().access {
            Access::Dsync => format!(
                "the reads of {name} are assumed to have reached a device, but those of this evaluation go through the file cache, which may hold them"
            ),
            _ => format!(
                "the requests of {name} are assumed to have reached a device, but this evaluation goes through the file cache, which may hold them and gathers writes: to predict what the device does, measure it with `ioscape evaluate {} --direct`",
                self.system.evaluation.target
            ),
        };
        Warning::new(WarningKind::Extrapolated, message).at(self.name.clone())
    }

    /// Its name: that of the evaluated system, with the exchanges.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The exchanges, as the models take them.
    pub fn what_if(&self) -> &WhatIf {
        &self.what_if
    }

    /// The environment of the evaluation with the changes of the exchanges: the memory limit, and
    /// the file system and the device of the lender.
    pub fn environment(&self) -> Environment {
        let mut expected = self.system.document.environment.clone();
        if let Some(bytes) = self.memory_bytes {
            // Whether a limit or the machine is to have that size is not said.
            (expected.memory_limit_bytes, expected.memory_bytes) = (Some(bytes), None);
        }
        if let Some(lender) = &self.lender {
            let there = &lender.document.environment;
            expected.file_system.clone_from(&there.file_system);
            expected.device.clone_from(&there.device);
            expected.device_model.clone_from(&there.device_model);
            expected.identity.clone_from(&there.identity);
        }
        expected
    }

    /// What the simulated solid-state drive on which it stores its data held at first, if requested.
    pub fn precondition(&self) -> Option<Filled> {
        self.storage().evaluation.precondition
    }

    /// A workload with the access, engine and other settings for which the evaluation holds.
    pub fn base(&self) -> &Workload {
        self.system.model.base()
    }

    /// The doubts about its predictions, beyond those about the [evaluated system](System::doubts).
    pub fn doubts(&self) -> Vec<Warning> {
        let idle = self.without_effect.iter();
        let idle = idle.map(|why| Warning::new(WarningKind::Unsupported, why.as_str()));
        let behind = doubts_of_memory(&self.system.model, &self.what_if);
        let own = idle.chain(behind).map(|doubt| doubt.at(self.system.name.clone()));
        let lent = self.lender.as_deref().into_iter().flat_map(|one| {
            let own = one.interruption().into_iter().chain(one.told_of_storage());
            own.chain(one.traps()).map(|doubt| doubt.at(&*one.name))
        });
        own.chain(lent).collect()
    }

    /// Refuses the storage of a system whose memory no evaluated set filled, not even in a control
    /// group: its reads came from memory, even if writes met a limit of dirty pages.
    fn check_lender(&self) -> Result<(), WhatIfError> {
        let lender = self.lender.as_deref().filter(|_| self.what_if.storage.is_some());
        match lender.filter(|lender| lender.of_storage().is_none()) {
            Some(lender) => Err(WhatIfError::NoStorage(lender.evaluation.target.clone())),
            None => Ok(()),
        }
    }

    /// Why `workload`, which may have a `name`, is not predicted, and what would have to be measured.
    fn refused(
        &self,
        error: &WhatIfError,
        name: Option<&str>,
        workload: &Workload,
    ) -> NotPredicted<'_> {
        let why = match name {
            Some(name) => format!("{name} is not predicted: {error}"),
            None => error.to_string(),
        };
        let system = self.short_of(error, workload);
        let file_system = system.document.environment.file_system.as_deref();
        let file_system = file_system.filter(|_| self.needs_storage(error));
        if let Some(name @ ("tmpfs" | "ramfs")) = file_system {
            let why =
                format!("{why}: the files of {name} are in memory, with no storage behind it");
            return NotPredicted { why, missing: None };
        }
        // Sets that outgrew memory did not make writes wait, so larger ones would not either.
        let mut ends = system.evaluation.of_storage(BorderOperation::Read);
        let is_in_vain = match error {
            WhatIfError::NoOwnWrites(_) | WhatIfError::AlwaysThrough(_) => true,
            WhatIfError::NoWrites(_) => ends.next().is_some(),
            WhatIfError::Through { .. } => {
                let is_mapped = system.model.base().engine == Engine::Mmap;
                is_mapped || system.accesses().contains(&Access::Dsync)
            }
            _ => false,
        };
        let missing = (!is_in_vain).then(|| Box::new(self.missing(system, error, workload)));
        NotPredicted { why, missing }
    }

    /// The system whose evaluation falls short: both may have the same target, such as /mnt/data of
    /// two machines.
    fn short_of(&self, error: &WhatIfError, workload: &Workload) -> &System {
        let is_lender = match error {
            WhatIfError::Beyond { is_lender, .. } => *is_lender,
            WhatIfError::NoStorage(_) => true,
            WhatIfError::OtherKind(_) => self.system.model.knows(workload).is_ok(),
            _ => false,
        };
        self.lender.as_deref().filter(|_| is_lender).unwrap_or(self.system)
    }

    /// Whether sets that outgrow memory would tell. Where a control group was evaluated, it was
    /// asked last.
    fn needs_storage(&self, error: &WhatIfError) -> bool {
        let group = self.system.unfilled.as_ref().and_then(Unfilled::group_model);
        match error {
            WhatIfError::NoCache(_)
            | WhatIfError::NoWrites(_)
            | WhatIfError::NoStorage(_)
            | WhatIfError::NoOwnStorage(_) => true,
            WhatIfError::Beyond { is_lender: false, .. } => group.is_some(),
            _ => false,
        }
    }

    /// What must be measured of `system` before `workload` can be predicted.
    fn missing<'b>(
        &self,
        system: &'b System,
        error: &WhatIfError,
        workload: &Workload,
    ) -> Missing<'b> {
        let beyond = match error {
            WhatIfError::Beyond { parameter, value, .. } => Some((*parameter, *value)),
            _ => None,
        };
        let set = beyond.filter(|(parameter, _)| *parameter == Parameter::UniqueBytes);
        let needs_storage = self.needs_storage(error);
        let max_unique_bytes = match needs_storage {
            true => system.memory_bytes().map(|memory| memory.saturating_mul(PAST_MEMORY)),
            false => set.map(|(_, bytes)| whole_mebibytes(bytes)),
        };
        let is_told_in_less =
            needs_storage && set.is_none() && system.model.base().access.reads_cached();
        Missing {
            system,
            workload: match error {
                WhatIfError::OtherKind(_) => workload.clone(),
                WhatIfError::Through { .. } => Workload {
                    access: Access::Dsync,
                    direct_above_bytes: None,
                    ..system.model.base().clone()
                },
                _ => system.model.base().clone(),
            },
            max_unique_bytes,
            in_less_memory: is_told_in_less.then_some(workload.size_mean),
            beyond: beyond.filter(|beyond| !system.varies_to(*beyond)),
        }
    }
}

/// When a write was done on an evaluated system, if it says so.
fn write_done(system: &System) -> Option<WriteDone> {
    match system.evaluation.findings.write_policy? {
        WritePolicy::WriteThrough => Some(WriteDone::Through),
        WritePolicy::WriteCancelling => Some(WriteDone::Back),
        WritePolicy::Mixed | WritePolicy::NotCached => None,
    }
}

/// Rounds up to a multiple of a mebibyte.
fn whole_mebibytes(bytes: f64) -> u64 {
    ((bytes / f64::from(1 << 20)).ceil().max(1.0) as u64) << 20
}

#[cfg(test)]
#[path = "changed_tests.rs"]
mod tests;
