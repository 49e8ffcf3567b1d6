//! The course of a run, and what is left of one that the user cuts off.

use crate::common::{Uniform, quick, session, workload};
use ioscape_machine::Error;
use ioscape_measure::{RunOptions, Session};
use ioscape_schema::{Measurement, Stop};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Runs for a minute unless it is cut off, which happens a good moment later.
fn cut_off(session: &mut Session, course: bool) -> Result<Measurement, Error> {
    let interrupt = Arc::new(AtomicBool::new(false));
    let options = RunOptions {
        course,
        min_s: 60.0,
        cap_s: 60.0,
        interrupt: Arc::clone(&interrupt),
        ..quick()
    };
    let hand = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(2));
        interrupt.store(true, Ordering::Relaxed);
    });
    let streams = |process| {
        let mut uniform = Uniform::new(process, 1 << 20, 0.5);
        move || uniform.next()
    };
    let measured = session.run(&workload(), 4096, &options, streams);
    hand.join().unwrap();
    measured
}

#[test]
fn a_course_that_is_cut_off_is_measured_as_far_as_it_went_and_other_runs_are_not() {
    let (_dir, mut session) = session();
    let told = cut_off(&mut session, true).unwrap();
    assert_eq!(told.stop, Stop::Interrupted);
    assert!(told.ios > 0 && told.response_time_ns.mean > 0.0 && told.elapsed_s < 30.0);
    let course = session.take_course().unwrap();
    assert!(course.marks.is_sorted_by(|a, b| a.at_s < b.at_s && a.bytes <= b.bytes));
    let last = course.marks.last().unwrap();
    assert!(last.bytes > 0 && last.bytes <= told.bytes, "{last:?} of {}", told.bytes);
    assert!(matches!(cut_off(&mut session, false), Err(Error::Interrupted)));
    assert!(session.take_course().is_none());
}
