//! A NAND solid-state drive: channels, dies, a page-mapped translation layer with greedy garbage collection, and a write
//! buffer. This module has its parameter file; [`Ssd`] is the drive in operation.
//!
//! A logical page always lives on the same die (pages are striped over dies by number), so every die collects its own
//! garbage. Reads take precedence over programs and erases, and suspend them if the flash can.

mod act;
mod buffer;
mod dies;
mod divisor;
mod doubts;
mod filling;
mod ftl;
mod limit;
mod line;
mod map;
mod precondition;
mod queue;
mod run;

pub use doubts::{ASSUMED_BUFFER, ASSUMED_SPARE, Doubt, JUDGED_ON};
pub use ftl::{Ftl, Programmed};
pub use ioscape_schema::Filled;
pub use limit::{Limit, Only};
pub use run::Ssd;

use crate::Error;
use crate::drive::{Power, Status};
use crate::extent::Extent;
use crate::seek::nanoseconds;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Size in bytes of the blocks that traces use.
pub const SECTOR_BYTES: u32 = 512;

/// Most physical pages, since they are counted in 32 bits.
const PAGES_MOST: u64 = (1 << 32) - (1 << 16);
/// Most pages of an erase block, since they are counted in 15 bits.
const BLOCK_PAGES_MOST: u32 = (1 << 15) - 1;

/// The flash chips: their arrangement and times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flash {
    /// Channels between controller and dies.
    pub channels: u32,
    /// Dies per channel.
    pub dies_per_channel: u32,
    /// Erase blocks per die.
    pub blocks_per_die: u32,
    /// Pages per erase block, over all planes.
    pub pages_per_block: u32,
    /// Bytes per page, the unit of mapping.
    pub page_bytes: u32,
    /// Bytes that a plane senses or programs at once; absent: a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell_page_bytes: Option<u32>,
    /// Planes per die, which sense and program together; absent: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planes_per_die: Option<u32>,
    /// Time to suspend a program or erase for a read, in milliseconds; absent: reads wait for its
    /// end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend_ms: Option<f64>,
    /// Time to sense from the cells, in milliseconds.
    pub read_ms: f64,
    /// Time to program, in milliseconds.
    pub program_ms: f64,
    /// Time to erase a block, in milliseconds.
    pub erase_ms: f64,
    /// Throughput of a channel, in bytes per second.
    pub channel_bytes_per_s: f64,
}

/// The controller and the link to the host.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Controller {
    /// Time of a command, in milliseconds.
    pub command_ms: f64,
    /// Time of a command that writes, in milliseconds; absent: that of any command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_command_ms: Option<f64>,
    /// Time in milliseconds for which a read command, and then its data on the link, keep the
    /// controller from taking another; absent: none, and commands are taken while data are on the
    /// link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_ms: Option<f64>,
    /// The same for a write command; absent: as for reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_busy_ms: Option<f64>,
    /// Share of `busy_ms` that applies to a read that begins where the command before ended, as
    /// when the host merges adjacent requests or the drive reads ahead; absent: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjacent_busy_frac: Option<f64>,
    /// The same share of `write_busy_ms`, for writes; absent: as for reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_adjacent_busy_frac: Option<f64>,
    /// Time in milliseconds until an idle controller looks for commands; it then takes all that
    /// have arrived, one after the other, and later ones the next time. Absent: it takes each as it
    /// arrives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_ms: Option<f64>,
    /// Time of a flush in milliseconds, besides what it programs; absent: that of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_ms: Option<f64>,
    /// Throughput of the link to and from the host, in bytes per second.
    pub link_bytes_per_s: f64,
    /// Throughput of the link from the host, in bytes per second; absent: as to the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_from_host_bytes_per_s: Option<f64>,
    /// Bytes per second at which a write's data are copied while the controller serves others;
    /// absent: copying takes no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_copy_bytes_per_s: Option<f64>,
    /// Bytes of writes that are buffered, and reported complete, before they are programmed.
    pub write_buffer_bytes: u64,
    /// Most commands in progress; others wait in front of the drive. Absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
    /// Whether the buffer keeps its contents without power, so that a flush has nothing to do.
    #[serde(default)]
    pub power_loss_protection: bool,
}

