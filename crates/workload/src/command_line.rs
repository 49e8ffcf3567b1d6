//! A workload as the options of `ioscape evaluate` or `ioscape run` that measure it.

use ioscape_schema::units::bytes_word;
use ioscape_schema::{Access, Advice, Engine, SizeDistribution, Workers, Workload};

/// The command that measures `workload` on `target` under a memory limit: an evaluation where one can be made of such
/// workloads, else a run of this one. `None` for a simulated system, which has only what its file describes.
pub fn measuring(target: &str, memory: Option<u64>, workload: &Workload) -> Option<String> {
    let simulated = target.starts_with("sim:");
    let evaluates = can_be_evaluated(workload, simulated);
    if simulated && !evaluates {
        return None;
    }
    let mut words = vec!["ioscape".to_owned(), if evaluates { "evaluate" } else { "run" }.into()];
    words.push(shell_word(target));
    words.extend(memory.map(|bytes| format!("--memory {}", bytes_word(bytes))));
    words.extend(way(workload));
    match (evaluates, workload.access) {
        (true, Access::Dsync) => words.push("--access dsync".to_owned()),
        (true, _) => {}
        (false, _) => words.extend(only_run(workload)),
    }
    Some(words.join(" "))
}

fn can_be_evaluated(w: &Workload, simulated: bool) -> bool {
    let plain = w.queue_depth == 1 && w.think_time_ns == 0 && w.align_bytes.is_none();
    let engine = match simulated {
        true => w.engine == Engine::Sim && w.workers == Workers::Processes,
        false => !matches!(w.engine, Engine::Null | Engine::Sim),
    };
    plain && engine && w.advice == Advice::Normal
}

/// The options that `evaluate` and `run` share, where they are not the default.
fn way(w: &Workload) -> Vec<String> {
    let default = Workload::default();
    let mut words = Vec::new();
    if w.access == Access::Direct {
        words.push("--direct".to_owned());
    }
    if !matches!(w.engine, Engine::Psync | Engine::Sim) {
        words.push(format!("--engine {}", w.engine));
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

/// The options that only `run` has.
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
    if w.queue_depth > 1 {
        words.push(format!("--queue-depth {}", w.queue_depth));
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

/// `text` as one word of a shell.
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
    fn a_target_is_one_word_of_a_shell() {
        assert_eq!(shell_word("/a b/it's"), r"'/a b/it'\''s'");
        assert_eq!(shell_word("/mnt/data-1.x"), "/mnt/data-1.x");
    }
}
