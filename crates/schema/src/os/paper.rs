//! The tables of Ousterhout (1990) as data, and the paper's definition of MIPS-relative speed.
//!
//! The CSV files are in `reference/ousterhout/` of the repository, with their source.

use super::benchmark::{Locality, OsBenchmark, OsUnit};

/// MIPS rating of the MicroVAX II, the machine with relative speed 1 (Table 1).
pub const MVAX2_MIPS: f64 = 0.9;

/// Heading of the last column of Table 5: uncached megabytes per second over the rating, where
/// other tables have relative speeds.
pub const PER_MIPS: &str = "Mbytes/MIPS";

/// One table of the paper.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Number in the paper.
    pub number: u8,
    /// Short title.
    pub title: &'static str,
    /// The file's text.
    csv: &'static str,
    /// Factor from the columns' unit to nanoseconds or bytes per second.
    scale: f64,
    /// The unit of the scaled columns.
    pub unit: OsUnit,
    /// Name of the benchmark.
    pub name: &'static str,
    /// The case used for the relative speed.
    pub case: &'static str,
    /// All columns of measured values, each with its case.
    pub cases: &'static [(&'static str, &'static str)],
}

macro_rules! csv {
    ($name:literal) => {
        include_str!(concat!("../../reference/", $name, ".csv"))
    };
}

/// The tables of measurements: 2 to 7, 9 and 10 (Table 8 is derived from Table 7).
pub const TABLES: [Source; 8] = [
    Source {
        number: 2,
        title: "getpid: kernel entry and exit",
        csv: csv!("table2"),
        scale: 1e3,
        unit: OsUnit::Nanos,
        name: "getpid",
        case: "system call",
        cases: &[("time_us", "system call")],
    },
    Source {
        number: 3,
        title: "cswitch: one byte to another process and back through pipes",
        csv: csv!("table3"),
        scale: 1e6,
        unit: OsUnit::Nanos,
        name: "cswitch",
        case: "same CPU",
        cases: &[("roundtrip_ms", "same CPU")],
    },
    Source {
        number: 4,
        title: "select: which pipes are readable",
        csv: csv!("table4"),
        scale: 1e3,
        unit: OsUnit::Nanos,
        name: "select",
        case: "10 full",
        cases: &[
            ("one_empty_pipe_us", "1 empty"),
            ("ten_empty_us", "10 empty"),
            ("ten_full_us", "10 full"),
        ],
    },
    Source {
        number: 5,
        title: "bcopy: copying memory",
        csv: csv!("table5"),
        scale: 1e6,
        unit: OsUnit::BytesPerS,
        name: "bcopy",
        case: "memory",
        cases: &[("cached_MB_s", "level 1 cache"), ("uncached_MB_s", "memory")],
    },
    Source {
        number: 6,
        title: "read: from the file cache, 16 KB at a time",
        csv: csv!("table6"),
        scale: 1e6,
        unit: OsUnit::BytesPerS,
        name: "read",
        case: "file cache",
        cases: &[("MB_s", "file cache")],
    },
    Source {
        number: 7,
        title: "Modified Andrew Benchmark",
        csv: csv!("table7"),
        scale: 1e9,
        unit: OsUnit::Nanos,
        name: "mab",
        case: "total",
        cases: &[("copy_s", "copy"), ("compile_s", "compile"), ("total_s", "total")],
    },
    Source {
        number: 9,
        title: "open-close: one file again and again",
        csv: csv!("table9"),
        scale: 1e6,
        unit: OsUnit::Nanos,
        name: "open-close",
        case: "foo",
        cases: &[("foo_ms", "foo"), ("a_b_c_foo_ms", "a/b/c/foo")],
    },
    Source {
        number: 10,
        title: "create-delete: the life of a temporary file",
        csv: csv!("table10"),
        scale: 1e6,
        unit: OsUnit::Nanos,
        name: "create-delete",
        case: "no data",
        cases: &[("no_data_ms", "no data"), ("kb10_ms", "10 KB"), ("kb100_ms", "100 KB")],
    },
];

/// One machine of the paper (Table 1) with its point in Figure 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Abbreviation.
    pub name: &'static str,
    /// The author's estimate of integer speed, VAX-11/780 = 1.
    pub mips: f64,
    /// The point of Figure 1, digitised.
    pub figure1: f64,
}

/// One configuration in a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Machine, by its abbreviation.
    pub hardware: &'static str,
    /// Operating system.
    pub os: &'static str,
    /// `Local`, `NFS`, `AFS`, `Diskless` or `Remote`; empty if no files are used.
    pub storage: &'static str,
    /// The table's measured columns, in nanoseconds or bytes per second.
    pub values: Vec<f64>,
    /// The value used for the relative speed.
    pub value: f64,
    /// The last column as printed: relative speed, in Table 5 [`PER_MIPS`]; absent in Table 7,
    /// which has neither.
    pub printed: Option<&'static str>,
}

