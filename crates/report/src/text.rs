//! Escapes strings from outside for the page, and formats the values that several renderers share.

pub use ioscape_schema::text::inert;
use ioscape_schema::units::{Bytes, Count, Nanos, Rate, Seconds, counted};
use ioscape_schema::{
    Cheapest, Comparison, MeasuredRow, Measurement, Metric, Parameter, Verdict, WarningKind,
    Workload, is_wide,
};
use std::borrow::Cow;

/// Escapes `text` for HTML or XML text and for a quoted attribute.
pub fn esc(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in inert(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // XML 1.0 forbids these two; `inert` has replaced all others that it forbids.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

/// Returns the text, cut off with an ellipsis if it has more than `most` characters.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    if text.chars().count() <= most {
        return Cow::Borrowed(text);
    }
    text.chars().take(most.saturating_sub(1)).chain(['\u{2026}']).collect::<String>().into()
}

/// Shortens an RFC 3339 time to `2026-11-05 14:03 UTC`; other text stays as it is.
pub fn short_time(text: &str) -> String {
    let shape = text.as_bytes();
    let dated = shape.len() >= 17 && shape.is_ascii() && shape[10] == b'T' && shape[13] == b':';
    if !dated {
        return text.to_owned();
    }
    let zone = if text.ends_with('Z') { " UTC" } else { "" };
    format!("{} {}{zone}", &text[..10], &text[11..16])
}

/// The share of the set that was in the file cache, or `none` if the requests bypass that cache.
pub fn cached(one: &Measurement, none: &str) -> String {
    let looks = one.workload.access.reads_cached();
    one.resident_frac.filter(|_| looks).map_or_else(|| none.to_owned(), percent)
}

/// The value of a parameter as people write it: `64 MiB`, `50 %`, `4`.
pub fn value_of(parameter: Parameter, value: f64) -> String {
    match parameter {
        Parameter::UniqueBytes | Parameter::SizeMean => Bytes(value).to_string(),
        Parameter::ReadFrac | Parameter::SeqFrac => percent(value),
        Parameter::ProcessNum | Parameter::QueueDepth => Count(value).to_string(),
    }
}

/// A share as a percentage: `50 %`, `2.5 %`.
///
/// `0 %` and `100 %` are exact: a share that would merely round to them is `< 0.1 %` or `> 99.9 %`.
pub fn percent(share: f64) -> String {
    // The rounding error of a sum that should be 0 or 1: less than one request in any trace.
    const EXACT: f64 = 1e-12;
    if share.abs() > EXACT && share.abs() < 0.0005 {
        return if share > 0.0 { "< 0.1 %" } else { "> -0.1 %" }.to_owned();
    }
    if (0.9995..1.0 - EXACT).contains(&share) {
        return "> 99.9 %".to_owned();
    }
    let text = format!("{:.1}", share * 100.0);
    let text = text.strip_suffix(".0").unwrap_or(&text);
    format!("{} %", if text == "-0" { "0" } else { text })
}

/// A share in whole per cent, for narrow columns; below 1 % and above 99 % like [`percent`].
pub fn whole_percent(share: f64) -> String {
    let is_far = (0.01..=0.99).contains(&share);
    percent(if is_far { (share * 100.0).round() / 100.0 } else { share })
}

/// A duration in nanoseconds as people write it: `4.2 ms`, `12.3 s`, `4 m 10 s`.
pub fn duration(ns: f64) -> String {
    if ns < 59.95e9 { Nanos(ns).to_string() } else { Seconds(ns / 1e9).to_string() }
}

/// A ratio: `3.10x`, `0.013x`.
pub fn ratio(value: f64) -> String {
    match value {
        10.0.. => format!("{value:.0}x"),
        _ => format!("{}x", fine_ratio(value)),
    }
}

