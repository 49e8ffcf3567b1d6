//! Tests of reading and writing JSON: the round trip, and every way a file can be wrong.

use super::*;
use crate::sample;
use proptest::prelude::*;

fn fault(text: &str) -> String {
    from_json(text, "r.json").unwrap_err().to_string()
}

/// The sample with the value at a JSON pointer replaced.
fn with(pointer: &str, new: Value) -> String {
    let mut value = serde_json::to_value(sample::evaluated()).unwrap();
    *value.pointer_mut(pointer).unwrap() = new;
    value.to_string()
}

#[test]
fn what_is_written_is_read_back() {
    for document in [
        sample::with_all_parameters(),
        sample::measured(),
        sample::interrupted(),
        sample::predicted(),
        sample::compared(),
        sample::validated(),
    ] {
        let text = json(&document).unwrap();
        assert!(text.ends_with("}\n"));
        assert_eq!(from_json(&text, "r").unwrap(), document);
    }
}

#[test]
fn numbers_that_are_not_finite_are_named() {
    let mut evaluation = sample::evaluation();
    evaluation.regions[1].curves.read_frac[2].measurement.throughput_ci95[1] = f64::INFINITY;
    let document = Document { outcome: Some(evaluation.into()), ..sample::evaluated() };
    assert_eq!(
        json(&document).unwrap_err().place,
        "evaluation.regions[1].curves.read_frac[2].measurement.throughput_ci95[1]"
    );
    let mut document = sample::measured();
    document.environment.load_before = Some(f64::NAN);
    assert_eq!(json(&document).unwrap_err().place, "environment.load_before");
}

