//! A sample of micro-benchmarks: a machine of today, with a case that could not be measured.

use ioscape_schema::os::{Contamination, Locality, OsBenchmark, OsResults, OsUnit};
use ioscape_schema::{Document, Environment, MabProof, SCHEMA, Warning, WarningKind};

fn case(name: &str, case: &str, value: f64, unit: OsUnit) -> OsBenchmark {
    OsBenchmark {
        name: name.into(),
        case: case.into(),
        value: Some(value),
        unit,
        ci95: Some([value * 0.98, value * 1.03]),
        processes: vec![value; 6],
        contamination: Contamination { clean_frac: Some(0.93), ..Contamination::default() },
        teaches: "What this case teaches.".into(),
        ..OsBenchmark::default()
    }
}

/// The results of a few benchmarks.
pub fn os_results() -> OsResults {
    let mut remote = case("open-close", "foo", 310e3, OsUnit::Nanos);
    remote.place = Some(Locality::Remote);
    let mut fast = case("getpid", "C library", 1.2, OsUnit::Nanos);
    fast.warnings.push(Warning::new(WarningKind::Trap, super::HOSTILE));
    let missing = OsBenchmark {
        value: None,
        ci95: None,
        not_measured: Some("this process may run on one processor only".into()),
        ..case("cswitch", "two CPUs", 1.0, OsUnit::Nanos)
    };
    let mut results = OsResults {
        benchmarks: vec![
            case("dhrystone", "2.1", 1757.0 * 24_800.0, OsUnit::PerS),
            case("getpid", "system call", 105.3, OsUnit::Nanos),
            fast,
            case("cswitch", "same CPU", 4790.0, OsUnit::Nanos),
            missing,
            remote,
            case("page-fault", "anonymous page", 512.0, OsUnit::Nanos),
        ],
        mab: Some(MabProof {
            files: 70,
            bytes: 363_174,
            compiles: 17,
            object_hash: "0123456789abcdef".into(),
            whole: true,
            compiler: "built in".into(),
            processes_end_in: "a program of 129 bytes".into(),
        }),
        ..OsResults::default()
    };
    results.system.settings.insert("clock source".into(), "tsc".into());
    results.system.vulnerabilities.insert("meltdown".into(), super::HOSTILE.into());
    results.rate(None);
    results
}

/// The document of these benchmarks.
pub fn micro_benchmarks() -> Document {
    Document {
        schema: SCHEMA.into(),
        started_at: "2026-11-05T14:03:27Z".into(),
        environment: Environment { kernel: Some("Linux 6.18.0".into()), ..Environment::default() },
        outcome: Some(os_results().into()),
        ..Document::default()
    }
}
