//! What a description states but the simulation leaves out: names every key that neither takes
//! effect nor has the simulated value.

use super::bed::TestBed;
use super::layout::SKEWS;
use super::layout_g2::in_revolutions;
use super::parse::{Block, Value};

/// How a key is handled.
enum Dealt {
    /// It takes effect, whatever its value.
    Acts,
    /// It is simulated as if it had this value.
    As(f64),
    /// The same, but the key matters only if this other key is above 0.
    AsWhere(f64, &'static str),
    /// It takes effect, but any other value is simulated as one of these.
    Among([f64; 2]),
    /// It takes effect, but values from this one on are not fully simulated.
    Below(f64),
}

use Dealt::{Acts, Among, As, AsWhere, Below};

/// Keys of a `disksim_disk`; all others are simulated as if they were 0.
const OF_DISKS: [(&str, Dealt); 52] = [
    ("Model", Acts),
    ("Per-request overhead time", Acts),
    ("Time scale for overheads", Acts),
    ("Bulk sector transfer time", Acts),
    ("Scheduler", Acts),
    // These control how DiskSim calculates and reports, and do not concern the drive.
    ("Print stats", Acts),
    ("Avg sectors per cylinder", Acts),
    ("Hold bus entire read xfer", As(1.0)),
    // A block that the head is currently reading ahead counts as read.
    ("Allow almost read hits", AsWhere(1.0, "Buffer continuous read")),
    // A read that the buffer answers does not wait for data to be written.
    ("Allow sneaky full read hits", AsWhere(1.0, "Fast write level")),
    ("Allow read hits on write data", Acts),
    ("Max queue length", As(1.0)),
    ("Number of buffer segments", Acts),
    ("Maximum number of write segments", As(1.0)),
    ("Segment size (in blks)", Acts),
    ("Use separate write segment", Acts),
    ("High (read) water mark", Acts),
    ("Set watermark by reqsize", As(1.0)),
    ("Calc sector by sector", As(1.0)),
    ("Enable caching in buffer", Below(2.0)),
    ("Buffer continuous read", Below(5.0)),
    ("Maximum read-ahead (blks)", Acts),
    ("Read-ahead over requested", Acts),
    ("Read-ahead on idle hit", Acts),
    ("Read any free blocks", Acts),
    // Level 1 reports only consecutive writes early; it is simulated as level 2.
    ("Fast write level", Among([0.0, 2.0])),
    ("Immediate buffer read", Below(2.0)),
    ("Immediate buffer write", Below(2.0)),
    ("Combine seq writes", As(1.0)),
    ("Stop prefetch in sector", Acts),
    ("Write hit stop prefetch", As(1.0)),
    ("Read directly to buffer", As(1.0)),
    ("Immed transfer partial hit", As(1.0)),
    ("Read hit over. after read", Acts),
    ("Read hit over. after write", Acts),
    ("Read miss over. after read", Acts),
    ("Read miss over. after write", Acts),
    ("Write hit over. after read", Acts),
    ("Write hit over. after write", Acts),
    ("Write miss over. after read", Acts),
    ("Write miss over. after write", Acts),
    ("Read completion overhead", Acts),
    ("Write completion overhead", Acts),
    ("Data preparation overhead", Acts),
    ("First reselect overhead", Acts),
    ("Other reselect overhead", Acts),
    ("Extra write disconnect", Acts),
    ("Extradisc command overhead", Acts),
    ("Extradisc disconnect overhead", Acts),
    ("Extradisc inter-disconnect delay", Acts),
    ("Extradisc seek delta", Acts),
    ("Minimum seek delay", Acts),
];

/// Keys of a drive's own queue, which holds one request: only keys that delay that request matter.
const OF_QUEUES: [(&str, Dealt); 3] = [
    ("Scheduling policy", As(1.0)),
    ("Cylinder mapping strategy", Acts),
    ("Maximum concat size", Acts),
];

/// Keys of the buses and controllers in front of the drive's bus; all others are simulated as if
/// they were 0.
const OF_OTHERS: [(&str, Dealt); 6] = [
    ("type", As(1.0)),
    ("Arbitration type", Acts),
    ("Print stats", Acts),
    // Options of the command choose the host's queue.
    ("Scheduler", Acts),
    ("Use queueing in subsystem", Acts),
    ("Stat definition file", Acts),
];

/// Keys of the drive's bus.
const OF_BUSES: [(&str, Dealt); 6] = [
    ("type", Acts),
    ("Arbitration type", Acts),
    ("Arbitration time", Acts),
    ("Read block transfer time", Acts),
    ("Write block transfer time", Acts),
    ("Print stats", Acts),
];

/// Keys of a `dm_disk`, of a layout `dm_layout_g1` and its zones, of a `dm_layout_g4`, and of a `dm_mech_g1`.
const OF_MODELS: [(&str, Dealt); 35] = [
    ("Number of data surfaces", Acts),
    ("Number of cylinders", Acts),
    ("Block count", Acts),
    ("Layout Model", Acts),
    ("Mechanical Model", Acts),
    ("LBN-to-PBN mapping scheme", Acts),
    ("Sparing scheme used", Acts),
    ("Rangesize for sparing", Acts),
    ("Zones", Acts),
    ("First cylinder number", Acts),
    ("Last cylinder number", Acts),
    ("Blocks per track", Acts),
    ("Offset of first block", Acts),
    ("Empty space at zone front", Acts),
    ("Skew for track switch", Acts),
    ("Skew for cylinder switch", Acts),
    ("Number of spares", Acts),
    ("slips", Acts),
    ("defects", Acts),
    ("TP", Acts),
    ("IDX", Acts),
    ("Slips", Acts),
    ("Remaps", Acts),
    ("Access time type", Acts),
    ("Seek type", Acts),
    ("Constant seek time", Acts),
    ("Single cylinder seek time", Acts),
    ("Average seek time", Acts),
    ("Full strobe seek time", Acts),
    ("Full seek curve", Acts),
    ("Add. write settling delay", Acts),
    ("HPL seek equation values", Acts),
    ("First ten seek times", Acts),
    ("Head switch time", Acts),
    ("Rotation speed (in rpms)", Acts),
];

/// Keys of a layout `dm_layout_g2` and its zones. The map determines where the zones' blocks end.
const OF_MAPPED: [(&str, Dealt); 10] = [
    ("Layout Map File", Acts),
    ("Zones", Acts),
    ("First cylinder number", Acts),
    ("Last cylinder number", Acts),
    ("First LBN", Acts),
    ("Last LBN", Acts),
    ("Blocks per track", Acts),
    ("Zone Skew", Acts),
    ("Skew for track switch", Acts),
    ("Skew for cylinder switch", Acts),
];

/// Keys that take effect and have words as values; for any other key, a word is not a value.
const OF_WORDS: [&str; 6] = [
    "Model",
    "Access time type",
    "Seek type",
    "Full seek curve",
    "Stat definition file",
    "Layout Map File",
];

/// Within this many sectors of a whole number, a skew is one that was written with few digits.
const WHOLE: f64 = 1e-4;

/// Names what is left out of a drive, its model and its test bed: keys with their lines.
pub fn left_out(bed: &TestBed<'_>, model: &Block) -> Vec<String> {
    let mut found = of_block(bed.disk, &OF_DISKS);
    if let Some(Value::Block(queue)) = bed.disk.get("Scheduler") {
        found.extend(of_block(queue, &OF_QUEUES));
    }
    found.extend(of_block(model, &OF_MODELS));
    if let Some(Value::Block(layout)) = model.get("Layout Model") {
        let is_mapped = layout.kind == "dm_layout_g2";
        let known: &[(&str, Dealt)] = if is_mapped { &OF_MAPPED } else { &OF_MODELS };
        // Skew units were already read as a word, with either unit.
        let is_read = |key: &String| !key.starts_with("Skew units");
        found.extend(of_block(layout, known).into_iter().filter(is_read));
        let zones = match layout.get("Zones") {
            Some(Value::List(all)) => all.as_slice(),
            _ => &[],
        };
        for zone in zones {
            if let Value::Block(zone) = zone {
                found.extend(of_block(zone, known).into_iter().filter(is_read));
                if !is_mapped {
                    found.extend(of_skews(layout, zone));
                }
            }
        }
    }
    if let Some(Value::Block(mechanism)) = model.get("Mechanical Model") {
        found.extend(of_block(mechanism, &OF_MODELS));
        found.extend(of_mechanism(mechanism));
    }
    match bed.bus {
        Some(bus) => found.extend(of_block(bus, &OF_BUSES)),
        None => found.push("time on the bus (no .parv beside the file gives its rate)".to_owned()),
    }
    for block in &bed.before {
        let mut named = of_block(block, &OF_OTHERS);
        if let Some(Value::Block(queue)) = block.get("Scheduler") {
            named.extend(of_block(queue, &OF_QUEUES).into_iter().filter(|key| is_delay(key)));
        }
        found.extend(named.into_iter().map(|what| format!("{what} of {}", block.name)));
    }
    if bed.drives > 1 {
        found.push(format!("all but one of {} drives", bed.drives));
    }
    found
}

/// Whether a key of the host's queue delays requests; no option of the command chooses that, unlike
/// the order.
fn is_delay(key: &str) -> bool {
    ["Read initiation delay", "Write initiation delay"].iter().any(|name| key.starts_with(name))
}

fn of_block(block: &Block, known: &[(&str, Dealt)]) -> Vec<String> {
    let told = block.fields.iter().filter(|(key, value, _)| {
        let dealt = known.iter().find(|(name, _)| name == key).map_or(&As(0.0), |(_, d)| d);
        match (dealt, value) {
            (Acts, Value::Word(_)) => !OF_WORDS.contains(&key.as_str()),
            (Acts, _) => false,
            (As(one), Value::Number(number)) => number != one,
            (AsWhere(one, other), Value::Number(number)) => {
                number != one && block.number(other).is_some_and(|other| other > 0.0)
            }
            (Among(these), Value::Number(number)) => !these.contains(number),
            (Below(end), Value::Number(number)) => number >= end,
            _ => true,
        }
    });
    told.map(|(key, value, line)| match value {
        Value::Word(word) => format!("{key} {word} (line {line})"),
        _ => format!("{key} (line {line})"),
    })
    .collect()
}

/// Skews in revolutions that are not whole numbers of sectors, but are simulated as such.
fn of_skews(layout: &Block, zone: &Block) -> Vec<String> {
    let unit = zone.get("Skew units").or_else(|| layout.get("Skew units"));
    let sectors = zone.number("Blocks per track").filter(|_| in_revolutions(unit) == Ok(true));
    let told = zone.fields.iter().filter(|(key, ..)| SKEWS.contains(&key.as_str()));
    let broken = told.filter_map(|(key, value, line)| {
        let Value::Number(revolutions) = value else { return None };
        let exact = revolutions * sectors?;
        let taken = libm::round(exact);
        ((exact - taken).abs() > WHOLE).then(|| {
            format!(
                "the fraction of a sector in {key} {revolutions} (line {line}), taken for {taken} sectors"
            )
        })
    });
    broken.collect()
}

/// Kinds of seek and access that are simulated as other kinds.
fn of_mechanism(block: &Block) -> Vec<String> {
    let simulated = [
        ("Access time type", "trackSwitchPlusRotation"),
        ("Seek type", "extracted hpl hplplus10 curve threepoint_curve constant"),
    ];
    let told = block.fields.iter().filter(|(key, value, _)| {
        let of = simulated.iter().find(|(name, _)| name == key);
        of.is_some_and(|(_, kinds)| {
            !matches!(value, Value::Word(kind) if kinds.split(' ').any(|known| known == kind))
        })
    });
    told.map(|(key, value, line)| match value {
        Value::Word(kind) => format!("{key} {kind} (line {line})"),
        _ => format!("{key} (line {line})"),
    })
    .collect()
}
