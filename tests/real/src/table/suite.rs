//! The table's tests that one cargo call runs: those of one test program.

use super::rows::{Row, Test, root};
use super::verdict::{self, Verdict};
use crate::say;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Tests of one program.
#[derive(Debug)]
pub struct Suite {
    package: String,
    /// The file or directory in `tests/` that makes the program; `None` for tests inside the crate.
    program: Option<String>,
    /// The tests and their full names.
    pub tests: Vec<(Test, String)>,
}

/// What cargo has to run for these rows.
pub fn of(rows: &[Row]) -> Vec<Suite> {
    let mut suites: Vec<Suite> = Vec::new();
    for row in rows {
        let Test::Cargo { krate, module, name } = &row.test else { continue };
        let (package, program, name) = place(krate.as_deref(), module, name);
        let known = suites.iter_mut().find(|s| s.package == package && s.program == program);
        let test = (row.test.clone(), name);
        match known {
            Some(suite) if suite.tests.contains(&test) => {}
            Some(suite) => suite.tests.push(test),
            None => suites.push(Suite { package, program, tests: vec![test] }),
        }
    }
    suites
}

/// Package, program and full name of a test.
fn place(krate: Option<&str>, module: &str, name: &str) -> (String, Option<String>, String) {
    let Some(krate) = krate else {
        return ("ioscape".to_owned(), Some("command".to_owned()), format!("{module}::{name}"));
    };
    let package = format!("ioscape-{krate}");
    if !root().join(format!("crates/{krate}/tests/{module}.rs")).is_file() {
        return (package, None, format!("{}::tests::{name}", module.replace('/', "::")));
    }
    match module.split_once('/') {
        Some((program, module)) => (package, Some(program.to_owned()), format!("{module}::{name}")),
        None => (package, Some(module.to_owned()), name.to_owned()),
    }
}

impl Suite {
    /// The arguments of cargo, without the names of the tests.
    pub fn words(&self) -> Vec<String> {
        let mut words = vec!["test".to_owned(), "-p".to_owned(), self.package.clone()];
        match &self.program {
            Some(program) => words.extend(["--test".to_owned(), program.clone()]),
            None => words.push("--lib".to_owned()),
        }
        words
    }

    /// Runs the tests, and prints each result when it ends.
    pub fn run(&self) -> Vec<(Test, Verdict)> {
        let printed = self.printed();
        let verdict = |name: &str| match &printed {
            Ok(lines) => verdict::of(lines, name),
            Err(why) => Verdict::Missed(why.clone()),
        };
        self.tests.iter().map(|(test, name)| (test.clone(), verdict(name))).collect()
    }

    /// The program's output; cargo's own messages are passed on.
    fn printed(&self) -> Result<Vec<String>, String> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.current_dir(root()).args(self.words()).args(["--", "--exact", "--show-output"]);
        command.args(self.tests.iter().map(|(_, name)| name));
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|e| format!("cargo cannot be run: {e}"))?;
        let mut lines = Vec::new();
        for line in
            child.stdout.take().into_iter().flat_map(|pipe| BufReader::new(pipe).split(b'\n'))
        {
            let line = line.map_err(|e| format!("what cargo prints cannot be read: {e}"))?;
            let line = String::from_utf8_lossy(&line).into_owned();
            if verdict::is_one(&line) {
                say(&format!("   {line}"));
            }
            lines.push(line);
        }
        child.wait().map_err(|e| format!("cargo: {e}"))?;
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems;
    use crate::table::rows;

    #[test]
    fn every_row_of_the_table_is_run_by_one_suite_or_system() {
        let rows = rows::read().unwrap();
        let suites = of(&rows);
        for row in &rows {
            let here = suites.iter().flat_map(|suite| &suite.tests);
            let times = here.filter(|(test, _)| *test == row.test).count();
            let system = row.test.system();
            let known = system.is_some_and(|name| systems::ALL.iter().any(|s| s.name == name));
            assert_eq!(times, usize::from(system.is_none()), "{}", row.test);
            assert!(known || system.is_none(), "{}", row.test);
        }
        let programs: Vec<_> = suites.iter().map(|suite| suite.words().join(" ")).collect();
        assert!(programs.contains(&"test -p ioscape --test command".to_owned()), "{programs:?}");
    }

    #[test]
    fn tests_are_named_as_their_programs_name_them() {
        let place = |krate, module| place(krate, module, "a");
        let owned = |text: &str| text.to_owned();
        let command = (owned("ioscape"), Some(owned("command")), owned("limits::a"));
        assert_eq!(place(None, "limits"), command);
        let beside = (owned("ioscape-measure"), Some(owned("full")), owned("a"));
        assert_eq!(place(Some("measure"), "full"), beside);
        let of_several = (owned("ioscape-measure"), Some(owned("sessions")), owned("failures::a"));
        assert_eq!(place(Some("measure"), "sessions/failures"), of_several);
        let within = (owned("ioscape-machine"), None, owned("clock::tests::a"));
        assert_eq!(place(Some("machine"), "clock"), within);
        let deeper = (owned("ioscape-scaling"), None, owned("evaluate::pilot::tests::a"));
        assert_eq!(place(Some("scaling"), "evaluate/pilot"), deeper);
    }
}
