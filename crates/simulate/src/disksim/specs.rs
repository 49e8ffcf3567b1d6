//! A `.diskspecs` file with the `.model` and `.seek` files it names, as parameters of a drive.

use super::layout::layout;
use super::parse::{Block, Value, parse};
use crate::Error;
use crate::command::DiskOptions;
use crate::drive::{
    BufferParameters, BusParameters, BusTransfer, ControllerParameters, MechanismParameters,
    Parameters, ReadAheadTo, ScatteredWrite, Status,
};
use crate::seek::SeekCurve;
use std::collections::BTreeMap;

/// A drive of DiskSim's, as far as it is understood here.
#[derive(Clone, Debug, PartialEq)]
pub struct Specs {
    /// The drive.
    pub parameters: Parameters,
    /// What its controller does with writes and reading ahead.
    pub options: DiskOptions,
    /// Keys whose values differ from what is simulated here, and so are left out.
    pub left_out: Vec<String>,
}

/// Bytes of DiskSim's blocks.
const SECTOR: u32 = 512;

/// Keys that are read, or say nothing about one command at a time on an idle bus.
const KNOWN: [&str; 43] = [
    "Model",
    "Per-request overhead time",
    "Time scale for overheads",
    "Bulk sector transfer time",
    "Print stats",
    "Avg sectors per cylinder",
    "Max queue length",
    "Scheduler",
    "Never disconnect",
    "Hold bus entire read xfer",
    "Hold bus entire write xfer",
    "Number of buffer segments",
    "Segment size (in blks)",
    "High (read) water mark",
    "Set watermark by reqsize",
    "Calc sector by sector",
    "Enable caching in buffer",
    "Buffer continuous read",
    "Maximum read-ahead (blks)",
    "Fast write level",
    "Immediate buffer read",
    "Immediate buffer write",
    "Combine seq writes",
    "Stop prefetch in sector",
    "Write hit stop prefetch",
    "Read directly to buffer",
    "Immed transfer partial hit",
    "Read completion overhead",
    "Write completion overhead",
    "Allow read hits on write data",
    "Use separate write segment",
    "Read-ahead on idle hit",
    "Read any free blocks",
    "Data preparation overhead",
    "First reselect overhead",
    "Other reselect overhead",
    "Extra write disconnect",
    "Extradisc command overhead",
    "Extradisc disconnect overhead",
    "Extradisc inter-disconnect delay",
    "Extradisc seek delta",
    "Minimum seek delay",
    "Read-ahead over requested",
];

/// Beginnings of further keys that are read.
const OVERHEADS: [&str; 4] =
    ["Read hit over.", "Read miss over.", "Write hit over.", "Write miss over."];

