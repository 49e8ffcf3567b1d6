//! Refusals of targets that hold too little.

use super::{ReachLimits, UNIQUE_BYTES_MIN};
use ioscape_schema::units::Bytes;

/// Refuses a target at `path` that holds no set worth measuring.
pub fn check_capacity(path: &str, capacity_bytes: u64) -> Result<(), String> {
    let [holds, least] = [capacity_bytes, UNIQUE_BYTES_MIN].map(|bytes| Bytes(bytes as f64));
    match capacity_bytes < UNIQUE_BYTES_MIN {
        false => Ok(()),
        true => Err(format!(
            "{path} has room for {holds}, but the smallest set that is measured has {least}: name a larger target"
        )),
    }
}

impl ReachLimits {
    /// Refuses a target at `path` with too little space, for any set or for the one asked for.
    pub fn check_room(&self, path: &str) -> Result<(), String> {
        check_capacity(path, self.capacity_bytes)?;
        match self.max_unique_bytes.is_some_and(|asked| asked > self.capacity_bytes) {
            false => Ok(()),
            true => Err(format!(
                "--max-unique-bytes is more than {path} has room for: at most {} (half of the free space, a third where the file system copies on write, or less by ulimit -f); give a smaller size",
                Bytes(self.capacity_bytes as f64)
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reach::tests::LIMITS;

    /// Guards against a defect: a plan for sets of 1 MiB was made for a device of 64.5 KiB, and its
    /// run refused with advice that could not be followed.
    #[test]
    fn a_target_that_holds_no_set_is_refused() {
        let of = |capacity_bytes| ReachLimits { capacity_bytes, ..LIMITS }.check_room("/dev/x");
        assert_eq!(of(UNIQUE_BYTES_MIN), Ok(()));
        let told = of(66_048).unwrap_err();
        assert!(told.starts_with("/dev/x has room for 64.5 KiB, but"), "{told}");
    }
}
