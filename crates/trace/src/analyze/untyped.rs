//! What is unknown if a trace does not record flags or types, each separately: left out, because 0
//! requests would be read as counted.

use crate::read::{Format, Tells, Types};
use ioscape_schema::text::RECORDED;
use ioscape_schema::trace_summary::{TraceSummary, TypeShare};
use ioscape_schema::{IoType, TraceInfo, Warning, WarningKind};

/// One of the counts of flags.
type Flag = fn(&mut TypeShare) -> &mut Option<u64>;
/// Whether a format records a flag.
type Told = fn(&Types) -> Tells;

/// Removes every flag that no request has if the trace is not known to record it, or one of its
/// formats is known not to; and the whole table if neither flags nor types were recorded. The
/// returned doubt says so.
pub fn forget(summary: &mut TraceSummary) -> Option<Warning> {
    if summary.ios == 0 || summary.types.is_empty() {
        return None;
    }
    let formats = origins(&summary.info);
    let each: Vec<Types> = formats.iter().map(|format| types_of(format)).collect();
    let all = each.iter().copied().reduce(Types::both)?;
    // The flags of some formats would stand for all.
    let is_of_some = |tells: Tells| formats.len() > 1 && tells == Tells::No;
    let flags: [(&str, Told, Flag); 3] = [
        ("synchronous", |types| types.sync, |one| &mut one.sync),
        ("asynchronous", |types| types.asynchronous, |one| &mut one.asynchronous),
        ("raw", |types| types.raw, |one| &mut one.raw),
    ];
    let types = &mut summary.types;
    let (mut untold, mut is_of_none) = (Vec::new(), true);
    for (name, told, flag) in flags {
        let tells = told(&all);
        let seen = types.iter_mut().any(|one| flag(one).is_some_and(|count| count > 0));
        if tells != Tells::Yes && (!seen || is_of_some(tells)) {
            types.iter_mut().for_each(|one| *flag(one) = None);
            untold.push((name, tells));
            is_of_none &= each.iter().all(|one| told(one) == Tells::No);
        }
    }
    let typed = types.iter().any(|one| one.io_type != IoType::Unknown);
    let blocks = Some(all.blocks).filter(|tells| *tells != Tells::Yes && !typed);
    if blocks.is_some() {
        summary.absorption.retain(|one| one.writes != "metadata");
        // No request has a type, so no format recorded one unless it promises types.
        is_of_none &= each.iter().all(|one| one.blocks != Tells::Yes);
    }
    let whole = untold.len() == flags.len() && blocks.is_some();
    if whole {
        types.clear();
    }
    let text = text(&formats, is_of_none, &untold, blocks, whole)?;
    Some(Warning::new(WarningKind::TypesUnknown, text).at("types"))
}

/// Says which flags and types were not recorded, by none of the formats or not by all; `whole` if
/// that is all of them.
fn text(
    formats: &[&str],
    is_of_none: bool,
    flags: &[(&str, Tells)],
    blocks: Option<Tells>,
    whole: bool,
) -> Option<String> {
    let names: Vec<&str> = flags.iter().map(|flag| flag.0).collect();
    let names = match &names[..] {
        [] => None,
        [one] => Some((*one).to_owned()),
        [first @ .., last] => Some(format!("{} or {last}", first.join(", "))),
    };
    let of_flags = names.map(|names| format!("which requests are {names}"));
    let of_blocks = blocks.map(|_| "what blocks hold".to_owned());
    let what: Vec<String> = of_flags.into_iter().chain(of_blocks).collect();
    if what.is_empty() {
        return None;
    }
    let left_out =
        if whole { "the table of types is left out" } else { "the table of types is without them" };
    let never = flags.iter().map(|flag| flag.1).chain(blocks).any(|tells| tells == Tells::No);
    Some(match never {
        true => {
            let between = if formats.len() > 1 && !is_of_none { " or " } else { ", nor " };
            format!("{} {}: {left_out}", silent(formats, is_of_none), what.join(between))
        }
        false => format!(
            "no request tells {}, and it is not known whether the trace's source does: {left_out}",
            what.join(" or ")
        ),
    })
}

