//! A NAND solid-state drive: channels, dies, a page-mapped translation layer with greedy garbage collection, and a write
//! buffer. Its parameter file; [`Ssd`] is the drive at work.
//!
//! A logical page always lives on the same die (pages are striped over dies by number), so every die collects its own
//! garbage. Reads go before programs and erases, and suspend them where the flash can.

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

pub use doubts::{ASSUMED_BUFFER, JUDGED_ON};
pub use ftl::{Ftl, Programmed};
pub use limit::{Limit, Only};
pub use run::Ssd;

use crate::Error;
use crate::drive::{Power, Status};
use crate::extent::Extent;
use crate::seek::nanoseconds;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Bytes of a block that traces count in.
pub const SECTOR_BYTES: u32 = 512;

/// Most physical pages: they are counted in 32 bits.
const PAGES_MOST: u64 = (1 << 32) - (1 << 16);
/// Most pages of an erase block: they are counted in 15 bits.
const BLOCK_PAGES_MOST: u32 = (1 << 15) - 1;

/// Chips and how they are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flash {
    /// Channels between controller and dies.
    pub channels: u32,
    /// Dies on a channel.
    pub dies_per_channel: u32,
    /// Erase blocks of a die.
    pub blocks_per_die: u32,
    /// Pages of an erase block, all planes together.
    pub pages_per_block: u32,
    /// Bytes of a page, the unit of mapping.
    pub page_bytes: u32,
    /// Bytes that are sensed or programmed at once on a plane; absent: a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell_page_bytes: Option<u32>,
    /// Planes of a die, which sense and program together; absent: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planes_per_die: Option<u32>,
    /// Suspending a program or an erase for a read, in milliseconds; absent: reads wait for its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend_ms: Option<f64>,
    /// Sensing from the cells, in milliseconds.
    pub read_ms: f64,
    /// Programming, in milliseconds.
    pub program_ms: f64,
    /// Erasing a block, in milliseconds.
    pub erase_ms: f64,
    /// Bytes a second on a channel.
    pub channel_bytes_per_s: f64,
}

/// Controller and link to the host.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Controller {
    /// Time of a command, in milliseconds.
    pub command_ms: f64,
    /// Time of a command that writes, in milliseconds; absent: as of any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_command_ms: Option<f64>,
    /// Time in milliseconds for which a command that reads, and then its data on the link, keeps the controller from taking another;
    /// absent: none, and commands are taken while data is on the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_ms: Option<f64>,
    /// The same of a command that writes; absent: as of one that reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_busy_ms: Option<f64>,
    /// Share of `busy_ms` that a command takes which reads on from where the one before ended, as where the host merges adjacent requests or
    /// the drive reads ahead; absent: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjacent_busy_frac: Option<f64>,
    /// The same of `write_busy_ms` and a command that writes on; absent: as of one that reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_adjacent_busy_frac: Option<f64>,
    /// Time in milliseconds until a controller that is idle looks for commands; it takes all that have come by then, one after the
    /// other, and later ones the next time. Absent: it takes each as it comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_ms: Option<f64>,
    /// Time of a flush in milliseconds, beside what it programs; absent: that of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_ms: Option<f64>,
    /// Bytes a second to and from the host.
    pub link_bytes_per_s: f64,
    /// Bytes a second from the host; absent: as to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_from_host_bytes_per_s: Option<f64>,
    /// Bytes a second at which the data of a write is copied while the controller serves others; absent: that takes no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_copy_bytes_per_s: Option<f64>,
    /// Bytes of writes that are held, and reported complete, before they are programmed.
    pub write_buffer_bytes: u64,
    /// Commands in progress at most; one that comes beyond them waits before the drive. Absent: as many as come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
    /// Whether the buffer keeps its contents without power, so that a flush has nothing to do.
    #[serde(default)]
    pub power_loss_protection: bool,
}

/// What the drive holds when a run begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Filled {
    /// Nothing: as it came from the factory, no garbage to collect for long, and reads of it need no flash.
    Empty,
    /// Every page was written once, in order. What a trace reads was written before it began.
    #[default]
    Full,
    /// Pages were written at random for long: garbage collection costs what it always will.
    SteadyState,
}

/// A solid-state drive's parameter file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// What it is called on the command line.
    pub name: String,
    /// The product's name.
    pub title: String,
    /// How far to trust it.
    pub status: Status,
    /// Bytes the host sees.
    pub capacity_bytes: u64,
    /// What it holds at the beginning; absent: `full`.
    #[serde(default)]
    pub filled: Filled,
    /// Chips.
    pub flash: Flash,
    /// Controller.
    pub controller: Controller,
    /// Rate limits, all of which a request must pass.
    #[serde(default, rename = "limit", skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
    /// What it takes from the power supply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<Power>,
    /// Where each group of numbers comes from.
    pub sources: BTreeMap<String, String>,
}

