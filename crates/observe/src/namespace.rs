//! Whether processes have the same numbers here as in the kernel's events, which use only those of
//! the whole machine.

use std::path::Path;

/// The outermost namespace of process numbers, which contains all others (`PROC_PID_INIT_INO` of
/// `linux/proc_ns.h`).
const OUTERMOST: &str = "pid:[4026531836]";

/// A number that no thread has: the largest is 2^22.
const NOBODY: u32 = u32::MAX;

/// Whether process numbers here are those of the machine; in a container, they seldom are.
pub(crate) fn is_outermost() -> bool {
    is_outermost_by(Path::new("/proc"))
}

fn is_outermost_by(proc: &Path) -> bool {
    let link = std::fs::read_link(proc.join("self/ns/pid"));
    link.is_ok_and(|link| link.as_os_str() == OUTERMOST)
}

/// The number that the kernel's events use for the thread with this number here, as far as that is
/// known.
pub(crate) fn in_events(number: u32) -> u32 {
    if is_outermost() { number } else { NOBODY }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_machine_in_the_outermost_namespace_only() {
        let told = |link: Option<&str>| {
            let proc = tempfile::tempdir().unwrap();
            let place = proc.path().join("self/ns");
            std::fs::create_dir_all(&place).unwrap();
            link.iter().for_each(|to| std::os::unix::fs::symlink(to, place.join("pid")).unwrap());
            is_outermost_by(proc.path())
        };
        assert!(told(Some("pid:[4026531836]")));
        assert!(!told(Some("pid:[4026532201]")));
        assert!(!told(None), "where nothing is known, no number is");
    }
}