/// What a format records of flags and types; unknown for an unknown format.
fn types_of(format: &str) -> Types {
    if format == RECORDED {
        Types::RECORDED
    } else {
        format.parse().map_or(Types::OF_ANYONE, Format::types)
    }
}

/// The formats of the original recordings, usually one; a simulation keeps their flags and types.
fn origins(info: &TraceInfo) -> Vec<&str> {
    let recorded = info.notes.get("recorded as").filter(|_| info.format == "simulation");
    TraceInfo::formats_in(recorded.unwrap_or(&info.format)).collect()
}

/// Who does not record something: a format, or of several none or not all.
pub(super) fn silent(formats: &[&str], is_of_none: bool) -> String {
    match formats {
        [first @ .., last] if !first.is_empty() => {
            let named = format!("the formats {} and {last}", first.join(", "));
            if is_of_none {
                format!("{named} do not tell")
            } else {
                format!("not all of {named} tell")
            }
        }
        one => format!("the format {} does not tell", one.concat()),
    }
}

#[cfg(test)]
mod tests {
    use crate::analyze::{Analysis, AnalysisOptions};
    use crate::read::Format;
    use ioscape_schema::trace_summary::TraceSummary;
    use ioscape_schema::{Io, IoFlags, IoType, Op, Request, TraceInfo, WarningKind};

    /// The analysis of two writes a minute apart, recorded in a format, of which only the first has
    /// flags; `note` is what a simulation says of the format.
    fn of(format: &str, note: Option<&str>, flags: IoFlags, io_type: IoType) -> TraceSummary {
        let request = Request { op: Op::Write, offset: 0, len: 4096 };
        let mut found = Analysis::new(&AnalysisOptions::default());
        let first = Io { request, flags, io_type, completed_ns: 1, ..Io::default() };
        let minute = 60_000_000_000;
        let [queued_ns, issued_ns, completed_ns] = [minute, minute, minute + 1];
        let second = Io { request, io_type, queued_ns, issued_ns, completed_ns, ..Io::default() };
        found.update(&[first, second]);
        let notes = note.map(|note| ("recorded as".to_owned(), note.to_owned()));
        let notes = notes.into_iter().collect();
        found.finish("w", &TraceInfo { format: format.to_owned(), notes, ..TraceInfo::default() })
    }

    fn without_any(format: &str, note: Option<&str>) -> TraceSummary {
        of(format, note, IoFlags::empty(), IoType::Unknown)
    }

    /// The doubt about types.
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

    /// The counts of flags: of synchronous, asynchronous and raw requests.
    fn flags(summary: &TraceSummary) -> [Option<u64>; 3] {
        let one = &summary.types[0];
        [one.sync, one.asynchronous, one.raw]
    }

    #[test]
    fn what_a_format_tells_stays_though_all_is_zero() {
        let found = without_any("hp-srt", None);
        assert_eq!((flags(&found), said(&found), found.absorption.len()), ([Some(0); 3], None, 2));
        assert_eq!(without_any("simulation", Some("hp-srt")).types.len(), 1);
    }

    /// The block layer's only flag says that somebody waits; it does not say whether the request
    /// bypassed a file system.
    #[test]
    fn of_the_kernels_events_only_the_synchronous_ones_are_told() {
        for format in ["blktrace", "blkparse", "trace-events", "recording", "recorded"] {
            let found = without_any(format, None);
            assert_eq!(flags(&found), [Some(0), None, None], "{format}");
            let text = said(&found).expect(format);
            let meant = "does not tell which requests are asynchronous or raw, nor what blocks hold: the table of types is without them";
            assert_eq!(text, format!("the format {format} {meant}"));
            assert_eq!(found.absorption.len(), 1, "no metadata of which nothing is known");
            let json = serde_json::to_value(&found.types).expect("JSON")[0].clone();
            assert!(json.get("async").is_none() && json["sync"] == 0, "{json}");
        }
        let typed = of("recorded", None, IoFlags::empty(), IoType::Journal);
        assert_eq!((flags(&typed), typed.absorption.len()), ([Some(0), None, None], 2));
        let text = said(&typed).expect("flags");
        assert!(
            text.ends_with("are asynchronous or raw: the table of types is without them"),
            "{text}"
        );
    }

