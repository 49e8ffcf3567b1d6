//! Runs of `vxbench` as comma-separated values: a row per file and one for their total.

use super::rows::{line, number, of_times};
use ioscape_schema::{VxFigures, VxFile, Vxbench};

const HEADER: &str = "run,file,path,ios,bytes,elapsed_s,throughput_bytes_per_s,cpu_user_s,cpu_system_s,cpu_split_told,\
response_p50_ns,response_p99_ns,response_max_ns,fsync_p50_ns,fsync_p99_ns,fsync_max_ns,size_bytes,extents,reservation_s";

/// Every file of every run, numbered from 1, and the total of each run after its files.
pub fn files(vxbench: &Vxbench) -> String {
    let mut out = format!("{HEADER}\n");
    for (number, run) in (1..).zip(&vxbench.runs) {
        let run_number = number.to_string();
        for (file, one) in (1..).zip(&run.files) {
            row(&mut out, [&run_number, &file.to_string()], &one.figures, Some(one));
        }
        row(&mut out, [&run_number, "total"], &run.total, None);
    }
    out
}

fn row(out: &mut String, names: [&str; 2], figures: &VxFigures, file: Option<&VxFile>) {
    let begin = [
        file.map_or_else(String::new, |one| one.path.clone()),
        figures.ios.to_string(),
        figures.bytes.to_string(),
        figures.elapsed_s.to_string(),
        figures.throughput_bytes_per_s.to_string(),
        figures.cpu_user_s.to_string(),
        figures.cpu_system_s.to_string(),
        number(figures.cpu_split_told),
    ];
    let end = [
        number(file.and_then(|one| one.size_bytes)),
        number(file.and_then(|one| one.extents)),
        number(file.and_then(|one| one.reservation_s)),
    ];
    let times = [figures.response_time_ns, figures.fsync_ns].into_iter().flat_map(of_times);
    let fields: Vec<String> = begin.into_iter().chain(times).chain(end).collect();
    out.push_str(&line(names.into_iter().chain(fields.iter().map(String::as_str))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::VxRun;

    #[test]
    fn files_and_totals_have_all_columns() {
        let file = VxFile { path: "a,b".into(), extents: Some(7), ..VxFile::default() };
        let run = VxRun { files: vec![file], ..VxRun::default() };
        let text = files(&Vxbench { runs: vec![run], ..Vxbench::default() });
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].starts_with("1,1,\"a,b\",0,0,0,0,0,0,,"), "not told apart: {text}");
        assert!(lines[1].ends_with(",,7,") && lines[2].starts_with("1,total,,0"), "{text}");
        assert_eq!(lines[2].split(',').count(), HEADER.split(',').count());
    }
}
