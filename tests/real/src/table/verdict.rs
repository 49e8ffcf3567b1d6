//! The outcome of a test, from its program's output.

use std::fmt;

/// The outcome of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The fault was injected, and the row's claim holds.
    Held,
    /// The claim does not hold, or the test was not run; with the reason.
    Missed(String),
    /// The test, or a part of it, could not be run here; with the reason.
    Skipped(String),
}

impl Verdict {
    /// The verdict if no test of this name was run.
    pub fn absent() -> Self {
        Self::Missed("no test of this name was run".to_owned())
    }

    /// The reason why it did not hold.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Held => None,
            Self::Missed(why) | Self::Skipped(why) => Some(why),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Held => "held",
            Self::Missed(_) => "MISSED",
            Self::Skipped(_) => "SKIPPED",
        })
    }
}

/// Whether a line states the result of a test.
pub fn is_one(line: &str) -> bool {
    line.starts_with("test ") && line.contains(" ... ")
}

/// The outcome of the test with this name, from the output of a test program run with its tests'
/// output shown.
pub fn of(lines: &[String], name: &str) -> Verdict {
    let line = lines.iter().find_map(|line| line.strip_prefix(&format!("test {name} ... ")));
    let printed = || {
        let own = lines.iter().skip_while(|line| **line != format!("---- {name} stdout ----"));
        own.skip(1).take_while(|line| !ends(line))
    };
    match line {
        Some("ok") => {
            let skipped = printed().find_map(|line| line.trim().strip_prefix("SKIPPED: "));
            skipped.map_or(Verdict::Held, |why| Verdict::Skipped(why.to_owned()))
        }
        Some("ignored") => Verdict::Skipped("marked as ignored".to_owned()),
        Some(_) => {
            let said: Vec<&str> = printed().map(|line| line.trim()).collect();
            Verdict::Missed(said.join(" ").trim().to_owned())
        }
        None => Verdict::absent(),
    }
}

/// Whether the output of a test ends before this line.
fn ends(line: &str) -> bool {
    line.starts_with("---- ") && line.ends_with(" stdout ----")
        || line == "successes:"
        || line == "failures:"
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "
running 5 tests
test a::good ... ok
test a::bad ... FAILED
test a::noisy ... ok
test a::elsewhere ... ok
test a::late ... ignored

successes:

---- a::elsewhere stdout ----
a line
SKIPPED: not root

---- a::noisy stdout ----
nothing was SKIPPED: a word in the middle

successes:
    a::elsewhere
    a::good

failures:

---- a::bad stdout ----

thread 'a::bad' panicked at here:
left is not right

failures:
    a::bad

test result: FAILED.
";

    #[test]
    fn verdicts_are_read_from_what_a_test_program_prints() {
        let lines: Vec<String> = PRINTED.lines().map(str::to_owned).collect();
        let said = "thread 'a::bad' panicked at here: left is not right".to_owned();
        let skipped = |why: &str| Verdict::Skipped(why.to_owned());
        assert_eq!(of(&lines, "a::good"), Verdict::Held);
        assert_eq!(of(&lines, "a::noisy"), Verdict::Held);
        assert_eq!(of(&lines, "a::bad"), Verdict::Missed(said));
        assert_eq!(of(&lines, "a::elsewhere"), skipped("not root"));
        assert_eq!(of(&lines, "a::late"), skipped("marked as ignored"));
        assert_eq!(of(&lines, "a::goo"), Verdict::absent());
        assert_eq!(of(&[], "a::good"), Verdict::absent());
        assert_eq!(lines.iter().filter(|line| is_one(line)).count(), 5);
        assert_eq!(format!("{:<8}|", Verdict::Held), "held    |");
    }
}