impl Row {
    /// Returns where the files are; `None` if no files are used.
    pub fn place(&self) -> Option<Locality> {
        match self.storage {
            "" => None,
            "Local" => Some(Locality::Local),
            _ => Some(Locality::Remote),
        }
    }

    /// Returns machine, operating system and storage in one line.
    pub fn configuration(&self) -> String {
        format!("{} {} {}", self.hardware, self.os, self.storage).trim_end().to_owned()
    }
}

/// Splits a CSV file without quotes into its column names and its lines.
fn lines(csv: &'static str) -> (Vec<&'static str>, impl Iterator<Item = Vec<&'static str>>) {
    let mut all = csv.lines().filter(|line| !line.is_empty());
    let head = all.next().unwrap_or_default().split(',').collect();
    (head, all.map(|line| line.split(',').collect()))
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok()
}

/// Returns the ten machines, fastest first.
pub fn machines() -> Vec<Machine> {
    let (_, rows) = lines(csv!("figure1"));
    rows.filter_map(|row| {
        let (mips, figure1) = (number(row.get(1)?)?, number(row.get(2)?)?);
        Some(Machine { name: row[0], mips, figure1 })
    })
    .collect()
}

/// Returns the rating of a machine, by its abbreviation.
pub fn mips_of(hardware: &str) -> Option<f64> {
    let (head, mut rows) = lines(csv!("table1"));
    let at = head.iter().position(|name| *name == "mips")?;
    number(rows.find(|row| row.get(1) == Some(&hardware))?.get(at)?)
}

impl Source {
    /// Returns the rows in the paper's order.
    pub fn rows(&self) -> Vec<Row> {
        let (head, rows) = lines(self.csv);
        let at = |name: &str| head.iter().position(|one| *one == name);
        let cases = self.cases;
        let main = cases.iter().find(|(_, case)| *case == self.case);
        let column = main.and_then(|(name, _)| at(name));
        let printed = at("mips_relative").or_else(|| at("uncached_MB_s_per_mips"));
        rows.filter_map(|row| {
            let cell = |at: Option<usize>| at.and_then(|at| row.get(at)).copied();
            let scaled = |at| cell(at).and_then(number).map(|value| value * self.scale);
            Some(Row {
                hardware: row[0],
                os: row.get(1)?,
                storage: row.get(2)?,
                values: cases.iter().filter_map(|(name, _)| scaled(at(name))).collect(),
                value: scaled(column)?,
                printed: cell(printed).filter(|text| !text.is_empty()),
            })
        })
        .collect()
    }

    /// Returns the MVAX2's value that speeds at `place` are relative to: MVAX2 NFS for remote
    /// places, otherwise MVAX2 (Local).
    pub fn base(&self, place: Option<Locality>) -> Option<f64> {
        let remote = place == Some(Locality::Remote);
        let rows = self.rows();
        let mut ours = rows.iter().filter(|row| row.hardware == "MVAX2");
        ours.find(|row| (row.storage == "NFS") == remote).map(|row| row.value)
    }

    /// Returns the paper's MIPS-relative speed of a machine rated `mips` whose value is `value`
    /// (section 4): for times (T(MVAX2)/T) / (MIPS/0.9), for throughputs the inverse ratio.
    pub fn speed(&self, value: f64, place: Option<Locality>, mips: f64) -> Option<f64> {
        let base = self.base(place)?;
        let faster = if self.unit == OsUnit::Nanos { base / value } else { value / base };
        Some(faster / (mips / MVAX2_MIPS)).filter(|speed| speed.is_finite() && *speed > 0.0)
    }
}

/// One line of Table 8, as printed; empty text where the paper has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Andrew {
    /// Machine, by its abbreviation.
    pub hardware: &'static str,
    /// Operating system.
    pub os: &'static str,
    /// Relative speed with local files.
    pub local: &'static str,
    /// Relative speed with remote files.
    pub remote: &'static str,
    /// Extra time with remote files, in per cent.
    pub penalty: &'static str,
}

impl Andrew {
    /// Returns the penalty by which the table is sorted; machines without one come first.
    pub fn penalty(&self) -> f64 {
        number(self.penalty).unwrap_or(f64::NEG_INFINITY)
    }
}

