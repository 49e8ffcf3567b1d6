//! Limits on this process that a control group beside its own escapes: they are copied there.

use super::switch::put;
use crate::text;
use ioscape_schema::{Warning, WarningKind};
use std::path::Path;

/// The limits of a group of version 2, apart from memory. Without a limit a file is empty or says
/// `max`.
const LIMITS: [&str; 6] =
    ["cpu.max", "cpuset.cpus", "cpuset.mems", "io.latency", "io.max", "pids.max"];

/// Copies the limits of the groups `left`, nearest first, to the new group at `directory`. Returns
/// those that it cannot have, each with its group: the parent lacks the controller, or a nearer
/// group has another limit of the same kind.
pub(super) fn copy(left: &[&Path], directory: &Path) -> Vec<String> {
    let mut escaped = Vec::new();
    for name in LIMITS {
        let mut copied = None;
        for group in left {
            let Some(limit) = limit_of(group, name) else { continue };
            // One write sets the limit of one device.
            let copy = || limit.lines().all(|line| put(&directory.join(name), line).is_ok());
            match &copied {
                Some(nearer) if *nearer == limit => {}
                None if copy() => copied = Some(limit),
                _ => escaped.push(format!("{name} of {}", group.display())),
            }
        }
    }
    escaped
}

/// Returns the limit `name` of the group at `directory`; `None` without one.
fn limit_of(directory: &Path, name: &str) -> Option<String> {
    text::read(directory.join(name)).filter(|limit| !limit.is_empty() && !limit.starts_with("max"))
}

/// Returns the warning that these limits are `escaped`.
pub(super) fn doubt(escaped: &[String]) -> Option<Warning> {
    (!escaped.is_empty()).then(|| {
        let message = format!(
            "limits that ioscape was started under do not hold under --memory, whose control group could only be made outside of them: {}; to keep them, set them on the group above as well",
            escaped.join(", ")
        );
        Warning::new(WarningKind::Trap, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Once, the workers of a program in a scope with a quota and a limit of I/O had neither.
    #[test]
    fn limits_that_a_group_is_not_below_are_copied_or_named() {
        let home = tempfile::tempdir().unwrap();
        let group = |name: &str, files: &[(&str, &str)]| {
            let directory = home.path().join(name);
            fs::create_dir_all(&directory).unwrap();
            files.iter().for_each(|(file, text)| fs::write(directory.join(file), text).unwrap());
            directory
        };
        let io = "8:0 rbps=20000000 wbps=max riops=max wiops=max\n";
        let none = [("cpuset.cpus", "\n"), ("pids.max", "max\n")];
        let own = group(
            "above/own",
            &[&[("cpu.max", "50000 100000\n"), ("io.max", io)], &none[..]].concat(),
        );
        let above = group("above", &[("cpu.max", "90000 100000\n"), ("io.max", io)]);
        let made = group("made", &[("cpu.max", ""), ("io.max", ""), ("pids.max", "")]);
        assert_eq!(copy(&[&own], &made), [""; 0]);
        let has = |name| fs::read_to_string(made.join(name)).unwrap();
        assert_eq!(
            [has("cpu.max"), has("io.max"), has("pids.max")],
            ["50000 100000", io.trim(), ""]
        );
        let escaped = copy(&[&own, &above], &made);
        assert_eq!(escaped, [format!("cpu.max of {}", above.display())], "one holds it twice");
        fs::remove_file(made.join("io.max")).unwrap();
        let escaped = copy(&[&own], &made);
        assert_eq!(escaped, [format!("io.max of {}", own.display())], "no such controller");
        let told = doubt(&escaped).unwrap().message;
        assert!(told.contains("io.max of /") && doubt(&[]).is_none(), "{told}");
    }
}