/// A ratio to two decimals, or two significant digits if it is small: `1.38`, `0.013`, `0.0025`.
pub fn fine_ratio(value: f64) -> String {
    let digits = match value {
        0.1.. => 2,
        0.01.. => 3,
        1e-6.. => (1.0 - value.log10().floor()) as usize,
        _ if value > 0.0 => return format!("{value:.1e}"),
        _ => 2,
    };
    format!("{value:.digits$}")
}

/// Seconds to three decimals: `4.210`.
///
/// Below a tenth of a second two significant digits, down to the microsecond: `0.0042`, `0.000012`.
pub fn fine_seconds(seconds: f64) -> String {
    let digits = if seconds > 0.0 { (1.0 - seconds.log10().floor()).clamp(3.0, 6.0) } else { 3.0 };
    format!("{seconds:.0$}", digits as usize)
}

/// A value with its bounds: `123 MiB (118 MiB to 128 MiB)`.
pub fn bounded(value: &str, low: &str, high: &str) -> String {
    if low == high { value.to_owned() } else { format!("{value} ({low} to {high})") }
}

/// The label of a parameter's horizontal axis.
pub fn axis_label(parameter: Parameter) -> &'static str {
    match parameter {
        Parameter::UniqueBytes => "size of the set (unique_bytes)",
        Parameter::SizeMean => "mean request size (size_mean)",
        Parameter::ReadFrac => "reads (read_frac)",
        Parameter::SeqFrac => "sequential (seq_frac)",
        Parameter::ProcessNum => "processes (process_num)",
        Parameter::QueueDepth => "requests in flight (queue_depth)",
    }
}

/// The kind of a warning in words.
pub fn kind(kind: WarningKind) -> String {
    let value = serde_json::to_value(kind).unwrap_or_default();
    value.as_str().unwrap_or("other").replace('_', " ")
}

/// The name that the user gave a run, or its number.
pub fn run_name(number: usize, run: &Measurement) -> String {
    run.name.as_deref().map_or_else(|| number.to_string(), |name| inert(name).into_owned())
}

/// The four parameters besides `unique_bytes`, then every setting that differs from its default.
pub fn mix(workload: &Workload) -> String {
    let mut parts = vec![
        format!("{} requests", Bytes(workload.size_mean as f64)),
        format!("{} reads", percent(workload.read_frac)),
        format!("{} sequential", percent(workload.seq_frac)),
        match workload.process_num {
            1 => "1 process".to_owned(),
            number => format!("{number} processes"),
        },
    ];
    parts.extend(how(workload));
    parts.join(", ")
}

/// The size of the set, then the [`mix`].
pub fn described(workload: &Workload) -> String {
    format!("{}, {}", Bytes(workload.unique_bytes as f64), mix(workload))
}

/// How a workload issues its requests, in words: every setting that differs from its default.
pub fn how(workload: &Workload) -> Vec<String> {
    let mut parts = Vec::new();
    let usual = Workload::default();
    if workload.queue_depth != 1 {
        parts.push(format!("depth {}", workload.queue_depth));
    }
    for (differs, word) in [
        (workload.size_distribution != usual.size_distribution, workload.size_distribution.word()),
        (workload.engine != usual.engine, workload.engine.word()),
        (workload.access != usual.access, workload.access.word()),
        (workload.workers != usual.workers, workload.workers.word()),
    ] {
        if differs {
            parts.push(word.to_owned());
        }
    }
    if !workload.phases.is_empty() {
        parts.push(format!("{} once", counted(workload.phases.len() as u64, "phase")));
    } else if workload.by_operation.is_some() {
        parts.push("reads and writes each with its own sizes and order".to_owned());
    }
    if let Some(held) = workload.memory_bytes {
        parts.push(format!("memory {}", Bytes(held as f64)));
    }
    if let Some(above) = workload.direct_above_bytes {
        parts.push(format!("direct above {}", Bytes(above as f64)));
    }
    if workload.advice != usual.advice {
        parts.push(format!("advice {}", workload.advice));
    }
    if workload.think_time_ns > 0 {
        parts.push(format!("think time {}", Nanos(workload.think_time_ns as f64)));
    }
    parts
}

