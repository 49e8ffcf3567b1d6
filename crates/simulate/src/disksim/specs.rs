//! Converts a DiskSim description to the parameters of a drive.

use super::bed::TestBed;
use super::folder::Folder;
use super::found::Found;
use super::layout;
use super::left_out::left_out;
use super::parse::{Block, Contents, Value, parse};
use crate::Error;
use crate::drive::{
    BufferParameters, BusParameters, BusTransfer, ControllerParameters, MechanismParameters,
    Parameters, ReadAheadTo, ScatteredWrite, Status,
};
use crate::layout::{Layout, Remap, Zone};
use crate::seek::SeekCurve;
use std::collections::BTreeMap;

/// A drive of DiskSim's, as far as it can be simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct Specs {
    /// The drive.
    pub parameters: Parameters,
    /// Keys that are left out because their values differ from what is simulated.
    pub left_out: Vec<String>,
}

/// Size of DiskSim's blocks in bytes.
const SECTOR: u32 = 512;

/// Reads the description that the file `name` of a folder belongs to.
///
/// # Errors
/// Broken notation, missing or unknown keys, impossible values.
pub fn read(name: &str, folder: &Folder<'_>) -> Result<Specs, Error> {
    let wrong = |why: String| Error::parameter(name, why);
    let all = folder.contents(&folder.head(name)?)?;
    let bed = TestBed::of(&all, name, folder)?;
    let mut model = model(bed.disk, &all, name, folder)?;
    take_in_layout(&mut model, name, folder)?;
    let mechanism = block(&model, "Mechanical Model").map_err(wrong)?;
    let mut left_out = left_out(&bed, &model);
    let curve = seek(mechanism, &|path| folder.text(path, name), &mut left_out)?;
    let file = |path: &str| folder.text(path, name).map_err(|error| error.to_string());
    let found = found(&model, &file).map_err(wrong)?;
    let mut parameters = parameters(&bed, &model, mechanism, curve, &found).map_err(wrong)?;
    count_blocks(&mut parameters, &model, &found, &mut left_out)?;
    Ok(Specs { parameters, left_out })
}

/// The block with a drive's mechanism and layout: inside the drive's own block, in a separate file,
/// or another block of the same files.
fn model(disk: &Block, all: &Contents, name: &str, folder: &Folder<'_>) -> Result<Block, Error> {
    let is_model = |block: &&Block| block.kind == "dm_disk";
    match disk.get("Model") {
        Some(Value::Block(block)) => Ok(block.clone()),
        Some(Value::Source(path)) => {
            let found = parse(&folder.text(path, name)?, path)?;
            let model = found.blocks.iter().find(is_model).cloned();
            model.ok_or_else(|| Error::parameter(path, "no block dm_disk"))
        }
        Some(Value::Word(word)) => {
            let model = all.blocks.iter().filter(is_model).find(|block| block.name == *word);
            model.cloned().ok_or_else(|| Error::parameter(name, format!("no dm_disk {word}")))
        }
        _ => Err(Error::parameter(name, "Model is missing")),
    }
}

/// Replaces a layout in a separate file by its block.
fn take_in_layout(model: &mut Block, name: &str, folder: &Folder<'_>) -> Result<(), Error> {
    let layout = model.fields.iter_mut().find(|(key, ..)| key == "Layout Model");
    if let Some((_, value @ Value::Source(_), _)) = layout
        && let Value::Source(path) = value
    {
        let block = parse(&folder.text(path, name)?, path)?.blocks.into_iter().next();
        *value = Value::Block(block.ok_or_else(|| Error::parameter(path, "no layout"))?);
    }
    Ok(())
}

/// Reads the layout of a drive.
fn found(model: &Block, file: &dyn Fn(&str) -> Result<String, String>) -> Result<Found, String> {
    let heads = needed(model, "Number of data surfaces")? as u16;
    let blocks = model.number("Block count").filter(|count| *count >= 1.0);
    let blocks = blocks.map(|count| count as u64);
    layout::layout(block(model, "Layout Model")?, heads, blocks, file)
}

