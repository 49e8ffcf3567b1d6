//! Tests of the document: every shape of the file survives reading and writing, whatever its
//! outcome.

use super::*;
use crate::WarningKind;
use serde_json::{Map, Value, json};

/// A file with these keys besides those of every file.
fn file(keys: &[(&str, Value)]) -> Value {
    let mut file = serde_json::to_value(Document {
        schema: SCHEMA.into(),
        tool: Tool { version: "0.1.0".into(), ..Tool::default() },
        command: vec!["ioscape".into()],
        seed: u64::MAX,
        ..Document::default()
    })
    .unwrap();
    for (key, value) in keys {
        file[key] = value.clone();
    }
    file
}

fn read(file: &Value) -> Result<Document, serde_json::Error> {
    serde_json::from_str(&file.to_string())
}

fn measurement() -> Value {
    let workload = crate::Workload::default();
    serde_json::to_value(Measurement::empty(workload, crate::Stop::Confident)).unwrap()
}

fn default<T: Default + Serialize>() -> Value {
    serde_json::to_value(T::default()).unwrap()
}

fn prediction() -> Value {
    json!({
        "system": "a", "workload": crate::Workload::default(), "throughput_bytes_per_s": 2.0,
        "interval90": [1.0, 3.0], "iops": 1.0, "response_time_ns": 1.0, "region": "region 1",
        "extrapolated": false,
    })
}

fn compared() -> Value {
    json!({
        "workload": crate::Workload::default(), "systems": ["a", "b"],
        "throughput_bytes_per_s": [2.0, 1.0], "ratio": 2.0, "interval90": [1.0, 3.0],
        "significant": false, "verdict": "cannot_be_told", "extrapolated": false,
    })
}

fn cheapest() -> Value {
    json!({ "workload": crate::Workload::default(), "at_least_bytes_per_s": 5.0 })
}

/// For every shape that a command writes, the key of its outcome and its keys.
fn shapes() -> Vec<(&'static str, Vec<(&'static str, Value)>)> {
    let runs = || json!([measurement()]);
    vec![
        ("measurements", vec![("measurements", runs())]),
        ("measurements", vec![("measurements", json!([]))]),
        ("measurements", vec![("twin", default::<TwinKept>()), ("measurements", runs())]),
        ("evaluation", vec![("evaluation", default::<Evaluation>())]),
        ("predictions", vec![("predictions", json!([prediction()]))]),
        ("comparison", vec![("comparison", json!([compared()]))]),
        (
            "comparison",
            vec![("comparison", json!([compared()])), ("cheapest", json!([cheapest()]))],
        ),
        ("validation", vec![("validation", default::<Validation>())]),
        ("validation", vec![("validation", default::<Validation>()), ("measurements", runs())]),
        (
            "validation",
            vec![("measurements", json!([])), ("validation_log", default::<ValidationLog>())],
        ),
        (
            "validation",
            vec![
                ("measurements", runs()),
                ("validation", default::<Validation>()),
                ("validation_log", default::<ValidationLog>()),
            ],
        ),
        ("characterization", vec![("characterization", default::<Characterization>())]),
        ("vxbench", vec![("vxbench", default::<Vxbench>())]),
        ("campaign", vec![("campaign", default::<CampaignResult>())]),
        ("os", vec![("os", default::<OsResults>())]),
        ("doctor", vec![("doctor", default::<Doctor>())]),
        ("trace_summary", vec![("trace_summary", default::<TraceSummary>())]),
        (
            "trace_characterization",
            vec![("trace_characterization", default::<TraceCharacterization>())],
        ),
        ("trace_comparison", vec![("trace_comparison", default::<TraceComparison>())]),
        ("trace_files", vec![("trace_files", json!([default::<TraceFile>()]))]),
        ("trace_replay", vec![("trace_replay", default::<TraceReplay>())]),
        ("simulation", vec![("simulation", default::<Simulation>())]),
    ]
}