/// Reads a `.diskspecs` file; `open` gives the text of the files it names.
///
/// # Errors
/// Notation that is broken, keys that are missing or not known, values that cannot be.
pub fn read(
    text: &str,
    name: &str,
    open: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Specs, Error> {
    let wrong = |why: String| Error::parameter(name, why);
    let blocks = parse(text, name)?;
    let disk = blocks
        .iter()
        .find(|b| b.kind == "disksim_disk")
        .ok_or_else(|| wrong("no block disksim_disk".into()))?;
    let file = |path: &str| open(path).map_err(|why| wrong(format!("{path}: {why}")));
    let model = match disk.get("Model") {
        Some(Value::Block(block)) => block.clone(),
        Some(Value::Source(path)) => {
            let found = parse(&file(path)?, path)?;
            found
                .into_iter()
                .find(|b| b.kind == "dm_disk")
                .ok_or_else(|| wrong(format!("{path}: no block dm_disk")))?
        }
        _ => return Err(wrong("Model is missing".into())),
    };
    let mechanism = block(&model, "Mechanical Model").map_err(wrong)?;
    let curve = seek(mechanism, &file)?;
    let parameters = parameters(disk, &model, mechanism, curve).map_err(wrong)?;
    let options = parameters.buffer.usual();
    let left_out = left_out(disk);
    Ok(Specs { parameters, options, left_out })
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

/// What a file says that is not simulated: keys not known here whose value is not 0.
fn left_out(disk: &Block) -> Vec<String> {
    let is_known = |key: &str| KNOWN.contains(&key) || OVERHEADS.iter().any(|o| key.starts_with(o));
    let told = disk.fields.iter().filter(|(key, value, _)| {
        !is_known(key) && !matches!(value, Value::Number(number) if *number == 0.0)
    });
    told.map(|(key, _, line)| format!("{key} (line {line})")).collect()
}

fn seek(
    mechanism: &Block,
    file: &dyn Fn(&str) -> Result<String, Error>,
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
                table(&file(path)?).map_err(|why| Error::parameter(path, why))
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
        "threepoint_curve" | "threepoint_line" => Ok(SeekCurve::ThreePoints {
            single: number(mechanism, "Single cylinder seek time"),
            average: number(mechanism, "Average seek time"),
            full: number(mechanism, "Full strobe seek time"),
        }),
        "constant" => Ok(SeekCurve::Constant { time: number(mechanism, "Average seek time") }),
        other => Err(wrong(&format!("Seek type {other:?} is not known"))),
    }
}

/// A `.seek` file: a line with the number of points, then `distance, milliseconds`.
fn table(text: &str) -> Result<SeekCurve, String> {
    let mut points = Vec::new();
    for (number, line) in text.lines().enumerate().skip(1) {
        if line.trim().is_empty() {
            continue;
        }
        let broken = || format!("line {}: {line:?} is no distance and time", number + 1);
        let (distance, time) = line.split_once(',').ok_or_else(broken)?;
        let distance = distance.trim().parse().map_err(|_| broken())?;
        points.push((distance, time.trim().parse().map_err(|_| broken())?));
    }
    Ok(SeekCurve::Table { points })
}

fn parameters(
    disk: &Block,
    model: &Block,
    mechanism: &Block,
    seek: SeekCurve,
) -> Result<Parameters, String> {
    let heads = needed(model, "Number of data surfaces")? as u16;
    let layout = layout(block(model, "Layout Model")?, heads)?;
    let rpm = needed(mechanism, "Rotation speed (in rpms)")?;
    let on_arrival = |key: &str| number(disk, key) > 0.0;
    Ok(Parameters {
        name: model.name.clone(),
        title: disk.name.clone(),
        status: Status::FromPublishedParameters,
        sector_bytes: SECTOR,
        heads,
        // A zone of the HP C2490A ends one cylinder past the disk.
        cylinders: (needed(model, "Number of cylinders")? as u32)
            .max(layout.zones.iter().map(|z| z.last_cylinder.saturating_add(1)).max().unwrap_or(0)),
        rotation_ms: if rpm > 0.0 { 60_000.0 / rpm } else { 0.0 },
        track_order: layout.order,
        blocks: None,
        zones: layout.zones,
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
        bus: bus(disk),
        buffer: buffer(disk),
        sources: BTreeMap::from([("all".to_owned(), "DiskSim parameter files".to_owned())]),
    })
}

fn controller(disk: &Block) -> ControllerParameters {
    let of = |key: &str| number(disk, key);
    let scattered = ScatteredWrite {
        seek_after_ms: of("Extradisc command overhead") + of("Extradisc seek delta"),
        data_after_ms: of("Extradisc command overhead")
            + of("Extradisc disconnect overhead")
            + of("Extradisc inter-disconnect delay")
            + of("First reselect overhead"),
        reconnect_ms: of("Other reselect overhead"),
    };
    ControllerParameters {
        read_before_ms: of("Read miss over. after read"),
        read_after_ms: of("Read completion overhead"),
        write_before_ms: of("Write miss over. after read"),
        write_after_ms: of("Write completion overhead"),
        read_hit_before_ms: Some(of("Read hit over. after read")),
        read_before_after_write_ms: Some(of("Read miss over. after write")),
        write_before_after_write_ms: Some(of("Write miss over. after write")),
        read_hit_before_after_write_ms: Some(of("Read hit over. after write")),
        write_hit_before_ms: Some(of("Write hit over. after read")),
        write_hit_before_after_write_ms: Some(of("Write hit over. after write")),
        read_reconnect_ms: of("First reselect overhead"),
        write_reconnect_ms: of("First reselect overhead"),
        scattered_write: (of("Extra write disconnect") > 0.0).then_some(scattered),
    }
}

/// Time of a block on the bus of the files' own test beds: `Bulk sector transfer time`; other buses are given elsewhere.
fn bus(disk: &Block) -> BusParameters {
    let each_ms = number(disk, "Bulk sector transfer time");
    let rate = if each_ms > 0.0 { f64::from(SECTOR) / each_ms * 1e3 } else { 1e12 };
    BusParameters {
        name: "SCSI".to_owned(),
        to_host_bytes_per_s: rate,
        to_drive_bytes_per_s: rate,
        // Preparing data comes before every transfer, whoever waits for it.
        arbitration_ms: number(disk, "Data preparation overhead"),
        transfer: BusTransfer::Overlapped,
        read_water_mark: number(disk, "High (read) water mark"),
        write_lead: if number(disk, "Extra write disconnect") > 0.0 {
            EXTRA_DISCONNECT_LEAD.to_vec()
        } else {
            Vec::new()
        },
    }
}

/// Blocks of a write that must have come before writing begins, in drives with the extra disconnect (DiskSim's rule).
const EXTRA_DISCONNECT_LEAD: [[u64; 2]; 2] = [[1, 10], [45, 15]];

fn buffer(disk: &Block) -> BufferParameters {
    let segment = (number(disk, "Segment size (in blks)") as u64).saturating_mul(u64::from(SECTOR));
    if segment == 0 {
        return BufferParameters::default();
    }
    let segments = number(disk, "Number of buffer segments").clamp(1.0, 1024.0) as u32;
    let is = |key: &str| number(disk, key) > 0.0;
    BufferParameters {
        bytes: u64::from(segments).saturating_mul(segment),
        read_ahead: is("Buffer continuous read") && is("Enable caching in buffer"),
        immediate_reporting: is("Fast write level"),
        read_ahead_to: match number(disk, "Buffer continuous read") as u32 {
            2 | 4 => ReadAheadTo::Track,
            3 => ReadAheadTo::Cylinder,
            _ => ReadAheadTo::Buffer,
        },
        read_ahead_blocks: disk
            .number("Maximum read-ahead (blks)")
            .filter(|blocks| *blocks >= 1.0)
            .map(|blocks| blocks as u64),
        segments,
        own_write_segment: is("Use separate write segment") && segments > 1,
        reads_from_arrival: is("Read any free blocks"),
        forgets_delivered: is("Read-ahead over requested"),
        read_ahead_after_hit: is("Read-ahead on idle hit"),
    }
}
