//! Expands a campaign into its rows, and into the job of every cell.

use super::file::{Campaign, CampaignError, Method, ROWS_MAX, Settings};
use crate::vxbench::{VxWords, parse};
use ioscape_schema::units::parse_bytes;
use ioscape_schema::{
    CampaignSetting, CellPlan, Fill, NameJob, NameOperation, Prepare, RowPlan, VxJob,
};

/// Names of the parameters that may vary.
const NAMES: [&str; 9] = [
    "file_size",
    "files_written",
    "files",
    "threads",
    "queue_depth",
    "iosize",
    "tree_files",
    "entries",
    "fill_percent",
];

/// The most files of a run on names and of a tree; the most times that a tree may be recreated.
const ENTRIES_MAX: u64 = 10_000_000;
const CHURN_MAX: u32 = 100;

/// The approximate space that a file of a tree takes, in bytes.
const TREE_FILE_BYTES: u64 = 8 << 10;

/// The available space in bytes.
#[derive(Clone, Copy)]
struct Room {
    /// Space for each file.
    each: u64,
    /// Space for a tree of files.
    tree: u64,
}

impl Campaign {
    /// Returns the parameter on the horizontal axis of the graphs.
    pub fn x(&self) -> String {
        let last = || self.vary.last().map(|vary| vary.name.clone());
        self.x.clone().or_else(last).unwrap_or_default()
    }

    /// Returns the same as [`Self::rows`], but at least one row.
    ///
    /// # Errors
    /// As for [`Self::rows`]; or no row has files as small as `most`.
    pub fn rows_left(&self, most: u64) -> Result<Vec<RowPlan>, CampaignError> {
        let rows = self.rows(most)?;
        if rows.is_empty() { Err(CampaignError::NoRow(most)) } else { Ok(rows) }
    }

    /// Returns the rows, the product of all values, with no file larger than `most` bytes. A row
    /// that varies `file_size` beyond it is left out; any other gets smaller files. A row with a
    /// tree of files is left out if the tree needs more space than the largest number of files in a
    /// row, at `most` bytes each.
    ///
    /// # Errors
    /// A parameter cannot vary, a value is invalid, or settings do not describe a valid run.
    pub fn rows(&self, most: u64) -> Result<Vec<RowPlan>, CampaignError> {
        let mut rows = Vec::new();
        let total = self.vary.iter().map(|v| v.values.len()).fold(1, usize::saturating_mul);
        if total > ROWS_MAX || total == 0 {
            let message =
                format!("its values make {total} rows: from 1 to {ROWS_MAX} are possible");
            return Err(CampaignError::Meaning { place: "vary".into(), message });
        }
        let room = self.room_of(most)?;
        for index in 0..total {
            let settings = self.settings_of(index)?;
            let place = || settings.iter().map(|s| format!("{} = {}", s.name, s.text));
            let name = || format!("row {}", place().collect::<Vec<_>>().join(", "));
            let size = |s: &&CampaignSetting| s.name == "file_size" && s.value > most as f64;
            if settings.iter().any(|s| size(&s)) {
                continue;
            }
            let cells: Result<Vec<Option<CellPlan>>, String> =
                self.method.iter().map(|one| self.cell(one, &settings, room)).collect();
            let meaning = |message| CampaignError::Meaning { place: name(), message };
            let Some(cells) = cells.map_err(meaning)?.into_iter().collect() else { continue };
            rows.push(RowPlan { settings: settings.clone(), cells });
        }
        Ok(rows)
    }

    /// Returns the room if no file may be larger than `most` bytes.
    fn room_of(&self, most: u64) -> Result<Room, CampaignError> {
        if most >= TREE_FILE_BYTES {
            return Ok(Room { each: most, tree: u64::MAX });
        }
        let rows = self.rows(u64::MAX)?;
        let files = rows.iter().flat_map(|row| &row.cells).map(|cell| cell.files_written).max();
        Ok(Room { each: most, tree: most.saturating_mul(files.unwrap_or(1).max(1).into()) })
    }

