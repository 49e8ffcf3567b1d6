//! Runs of `vxbench` on the page: a table of users, and what was found about concurrent writers.

use super::tables::table;
use crate::text::{esc, fine_seconds};
use crate::verify;
use ioscape_schema::units::{Bytes, Rate};
use ioscape_schema::{VxFigures, VxRun, Vxbench};

/// All runs and findings.
pub fn vxbench(result: &Vxbench) -> String {
    let mut out = String::new();
    for run in &result.runs {
        out += &format!(
            "<h2>{}</h2><p class=\"lead\">Requests of {}, {} on each file.</p>{}",
            esc(run.job.workload.name()),
            Bytes(run.job.iosize as f64),
            if run.job.nthreads == 1 {
                "one stream".to_owned()
            } else {
                format!("{} streams", run.job.nthreads)
            },
            users(run)
        );
        out += &verify::html(run.verify.as_ref(), "");
    }
    if !result.single_writer.is_empty() {
        out += "<h2>Concurrent writers</h2><ul>";
        for one in &result.single_writer {
            out += &format!("<li>{}</li>", esc(&one.sentence));
        }
        out += "</ul>";
    }
    out
}

fn users(run: &VxRun) -> String {
    let head =
        ["User", "File", "Bytes", "Elapsed s", "Throughput", "System s", "User s", "Extents"];
    let cells = |name: String, path: &str, figures: &VxFigures, extents: Option<u64>| {
        vec![
            name,
            path.to_owned(),
            Bytes(figures.bytes as f64).to_string(),
            fine_seconds(figures.elapsed_s),
            Rate(figures.throughput_bytes_per_s).to_string(),
            fine_seconds(figures.cpu_system_s),
            fine_seconds(figures.cpu_user_s),
            extents.map_or_else(|| "\u{2013}".to_owned(), |n| n.to_string()),
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