    #[test]
    fn every_format_says_what_it_tells_or_leaves_it_out() {
        for format in Format::all().map(Format::name) {
            let found = without_any(format, None);
            let told = found.types.first().map_or([None; 3], |_| flags(&found));
            let all = told.iter().all(Option::is_some);
            assert_eq!(said(&found).is_none(), all, "{format}: {told:?}");
            assert!(format == "hp-srt" || told[1..] == [None; 2], "{format}: {told:?}");
        }
    }

    #[test]
    fn of_rows_from_anywhere_it_is_not_known() {
        for format in ["parquet", "csv", "arrow", "measurement", "of another program"] {
            let found = without_any(format, None);
            let text = said(&found).expect(format);
            assert!(found.types.is_empty() && text.contains("it is not known whether"), "{text}");
            for (flag, io_type, told) in [
                (IoFlags::SYNC, IoType::Unknown, [Some(1), None, None]),
                (IoFlags::ASYNC, IoType::Unknown, [None, Some(1), None]),
                (IoFlags::RAW, IoType::Unknown, [None, None, Some(1)]),
                (IoFlags::empty(), IoType::UserData, [None; 3]),
            ] {
                let found = of(format, None, flag, io_type);
                assert_eq!((found.types.len(), flags(&found)), (1, told), "{format} {flag:?}");
                assert!(said(&found).expect(format).starts_with("no request tells"), "{format}");
            }
            let all = IoFlags::SYNC | IoFlags::ASYNC | IoFlags::RAW;
            assert_eq!(said(&of(format, None, all, IoType::UserData)), None, "{format}");
        }
    }

    #[test]
    fn flags_that_one_of_two_formats_tells_are_none_of_the_trace() {
        let both = "msr, recorded";
        let found = of(both, None, IoFlags::SYNC, IoType::Unknown);
        let text = "not all of the formats msr and recorded tell which requests are synchronous, asynchronous or raw or what blocks hold: the table of types is left out";
        assert_eq!((said(&found), found.types.len()), (Some(text), 0));
        let simulated = of("simulation", Some(both), IoFlags::SYNC, IoType::Unknown);
        assert_eq!(said(&simulated), Some(text));
        let found = of("blktrace, recorded", None, IoFlags::SYNC, IoType::Unknown);
        assert_eq!(flags(&found), [Some(1), None, None]);
    }

    #[test]
    fn of_formats_of_which_none_tells_something_it_is_said_of_all() {
        let text = "the formats msr and systor do not tell which requests are synchronous, asynchronous or raw, nor what blocks hold: the table of types is left out";
        assert_eq!(said(&without_any("msr, systor", None)), Some(text));
        let meant = "do not tell which requests are asynchronous or raw";
        let blocks = ", nor what blocks hold";
        for (io_type, rest) in [(IoType::Unknown, blocks), (IoType::Journal, "")] {
            let found = of("recorded, recording", None, IoFlags::SYNC, io_type);
            let text = format!("the formats recorded and recording {meant}{rest}: the table");
            assert!(said(&found).expect("flags").starts_with(&text), "{:?}", said(&found));
        }
    }

    #[test]
    fn a_trace_without_requests_lacks_nothing() {
        let info = TraceInfo { format: "msr".to_owned(), ..TraceInfo::default() };
        assert_eq!(said(&Analysis::new(&AnalysisOptions::default()).finish("w", &info)), None);
    }
}
