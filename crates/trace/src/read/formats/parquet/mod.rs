//! Parquet: this project's typed columns, read in batches from row groups that are fetched whole
//! or, if large, page by page.

mod bytes;
mod column;
mod groups;

use crate::columns::{self, ALL, NEEDED, SORTED, TABLES};
use crate::error::{Error, FilePosition};
use crate::read::decode::{BATCH, Decode, Epoch};
use crate::read::gaps::Gaps;
use crate::read::head::{Head, Likeness};
use crate::read::source::{Opened, PARQUET, ReadSeek};
use crate::read::tables::{Tables, add_unnamed, unnamed};
use bytes::{File, MOST_PAGES, Span};
use column::Column;
use ioscape_schema::{Io, TraceInfo};
use parquet::basic::CompressionCodec;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader};
use parquet::schema::types::SchemaDescriptor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The most bytes of a row group's column, packed or unpacked: it may be a single page.
const MOST_COLUMN: u64 = 1 << 30;
/// The most packed bytes of a row group's columns that are read at once. In larger groups, each
/// page is read when needed.
const MOST_HELD: u64 = 1 << 30;
/// How many rows are assembled at once: they stay in a CPU's first-level cache while column after
/// column is stored.
const NEAR: usize = 256;

/// The error for a file whose parts contradict each other.
const DAMAGED: &str = "a damaged Parquet file";

/// Runs `read` and returns `damaged` if it panics, as the library does on some damaged files. What
/// was being read is not used again after an error.
fn guarded<T>(damaged: Error, read: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or(Err(damaged))
}

/// Recognizes a Parquet file, which is read as no other format.
pub(super) fn looks_like(head: &Head<'_>) -> Likeness {
    Likeness::certain_if(head.bytes.starts_with(PARQUET))
}

/// Opens a decoder for each source, which must be a file.
pub(super) fn open(
    format: &str,
    sources: Vec<Opened>,
    skip_bad: bool,
) -> Result<Vec<Box<dyn Decode>>, Error> {
    let decoder = |source| -> Result<Box<dyn Decode>, Error> {
        let (name, file) = match source {
            Opened::Parquet(name, file) => (name, file),
            Opened::Input(input) => {
                return Err(input.bad_header("does not begin as a Parquet file does"));
            }
        };
        Ok(Box::new(Columns { skip_bad, ..Columns::new(format, name, file)? }))
    };
    sources.into_iter().map(decoder).collect()
}

/// The decoder of one file.
struct Columns {
    name: String,
    file: Arc<File>,
    metadata: ParquetMetaData,
    places: Places,
    /// The row groups to read, and the place of the next one among them.
    groups: Vec<usize>,
    next_group: usize,
    group: Vec<Option<Column>>,
    /// The bytes of the largest pages of all the group's columns.
    pages: Arc<AtomicU64>,
    left: usize,
    rows: u64,
    latest_ns: u64,
    sorted: bool,
    tables: Tables,
    /// What times count from; known with the tables, else with the first row.
    epoch: Option<Epoch>,
    /// Whether the file has tables.
    is_own: bool,
    /// Whether neither tables nor a column name the disks.
    names_no_disk: bool,
    /// Whether to leave out rows that lack a value, and the rest of a damaged row group.
    skip_bad: bool,
}

impl Columns {
    /// Reads the file's metadata.
    fn new(format: &str, name: String, file: Box<dyn ReadSeek>) -> Result<Self, Error> {
        let damaged = Error::Header { name: name.clone(), reason: DAMAGED.to_owned() };
        guarded(damaged, || Self::parse(format, name, file))
    }

