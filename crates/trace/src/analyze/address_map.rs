//! Where on each disk does the load go over time?

use super::time_series::{Cell, TimeSeries};
use ioscape_schema::trace_summary::AddressMap;
use ioscape_schema::{Io, Op};
use serde::{Deserialize, Serialize};

/// The most columns and rows of a picture.
const COLUMNS: usize = 240;
const ROWS: usize = 96;
/// Smallest height of a row in bytes, as a power of two.
const LEAST_SHIFT: u32 = 12;

/// Requests of one column, by row: reads, writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Column(Vec<[u32; 2]>);

impl Column {
    fn at(&mut self, row: usize) -> &mut [u32; 2] {
        if row >= self.0.len() {
            self.0.resize(row + 1, [0; 2]);
        }
        &mut self.0[row]
    }

    /// Merges rows in pairs.
    fn halve(&mut self) {
        let pairs = self.0.chunks(2);
        self.0 = pairs
            .map(|pair| {
                let next = pair.get(1).copied().unwrap_or_default();
                [0, 1].map(|op| pair[0][op].saturating_add(next[op]))
            })
            .collect();
    }
}

impl Cell for Column {
    fn absorb(&mut self, other: &Self) {
        for (row, counts) in other.0.iter().enumerate() {
            let mine = self.at(row);
            (0..2).for_each(|op| mine[op] = mine[op].saturating_add(counts[op]));
        }
    }
}

/// Requests of one disk that move data, by time of arrival and by first byte; rows grow with the largest address.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Addresses {
    shift: u32,
    series: TimeSeries<Column>,
}

impl Default for Addresses {
    fn default() -> Self {
        Self { shift: LEAST_SHIFT, series: TimeSeries::new(COLUMNS) }
    }
}

impl Addresses {
    /// Takes in the next request of the disk.
    #[inline]
    pub fn update(&mut self, io: &Io) {
        // A request that moves no data has no place, but time goes on.
        if !io.moves_data() {
            self.series.at(io.queued_ns);
            return;
        }
        while io.request.offset >> self.shift >= ROWS as u64 {
            self.double();
        }
        let row = (io.request.offset >> self.shift) as usize;
        let counts = self.series.at(io.queued_ns).at(row);
        let count = &mut counts[usize::from(io.request.op == Op::Write)];
        *count = count.saturating_add(1);
    }

    /// Takes in the next requests of the disk.
    pub fn update_all(&mut self, ios: &[Io]) {
        let moving = ios.iter().filter(|io| io.moves_data());
        let most = moving.map(|io| io.request.offset).max().unwrap_or(0);
        while most >> self.shift >= ROWS as u64 {
            self.double();
        }
        let shift = self.shift;
        self.series.each_step(ios, |column, ios| {
            for io in ios.iter().filter(|io| io.moves_data()) {
                let counts = column.at((io.request.offset >> shift) as usize);
                let count = &mut counts[usize::from(io.request.op == Op::Write)];
                *count = count.saturating_add(1);
            }
        });
    }

    fn double(&mut self) {
        self.shift += 1;
        self.series.cells_mut().iter_mut().for_each(Column::halve);
    }

    /// Heap memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.series.bytes(|column| column.0.capacity() * size_of::<[u32; 2]>())
    }

    /// Adds the later part.
    pub fn merge(&mut self, mut later: Self) {
        while self.shift < later.shift {
            self.double();
        }
        while later.shift < self.shift {
            later.double();
        }
        self.series.merge(later.series);
    }

    /// Returns the picture, from `origin_ns` on.
    pub fn finish(&self, device: u16, origin_ns: u64) -> AddressMap {
        let (step_ns, start_ns, columns) = self.series.steps(origin_ns);
        let column = |(at, column): (usize, &Column)| {
            let filled = column.0.clone().into_iter().enumerate().filter(|row| row.1 != [0; 2]);
            filled
                .map(|(row, [reads, writes])| {
                    (at as u32, row as u32, u64::from(reads), u64::from(writes))
                })
                .collect::<Vec<_>>()
        };
        AddressMap {
            device,
            step_ns,
            start_ns,
            row_bytes: 1 << self.shift,
            cells: columns.iter().enumerate().flat_map(column).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{IoFlags, Request};

    /// Cycles through four requests: a flush, a discard far beyond all others, a read and a write.
    #[test]
    fn what_moves_no_data_is_in_no_cell() {
        let row = |at: u64| {
            let (op, offset, len, flags) = match at % 4 {
                0 => (Op::Write, 0, 0, IoFlags::FLUSH),
                1 => (Op::Write, 1 << 40, 4096, IoFlags::DISCARD),
                2 => (Op::Read, 4096, 4096, IoFlags::empty()),
                _ => (Op::Write, 8192, 4096, IoFlags::empty()),
            };
            let request = Request { op, offset, len };
            Io { request, queued_ns: at * 1_000_000, flags, ..Io::default() }
        };
        let rows: Vec<Io> = (0..400).map(row).collect();
        let (mut single, mut together) = (Addresses::default(), Addresses::default());
        rows.iter().for_each(|io| single.update(io));
        together.update_all(&rows);
        let [single, together] = [single, together].map(|seen| seen.finish(0, 0));
        assert_eq!(single, together);
        let sums = single.cells.iter().fold([0, 0], |sum, cell| [sum[0] + cell.2, sum[1] + cell.3]);
        assert_eq!((sums, single.row_bytes), ([100, 100], 4096));
    }
}
