//! Classifies what a request's blocks hold (Table 6 of Ruemmler & Wilkes 1993), by the file
//! system's map, the request's flags and its process.

use ioscape_schema::{BlockMap, Io, IoFlags, IoType, TypedRange};

/// A map of what the blocks of some devices hold.
#[derive(Clone, Debug, Default)]
pub struct BlockTypes {
    /// Sorted by device and first byte; of ranges with the same first byte, the longest comes
    /// first.
    certain: Vec<TypedRange>,
    /// Ranges that are in use, where the map does not say by what.
    in_use: Vec<TypedRange>,
    /// Devices with a journal.
    journals: Vec<u16>,
    /// Devices where metadata outside the known places can only be what locates a file's blocks.
    extents: Vec<u16>,
    /// The mapped file systems: device, first byte, byte after the last.
    mapped: Vec<(u16, u64, u64)>,
}

impl BlockTypes {
    /// Sorts a map so that bytes can be looked up.
    pub fn new(map: BlockMap) -> Self {
        let (certain, in_use): (Vec<_>, Vec<_>) = map
            .ranges
            .into_iter()
            .filter(|r| r.from < r.to)
            .partition(|r| r.io_type != IoType::Unknown);
        let journals = certain.iter().filter(|range| range.io_type == IoType::Journal);
        let mut journals: Vec<u16> = journals.map(|range| range.device).collect();
        journals.dedup();
        journals.extend(map.journals);
        let (extents, mapped) = (map.extents, map.mapped);
        let mut this = Self { certain, in_use, journals, extents, mapped };
        for list in [&mut this.certain, &mut this.in_use] {
            list.sort_by_key(|range| (range.device, range.from, std::cmp::Reverse(range.to)));
        }
        this
    }

    /// Returns this map for use at a later time for which there is no map. Whatever was put among
    /// the files since may be any kind of metadata.
    #[must_use]
    pub fn outlived(mut self) -> Self {
        self.extents.clear();
        self
    }

    fn find(list: &[TypedRange], device: u16, at: u64) -> Option<IoType> {
        let after = list.partition_point(|range| (range.device, range.from) <= (device, at));
        let near = list[..after].iter().rev().take(4);
        near.filter(|range| range.device == device)
            .find(|range| at < range.to)
            .map(|range| range.io_type)
    }

    /// Returns what is at a byte of a device: [`IoType::Unknown`] if the byte is in use but the map
    /// does not say by what, `None` if the map has nothing there.
    pub fn at(&self, device: u16, byte: u64) -> Option<IoType> {
        Self::find(&self.certain, device, byte).or_else(|| Self::find(&self.in_use, device, byte))
    }

    /// Whether the device is known to have a journal.
    fn has_journal(&self, device: u16) -> bool {
        self.journals.contains(&device)
    }

    /// Whether a file system on the device is mapped.
    pub fn covers(&self, device: u16) -> bool {
        self.mapped.iter().any(|(of, ..)| *of == device)
    }

    /// Whether the byte belongs to a mapped file system.
    fn holds(&self, device: u16, byte: u64) -> bool {
        self.mapped.iter().any(|(of, from, to)| *of == device && (*from..*to).contains(&byte))
    }
}

