//! Result files: whatever the text, it is read or refused, and what is read can be shown.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(document) = ioscape_report::from_json(text, "fuzzed") {
        let style = ioscape_report::Style { unicode: true, ..ioscape_report::Style::default() };
        ioscape_report::terminal(&document, &style);
        ioscape_report::html(&document, ioscape_report::Quantity::Throughput);
    }
});