#[test]
fn every_shape_of_the_file_survives_the_round_trip() {
    for (key, keys) in shapes() {
        let file = file(&keys);
        let document = read(&file).unwrap();
        assert_eq!(document.outcome.as_ref().map(Outcome::key), Some(key));
        assert_eq!(serde_json::to_value(&document).unwrap(), file, "{key}");
        let text = serde_json::to_string(&document).unwrap();
        assert_eq!(serde_json::from_str::<Document>(&text).unwrap(), document);
    }
}

#[test]
fn the_outcomes_keys_stand_after_the_others_in_the_order_of_old() {
    let keys = [
        ("validation", default::<Validation>()),
        ("validation_log", default::<ValidationLog>()),
        ("measurements", json!([])),
    ];
    let text = serde_json::to_string(&read(&file(&keys)).unwrap()).unwrap();
    let keys =
        ["\"schema\"", "\"warnings\"", "\"measurements\"", "\"validation\"", "\"validation_log\""];
    let at = keys.map(|key| text.find(key).unwrap());
    assert!(at.is_sorted(), "{at:?}");
}

#[test]
fn a_file_without_an_outcome_and_with_unknown_keys_is_read() {
    let bare = read(&file(&[])).unwrap();
    assert_eq!(bare.outcome, None);
    assert_eq!(serde_json::to_value(&bare).unwrap(), file(&[]));
    let newer = file(&[("novelty", json!({"a": [1]})), ("evaluation", Value::Null)]);
    assert_eq!(read(&newer).unwrap(), bare);
    let mut oldest: Map<String, Value> = file(&[]).as_object().unwrap().clone();
    oldest.remove("warnings");
    assert_eq!(read(&oldest.into()).unwrap(), bare);
}

/// Guards against a defect: an older version called every 90 % interval without 1 a difference, and
/// its verdict stood beneath a legend that said why there is none.
#[test]
fn an_older_comparison_is_judged_by_todays_rule() {
    let mut old = compared();
    for (key, value) in [
        ("ratio", json!(0.8)),
        ("interval90", json!([0.66, 0.97])),
        ("significant", json!(true)),
        ("verdict", json!("slower")),
    ] {
        old[key] = value;
    }
    let read = read(&file(&[("comparison", json!([old]))])).unwrap();
    let Some(Outcome::Comparison(found)) = read.outcome else { panic!("no comparison") };
    let one = &found.comparison[0];
    assert_eq!((one.significant, one.verdict), (false, Some(crate::Verdict::CannotBeTold)));
}

#[test]
fn a_later_version_is_newer() {
    let is_newer = |version: &str| Tool { version: version.into(), ..Tool::default() }.is_newer();
    assert!(is_newer("999.0.0") && is_newer("999") && !is_newer(env!("CARGO_PKG_VERSION")));
    assert!(!is_newer("0.0.99") && !is_newer("fio-3.36") && !is_newer(""));
}

#[test]
fn two_outcomes_are_refused_by_name() {
    let file = file(&[("evaluation", default::<Evaluation>()), ("os", default::<OsResults>())]);
    let told = read(&file).unwrap_err().to_string();
    assert!(told.contains("both `evaluation` and `os`"), "{told}");
}

#[test]
fn each_view_is_of_its_own_outcome() {
    let (os, simulation) = (OsResults::default(), Simulation::default());
    let document = Document { outcome: Some(os.clone().into()), ..Document::default() };
    assert_eq!((document.os(), document.simulation()), (Some(&os), None));
    let document = Document { outcome: Some(simulation.clone().into()), ..document };
    assert_eq!((document.os(), document.simulation()), (None, Some(&simulation)));
}

#[test]
fn warnings_are_kept_once_and_unknown_kinds_are_read() {
    let mut document = Document::default();
    for _ in 0..2 {
        document.warn(Warning::new(WarningKind::Steal, "same"));
    }
    assert_eq!(document.warnings.len(), 1);
    let newer: Warning = serde_json::from_str(r#"{"kind":"moon_phase","message":"m"}"#).unwrap();
    assert_eq!(newer.kind, WarningKind::Other);
}

#[test]
fn schema_numbers() {
    assert_eq!(Document::schema_number(SCHEMA), Some(1));
    assert_eq!(Document::schema_number("fio/3"), None);
}
