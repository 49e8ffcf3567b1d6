//! The test bed of a `.parv` file, as far as it concerns one drive: which drive, and its bus.

use super::folder::{Folder, paths};
use super::parse::{Block, Contents, parse};
use crate::Error;

/// A drive and the components in front of it.
pub struct TestBed<'a> {
    /// The drive's block.
    pub disk: &'a Block,
    /// The drive's bus.
    pub bus: Option<&'a Block>,
    /// All other components between the host and that bus.
    pub before: Vec<&'a Block>,
    /// Number of drives in the test bed.
    pub drives: usize,
}

impl<'a> TestBed<'a> {
    /// Returns the drive that `name` describes: the first in the topology whose block is in that
    /// file, or else the first.
    ///
    /// # Errors
    /// No drive is described.
    pub fn of(all: &'a Contents, name: &str, folder: &Folder<'_>) -> Result<Self, Error> {
        let own = folder.text(name, name).and_then(|text| parse(&text, name));
        let own = own.map(|found| found.blocks).unwrap_or_default();
        let is_own =
            |block: &Block| own.iter().any(|b| (&b.kind, &b.name) == (&block.kind, &block.name));
        let described = |instance: &str| {
            let of = all.instances.iter().find(|(each, _)| each == instance);
            let of = of.map_or(instance, |(_, block)| block);
            all.blocks.iter().find(|block| block.name == of)
        };
        let ways = paths(&all.topology, DISK);
        let last = |way: &[&super::parse::Component]| {
            way.last().and_then(|c| described(&c.name)).filter(|block| block.kind == DISK)
        };
        let known: Vec<_> = ways.iter().filter_map(|way| Some((way, last(way)?))).collect();
        let chosen = known.iter().find(|(_, disk)| is_own(disk)).or(known.first());
        if let Some((way, disk)) = chosen {
            let mut before: Vec<&Block> =
                way[..way.len() - 1].iter().filter_map(|c| described(&c.name)).collect();
            let bus = before.pop_if(|block| block.kind == "disksim_bus");
            return Ok(Self { disk, bus, before, drives: known.len() });
        }
        let disks = || all.blocks.iter().filter(|b| b.kind == DISK);
        let disk = disks().find(|b| is_own(b)).or_else(|| disks().next());
        let why = "no block disksim_disk, and no .diskspecs beside it that names it";
        let disk = disk.ok_or_else(|| Error::parameter(name, why))?;
        Ok(Self { disk, bus: None, before: Vec::new(), drives: disks().count() })
    }
}

const DISK: &str = "disksim_disk";
