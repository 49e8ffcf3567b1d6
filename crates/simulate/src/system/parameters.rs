//! Parameter files of whole systems.

use crate::Error;
use crate::extent::Extent;
use ioscape_schema::units::Bytes;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Bytes of a block of the file cache.
pub const BLOCK: u64 = 4096;

/// The sectors of a drive that make up a block.
///
/// # Errors
/// A block is not a whole number of sectors.
pub fn block_sectors(drive: Extent<'_>) -> Result<u64, Error> {
    let Extent { name, sector_bytes, .. } = drive;
    if !BLOCK.is_multiple_of(u64::from(sector_bytes)) {
        return Err(Error::Configuration(format!(
            "a system's blocks of {BLOCK} bytes are no whole sectors of {sector_bytes} bytes, those of {name}: choose a drive whose sectors make up a block"
        )));
    }
    Ok(BLOCK / u64::from(sector_bytes))
}

/// What the file cache does with writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WritePolicy {
    /// Every write goes through at once, and its process waits.
    #[default]
    Through,
    /// Writes stay in memory until they are flushed.
    Back,
}

/// The file cache; by default, one without room.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheParameters {
    /// Bytes it may take.
    pub bytes: u64,
    /// Bytes of it that may be dirty; absent: all.
    #[serde(default)]
    pub dirty_bytes: Option<u64>,
    /// Its write policy.
    pub writes: WritePolicy,
    /// Seconds between flushes of all dirty blocks; absent: never.
    #[serde(default)]
    pub flush_interval_s: Option<f64>,
    /// Whether a block that is being flushed may not be changed until it is on the disk.
    #[serde(default)]
    pub lock_while_flushing: bool,
    /// Bytes to read ahead on a sequential read that misses.
    #[serde(default)]
    pub read_ahead_bytes: u64,
    /// Whether dirty blocks are appended to a log instead of written in place.
    #[serde(default)]
    pub log_structured: bool,
}

/// The processor and its memory.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessorParameters {
    /// Time of a call, in milliseconds.
    pub call_ms: f64,
    /// Bytes per second copied between cache and process.
    pub copy_bytes_per_s: f64,
}

/// The wire to a server.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WireParameters {
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Latency of a message and its reply, in milliseconds.
    pub latency_ms: f64,
    /// Most bytes of a message.
    pub message_bytes: u64,
}

/// A system's parameter file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemParameters {
    /// What it is called on the command line.
    pub name: String,
    /// The product's name.
    pub title: String,
    /// Name of the drive; the server's, if there is one.
    pub drive: String,
    /// Processor.
    pub processor: ProcessorParameters,
    /// File cache.
    pub cache: CacheParameters,
    /// Wire to the server, for a client.
    #[serde(default)]
    pub wire: Option<WireParameters>,
    /// The server's processor.
    #[serde(default)]
    pub server_processor: Option<ProcessorParameters>,
    /// The server's file cache.
    #[serde(default)]
    pub server_cache: Option<CacheParameters>,
    /// Smallest and largest set to evaluate, in bytes.
    pub unique_bytes: [u64; 2],
    /// The source of each group of numbers.
    pub sources: BTreeMap<String, String>,
}

/// The processor in front of a bare drive. A call takes one nanosecond: without any processor time,
/// waiting for the processor would not be counted, and a measured drive's times already include a
/// call. Direct requests are not copied.
const BARE_PROCESSOR: ProcessorParameters =
    ProcessorParameters { call_ms: 1e-6, copy_bytes_per_s: 1e10 };
/// Smallest set to evaluate on a bare drive: smaller than the buffers of the papers' drives.
const BARE_LEAST: u64 = 64 << 10;
/// Default largest set to evaluate on a bare drive: the host's block table takes some ten bytes per
/// block.
const BARE_MOST: u64 = 16 << 30;

