//! Whether the machine that validates looks like the one that was evaluated.

use ioscape_schema::units::Bytes;
use ioscape_schema::{Environment, Warning, WarningKind};

/// Properties that a target keeps across boots, by their names in the identity of work that can be
/// continued.
const LASTING: [&str; 2] = ["target's device identifier", "target's file system number"];

/// Returns a warning if `here`, where predictions are validated, differs from `there`, where the
/// evaluation was made.
pub fn changed(there: &Environment, here: &Environment) -> Option<Warning> {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    let limit = |e: &Environment| {
        e.memory_limit_bytes.map_or("none".to_owned(), |bytes| Bytes(bytes as f64).to_string())
    };
    let [was, is] = devices(there, here);
    let both = [
        ("file system", text(&there.file_system), text(&here.file_system)),
        ("device", text(was), text(is)),
        ("processor", text(&there.cpu_model), text(&here.cpu_model)),
        ("kernel", text(&there.kernel), text(&here.kernel)),
        ("memory limit", limit(there), limit(here)),
    ];
    let differs = |(what, a, b): (&str, String, String)| {
        (a != b).then(|| format!("{what} {b} instead of {a}"))
    };
    let is_limited =
        there.memory_limit_bytes.is_some() && there.memory_limit_bytes == here.memory_limit_bytes;
    let apart = there.machines_apart(here).into_iter().map(|(what, [a, b])| (what, a, b));
    let apart = apart.filter(|(what, ..)| *what != "memory" || !is_limited);
    let ways = there.ways_apart(here).into_iter().map(|(what, [a, b])| (what, a, b));
    let all = both.into_iter().chain(apart).chain(ways);
    let found: Vec<String> = all.filter_map(differs).collect();
    (!found.is_empty()).then(|| {
        let message = format!(
            "this is not the system that was evaluated ({}): some of the error may come from the difference",
            found.join(", ")
        );
        Warning::new(WarningKind::DifferentKinds, message)
    })
}

/// The devices by what distinguishes them: their models. The kernel's names, such as `sda`, may go
/// to other devices at the next boot, so they count only if the target is not known to be the same.
fn devices<'a>(there: &'a Environment, here: &'a Environment) -> [&'a Option<String>; 2] {
    let are_known = there.device_model.is_some() && here.device_model.is_some();
    if are_known && there.device_model != here.device_model {
        return [&there.device_model, &here.device_model];
    }
    let is_lasting = |name: &&str| {
        let was = there.identity.get(*name);
        was.is_some() && was == here.identity.get(*name)
    };
    match LASTING.iter().any(is_lasting) {
        true => [&here.device; 2],
        false => [&there.device, &here.device],
    }
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
        let [small, large] = [8 << 30, 64 << 30]
            .map(|bytes| Environment { memory_bytes: Some(bytes), ..there.clone() });
        let told = changed(&small, &large).unwrap().message;
        assert!(told.contains("(memory 64 GiB instead of 8 GiB)"), "{told}");
        let limited = [small, large]
            .map(|machine| Environment { memory_limit_bytes: Some(1 << 29), ..machine });
        assert_eq!(changed(&limited[0], &limited[1]), None, "both had 512 MiB");
    }

    /// Guards against silence: a limit on the device made predictions miss by a factor of 50.
    #[test]
    fn another_limit_of_io_is_noticed() {
        let of = |limit: &str| Environment {
            io_limit: Some(limit.to_owned()),
            ..Environment::default()
        };
        let told = changed(&of("none"), &of("sda: up to 500 reads a second")).unwrap().message;
        let limit = "(I/O limit of a control group sda: up to 500 reads a second instead of none)";
        assert!(told.contains(limit), "{told}");
        assert_eq!(changed(&Environment::default(), &of("none")), None, "one does not tell");
    }

    /// Guards against a defect: a snapshot was found first at the next boot, and the same drive was
    /// said to be another one than the one evaluated.
    #[test]
    fn a_device_that_the_kernel_calls_otherwise_since_a_boot_is_the_same() {
        let named = |device: &str, model: Option<&str>, number: &str| Environment {
            device: Some(device.to_owned()),
            device_model: model.map(str::to_owned),
            identity: [("target's file system number".to_owned(), number.to_owned())].into(),
            ..Environment::default()
        };
        let told = |there: &Environment, here: &Environment| {
            changed(there, here).map(|doubt| doubt.message).unwrap_or_default()
        };
        assert_eq!(told(&named("dm-0", None, "7"), &named("dm-1", None, "7")), "");
        let other = told(&named("sda", None, "7"), &named("sdb", None, "8"));
        assert!(other.contains("device sdb instead of sda"), "{other}");
        let models = ["A", "B"].map(|model| named("sda", Some(model), "7"));
        let other = told(&models[0], &models[1]);
        assert!(other.contains("device B instead of A"), "{other}");
    }
}