    fn parse(format: &str, name: String, file: Box<dyn ReadSeek>) -> Result<Self, Error> {
        let bad = |reason: String| Error::Header { name: name.clone(), reason };
        let file = File::new(file).map_err(|source| Error::Read { name: name.clone(), source })?;
        let metadata = ParquetMetaDataReader::new()
            .parse_and_finish(&file)
            .map_err(|e| bad(format!("its Parquet metadata cannot be read: {e}")))?;
        let places = places_in(metadata.file_metadata().schema_descr()).map_err(bad)?;
        check_codecs(&metadata, &places).map_err(bad)?;
        let value = |key: &str| {
            let pairs = metadata.file_metadata().key_value_metadata()?;
            pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
        };
        let (sorted, told) = (value(SORTED) == Some("true"), value(TABLES));
        let device = place_of(&places, columns::DEVICE);
        let mut tables = Tables::default();
        tables.restore(match told {
            Some(json) => serde_json::from_str(json)
                .map_err(|e| bad(format!("the tables in its metadata cannot be read: {e}")))?,
            None => untold(format, groups::devices(&metadata, device)),
        });
        let is_own = told.is_some();
        let epoch = is_own.then_some(Epoch::Start);
        let names_no_disk = !is_own && device.is_none();
        Ok(Self {
            groups: (0..metadata.num_row_groups()).collect(),
            file: Arc::new(file),
            metadata,
            places,
            next_group: 0,
            group: Vec::new(),
            pages: Arc::default(),
            left: 0,
            rows: 0,
            latest_ns: 0,
            sorted,
            tables,
            epoch,
            is_own,
            names_no_disk,
            name,
            skip_bad: false,
        })
    }

    /// Opens the next row group; returns `false` if there is none.
    fn open_group(&mut self) -> Result<bool, Error> {
        let next = self.groups.get(self.next_group);
        let Some(group) = next.and_then(|&at| self.metadata.row_groups().get(at)) else {
            return Ok(false);
        };
        self.next_group += 1;
        let rows = usize::try_from(group.num_rows()).unwrap_or(0);
        self.left = rows;
        let chunks = self.places.map(|place| place.and_then(|p| group.columns().get(p)));
        let mut opened = Vec::with_capacity(chunks.len());
        let mut fetched = Vec::new();
        for (name, chunk) in ALL.into_iter().zip(chunks) {
            let Some(chunk) = chunk else {
                opened.push(None);
                continue;
            };
            if !is_sound(chunk) {
                return Err(self.broken(DAMAGED.to_owned()));
            }
            // One column is read whatever its statistics say, so that the number of rows is not
            // taken on trust.
            let constant = (name != columns::QUEUED).then(|| Column::constant(chunk, rows));
            let constant = constant.flatten();
            if constant.is_none() {
                fetched.push((opened.len(), chunk));
            }
            opened.push(constant);
        }
        if fetched.iter().any(|(_, chunk)| is_too_large(chunk)) {
            return Err(self.too_large("with a column of more than 1 GiB"));
        }
        let packed = fetched.iter().map(|(_, chunk)| chunk.byte_range().1);
        let is_paged = packed.fold(0, u64::saturating_add) > MOST_HELD;
        self.pages = Arc::default();
        for (at, chunk) in fetched {
            let span = Span::fetch(&self.file, chunk, is_paged, &self.pages)
                .map_err(|source| Error::Read { name: self.name.clone(), source })?;
            let column = Column::open(Arc::new(span), chunk, rows);
            opened[at] = Some(column.map_err(|e| self.broken(e.to_string()))?);
        }
        self.group = opened;
        Ok(true)
    }

    fn broken(&self, reason: String) -> Error {
        self.broken_row(self.rows, reason)
    }

    /// Returns the error of a broken row that `before` rows precede.
    fn broken_row(&self, before: u64, reason: String) -> Error {
        let position = FilePosition::Record { number: before + 1, byte: 0 };
        Error::Record { name: self.name.clone(), position, reason }
    }

    /// Refuses a row group that would fill the memory. None of its records is broken, so this is no
    /// record error that could be skipped.
    fn too_large(&self, what: &str) -> Error {
        let reason = format!("a row group {what}: write the file in smaller ones");
        Error::Header { name: self.name.clone(), reason }
    }

