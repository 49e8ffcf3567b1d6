//! The configurations to simulate: every combination of the options and sweeps, without duplicates
//! or options that have no effect.

mod choice;

pub use choice::{
    CacheChoice, Sweep, arrivals, cache, destage, freeing, precondition, scheduler, sweep, switch,
};

use crate::array::{Array, Level};
use crate::cache::{Destage, Freeing};
use crate::{Arrivals, Configuration, DiskOptions, Drive, Scheduler, WriteCache};

/// Most combinations.
const CELLS_MOST: usize = 4096;

/// The options chosen for a simulation; an option that is absent takes the drive's default or the
/// first value in its list of names.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// Write cache at the disk.
    pub cache: Option<CacheChoice>,
    /// Order in which a non-volatile cache is destaged.
    pub destage: Option<Destage>,
    /// When the space of a write in a non-volatile cache is freed.
    pub freeing: Option<Freeing>,
    /// Host scheduler.
    pub scheduler: Option<Scheduler>,
    /// Whether the disk reads ahead.
    pub read_ahead: Option<bool>,
    /// Commands that a disk accepts at once.
    pub queue_depth: Option<u32>,
    /// The array that stands for every device.
    pub array: Option<Array>,
    /// When requests arrive.
    pub arrivals: Arrivals,
    /// Whether all disks share one bus.
    pub shared_bus: bool,
    /// The options to vary.
    pub sweeps: Vec<Sweep>,
}

/// The values of every option that can be varied.
struct Values {
    caches: Vec<CacheChoice>,
    destages: Vec<Destage>,
    schedulers: Vec<Scheduler>,
    read_ahead: Vec<bool>,
    arrays: Vec<Array>,
}

/// All combinations of the swept values, in the order of the values.
///
/// # Errors
/// Choices contradict each other or have no effect, or there are too many combinations.
pub fn combinations(chosen: &Choices, drive: &Drive) -> Result<Vec<Configuration>, String> {
    let values = values(chosen, drive)?;
    check_caches(chosen, &values, drive)?;
    check_closed(chosen, &values)?;
    let freeing = chosen.freeing.unwrap_or_default();
    let queue_depth = chosen.queue_depth.unwrap_or(drive.queue_depth);
    let of_all = Configuration {
        arrivals: chosen.arrivals,
        shared_bus: chosen.shared_bus,
        ..Configuration::default()
    };
    let mut all: Vec<Configuration> = Vec::new();
    for &scheduler in &values.schedulers {
        for &read_ahead in &values.read_ahead {
            for &destage in &values.destages {
                for &cache in &values.caches {
                    let cache = write_cache(cache, destage, freeing, drive);
                    let disk = DiskOptions { read_ahead, cache, queue_depth };
                    for &array in &values.arrays {
                        let options = Configuration { disk, scheduler, array, ..of_all };
                        // Without a non-volatile cache, combinations that differ only in destaging
                        // are equal.
                        if !all.contains(&options) {
                            all.push(options);
                        }
                    }
                }
            }
        }
    }
    if all.len() > CELLS_MOST {
        return Err(format!("{} combinations: at most {CELLS_MOST}", all.len()));
    }
    Ok(all)
}

fn write_cache(
    cache: CacheChoice,
    destage: Destage,
    freeing: Freeing,
    drive: &Drive,
) -> WriteCache {
    match cache {
        CacheChoice::None => WriteCache::None,
        CacheChoice::Immediate => WriteCache::Immediate,
        CacheChoice::Volatile(bytes) => {
            WriteCache::Volatile { bytes: bytes.unwrap_or(drive.buffer.bytes) }
        }
        CacheChoice::Nvram(bytes) => WriteCache::Nvram { bytes, destage, freeing },
    }
}

