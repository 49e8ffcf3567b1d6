//! The course of a run, and what remains of one that the user cuts short.

use crate::common::{quick, run_with, session, workload};
use ioscape_machine::Error;
use ioscape_measure::{Phase, RunOptions, Session};
use ioscape_schema::{Measurement, Stop};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Runs for a minute unless it is interrupted, which happens in the middle of its measured part.
fn cut_off(session: &mut Session, course: bool, partial: bool) -> Result<Measurement, Error> {
    let interrupt = Arc::new(AtomicBool::new(false));
    let (told, before) = (Arc::clone(&interrupt), AtomicU64::new(u64::MAX));
    let options = RunOptions {
        course,
        partial,
        min_s: 60.0,
        cap_s: 60.0,
        interrupt,
        on_progress: Some(Arc::new(move |progress| {
            if progress.phase == Phase::Measure {
                let first = before.fetch_min(progress.bytes_done, Ordering::Relaxed);
                let has_moved = progress.bytes_done > first.saturating_add(1 << 20);
                told.fetch_or(has_moved, Ordering::Relaxed);
            }
        })),
        ..quick()
    };
    run_with(session, &workload(), &options)
}

#[test]
fn a_run_that_is_cut_off_is_measured_as_far_as_it_went_where_that_is_asked_for() {
    let (_dir, mut session) = session();
    for course in [false, true] {
        let told = cut_off(&mut session, course, true).unwrap();
        assert_eq!(told.stop, Stop::Interrupted);
        assert!(told.ios > 0 && told.response_time_ns.mean > 0.0 && told.elapsed_s < 30.0);
        assert!(matches!(cut_off(&mut session, course, false), Err(Error::Interrupted)));
    }
}

#[test]
fn a_course_that_is_cut_off_is_kept_as_far_as_it_went() {
    let (_dir, mut session) = session();
    let told = cut_off(&mut session, true, true).unwrap();
    let course = session.take_course().unwrap();
    assert!(course.marks.is_sorted_by(|a, b| a.at_s < b.at_s && a.bytes <= b.bytes));
    let last = course.marks.last().unwrap();
    assert!(last.bytes > 0 && last.bytes <= told.bytes, "{last:?} of {}", told.bytes);
    assert!(session.take_course().is_none());
}