/// A solid-state drive's parameter file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The drive's name on the command line.
    pub name: String,
    /// The product's name.
    pub title: String,
    /// How far to trust the model.
    pub status: Status,
    /// Capacity that the host sees, in bytes.
    pub capacity_bytes: u64,
    /// What the drive holds at first; absent: `full`.
    #[serde(default)]
    pub filled: Filled,
    /// Chips.
    pub flash: Flash,
    /// Controller.
    pub controller: Controller,
    /// Rate limits, all of which a request must pass.
    #[serde(default, rename = "limit", skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
    /// The power that the drive draws.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<Power>,
    /// Where each group of numbers comes from.
    pub sources: BTreeMap<String, String>,
}

/// A drive ready for simulation: times in nanoseconds, and counts.
#[derive(Clone, Debug)]
pub struct Model {
    /// The drive's name.
    pub name: String,
    /// How far to trust the model.
    pub status: Status,
    /// Blocks of 512 bytes that the host sees.
    pub blocks: u64,
    /// Blocks of 512 bytes per page.
    pub page_blocks: u64,
    /// Chips.
    pub flash: Flash,
    /// What the drive holds at first.
    pub filled: Filled,
    /// The power that the drive draws, if known.
    pub power: Option<Power>,
    /// Pages of the write buffer.
    pub buffer_pages: usize,
    /// Pages that a die programs at once.
    pub batch_pages: u32,
    /// Its rate limits that save credit.
    pub credits: Vec<Limit>,
    /// Reasons in its file to distrust what is simulated.
    pub doubts: Vec<Doubt>,
    /// Whether its spare flash stands for no real drive's, so that write amplification is none.
    pub is_spare_assumed: bool,
    limits: Vec<limit::Bucket>,
    queue_depth: Option<u32>,
    power_loss_protection: bool,
    /// Time of a command that reads, and of one that writes.
    command_ns: [u64; 2],
    /// Time for which such a command keeps the controller from taking another.
    busy_ns: [u64; 2],
    /// The same for a command that begins where the one before ended.
    adjacent_busy_ns: [u64; 2],
    /// Controller time per block, in the units of `link_block`, if the controller moves the data
    /// itself.
    busy_block: [u64; 2],
    wake_ns: u64,
    flush_ns: u64,
    read_ns: u64,
    suspend_ns: Option<u64>,
    program_ns: u64,
    erase_ns: u64,
    channel_page_ns: u64,
    /// Link time of a block of 512 bytes to the host, and from it, in 2^-10 ns.
    link_block: [u64; 2],
    /// Time to copy a written block meanwhile, in 2^-10 ns.
    copy_block: u64,
    /// Pages in use of each block of a die when a run begins, once one has begun: its steady state
    /// takes half a second to find.
    counts: OnceLock<Vec<u16>>,
}

