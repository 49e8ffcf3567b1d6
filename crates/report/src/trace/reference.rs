//! The printed values of Ruemmler & Wilkes 1993, from `reference/ruemmler-wilkes`.

/// The systems of the paper, in the order of display.
pub const SYSTEMS: [&str; 3] = ["cello", "snake", "hplajw"];

/// One table of the paper: its column heads and its rows.
pub struct Printed {
    head: Vec<&'static str>,
    rows: Vec<Vec<&'static str>>,
}

impl Printed {
    fn of(text: &'static str) -> Self {
        let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        Self { head: lines.next().unwrap_or_default(), rows: lines.collect() }
    }

    /// The value in `column` of the row that begins with `keys`.
    pub fn value(&self, keys: &[&str], column: &str) -> Option<&'static str> {
        let column = self.head.iter().position(|name| *name == column)?;
        let row = self.rows.iter().find(|row| row.starts_with(keys))?;
        row.get(column).copied().filter(|value| !value.is_empty())
    }

    /// The heads of the columns.
    pub fn head(&self) -> &[&'static str] {
        &self.head
    }

    /// The rows as printed.
    pub fn rows(&self) -> impl Iterator<Item = Vec<String>> + '_ {
        self.rows.iter().map(|row| row.iter().map(|&cell| cell.to_owned()).collect())
    }
}

/// Table 4: mean response times in milliseconds.
pub fn table_4() -> Printed {
    Printed::of(include_str!("../../reference/table4.csv"))
}

/// Table 5: queue lengths by disk.
pub fn table_5() -> Printed {
    Printed::of(include_str!("../../reference/table5.csv"))
}

/// Table 6: I/Os by type.
pub fn table_6() -> Printed {
    Printed::of(include_str!("../../reference/table6.csv"))
}

/// Table 7: logically sequential I/Os, as fractions of all.
pub fn table_7() -> Printed {
    Printed::of(include_str!("../../reference/table7.csv"))
}

/// Values that the text or captions of the paper state.
pub fn quoted() -> Printed {
    Printed::of(include_str!("../../reference/quoted.csv"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_values_are_found() {
        assert_eq!(table_4().value(&["hplajw", "writes"], "elapsed_ms"), Some("142.0"));
        assert_eq!(table_5().value(&["cello", "B"], "max"), Some("1520"));
        assert_eq!(table_6().value(&["snake", "reads"], "raw"), Some("0.340"));
        assert_eq!(table_7().value(&["hplajw"], "writes"), Some("0.050"));
        assert_eq!(quoted().value(&["overwritten_within_1h"], "snake"), Some("0.98"));
        assert_eq!(quoted().value(&["intervals_in_200kb"], "snake"), None);
        for table in [table_4(), table_5(), table_6(), table_7(), quoted()] {
            assert!(table.rows().all(|row| row.len() == table.head().len()));
        }
    }
}
