//! The lines of `vxbench`: per file, per thread, and a summary.
//!
//! Each has elapsed time, throughput and processor time.

use super::ink::Style;
use crate::text::fine_seconds;
use crate::{clients, verify};
use ioscape_schema::units::Nanos;
use ioscape_schema::{ResponseTime, VxFigures, VxRun, VxShow, Vxbench};

/// The width of the names before the colon.
const NAME_WIDTH: usize = 18;

/// All runs, then the findings about concurrent writers.
pub fn text(vxbench: &Vxbench, style: &Style) -> String {
    let mut out = String::new();
    for run in &vxbench.runs {
        out += &style.drawing(&lines(run, vxbench.show, &style.plain()));
        out += &clients::text(run.clients.as_ref(), "", style);
        out += &verify::text(run.verify.as_ref(), "", style);
    }
    if !vxbench.single_writer.is_empty() {
        out += &format!("{}\n", style.heading("Concurrent writers"));
        let bullet = style.bullet();
        for one in &vxbench.single_writer {
            out += &style.paragraph(bullet, "    ", &one.sentence);
        }
    }
    out
}

fn lines(run: &VxRun, show: VxShow, style: &Style) -> String {
    let mut out = String::new();
    for (user, file) in (1..).zip(&run.files).filter(|_| !show.summary_only) {
        for (thread, one) in (1..).zip(&file.threads).filter(|_| show.per_thread) {
            out += &line(&format!("user {user} thread {thread}"), one, show, "");
        }
        let reserved = file.reservation_s.map(|s| format!(" (reserved in {} s)", fine_seconds(s)));
        let path = format!("  {}{}", style.clean(&file.path), reserved.unwrap_or_default());
        out += &line(&format!("user {user}"), &file.figures, show, &path);
    }
    let (sum, word) = (run.total.cpu_s(), style.pick("\u{2009}+\u{2009}", " + "));
    let both = match run.total.ios > 0 && run.total.is_split() {
        true => format!("  = {} sys{word}user", fine_seconds(sum)),
        false => String::new(),
    };
    out + &line("total", &run.total, show, &(both + &latencies(run)))
}

/// The median and 99th percentile of the requests, and of the `fsync` that follows them; of few, the
/// longest time.
fn latencies(run: &VxRun) -> String {
    let told = |name: &str, times: Option<ResponseTime>| {
        let shown = |ns: u64| Nanos(ns as f64).to_string();
        let text = |t: ResponseTime| {
            let (of, tail) = t.p99_below_longest().map_or(("longest", t.max), |ns| ("p99", ns));
            format!("  {name}p50 {}, {of} {}", shown(t.p50), shown(tail))
        };
        times.map_or_else(String::new, text)
    };
    told("", run.total.response_time_ns) + &told("fsync ", run.total.fsync_ns)
}

/// `user 1: 4.21 sec 249012.50 KB/s cpu: 0.31 sys 0.01 user`.
fn line(name: &str, figures: &VxFigures, show: VxShow, more: &str) -> String {
    let (unit, bytes) = if show.megabytes { ("MB/s", 1024.0 * 1024.0) } else { ("KB/s", 1024.0) };
    let name = format!("{name}:");
    let elapsed = fine_seconds(figures.elapsed_s);
    // A run that only reserves space has no throughput, and no stream whose processor time matters.
    if figures.ios == 0 {
        return format!("{name:<NAME_WIDTH$} {elapsed:>9} sec, no I/O{more}\n");
    }
    let cpu = match figures.is_split() {
        false => format!("{:>8} sys and user", fine_seconds(figures.cpu_s())),
        true => format!(
            "{:>8} sys {:>8} user",
            fine_seconds(figures.cpu_system_s),
            fine_seconds(figures.cpu_user_s)
        ),
    };
    format!(
        "{name:<NAME_WIDTH$} {elapsed:>9} sec {:>13.2} {unit}  cpu: {cpu}{more}\n",
        figures.throughput_bytes_per_s / bytes,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::VxFile;

    fn figures(bytes: u64) -> VxFigures {
        VxFigures {
            ios: 128,
            bytes,
            elapsed_s: 2.0,
            throughput_bytes_per_s: bytes as f64 / 2.0,
            cpu_user_s: 0.25,
            cpu_system_s: 1.5,
            cpu_split_told: Some(true),
            ..VxFigures::default()
        }
    }

    /// Guards against a defect: results that do not say whether the times are apart, as older ones
    /// do not, were shown with "0.000 sys" for megabytes written.
    #[test]
    fn times_that_may_not_be_apart_are_shown_as_one() {
        let old = VxFigures { cpu_split_told: None, ..figures(64 << 20) };
        let shown = line("user 1", &old, VxShow::default(), "");
        assert!(shown.ends_with("1.750 sys and user\n"), "{shown}");
    }

    fn sample(show: VxShow) -> String {
        let file = |path: &str| VxFile {
            path: path.into(),
            figures: figures(64 << 20),
            threads: vec![figures(32 << 20); 2],
            ..VxFile::default()
        };
        let runs = vec![VxRun {
            files: vec![file("/data/a"), file("/data/\u{1b}[31mb")],
            total: figures(128 << 20),
            ..VxRun::default()
        }];
        text(&Vxbench { show, runs, ..Vxbench::default() }, &Style::default())
    }

    #[test]
    fn files_threads_and_summary_have_a_line_each() {
        insta::assert_snapshot!(sample(VxShow { per_thread: true, ..VxShow::default() }));
    }

    #[test]
    fn space_that_is_only_reserved_has_no_throughput() {
        let figures = VxFigures { elapsed_s: 0.5, ..VxFigures::default() };
        let file = VxFile {
            path: "/data/a".into(),
            figures,
            reservation_s: Some(0.5),
            ..VxFile::default()
        };
        let runs = vec![VxRun { files: vec![file], total: figures, ..VxRun::default() }];
        let text = text(&Vxbench { runs, ..Vxbench::default() }, &Style::default());
        assert!(text.contains("0.500 sec, no I/O  /data/a (reserved in 0.500 s)"), "{text}");
        assert!(!text.contains("/s ") && !text.contains("cpu"), "{text}");
    }

    #[test]
    fn the_summary_alone_in_megabytes() {
        let show = VxShow { summary_only: true, megabytes: true, per_thread: false };
        insta::assert_snapshot!(sample(show));
    }
}
