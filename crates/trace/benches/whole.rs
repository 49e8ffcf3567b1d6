//! The commands `trace analyze` and `trace import` beside DuckDB, Polars, libCacheSim and btt on one made-up trace, by turns.
//!
//! `cargo bench -p ioscape-trace --bench whole [-- FOLDER [far] [rounds N] MILLIONS...]` writes the trace into FOLDER as Parquet, MSR
//! text and blktrace's records, runs every program on it in each round, and removes it; `far` has requests far apart. The program
//! measured is `IOSCAPE_BINARY`, or `ioscape` beside the benchmark (`cargo build --release` makes it). Peers in Python are run by
//! `$PYTHON` where it has them. Times are of the processor; all run on one core, but an import reads and writes in two threads.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![allow(clippy::disallowed_methods)]

mod made_up;

use made_up::{children_cpu_s, write_blktrace, write_msr, write_parquet};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Rounds unless told otherwise: the extremes of so many are an interval of 97 % for the median, for 2 (1/2)^6 of all medians lie outside.
const ROUNDS: usize = 6;
/// Events of blktrace a request.
const RECORDS_PER_REQUEST: f64 = 5.0;

/// Three questions of the many that the analysis answers, put to engines of tables; both on one core. Only the questions are timed.
const DUCKDB: &str = "import duckdb,sys,time\nc=duckdb.connect(); c.execute('set threads=1')\nt=f\"read_parquet('{sys.argv[1]}')\"; b=time.process_time()\n\
     for q in (f'select is_write,count(*),avg(completed_ns-queued_ns),quantile_cont(completed_ns-queued_ns,0.99) from {t} group by 1',\
     f'select queued_ns//1000000000,count(*),sum(length_bytes) from {t} group by 1',\
     f'select device,offset_bytes//8192 b,count(*) n from {t} where is_write group by 1,2 order by n desc limit 1000'): c.execute(q).fetchall()\n\
     print(time.process_time()-b)";
const POLARS: &str = "import os,sys,time\nos.environ['POLARS_MAX_THREADS']='1'\nimport polars as p; b=time.process_time()\n\
     t=p.scan_parquet(sys.argv[1]); e=p.col('completed_ns')-p.col('queued_ns')\n\
     t.group_by('is_write').agg(p.len(),e.mean().alias('m'),e.quantile(0.99).alias('q')).collect()\n\
     t.group_by(p.col('queued_ns')//1000000000).agg(p.len(),p.col('length_bytes').sum().alias('s')).collect()\n\
     t.filter(p.col('is_write')).group_by('device',p.col('offset_bytes')//8192).agg(p.len().alias('n')).sort('n',descending=True).limit(1000).collect()\n\
     print(time.process_time()-b)";
/// Hits of one LRU cache of 1 GiB, one point of the one curve among what the analysis tells.
const CACHE: &str = "import libcachesim as l,sys,time\n\
     p=l.ReaderInitParam(has_header=False,has_header_set=True,delimiter=',',obj_id_is_num=True,obj_id_is_num_set=True)\n\
     p.time_field,p.obj_id_field,p.obj_size_field=1,5,6\n\
     b=time.process_time(); r=l.TraceReader(sys.argv[1],l.TraceType.CSV_TRACE,p); l.LRU(1<<30).process_trace(r)\n\
     print(time.process_time()-b)";

/// A program on one file.
struct Job {
    name: &'static str,
    program: PathBuf,
    words: Vec<String>,
    /// Millions of requests, or of records, that it takes in.
    millions: f64,
    /// Place in the list of the job of ours that it stands beside.
    beside: Option<usize>,
    spent_s: Vec<f64>,
}

impl Job {
    /// Runs it in `folder`, for btt leaves files where it runs; its time is what it prints, or else what its process took.
    fn run(&mut self, folder: &Path) {
        let begun = children_cpu_s();
        let ran = Command::new(&self.program).args(&self.words).current_dir(folder).output();
        let Ok(output) = ran else { return };
        if output.status.success() {
            let printed = String::from_utf8_lossy(&output.stdout).trim().parse().ok();
            self.spent_s.push(printed.unwrap_or_else(|| children_cpu_s() - begun));
        }
    }

    fn rates(&self) -> Vec<f64> {
        self.spent_s.iter().map(|spent| self.millions / spent).collect()
    }
}

/// The median and the extremes.
fn shown(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    let count = values.len();
    if count == 0 {
        return "not here, or it failed".to_owned();
    }
    let median = f64::midpoint(values[(count - 1) / 2], values[count / 2]);
    format!("{median:.2} ({:.2} to {:.2})", values[0], values[count - 1])
}

/// The files of one trace.
struct Files {
    parquet: String,
    msr: String,
    blktrace: String,
    imported: String,
}