    /// Reads the next rows of the open group.
    fn batch(&mut self, into: &mut Vec<Io>) -> Result<(), Error> {
        let count = self.left.min(BATCH);
        let from = into.len();
        for (name, column) in ALL.iter().zip(&mut self.group) {
            let Some(column) = column else { continue };
            if let Err(e) = column.fill(count) {
                return Err(match self.pages.load(Ordering::Relaxed) > MOST_PAGES {
                    true => self.too_large("whose pages take more than 8 GiB of memory"),
                    false => self.broken(e.to_string()),
                });
            }
            if let Err(reason) = column.number(name, &mut self.tables) {
                return Err(self.broken(reason.into_owned()));
            }
        }
        let gaps = self.gaps()?;
        into.resize(from + count, Io::default());
        for (place, rows) in (0..).step_by(NEAR).zip(into[from..].chunks_mut(NEAR)) {
            for (number, column) in self.group.iter().enumerate() {
                let Some(column) = column else {
                    columns::default(number, rows);
                    continue;
                };
                if !column.scatter(number, place, rows) {
                    return Err(self.broken(columns::out_of_range(ALL[number])));
                }
            }
            self.check(self.rows + place as u64, rows)?;
        }
        self.left -= count;
        self.rows += count as u64;
        self.tables.info.skipped += gaps.leave_out(from, into);
        Ok(())
    }

    /// Finds the rows read last that lack a required value. Such a row is an error unless broken
    /// rows are skipped.
    fn gaps(&self) -> Result<Gaps, Error> {
        let mut gaps = Gaps::default();
        let needed = ALL.iter().zip(&self.group).filter(|(name, _)| NEEDED.contains(name));
        for (name, column) in needed {
            let absent = column.as_ref().and_then(Column::absent);
            if let Some(first) = absent.and_then(|absent| gaps.add(absent))
                && !self.skip_bad
            {
                return Err(self.broken_row(self.rows + first as u64, format!("{name} is null")));
            }
        }
        Ok(gaps)
    }

    /// Checks that commands are in their table and times in order, for rows that `before` rows
    /// precede. Adds devices that are in no table.
    fn check(&mut self, before: u64, rows: &[Io]) -> Result<(), Error> {
        for (before, io) in (before..).zip(rows) {
            if let Some(why) = columns::backwards(io) {
                return Err(self.broken_row(before, why));
            }
            if self.sorted && io.queued_ns < self.latest_ns {
                return Err(self.broken("rows are not in the order the file promises".to_owned()));
            }
            self.latest_ns = io.queued_ns;
            if usize::from(io.device) >= self.tables.info.devices.len() {
                add_unnamed(&mut self.tables.info.devices, usize::from(io.device));
            }
            if io.command > 0 && io.command as usize >= self.tables.info.commands.len() {
                return Err(self.broken("a command that is not in the table".to_owned()));
            }
        }
        Ok(())
    }
}

/// The place in the file of each column of [`ALL`].
type Places = [Option<usize>; ALL.len()];

/// Finds the places of the columns.
///
/// # Errors
/// A required column is missing, or a column's values are neither plain numbers nor allowed names.
fn places_in(schema: &SchemaDescriptor) -> Result<Places, String> {
    let known = schema.columns();
    let places = ALL.map(|name| known.iter().position(|column| column.path().parts() == [name]));
    for (name, place) in ALL.iter().zip(places) {
        match place.map(|place| column::stands_for(name, &known[place])) {
            None if NEEDED.contains(name) => {
                return Err(format!(
                    "a Parquet file without the column {name:?}, so it holds no trace: docs/trace-schema.md names the columns"
                ));
            }
            Some(Some(kind)) => {
                return Err(format!(
                    "column {name} is of type {kind}, not of whole numbers: write it as int64, times in nanoseconds"
                ));
            }
            _ => {}
        }
    }
    Ok(places)
}

/// Refuses columns whose compression is not supported.
fn check_codecs(metadata: &ParquetMetaData, places: &Places) -> Result<(), String> {
    use CompressionCodec::{GZIP, LZ4, LZ4_RAW, SNAPPY, UNCOMPRESSED};
    let chunks = metadata
        .row_groups()
        .iter()
        .flat_map(|group| places.iter().flatten().filter_map(move |&at| group.columns().get(at)));
    let is_unread = |codec: &_| !matches!(codec, UNCOMPRESSED | SNAPPY | GZIP | LZ4 | LZ4_RAW);
    let unread = chunks.map(ColumnChunkMetaData::compression_codec).find(is_unread);
    unread.map_or(Ok(()), |codec| {
        let codec = format!("{codec:?}").to_lowercase();
        Err(format!(
            "compressed with {codec}, which is not read: write it with compression=\"snappy\""
        ))
    })
}