    /// Returns the parameters of row `index`; the last one varies fastest.
    fn settings_of(&self, index: usize) -> Result<Vec<CampaignSetting>, CampaignError> {
        let mut rest = index;
        let mut settings = Vec::new();
        for vary in self.vary.iter().rev() {
            let text = vary.values[rest % vary.values.len()].text();
            rest /= vary.values.len();
            let fail = |message| CampaignError::Meaning {
                place: format!("vary {:?}", vary.name),
                message,
            };
            if !NAMES.contains(&vary.name.as_str()) {
                return Err(fail(format!("cannot vary: choose from {}", NAMES.join(", "))));
            }
            let value = match (vary.name.as_str(), text.as_str()) {
                ("tree_files" | "fill_percent", "0") => 0,
                _ => parse_bytes(&text).map_err(|error| fail(error.to_string()))?,
            };
            settings.push(CampaignSetting { name: vary.name.clone(), text, value: value as f64 });
        }
        settings.reverse();
        Ok(settings)
    }

    /// Returns the run of `method` with the row's `settings`; `None` if fewer files exist than are
    /// to be used, or if there is no `room`.
    fn cell(
        &self,
        method: &Method,
        settings: &[CampaignSetting],
        room: Room,
    ) -> Result<Option<CellPlan>, String> {
        let all = Merged { base: &self.base, method, row: settings };
        let file_bytes = all.size(|s| s.file_size.clone(), "file_size", 256 << 20)?.min(room.each);
        let iosize = all.size(|s| s.iosize.clone(), "iosize", 64 << 10)?.min(file_bytes);
        let files = all.count(|s| s.files, "files", 1)?;
        let files_written = all.count(|s| s.files_written, "files_written", files)?;
        let threads = all.count(|s| s.threads, "threads", 1)?;
        if files > files_written {
            return Ok(None);
        }
        let words = |pick: fn(&Settings) -> Option<String>| {
            all.pick(pick).filter(|text| !text.trim().is_empty())
        };
        let workload = words(|s| s.workload.clone()).unwrap_or_else(|| "read".to_owned());
        let depth = all.of_row(|s| s.queue_depth, "queue_depth")?;
        let deep = depth.is_some() || all.pick(|s| s.queue_depth).is_some();
        let queue_depth = all.count(|s| s.queue_depth, "queue_depth", 1)?;
        if let Some(operation) = on_names(&workload) {
            return all.on_names(operation, threads, method.raw, room);
        }
        let share = u64::from(threads) * iosize;
        let mut count = file_bytes / share.max(1);
        if let (true, Some(ios)) = (workload.starts_with("rand_"), words(|s| s.ios.clone())) {
            count = parse_bytes(&ios).map_err(|e| format!("ios: {e}"))? / u64::from(threads);
        }
        if count == 0 {
            // If the limit has shrunk the files, the row is left out.
            return match room.each {
                u64::MAX => Err("every thread needs at least one request: give smaller requests, fewer threads or more bytes".to_owned()),
                _ => Ok(None),
            };
        }
        let sizes = format!("iosize={iosize},nthreads={threads},iocount={count}");
        let reservation = words(|s| s.reservation.clone())
            .map(|text| if text == "file" { file_bytes.to_string() } else { text });
        let list = |pick| words(pick).into_iter().collect::<Vec<String>>();
        let mut job = parse(&VxWords {
            workload,
            suboptions: [vec![sizes], list(|s| s.options.clone())].concat(),
            opens: list(|s| s.open.clone()),
            cache: list(|s| s.cache.clone()),
            flags: list(|s| s.flags.clone()),
            reservation,
            direct_above: words(|s| s.direct_above.clone()),
            cold: all.pick(|s| s.cold).unwrap_or(false),
            queue_depth: deep.then_some(queue_depth),
            ..VxWords::default()
        })
        .map_err(|error| format!("method {:?}: {error}", method.name))?;
        if method.raw && job.workload.is_random() {
            // Only these bytes of a device are laid out.
            job.max_file_size.get_or_insert(file_bytes);
        }
        Ok(Some(CellPlan {
            job,
            files,
            files_written,
            file_bytes,
            prepare: all.pick(|s| s.prepare).unwrap_or_default(),
            age_piece: all.size(|s| s.age_piece.clone(), "age_piece", 64 << 10)?,
            raw: method.raw,
            names: None,
            fill: all.fill()?,
        }))
    }
}

/// Returns the operation on names that this word means.
fn on_names(word: &str) -> Option<NameOperation> {
    NameOperation::ALL.into_iter().find(|(known, _)| *known == word).map(|(_, operation)| operation)
}

/// Settings from the row, or else from the method, or else from the base.
struct Merged<'a> {
    base: &'a Settings,
    method: &'a Method,
    row: &'a [CampaignSetting],
}