impl Files {
    fn write(folder: &Path, millions: u64, far: bool) -> Result<Self, Box<dyn Error>> {
        let place =
            |ending: &str| folder.join(format!("made-up-{millions}{ending}")).display().to_string();
        let files = Self {
            parquet: place(".parquet"),
            msr: place(".msr"),
            blktrace: place(".blktrace"),
            imported: place("-imported.parquet"),
        };
        write_parquet(Path::new(&files.parquet), millions, far)?;
        write_msr(Path::new(&files.msr), millions, far)?;
        write_blktrace(Path::new(&files.blktrace), millions, far)?;
        Ok(files)
    }

    fn remove(&self) -> Result<(), Box<dyn Error>> {
        for path in [&self.parquet, &self.msr, &self.blktrace, &self.imported] {
            if Path::new(path).exists() {
                std::fs::remove_file(path)?;
            }
        }
        Ok(())
    }

    /// What is run on them: ours, and behind it the peers that stand beside it.
    fn jobs(&self, ours: &Path, millions: f64) -> Vec<Job> {
        let python =
            PathBuf::from(std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned()));
        let words = |all: &[&str]| all.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let job = |name, program: &Path, all: &[&str], millions, beside| Job {
            name,
            program: program.to_owned(),
            words: words(all),
            millions,
            beside,
            spent_s: Vec::new(),
        };
        let analyze = |file| ["trace", "analyze", file, "--threads", "1", "--json"];
        let import = |file| ["trace", "import", file, "-o", &self.imported, "--force", "--json"];
        let (parquet, msr, blktrace) = (&*self.parquet, &*self.msr, &*self.blktrace);
        let records = RECORDS_PER_REQUEST * millions;
        let btt = Path::new("btt");
        vec![
            job("`trace analyze`, Parquet", ours, &analyze(parquet), millions, None),
            job("DuckDB, three queries", &python, &["-c", DUCKDB, parquet], millions, Some(0)),
            job("Polars, three queries", &python, &["-c", POLARS, parquet], millions, Some(0)),
            job("`trace analyze`, MSR text", ours, &analyze(msr), millions, None),
            job("libCacheSim, one LRU cache", &python, &["-c", CACHE, msr], millions, Some(3)),
            job("`trace import`, MSR text", ours, &import(msr), millions, None),
            job("`trace analyze`, blktrace, records", ours, &analyze(blktrace), records, None),
            job("btt, records", btt, &["-i", blktrace], records, Some(6)),
            job("`trace import`, blktrace, records", ours, &import(blktrace), records, None),
        ]
    }
}

fn table(jobs: &[Job]) {
    println!(
        "| program, input | million/s of one core | times the processor time of ours |\n|---|---:|---:|"
    );
    for job in jobs {
        let beside = job.beside.map(|at| {
            let pairs = job.spent_s.iter().zip(&jobs[at].spent_s);
            shown(pairs.map(|(theirs, ours)| theirs / ours).collect())
        });
        println!("| {} | {} | {} |", job.name, shown(job.rates()), beside.unwrap_or_default());
    }
}

/// What is measured: as told, or the release build beside this benchmark.
fn ours() -> Result<PathBuf, Box<dyn Error>> {
    if let Some(told) = std::env::var_os("IOSCAPE_BINARY") {
        return Ok(std::path::absolute(told)?);
    }
    let beside = std::env::current_exe()?.ancestors().nth(2).map(|folder| folder.join("ioscape"));
    beside.filter(|path| path.is_file()).ok_or_else(|| {
        "there is no ioscape beside this benchmark: cargo build --release, or name one in IOSCAPE_BINARY".into()
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let count = args.len();
    args.retain(|arg| arg != "far");
    let far = args.len() < count;
    let rounds = match args.iter().position(|arg| arg == "rounds") {
        Some(at) => args
            .drain(at..(at + 2).min(args.len()))
            .next_back()
            .map_or(Ok(ROUNDS), |word| word.parse())?,
        None => ROUNDS,
    };
    let folder =
        std::path::absolute(args.first().map_or(env!("CARGO_TARGET_TMPDIR"), String::as_str))?;
    let sizes = args.iter().skip(1).map(|arg| arg.parse()).collect::<Result<Vec<u64>, _>>()?;
    let (ours, aside) = (ours()?, folder.join("made-up-peers"));
    for millions in if sizes.is_empty() { vec![4] } else { sizes } {
        let files = Files::write(&folder, millions, far)?;
        let mut jobs = files.jobs(&ours, millions as f64);
        std::fs::create_dir(&aside)?;
        for _ in 0..rounds {
            jobs.iter_mut().for_each(|job| job.run(&aside));
        }
        println!(
            "{millions} million requests{}, {rounds} rounds\n",
            if far { " far apart" } else { "" }
        );
        table(&jobs);
        files.remove()?;
        std::fs::remove_dir_all(&aside)?;
    }
    Ok(())
}
