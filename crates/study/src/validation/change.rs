//! Whether the machine that validates looks like the one that was evaluated.

use ioscape_schema::units::Bytes;
use ioscape_schema::{Environment, Warning, WarningKind};

/// One doubt when `here`, where predictions are validated, differs from `there`, where the evaluation was made.
pub fn changed(there: &Environment, here: &Environment) -> Option<Warning> {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    let limit = |e: &Environment| {
        e.memory_limit_bytes.map_or("none".to_owned(), |bytes| Bytes(bytes as f64).to_string())
    };
    let both = [
        ("file system", text(&there.file_system), text(&here.file_system)),
        ("device", text(&there.device), text(&here.device)),
        ("processor", text(&there.cpu_model), text(&here.cpu_model)),
        ("kernel", text(&there.kernel), text(&here.kernel)),
        ("memory limit", limit(there), limit(here)),
    ];
    let differs = |(what, a, b): (&str, String, String)| {
        (a != b).then(|| format!("{what} {b} instead of {a}"))
    };
    let found: Vec<String> = both.into_iter().filter_map(differs).collect();
    (!found.is_empty()).then(|| {
        let message = format!(
            "this is not the system that was evaluated ({}): some of the error may come from the difference",
            found.join(", ")
        );
        Warning::new(WarningKind::DifferentKinds, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_machine_is_noticed() {
        let there = Environment { file_system: Some("ext4".into()), ..Environment::default() };
        assert_eq!(changed(&there, &there), None);
        let here = Environment { file_system: Some("xfs".into()), ..there.clone() };
        assert!(changed(&there, &here).unwrap().message.contains("xfs instead of ext4"));
    }
}
