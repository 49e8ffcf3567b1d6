//! Whether a command printed a line that a page shows: the same words, with any numbers.

/// The text with one blank between words, each number as `#`, and the unit after a number as `u`.
pub fn shape(text: &str) -> String {
    let mut found = String::new();
    let mut is_number = false;
    for letter in text.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        let goes_on = is_number && matches!(letter, '.' | ',' | 'e');
        if letter.is_ascii_digit() && !is_number {
            found.push('#');
        } else if !letter.is_ascii_digit() && !goes_on {
            found.push(letter);
        }
        is_number = letter.is_ascii_digit() || goes_on;
    }
    let units = ["B/s", "kB/s", "MB/s", "GB/s", "KiB", "MiB", "GiB", "ns", "us", "ms", "s"];
    for unit in units.iter().rev() {
        for end in [" ", ",", ".", ";", ")"] {
            found = found.replace(&format!("# {unit}{end}"), &format!("# u{end}"));
        }
    }
    found
}

/// Whether `printed` has a line with the shape of `stated`.
pub fn occurs(stated: &str, printed: &str) -> bool {
    shape(printed).contains(shape(stated).trim())
}

#[test]
fn a_line_is_known_by_its_words_and_not_by_its_numbers() {
    assert_eq!(shape("  reads 1.49 GB/s,\n 26 (2.5 to 264) times"), "reads # u, # (# to #) times");
    assert!(occurs("rate{name=\"a\"} 169301.34", "# HELP\nrate{name=\"a\"} 7.1e3 \n"));
    assert!(!occurs("rate{name=\"a\"} 169301.34", "rate{name=\"b\"} 7"));
    assert!(occurs(
        "memory holds 501 MiB (490 MiB to 511 MiB) of a set",
        "memory holds 2.5 GiB (2 GiB to 3 GiB) of a set"
    ));
}