/// Returns the blocks on defects that were remapped. If whole tracks are spared, all blocks of a
/// track move with it; a defect that holds no block moves nothing.
fn remaps(
    parameters: &Parameters,
    tracks: &Layout,
    model: &Block,
    found: &Found,
) -> Result<Vec<Remap>, String> {
    let by_track = block(model, "Layout Model")?.number("Sparing scheme used") == Some(1.0);
    let mut remaps = found.remaps.clone();
    for (zone, defects) in found.zones.iter().zip(&found.defects) {
        let sectors = u64::from(zone.sectors_per_track);
        let (times, each) = if by_track { (sectors, sectors) } else { (1, 1) };
        for [from, to] in defects {
            for nth in 0..each {
                let place = |at: u64| sector_at(parameters, zone, at.saturating_mul(times) + nth);
                let (from, to) = (place(*from)?, place(*to)?);
                let [cylinder, head, sector] = from;
                if let Some(block) = tracks.block_at(cylinder, head as u16, sector) {
                    let [cylinder, head, sector] = to;
                    remaps.push(Remap { block, cylinder, head: head as u16, sector });
                }
            }
        }
    }
    remaps.sort_by_key(|remap| remap.block);
    remaps.dedup_by_key(|remap| remap.block);
    Ok(remaps)
}

/// Cylinder, head and sector of the `at`-th sector of a zone, including spares and defects.
fn sector_at(parameters: &Parameters, zone: &Zone, at: u64) -> Result<[u32; 3], String> {
    let (sectors, heads) = (u64::from(zone.sectors_per_track), u64::from(parameters.heads));
    let (track, sector) = (at / sectors, (at % sectors) as u32);
    let last = u64::from(zone.last_cylinder - zone.first_cylinder);
    if track / heads > last {
        return Err(format!("\"defects\": the zone has no sector {at}"));
    }
    let cylinder = zone.first_cylinder + (track / heads) as u32;
    let head = (track % heads) as u32;
    let runs_down = parameters.track_order.runs_down(zone, cylinder);
    let head = if runs_down { u32::from(parameters.heads) - 1 - head } else { head };
    Ok([cylinder, head, sector])
}

/// Compares the number of blocks with the stated one, and uses no more than that.
fn count_blocks(
    parameters: &mut Parameters,
    model: &Block,
    found: &Found,
    left_out: &mut Vec<String>,
) -> Result<(), Error> {
    let layout = parameters.build()?.mechanism.layout;
    let moved = remaps(parameters, &layout, model, found);
    parameters.remaps = moved.map_err(|why| Error::parameter(&model.name, why))?;
    let ends = parameters.zones.iter().map(|zone| zone.last_cylinder.saturating_add(1)).max();
    if let Some(end) =
        ends.filter(|end| Some(f64::from(*end)) != model.number("Number of cylinders"))
    {
        left_out.push(format!("Number of cylinders: by Last cylinder number it is {end}"));
    }
    let stated = model.number("Block count").map_or(layout.blocks(), |count| count as u64);
    if stated > layout.blocks() {
        left_out.push(format!("Block count {stated}: the layout holds {}", layout.blocks()));
    } else if stated > 0 && stated < layout.blocks() {
        parameters.blocks = Some(stated);
    }
    Ok(())
}

fn number(block: &Block, key: &str) -> f64 {
    block.number(key).unwrap_or(0.0)
}

fn block<'a>(within: &'a Block, key: &str) -> Result<&'a Block, String> {
    match within.get(key) {
        Some(Value::Block(block)) => Ok(block),
        _ => Err(format!("{key:?} is missing")),
    }
}

fn needed(block: &Block, key: &str) -> Result<f64, String> {
    block.number(key).ok_or_else(|| format!("{key:?} is missing"))
}

fn seek(
    mechanism: &Block,
    file: &dyn Fn(&str) -> Result<String, Error>,
    left_out: &mut Vec<String>,
) -> Result<SeekCurve, Error> {
    let wrong = |why: &str| Error::parameter("Mechanical Model", why.to_owned());
    let kind = match mechanism.get("Seek type") {
        Some(Value::Word(kind)) => kind.as_str(),
        _ => return Err(wrong("Seek type is missing")),
    };
    let list = |key: &str| match mechanism.get(key) {
        Some(Value::List(all)) => all
            .iter()
            .filter_map(|v| if let Value::Number(n) = v { Some(*n) } else { None })
            .collect::<Vec<f64>>(),
        _ => Vec::new(),
    };
    match kind {
        "extracted" => match mechanism.get("Full seek curve") {
            Some(Value::Source(path) | Value::Word(path)) => {
                let (curve, columns) =
                    table(&file(path)?).map_err(|why| Error::parameter(path, why))?;
                if columns > 2 {
                    left_out.push(format!("columns 3 to {columns} of {path}"));
                }
                Ok(curve)
            }
            _ => Err(wrong("Full seek curve is missing")),
        },
        "hpl" | "hplplus10" => {
            let values = list("HPL seek equation values");
            let [divider, a, b, c, e, single] = values.as_slice() else {
                return Err(wrong("HPL seek equation values need six numbers"));
            };
            let mut short = if kind == "hpl" { Vec::new() } else { list("First ten seek times") };
            if short.is_empty() && *single > 0.0 {
                short.push(*single);
            }
            Ok(SeekCurve::TwoPart { divider: *divider as u32, a: *a, b: *b, c: *c, e: *e, short })
        }
        "curve" | "linear" | "threepoint_curve" | "threepoint_line" => Ok(SeekCurve::ThreePoints {
            single: number(mechanism, "Single cylinder seek time"),
            average: number(mechanism, "Average seek time"),
            full: number(mechanism, "Full strobe seek time"),
        }),
        "constant" => {
            let keys = ["Constant seek time", "Average seek time"];
            let time = keys.iter().find_map(|key| mechanism.number(key));
            let time = time.ok_or_else(|| wrong("Constant seek time is missing"))?;
            Ok(SeekCurve::Constant { time })
        }
        other => Err(wrong(&format!("Seek type {other:?} is not known"))),
    }
}

