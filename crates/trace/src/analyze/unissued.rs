//! What is not known of a trace that does not tell when requests were issued: time at the device would be elapsed time once more.

use super::untyped::origin;
use crate::read::{Format, Tells};
use ioscape_schema::text::RECORDED;
use ioscape_schema::trace_summary::{Times, TraceSummary};
use ioscape_schema::{Distribution, Warning, WarningKind};

/// Takes out times at the device where no request was issued later than it arrived and the trace is not known to tell when it was;
/// the doubt says so.
pub fn forget(summary: &mut TraceSummary) -> Option<Warning> {
    let Times { physical_ns, elapsed_ns } = &summary.response_times.all;
    if elapsed_ns.is_empty() || physical_ns != elapsed_ns {
        return None;
    }
    let text = match issue_of(summary) {
        Tells::Yes => return None,
        Tells::No => format!(
            "the format {} does not tell when requests were issued to the device: times at the device (physical) are left out, and response times include the queue",
            origin(&summary.info)
        ),
        Tells::Anyone => "no request was issued later than it arrived, and it is not known whether the trace's source tells when: times at the device (physical) are left out, and response times include the queue".to_owned(),
    };
    let times = &mut summary.response_times;
    for times in
        [times.read.as_mut(), times.write.as_mut(), Some(&mut times.all)].into_iter().flatten()
    {
        times.physical_ns = Distribution::default();
    }
    Some(Warning::new(WarningKind::TimesUnknown, text).at("response_times.physical_ns"))
}

/// Whether the trace tells when requests were issued; a simulation does, whatever it was made of.
fn issue_of(summary: &TraceSummary) -> Tells {
    match summary.info.format.as_str() {
        RECORDED | "simulation" => Tells::Yes,
        format => format.parse().map_or(Tells::Anyone, Format::issue),
    }
}

#[cfg(test)]
mod tests {
    use crate::analyze::{Analysis, AnalysisOptions};
    use ioscape_schema::trace_summary::TraceSummary;
    use ioscape_schema::{Io, TraceInfo, WarningKind};

    /// The analysis of two requests, recorded in a format, that waited so long in the queue.
    fn of(format: &str, waited_ns: [u64; 2]) -> TraceSummary {
        let mut found = Analysis::new(&AnalysisOptions::default());
        found.update(&waited_ns.map(|wait| Io {
            issued_ns: wait,
            completed_ns: wait + 1000,
            ..Io::default()
        }));
        found.finish("w", &TraceInfo { format: format.to_owned(), ..TraceInfo::default() })
    }

    /// What is said of times at the device, if they are left out.
    fn said(found: &TraceSummary) -> Option<&str> {
        let doubt = found.warnings.iter().find(|one| one.kind == WarningKind::TimesUnknown);
        assert_eq!(doubt.is_some(), found.response_times.all.physical_ns.is_empty());
        doubt.map(|doubt| doubt.message.as_str())
    }

    #[test]
    fn times_at_the_device_are_absent_where_no_issue_is_told() {
        for format in ["msr", "systor", "vscsi2"] {
            let found = of(format, [0, 0]);
            let text = said(&found).expect(format);
            assert!(text.starts_with(&format!("the format {format} does not tell when")), "{text}");
            let json = serde_json::to_value(&found).expect("JSON");
            assert!(json["response_times"]["all"].get("physical_ns").is_none(), "{json}");
            assert_eq!(json["response_times"]["all"]["elapsed_ns"]["count"], 2);
        }
        for format in ["parquet", "csv", "measurement"] {
            assert!(said(&of(format, [0, 0])).expect(format).contains("it is not known whether"));
            assert_eq!(said(&of(format, [0, 1])), None);
        }
        for format in ["hp-srt", "blktrace", "recorded", "simulation", "disksim-validate"] {
            assert_eq!(said(&of(format, [0, 0])), None, "{format}");
        }
    }
}
