//! Figures in the units people use: throughput, requests per second and response times, wherever an
//! evaluation is shown.

use super::common::{ioscape, path, run};
use super::models::{Folder, small};
use ioscape_schema::Document;

const SMALL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/command/data/small.ioscape.json");

#[test]
fn an_evaluation_is_shown_in_the_metric_that_was_asked_for() {
    for (metric, axis) in [
        ("throughput", "throughput"),
        ("iops", "requests per second"),
        ("latency", "response time, median and 99 %"),
    ] {
        let text = run(&["report", SMALL, "--metric", metric]).ended(0).out;
        assert!(text.contains(axis), "{metric}: {text}");
        let picture = run(&["report", SMALL, "--metric", metric, "--svg"]).ended(0).out;
        assert!(picture.contains(&format!(">{axis}<")), "{metric}");
    }
    let rows = run(&["report", SMALL, "--metric", "latency", "--csv"]).ended(0).out;
    let head = rows.lines().next().unwrap_or_default();
    for column in ["throughput_bytes_per_s", "iops", "response_p50_ns", "response_p99_ns"] {
        assert!(head.split(',').any(|name| name == column), "{head}");
    }
    run(&["report", SMALL, "--metric", "speed"]).ended(2);
}

#[test]
fn the_page_begins_with_the_metric_that_was_asked_for() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (one, two) = (folder.path().join("one.html"), folder.path().join("two.html"));
    run(&["report", SMALL, "--metric", "iops", "-o", path(&one)]).ended(0);
    run(&["report", SMALL, SMALL, "--metric", "iops", "-o", path(&two)]).ended(0);
    for page in [one, two] {
        let page = std::fs::read_to_string(page).expect("the page");
        assert!(page.contains(r#"id="metric-iops" aria-label="show IOPS" checked>"#));
        for class in ["m-throughput", "m-iops", "m-latency"] {
            assert!(page.contains(&format!(r#"<div class="view {class}">"#)), "{class}");
        }
    }
}

#[test]
fn the_name_of_the_machine_stays_out_of_what_is_to_be_published() {
    let folder = Folder::new();
    let named = Document { host: Some("secrethost".into()), ..small() };
    let (result, page) = (folder.put("r.json", &named), folder.path("p.html"));
    for more in [&[][..], &["--markdown"], &["--json"], &["-o", &page]] {
        let words = [&["report", "--anonymous", &result][..], more].concat();
        assert!(!run(&words).ended(0).out.contains("secrethost"), "{more:?}");
    }
    assert!(!std::fs::read_to_string(&page).expect("a page").contains("secrethost"));
    assert!(run(&["report", &result]).ended(0).out.contains("secrethost"));
}

#[test]
fn a_result_may_come_by_standard_input_or_behind_a_byte_order_mark() {
    let mut command = ioscape(&["report", "-"]);
    command.stdin(std::fs::File::open(SMALL).expect("a result"));
    let ended = command.output().expect("it runs");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let folder = Folder::new();
    let text = std::fs::read_to_string(SMALL).expect("a result");
    let marked = folder.put_text("marked.json", &format!("\u{feff}{text}"));
    run(&["report", &marked]).ended(0);
}
