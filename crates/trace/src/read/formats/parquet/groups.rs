//! What the statistics of row groups show before anything is read: which groups hold a time, and
//! how many devices there are.

use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::statistics::Statistics;

/// Returns the least and greatest value of the column at `place`, if the group records them.
fn range(group: &RowGroupMetaData, place: usize) -> Option<[u64; 2]> {
    let [low, high] = match group.columns().get(place)?.statistics()? {
        Statistics::Int64(values) => [*values.min_opt()?, *values.max_opt()?],
        Statistics::Int32(values) => [i64::from(*values.min_opt()?), i64::from(*values.max_opt()?)],
        _ => return None,
    };
    Some([u64::try_from(low).ok()?, u64::try_from(high).ok()?])
}

/// Returns the first group with rows and its earliest time, if the group records it.
pub(super) fn first(metadata: &ParquetMetaData, place: Option<usize>) -> Option<(usize, u64)> {
    let groups = metadata.row_groups();
    let at = groups.iter().position(|group| group.num_rows() > 0)?;
    range(&groups[at], place?).map(|[begin_ns, _]| (at, begin_ns))
}

/// Returns the groups that may hold rows from `from_ns` until before `to_ns`. If none does, returns
/// the first group, because a file with requests at other times is not empty.
pub(super) fn within(
    metadata: &ParquetMetaData,
    place: Option<usize>,
    from_ns: Option<u64>,
    to_ns: Option<u64>,
) -> Vec<usize> {
    let groups = metadata.row_groups();
    let holds = |group: &RowGroupMetaData| match place.and_then(|place| range(group, place)) {
        Some([first, last]) => {
            from_ns.is_none_or(|from| last >= from) && to_ns.is_none_or(|to| first < to)
        }
        None => true,
    };
    let kept: Vec<usize> = (0..groups.len()).filter(|&at| holds(&groups[at])).collect();
    if kept.is_empty() { (0..groups.len().min(1)).collect() } else { kept }
}

/// Returns how many devices a file without a table of them has; 0 unless all of its groups show it.
pub(super) fn devices(metadata: &ParquetMetaData, place: Option<usize>) -> usize {
    let greatest =
        |group| place.and_then(|place| range(group, place)).map(|[_, greatest]| greatest);
    let known: Option<Vec<u64>> = metadata.row_groups().iter().map(greatest).collect();
    let greatest = known.and_then(|known| known.into_iter().max());
    greatest
        .and_then(|greatest| u16::try_from(greatest).ok())
        .map_or(0, |most| usize::from(most) + 1)
}
