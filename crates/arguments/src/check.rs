//! Which options go together, as far as the parser alone cannot express it: each refusal is a
//! sentence for the user.

use super::value::is_job_file;
use super::{
    AbArgs, AskedArgs, CampaignAction, CampaignRunArgs, Command, EvaluateArgs, PredictArgs,
    RecordArgs, ReportArgs, RunArgs, SimulateArgs, TraceCommand, TwinArgs, ValidateArgs,
    VxbenchArgs, WorkloadArgs,
};
use ioscape_scaling::model::ModelKind;
use ioscape_schema::units::Bytes;
use ioscape_simulate::combinations::Sweep;
use ioscape_simulate::twin;
use ioscape_study::reach::UNIQUE_BYTES_MIN;
use ioscape_trace::OutFormat;
use std::path::Path;

/// Options by name, with whether they are given.
type Given<'a> = &'a [(&'static str, bool)];

impl Command {
    /// Refuses options that contradict one another; `is_standard` tells whether an output goes to
    /// standard output.
    pub fn check(&self, is_standard: impl Fn(&Path) -> bool) -> Result<(), String> {
        self.standard_once(&is_standard)?;
        match self {
            Self::Evaluate(args) => evaluate(args),
            Self::Run(args) => run(args),
            Self::Predict(args) => predict(args),
            Self::Compare(args) => asked(&args.asked),
            Self::Ab(args) => ab(args),
            Self::Validate(args) => validate(args),
            Self::Vxbench(args) => vxbench(args),
            Self::Campaign(args) => match &args.action {
                CampaignAction::Run(args) => campaign(args),
                CampaignAction::List | CampaignAction::Show { .. } => Ok(()),
            },
            Self::Trace(args) => match &args.command {
                TraceCommand::Record(args) => record(args, is_standard),
                TraceCommand::Replay(args) => rows(args.kept_rows.as_deref()),
                TraceCommand::Compare(args)
                    if [&args.first, &args.second] == [Path::new("-"); 2] =>
                {
                    Err("-: can be read only once".to_owned())
                }
                _ => Ok(()),
            },
            Self::Simulate(args) => rows(args.rows.as_deref()),
            Self::Twin(args) => twin(args),
            Self::Report(args) => report(args),
            _ => Ok(()),
        }
    }
}

/// The name of the first option that is given.
fn first(given: Given) -> Option<&'static str> {
    given.iter().find(|(_, is_given)| *is_given).map(|(name, _)| *name)
}

/// Refuses options for a single machine when several clients measure.
fn alone(clients: Option<u32>, given: Given) -> Result<(), String> {
    match clients.and_then(|_| first(given)) {
        Some(name) => Err(format!("{name} is not for several clients")),
        None => Ok(()),
    }
}

/// Refuses a file name for rows that does not show their format.
fn rows(path: Option<&Path>) -> Result<(), String> {
    path.map_or(Ok(()), |path| OutFormat::of_rows(path).map(drop))
}

/// Refuses options that describe a workload together with a file or set that does.
fn described_once(place: Option<&Path>, is_described: bool) -> Result<(), String> {
    match place.filter(|_| is_described) {
        None => Ok(()),
        Some(place) => Err(format!(
            "{} already lists the workloads: leave it out, or the options that describe one",
            place.display()
        )),
    }
}

fn is_described(options: &WorkloadArgs) -> bool {
    *options != WorkloadArgs::default()
}

fn evaluate(args: &EvaluateArgs) -> Result<(), String> {
    let clients = args.together.clients;
    let real = [
        ("--clients", clients.is_some()),
        ("--memory", args.memory.is_some()),
        ("--direct-above", args.direct_above.is_some()),
        ("--engine", args.engine.is_some()),
        ("--queue-depth", args.queue_depth.is_some()),
        ("--workers", args.workers.is_some()),
        ("--destroy-data", args.destroy_data),
    ];
    of_real_targets(args.simulated(), &real)?;
    if args.simulated().is_some() && args.resume.is_some() {
        return Err("--resume is for real targets: what is simulated is begun anew".to_owned());
    }
    if args.simulated().is_none() && args.precondition.is_some() {
        return Err("--precondition is for simulated targets, sim:SYSTEM or sim:DRIVE".to_owned());
    }
    // An evaluation begun before this minimum existed can still be continued.
    let is_begun_here = args.simulated().is_none() && args.resume.is_none();
    let most = args.max_unique_bytes.filter(|_| is_begun_here);
    if let Some(most) = most.filter(|most| *most < UNIQUE_BYTES_MIN) {
        let [most, least] = [most, UNIQUE_BYTES_MIN].map(|bytes| Bytes(bytes as f64));
        return Err(format!(
            "--max-unique-bytes {most}: the smallest set that is tried has {least}"
        ));
    }
    let of_one = [
        ("--resume", args.resume.is_some()),
        ("--dry-run", args.dry_run),
        ("--destroy-data", args.destroy_data),
        ("--access with more than one", args.accesses().len() > 1),
    ];
    alone(clients, &of_one)
}

/// Refuses options that do not apply to a simulated target.
fn of_real_targets(simulated: Option<&str>, real: Given) -> Result<(), String> {
    match simulated.and_then(|_| first(real)) {
        Some(name) => Err(format!(
            "{name} is for real targets: a simulated system has its own memory and policy, no kernel and no data"
        )),
        None => Ok(()),
    }
}

fn run(args: &RunArgs) -> Result<(), String> {
    let files = args.places.iter().filter(|place| is_job_file(place)).count();
    if files > 1 || args.places.len() - files > 1 {
        return Err("give at most one target and one job file".to_owned());
    }
    described_once(args.job_file(), is_described(&args.workload))?;
    rows(args.rows.as_deref())?;
    let of_one = [
        ("--rows", args.rows.is_some()),
        ("--fio-iolog", args.fio_iolog.is_some()),
        ("--verify", args.verify),
        ("--destroy-data", args.destroy_data),
    ];
    alone(args.together.clients, &of_one)
}

fn asked(args: &AskedArgs) -> Result<(), String> {
    described_once(args.workloads.as_deref(), is_described(&args.one))
}

/// Refuses what is named twice: it is one system but would be listed as two. The `advice` says what
/// to name instead.
fn each_once(all: &[impl AsRef<Path> + PartialEq], advice: &str) -> Result<(), String> {
    let again = (1..all.len()).find(|&i| all[..i].contains(&all[i]));
    let why = |i: usize| format!("{} is named twice: {advice}", all[i].as_ref().display());
    again.map_or(Ok(()), |i| Err(why(i)))
}

fn predict(args: &PredictArgs) -> Result<(), String> {
    each_once(&args.results, "name each result once")?;
    let is_product = args.model == ModelKind::Product;
    if is_product && !args.what_if.is_empty() {
        return Err(
            "the product model has no levels that --what-if could exchange: leave --model out"
                .to_owned(),
        );
    }
    asked(&args.asked)?;
    if args.trace.is_empty() && args.characterization.is_none() {
        return Ok(());
    }
    if is_described(&args.asked.one) {
        let told = if args.trace.is_empty() { "a characterization" } else { "a trace" };
        return Err(format!(
            "{told} says what the workload is: leave out the options that describe one"
        ));
    }
    match is_product {
        true => {
            Err("the product model has no caches that a trace could hit: leave --model out"
                .to_owned())
        }
        false => Ok(()),
    }
}

fn ab(args: &AbArgs) -> Result<(), String> {
    let is_described = is_described(&args.workload);
    match args.compares_jobs() {
        true => described_once(Some(&args.first), is_described || args.jobs.is_some()),
        false if args.dir.is_some() => {
            Err("--dir is where job files are run: leave it out for two directories".to_owned())
        }
        false => described_once(args.jobs.as_deref(), is_described),
    }
}

fn validate(args: &ValidateArgs) -> Result<(), String> {
    let real = [
        ("--clients", args.together.clients.is_some()),
        ("--memory", args.memory.is_some()),
        ("--destroy-data", args.destroy_data),
    ];
    of_real_targets(args.simulated(), &real)?;
    let of_one = [("--resume", args.resume.is_some()), ("--destroy-data", args.destroy_data)];
    alone(args.together.clients, &of_one)
}

fn vxbench(args: &VxbenchArgs) -> Result<(), String> {
    rows(args.rows.as_deref())?;
    let of_a_run = [
        ("-i", !args.suboptions.is_empty()),
        ("-o", !args.opens.is_empty()),
        ("-c", !args.cache.is_empty()),
        ("-e", args.extsize.is_some()),
        ("-r", args.reservation.is_some()),
        ("-f", !args.flags.is_empty()),
        ("-P", args.processes_of_threads),
        ("-p", args.processes),
        ("-t", args.threads),
        ("-m", args.lock),
        ("-s", args.summary),
        ("-v", args.per_thread),
        ("-k", args.kilobytes),
        ("-M", args.megabytes),
        ("--direct-above", args.direct_above.is_some()),
        ("--queue-depth", args.queue_depth.is_some()),
        ("--cold", args.cold),
        ("--best-effort", args.best_effort),
        ("--huge-buffers", args.huge_buffers),
        ("--destroy-data", args.destroy_data),
    ];
    if let Some(name) = args.diagnose.as_ref().and_then(|_| first(&of_a_run)) {
        return Err(format!("{name} describes a run, and --diagnose has its own: leave it out"));
    }
    alone(args.clients, &[("--verify", args.verify), ("--rows", args.rows.is_some())])
}

fn campaign(args: &CampaignRunArgs) -> Result<(), String> {
    each_once(&args.places, "name each place once")?;
    each_once(&args.fs, "give each a name of its own, as in ext4-a,ext4-b")?;
    let of_one = [
        ("--dry-run", args.dry_run),
        ("--fs", !args.fs.is_empty()),
        ("--destroy-data", args.destroy_data),
        ("more than one directory", args.places.len() > 1),
    ];
    alone(args.together.clients, &of_one)
}

/// Refuses standard output if several files are named after the file of -o, and a name that stands
/// for another format than that of a recording.
fn record(args: &RecordArgs, is_standard: impl Fn(&Path) -> bool) -> Result<(), String> {
    if args.rotate.is_some() && is_standard(&args.out.output) {
        return Err("--rotate names its files after -o FILE, not standard output".to_owned());
    }
    match OutFormat::of_name(&args.out.output) {
        OutFormat::Parquet => Ok(()),
        other => Err(format!(
            "-o {}: a recording is written as Parquet: name a .parquet file, and then give that to `ioscape trace export --format {}`",
            args.out.output.display(),
            other.name()
        )),
    }
}

fn twin(args: &TwinArgs) -> Result<(), String> {
    if args.json && args.is_drive_printed() {
        return Err(
            "--json and the drive cannot both go to standard output: add -o FILE for the drive"
                .to_owned(),
        );
    }
    let of_a_drive = [
        ("--workloads", args.workloads.is_some()),
        ("--seconds", args.seconds.is_some()),
        ("--write-buffer", args.write_buffer.is_some()),
    ];
    if let Some(option) = first(&of_a_drive).filter(|_| !args.is_fitted()) {
        return Err(format!(
            "{option} is for a drive, and --sustain fits none without -o: add -o FILE, or leave {option} out"
        ));
    }
    twin::check_sizes(args.unique_bytes(), args.write_buffer())
}

/// Refuses CSV rows of several results, whose columns differ, and what [`page_by_name`] refuses.
fn report(args: &ReportArgs) -> Result<(), String> {
    if args.csv && args.table.is_none() && args.results.len() > 1 {
        let why = "--csv is of one result: name one, or add --table NAME for a table of their page";
        return Err(why.to_owned());
    }
    args.output.as_deref().map_or(Ok(()), page_by_name)
}

/// Refuses to write a page to a file named like a picture, table or text, which go to standard
/// output.
fn page_by_name(path: &Path) -> Result<(), String> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let others = [
        ("png", "--png"),
        ("svg", "--svg"),
        ("csv", "--csv"),
        ("md", "--markdown"),
        ("json", "--json"),
    ];
    let is_meant = |(of, _): &&(&str, &str)| ending.eq_ignore_ascii_case(of);
    let Some((_, option)) = others.iter().find(is_meant) else { return Ok(()) };
    let file = path.display();
    Err(format!(
        "-o {file} would be a page of HTML: redirect standard output instead, as in `{option} > {file}`"
    ))
}

