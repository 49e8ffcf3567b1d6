//! Operating-system micro-benchmarks as comma-separated values: a row per case.

use super::rows::{line, number};
use crate::os::rule;
use ioscape_schema::{OsBenchmark, OsResults, OsUnit};

const HEADER: &str = "benchmark,case,place,value,unit,ci95_low,ci95_high,mips_relative,rule,clean_frac,run_delay_frac,\
other_cpus,throttled_frac,slowed_frac,processes,set_aside,not_measured";

/// A row for every case.
///
/// `processes` and `set_aside` hold the values of the processes that count and of those that do
/// not, separated by spaces.
pub fn results(results: &OsResults) -> String {
    let rows = results.benchmarks.iter().map(row);
    format!("{HEADER}\n") + &rows.collect::<String>()
}

/// The name of a unit in the result file.
fn unit(unit: OsUnit) -> &'static str {
    match unit {
        OsUnit::Nanos => "ns",
        OsUnit::BytesPerS => "bytes/s",
        OsUnit::PerS => "1/s",
    }
}

fn row(one: &OsBenchmark) -> String {
    let all = |values: &[f64]| values.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
    let dirt = one.contamination;
    let fields = [
        one.name.clone(),
        one.case.clone(),
        one.place.map_or_else(String::new, |place| place.word().to_owned()),
        number(one.value),
        unit(one.unit).to_owned(),
        number(one.ci95.map(|[low, _]| low)),
        number(one.ci95.map(|[_, high]| high)),
        number(one.mips_relative),
        rule(one.rule).to_owned(),
        number(dirt.clean_frac),
        number(dirt.run_delay_frac),
        number(dirt.other_cpus),
        number(dirt.throttled_frac),
        number(dirt.slowed_frac),
        all(&one.processes),
        all(&one.set_aside),
        one.not_measured.clone().unwrap_or_default(),
    ];
    line(fields)
}

#[cfg(test)]
mod tests {
    use crate::sample;

    #[test]
    fn every_case_has_a_row_and_every_row_all_columns() {
        let found = sample::os_results();
        let text = super::results(&found);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 1 + found.benchmarks.len());
        let count = |line: &str| line.split(',').count();
        let plain = |line: &&&str| !line.contains('"');
        assert!(lines.iter().filter(plain).all(|line| count(line) == count(lines[0])), "{text}");
        assert!(
            lines.iter().any(|line| line.starts_with("getpid,system call,,105.3,ns,")),
            "{text}"
        );
        assert!(text.contains("this process may run on one processor only"));
    }
}
