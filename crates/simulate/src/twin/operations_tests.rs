//! Limits of operations that only small requests reach.

use super::sustained_tests::{bytes, endured, limited, operations};
use super::*;
use ioscape_schema::CourseKind;

#[test]
fn small_requests_that_fall_while_large_ones_hold_are_told_and_get_no_limit() {
    let found = endured(&limited(vec![operations(3000.0, 2e4), bytes(1e8, 0.0, None)]));
    assert!(found.limits.is_empty(), "{:?}", found.limits);
    for what in ["small writes: ", "small reads: "] {
        let said: Vec<_> = found.summary.iter().filter(|one| one.starts_with(what)).collect();
        assert!(said.iter().any(|one| one.contains(", then ")), "{:#?}", found.summary);
        assert!(said.iter().any(|one| one.contains("a drive gets no limit of it")), "{said:#?}");
    }
    let again = Endured::kept(found.measurements.clone(), Before::default());
    assert_eq!(again.summary, found.summary);
}

/// Guards against a false confident sentence: reads of an AWS gp2 volume were said to have one rate
/// for three hours, since small writes had used up the credit of operations just before.
#[test]
fn reads_after_small_writes_used_up_a_credit_are_told_to_hide_it() {
    let volume = vec![operations(100.0, 1.2e4), operations(3000.0, 0.0), bytes(1e8, 0.0, None)];
    let found = endured(&limited(volume));
    let kinds = [0, 1, 2].map(|at| found.measurements[at].sustained.as_ref().unwrap().kind);
    assert_eq!(kinds, [CourseKind::Steady, CourseKind::Burst, CourseKind::Steady]);
    let told = "reads: measured after small writes had used up their burst";
    assert!(found.summary.iter().any(|one| one.starts_with(told)), "{:#?}", found.summary);
    let again = Endured::kept(found.measurements.clone(), Before::default());
    assert_eq!(again.summary, found.summary);
}
