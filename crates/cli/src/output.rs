//! Where results go: standard output, and files that are written whole or not at all.

use crate::failure::Failure;
use ioscape_arguments::{Command, DisplayArgs};
use ioscape_machine::Clock;
use ioscape_machine::descriptors::standard_output;
use ioscape_machine::input::read_text;
use ioscape_machine::output::is_standard_output;
use ioscape_machine::terminal;
use ioscape_report::Quantity;
use ioscape_schema::{Document, SCHEMA, Tool};
use ioscape_study::older::doubted;
use ioscape_trace::analyze::without_untold;
use ioscape_workload::fio::FioOutput;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub use ioscape_machine::terminal::tell;

/// Returns an empty document that says who wrote it, when, and with which command.
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

/// Records the quality of the clock used for times.
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

/// The settings of the command line that apply to all output.
#[derive(Clone, Copy, Default)]
struct AskedOutput {
    /// Whether results omit the name of this machine.
    anonymous: bool,
    /// The metric that figures show.
    metric: Quantity,
    /// Whether one of the outputs is standard output.
    is_taken: bool,
    /// Whether a command that is watched writes to standard output.
    is_watching: bool,
}

static ASKED: OnceLock<AskedOutput> = OnceLock::new();

/// Sets what results say and where summaries go. Not for a keeper: it follows the names of outputs,
/// whose server may not answer.
pub fn ask(display: &DisplayArgs, command: &Command) {
    let _ = ASKED.set(AskedOutput {
        anonymous: display.anonymous,
        metric: command.metric(),
        is_taken: command.takes_standard_output(is_standard_output),
        is_watching: command.watches_another(),
    });
}

fn asked() -> AskedOutput {
    ASKED.get().copied().unwrap_or_default()
}

/// Whether results omit the names of machines.
pub fn is_anonymous() -> bool {
    asked().anonymous
}

/// The metric that figures of evaluations show.
pub fn quantity() -> Quantity {
    asked().metric
}

/// Whether standard output takes a result, so that a command that is watched may not write there.
pub fn is_for_result(as_json: bool) -> bool {
    as_json || asked().is_taken
}

/// Whether a summary goes to standard error, since something else uses standard output.
fn is_beside(as_json: bool) -> bool {
    asked().is_taken || (asked().is_watching && !as_json)
}

/// Shows a summary on standard error, unless --quiet restricts that to failures.
fn tell_summary(document: &Document) -> Result<(), Failure> {
    if terminal::display().quiet {
        return Ok(());
    }
    let text = ioscape_report::terminal(document, &style_of(io::stderr().is_terminal()));
    terminal::tell_styled(text.trim_end()).map_err(|e| Failure::of_write("standard error", &e))
}

/// Width, colour and character set of a summary on standard output.
pub fn style() -> ioscape_report::Style {
    style_of(io::stdout().is_terminal())
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

/// The document as the text of a result file.
pub fn json(document: &Document) -> Result<String, Failure> {
    ioscape_report::json(document).map_err(|e| Failure::Failed(e.to_string()))
}

/// Prints a document as JSON or as a summary; on standard error if standard output is itself a
/// requested output, or a watched command's.
pub fn show(document: &Document, as_json: bool) -> Result<(), Failure> {
    if is_beside(as_json) {
        return tell_summary(document);
    }
    let text = if as_json { json(document)? } else { ioscape_report::terminal(document, &style()) };
    print(&text)
}

/// Prints a document that is also in a file: if standard output is closed, or standard error cannot
/// be written, nothing is lost.
pub fn show_beside(document: &Document, as_json: bool) -> Result<(), Failure> {
    if is_beside(as_json) {
        let _ = tell_summary(document);
        return Ok(());
    }
    standard_output().map_or(Ok(()), |()| show(document, as_json))
}

/// A document of fio's measurements, as far as fio reports them.
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

/// Reads and checks a result file or fio's JSON output; `-` is standard input. Says what is left out,
/// and doubts what is said of an evaluation that an older version judged.
pub fn read_result(path: &Path) -> Result<Document, Failure> {
    let document = read(path)?;
    if document.tool.is_newer() {
        let (name, version) = (path.display(), &document.tool.version);
        tell(&format!("Note: {name}: what is new in ioscape {version} is left out"));
    }
    Ok(doubted(document))
}

fn read(path: &Path) -> Result<Document, Failure> {
    let (place, name) = match path == Path::new("-") {
        true => (Path::new("/dev/stdin"), "standard input".to_owned()),
        false => (path, path.display().to_string()),
    };
    let text =
        read_text(place).map_err(|e| Failure::of_input(format!("cannot read {name}: {e}"), &e))?;
    // Other programs put a byte-order mark in front of what they copy.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    match ioscape_workload::fio::read_output(text) {
        Some(read) => read.map(of_fio).map_err(|e| Failure::Misuse(format!("{name}: {e}"))),
        None => {
            let document = ioscape_report::from_json(text, &name);
            document.map(without_untold).map_err(|e| Failure::Misuse(e.to_string()))
        }
    }
}

/// Reads a result that is to be continued, and judged anew.
///
/// # Errors
/// It cannot be read; or a newer version wrote it, and what is new in it would be lost.
pub fn read_begun(path: &Path) -> Result<Document, Failure> {
    let found = read(path)?;
    match found.tool.is_newer() {
        true => Err(Failure::Misuse(format!(
            "--resume {}: ioscape {} wrote it, and what is new there would be lost: update ioscape",
            path.display(),
            found.tool.version
        ))),
        false => Ok(found),
    }
}

/// Reads several results, as [`read_result`] does.
pub fn read_results(paths: &[PathBuf]) -> Result<Vec<Document>, Failure> {
    paths.iter().map(|path| read_result(path)).collect()
}

/// A file name for a result without one: `ioscape-20260131-235959` and `ending`, in the current
/// directory.
pub fn default_path(document: &Document, ending: &str) -> PathBuf {
    let digits: String = document.started_at.chars().filter(char::is_ascii_digit).collect();
    let (date, time) = digits.split_at(digits.len().min(8));
    PathBuf::from(format!("ioscape-{date}-{time}.{ending}"))
}
