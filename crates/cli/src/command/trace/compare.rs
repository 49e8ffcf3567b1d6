//! `ioscape trace compare`: reads two traces one after the other and shows what changed from the
//! first to the second.

use crate::failure::{self, Failure};
use crate::output;
use crate::outputs;
use crate::traces::{self, Rows};
use ioscape_arguments::CompareTracesArgs;
use ioscape_schema::TraceSummary;
use ioscape_trace::analyze::{Analysis, AnalysisOptions};
use ioscape_trace::compare::{Course, compare};
use std::path::PathBuf;
use std::slice;

/// Runs the command.
///
/// # Errors
/// A trace cannot be read, the selection is empty, the output cannot be written, or a condition is
/// met.
pub fn main(args: &CompareTracesArgs) -> Result<(), Failure> {
    let both = [&args.first, &args.second];
    let mut outputs = outputs::names_of(&args.out).reads("the trace", both).open()?;
    let mut document = output::document(0);
    let [first, second] = both.map(|path| read(path, args));
    let ((first, of_first), (second, of_second)) = (first?, second?);
    for summary in [&of_first, &of_second] {
        let doubts = summary.warnings.iter();
        doubts.for_each(|doubt| document.warn(doubt.clone().at(summary.name.as_str())));
    }
    let fail_if = args.fail_if.as_ref();
    let found = compare([&first, &second], [of_first, of_second], fail_if);
    fail_if.map_or(Ok(()), |condition| condition.check(&found)).map_err(Failure::Misuse)?;
    let met = fail_if.and_then(|condition| condition.failure(&found));
    document.outcome = Some(found.into());
    let shown = outputs::finish(&mut outputs, &document, args.out.json);
    failure::both(met.map_or(Ok(()), |text| Err(Failure::Condition(text))), shown)
}

fn read(path: &PathBuf, args: &CompareTracesArgs) -> Result<(Course, TraceSummary), Failure> {
    let mut rows = Rows::open(slice::from_ref(path), &args.rows)?;
    let options = AnalysisOptions { block_bytes: args.block, ..AnalysisOptions::default() };
    let (mut course, mut analysis) = (Course::default(), None);
    rows.each(|batch, rows| {
        let begin = || Analysis::new(&options.clone().on_the_clock(rows.selected.clock().1));
        let analysis = analysis.get_or_insert_with(begin);
        analysis.name_devices(&rows.info().devices);
        analysis.update(batch);
        course.update(batch);
    })?;
    rows.whole("interrupted: nothing was compared")?;
    let analysis = analysis.unwrap_or_else(|| Analysis::new(&options));
    let name = traces::name(slice::from_ref(path));
    Ok((course, analysis.finish(&name, rows.info())))
}