/// Parses a `.seek` file, and returns its number of columns too. Each line has `distance,
/// milliseconds` and perhaps more; most files begin with a line that states the number of points.
fn table(text: &str) -> Result<(SeekCurve, usize), String> {
    let (mut points, mut columns) = (Vec::new(), 0);
    for (number, line) in text.lines().enumerate() {
        let is_heading = number == 0 && line.trim_start().starts_with("Seek distances measured");
        if is_heading || line.trim().is_empty() {
            continue;
        }
        let broken = || format!("line {}: {line:?} is no distance and time", number + 1);
        let mut values = line.split(',').map(str::trim);
        let distance = values.next().unwrap_or_default().parse().map_err(|_| broken())?;
        let time = values.next().unwrap_or_default().parse().map_err(|_| broken())?;
        points.push((distance, time));
        columns = columns.max(2 + values.count());
    }
    Ok((SeekCurve::Table { points }, columns))
}

fn parameters(
    bed: &TestBed<'_>,
    model: &Block,
    mechanism: &Block,
    seek: SeekCurve,
    layout: &Found,
) -> Result<Parameters, String> {
    let disk = bed.disk;
    let rpm = needed(mechanism, "Rotation speed (in rpms)")?;
    let on_arrival = |key: &str| number(disk, key) > 0.0;
    Ok(Parameters {
        queue_depth: None,
        power: None,
        name: model.name.clone(),
        title: disk.name.clone(),
        status: Status::FromPublishedParameters,
        sector_bytes: SECTOR,
        heads: needed(model, "Number of data surfaces")? as u16,
        // A zone of the HP C2490A ends one cylinder past the disk.
        cylinders: (needed(model, "Number of cylinders")? as u32)
            .max(layout.zones.iter().map(|z| z.last_cylinder.saturating_add(1)).max().unwrap_or(0)),
        rotation_ms: if rpm > 0.0 { 60_000.0 / rpm } else { 0.0 },
        track_order: layout.order,
        blocks: None,
        zones: layout.zones.clone(),
        track_runs: layout.runs.clone(),
        slipped_places: layout.slipped_places.clone(),
        remaps: Vec::new(),
        seek,
        mechanism: MechanismParameters {
            head_switch_ms: needed(mechanism, "Head switch time")?,
            write_settle_ms: number(mechanism, "Add. write settling delay"),
            write_seek_least_ms: number(disk, "Minimum seek delay"),
            read_on_arrival: on_arrival("Immediate buffer read"),
            write_on_arrival: on_arrival("Immediate buffer write"),
        },
        controller: controller(disk),
        bus: bus(bed),
        buffer: buffer(disk),
        sources: BTreeMap::from([("all".to_owned(), "DiskSim parameter files".to_owned())]),
    })
}

