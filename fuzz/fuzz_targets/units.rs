//! Sizes and durations: whatever the text, the parsers answer and never panic.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = ioscape_schema::units::parse_bytes(text);
    let _ = ioscape_schema::units::parse_duration_ns(text);
});
