//! Draws from a finite distribution in constant time: the alias method (Walker 1977, table built
//! after Vose 1991).

/// One equally probable column: if the upper 32 bits of a random fraction are below `threshold` it
/// yields `own`, otherwise `other`.
#[derive(Clone, Copy, Debug)]
struct Column {
    threshold: u32,
    own: u32,
    other: u32,
}

/// A distribution over `u32` values, ready to draw from.
#[derive(Clone, Debug)]
pub(crate) struct AliasTable {
    columns: Box<[Column]>,
}

impl AliasTable {
    /// Builds the table from values and their probabilities, which must sum to 1; resulting
    /// probabilities are within 2^-32.
    ///
    /// Without any outcome the value is always 1, so that drawing needs no check.
    pub(crate) fn new(outcomes: &[(u32, f64)]) -> Self {
        let mut columns: Vec<Column> = outcomes
            .iter()
            .map(|&(own, _)| Column { threshold: u32::MAX, own, other: own })
            .collect();
        if columns.is_empty() {
            columns.push(Column { threshold: u32::MAX, own: 1, other: 1 });
        }
        let mut heights: Vec<f64> =
            outcomes.iter().map(|&(_, p)| p * outcomes.len() as f64).collect();
        let (mut short, mut tall): (Vec<usize>, Vec<usize>) =
            (0..heights.len()).partition(|&index| heights[index] < 1.0);
        while let (Some(low), Some(&high)) = (short.pop(), tall.last()) {
            columns[low].threshold = (heights[low] * 4_294_967_296.0).round() as u32;
            columns[low].other = columns[high].own;
            heights[high] -= 1.0 - heights[low];
            if heights[high] < 1.0 {
                tall.pop();
                short.push(high);
            }
        }
        Self { columns: columns.into() }
    }

    /// Returns the value that 64 random bits select.
    #[inline]
    pub(crate) fn draw(&self, bits: u64) -> u32 {
        let product = u128::from(bits) * self.columns.len() as u128;
        let column = &self.columns[(product >> 64) as usize];
        if ((product as u64) >> 32) < u64::from(column.threshold) {
            column.own
        } else {
            column.other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Returns the share of each value over evenly spaced bits.
    fn shares(table: &AliasTable) -> BTreeMap<u32, f64> {
        let count = 1u64 << 20;
        let mut shares = BTreeMap::new();
        for index in 0..count {
            *shares.entry(table.draw(index << 44)).or_insert(0.0) += 1.0 / count as f64;
        }
        shares
    }

    #[test]
    fn shares_are_the_probabilities() {
        let outcomes = [(3, 0.5), (5, 0.125), (7, 0.0), (9, 0.3), (11, 0.075)];
        let shares = shares(&AliasTable::new(&outcomes));
        for (value, probability) in outcomes {
            let share = shares.get(&value).copied().unwrap_or(0.0);
            assert!((share - probability).abs() < 1e-4, "{value}: {share} for {probability}");
        }
    }

    #[test]
    fn a_single_outcome_is_certain() {
        assert_eq!(shares(&AliasTable::new(&[(42, 1.0)])).into_keys().collect::<Vec<_>>(), [42]);
        assert_eq!(AliasTable::new(&[]).draw(u64::MAX), 1);
    }
}
