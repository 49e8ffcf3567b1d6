//! The command `ioscape`: reads the arguments and wires the crates together, without any logic of
//! its own.

mod application;
mod asked;
mod command;
mod drives;
mod failure;
mod machine;
mod output;
mod outputs;
mod relay;
mod save;
mod simulated;
mod systems;
mod traces;

use failure::Failure;
use ioscape_arguments::{Cli, Command};
use ioscape_machine::allocator::{self, Allocator};
use ioscape_machine::keeper::{self, AfterInterruption};
use ioscape_machine::output::is_standard_output;
use ioscape_schema::text::inert;
use ioscape_study::resume::GivenOptions;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn main() -> ExitCode {
    if let Some(code) = command::os::step() {
        return code;
    }
    ioscape_machine::crew::hear_of_children();
    allocator::reserve();
    ioscape_machine::interrupt::survive_file_size_limit();
    let (cli, typed) = match ioscape_arguments::parse(words()) {
        Ok(parsed) => parsed,
        Err(error) => return failure::of_arguments(&error),
    };
    ioscape_machine::terminal::set_display(cli.display.display());
    ExitCode::from(match cli.command.storage() {
        Some(place) => {
            // Why the command fails, or does not end: said even if it is to be quiet.
            let tell = |text: &str| {
                let _ = writeln!(std::io::stderr(), "ioscape: {}", inert(text));
            };
            let then = match &cli.command {
                Command::Trace(args) if args.is_recording() => AfterInterruption::Finish,
                _ => AfterInterruption::End,
            };
            keeper::keep(&place, then, tell, || carry_out(cli, &typed))
        }
        None => carry_out(cli, &typed),
    })
}

/// Carries out the command, reports how it ended, and returns the exit code.
fn carry_out(cli: Cli, typed: &GivenOptions) -> u8 {
    output::ask(&cli.display, &cli.command);
    let checked = cli.command.check(is_standard_output).map_err(Failure::Misuse);
    let done = checked.and_then(|()| run(cli.command, typed));
    for path in ioscape_machine::target::abandoned() {
        let path = path.display().to_string();
        output::tell(&format!(
            "{} is left behind, since its file system does not answer: the next run there removes it",
            inert(&path)
        ));
    }
    match done {
        Ok(()) => 0,
        Err(failure) => failure.report(),
    }
}

fn run(command: Command, typed: &GivenOptions) -> Result<(), Failure> {
    match command {
        Command::Evaluate(args) => command::evaluate::main(&args, typed),
        Command::Run(args) => command::run::main(&args),
        Command::Predict(args) => command::predict::main(&args),
        Command::Compare(args) => command::compare::main(&args),
        Command::Ab(args) => command::ab::main(&args),
        Command::Validate(args) => command::validate::main(&args, typed),
        Command::Characterize(args) => command::characterize::main(&args),
        Command::Vxbench(args) => match args.clients {
            Some(clients) => command::vxbench::clients::main(&args, clients),
            None => command::vxbench::main(&args),
        },
        Command::Campaign(args) => command::campaign::main(&args, typed),
        Command::Os(args) => command::os::main(&args),
        Command::Trace(args) => command::trace::main(&args),
        Command::Simulate(args) => command::simulate::main(&args),
        Command::Calibrate(args) => command::calibrate::main(&args),
        Command::Twin(args) => command::twin::main(&args),
        Command::Report(args) => command::report::main(&args),
        Command::Doctor(args) => command::doctor::main(&args),
        Command::Client(args) => command::client::main(&args),
        Command::Schema => output::print(&ioscape_schema::json_schema()),
        Command::Completions(args) => command::install::completions(&args),
        Command::Man(args) => command::install::man(&args),
    }
}

/// The command line. A program named `vxbench` is the command `vxbench`.
fn words() -> Vec<OsString> {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    let name = words.first().and_then(|word| Path::new(word).file_name());
    if name.is_some_and(|name| name == "vxbench") {
        words.splice(..1, ["ioscape".into(), "vxbench".into()]);
    }
    words
}