/// The name of a workload in its set, or its number.
pub fn label(name: Option<&String>, index: usize) -> String {
    name.map_or_else(|| format!("workload {}", index + 1), Clone::clone)
}

/// The interval of a ratio; of a wide interval that excludes 1, only the end next to 1.
///
/// A wide interval that includes 1 says nothing.
pub fn between(ends: [f64; 2]) -> String {
    let [low, high] = ends.map(ratio);
    match is_wide(ends) {
        false => format!("{low} to {high}"),
        true if ends[0] > 1.0 => format!("above {low}"),
        true if ends[1] < 1.0 => format!("below {high}"),
        true => "cannot be told".to_owned(),
    }
}

/// The verdict of a comparison on one workload.
pub fn verdict(comparison: &Comparison) -> &'static str {
    comparison.verdict.unwrap_or(Verdict::CannotBeTold).word()
}

/// The cheapest system that is predicted to be fast enough, or what is known if there is none.
pub fn chosen(one: &Cheapest) -> String {
    match (&one.choice, one.rivals.as_deref().unwrap_or_default()) {
        (Some(choice), _) => choice.system.clone(),
        (None, []) => "none is fast enough".to_owned(),
        (None, rivals) => format!("cannot be told: none is predicted to, {} may", either(rivals)),
    }
}

/// Whether the chosen system is certainly the cheapest, and if not, why.
pub fn certainty(one: &Cheapest) -> String {
    match (&one.choice, one.rivals.as_deref().unwrap_or_default()) {
        (None, _) => "-".to_owned(),
        (Some(_), _) if one.rivals.is_none() => {
            "cannot be told: an earlier version did not judge the cheaper ones".to_owned()
        }
        (Some(choice), _) if choice.sure => "yes".to_owned(),
        (Some(_), rivals @ [_, ..]) => format!("no: {} may be fast enough", either(rivals)),
        (Some(choice), []) if choice.extrapolated => "no: extrapolated".to_owned(),
        (Some(_), []) => "no: it may be slower".to_owned(),
    }
}

/// Several names as alternatives.
fn either(names: &[String]) -> String {
    names.join(" or ")
}

/// The name of a measured row: its own name, its workload, or both.
pub fn row_name(row: &MeasuredRow) -> String {
    match (&row.name, row.workload.as_ref().map(described)) {
        (Some(name), Some(described)) => format!("{name}: {described}"),
        (Some(one), None) => one.clone(),
        (None, described) => described.unwrap_or_default(),
    }
}

/// A figure of a metric with its unit.
pub fn figure(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Throughput => Rate(value).to_string(),
        Metric::Rate => format!("{}/s", Count(value)),
        Metric::Time => Nanos(value).to_string(),
    }
}

/// The dash that a table shows in place of a missing figure.
pub const NONE: &str = "\u{2013}";

/// [`NONE`] as a cell.
pub fn none() -> String {
    NONE.to_owned()
}

/// A response time, or a dash where it is not told.
pub fn told_time(ns: Option<u64>) -> String {
    ns.map_or_else(none, |ns| Nanos(ns as f64).to_string())
}

/// Names separated by commas, without immediate repetitions.
pub fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.collect();
    names.dedup();
    names.join(", ")
}

