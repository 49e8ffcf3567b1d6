//! The steps that the program's hidden command performs in its own process. One does nothing, to
//! measure the cost of starting the program. Others run a case or a benchmark whose cost depends on
//! its process's memory, in an image that has allocated nothing yet.

use super::case::{Case, Program, Scene};
use super::image::Report;
use super::{mab, process, stops, today};
use ioscape_machine::crew::leave;
use ioscape_machine::error::Error;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Performs the step that `words` name; `program` is this program. A step that reports to another
/// process exits.
///
/// # Errors
/// There is no such step.
pub fn step(words: &[OsString], program: impl FnOnce() -> Option<Program>) -> Result<(), Error> {
    let done = match words {
        [name] if name == today::NOTHING => Some(()),
        [kind, report, name, case, cpu, ns] if kind == process::IMAGE => {
            measure(program(), report, [name, case, cpu, ns])
        }
        [kind, report, directory, warmth, compiler @ ..] if kind == mab::IMAGE => {
            andrew(program(), report, (directory, warmth, compiler.first()))
        }
        _ => None,
    };
    done.ok_or_else(|| Error::Unsupported {
        what: "this step".to_owned(),
        why: "it is for the program's own use: see ioscape os".to_owned(),
    })
}

/// Measures a case and ends the process.
fn measure(program: Option<Program>, report: &OsStr, words: [&OsString; 4]) -> Option<()> {
    let [name, case, cpu, ns] = words.map(|word| word.to_str());
    let (name, case, cpu, ns) = (name?, case?, cpu?.parse().ok()?, ns?.parse().ok()?);
    let of_name = |one: &Case| one.name == name && one.case == case;
    let case = today::process_cases().into_iter().find(of_name)?;
    let report = Report::inherited(report, process::WORDS).ok()?;
    stops::watch();
    let scene = Scene { cpu, program, ..Scene::default() };
    let code = process::measure(&case, &scene, ns, report.words());
    report.leave_stops(stops::counted());
    leave(code)
}

/// Does a run of the Modified Andrew Benchmark and ends the process.
fn andrew(
    program: Option<Program>,
    report: &OsStr,
    (directory, warmth, compiler): (&OsStr, &OsStr, Option<&OsString>),
) -> Option<()> {
    let program = program?;
    let report = Report::inherited(report, mab::WORDS).ok()?;
    let setting = mab::Setting {
        program: &program,
        directory: Path::new(directory),
        compiler: match compiler {
            Some(word) => Some(word.to_str()?),
            None => None,
        },
        cold: warmth == mab::COLD_RUN,
    };
    stops::watch();
    let code = mab::serve(&setting, report.words());
    report.leave_stops(stops::counted());
    leave(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_steps_are_done() {
        let done = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            step(&words, || None).is_ok()
        };
        assert!(done(&["nothing"]));
        assert!(!done(&[]) && !done(&["nothing", "more"]) && !done(&["case", "9"]));
        let case = ["case", "report", "process", "fork", "0", "1000"];
        assert!(!done(&case), "no report");
        let unknown = ["case", "report", "process", "no such case", "0", "1000"];
        assert!(!done(&unknown) && !done(&["andrew", "report", "/", "warm"]));
    }
}
