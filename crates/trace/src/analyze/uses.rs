//! The blocks that the requests of a few rows use, side by side: found once, for all figures that
//! sample blocks by number.

use super::blocks::{BlockSize, spread, touched};
use super::column::STRIDE;
use super::device_names::DeviceNames;
use ioscape_schema::Io;

/// Number of gathered uses that triggers their processing: a single request may have thousands.
const MOST: usize = 4096;

/// One use of a block.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// The block, with its device.
    pub key: u64,
    /// The same, spread evenly, with the device identified by name.
    pub hash: u64,
    /// The index of its request among the rows.
    pub row: u32,
}

/// Scratch space for the uses of a few rows.
#[derive(Clone, Debug, Default)]
pub struct Uses(Vec<Use>);

impl Uses {
    /// Passes the rows and the uses of their blocks to `take`, a few rows at a time, in order.
    pub fn each(
        &mut self,
        ios: &[Io],
        size: BlockSize,
        names: &DeviceNames,
        mut take: impl FnMut(&[Io], &[Use]),
    ) {
        for ios in ios.chunks(STRIDE) {
            let mut from = 0;
            for (at, io) in ios.iter().enumerate() {
                let (device, row) = (names.hash(io.device), (at - from) as u32);
                let of = |key| Use { key, hash: spread(key, device), row };
                self.0.extend(touched(io, size).map(of));
                if self.0.len() >= MOST {
                    take(&ios[from..=at], &self.0);
                    self.0.clear();
                    from = at + 1;
                }
            }
            take(&ios[from..], &self.0);
            self.0.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{Device, Request};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_use_comes_once_and_in_order(rows in prop::collection::vec((0u64..9, 0u32..40, 0u16..2), 0..300), long in 0usize..300) {
            let row = |(at, (block, blocks, device)): (usize, (u64, u32, u16))| {
                let len = if at == long { 40 << 20 } else { blocks * 3000 };
                let request = Request { offset: block * 5000, len, ..Request::default() };
                Io { request, device, process: at as u32, ..Io::default() }
            };
            let rows: Vec<Io> = rows.into_iter().enumerate().map(row).collect();
            let (size, mut names) = (BlockSize::of(8192), DeviceNames::default());
            names.learn(&[Device { name: "a".to_owned(), ..Device::default() }]);
            let (mut found, mut seen) = (Vec::new(), Vec::new());
            Uses::default().each(&rows, size, &names, |ios, uses| {
                assert!(ios.len() <= STRIDE, "no more than the places for them");
                seen.extend_from_slice(ios);
                found.extend(uses.iter().map(|one| (ios[one.row as usize].process, one.key, one.hash)));
            });
            let of = |io: &Io| {
                let (process, device) = (io.process, names.hash(io.device));
                touched(io, size).map(move |key| (process, key, spread(key, device)))
            };
            prop_assert_eq!(found, rows.iter().flat_map(of).collect::<Vec<_>>());
            prop_assert_eq!(seen, rows);
        }
    }
}
