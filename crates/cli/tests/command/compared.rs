//! What `compare` and `report --svg` refuse: results that look alike or have nothing to draw.

use super::common::run;
use super::models::Folder;
use ioscape_schema::{
    CampaignCell, CampaignColumn, CampaignResult, CampaignRow, CampaignSample, CellPlan, Document,
    OsBenchmark, OsResults, Outcome, SCHEMA, VxJob, VxWorkload,
};

fn document(outcome: impl Into<Outcome>) -> Document {
    Document { schema: SCHEMA.into(), outcome: Some(outcome.into()), ..Document::default() }
}

fn plan(workload: VxWorkload) -> CellPlan {
    CellPlan::of_file(VxJob { workload, ..VxJob::default() }, 1 << 30)
}

fn campaign(title: &str, plan: Option<CellPlan>, rate: f64) -> Document {
    let sample = CampaignSample { throughput_bytes_per_s: rate, ..CampaignSample::default() };
    let cell = CampaignCell {
        samples: vec![sample; 3],
        throughput_bytes_per_s: rate,
        plan,
        ..CampaignCell::default()
    };
    let column = CampaignColumn { place: "xfs".into(), ..CampaignColumn::default() };
    document(CampaignResult {
        title: title.into(),
        columns: vec![column],
        rows: vec![CampaignRow { settings: Vec::new(), cells: vec![cell] }],
        ..CampaignResult::default()
    })
}

#[test]
fn campaigns_of_other_work_are_refused() {
    let folder = Folder::new();
    let reads = Some(plan(VxWorkload::RandRead));
    let writes = Some(plan(VxWorkload::RandWrite));
    for (first, second) in [(reads.clone(), writes), (None, None)] {
        let a = folder.put("a.json", &campaign("Random reads", first, 2e8));
        let b = folder.put("b.json", &campaign("Random writes", second, 1e8));
        let words = ["did not do the same work", "--max-file-size"];
        run(&["compare", &a, &b]).ended(2).says(&words);
    }
    let a = folder.put("a.json", &campaign("Random reads", reads.clone(), 2e8));
    let b = folder.put("b.json", &campaign("Random reads", reads, 1e8));
    assert!(run(&["compare", &a, &b]).ended(0).out.contains("slower"));
    run(&["compare", &a, &b, "--model", "product"]).ended(2).says(&["--model", "predictions"]);
    run(&["report", &a, "--metric", "iops"]).ended(2).says(&["--metric", "evaluations"]);
}

#[test]
fn results_of_one_kind_share_a_page_with_their_ratios() {
    let folder = Folder::new();
    let reads = || Some(plan(VxWorkload::RandRead));
    let put = |name: &str, plan, rate| folder.put(name, &campaign("Random I/O", plan, rate));
    let base = put("base.json", reads(), 2e8);
    let slow = put("slow.json", reads(), 1e8);
    let other = put("other.json", Some(plan(VxWorkload::RandWrite)), 1e8);
    let ran = run(&["report", &base, &slow, &other, "--csv", "--table", "measured0"]).ended(0);
    assert!(ran.out.contains("0.50x") && ran.out.contains("yes"), "{}", ran.out);
    // The third did different work: it is on the page, but not compared.
    run(&["report", &base, &slow, &other, "--csv", "--table", "measured1"]).ended(2);
    run(&["report", &base, &other, "--csv", "--table", "measured0"]).ended(2);
}

#[test]
fn several_results_are_one_value_of_json_and_no_table() {
    let folder = Folder::new();
    let reads = || Some(plan(VxWorkload::RandRead));
    let [a, b] = [("a.json", 2e8), ("b.json", 1e8)]
        .map(|(name, rate)| folder.put(name, &campaign("Random reads", reads(), rate)));
    let json = |words: &[&str]| {
        let ran = run(&[&["report"][..], words, &["--json"]].concat()).ended(0);
        serde_json::from_str::<serde_json::Value>(&ran.out).expect("one value")
    };
    let (one, both) = (json(&[&a]), json(&[&a, &b]));
    assert_eq!((one["schema"].as_str(), both.as_array().map(Vec::len)), (Some(SCHEMA), Some(2)));
    assert!(both[0] == one && both[1] == json(&[&b]));
    run(&["report", &a, &b, "--csv"]).ended(2).says(&["--csv is of one result", "--table NAME"]);
}

#[test]
fn a_result_without_anything_to_draw_is_refused_as_a_picture() {
    let folder = Folder::new();
    let one = OsBenchmark {
        name: "cswitch".into(),
        case: "same CPU".into(),
        value: Some(1e3),
        processes: vec![1e3; 3],
        ..OsBenchmark::default()
    };
    let unrated = OsResults { benchmarks: vec![one], ..OsResults::default() };
    let os = folder.put("os.json", &document(unrated));
    for option in ["--svg", "--png"] {
        let refused = run(&["report", &os, option]).ended(2);
        assert!(
            refused.out.is_empty() && refused.err.contains("this result has no"),
            "{}",
            refused.err
        );
    }
}

#[test]
fn reports_of_several_micro_benchmarks_are_one_table() {
    let folder = Folder::new();
    let of = |times: Option<f64>| {
        let value = times.map(|times| 100.0 * times);
        let processes = value.map_or(Vec::new(), |value| {
            vec![value * 0.999, value, value * 1.001, value, value, value]
        });
        let one = OsBenchmark {
            name: "getpid".into(),
            case: "system call".into(),
            value,
            ci95: value.map(|value| [value * 0.999, value * 1.001]),
            processes,
            not_measured: times.is_none().then(|| "busy".to_owned()),
            ..OsBenchmark::default()
        };
        document(OsResults { benchmarks: vec![one], ..OsResults::default() })
    };
    let a = folder.put("a.json", &of(Some(1.0)));
    let b = folder.put("b.json", &of(Some(2.0)));
    let c = folder.put("c.json", &of(None));
    let both = run(&["report", &a, &b]).ended(0).out;
    for word in ["getpid", "100 ns", "200 ns", "2.00x", "slower", "Ratios are b over a"] {
        assert!(both.contains(word), "{word}: {both}");
    }
    assert_eq!(both.matches("getpid").count(), 1, "{both}");
    let lacking = run(&["report", &a, &c]).ended(0).out;
    assert!(lacking.contains("not measured") && !lacking.contains("Verdict"), "{lacking}");
    let alone = run(&["report", &a]).ended(0).out;
    assert!(!alone.contains("Ratios are"), "{alone}");
}
