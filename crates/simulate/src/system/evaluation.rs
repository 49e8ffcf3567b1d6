//! The settings with which a simulated system is evaluated: sets, request sizes, processes,
//! accesses, and the cost of a point.

use super::SystemParameters;
use crate::error::Error;
use crate::extent::Extent;
use ioscape_schema::{Access, Engine, Settings, Workload};

/// Most seconds of the budget charged for a point, so that the budget allows as many points as on a
/// real machine.
const COST_S: f64 = 4.0;
/// Fewest points that every budget allows.
const POINTS: f64 = 150.0;
/// Bounds of the request size and of the number of processes.
const SIZE_MEAN: [u64; 2] = [4 << 10, 1 << 20];
const PROCESS_MOST: u32 = 8;

/// The typical cost of a point out of a budget, in seconds.
pub fn typical_cost_s(budget_s: f64) -> f64 {
    COST_S.min(budget_s / POINTS)
}

/// The cost, in seconds, of a point that may take up to `cap_s` seconds.
pub fn cost_s(cap_s: f64) -> f64 {
    COST_S.min(cap_s.max(0.1))
}

impl SystemParameters {
    /// The accesses to evaluate: `usual`, or direct access for a bare drive if none is `asked` for.
    ///
    /// # Errors
    /// `asked` names buffered access for a bare drive.
    pub fn accesses(&self, asked: &[Access], usual: Vec<Access>) -> Result<Vec<Access>, Error> {
        match asked {
            _ if !self.is_bare() => Ok(usual),
            [] => Ok(vec![Access::Direct]),
            _ if !asked.contains(&Access::Buffered) => Ok(usual),
            _ => Err(Error::Configuration(format!(
                "sim:{} is a drive alone, with no file cache: it has access direct and dsync (writes past the drive's cache); give one of these, or name a system",
                self.name
            ))),
        }
    }

    /// The settings of an evaluation on a drive of this extent within `budget_s` seconds, with sets
    /// of up to `most_bytes` and workloads like `base`.
    pub fn settings(
        &self,
        extent: Extent<'_>,
        most_bytes: Option<u64>,
        base: Workload,
        budget_s: f64,
    ) -> Result<Settings, Error> {
        Ok(Settings {
            unique_bytes: self.sets_up_to(most_bytes, extent.name, extent.bytes())?,
            size_mean: SIZE_MEAN,
            process_num: [1, PROCESS_MOST],
            base: Workload { engine: Engine::Sim, ..base },
            budget_s,
            all_parameters: false,
            points_max: None,
            flush_interval_s: self.flush_interval_s(),
            layout_bytes_per_s: None,
            memory_limit_bytes: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_alone_is_evaluated_without_a_file_cache() {
        let bare = SystemParameters::bare("d", "a drive", 1 << 30);
        let buffered = vec![Access::Buffered];
        assert_eq!(bare.accesses(&[], buffered.clone()), Ok(vec![Access::Direct]));
        // Messages about traces with flushes name this one.
        let both = vec![Access::Direct, Access::Dsync];
        assert_eq!(bare.accesses(&both, both.clone()), Ok(both.clone()));
        assert!(bare.accesses(&buffered, buffered.clone()).is_err());
    }

    #[test]
    fn an_evaluation_knows_how_often_a_server_flushes() {
        let mut system = crate::system::find("hp-dux").unwrap();
        system.cache.flush_interval_s = None;
        let (name, blocks) = ("d", 1 << 21);
        let extent = Extent { name, sector_bytes: 512, blocks, discards: false, flushes: true };
        let settings = system.settings(extent, None, Workload::default(), 60.0).unwrap();
        assert_eq!(settings.flush_interval_s, Some(30.0));
        let refused = system.settings(extent, Some(1), Workload::default(), 60.0).unwrap_err();
        assert!(refused.to_string().contains("the smallest set"), "{refused}");
    }

    #[test]
    fn a_short_budget_has_points_enough() {
        assert_eq!((typical_cost_s(15.0), typical_cost_s(6000.0)), (0.1, COST_S));
        assert_eq!((cost_s(0.0), cost_s(1.0), cost_s(60.0)), (0.1, 1.0, COST_S));
    }
}