/// Returns what the blocks of `io` hold, by maps of which the first takes precedence: blocks that
/// one map lists as free may be known from another, taken earlier.
///
/// Places that a map knows come first. Where a map only says "in use", a file system marks its own
/// blocks (`REQ_META`). Of these, blocks that ext4's journal thread writes are the journal. The
/// others locate a file's blocks on devices where they can be nothing else ([`BlockMap::extents`]),
/// and are unknown elsewhere. Unmarked blocks belong to a file. Outside the mapped file systems,
/// such as on other partitions of the disk, only the map's own entry for the place counts.
pub fn classify(io: &Io, command: &str, maps: &[&BlockTypes]) -> IoType {
    if io.flags.contains(IoFlags::SWAP) {
        return IoType::Swap;
    }
    let journals = command.starts_with("jbd2/");
    if io.request.len == 0 {
        // A flush has no blocks. It keeps the journal in order, whoever issues it. Without a
        // journal, it syncs files.
        let has_journal = journals || maps.iter().any(|map| map.has_journal(io.device));
        return match io.flags.contains(IoFlags::FLUSH) {
            true if has_journal => IoType::Journal,
            true if maps.iter().any(|map| map.covers(io.device)) => IoType::UserData,
            _ => IoType::Unknown,
        };
    }
    let found = maps.iter().find_map(|map| map.at(io.device, io.request.offset));
    let is_mapped = || maps.iter().any(|map| map.holds(io.device, io.request.offset));
    match found {
        // The file system marks the block as its own, so the map is outdated or did not recognize a
        // directory.
        Some(IoType::UserData) if io.flags.contains(IoFlags::META) => IoType::Unknown,
        Some(io_type) if io_type != IoType::Unknown => io_type,
        None if !is_mapped() => IoType::Unknown,
        _ if io.flags.contains(IoFlags::META) && journals => IoType::Journal,
        _ if io.flags.contains(IoFlags::META) => {
            let extents = maps.iter().any(|map| map.extents.contains(&io.device));
            if extents { IoType::Indirect } else { IoType::Unknown }
        }
        _ => IoType::UserData,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioscape_schema::{Op, Request};

    fn io(offset: u64, flags: IoFlags) -> Io {
        Io { request: Request { op: Op::Write, offset, len: 4096 }, flags, ..Io::default() }
    }

    #[test]
    fn places_flags_and_processes_decide() {
        let range = |from, to, io_type| TypedRange { device: 0, from, to, io_type };
        let of = |ranges: &[TypedRange]| BlockMap {
            ranges: ranges.to_vec(),
            mapped: vec![(0, 0, 64 << 20)],
            ..BlockMap::default()
        };
        let ext = BlockMap {
            extents: vec![0],
            ..of(&[
                range(0, 4096, IoType::Superblock),
                range(4096, 8192, IoType::Inode),
                range(8192, 1 << 20, IoType::Unknown),
                range(16_384, 20_480, IoType::Directory),
                range(200 << 20, 201 << 20, IoType::Swap),
            ])
        };
        let now = BlockTypes::new(ext.clone());
        let before = BlockTypes::new(of(&[range(2 << 20, 3 << 20, IoType::Directory)]));
        let xfs = BlockTypes::new(of(&[range(8192, 1 << 20, IoType::Unknown)]));
        let (tree, file) = (io(20_480, IoFlags::META), io(20_480, IoFlags::empty()));
        assert_eq!(classify(&tree, "xfsaild/sda1", &[&xfs]), IoType::Unknown, "a tree of any kind");
        assert_eq!(classify(&file, "cp", &[&xfs]), IoType::UserData);
        let owned = BlockTypes::new(of(&[range(0, 1 << 20, IoType::UserData)]));
        assert_eq!(classify(&tree, "cp", &[&owned]), IoType::Unknown, "no data of a file");
        assert_eq!(classify(&file, "cp", &[&owned]), IoType::UserData);
        let maps = [&now, &before];
        let (meta, plain) = (IoFlags::META, IoFlags::empty());
        for (offset, flags, command, io_type) in [
            (0, meta, "jbd2/vda-8", IoType::Superblock),
            (4096, plain, "cp", IoType::Inode),
            (16_384, meta, "ls", IoType::Directory),
            (20_480, plain, "cp", IoType::UserData),
            (20_480, meta, "jbd2/vda-8", IoType::Journal),
            (20_480, meta, "kworker/u4:1", IoType::Indirect),
            (2 << 20, plain, "rm", IoType::Directory),
            (9 << 20, plain, "rm", IoType::UserData),
            (100 << 20, plain, "mysqld", IoType::Unknown),
            (100 << 20, meta, "jbd2/vda3-8", IoType::Unknown),
            (100 << 20, meta, "kworker/u4:1", IoType::Unknown),
            (200 << 20, plain, "kswapd0", IoType::Swap),
            (0, IoFlags::SWAP, "kswapd0", IoType::Swap),
        ] {
            assert_eq!(classify(&io(offset, flags), command, &maps), io_type, "{offset} {command}");
        }
        let other = Io { device: 1, ..io(0, meta) };
        assert_eq!(classify(&other, "cp", &maps), IoType::Unknown);
        let flush = Io { request: Request::default(), ..io(0, IoFlags::FLUSH) };
        assert_eq!(classify(&flush, "jbd2/vda-8", &maps), IoType::Journal);
        assert_eq!(classify(&flush, "kworker/0:1H", &maps), IoType::UserData, "no journal");
        let log = of(&[range(4 << 20, 5 << 20, IoType::Journal)]);
        for with in [log, BlockMap { journals: vec![0], ..ext }] {
            let with = BlockTypes::new(with);
            assert_eq!(classify(&flush, "kworker/0:1H", &[&with]), IoType::Journal);
        }
        assert_eq!(classify(&Io { device: 1, ..flush }, "sync", &maps), IoType::Unknown);
        let discard = io(16_384, IoFlags::DISCARD);
        assert_eq!(classify(&discard, "fstrim", &maps), IoType::Directory, "what was there");
    }
}