impl Merged<'_> {
    fn pick<T>(&self, pick: impl Fn(&Settings) -> Option<T>) -> Option<T> {
        pick(&self.method.settings).or_else(|| pick(self.base))
    }

    /// Returns the row's value of the parameter `name`, which a method must not set as well: its
    /// column would be named for a value that it does not have.
    fn of_row<T>(
        &self,
        pick: impl Fn(&Settings) -> Option<T>,
        name: &str,
    ) -> Result<Option<u64>, String> {
        let found = self.row.iter().find(|setting| setting.name == name);
        match found.zip(pick(&self.method.settings)) {
            None => Ok(found.map(|setting| setting.value as u64)),
            Some(_) => Err(format!(
                "method {:?} sets {name}, which varies: leave it out",
                self.method.name
            )),
        }
    }

    /// Plans operations on names; `None` if there is no `room` for the files of a tree, because
    /// they cannot shrink.
    fn on_names(
        &self,
        operation: NameOperation,
        threads: u32,
        raw: bool,
        room: Room,
    ) -> Result<Option<CellPlan>, String> {
        let tree_files = self.number(|s| s.tree_files.clone(), "tree_files", 0)?;
        let names = NameJob {
            operation,
            threads,
            entries: self.number(|s| s.entries.clone(), "entries", 1000)?.max(1),
            shared: self.pick(|s| s.shared).unwrap_or(false),
            tree_files,
            tree_churn: self.churn(|s| s.tree_churn, "tree_churn", 0)?,
        };
        if names.entries.saturating_mul(threads.into()) > ENTRIES_MAX || tree_files > ENTRIES_MAX {
            return Err(format!("at most {ENTRIES_MAX} files are possible"));
        }
        if tree_files.saturating_mul(TREE_FILE_BYTES) > room.tree {
            return Ok(None);
        }
        Ok(Some(CellPlan {
            files_written: u32::try_from(tree_files).unwrap_or(u32::MAX),
            prepare: Prepare::Fresh,
            raw,
            names: Some(names),
            fill: self.fill()?,
            ..CellPlan::of_file(VxJob::default(), TREE_FILE_BYTES)
        }))
    }

    /// Returns what the file system holds beforehand; absent if the campaign does not say.
    fn fill(&self) -> Result<Option<Fill>, String> {
        let given = self.pick(|s| s.fill_percent).map(u64::from);
        let of_row = self.of_row(|s| s.fill_percent, "fill_percent")?;
        let Some(percent) = of_row.or(given) else { return Ok(None) };
        let turnover = self.churn(|s| s.fill_turnover, "fill_turnover", 2)?;
        match u8::try_from(percent) {
            Ok(percent @ 0..=Fill::PERCENT_MAX) => Ok(Some(Fill { percent, turnover })),
            _ => Err(format!(
                "fill_percent is {percent}: from 0 to {} are possible",
                Fill::PERCENT_MAX
            )),
        }
    }

    /// Returns how often files are recreated.
    fn churn(
        &self,
        pick: impl Fn(&Settings) -> Option<u32>,
        name: &str,
        usual: u32,
    ) -> Result<u32, String> {
        match self.pick(pick).unwrap_or(usual) {
            times @ 0..=CHURN_MAX => Ok(times),
            times => Err(format!("{name} is {times}: from 0 to {CHURN_MAX} are possible")),
        }
    }

    /// Returns a count, which may be 0.
    fn number(
        &self,
        pick: impl Fn(&Settings) -> Option<String>,
        name: &str,
        usual: u64,
    ) -> Result<u64, String> {
        match (self.of_row(&pick, name)?, self.pick(&pick)) {
            (None, Some(text)) if text.trim() == "0" => Ok(0),
            _ => self.size(pick, name, usual),
        }
    }

    fn size(
        &self,
        pick: impl Fn(&Settings) -> Option<String>,
        name: &str,
        usual: u64,
    ) -> Result<u64, String> {
        match (self.of_row(&pick, name)?, self.pick(pick)) {
            (Some(value), _) => Ok(value),
            (_, Some(text)) => parse_bytes(&text).map_err(|error| format!("{name}: {error}")),
            _ => Ok(usual),
        }
    }

    fn count(
        &self,
        pick: impl Fn(&Settings) -> Option<u32>,
        name: &str,
        usual: u32,
    ) -> Result<u32, String> {
        let given = self.pick(&pick).map(u64::from);
        let value = self.of_row(pick, name)?.or(given).unwrap_or(u64::from(usual));
        match u32::try_from(value) {
            Ok(count @ 1..=4096) => Ok(count),
            _ => Err(format!("{name} is {value}: from 1 to 4096 are possible")),
        }
    }
}
