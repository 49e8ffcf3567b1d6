//! What is unknown if a trace does not record when requests were issued: time at the device would
//! just repeat elapsed time.

use super::untyped::silent;
use crate::read::{Format, Tells, UNISSUED};
use ioscape_schema::text::RECORDED;
use ioscape_schema::trace_summary::{Times, TraceSummary};
use ioscape_schema::{Distribution, TraceInfo, Warning, WarningKind};

/// Removes times at the device if no request was issued later than it arrived, and either the trace
/// is not known to record issue times or a part of it is known not to; the returned doubt says so.
pub fn forget(summary: &mut TraceSummary) -> Option<Warning> {
    let Times { physical_ns, elapsed_ns } = &summary.response_times.all;
    if elapsed_ns.is_empty() && physical_ns.is_empty() {
        return None;
    }
    let formats: Vec<&str> = TraceInfo::formats_in(&summary.info.format).collect();
    let (tells, has_none) = (tells(&summary.info)?, summary.info.notes.contains_key(UNISSUED));
    // The issue times of some parts would stand for all.
    let is_of_some = (formats.len() > 1 || has_none) && tells == Tells::No;
    if physical_ns != elapsed_ns && !is_of_some {
        return None;
    }
    let text = match tells {
        Tells::Yes => return None,
        Tells::No if has_none => "the trace, or a part of it, has no issues of requests to the device: times at the device (physical) are left out, and response times include the queue; record issues too (blktrace -a issue, perf -e block:block_rq_issue); LVM and md issue none".to_owned(),
        Tells::No => format!(
            "{} when requests were issued to the device: times at the device (physical) are left out, and response times include the queue",
            silent(&formats, formats.iter().all(|format| issue_of(format) == Tells::No))
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

/// Whether a trace records when requests were issued to the device; `None` if its formats hold rows
/// from any source.
pub fn tells_issue(info: &TraceInfo) -> Option<bool> {
    match tells(info)? {
        Tells::Yes => Some(true),
        Tells::No => Some(false),
        Tells::Anyone => None,
    }
}

/// The same, by the trace's formats, and of event traces by their events.
fn tells(info: &TraceInfo) -> Option<Tells> {
    let by_format = TraceInfo::formats_in(&info.format).map(issue_of).reduce(Tells::both)?;
    Some(if info.notes.contains_key(UNISSUED) { Tells::No } else { by_format })
}

/// Whether traces of a format record issue times; a simulation does, whatever its source.
fn issue_of(format: &str) -> Tells {
    match format {
        RECORDED | "simulation" => Tells::Yes,
        format => format.parse().map_or(Tells::Anyone, Format::issue),
    }
}

#[cfg(test)]
mod tests {
    use super::tells_issue;
    use crate::analyze::{Analysis, AnalysisOptions};
    use ioscape_schema::trace_summary::TraceSummary;
    use ioscape_schema::{Io, TraceInfo, WarningKind};

    /// The analysis of two requests recorded in a format, which waited this long in the queue.
    fn of(format: &str, waited_ns: [u64; 2]) -> TraceSummary {
        let mut found = Analysis::new(&AnalysisOptions::default());
        found.update(&waited_ns.map(|wait| Io {
            issued_ns: wait,
            completed_ns: wait + 1000,
            ..Io::default()
        }));
        found.finish("w", &TraceInfo { format: format.to_owned(), ..TraceInfo::default() })
    }

    /// The doubt about times at the device, if they were left out.
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

    #[test]
    fn formats_tell_when_requests_were_issued_or_not_or_perhaps() {
        let told = |format: &str| {
            tells_issue(&TraceInfo { format: format.to_owned(), ..TraceInfo::default() })
        };
        assert_eq!(["blktrace", "simulation"].map(told), [Some(true); 2]);
        assert_eq!(["msr", "msr, recorded"].map(told), [Some(false); 2]);
        assert_eq!(["csv", "csv, blktrace", ""].map(told), [None; 3]);
    }

    #[test]
    fn times_at_the_device_that_one_of_two_formats_tells_are_none_of_the_trace() {
        for (both, named) in [("msr, recorded", "msr and recorded"), ("csv, msr", "csv and msr")] {
            let found = of(both, [0, 5000]);
            let text = said(&found).expect(both);
            let told = format!("not all of the formats {named} tell when requests were issued");
            assert!(text.starts_with(&told), "{text}");
        }
        let found = of("msr, systor", [0, 0]);
        let text = said(&found).expect("neither tells it");
        assert!(text.starts_with("the formats msr and systor do not tell when requests"), "{text}");
        assert_eq!(said(&of("blktrace, recorded", [0, 0])), None);
        assert_eq!(said(&of("blktrace, csv", [0, 5000])), None);
    }
}