fn values(chosen: &Choices, drive: &Drive) -> Result<Values, String> {
    let mut caches = chosen.cache.map(|cache| vec![cache]);
    let mut destages = chosen.destage.map(|destage| vec![destage]);
    let mut schedulers = chosen.scheduler.map(|scheduler| vec![scheduler]);
    let mut read_ahead = chosen.read_ahead.map(|ahead| vec![ahead]);
    let mut arrays = chosen.array.map(|array| vec![array]);
    for sweep in &chosen.sweeps {
        match sweep {
            Sweep::Cache(values) => vary("cache", &mut caches, values)?,
            Sweep::Destage(values) => vary("destage", &mut destages, values)?,
            Sweep::Scheduler(values) => vary("scheduler", &mut schedulers, values)?,
            Sweep::ReadAhead(values) => vary("read-ahead", &mut read_ahead, values)?,
            Sweep::Array(values) => vary("array", &mut arrays, values)?,
        }
    }
    let usual = drive.buffer.usual();
    let usual_cache = match usual.cache {
        WriteCache::Immediate => CacheChoice::Immediate,
        WriteCache::Volatile { bytes } => CacheChoice::Volatile(Some(bytes)),
        WriteCache::None | WriteCache::Nvram { .. } => CacheChoice::None,
    };
    Ok(Values {
        caches: caches.unwrap_or_else(|| vec![usual_cache]),
        destages: destages.unwrap_or_else(|| vec![Destage::Fcfs]),
        schedulers: schedulers.unwrap_or_else(|| vec![Scheduler::CScan]),
        read_ahead: read_ahead.unwrap_or_else(|| vec![usual.read_ahead]),
        arrays: arrays.unwrap_or_else(|| vec![Array::default()]),
    })
}

/// The combinations for solid-state drives, which differ only in their arrays.
///
/// # Errors
/// Arrays are given twice.
pub fn of_flash(chosen: &Choices) -> Result<Vec<Configuration>, String> {
    let mut arrays = chosen.array.map(|array| vec![array]);
    for sweep in &chosen.sweeps {
        if let Sweep::Array(values) = sweep {
            vary("array", &mut arrays, values)?;
        }
    }
    let mut all: Vec<Configuration> = Vec::new();
    for array in arrays.unwrap_or_else(|| vec![Array::default()]) {
        let options =
            Configuration { arrivals: chosen.arrivals, array, ..Configuration::default() };
        if !all.contains(&options) {
            all.push(options);
        }
    }
    Ok(all)
}

/// The options of one drive in a combination: options that were not chosen follow the drive's own
/// file.
pub fn as_chosen(chosen: &Choices, combination: DiskOptions, drive: &Drive) -> DiskOptions {
    let varies = |is: fn(&Sweep) -> bool| chosen.sweeps.iter().any(is);
    let usual = drive.usual();
    DiskOptions {
        read_ahead: match chosen.read_ahead.is_some()
            || varies(|s| matches!(s, Sweep::ReadAhead(_)))
        {
            true => combination.read_ahead,
            false => usual.read_ahead,
        },
        cache: match chosen.cache.is_some() || varies(|s| matches!(s, Sweep::Cache(_))) {
            true => of_own_size(chosen, combination.cache, drive),
            false => usual.cache,
        },
        queue_depth: chosen.queue_depth.unwrap_or(usual.queue_depth),
    }
}

/// Sizes a volatile cache without a given size to this drive's buffer, not to that of the drive
/// from which the combination was made.
fn of_own_size(chosen: &Choices, cache: WriteCache, drive: &Drive) -> WriteCache {
    let swept = chosen.sweeps.iter().filter_map(|sweep| match sweep {
        Sweep::Cache(values) => Some(values.as_slice()),
        _ => None,
    });
    let mut given = swept.flatten().chain(&chosen.cache);
    match cache {
        WriteCache::Volatile { bytes }
            if !given.any(|one| *one == CacheChoice::Volatile(Some(bytes))) =>
        {
            WriteCache::Volatile { bytes: drive.buffer.bytes }
        }
        _ => cache,
    }
}

/// Takes the values of a sweep; rejects an option that already has values.
fn vary<T: Clone>(key: &str, place: &mut Option<Vec<T>>, values: &[T]) -> Result<(), String> {
    if place.replace(values.to_vec()).is_some() {
        return Err(format!("{key} is given twice: give either --{key} or one --sweep {key}=..."));
    }
    Ok(())
}

