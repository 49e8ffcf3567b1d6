//! Where results go: standard output, and files that are written whole or not at all.

use crate::failure::Failure;
use ioscape_arguments::{Command, DisplayArgs, Metric};
use ioscape_machine::Clock;
use ioscape_machine::descriptors::standard_output;
use ioscape_machine::input::read_text;
use ioscape_machine::terminal;
use ioscape_report::Quantity;
use ioscape_schema::{Document, SCHEMA, Tool};
use ioscape_trace::analyze::without_untold;
use ioscape_workload::fio::FioOutput;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub use ioscape_machine::terminal::tell;

/// An empty document that says who wrote it, when, and by which command.
pub fn document(seed: u64) -> Document {
    Document {
        schema: SCHEMA.to_owned(),
        tool: Tool {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: option_env!("IOSCAPE_COMMIT").map(str::to_owned),
        },
        host: (!is_anonymous()).then(ioscape_machine::environment::host),
        command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        seed,
        started_at: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        ..Document::default()
    }
}

/// Notes how good the clock is that times are taken from.
pub fn time(document: &mut Document, clock: &Clock) {
    document.environment.clock = clock.measure();
    if let Some(doubt) = ioscape_machine::clock::doubt(&document.environment.clock) {
        document.warn(doubt);
    }
}

/// Writes `text` on standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    print_bytes(text.as_bytes())
}

/// Writes a picture on standard output, unless that is a terminal.
pub fn print_picture(picture: &[u8]) -> Result<(), Failure> {
    if io::stdout().is_terminal() {
        let what =
            "a PNG picture is no text for a terminal: redirect it, as in `--png > picture.png`";
        return Err(Failure::Misuse(what.to_owned()));
    }
    print_bytes(picture)
}

fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    standard_output()
        .and_then(|()| out.write_all(bytes))
        .and_then(|()| out.flush())
        .map_err(|e| Failure::of_write("standard output", &e))
}

/// What the command line says of all output.
#[derive(Clone, Copy, Default)]
struct AskedOutput {
    /// The name of this machine stays out of results.
    anonymous: bool,
    /// What figures show.
    metric: Metric,
    /// One of the outputs is standard output.
    is_taken: bool,
}

static ASKED: OnceLock<AskedOutput> = OnceLock::new();

/// Sets how output looks, and where summaries go.
pub fn display(asked: &DisplayArgs, command: &Command) {
    let (metric, is_taken) = (command.metric(), command.takes_standard_output());
    let _ = ASKED.set(AskedOutput { anonymous: asked.anonymous, metric, is_taken });
    terminal::set_display(asked.display());
}

fn asked() -> AskedOutput {
    ASKED.get().copied().unwrap_or_default()
}

/// Whether names of machines stay out of results.
pub fn is_anonymous() -> bool {
    asked().anonymous
}

/// What figures of evaluations show.
pub fn quantity() -> Quantity {
    asked().metric.into()
}

/// Tells the user a text that was made for a terminal, unless nothing but results and failures is wanted.
pub fn tell_styled(text: &str) {
    if !terminal::display().quiet {
        terminal::tell_styled(text);
    }
}

/// Width, colour and character set for a summary on standard output.
pub fn style() -> ioscape_report::Style {
    style_of(io::stdout().is_terminal())
}

/// The same for a summary on standard error, where something else has standard output.
pub fn style_beside() -> ioscape_report::Style {
    style_of(io::stderr().is_terminal())
}

fn style_of(is_terminal: bool) -> ioscape_report::Style {
    ioscape_report::Style {
        width: terminal::width(is_terminal),
        colour: terminal::is_coloured(is_terminal),
        unicode: terminal::takes_unicode(),
        quantity: quantity(),
        markdown: false,
    }
}

/// The document as text of a result file.
pub fn json(document: &Document) -> Result<String, Failure> {
    ioscape_report::json(document).map_err(|e| Failure::Failed(e.to_string()))
}

/// Prints a document as JSON or as a summary: on standard error where standard output is an output that was asked for.
pub fn show(document: &Document, as_json: bool) -> Result<(), Failure> {
    if asked().is_taken {
        tell_styled(ioscape_report::terminal(document, &style_beside()).trim_end());
        return Ok(());
    }
    let text = if as_json { json(document)? } else { ioscape_report::terminal(document, &style()) };
    print(&text)
}

/// Prints a document that is in a file: who closed standard output misses nothing.
pub fn show_beside(document: &Document, as_json: bool) -> Result<(), Failure> {
    standard_output().map_or(Ok(()), |()| show(document, as_json))
}

/// A document of what fio measured, as far as fio tells.
fn of_fio(found: FioOutput) -> Document {
    let started = jiff::Timestamp::from_second(found.timestamp).unwrap_or_default();
    Document {
        schema: SCHEMA.to_owned(),
        tool: Tool { version: found.version.clone(), ..Tool::default() },
        command: vec!["fio".to_owned()],
        started_at: started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        outcome: Some(found.measurements.into()),
        ..Document::default()
    }
}

/// Reads a result file, or fio's JSON output, and checks it; `-` is standard input.
pub fn read_result(path: &Path) -> Result<Document, Failure> {
    let name = path.display().to_string();
    let place = if path == Path::new("-") { Path::new("/dev/stdin") } else { path };
    let text =
        read_text(place).map_err(|e| Failure::of_input(format!("cannot read {name}: {e}"), &e))?;
    // Other programs put a byte-order mark before what they copy.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    match ioscape_workload::fio::read_output(text) {
        Some(read) => read.map(of_fio).map_err(|e| Failure::Misuse(format!("{name}: {e}"))),
        None => {
            let document = ioscape_report::from_json(text, &name);
            document.map(without_untold).map_err(|e| Failure::Misuse(e.to_string()))
        }
    }
}

/// Reads several, as of [`read_result`].
pub fn read_results(paths: &[PathBuf]) -> Result<Vec<Document>, Failure> {
    paths.iter().map(|path| read_result(path)).collect()
}

/// A file name for a result nobody named: `ioscape-20260131-235959` and `ending`, in the current directory.
pub fn default_path(document: &Document, ending: &str) -> PathBuf {
    let digits: String = document.started_at.chars().filter(char::is_ascii_digit).collect();
    let (date, time) = digits.split_at(digits.len().min(8));
    PathBuf::from(format!("ioscape-{date}-{time}.{ending}"))
}
