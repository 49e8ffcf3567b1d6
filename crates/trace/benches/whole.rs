//! Reading and the whole default analysis of a trace in a file, on one core: Parquet, MSR text, blktrace records; peers for comparison.
//!
//! `cargo bench -p ioscape-trace --bench whole [-- FOLDER [far] MILLIONS...]` writes the made-up trace into FOLDER, measures it, and
//! removes it; `far` has requests far apart. Each measurement is a process of its own, so that the peak of memory is its own; times are of the processor. The
//! blktrace file has five records a request and is left out above 10 million requests (2.4 GB).
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![allow(clippy::disallowed_methods)]

mod made_up;

use ioscape_trace::analyze::{Analysis, AnalysisOptions};
use ioscape_trace::{Source, open};
use made_up::{children_cpu_s, cpu_s, peak_mib, write_blktrace, write_msr, write_parquet};
use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::process::Command;

/// Most millions of requests that are written as blktrace's records.
const MOST_BLKTRACE: u64 = 10;
const RECORDS_PER_REQUEST: f64 = 5.0;

/// Reads and analyses one file, in this process.
fn measure(path: &Path) -> Result<(), Box<dyn Error>> {
    let before = cpu_s();
    let source = Source::file(path.display().to_string(), File::open(path)?);
    let mut reader = open(vec![source], &ioscape_trace::ReadOptions::default())?;
    let mut batch = Vec::new();
    let mut analysis: Option<Analysis> = None;
    while reader.next_batch(&mut batch)? {
        let new = || Analysis::new(&AnalysisOptions::default().beginning(reader.info()));
        let analysis = analysis.get_or_insert_with(new);
        analysis.name_devices(&reader.info().devices);
        analysis.gather(&batch);
    }
    let mut analysis = analysis.ok_or("an empty trace")?;
    analysis.settle();
    let summary = analysis.finish("made up", reader.info());
    let spent = cpu_s() - before;
    let format = path.extension().unwrap_or_default().to_string_lossy();
    let records = if format == "blktrace" { RECORDS_PER_REQUEST } else { 1.0 };
    println!(
        "{format:<10} {:>6} M requests   {:>6.2} M records/s   {:>5.0} bytes a request   {:>5.0} MiB at most",
        (summary.ios as f64 / 1e6).round(),
        summary.ios as f64 * records / spent / 1e6,
        path.metadata()?.len() as f64 / summary.ios as f64,
        peak_mib()
    );
    Ok(())
}

/// Runs another program in `folder`, for btt leaves files where it runs; its answer is left unread, its processor time told.
fn peer(folder: &Path, name: &str, program: &str, words: &[&str]) {
    let begun = children_cpu_s();
    match Command::new(program).args(words).current_dir(folder).output() {
        Ok(output) if output.status.success() => {
            println!("{name:<28} {:>7.2} s", children_cpu_s() - begun);
        }
        Ok(output) => println!("{name:<28} failed: {}", output.status),
        Err(error) => println!("{name:<28} not here: {error}"),
    }
}

/// Three questions of the many that the analysis answers, put to engines of tables; both on one core.
const QUERIES: [(&str, &str); 2] = [
    (
        "DuckDB, three queries",
        "import duckdb,sys\nc=duckdb.connect(); c.execute('set threads=1')\nt=f\"read_parquet('{sys.argv[1]}')\"\n\
         for q in (f'select is_write,count(*),avg(completed_ns-queued_ns),quantile_cont(completed_ns-queued_ns,0.99) from {t} group by 1',\
         f'select queued_ns//1000000000,count(*),sum(length_bytes) from {t} group by 1',\
         f'select device,offset_bytes//8192 b,count(*) n from {t} where is_write group by 1,2 order by n desc limit 1000'): c.execute(q).fetchall()",
    ),
    (
        "Polars, three queries",
        "import os,sys\nos.environ['POLARS_MAX_THREADS']='1'\nimport polars as p\nt=p.scan_parquet(sys.argv[1]); e=p.col('completed_ns')-p.col('queued_ns')\n\
         t.group_by('is_write').agg(p.len(),e.mean().alias('m'),e.quantile(0.99).alias('q')).collect()\n\
         t.group_by(p.col('queued_ns')//1000000000).agg(p.len(),p.col('length_bytes').sum().alias('s')).collect()\n\
         t.filter(p.col('is_write')).group_by('device',p.col('offset_bytes')//8192).agg(p.len().alias('n')).sort('n',descending=True).limit(1000).collect()",
    ),
];

fn peers(folder: &Path, parquet: &str, blktrace: Option<&str>) {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    for (name, script) in QUERIES {
        peer(folder, name, &python, &["-c", script, parquet]);
    }
    if let Some(path) = blktrace {
        peer(folder, "btt", "btt", &["-i", path]);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let (far, args): (Vec<String>, Vec<String>) = args.partition(|arg| arg == "far");
    let far = !far.is_empty();
    if let [flag, path] = &args[..]
        && flag == "--measure"
    {
        return measure(Path::new(path));
    }
    let folder = std::path::absolute(args.first().map_or(".", String::as_str))?;
    let aside = folder.join("made-up-peers");
    let sizes = args.iter().skip(1).map(|arg| arg.parse()).collect::<Result<Vec<u64>, _>>()?;
    for millions in if sizes.is_empty() { vec![1, 10] } else { sizes } {
        let place = |ending: &str| folder.join(format!("made-up-{millions}.{ending}"));
        let (parquet, msr, blktrace) = (place("parquet"), place("msr"), place("blktrace"));
        write_parquet(&parquet, millions, far)?;
        write_msr(&msr, millions, far)?;
        let small = millions <= MOST_BLKTRACE;
        if small {
            write_blktrace(&blktrace, millions, far)?;
        }
        for path in [&parquet, &msr, &blktrace].into_iter().filter(|path| path.exists()) {
            let this = std::env::current_exe()?;
            let done = Command::new(this).arg("--measure").arg(path).status()?;
            if !done.success() {
                return Err("a measurement failed".into());
            }
        }
        let text = |path: &Path| path.display().to_string();
        std::fs::create_dir(&aside)?;
        peers(&aside, &text(&parquet), small.then(|| text(&blktrace)).as_deref());
        for path in [&parquet, &msr, &blktrace].into_iter().filter(|path| path.exists()) {
            std::fs::remove_file(path)?;
        }
        std::fs::remove_dir_all(&aside)?;
    }
    Ok(())
}