/// Rejects options for a cache that no combination has, and caches that do not fit the drive.
fn check_caches(chosen: &Choices, values: &Values, drive: &Drive) -> Result<(), String> {
    let has_nvram = values.caches.iter().any(|cache| matches!(cache, CacheChoice::Nvram(_)));
    let swept = chosen.sweeps.iter().any(|sweep| matches!(sweep, Sweep::Destage(_)));
    let idle = [
        ("--destage", chosen.destage.is_some()),
        ("--freeing", chosen.freeing.is_some()),
        ("--sweep destage=...", swept),
    ];
    if let Some((name, _)) = idle.iter().find(|(_, given)| *given && !has_nvram) {
        return Err(format!(
            "{name} is for non-volatile caches, and no combination has one: add --cache nvram:SIZE"
        ));
    }
    let sector = u64::from(drive.sector_bytes);
    for cache in &values.caches {
        match *cache {
            CacheChoice::Nvram(bytes) | CacheChoice::Volatile(Some(bytes)) if bytes < sector => {
                return Err(format!(
                    "a cache of {bytes} bytes holds no sector of {}: its sectors have {sector} bytes",
                    drive.name
                ));
            }
            CacheChoice::Volatile(None) if drive.buffer.bytes == 0 => {
                return Err(format!("{} has no buffer: give --cache volatile:SIZE", drive.name));
            }
            CacheChoice::Immediate if drive.buffer.bytes == 0 => {
                return Err(format!(
                    "immediate reporting needs a buffer, and {} has none",
                    drive.name
                ));
            }
            _ => {}
        }
    }
    if drive.buffer.bytes == 0 && values.read_ahead.contains(&true) {
        return Err(format!("reading ahead needs a buffer, and {} has none", drive.name));
    }
    Ok(())
}

/// Rejects schedulers that never have a choice: in a closed system every device has one request at
/// a time, unless an array splits it.
fn check_closed(chosen: &Choices, values: &Values) -> Result<(), String> {
    let is_alone = values.arrays.iter().all(|array| array.level == Level::Single);
    if chosen.arrivals != Arrivals::Closed || !is_alone {
        return Ok(());
    }
    let reorders = |orders: &[Scheduler]| orders.iter().any(|order| *order != Scheduler::Fcfs);
    let swept = |sweep: &Sweep| matches!(sweep, Sweep::Scheduler(orders) if reorders(orders));
    let idle = [
        ("--scheduler", reorders(chosen.scheduler.as_slice())),
        ("--sweep scheduler=...", chosen.sweeps.iter().any(swept)),
        ("--queue-depth", chosen.queue_depth.is_some_and(|depth| depth > 1)),
    ];
    match idle.iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(format!(
            "{name}: with --arrivals closed a disk has one request at a time, and none to choose from: leave it out, or add --array"
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_refused_where_a_closed_system_leaves_nothing_to_choose() {
        let drive = crate::testing::simple();
        let closed = Choices { arrivals: Arrivals::Closed, ..Choices::default() };
        let is_taken = |choices: Choices| combinations(&choices, &drive).is_ok();
        let (fcfs, satf) = (Some(Scheduler::Fcfs), Some(Scheduler::Satf));
        let sweeps = vec![Sweep::Scheduler(vec![Scheduler::Fcfs, Scheduler::Satf])];
        for (choices, name) in [
            (Choices { scheduler: satf, ..closed.clone() }, "--scheduler"),
            (Choices { sweeps, ..closed.clone() }, "--sweep scheduler=..."),
            (Choices { queue_depth: Some(8), ..closed.clone() }, "--queue-depth"),
        ] {
            let refused = combinations(&choices, &drive).unwrap_err();
            assert!(refused.starts_with(&format!("{name}: with --arrivals closed")), "{refused}");
            let array = Array::parse("raid0:2").ok();
            assert!(is_taken(Choices { array, ..choices.clone() }));
            assert!(is_taken(Choices { arrivals: Arrivals::Queued, ..choices }));
        }
        assert!(is_taken(Choices { scheduler: fcfs, ..closed.clone() }));
        assert!(is_taken(Choices { queue_depth: Some(1), ..closed }));
    }

    #[test]
    fn arrays_of_solid_state_drives_are_given_once_and_simulated_once() {
        let array = |text: &str| Array::parse(text).unwrap();
        let sweep = |texts: &[&str]| Sweep::Array(texts.iter().map(|text| array(text)).collect());
        let of = |array, sweeps| of_flash(&Choices { array, sweeps, ..Choices::default() });
        let (one, twice) = (sweep(&["none", "raid5:3"]), sweep(&["raid0:2", "raid0:2"]));
        assert_eq!(of(None, Vec::new()).unwrap().len(), 1);
        assert_eq!(of(None, vec![one.clone()]).unwrap()[1].array, array("raid5:3"));
        assert_eq!(of(None, vec![twice.clone()]).unwrap().len(), 1);
        for (array, sweeps) in
            [(Some(array("raid0:2")), vec![one.clone()]), (None, vec![one, twice])]
        {
            assert!(of(array, sweeps).unwrap_err().starts_with("array is given twice"));
        }
    }
}
