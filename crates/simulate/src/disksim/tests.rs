//! Tests of DiskSim's files that are broken.

use super::*;
#[test]
fn broken_files_are_refused() {
    let none = |_: &str| Err("not there".to_owned());
    for (text, word) in [
        ("x y { }", "disksim_disk"),
        ("disksim_disk d { }", "Model"),
        ("disksim_disk d { Model = source gone.model }", "gone.model"),
    ] {
        assert!(read(text, "f", &none).unwrap_err().to_string().contains(word), "{text}");
    }
    assert!(validation_trace("R Hit 5 1 2.0", "t", 10).is_err());
    assert!(validation_trace("R Hit 9 2 2.0 1.0", "t", 10).is_err());
    assert_eq!(validation_trace("R Hit 5 1 2.0 1.0\n\n", "t", 10).unwrap().jobs.len(), 1);
}
