//! Where on each disk does the load go, over time?

use super::time_series::{Cell, TimeSeries};
use ioscape_schema::trace_summary::AddressMap;
use ioscape_schema::{Io, Op};
use serde::{Deserialize, Serialize};

/// Most columns and rows of a picture.
const COLUMNS: usize = 240;
const ROWS: usize = 96;
/// Least height of a row in bytes, as a power of two.
const LEAST_SHIFT: u32 = 12;

/// Requests of one column by row: reads, writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Column(Vec<[u32; 2]>);

impl Column {
    fn at(&mut self, row: usize) -> &mut [u32; 2] {
        if row >= self.0.len() {
            self.0.resize(row + 1, [0; 2]);
        }
        &mut self.0[row]
    }

    /// Makes two rows of one.
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

/// Requests of one disk by time of arrival and by first byte; rows grow with the largest address.
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
        let most = ios.iter().map(|io| io.request.offset).max().unwrap_or(0);
        while most >> self.shift >= ROWS as u64 {
            self.double();
        }
        let shift = self.shift;
        self.series.each_step(ios, |column, ios| {
            for io in ios {
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

    /// The memory it takes beside itself, in bytes.
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

    /// The picture, from `origin_ns` on.
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
