//! A small `make`: variables, rules, one suffix rule, and rebuilding of what is out of date.

use super::spawn::{Steps, wait};
use std::collections::HashMap;
use std::fs;
use std::io;
use std::process::Command;
use std::time::SystemTime;

/// The deepest chain of dependent rules.
const DEPTH: u32 = 20;

/// How a target is made.
#[derive(Clone, Debug, Default, PartialEq)]
struct Rule {
    needs: Vec<String>,
    commands: Vec<String>,
}

/// A makefile.
#[derive(Debug, Default)]
struct Makefile {
    variables: HashMap<String, String>,
    rules: HashMap<String, Rule>,
    /// Whether `CC` is a compiler of the user's, which may have the name of one of our steps.
    has_other_compiler: bool,
}

/// Makes `target` by the makefile of the current directory: by our own steps, or by `compiler` as
/// its `CC`, whatever its name.
pub(super) fn make(steps: &Steps, target: &str, compiler: Option<&str>) -> io::Result<()> {
    let mut file = parse(&fs::read_to_string("makefile")?);
    file.has_other_compiler = compiler.is_some();
    file.variables.insert("CC".to_owned(), compiler.unwrap_or("cc").to_owned());
    file.make(steps, target, 0)
}

/// Parses the parts of make's syntax that the tree's makefile uses and ignores the rest.
fn parse(text: &str) -> Makefile {
    let mut file = Makefile::default();
    let mut open = None;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(command) = line.strip_prefix('\t') {
            let rule = open.as_ref().and_then(|name: &String| file.rules.get_mut(name));
            rule.into_iter().for_each(|rule| rule.commands.push(command.to_owned()));
        } else if let Some((name, value)) = line.split_once('=') {
            file.variables.insert(name.trim().to_owned(), value.trim().to_owned());
        } else if let Some((name, needs)) = line.split_once(':') {
            let needs = file.expanded(needs).split_whitespace().map(str::to_owned).collect();
            file.rules.insert(name.to_owned(), Rule { needs, commands: Vec::new() });
            open = Some(name.to_owned());
        }
    }
    file
}

fn changed(path: &str) -> Option<SystemTime> {
    fs::metadata(path).and_then(|state| state.modified()).ok()
}

impl Makefile {
    /// Returns `text` with its variables expanded.
    fn expanded(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for (name, value) in &self.variables {
            out = out.replace(&format!("$({name})"), value);
        }
        out
    }

    /// Returns the rule for a target; the suffix rule makes objects from sources.
    fn rule(&self, target: &str) -> Option<Rule> {
        let source = || {
            let source = format!("{}.c", target.strip_suffix(".o")?);
            let commands = &self.rules.get(".c.o")?.commands;
            let commands = commands.iter().map(|one| one.replace("$<", &source)).collect();
            Some(Rule { needs: vec![source], commands })
        };
        self.rules.get(target).cloned().or_else(source)
    }

    fn make(&self, steps: &Steps, target: &str, depth: u32) -> io::Result<()> {
        let Some(rule) = self.rule(target).filter(|_| depth < DEPTH) else {
            // A source: it exists, or a command will report that it does not.
            return Ok(());
        };
        for need in &rule.needs {
            self.make(steps, need, depth + 1)?;
        }
        let here = changed(target);
        let old = rule.needs.iter().any(|need| changed(need) > here);
        if here.is_none() || old {
            for command in &rule.commands {
                self.run(steps, &self.expanded(command))?;
            }
        }
        Ok(())
    }

    /// Runs a command: one of our own steps, or another program.
    fn run(&self, steps: &Steps, command: &str) -> io::Result<()> {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words.split_first() {
            Some((name, rest)) if !self.is_step(name) => wait(Command::new(name).args(rest), name),
            Some(_) => steps.spawn("", &words),
            None => Ok(()),
        }
    }

    /// Whether a command is one of our steps. With another compiler, no command is.
    fn is_step(&self, name: &str) -> bool {
        !self.has_other_compiler && OWN.contains(&name)
    }
}

/// Makefile commands that are our own steps.
const OWN: [&str; 4] = ["cc", "ar", "ranlib", "ld"];

#[cfg(test)]
mod tests {
    use super::super::steps::step;
    use super::*;
    use crate::case::Program;
    use crate::testing_toolchain::FakeToolchain;

    #[test]
    fn rules_and_variables_are_read() {
        let text = "# x\nA = a.o b.o\nlib: $(A)\n\tar r lib $(A)\n\tranlib lib\n.c.o:\n\tcc $<\n";
        let file = parse(text);
        let rule = file.rule("lib").unwrap();
        assert_eq!(rule.needs, ["a.o", "b.o"]);
        assert_eq!(file.expanded(&rule.commands[0]), "ar r lib a.o b.o");
        let object = file.rule("a.o").unwrap();
        assert_eq!((object.needs, object.commands), (vec!["a.c".into()], vec!["cc a.c".into()]));
        assert_eq!(file.rule("a.c"), None);
    }

    #[test]
    fn another_compiler_is_no_step_of_ours_though_it_is_called_like_one() {
        let of = |has_other_compiler| Makefile { has_other_compiler, ..Makefile::default() };
        assert!(OWN.iter().all(|name| of(false).is_step(name) && !of(true).is_step(name)));
        assert!(!of(false).is_step("gcc"));
    }

    #[test]
    fn a_compiler_that_is_asked_for_by_the_name_of_a_step_is_not_ours() {
        let home = tempfile::tempdir().unwrap();
        let tree = home.path().join("tree");
        for folder in [home.path().join("tmp"), tree.clone()] {
            fs::create_dir(folder).unwrap();
        }
        fs::write(tree.join("makefile"), "objects: x.o\n.c.o:\n\t$(CC) $<\n").unwrap();
        fs::write(tree.join("x.c"), "no compiler of C takes this").unwrap();
        let program =
            Program { path: "/bin/true".into(), first: Vec::new(), toolchain: &FakeToolchain };
        let steps = Steps::of(&program, step).unwrap();
        let made = |words: &[&str]| {
            let ended = steps.spawn(tree.to_str().unwrap(), words);
            (ended.is_ok(), tree.join("x.o").exists())
        };
        assert_eq!(made(&["make", "objects", "cc"]), (false, false), "the machine's, or none");
        assert_eq!(made(&["make", "objects"]), (true, true), "ours, which copies here");
    }

    #[test]
    fn every_own_command_is_a_step() {
        let program =
            Program { path: "/nonexistent".into(), first: Vec::new(), toolchain: &FakeToolchain };
        let steps = Steps::of(&program, step).unwrap();
        for words in [
            &["cc", "/nonexistent/x.c"][..],
            &["ar", "r", "/nonexistent/x.a"],
            &["ranlib", "/nonexistent/x.a"],
            &["ld", "-r", "-o", "/nonexistent/x"],
        ] {
            assert!(OWN.contains(&words[0]) && step(&steps, words).unwrap().is_err(), "{words:?}");
        }
    }
}
