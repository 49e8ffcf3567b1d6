//! Runs of `vxbench` on the page: a table of users, and the findings about concurrent writers.

use super::tables::table;
use super::values::sentences;
use crate::text::{esc, fine_seconds, none, told_time as time};
use crate::{clients, verify};
use ioscape_schema::units::{Bytes, Rate};
use ioscape_schema::{VxFigures, VxRun, Vxbench};

/// All runs and findings.
pub fn vxbench(result: &Vxbench) -> String {
    let mut out = String::new();
    for run in &result.runs {
        out += &format!(
            "<h2>{}</h2><p class=\"lead\">Requests of {}, {} on each file.</p>{}",
            esc(run.job.workload.word()),
            Bytes(run.job.iosize as f64),
            if run.job.nthreads == 1 {
                "one stream".to_owned()
            } else {
                format!("{} streams", run.job.nthreads)
            },
            users(run)
        );
        out += &clients::html(run.clients.as_ref(), "");
        out += &verify::html(run.verify.as_ref(), "");
    }
    if !result.single_writer.is_empty() {
        let told = result.single_writer.iter().map(|one| one.sentence.as_str());
        out += &format!("<h2>Concurrent writers</h2>{}", sentences("finding", (1..).zip(told)));
    }
    out
}

fn users(run: &VxRun) -> String {
    let head = [
        "User",
        "File",
        "Bytes",
        "Elapsed s",
        "Throughput",
        "System s",
        "User s",
        "p50",
        "p99",
        "fsync p50",
        "fsync p99",
        "Extents",
    ];
    let cells = |name: String, path: &str, figures: &VxFigures, extents: Option<u64>| {
        let split = figures.is_split();
        let requests = figures.response_time_ns;
        vec![
            name,
            path.to_owned(),
            Bytes(figures.bytes as f64).to_string(),
            fine_seconds(figures.elapsed_s),
            Rate(figures.throughput_bytes_per_s).to_string(),
            fine_seconds(if split { figures.cpu_system_s } else { figures.cpu_s() }),
            if split { fine_seconds(figures.cpu_user_s) } else { "in system".to_owned() },
            time(requests.map(|times| times.p50)),
            time(requests.and_then(|times| times.p99_of(figures.ios))),
            time(figures.fsync_ns.map(|times| times.p50)),
            time(figures.fsync_ns.and_then(|times| times.p99_below_longest())),
            extents.map_or_else(none, |n| n.to_string()),
        ]
    };
    let mut rows = Vec::new();
    for (user, file) in (1..).zip(&run.files) {
        rows.push(cells(user.to_string(), &file.path, &file.figures, file.extents));
        for (thread, one) in (1..).zip(&file.threads).filter(|_| file.threads.len() > 1) {
            rows.push(cells(format!("{user}, thread {thread}"), "", one, None));
        }
    }
    rows.push(cells("all".to_owned(), "", &run.total, None));
    table("", &head, rows.into_iter())
}