fn controller(disk: &Block) -> ControllerParameters {
    let scale = disk.number("Time scale for overheads").unwrap_or(1.0);
    let of = |key: &str| scale * number(disk, key);
    // Every request has this overhead before anything else begins.
    let before = |key: &str| of("Per-request overhead time") + of(key);
    // The delay between the two disconnections is no overhead of the drive, so it is not scaled.
    let scattered = ScatteredWrite {
        seek_after_ms: before("Extradisc command overhead") + of("Extradisc seek delta"),
        data_after_ms: before("Extradisc command overhead")
            + of("Extradisc disconnect overhead")
            + number(disk, "Extradisc inter-disconnect delay")
            + of("First reselect overhead"),
        reconnect_ms: of("Other reselect overhead"),
    };
    ControllerParameters {
        read_before_ms: before("Read miss over. after read"),
        read_after_ms: of("Read completion overhead"),
        write_before_ms: before("Write miss over. after read"),
        write_after_ms: of("Write completion overhead"),
        read_hit_before_ms: Some(before("Read hit over. after read")),
        read_before_after_write_ms: Some(before("Read miss over. after write")),
        write_before_after_write_ms: Some(before("Write miss over. after write")),
        read_hit_before_after_write_ms: Some(before("Read hit over. after write")),
        write_hit_before_ms: Some(before("Write hit over. after read")),
        write_hit_before_after_write_ms: Some(before("Write hit over. after write")),
        read_reconnect_ms: of("First reselect overhead"),
        write_reconnect_ms: of("First reselect overhead"),
        scattered_write: (number(disk, "Extra write disconnect") > 0.0).then_some(scattered),
    }
}

/// The bus: a block takes as long as the slower of bus and drive.
fn bus(bed: &TestBed<'_>) -> BusParameters {
    let disk = bed.disk;
    let of_bus = |key: &str| bed.bus.map_or(0.0, |bus| number(bus, key));
    let rate = |key: &str| {
        let each_ms = of_bus(key).max(number(disk, "Bulk sector transfer time"));
        if each_ms > 0.0 { f64::from(SECTOR) / each_ms * 1e3 } else { NO_TIME_BYTES_PER_S }
    };
    let scale = disk.number("Time scale for overheads").unwrap_or(1.0);
    BusParameters {
        name: bed.bus.map_or("SCSI", |bus| bus.name.as_str()).to_owned(),
        to_host_bytes_per_s: rate("Read block transfer time"),
        to_drive_bytes_per_s: rate("Write block transfer time"),
        // Data preparation comes before every transfer, even if nobody waits for it.
        arbitration_ms: scale * number(disk, "Data preparation overhead")
            + of_bus("Arbitration time"),
        transfer: BusTransfer::Overlapped,
        read_water_mark: number(disk, "High (read) water mark"),
        write_lead: if number(disk, "Extra write disconnect") > 0.0 {
            EXTRA_DISCONNECT_LEAD.to_vec()
        } else {
            Vec::new()
        },
    }
}

/// The rate of a bus whose blocks take no time.
const NO_TIME_BYTES_PER_S: f64 = 1e12;

/// How many blocks of a write must have arrived before writing begins, on drives with the extra
/// disconnect (DiskSim's rule).
const EXTRA_DISCONNECT_LEAD: [[u64; 2]; 2] = [[1, 10], [45, 15]];

fn buffer(disk: &Block) -> BufferParameters {
    let segment = (number(disk, "Segment size (in blks)") as u64).saturating_mul(u64::from(SECTOR));
    if segment == 0 {
        return BufferParameters::default();
    }
    let is = |key: &str| number(disk, key) > 0.0;
    let caches = is("Enable caching in buffer");
    let segments = number(disk, "Number of buffer segments").clamp(1.0, 1024.0) as u32;
    BufferParameters {
        write_back: false,
        bytes: u64::from(segments).saturating_mul(segment),
        read_ahead: is("Buffer continuous read") && caches,
        immediate_reporting: is("Fast write level"),
        read_ahead_to: match number(disk, "Buffer continuous read") as u32 {
            1 => ReadAheadTo::OwnTrack,
            2 => ReadAheadTo::Cylinder,
            4 => ReadAheadTo::Track,
            _ => ReadAheadTo::Buffer,
        },
        read_ahead_blocks: disk
            .number("Maximum read-ahead (blks)")
            .filter(|blocks| *blocks >= 1.0)
            .map(|blocks| blocks as u64),
        segments: if caches { segments } else { 0 },
        own_write_segment: is("Use separate write segment") && caches && segments > 1,
        reads_from_arrival: is("Read any free blocks"),
        // -1: a block's space is freed as soon as the host has the block.
        forgets_delivered: number(disk, "Read-ahead over requested") < 0.0,
        keeps_requested: disk.number("Read-ahead over requested") == Some(0.0),
        forgets_written: disk.number("Allow read hits on write data") == Some(0.0),
        stops_in_sector: is("Stop prefetch in sector"),
        flushes_first: is("Fast write level"),
        read_ahead_after_hit: is("Read-ahead on idle hit") && caches,
    }
}