impl SystemParameters {
    /// A system that is the bare drive `drive` of `bytes`: every request goes to it, as with direct
    /// I/O. `title` is the drive's own title.
    pub fn bare(drive: &str, title: &str, bytes: u64) -> Self {
        let processor =
            "a call of a nanosecond and no copy: requests take the time of the drive".to_owned();
        Self {
            name: drive.to_owned(),
            title: format!("{title} alone, without a file cache"),
            drive: drive.to_owned(),
            processor: BARE_PROCESSOR,
            cache: CacheParameters::default(),
            wire: None,
            server_processor: None,
            server_cache: None,
            unique_bytes: [BARE_LEAST, bytes.min(BARE_MOST) / BLOCK * BLOCK],
            sources: BTreeMap::from([("processor".to_owned(), processor)]),
        }
    }

    /// The bytes of the file cache; `None` if there is none, or if a client and a server each have
    /// one.
    pub fn memory_bytes(&self) -> Option<u64> {
        (self.cache.bytes > 0 && self.server_cache.is_none()).then_some(self.cache.bytes)
    }

    /// Whether the system is a bare drive without a file cache.
    pub fn is_bare(&self) -> bool {
        self.cache.bytes == 0 && self.wire.is_none()
    }

    /// Whether a parameter file describes a system and not a drive: a system names its drive.
    pub fn describes(text: &str) -> bool {
        toml::from_str::<toml::Table>(text)
            .map_or(true, |table| table.contains_key("drive") || table.contains_key("cache"))
    }

    /// Reads a parameter file; `name` is the file's name, for errors.
    ///
    /// # Errors
    /// A key is unknown or missing, or its value is impossible.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        let parsed: Self = Error::or_parsed(name, text)?;
        parsed.check().map_err(|why| Error::parameter(name, why))?;
        Ok(parsed)
    }

    /// Seconds between flushes of all dirty blocks: the longer of its own cache's and its server's
    /// intervals. `None` if neither flushes.
    pub fn flush_interval_s(&self) -> Option<f64> {
        let caches = [Some(&self.cache), self.server_cache.as_ref()].into_iter().flatten();
        caches.filter_map(|cache| cache.flush_interval_s).reduce(f64::max)
    }

    /// The smallest and largest set to evaluate on the drive `drive` of `capacity` bytes; the
    /// largest is `most` bytes, if given, rounded down to 4 KiB.
    ///
    /// # Errors
    /// The largest set is below the smallest, or does not fit the drive.
    pub fn sets_up_to(
        &self,
        most: Option<u64>,
        drive: &str,
        capacity: u64,
    ) -> Result<[u64; 2], Error> {
        let [least, usual] = self.unique_bytes;
        let most = most.unwrap_or(usual) >> 12 << 12;
        if most < least {
            let [most, least] = [most, least].map(|bytes| Bytes(bytes as f64));
            return Err(Error::Configuration(format!(
                "--max-unique-bytes {most}: the smallest set that is tried on {} has {least}",
                self.name
            )));
        }
        match most <= capacity {
            true => Ok([least, most]),
            false => Err(Error::Configuration(format!(
                "sets of up to {most} bytes do not fit the {capacity} bytes of {drive}, the drive of {}: give --max-unique-bytes or correct unique_bytes",
                self.name
            ))),
        }
    }

    fn check(&self) -> Result<(), String> {
        for (key, processor) in
            [("processor", Some(self.processor)), ("server_processor", self.server_processor)]
        {
            processor.map_or(Ok(()), |p| p.check()).map_err(|why| format!("{key}.{why}"))?;
        }
        for (key, cache) in
            [("cache", Some(&self.cache)), ("server_cache", self.server_cache.as_ref())]
        {
            cache.map_or(Ok(()), CacheParameters::check).map_err(|why| format!("{key}.{why}"))?;
        }
        match (&self.wire, &self.server_cache, &self.server_processor) {
            (Some(wire), Some(_), Some(_)) => wire.check().map_err(|why| format!("wire.{why}"))?,
            (None, None, None) => {}
            _ => return Err("a client needs all of wire, server_cache and server_processor".into()),
        }
        let [least, most] = self.unique_bytes;
        if least < 64 << 10 || most < 2 * least || most > 1 << 40 {
            return Err(
                "unique_bytes: from 64 KiB to a size at least twice the first and at most 1 TiB"
                    .into(),
            );
        }
        Ok(())
    }
}