impl Parameters {
    /// Parses a parameter file; `name` is the file's, for errors.
    ///
    /// # Errors
    /// A key that is unknown, missing or of the wrong kind, with its line.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        Error::or_parsed(name, text)
    }

    /// Returns these parameters as a file.
    ///
    /// # Errors
    /// A number that a file cannot hold.
    pub fn text(&self) -> Result<String, Error> {
        toml::to_string(self).map_err(|e| Error::parameter(&self.name, e.to_string()))
    }

    /// Whether a file describes a solid-state drive: it has a table `flash`, in any notation. If
    /// the file is not valid TOML, a line `[flash]` decides.
    pub fn describes(text: &str) -> bool {
        match text.parse::<toml::Table>() {
            Ok(table) => table.contains_key("flash"),
            Err(_) => text.lines().any(|line| line.trim() == "[flash]"),
        }
    }

    /// Builds the drive that these parameters describe.
    ///
    /// # Errors
    /// Names the key with an impossible value.
    pub fn build(&self) -> Result<Model, Error> {
        let wrong = |why| Error::parameter(&self.name, why);
        self.check().map_err(wrong)?;
        let (flash, controller) = (self.flash, self.controller);
        let busy_ms = controller.busy_ms();
        let time = |bytes: u32, rate: f64| nanoseconds(f64::from(bytes) / rate * 1e3);
        let block = |rate: f64| nanoseconds(f64::from(SECTOR_BYTES) / rate * 1e3 * 1024.0);
        let link_block = [
            controller.link_bytes_per_s,
            controller.link_from_host_bytes_per_s.unwrap_or(controller.link_bytes_per_s),
        ]
        .map(block);
        Ok(Model {
            name: self.name.clone(),
            status: self.status,
            blocks: self.capacity_bytes / u64::from(SECTOR_BYTES),
            page_blocks: u64::from(flash.page_bytes / SECTOR_BYTES),
            flash,
            filled: self.filled,
            power: self.power,
            buffer_pages: (controller.write_buffer_bytes / u64::from(flash.page_bytes)) as usize,
            batch_pages: flash.batch_pages(),
            queue_depth: controller.queue_depth,
            power_loss_protection: controller.power_loss_protection,
            credits: self.limits.iter().filter(|limit| limit.credit > 0.0).copied().collect(),
            doubts: doubts::doubts(&self.sources, controller.write_buffer_bytes),
            is_spare_assumed: doubts::is_spare_assumed(&self.sources),
            limits: self.buckets().map_err(wrong)?,
            command_ns: [
                nanoseconds(controller.command_ms),
                nanoseconds(controller.write_command_ms.unwrap_or(controller.command_ms)),
            ],
            busy_ns: busy_ms.map(|ms| nanoseconds(ms.unwrap_or_default())),
            adjacent_busy_ns: controller.adjacent_busy_ms().map(nanoseconds),
            wake_ns: nanoseconds(controller.wake_ms.unwrap_or(0.0)),
            flush_ns: nanoseconds(controller.flush_ms.unwrap_or(controller.command_ms)),
            suspend_ns: flash.suspend_ms.map(nanoseconds),
            read_ns: nanoseconds(flash.read_ms),
            program_ns: nanoseconds(flash.program_ms),
            erase_ns: nanoseconds(flash.erase_ms),
            channel_page_ns: time(flash.page_bytes, flash.channel_bytes_per_s),
            link_block: [0, 1].map(|of| if busy_ms[of].is_some() { 0 } else { link_block[of] }),
            busy_block: [0, 1].map(|of| if busy_ms[of].is_some() { link_block[of] } else { 0 }),
            copy_block: controller.write_copy_bytes_per_s.map_or(0, block),
            counts: OnceLock::new(),
        })
    }

    /// The rate limits, those on all requests first: otherwise a request delayed by a limit on one
    /// kind would ask them late, and others would wait behind it.
    fn buckets(&self) -> Result<Vec<limit::Bucket>, String> {
        let mut limits = self.limits.clone();
        limits.sort_by_key(|limit| limit.only.is_some());
        limits.iter().map(Limit::bucket).collect()
    }

    fn check(&self) -> Result<(), String> {
        let (flash, controller) = (&self.flash, &self.controller);
        if flash.page_bytes == 0 || !flash.page_bytes.is_multiple_of(SECTOR_BYTES) {
            return Err(format!("flash.page_bytes: {} is no multiple of 512", flash.page_bytes));
        }
        if !flash.cell_page_bytes.unwrap_or(flash.page_bytes).is_multiple_of(flash.page_bytes) {
            return Err("flash.cell_page_bytes: it must hold whole pages of page_bytes".into());
        }
        if flash.batch_pages() == 0 || flash.batch_pages() > flash.pages_per_block {
            return Err("flash: planes_per_die and cell_page_bytes give more pages than a block has, or none".into());
        }
        let page = u64::from(flash.page_bytes);
        if self.capacity_bytes == 0 || !self.capacity_bytes.is_multiple_of(page) {
            return Err(format!("capacity_bytes: {} is no whole pages", self.capacity_bytes));
        }
        for (key, ms) in [
            ("flash.read_ms", Some(flash.read_ms)),
            ("flash.program_ms", Some(flash.program_ms)),
            ("flash.erase_ms", Some(flash.erase_ms)),
            ("flash.suspend_ms", flash.suspend_ms),
            ("controller.command_ms", Some(controller.command_ms)),
            ("controller.wake_ms", controller.wake_ms),
            ("controller.busy_ms", controller.busy_ms),
            ("controller.write_busy_ms", controller.write_busy_ms),
            ("controller.flush_ms", controller.flush_ms),
            ("controller.write_command_ms", controller.write_command_ms),
        ] {
            if let Some(ms) = ms.filter(|ms| !(0.0..4000.0).contains(ms)) {
                return Err(format!("{key}: {ms} ms is not between 0 and 4 s"));
            }
        }
        for (key, rate) in [
            ("flash.channel_bytes_per_s", Some(flash.channel_bytes_per_s)),
            ("controller.link_bytes_per_s", Some(controller.link_bytes_per_s)),
            ("controller.link_from_host_bytes_per_s", controller.link_from_host_bytes_per_s),
            ("controller.write_copy_bytes_per_s", controller.write_copy_bytes_per_s),
        ] {
            if let Some(rate) = rate.filter(|rate| !(1e5..=1e13).contains(rate)) {
                return Err(format!("{key}: {rate} bytes/s is not between 1e5 and 1e13"));
            }
        }
        if controller.write_buffer_bytes < page || controller.write_buffer_bytes >> 36 > 0 {
            return Err("controller.write_buffer_bytes: from one page to 64 GiB is possible".into());
        }
        for (key, frac) in [
            ("controller.adjacent_busy_frac", controller.adjacent_busy_frac),
            ("controller.write_adjacent_busy_frac", controller.write_adjacent_busy_frac),
        ] {
            if let Some(frac) = frac.filter(|frac| !(0.0..=10.0).contains(frac)) {
                return Err(format!("{key}: {frac} is not between 0 and 10"));
            }
            if frac.is_some() && controller.busy_ms() == [None; 2] {
                return Err(format!("{key}: it has no effect without busy_ms or write_busy_ms"));
            }
        }
        if controller.queue_depth == Some(0) {
            return Err("controller.queue_depth: it must be at least 1".into());
        }
        self.power.map_or(Ok(()), |power| power.check())?;
        self.check_room()
    }

    /// Checks that every die can hold its share of the pages, a block to write to, and a free one
    /// for garbage collection.
    fn check_room(&self) -> Result<(), String> {
        let flash = &self.flash;
        if flash.pages_per_block > BLOCK_PAGES_MOST {
            return Err(format!(
                "flash.pages_per_block: {}; at most {BLOCK_PAGES_MOST} are possible (a page_bytes of 8192 or 16384 needs fewer)",
                flash.pages_per_block
            ));
        }
        let counts =
            [flash.channels, flash.dies_per_channel, flash.blocks_per_die, flash.pages_per_block];
        let pages = counts.iter().fold(1u64, |all, &n| all.saturating_mul(u64::from(n)));
        if pages == 0 || pages > PAGES_MOST {
            return Err(format!("flash: {pages} pages; from 1 to {PAGES_MOST} are possible"));
        }
        let dies = u64::from(flash.channels) * u64::from(flash.dies_per_channel);
        let share = (self.capacity_bytes / u64::from(flash.page_bytes)).div_ceil(dies);
        let room =
            u64::from(flash.blocks_per_die.saturating_sub(2)) * u64::from(flash.pages_per_block);
        if share > room {
            return Err(format!(
                "capacity_bytes: {share} pages on each die, where {room} can be held with two blocks to spare"
            ));
        }
        Ok(())
    }
}