/// The command line, quoted where a shell needs it.
pub fn command(words: &[String]) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=+,@%".contains(c);
    let quoted = |word: &String| {
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::Stop;
    use proptest::prelude::*;

    /// Once, the verdict "slower" stood beside the interval "- -".
    #[test]
    fn of_a_wide_interval_the_end_next_to_1_is_told() {
        assert_eq!(between([1e-5, 0.2]), format!("below {}", ratio(0.2)));
        assert_eq!(between([3.0, 1e5]), format!("above {}", ratio(3.0)));
        assert_eq!(between([1e-5, 2.0]), "cannot be told");
    }

    #[test]
    fn what_could_act_is_shown_as_its_escape() {
        assert_eq!(esc("<a href=\"x\">&'\u{1b}"), r"&lt;a href=&quot;x&quot;&gt;&amp;&#39;\u{1b}");
    }

    #[test]
    fn what_passes_the_file_cache_by_is_not_called_cached() {
        use ioscape_schema::Access::{Buffered, Direct, Dsync};
        let of = |access| {
            let workload = Workload { access, ..Workload::default() };
            let resident_frac = Some(1.0);
            let one = Measurement { resident_frac, ..Measurement::empty(workload, Stop::TimeCap) };
            cached(&one, "-")
        };
        assert_eq!([Buffered, Dsync, Direct].map(of), ["100 %", "100 %", "-"]);
    }

    #[test]
    fn what_is_cut_off_is_marked() {
        assert_eq!(shortened("sequential", 10), "sequential");
        assert_eq!(shortened("sequential", 6), "seque\u{2026}");
    }

    #[test]
    fn short_times_keep_two_digits() {
        let shown = [4.2104, 0.377, 0.0312, 0.004_24, 0.000_012_3, 3e-8, 0.0].map(fine_seconds);
        let meant = ["4.210", "0.377", "0.031", "0.0042", "0.000012", "0.000000", "0.000"];
        assert_eq!(shown, meant);
    }

    #[test]
    fn times_commands_and_mixes_are_short() {
        use ioscape_schema::Advice;
        assert_eq!(short_time("2026-11-05T14:03:27Z"), "2026-11-05 14:03 UTC");
        assert_eq!(short_time("yesterday"), "yesterday");
        assert_eq!(command(&["a b".into(), "-x".into(), "it's".into()]), r"'a b' -x 'it'\''s'");
        assert_eq!(
            mix(&Workload::default()),
            "32 KiB requests, 50 % reads, 50 % sequential, 1 process"
        );
        assert_eq!([ratio(0.0125), ratio(1.38), ratio(480.2)], ["0.013x", "1.38x", "480x"]);
        let small = [0.0, 0.1, 0.002_46, 0.000_031_4, 2.5e-7].map(fine_ratio);
        assert_eq!(small, ["0.00", "0.10", "0.0025", "0.000031", "2.5e-7"]);
        let own = Workload { think_time_ns: 50_000, advice: Advice::Random, ..Workload::default() };
        assert!(mix(&own).ends_with("1 process, advice random, think time 50 us"), "{}", mix(&own));
    }

    #[test]
    fn a_share_is_nothing_or_all_only_where_it_is() {
        let shares =
            [0.0, -0.0, 0.0004, 0.025, 0.999_499, 0.999_95, 1.0, 1.0 - 1e-15, 1.2, -0.0001];
        let shown = shares.map(percent);
        let meant = ["0 %", "0 %", "< 0.1 %", "2.5 %", "99.9 %", "> 99.9 %", "100 %", "100 %"];
        assert_eq!(shown[..8], meant);
        assert_eq!(shown[8..], ["120 %", "> -0.1 %"]);
    }

    #[test]
    fn a_short_time_is_not_rounded_to_nothing() {
        let shown = [0.0, 4.2e6, 0.678e9, 59.94e9, 60e9, 603_060e9].map(duration);
        assert_eq!(shown, ["0 ns", "4.2 ms", "678 ms", "59.9 s", "1 m 0 s", "167 h 31 m"]);
    }

    proptest! {
        #[test]
        fn nothing_escaped_can_open_a_tag_or_act(text in any::<String>()) {
            let escaped = esc(&text);
            prop_assert!(!escaped.contains(['<', '>', '"', '\'']) && inert(&escaped) == escaped);
            let _ = short_time(&text);
        }
    }
}
