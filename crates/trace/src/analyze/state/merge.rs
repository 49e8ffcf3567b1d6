//! Merges parts back into one trace: planned from their headers, merged one by one, finished.

use super::order::{self, Named};
use super::tables::Tables;
use super::{Asked, Header, Part, TraceClock};
use crate::analyze::Analysis;
use ioscape_schema::{TraceInfo, TraceSummary, Warning};

/// A merge in progress. The parts' headers decide the order; then [`add`](Self::add) takes one part
/// after the other, so that only one is in memory in addition to the result.
#[derive(Debug)]
pub struct Merge {
    order: Vec<usize>,
    tables: Tables,
    warnings: Vec<Warning>,
    headers: Vec<Header>,
    whole: Analysis,
    added: usize,
}

impl Merge {
    /// Plans a merge of parts, each with what the user calls its file; their order does not matter.
    ///
    /// # Errors
    /// Parts that were analyzed with different options, count time differently, or hold the same
    /// requests: a sentence that names them.
    pub fn new(parts: &[(String, Header)]) -> Result<Self, String> {
        let named: Vec<Named<'_>> =
            parts.iter().map(|(name, header)| (name.as_str(), header)).collect();
        order::check_alike(&named)?;
        let order = order::by_time(&named);
        let sorted: Vec<Named<'_>> = order.iter().map(|&at| named[at]).collect();
        let headers: Vec<&Header> = sorted.iter().map(|part| part.1).collect();
        let tables = Tables::of(&headers)?;
        order::check_apart(&sorted, &tables)?;
        order::check_once(&sorted)?;
        let mut gaps: Vec<Warning> = headers.iter().flat_map(|h| h.gaps.clone()).collect();
        gaps.extend(order::gaps(&sorted));
        let mut options = headers[0].options.clone();
        options.origin_ns = headers.iter().map(|h| h.options.origin_ns).min().unwrap_or(0);
        Ok(Self {
            warnings: gaps,
            headers: headers.into_iter().cloned().collect(),
            whole: Analysis::part(&options),
            order,
            tables,
            added: 0,
        })
    }

    /// The order in which to add the parts: indices into those that [`new`](Self::new) was given.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Adds the next part.
    pub fn add(&mut self, part: Part) {
        let at = self.added.min(self.tables.devices.len().saturating_sub(1));
        self.added += 1;
        let mut analysis = part.analysis;
        analysis.renumber(&self.tables.devices[at], &self.tables.commands[at]);
        self.whole.merge(analysis);
    }

    /// What the user calls the trace: the names of the parts, each once.
    pub fn name(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for header in &self.headers {
            if !names.contains(&header.name.as_str()) {
                names.push(&header.name);
            }
        }
        names.join(", ")
    }

    /// The tables of the trace.
    pub fn info(&self) -> &TraceInfo {
        &self.tables.info
    }

    /// The result of all parts.
    pub fn finish(&self) -> TraceSummary {
        let mut summary = self.whole.finish(&self.name(), &self.tables.info);
        summary.warnings.extend(self.warnings.iter().cloned());
        summary
    }

    /// The merged parts as one part, for a merge with others.
    pub fn into_part(self) -> Part {
        let first = self.headers.first();
        // Parts without requests come last, whatever their time.
        let ends = || self.headers.iter().map(|header| header.asked.to_ns);
        let to_ns = ends().all(|end| end.is_some()).then(|| ends().flatten().max()).flatten();
        let clock = first.map_or(TraceClock::Trace, |header| header.clock);
        let name = self.name();
        let header = Header::of(&self.whole, &name, &self.tables.info, clock, &Asked::default());
        let asked = Asked { from_ns: first.and_then(|header| header.asked.from_ns), to_ns };
        Part { header: Header { asked, gaps: self.warnings, ..header }, analysis: self.whole }
    }
}