fn place_of(places: &Places, name: &str) -> Option<usize> {
    places[ALL.iter().position(|known| *known == name)?]
}

/// Returns what is known of a file without tables.
fn untold(format: &str, devices: usize) -> TraceInfo {
    let devices = (0..devices).map(unnamed).collect();
    TraceInfo { format: format.to_owned(), devices, ..TraceInfo::default() }
}

/// Whether a column has more bytes than the limit.
fn is_too_large(chunk: &ColumnChunkMetaData) -> bool {
    chunk.byte_range().1.max(chunk.uncompressed_size().unsigned_abs()) > MOST_COLUMN
}

/// Whether places and lengths are plausible; the library does not check them.
fn is_sound(chunk: &ColumnChunkMetaData) -> bool {
    let places = [Some(chunk.data_page_offset()), chunk.dictionary_page_offset()];
    let lengths = [chunk.compressed_size(), chunk.uncompressed_size(), chunk.num_values()];
    places.into_iter().flatten().chain(lengths).all(|number| number >= 0)
}

impl Decode for Columns {
    fn decode(&mut self, into: &mut Vec<Io>) -> Result<bool, Error> {
        let (damaged, had) = (self.broken(DAMAGED.to_owned()), into.len());
        let decoded = match guarded(damaged, || self.next(into)) {
            Err(Error::Record { .. }) if self.skip_bad => {
                into.truncate(had);
                self.tables.info.skipped += self.left as u64;
                self.rows += self.left as u64;
                (self.left, self.group) = (0, Vec::new());
                Ok(true)
            }
            other => other,
        };
        self.epoch = self.epoch.or_else(|| into.get(had).map(|io| Epoch::of_first(io.queued_ns)));
        decoded
    }

    fn info(&self) -> &TraceInfo {
        &self.tables.info
    }

    fn epoch(&self) -> Epoch {
        self.epoch.unwrap_or(Epoch::Start)
    }

    fn namesake(&self) -> Option<&str> {
        self.names_no_disk.then_some(self.name.as_str())
    }

    fn is_ordered(&self) -> bool {
        self.sorted
    }

    fn is_own(&self) -> bool {
        self.is_own
    }

    fn narrow(&mut self, from_ns: Option<u64>, to_ns: Option<u64>, is_alone: bool) {
        let place = place_of(&self.places, columns::QUEUED);
        let first = groups::first(&self.metadata, place);
        let epoch = self.epoch.or_else(|| first.map(|(_, begin_ns)| Epoch::of_first(begin_ns)));
        match (epoch, first) {
            // In an unsorted file, a row may count as one that came too late to be sorted in, so
            // all are read.
            _ if !self.sorted => {}
            (Some(Epoch::Start), _) => {
                self.groups = groups::within(&self.metadata, place, from_ns, to_ns);
            }
            // Times count from the first row, so its group is read too. This needs a lone file, as
            // another may begin earlier, and no skipping, as a broken first row may be left out.
            (Some(Epoch::Unix), Some((at, begin_ns))) if is_alone && !self.skip_bad => {
                let on_clock = |ns: u64| ns.saturating_add(begin_ns);
                let (from_ns, to_ns) = (from_ns.map(on_clock), to_ns.map(on_clock));
                self.groups = groups::within(&self.metadata, place, from_ns, to_ns);
                if !self.groups.contains(&at) {
                    self.groups.insert(0, at);
                }
            }
            _ => {}
        }
    }
}

impl Columns {
    fn next(&mut self, into: &mut Vec<Io>) -> Result<bool, Error> {
        while self.left == 0 {
            if !self.open_group()? {
                return Ok(false);
            }
        }
        self.batch(into)?;
        Ok(true)
    }
}
