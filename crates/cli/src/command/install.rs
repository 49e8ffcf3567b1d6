//! `ioscape completions` and `ioscape man`: files that packages install with the program.

use crate::failure::Failure;
use crate::output;
use crate::outputs::{self};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use ioscape_arguments::{Cli, CompletionsArgs, ManArgs};
use ioscape_machine::output::Content;
use ioscape_schema::text::MANUAL_MARK;
use std::io;

/// The name of the outputs in messages.
const PAGE: &str = "the manual page";

/// Prints the completions.
///
/// # Errors
/// Standard output cannot be written.
pub fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "ioscape", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}

/// Writes one manual page for each command.
///
/// # Errors
/// The directory cannot be written, or a file with one of these names is not ours.
pub fn man(args: &ManArgs) -> Result<(), Failure> {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let mut pages = Vec::new();
    render(&program, &mut pages).map_err(|e| Failure::of_write("the manual pages", &e))?;
    let paths = pages.iter().map(|(name, _)| args.directory.join(name));
    let names = outputs::names(args.force).holding(PAGE, Content::Manual);
    let mut outputs = names.writes(PAGE, paths).open()?;
    for (place, (_, page)) in outputs.all(PAGE).zip(&pages) {
        place.text(page)?;
    }
    Ok(())
}

/// The pages of a command and of its visible subcommands, by file name.
fn render(command: &Command, pages: &mut Vec<(String, String)>) -> io::Result<()> {
    let man = Man::new(command.clone());
    let name = man.get_filename();
    let mut page = Vec::new();
    man.render(&mut page)?;
    pages.push((name, format!("{MANUAL_MARK}\n{}", String::from_utf8_lossy(&page))));
    let mut shown = command.get_subcommands().filter(|below| !below.is_hide_set());
    shown.try_for_each(|below| render(below, pages))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_commands_have_no_manual_page() {
        let mut program = Cli::command().disable_help_subcommand(true);
        program.build();
        let mut pages = Vec::new();
        render(&program, &mut pages).expect("pages");
        let has = |name: &str| pages.iter().any(|(page, _)| page == name);
        assert!(has("ioscape-run.1") && !has("ioscape-client.1"));
    }
}
