//! Parameter files of whole systems.

use crate::Error;
use serde::Deserialize;
use std::collections::BTreeMap;

/// What the file cache does with writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WritePolicy {
    /// Every write goes on at once, and its process waits.
    Through,
    /// Writes stay in memory until they are flushed.
    Back,
}

/// The file cache.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheParameters {
    /// Bytes it may take.
    pub bytes: u64,
    /// Bytes of it that may be dirty; absent: all.
    #[serde(default)]
    pub dirty_bytes: Option<u64>,
    /// What it does with writes.
    pub writes: WritePolicy,
    /// Seconds between flushes of all that is dirty; absent: never.
    #[serde(default)]
    pub flush_interval_s: Option<f64>,
    /// Whether a block that is being flushed may not be changed until it is on the disk.
    #[serde(default)]
    pub lock_while_flushing: bool,
    /// Bytes read beyond a sequential read that misses.
    #[serde(default)]
    pub read_ahead_bytes: u64,
    /// Whether flushes are written one after the other at the end of a log, wherever the blocks belong.
    #[serde(default)]
    pub log_structured: bool,
}

/// The processor and its memory.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessorParameters {
    /// Time of a call, in milliseconds.
    pub call_ms: f64,
    /// Bytes copied a second between cache and process.
    pub copy_bytes_per_s: f64,
}

/// The wire to a server.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WireParameters {
    /// Bytes a second.
    pub bytes_per_s: f64,
    /// Time of a message and its answer, in milliseconds.
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
    /// What it is called in the world.
    pub title: String,
    /// Drive by name; the server's, if there is one.
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
    /// Smallest and largest set that is tried, in bytes.
    pub unique_bytes: [u64; 2],
    /// Where each group of numbers comes from.
    pub sources: BTreeMap<String, String>,
}

impl SystemParameters {
    /// Reads a parameter file; `name` is the file's, for errors.
    ///
    /// # Errors
    /// A key that is unknown, missing, or whose value cannot be.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        let parsed: Self = toml::from_str(text)
            .map_err(|e| Error::parameter(name, e.to_string().trim().replace('\n', "; ")))?;
        parsed.check().map_err(|why| Error::parameter(name, why))?;
        Ok(parsed)
    }

    fn check(&self) -> Result<(), String> {
        let processors = [Some(self.processor), self.server_processor];
        for processor in processors.into_iter().flatten() {
            if !(0.0..1000.0).contains(&processor.call_ms) {
                return Err(format!("call_ms: {} is no time of a call", processor.call_ms));
            }
            if !(1e5..1e13).contains(&processor.copy_bytes_per_s) {
                return Err(format!("copy_bytes_per_s: {} is no rate", processor.copy_bytes_per_s));
            }
        }
        if let Some(wire) = self.wire {
            if !(1e3..1e13).contains(&wire.bytes_per_s) || wire.message_bytes < 512 {
                return Err(
                    "wire: a rate of at least 1000 bytes/s and messages of 512 bytes are needed"
                        .into(),
                );
            }
            if self.server_cache.is_none() || self.server_processor.is_none() {
                return Err("a system with a wire needs server_cache and server_processor".into());
            }
        }
        let intervals = [Some(&self.cache), self.server_cache.as_ref()];
        for interval in intervals.into_iter().flatten().filter_map(|c| c.flush_interval_s) {
            if !(0.1..1e6).contains(&interval) {
                return Err(format!("flush_interval_s: {interval} is not between 0.1 and 1e6"));
            }
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

/// Names and files of the systems that come with the program.
pub const SHIPPED: &[(&str, &str)] = &[
    ("sparcstation-1", include_str!("../../../../systems/sparcstation-1.toml")),
    ("decstation-5000-sprite", include_str!("../../../../systems/decstation-5000-sprite.toml")),
    ("decstation-5000-ultrix", include_str!("../../../../systems/decstation-5000-ultrix.toml")),
    ("hp-730", include_str!("../../../../systems/hp-730.toml")),
    ("hp-730-no-flush", include_str!("../../../../systems/hp-730-no-flush.toml")),
    ("sparc-nfs", include_str!("../../../../systems/sparc-nfs.toml")),
    ("hp-dux", include_str!("../../../../systems/hp-dux.toml")),
];

/// A shipped system.
pub fn find(name: &str) -> Option<SystemParameters> {
    let (name, text) = SHIPPED.iter().find(|(known, _)| *known == name)?;
    SystemParameters::parse(text, name).ok()
}