impl Controller {
    /// How long a command that reads, and one that writes, keeps the controller busy before it moves
    /// the data, in milliseconds; `None` if the link moves them.
    fn busy_ms(&self) -> [Option<f64>; 2] {
        [self.busy_ms, self.write_busy_ms.or(self.busy_ms)]
    }

    /// The same for a command that begins where the one before ended.
    fn adjacent_busy_ms(&self) -> [f64; 2] {
        let [reads, writes] = self.busy_ms().map(Option::unwrap_or_default);
        let frac = self.adjacent_busy_frac.unwrap_or(1.0);
        [reads * frac, writes * self.write_adjacent_busy_frac.unwrap_or(frac)]
    }
}

impl Flash {
    /// Pages that a die senses or programs at once.
    pub fn batch_pages(&self) -> u32 {
        let cells = self.cell_page_bytes.unwrap_or(self.page_bytes) / self.page_bytes.max(1);
        cells.saturating_mul(self.planes_per_die.unwrap_or(1))
    }
}

impl Model {
    /// Number of dies.
    pub fn dies(&self) -> u32 {
        self.flash.channels * self.flash.dies_per_channel
    }

    /// Number of pages that the host sees.
    pub fn pages(&self) -> u32 {
        (self.blocks / self.page_blocks) as u32
    }
}

impl<'a> From<&'a Model> for Extent<'a> {
    fn from(model: &'a Model) -> Self {
        Self {
            name: &model.name,
            sector_bytes: SECTOR_BYTES,
            blocks: model.blocks,
            discards: true,
            flushes: true,
        }
    }
}

/// The solid-state drives shipped with the program.
pub const SHIPPED: &[(&str, &str)] =
    &[("generic-ssd", include_str!("../../drives/generic-ssd.toml"))];

/// The parameters of a shipped drive.
pub fn find(name: &str) -> Option<Parameters> {
    let (name, text) = SHIPPED.iter().find(|(known, _)| *known == name)?;
    Parameters::parse(text, name).ok()
}

#[cfg(test)]
mod beside_tests;
#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod tests;