#[test]
fn each_fault_has_its_sentence() {
    let whole = json(&sample::measured()).unwrap();
    insta::assert_snapshot!(fault(&whole[..whole.len() / 2]), @r##"r.json ends in the middle at line 115: the file is truncated, copy or measure it again"##);
    insta::assert_snapshot!(fault("\n"), @r##"r.json is empty: what should have written it wrote nothing; give a result of ioscape"##);
    insta::assert_snapshot!(fault("throughput: 5 GB/s"), @r##"r.json is not JSON: line 1, column 2: expected ident; give a result of ioscape"##);
    insta::assert_snapshot!(fault("{}"), @r##"r.json is not a result of ioscape: it has no "schema"; give a file that ioscape wrote with -o or --json"##);
    insta::assert_snapshot!(fault("[1, 2]"), @r##"r.json is not a result of ioscape: it has no "schema"; give a file that ioscape wrote with -o or --json"##);
    insta::assert_snapshot!(fault(r#"{"schema": "fio/3\u001b[31m"}"#), @r##"r.json is not a result of ioscape: its schema is "fio/3\u001b[31m"; give a file that ioscape wrote with -o or --json"##);
    insta::assert_snapshot!(fault(r#"{"schema": "ioscape/0"}"#), @r##"r.json is not a result of ioscape: its schema is "ioscape/0"; give a file that ioscape wrote with -o or --json"##);
    insta::assert_snapshot!(fault(r#"{"schema": "ioscape/2"}"#), @r##"r.json was written by a newer ioscape (schema ioscape/2, this one reads up to ioscape/1): update ioscape"##);
    insta::assert_snapshot!(fault(r#"{"schema": "ioscape/1"}"#), @r##"r.json is damaged: the document: missing field `tool` at line 1 column 23; restore the file or measure again"##);
}

#[test]
fn each_bad_field_is_named() {
    let curve = "/evaluation/unique_bytes_curve/3/measurement";
    // Column numbers depend on the length of the sample.
    let bad = |field: &str, value: Value| {
        let pointer = if field.starts_with('/') { field } else { &format!("{curve}/{field}") };
        let fault = fault(&with(pointer, value));
        fault.split(" column ").next().unwrap().to_owned()
    };
    insta::assert_snapshot!(bad("throughput_bytes_per_s", (-5.0).into()), @r##"r.json is damaged: evaluation.unique_bytes_curve[3].measurement.throughput_bytes_per_s: -5 cannot be negative at line 1"##);
    insta::assert_snapshot!(bad("throughput_bytes_per_s", "NaN".into()), @r##"r.json is damaged: evaluation.unique_bytes_curve[3].measurement.throughput_bytes_per_s: invalid type: string "NaN", expected f64 at line 1"##);
    insta::assert_snapshot!(bad("throughput_bytes_per_s", Value::Null), @r##"r.json is damaged: evaluation.unique_bytes_curve[3].measurement.throughput_bytes_per_s: invalid type: null, expected f64 at line 1"##);
    insta::assert_snapshot!(bad("bytes", (-1).into()), @r##"r.json is damaged: evaluation.unique_bytes_curve[3].measurement.bytes: invalid value: integer `-1`, expected u64 at line 1"##);
    insta::assert_snapshot!(bad("workload/read_frac", 1.5.into()), @r##"r.json is damaged: evaluation.unique_bytes_curve[3].measurement.workload.read_frac: 1.5 is not a fraction from 0 to 1 at line 1"##);
    insta::assert_snapshot!(bad("/evaluation/drift/throughputs/2", (-1.0).into()), @r##"r.json is damaged: evaluation.drift.throughputs[2]: -1 cannot be negative at line 1"##);
    insta::assert_snapshot!(bad("workload/read_frac", "a \"quoted\" half".into()), @r##"r.json is damaged: evaluation.unique_bytes_curve[3].measurement.workload.read_frac: invalid type: string "a \"quoted\" half", expected f64 at line 1"##);
    insta::assert_snapshot!(bad("/evaluation/drift/throughputs/0", Value::Array(Vec::new())), @"r.json is damaged: evaluation.drift.throughputs[0]: invalid type: sequence, expected f64 at line 1");
    insta::assert_snapshot!(bad("/evaluation/drift/throughputs/1", "half".into()), @r##"r.json is damaged: evaluation.drift.throughputs[1]: invalid type: string "half", expected f64 at line 1"##);
    insta::assert_snapshot!(bad("workload", serde_json::json!({"read_frac": 1.0})), @"r.json is damaged: evaluation.unique_bytes_curve[3].measurement.workload: missing field `unique_bytes` at line 1");
    let not_a_number = json(&sample::measured()).unwrap().replacen("1.6,", "NaN,", 1);
    let told = fault(&not_a_number);
    assert!(
        told.starts_with("r.json is not JSON: ") && told.contains(".") && told.contains("line")
    );
}

#[test]
fn unknown_fields_and_kinds_of_warnings_are_let_through() {
    let mut value = serde_json::to_value(sample::measured()).unwrap();
    value["novelty"] = serde_json::json!({"a": [1]});
    value["warnings"][0]["kind"] = "moon_phase".into();
    assert!(from_json(&value.to_string(), "r").is_ok());
}

/// Guards against a defect: what a newer version wrote was called damaged, or a result without
/// measurements.
#[test]
fn what_only_a_newer_version_knows_is_not_damaged() {
    let mut value = serde_json::to_value(sample::measured()).unwrap();
    value["measurements"][0]["stop"] = "quota_over".into();
    assert!(fault(&value.to_string()).contains("is damaged: measurements[0].stop"));
    value["tool"]["version"] = "999.0.0".into();
    let told = fault(&value.to_string());
    assert!(told.contains("newer ioscape (measurements[0].stop: unknown variant `quo"), "{told}");
    let measurements = value.as_object_mut().unwrap().remove("measurements").unwrap();
    value["power"] = measurements;
    assert!(fault(&value.to_string()).ends_with("no outcome of a known kind): update ioscape"));
}

/// Once, unknown values were kept, at 16 times the file's size. A value as deep as this cannot be
/// kept.
#[test]
fn what_is_unknown_is_passed_over_and_not_kept() {
    let deep = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
    let text = json(&sample::measured()).unwrap().replacen('{', &format!("{{\"x\": {deep},"), 1);
    assert_eq!(from_json(&text, "r"), Ok(sample::measured()));
    assert!(fault(&deep).contains("it has no \"schema\""));
    assert!(fault(r#"{"schema": [0]}"#).contains("is not a result of ioscape: invalid type"));
}

proptest! {
    #[test]
    fn no_text_panics(text in any::<String>(), name in any::<String>()) {
        prop_assert!(from_json(&text, &name).is_err());
    }

    #[test]
    fn no_damage_panics(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let mut bytes = json(&sample::interrupted()).unwrap().into_bytes();
        let index = at.index(bytes.len());
        bytes[index] = byte;
        if cut {
            bytes.truncate(index);
        }
        if let Err(error) = from_json(&String::from_utf8_lossy(&bytes), "r.json") {
            prop_assert!(error.to_string().contains("r.json"));
        }
    }
}
