//! Fixtures of many tests: a drive simple enough to be worked out by hand, variants of it,
//! requests, and a file.

use crate::catalog::Files;
use crate::drive::{Drive, Parameters};
use crate::job::{Arrivals, Configuration, Job, jobs};
use crate::layout::{Remap, TrackOrder, TrackRun};
use crate::seek::SeekCurve;
use crate::simulate::simulate;
use ioscape_schema::{Io, Op, Request};
use std::path::Path;

/// 100 cylinders, 2 heads, 100 sectors per track, 10 ms per rotation, a seek of 1 ms + 0.1 ms per
/// cylinder; nothing else takes time.
pub const SIMPLE: &str = r#"
name = "simple"
title = "Simple"
status = "generic"
sector_bytes = 512
heads = 2
cylinders = 100
rotation_ms = 10.0
seek = { form = "table", points = [[1, 1.1], [99, 10.9]] }
mechanism = { head_switch_ms = 0.5 }
controller = { read_before_ms = 0.0, read_after_ms = 0.0, write_before_ms = 0.0, write_after_ms = 0.0 }
bus = { name = "none", to_host_bytes_per_s = 1e12, to_drive_bytes_per_s = 1e12, transfer = "store-and-forward" }
buffer = { bytes = 51200 }
zones = [{ first_cylinder = 0, last_cylinder = 99, sectors_per_track = 100, track_skew = 10, cylinder_skew = 20 }]
[sources]
all = "made up"
"#;

/// The parameters of [`SIMPLE`].
pub fn simple_parameters() -> Parameters {
    Parameters::parse(SIMPLE, "simple.toml").expect("the simple drive is valid")
}

/// The drive of [`SIMPLE`].
pub fn simple() -> Drive {
    simple_parameters().build().expect("the simple drive can be built")
}

/// A drive on which every access takes `ms` milliseconds, and the bus no time: no seek, and a
/// rotation too short to matter.
pub fn constant(ms: f64) -> Drive {
    let mut parameters = simple_parameters();
    parameters.rotation_ms = 0.0001;
    parameters.seek = SeekCurve::Constant { time: 0.0 };
    parameters.mechanism.head_switch_ms = 0.0;
    (parameters.controller.read_before_ms, parameters.controller.write_before_ms) = (ms, ms);
    parameters.build().expect("the drive can be built")
}

/// Returns these requests, issued at their recorded times, with the times that the drive `truth`
/// takes for them.
pub fn timed(truth: &Parameters, rows: &[Io]) -> Vec<Job> {
    let drive = truth.build().unwrap();
    let mut all = jobs(rows, &[0], &drive).unwrap();
    let disk = drive.buffer.usual();
    let options = Configuration { disk, arrivals: Arrivals::Issued, ..Configuration::default() };
    let run = simulate(&drive, &all, &options);
    for (job, row) in all.iter_mut().zip(&run.rows) {
        job.io = row.io;
    }
    all
}

/// Drives on which longer seeks may be shorter, writes settle sooner than reads, blocks do not follow the cylinders, or
/// the buffer has segments.
pub fn unlike() -> Vec<Drive> {
    let changed = |change: fn(&mut Parameters)| {
        let mut parameters = simple_parameters();
        change(&mut parameters);
        parameters.build().unwrap()
    };
    vec![
        simple(),
        changed(|p| {
            let points = vec![(1, 3.0), (20, 1.0), (40, 6.0), (99, 2.0)];
            p.seek = SeekCurve::Table { points };
            p.mechanism.write_settle_ms = -0.8;
        }),
        changed(|p| p.seek = SeekCurve::Constant { time: 0.0 }),
        changed(|p| p.buffer.segments = 4),
        changed(|p| p.track_order = TrackOrder::Serpentine),
        changed(|p| {
            p.remaps = vec![Remap { block: 12, cylinder: 99, head: 1, sector: 50 }];
            p.blocks = Some(19_000);
        }),
        changed(|p| {
            let run = TrackRun {
                tracks: 100,
                sectors_per_track: 100,
                blocks_per_track: 100,
                cylinder_step: 1,
                ..TrackRun::default()
            };
            let back = TrackRun { cylinder: 99, cylinder_step: -1, head: 1, ..run };
            (p.zones, p.track_runs) = (Vec::new(), vec![run, back]);
        }),
    ]
}

/// A single file with this name and text.
pub struct One(pub &'static str, pub &'static str);

impl Files for One {
    fn exists(&self, path: &Path) -> bool {
        path == Path::new(self.0)
    }

    fn text(&self, path: &Path) -> Result<String, String> {
        self.exists(path).then(|| self.1.to_owned()).ok_or_else(|| "nothing is here".to_owned())
    }

    fn names(&self, _folder: &Path) -> Result<Vec<String>, String> {
        Ok(vec![self.0.to_owned()])
    }

    fn left_out(&self, _what: &[String]) {}
}

/// A row without times.
pub fn io(op: Op, offset: u64, len: u32, queued_ns: u64) -> Io {
    let request = Request { op, offset, len };
    Io { request, queued_ns, issued_ns: queued_ns, completed_ns: queued_ns, ..Io::default() }
}
