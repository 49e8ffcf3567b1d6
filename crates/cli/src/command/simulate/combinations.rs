//! What is simulated: every combination of the options and of what `--sweep` varies, and none that says nothing.

use crate::args::{CacheChoice, SimulateArgs, Sweep};
use crate::failure::Failure;
use ioscape_simulate::cache::{Destage, Freeing};
use ioscape_simulate::{DiskOptions, Drive, Options, Scheduler, WriteCache};

/// Most combinations.
const CELLS_MOST: usize = 4096;

/// The values of every option that can be varied.
struct Values {
    caches: Vec<CacheChoice>,
    destages: Vec<Destage>,
    schedulers: Vec<Scheduler>,
    read_ahead: Vec<bool>,
}

/// All combinations of what is swept, in the order of the values.
///
/// # Errors
/// Options that contradict each other or have nothing to act upon, and more combinations than are simulated.
pub fn combinations(args: &SimulateArgs, drive: &Drive) -> Result<Vec<Options>, Failure> {
    let values = values(args, drive)?;
    check_caches(args, &values, drive)?;
    let freeing = args.freeing.unwrap_or_default();
    let mut all: Vec<Options> = Vec::new();
    for &scheduler in &values.schedulers {
        for &read_ahead in &values.read_ahead {
            for &destage in &values.destages {
                for &cache in &values.caches {
                    let cache = write_cache(cache, destage, freeing);
                    let disk = DiskOptions { read_ahead, cache };
                    let (arrivals, shared_bus) = (args.arrivals, args.shared_bus);
                    let options = Options { disk, scheduler, arrivals, shared_bus };
                    // Without a non-volatile cache the order of destaging makes no difference.
                    if !all.contains(&options) {
                        all.push(options);
                    }
                }
            }
        }
    }
    if all.len() > CELLS_MOST {
        return Err(Failure::Misuse(format!("{} combinations: at most {CELLS_MOST}", all.len())));
    }
    Ok(all)
}

fn write_cache(cache: CacheChoice, destage: Destage, freeing: Freeing) -> WriteCache {
    match cache {
        CacheChoice::None => WriteCache::None,
        CacheChoice::Immediate => WriteCache::Immediate,
        CacheChoice::Nvram(bytes) => WriteCache::Nvram { bytes, destage, freeing },
    }
}

fn values(args: &SimulateArgs, drive: &Drive) -> Result<Values, Failure> {
    let mut caches = args.cache.map(|cache| vec![cache]);
    let mut destages = args.destage.map(|destage| vec![destage]);
    let mut schedulers = args.scheduler.map(|scheduler| vec![scheduler]);
    let mut read_ahead = args.read_ahead.map(|ahead| vec![ahead]);
    for sweep in &args.sweep {
        match sweep {
            Sweep::Cache(values) => vary("cache", &mut caches, values)?,
            Sweep::Destage(values) => vary("destage", &mut destages, values)?,
            Sweep::Scheduler(values) => vary("scheduler", &mut schedulers, values)?,
            Sweep::ReadAhead(values) => vary("read-ahead", &mut read_ahead, values)?,
        }
    }
    let usual = drive.buffer.usual();
    let usual_cache = match usual.cache {
        WriteCache::Immediate => CacheChoice::Immediate,
        WriteCache::None | WriteCache::Nvram { .. } => CacheChoice::None,
    };
    Ok(Values {
        caches: caches.unwrap_or_else(|| vec![usual_cache]),
        destages: destages.unwrap_or_else(|| vec![Destage::Fcfs]),
        schedulers: schedulers.unwrap_or_else(|| vec![Scheduler::CScan]),
        read_ahead: read_ahead.unwrap_or_else(|| vec![usual.read_ahead]),
    })
}

/// Takes the values of a sweep; an option that has a value or values already would lose them.
fn vary<T: Clone>(key: &str, place: &mut Option<Vec<T>>, values: &[T]) -> Result<(), Failure> {
    if place.replace(values.to_vec()).is_some() {
        return Err(Failure::Misuse(format!(
            "{key} is given twice: give either --{key} or one --sweep {key}=..."
        )));
    }
    Ok(())
}

/// Refuses options for a cache that no combination has, and caches that the drive has no room for.
fn check_caches(args: &SimulateArgs, values: &Values, drive: &Drive) -> Result<(), Failure> {
    let has_nvram = values.caches.iter().any(|cache| matches!(cache, CacheChoice::Nvram(_)));
    let swept = args.sweep.iter().any(|sweep| matches!(sweep, Sweep::Destage(_)));
    let idle = [
        ("--destage", args.destage.is_some()),
        ("--freeing", args.freeing.is_some()),
        ("--sweep destage=...", swept),
    ];
    if let Some((name, _)) = idle.iter().find(|(_, given)| *given && !has_nvram) {
        return Err(Failure::Misuse(format!(
            "{name} is for non-volatile caches, and no combination has one: add --cache nvram:SIZE"
        )));
    }
    let sector = u64::from(drive.sector_bytes);
    for cache in &values.caches {
        match *cache {
            CacheChoice::Nvram(bytes) if bytes < sector => {
                return Err(Failure::Misuse(format!(
                    "a cache of {bytes} bytes holds no sector of {}: its sectors have {sector} bytes",
                    drive.name
                )));
            }
            CacheChoice::Immediate if drive.buffer.bytes == 0 => {
                return Err(Failure::Misuse(format!(
                    "immediate reporting needs a buffer, and {} has none",
                    drive.name
                )));
            }
            _ => {}
        }
    }
    if drive.buffer.bytes == 0 && values.read_ahead.contains(&true) {
        return Err(Failure::Misuse(format!(
            "reading ahead needs a buffer, and {} has none",
            drive.name
        )));
    }
    Ok(())
}