impl SimulateArgs {
    /// Refuses options for disks if every drive is solid-state and the first is `name`: such a
    /// drive has its own write buffer and does not need the host to order requests.
    pub fn check_without_disks(&self, name: &str) -> Result<(), String> {
        let sweeps_disks = self.sweep.iter().any(|sweep| !matches!(sweep, Sweep::Array(_)));
        let of_disks = [
            ("--cache", self.cache.is_some()),
            ("--destage", self.destage.is_some()),
            ("--freeing", self.freeing.is_some()),
            ("--sweep", sweeps_disks),
            ("--scheduler", self.scheduler.is_some()),
            ("--read-ahead", self.read_ahead.is_some()),
            ("--queue-depth", self.queue_depth.is_some()),
            ("--shared-bus", self.shared_bus),
        ];
        match first(&of_disks) {
            Some(option) => Err(format!(
                "{option} is for disks: {name} is a solid-state drive with its own write buffer"
            )),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Cli;
    use clap::Parser;
    use ioscape_machine::output::is_standard_output;

    fn check(words: &str) -> Result<(), String> {
        let cli = Cli::try_parse_from(words.split(' ')).expect("a command");
        cli.command.check(is_standard_output)
    }

    #[test]
    fn options_that_contradict_one_another_are_refused() {
        for (words, named) in [
            ("ioscape evaluate sim:any --memory 1G", "--memory is for real targets"),
            ("ioscape validate r.json sim:any --memory 1G", "--memory is for real targets"),
            ("ioscape evaluate sim:any --resume a", "--resume is for real targets"),
            ("ioscape evaluate . --precondition full", "--precondition is for simulated targets"),
            ("ioscape evaluate . --max-unique-bytes 4k", "4 KiB: the smallest set"),
            ("ioscape evaluate . --clients 2 --dry-run", "--dry-run is not for several clients"),
            ("ioscape run a.toml b.toml", "one job file"),
            ("ioscape run a.toml --read-frac 1", "leave it out"),
            ("ioscape run --rows a.txt", "--rows a.txt"),
            ("ioscape predict a --workloads paper --read-frac 1", "leave it out"),
            ("ioscape predict a --trace b --read-frac 1", "a trace says"),
            ("ioscape predict a --characterization b --read-frac 1", "a characterization says"),
            ("ioscape predict a --trace b --model product", "--model"),
            ("ioscape predict a b a --workloads paper", "a is named twice"),
            ("ioscape campaign run c a b a/", "a/ is named twice"),
            ("ioscape campaign run c a --as-root-make --fs xfs,xfs", "as in ext4-a,ext4-b"),
            ("ioscape ab a.toml b.toml --jobs c.toml", "a.toml already"),
            ("ioscape ab a b --dir c", "--dir is where job files are run"),
            ("ioscape vxbench --diagnose . -c direct", "-c describes a run"),
            ("ioscape twin . --json", "-o FILE"),
            ("ioscape twin --from a.json --json", "-o FILE"),
            ("ioscape twin . --unique-bytes 1k", "--unique-bytes"),
            ("ioscape trace import a -o - --json", "standard output"),
            ("ioscape trace record -o - --json", "standard output"),
            ("ioscape trace record --rotate 1h -o -", "after -o FILE"),
            ("ioscape trace record --rotate 1h -o /dev/stdout", "after -o FILE"),
            ("ioscape trace record -o a.csv", "--format csv"),
            ("ioscape report a --png -o a.PNG", "--png > a.PNG"),
            ("ioscape report a -o a.svg", "--svg > a.svg"),
            ("ioscape report a -o a.png", "--png > a.png"),
            ("ioscape report a -o a.csv", "--csv > a.csv"),
            ("ioscape report a -o a.md", "--markdown > a.md"),
            ("ioscape report a -o a.json", "--json > a.json"),
            ("ioscape report a b --csv", "--table NAME"),
            ("ioscape trace compare - -", "only once"),
        ] {
            let why = check(words).expect_err(words);
            assert!(why.contains(named), "{words}: {why}");
        }
        for words in [
            "ioscape evaluate . --dry-run",
            "ioscape evaluate sim:any --max-unique-bytes 64k",
            "ioscape evaluate . --max-unique-bytes 256k --resume a",
            "ioscape run --rows a.csv --verify",
            "ioscape predict a --trace b",
            "ioscape predict a b/a --trace b",
            "ioscape campaign run c a --as-root-make --fs xfs,xfs-b",
            "ioscape twin . --sustain --json",
            "ioscape twin --from a.json --seed 2",
            "ioscape report a -o a.html --json",
            "ioscape report a b --csv --table measured0",
            "ioscape ab a.toml b.toml --dir c",
            "ioscape ab a.fio b.fio --dir c",
            "ioscape trace record --rotate 1h -o a.parquet",
        ] {
            assert_eq!(check(words), Ok(()), "{words}");
        }
    }

    /// Guards against a defect: seven of them were accepted and had no effect.
    #[test]
    fn a_diagnosis_takes_no_option_of_a_run() {
        let flags = "-P -p -t -m -s -v -k -M --cold --best-effort --huge-buffers --destroy-data";
        for option in flags.split(' ') {
            let said = check(&format!("ioscape vxbench --diagnose . {option}"));
            assert!(said.is_err_and(|said| said.starts_with(option)), "{option}");
        }
        assert_eq!(check("ioscape vxbench --diagnose . --json --verbose"), Ok(()));
    }

    #[test]
    fn options_of_a_drive_are_refused_where_none_is_fitted() {
        let options = [("--workloads", "3"), ("--seconds", "2s"), ("--write-buffer", "1M")];
        for (option, value) in options {
            let said = check(&format!("ioscape twin . --sustain {option} {value}"));
            assert!(said.is_err_and(|said| said.starts_with(option)), "{option}");
            for fitted in ["ioscape twin .", "ioscape twin . --sustain -o mine.toml"] {
                assert_eq!(check(&format!("{fitted} {option} {value}")), Ok(()));
            }
        }
        assert_eq!(check("ioscape twin . --sustain --unique-bytes 16M --seed 2"), Ok(()));
    }
}
