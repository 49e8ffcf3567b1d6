//! What is not known of a trace that tells neither flags nor types: left out, for 0 requests would be read as counted ones.

use crate::read::{Format, Tells};
use ioscape_schema::text::RECORDED;
use ioscape_schema::trace_summary::TraceSummary;
use ioscape_schema::{IoType, TraceInfo, Warning, WarningKind};

/// Takes out the requests by type where no request has a flag or a type and the trace is not known to tell them; the doubt says so.
pub fn forget(summary: &mut TraceSummary) -> Option<Warning> {
    let told = summary
        .types
        .iter()
        .any(|one| one.io_type != IoType::Unknown || one.sync + one.asynchronous + one.raw > 0);
    if told || summary.ios == 0 {
        return None;
    }
    let format = origin(&summary.info);
    let text = match types_of(format) {
        Tells::Yes => return None,
        Tells::No => format!(
            "the format {format} does not tell which requests are synchronous, asynchronous or raw, nor what blocks hold: the table of types is left out"
        ),
        Tells::Anyone => "no request is flagged as synchronous, asynchronous or raw, or has a type, and it is not known whether the trace's source tells them: the table of types is left out".to_owned(),
    };
    summary.types.clear();
    summary.absorption.retain(|one| one.writes != "metadata");
    Some(Warning::new(WarningKind::TypesUnknown, text).at("types"))
}

/// Whether a format tells them; of one that is not known, it is not known.
fn types_of(format: &str) -> Tells {
    if format == RECORDED {
        Tells::Yes
    } else {
        format.parse().map_or(Tells::Anyone, Format::types)
    }
}

/// The format that the requests were recorded in; a simulation keeps their flags and types.
pub(super) fn origin(info: &TraceInfo) -> &str {
    let recorded = info.notes.get("recorded as").filter(|_| info.format == "simulation");
    recorded.unwrap_or(&info.format)
}

#[cfg(test)]
mod tests {
    use crate::analyze::{Analysis, AnalysisOptions};
    use ioscape_schema::trace_summary::TraceSummary;
    use ioscape_schema::{Io, IoFlags, IoType, Op, Request, TraceInfo, WarningKind};

    /// The analysis of one write, recorded in a format; `note` is what a simulation says of the format.
    fn of(format: &str, note: Option<&str>, flags: IoFlags, io_type: IoType) -> TraceSummary {
        let request = Request { op: Op::Write, offset: 0, len: 4096 };
        let mut found = Analysis::new(&AnalysisOptions::default());
        found.update(&[Io { request, flags, io_type, completed_ns: 1, ..Io::default() }]);
        let notes = note.map(|note| ("recorded as".to_owned(), note.to_owned()));
        let notes = notes.into_iter().collect();
        found.finish("w", &TraceInfo { format: format.to_owned(), notes, ..TraceInfo::default() })
    }

    fn without_any(format: &str, note: Option<&str>) -> TraceSummary {
        of(format, note, IoFlags::empty(), IoType::Unknown)
    }

    /// What is said of types.
    fn said(summary: &TraceSummary) -> Option<&str> {
        let doubt = summary.warnings.iter().find(|one| one.kind == WarningKind::TypesUnknown);
        doubt.map(|doubt| doubt.message.as_str())
    }

    #[test]
    fn what_a_format_does_not_tell_is_absent_and_told_first() {
        for format in ["msr", "vscsi1", "vscsi2", "oracle-general", "spc", "fio-iolog", "disksim"] {
            let found = without_any(format, None);
            let text = said(&found).expect(format);
            assert!(text.starts_with(&format!("the format {format} does not tell")), "{text}");
            let json = serde_json::to_value(&found).expect("JSON");
            assert!(json.get("types").is_none(), "{json}");
            assert_eq!(found.absorption.len(), 1, "no metadata of which nothing is known");
        }
        assert_eq!(without_any("simulation", Some("msr")).types, []);
        assert!(
            said(&without_any("simulation", Some("msr"))).unwrap().starts_with("the format msr")
        );
    }

    #[test]
    fn what_a_format_tells_stays_though_all_is_zero() {
        for format in ["hp-srt", "blktrace", "blkparse", "trace-events", "recording", "recorded"] {
            let found = without_any(format, None);
            assert_eq!((found.types.len(), said(&found)), (1, None), "{format}");
            assert_eq!((found.types[0].sync, found.absorption.len()), (0, 2));
        }
        assert_eq!(without_any("simulation", Some("blktrace")).types.len(), 1);
    }

    #[test]
    fn of_rows_from_anywhere_it_is_not_known() {
        for format in ["parquet", "csv", "arrow", "measurement", "of another program"] {
            let found = without_any(format, None);
            let text = said(&found).expect(format);
            assert!(found.types.is_empty() && text.contains("it is not known whether"), "{text}");
            for (flags, io_type) in [
                (IoFlags::SYNC, IoType::Unknown),
                (IoFlags::ASYNC, IoType::Unknown),
                (IoFlags::RAW, IoType::Unknown),
                (IoFlags::empty(), IoType::UserData),
            ] {
                let found = of(format, None, flags, io_type);
                assert_eq!((found.types.len(), said(&found)), (1, None), "{format} {flags:?}");
            }
        }
    }

    #[test]
    fn a_trace_without_requests_lacks_nothing() {
        let info = TraceInfo { format: "msr".to_owned(), ..TraceInfo::default() };
        assert_eq!(said(&Analysis::new(&AnalysisOptions::default()).finish("w", &info)), None);
    }
}
