//! How far a traced application lies outside what was measured.

use super::application::Application;
use super::exchange::{CacheDoubt, Exchanged};
use super::extrapolation::of_class;
use super::input::ModelInput;
use super::system_model::{Measured, Model};
use super::what_if::{HARDLY_REACHED, WhatIf};
use ioscape_schema::statistics::sort_by_number;
use ioscape_schema::{AccessPattern, Op, Parameter, RequestClass, Warning, Workload};

/// Share of the bytes from which on requests beyond the measured sizes make a prediction an
/// extrapolation.
const OUTSIDE_SHARE: f64 = 0.05;

/// The doubt about the prediction of a traced application where the sizes of its requests make it
/// extrapolated. Of `workload` all but the size counts.
pub(crate) fn doubt_of_sizes(
    model: &Model,
    what_if: &WhatIf,
    (name, workload): (&str, &Workload),
    pattern: &AccessPattern,
) -> Option<Warning> {
    let one = Application { model, pattern, memory_bytes: None, caches: CacheDoubt::None };
    let place = ModelInput::of(workload);
    let here = one.exchanged(what_if).ok()?;
    one.measured(what_if, &here, &place).into_iter().find_map(|(model, region)| {
        let (size, _, range) = one.size_outside(model, &place, region)?;
        Some(of_class(model, name, size, range))
    })
}

impl Application<'_> {
    /// The models whose measurements decide whether it is extrapolated, its own and that of the
    /// lender whose storage it reaches, each with the region whose sets are like its own.
    pub(super) fn measured<'b>(
        &'b self,
        what_if: &'b WhatIf,
        here: &Exchanged<'_>,
        place: &ModelInput,
    ) -> Vec<(&'b Model, usize)> {
        let alike = here.alike(place, self.model.measured_sets());
        let own = (self.model, self.model.region_at(alike.unique_bytes));
        let lender = what_if.storage.as_ref().filter(|_| here.near(place) < HARDLY_REACHED);
        let storage = |one: &'b Model| (one, one.region_at(one.measured_sets()[1].exp()));
        std::iter::once(own).chain(lender.map(storage)).collect()
    }

    /// How far it lies outside what was measured on `model`'s system, its own or the lender's, of
    /// sets like those of `region`. The size of the set does not count, as caches are known.
    pub(super) fn outside(&self, model: &Model, place: &ModelInput, region: usize) -> f64 {
        let all = [Parameter::ReadFrac, Parameter::SeqFrac, Parameter::ProcessNum];
        let off = all.iter().filter_map(|one| model.exceeded(*one, place, region));
        let size = self.size_outside(model, place, region).map(|(_, off, _)| off);
        off.map(|(off, _)| off).chain(size).fold(0.0, f64::max)
    }

    /// The mean size of the class that puts more than a few bytes outside the sizes measured with
    /// its operation, how far it lies outside, and that range. `place` has the other parameters.
    pub(super) fn size_outside(
        &self,
        model: &Model,
        place: &ModelInput,
        region: usize,
    ) -> Option<(f64, f64, Measured)> {
        let off = |class: &RequestClass| {
            let (size_mean, reads) = (class.size_mean().max(1.0), class.op == Op::Read);
            let place = ModelInput { size_mean, read_frac: f64::from(u8::from(reads)), ..*place };
            let (off, range) = model.exceeded(Parameter::SizeMean, &place, region)?;
            Some((class.bytes, (size_mean, off, range)))
        };
        let mut outside: Vec<_> = self.pattern.classes.iter().filter_map(off).collect();
        sort_by_number(&mut outside, |(_, (_, off, _))| -off);
        let (few, mut bytes) = (OUTSIDE_SHARE * self.pattern.bytes() as f64, 0);
        let is_enough = |(of_class, _): &(u64, _)| {
            bytes += of_class;
            bytes as f64 > few
        };
        outside.into_iter().find(is_enough).map(|(_, told)| told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{measurement, region};
    use ioscape_schema::{Evaluation, Point, Region, RegionCurves};

    /// Memory in which requests of 4 KiB to 1 MiB were measured; storage where only 32 and 48 KiB
    /// were.
    fn model() -> Model {
        let region = |index: u32, sizes: &[u64]| {
            let focal = Workload { unique_bytes: 1 << (20 + 10 * index), ..Workload::default() };
            let by = |&size_mean: &u64| {
                let measurement =
                    measurement(&Workload { size_mean, ..focal.clone() }, 1e9, 1.0, 1e9);
                Point { value: size_mean as f64, measurement, rounds: vec![1e9], spread: None }
            };
            let size_mean = sizes.iter().map(by).collect();
            let curves = RegionCurves { size_mean, ..RegionCurves::default() };
            let end = focal.unique_bytes as f64 * 2.0;
            let name = format!("region {}", index + 1);
            Region { name, unique_bytes: [end / 4.0, end], focal, ..region(curves) }
        };
        let regions =
            vec![region(0, &[4 << 10, 32 << 10, 1 << 20]), region(1, &[32 << 10, 48 << 10])];
        Model::product(&Evaluation { regions, ..Evaluation::default() }).unwrap()
    }

    /// Random reads, `[requests, bytes]` of each class.
    fn reads(classes: &[[u64; 2]]) -> AccessPattern {
        let class = |&[requests, bytes]: &[u64; 2]| RequestClass {
            op: Op::Read,
            requests,
            bytes,
            ..RequestClass::default()
        };
        let classes = classes.iter().map(class).collect();
        AccessPattern { classes, ..AccessPattern::default() }
    }

    fn outside(pattern: &AccessPattern, region: usize) -> f64 {
        let model = model();
        let one =
            Application { model: &model, pattern, memory_bytes: None, caches: CacheDoubt::None };
        one.outside(&model, &ModelInput::of(model.base()), region)
    }

    /// Guards against a narrow interval around a guess: memory tells nothing of how storage serves
    /// such sizes.
    #[test]
    fn sizes_measured_in_memory_tell_nothing_of_storage() {
        let pages = reads(&[[1000, 4096 * 1000]]);
        assert_eq!(outside(&pages, 0), 0.0);
        assert!((outside(&pages, 1) - 8f64.ln()).abs() < 1e-9);
        assert_eq!(outside(&reads(&[[1000, 40_000 * 1000]]), 1), 0.0);
    }

    /// Guards against calling pages of 4 KiB unmeasured for a few shorter reads among them.
    #[test]
    fn a_few_smaller_requests_leave_a_class_as_it_is() {
        assert_eq!(outside(&reads(&[[30_055, 123_067_375]]), 0), 0.0);
        assert!(outside(&reads(&[[1000, 2048 * 1000]]), 0) > 0.1);
        let few = [100, 512 * 100];
        assert_eq!(outside(&reads(&[[1000, 4096 * 1000], few]), 0), 0.0);
    }

    /// Guards against a mark without a reason, and one that names the mean of all classes.
    #[test]
    fn the_size_that_was_not_measured_is_named() {
        let (model, pattern) = (model(), reads(&[[1000, 4096 * 1000], [1000, 2048 * 1000]]));
        let one = Application {
            model: &model,
            pattern: &pattern,
            memory_bytes: None,
            caches: CacheDoubt::None,
        };
        let (size, _, range) = one.size_outside(&model, &ModelInput::of(model.base()), 0).unwrap();
        let told = of_class(&model, "db", size, range).message;
        let said =
            "size_mean of requests of db (2 KiB) lies outside what was measured (4 KiB to 1 MiB): ";
        assert!(told.starts_with(said), "{told}");
    }
}
