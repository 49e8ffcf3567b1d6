//! Formats a workload as the options of `ioscape evaluate` or `ioscape run` that measure it.

use ioscape_schema::units::bytes_word;
use ioscape_schema::{Access, Advice, Engine, SizeDistribution, Workers, Workload};

/// Returns the command that measures `workload` on `target` under a memory limit: an evaluation if
/// it can evaluate such workloads, otherwise a run of this one. Evaluations cannot use an alignment
/// from the workload; callers leave out one that an evaluation chose itself. `None` for a simulated
/// system, which has only what its file describes.
pub fn measuring(target: &str, memory: Option<u64>, workload: &Workload) -> Option<String> {
    if !can_be_evaluated(workload, is_simulated(target)) {
        return running(target, memory, workload);
    }
    let mut words = beginning("evaluate", target, memory, workload);
    if workload.access == Access::Dsync {
        words.push("--access dsync".to_owned());
    }
    Some(words.join(" "))
}

/// Returns the command that runs only `workload`, for cases where an evaluation is known to measure
/// something else. `None` for a simulated system.
pub fn running(target: &str, memory: Option<u64>, workload: &Workload) -> Option<String> {
    if is_simulated(target) {
        return None;
    }
    let mut words = beginning("run", target, memory, workload);
    words.extend(only_run(workload));
    Some(words.join(" "))
}

fn is_simulated(target: &str) -> bool {
    target.starts_with("sim:")
}

/// Returns the words that both commands share.
fn beginning(command: &str, target: &str, memory: Option<u64>, workload: &Workload) -> Vec<String> {
    let mut words = vec!["ioscape".to_owned(), command.to_owned(), shell_word(target)];
    words.extend(memory.map(|bytes| format!("--memory {}", bytes_word(bytes))));
    words.extend(way(workload));
    words
}

fn can_be_evaluated(w: &Workload, simulated: bool) -> bool {
    let engine = match simulated {
        true => w.engine == Engine::Sim && w.workers == Workers::Processes && w.queue_depth == 1,
        false => !matches!(w.engine, Engine::Null | Engine::Sim),
    };
    let is_plain = w.think_time_ns == 0 && w.align_bytes.is_none() && w.advice == Advice::Normal;
    is_plain && engine
}

/// Returns the options that `evaluate` and `run` share, except defaults.
fn way(w: &Workload) -> Vec<String> {
    let default = Workload::default();
    let mut words = Vec::new();
    if w.access == Access::Direct {
        words.push("--direct".to_owned());
    }
    if !matches!(w.engine, Engine::Psync | Engine::Sim) {
        words.push(format!("--engine {}", w.engine));
    }
    if w.queue_depth > 1 {
        words.push(format!("--queue-depth {}", w.queue_depth));
    }
    if w.workers != default.workers {
        words.push(format!("--workers {}", w.workers));
    }
    if w.size_distribution != SizeDistribution::Normal {
        words.push(format!("--size-dist {}", w.size_distribution));
    }
    words.extend(w.direct_above_bytes.map(|bytes| format!("--direct-above {}", bytes_word(bytes))));
    words
}

/// Returns the options that only `run` has.
fn only_run(w: &Workload) -> Vec<String> {
    let mut words = vec![
        format!("--unique-bytes {}", bytes_word(w.unique_bytes)),
        format!("--size-mean {}", bytes_word(w.size_mean)),
        format!("--read-frac {}", w.read_frac),
        format!("--seq-frac {}", w.seq_frac),
        format!("--processes {}", w.process_num),
    ];
    if w.access == Access::Dsync {
        words.push("--dsync".to_owned());
    }
    if w.think_time_ns > 0 {
        words.push(format!("--think-time {}ns", w.think_time_ns));
    }
    words.extend(w.align_bytes.map(|bytes| format!("--align {}", bytes_word(bytes))));
    if w.advice != Advice::Normal {
        words.push(format!("--advice {}", w.advice));
    }
    words
}

/// Quotes `text` as one word of a shell.
fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:+@%".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_simulated_system_has_what_its_file_describes() {
        let sim = Workload { engine: Engine::Sim, ..Workload::default() };
        let direct = Workload { access: Access::Direct, ..sim.clone() };
        let said = measuring("sim:sprite", None, &direct);
        assert_eq!(said.as_deref(), Some("ioscape evaluate sim:sprite --direct"));
        assert_eq!(measuring("sim:sprite", None, &Workload { queue_depth: 8, ..sim }), None);
    }

    #[test]
    fn what_an_evaluation_is_based_on_is_evaluated_again() {
        let direct = Workload {
            access: Access::Direct,
            engine: Engine::IoUring,
            queue_depth: 32,
            ..Workload::default()
        };
        let said = measuring("/d", None, &direct);
        let evaluate = "ioscape evaluate /d --direct --engine io_uring --queue-depth 32";
        assert_eq!(said.as_deref(), Some(evaluate));
        // Evaluations cannot use a requested alignment.
        for one in [direct, Workload::default()] {
            let aligned = Workload { align_bytes: Some(65_536), ..one };
            let said = measuring("/d", None, &aligned).expect("a command");
            assert!(said.starts_with("ioscape run /d "), "{said}");
            assert!(said.ends_with(" --align 64k"), "{said}");
        }
    }

    #[test]
    fn a_target_is_one_word_of_a_shell() {
        assert_eq!(shell_word("/a b/it's"), r"'/a b/it'\''s'");
        assert_eq!(shell_word("/mnt/data-1.x"), "/mnt/data-1.x");
    }
}