/// Times of a run, in nanoseconds, and counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// What it is called.
    pub name: String,
    /// How far to trust it.
    pub status: Status,
    /// Blocks of 512 bytes the host sees.
    pub blocks: u64,
    /// Blocks of 512 bytes of a page.
    pub page_blocks: u64,
    /// Chips.
    pub flash: Flash,
    /// What it holds at the beginning.
    pub filled: Filled,
    /// What it takes from the power supply, if that is known.
    pub power: Option<Power>,
    /// Pages of the write buffer.
    pub buffer_pages: usize,
    /// Pages that a die programs at once.
    pub batch_pages: u32,
    /// Its rate limits that save credit.
    pub credits: Vec<Limit>,
    /// What its file says against borders and rates that are simulated with it, in sentences.
    pub doubts: Vec<String>,
    limits: Vec<limit::Bucket>,
    queue_depth: Option<u32>,
    power_loss_protection: bool,
    /// Of a command that reads, and of one that writes.
    command_ns: [u64; 2],
    /// For which it keeps the controller from taking another.
    busy_ns: [u64; 2],
    /// The same where it begins at the end of the one before.
    adjacent_busy_ns: [u64; 2],
    /// Of a block, as of `link_block`, where the controller moves the data itself.
    busy_block: [u64; 2],
    wake_ns: u64,
    flush_ns: u64,
    read_ns: u64,
    suspend_ns: Option<u64>,
    program_ns: u64,
    erase_ns: u64,
    channel_page_ns: u64,
    /// Of a block of 512 bytes to the host, and from it, in 2^-10 ns.
    link_block: [u64; 2],
    /// Of a block that is written and copied meanwhile, in 2^-10 ns.
    copy_block: u64,
}

impl Parameters {
    /// Reads a parameter file; `name` is the file's, for errors.
    ///
    /// # Errors
    /// A key that is unknown, missing or of the wrong kind, with its line.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        Error::or_parsed(name, text)
    }

    /// These parameters as a file.
    ///
    /// # Errors
    /// A number that a file cannot hold.
    pub fn text(&self) -> Result<String, Error> {
        toml::to_string(self).map_err(|e| Error::parameter(&self.name, e.to_string()))
    }

    /// Whether a file describes a solid-state drive: it has a table `[flash]`, however that is written; of a file that cannot be read as
    /// TOML, a line says so.
    pub fn describes(text: &str) -> bool {
        match text.parse::<toml::Table>() {
            Ok(table) => table.contains_key("flash"),
            Err(_) => text.lines().any(|line| line.trim() == "[flash]"),
        }
    }

    /// The drive these parameters describe.
    ///
    /// # Errors
    /// Names the key with an impossible value.
    pub fn build(&self) -> Result<Model, Error> {
        let wrong = |why| Error::parameter(&self.name, why);
        self.check().map_err(wrong)?;
        let (flash, controller) = (self.flash, self.controller);
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
            limits: self.buckets().map_err(wrong)?,
            command_ns: [
                nanoseconds(controller.command_ms),
                nanoseconds(controller.write_command_ms.unwrap_or(controller.command_ms)),
            ],
            busy_ns: controller.busy_ms().map(nanoseconds),
            adjacent_busy_ns: controller.adjacent_busy_ms().map(nanoseconds),
            wake_ns: nanoseconds(controller.wake_ms.unwrap_or(0.0)),
            flush_ns: nanoseconds(controller.flush_ms.unwrap_or(controller.command_ms)),
            suspend_ns: flash.suspend_ms.map(nanoseconds),
            read_ns: nanoseconds(flash.read_ms),
            program_ns: nanoseconds(flash.program_ms),
            erase_ns: nanoseconds(flash.erase_ms),
            channel_page_ns: time(flash.page_bytes, flash.channel_bytes_per_s),
            link_block: if controller.busy_ms.is_some() { [0; 2] } else { link_block },
            busy_block: if controller.busy_ms.is_some() { link_block } else { [0; 2] },
            copy_block: controller.write_copy_bytes_per_s.map_or(0, block),
        })
    }

    /// Its rate limits, those of all requests first: what a limit of one kind holds up does not ask them so late that others wait behind it.
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
        }
        if controller.queue_depth == Some(0) {
            return Err("controller.queue_depth: it must be at least 1".into());
        }
        self.power.map_or(Ok(()), |power| power.check())?;
        self.check_room()
    }

    /// Every die must hold its share of the pages, a block to write to, and a free one for collecting garbage.
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
    /// For how long a command that reads, and one that writes, keeps the controller, in milliseconds.
    fn busy_ms(&self) -> [f64; 2] {
        [self.busy_ms, self.write_busy_ms.or(self.busy_ms)].map(Option::unwrap_or_default)
    }

    /// The same where it begins at the end of the one before.
    fn adjacent_busy_ms(&self) -> [f64; 2] {
        let [reads, writes] = self.busy_ms();
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
    /// Dies.
    pub fn dies(&self) -> u32 {
        self.flash.channels * self.flash.dies_per_channel
    }

    /// Pages the host sees.
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

/// The solid-state drives that come with the program.
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
