//! A search outwards from the arm, which finds the least of many accesses without trying all of
//! them.

/// Two sequences that lead away from one place, taken in turns; each ends when its next item is too
/// far.
#[derive(Debug)]
pub struct Outward<A, B> {
    above: Option<A>,
    below: Option<B>,
    is_below_next: bool,
}

impl<T, A: Iterator<Item = T>, B: Iterator<Item = T>> Outward<A, B> {
    /// Starts with the items above and below the place, each nearest first.
    pub fn new(above: A, below: B) -> Self {
        Self { above: Some(above), below: Some(below), is_below_next: false }
    }

    /// Returns the next item; `None` when both sequences have ended.
    #[inline]
    pub fn step(&mut self, is_too_far: impl Fn(&T) -> bool) -> Option<T> {
        while self.above.is_some() || self.below.is_some() {
            let is_below = self.above.is_none() || (self.is_below_next && self.below.is_some());
            self.is_below_next = !is_below;
            let next = if is_below {
                near(&mut self.below, &is_too_far)
            } else {
                near(&mut self.above, &is_too_far)
            };
            if next.is_some() {
                return next;
            }
        }
        None
    }
}

/// The next item of a sequence, which ends here if there is none or it is too far.
#[inline]
fn near<T>(
    way: &mut Option<impl Iterator<Item = T>>,
    is_too_far: impl Fn(&T) -> bool,
) -> Option<T> {
    let next = way.as_mut()?.next().filter(|next| !is_too_far(next));
    if next.is_none() {
        *way = None;
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_are_taken_in_turns_until_they_are_too_far() {
        let mut outward = Outward::new(10..100, (0..10).rev());
        let mut seen = Vec::new();
        while let Some(place) = outward.step(|&place: &i32| !(7..15).contains(&place)) {
            seen.push(place);
        }
        assert_eq!(seen, [10, 9, 11, 8, 12, 7, 13, 14]);
        assert!(Outward::new(0..0, (0..0).rev()).step(|_| false).is_none());
    }
}