/// Returns Table 8 in the paper's order.
pub fn andrew() -> Vec<Andrew> {
    let (_, rows) = lines(csv!("table8"));
    rows.filter_map(|row| {
        let [hardware, os, local, remote, penalty] = row.get(..5)?.try_into().ok()?;
        Some(Andrew { hardware, os, local, remote, penalty })
    })
    .collect()
}

/// Returns the table of a benchmark, by its name.
pub fn table_of(name: &str) -> Option<&'static Source> {
    TABLES.iter().find(|table| table.name == name)
}

/// Returns the figure of Table 5: megabytes per second over the rating `mips`.
pub fn megabytes_per_mips(bytes_per_s: f64, mips: f64) -> Option<f64> {
    Some(bytes_per_s / 1e6 / mips).filter(|found| found.is_finite() && *found > 0.0)
}

/// Returns the MIPS-relative speed of one measured case; `None` for cases without a speed in the
/// paper.
pub fn speed_of(one: &OsBenchmark, mips: f64) -> Option<f64> {
    let table = table_of(&one.name).filter(|table| table.case == one.case)?;
    table.speed(one.value?, one.place, mips)
}

/// One printed cell that does not match the paper's own figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Disagreement {
    /// Number of the table.
    pub table: u8,
    /// Machine, operating system and the compared figure.
    pub configuration: String,
    /// The printed value.
    pub printed: &'static str,
    /// The value computed by the definition.
    pub recomputed: f64,
}

/// Returns half a unit of the last printed digit.
fn half_digit(printed: &str) -> f64 {
    let decimals = printed.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    0.5 * 10f64.powi(-(decimals as i32))
}

fn judge(
    table: u8,
    configuration: String,
    printed: &'static str,
    recomputed: f64,
) -> Option<Disagreement> {
    let apart = (number(printed)? - recomputed).abs();
    let off = apart > half_digit(printed) * 1.001;
    off.then_some(Disagreement { table, configuration, printed, recomputed })
}

/// Returns every printed relative cell that differs from its recomputation by more than rounding.
///
/// One cell is exempt, since it lies within the rounding of its inputs (Table 9, Sun4 Sprite
/// Diskless).
pub fn disagreements() -> Vec<Disagreement> {
    let mut all: Vec<Disagreement> = Vec::new();
    for table in TABLES.iter().filter(|table| table.name != "bcopy") {
        for row in table.rows() {
            let speed =
                mips_of(row.hardware).and_then(|mips| table.speed(row.value, row.place(), mips));
            let off = row.printed.zip(speed).and_then(|(printed, speed)| {
                judge(table.number, row.configuration(), printed, speed)
            });
            let excepted = (table.number, row.hardware, row.storage) == (9, "Sun4", "Diskless");
            all.extend(off.filter(|_| !excepted));
        }
    }
    all.extend(per_mips_off());
    all.extend(andrew_off());
    all.sort_by_key(|one| one.table);
    all
}

/// Checks Table 5: uncached Mbytes per second over MIPS.
fn per_mips_off() -> Vec<Disagreement> {
    let (_, rows) = lines(csv!("table5"));
    rows.filter_map(|row| {
        let per_mips = number(row.get(4)?)? / mips_of(row[0])?;
        judge(5, format!("{} {}", row[0], row[1]), row.get(5)?, per_mips)
    })
    .collect()
}

/// Checks Table 8, derived from Table 7: local and remote speeds, and the remote penalty in per
/// cent.
fn andrew_off() -> Vec<Disagreement> {
    let Some(table) = table_of("mab") else { return Vec::new() };
    let runs = table.rows();
    let total = |row: &Andrew, remote: bool| {
        let mine = |one: &&Row| one.hardware == row.hardware && one.os == row.os;
        let there = |one: &&Row| (one.place() == Some(Locality::Remote)) == remote;
        runs.iter().filter(mine).find(there)
    };
    let past = andrew();
    let rows = past.iter();
    rows.flat_map(|row| {
        let speed = |remote| {
            let one = total(row, remote)?;
            table.speed(one.value, one.place(), mips_of(row.hardware)?)
        };
        let penalty = total(row, false)
            .zip(total(row, true))
            .map(|(near, far)| (far.value / near.value - 1.0) * 100.0);
        let found = [("local", speed(false)), ("remote", speed(true)), ("penalty, %", penalty)];
        let mut off = Vec::new();
        let printed = [row.local, row.remote, row.penalty];
        for ((what, value), printed) in found.into_iter().zip(printed) {
            let name = format!("{} {} {what}", row.hardware, row.os);
            off.extend(value.and_then(|value| judge(8, name, printed, value)));
        }
        off
    })
    .collect()
}

#[cfg(test)]
#[path = "paper_tests.rs"]
mod tests;
