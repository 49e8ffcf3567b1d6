//! The paper's tables recomputed from its own figures.

use super::*;
use crate::statistics::geometric_mean;

/// The point of Figure 1 by its definition: the geometric mean of all printed relative speeds of a
/// machine, without bcopy.
fn figure1_recomputed(machine: &str) -> Option<f64> {
    let tables = TABLES.iter().filter(|table| table.name != "bcopy");
    let printed = tables.flat_map(Source::rows).filter(|row| row.hardware == machine);
    let mut speeds: Vec<f64> = printed.filter_map(|row| number(row.printed?)).collect();
    for row in andrew().iter().filter(|row| row.hardware == machine) {
        speeds.extend([row.local, row.remote].into_iter().filter_map(number));
    }
    geometric_mean(&speeds)
}

#[test]
fn every_table_is_read_whole() {
    let rows: Vec<usize> = TABLES.iter().map(|table| table.rows().len()).collect();
    assert_eq!(rows, [16, 16, 16, 15, 16, 25, 27, 27]);
    for table in &TABLES {
        for row in table.rows() {
            assert_eq!(row.values.len(), table.cases.len(), "{}", row.configuration());
            assert!(mips_of(row.hardware).is_some(), "{}", row.hardware);
        }
    }
    assert_eq!(machines().len(), 10);
}

#[test]
fn the_base_has_speed_one() {
    for table in &TABLES {
        for row in table.rows().iter().filter(|row| row.hardware == "MVAX2") {
            let speed = table.speed(row.value, row.place(), MVAX2_MIPS).unwrap();
            assert!((speed - 1.0).abs() < 1e-12, "{} {speed}", table.title);
        }
    }
}

#[test]
fn every_printed_cell_follows_from_the_definition_but_eleven() {
    let found: Vec<(u8, String, &str)> = disagreements()
        .into_iter()
        .map(|one| (one.table, one.configuration, one.printed))
        .collect();
    let expected = [
        (3, "SS1 SunOS 4.0.3", "0.32"),
        (5, "Sun4 Sprite", "0.55"),
        (5, "DS3100 Sprite", "0.43"),
        (5, "DS3100 Mach 2.5", "0.39"),
        (5, "DS3100 Ultrix 3.1", "0.39"),
        (5, "Sun4 SunOS 4.0.3", "0.52"),
        (5, "Sun4 Mach 2.5", "0.56"),
        (8, "Sun3 SunOS 3.5 local", "1.4"),
        (8, "DS3100 Mach 2.5 penalty, %", "50"),
        (10, "M2000 RISC/os 4.0 Local", "0.12"),
        (10, "DS5000 Ultrix 3.1D Local", "0.09"),
    ];
    let expected: Vec<(u8, String, &str)> =
        expected.into_iter().map(|(t, c, p)| (t, c.to_owned(), p)).collect();
    assert_eq!(found, expected);
}

#[test]
fn the_excepted_cell_lies_within_the_rounding_of_its_inputs() {
    let table = table_of("open-close").unwrap();
    let rows = table.rows();
    let row = rows.iter().find(|r| r.hardware == "Sun4" && r.storage == "Diskless").unwrap();
    let speed = |value: f64| table.speed(value, row.place(), 8.0).unwrap();
    assert!(speed(row.value) < 0.665 && speed(row.value - 0.05e6) > 0.665);
}

#[test]
fn figure_1_is_the_mean_of_the_printed_speeds() {
    for machine in machines() {
        let mean = figure1_recomputed(machine.name).unwrap();
        let off = (mean / machine.figure1 - 1.0).abs();
        assert!(off < 0.05, "{}: {mean} against {}", machine.name, machine.figure1);
        assert_eq!(mips_of(machine.name), Some(machine.mips));
    }
}

#[test]
fn a_case_without_a_table_has_no_speed() {
    let one = |name: &str, case: &str| OsBenchmark {
        name: name.into(),
        case: case.into(),
        value: Some(100.0),
        ..OsBenchmark::default()
    };
    assert!(speed_of(&one("getpid", "system call"), 10.0).is_some());
    assert!(speed_of(&one("getpid", "C library"), 10.0).is_none());
    assert!(speed_of(&one("stat", "foo"), 10.0).is_none());
    assert!(speed_of(&OsBenchmark { value: None, ..one("getpid", "system call") }, 1.0).is_none());
}