impl ProcessorParameters {
    fn check(&self) -> Result<(), String> {
        if !(0.0..1000.0).contains(&self.call_ms) {
            return Err(format!("call_ms: {} is no time of a call", self.call_ms));
        }
        if !(1e5..1e13).contains(&self.copy_bytes_per_s) {
            return Err(format!("copy_bytes_per_s: {} is no rate", self.copy_bytes_per_s));
        }
        Ok(())
    }
}

impl CacheParameters {
    fn check(&self) -> Result<(), String> {
        let dirty = self.dirty_bytes.unwrap_or(self.bytes);
        let sizes = [
            ("bytes", self.bytes),
            ("dirty_bytes", dirty),
            ("read_ahead_bytes", self.read_ahead_bytes),
        ];
        if let Some((key, bytes)) = sizes.iter().find(|(_, bytes)| !bytes.is_multiple_of(BLOCK)) {
            return Err(format!("{key}: {bytes} bytes are no whole blocks of {BLOCK}"));
        }
        if dirty > self.bytes {
            return Err(format!("dirty_bytes: {dirty} of a cache of {} bytes", self.bytes));
        }
        if let Some(interval) = self.flush_interval_s.filter(|s| !(0.1..1e6).contains(s)) {
            return Err(format!("flush_interval_s: {interval} is not between 0.1 and 1e6"));
        }
        let of_dirty_blocks = [
            ("dirty_bytes", self.dirty_bytes.is_some()),
            ("flush_interval_s", self.flush_interval_s.is_some()),
            ("lock_while_flushing", self.lock_while_flushing),
            ("log_structured", self.log_structured),
        ];
        match of_dirty_blocks.iter().find(|(_, given)| *given) {
            Some((key, _)) if self.writes == WritePolicy::Through => {
                Err(format!("{key}: a cache that writes through has no dirty blocks"))
            }
            _ => Ok(()),
        }
    }
}

impl WireParameters {
    fn check(&self) -> Result<(), String> {
        if !(1e3..1e13).contains(&self.bytes_per_s) {
            return Err(format!("bytes_per_s: {} is not between 1e3 and 1e13", self.bytes_per_s));
        }
        if !(0.0..10_000.0).contains(&self.latency_ms) {
            return Err(format!("latency_ms: {} is not between 0 and 10 s", self.latency_ms));
        }
        if self.message_bytes == 0 || !self.message_bytes.is_multiple_of(BLOCK) {
            return Err(format!(
                "message_bytes: {} bytes are no whole blocks of {BLOCK}",
                self.message_bytes
            ));
        }
        Ok(())
    }
}

/// Names and files of the systems shipped with the program.
pub const SHIPPED: &[(&str, &str)] = &[
    ("sparcstation-1", include_str!("../../systems/sparcstation-1.toml")),
    ("decstation-5000-sprite", include_str!("../../systems/decstation-5000-sprite.toml")),
    ("decstation-5000-ultrix", include_str!("../../systems/decstation-5000-ultrix.toml")),
    ("hp-730", include_str!("../../systems/hp-730.toml")),
    ("hp-730-hpux9", include_str!("../../systems/hp-730-hpux9.toml")),
    ("hp-730-no-flush", include_str!("../../systems/hp-730-no-flush.toml")),
    ("sparc-nfs", include_str!("../../systems/sparc-nfs.toml")),
    ("hp-dux", include_str!("../../systems/hp-dux.toml")),
    ("generic-nvme", include_str!("../../systems/generic-nvme.toml")),
];

/// Finds a shipped system.
pub fn find(name: &str) -> Option<SystemParameters> {
    let (name, text) = SHIPPED.iter().find(|(known, _)| *known == name)?;
    SystemParameters::parse(text, name).ok()
}
