//! Parameters of the simulated disk, given on its command line and changeable while it runs.

use std::fmt::Write;

/// Everything that determines a request's service time, and how the kernel caches the disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Size of the disk in MiB.
    pub size_mib: f64,
    /// Independent arms over which the disk is striped; each serves one request at a time.
    pub arms: f64,
    /// Stripe unit in KiB.
    pub stripe_kib: f64,
    /// Shortest seek in microseconds.
    pub seek_min_us: f64,
    /// Seek across an arm's whole share, in microseconds.
    pub seek_max_us: f64,
    /// Rotational latency of every non-sequential request, in microseconds.
    pub rotation_us: f64,
    /// Transfer rate in MB/s (1e6 bytes per second); 0 for no limit.
    pub bandwidth_mb_s: f64,
    /// Overhead of every request in microseconds.
    pub overhead_us: f64,
    /// Rate limit of all requests in MB/s (1e6 bytes per second), ahead of the arms; 0 for none.
    pub limit_mb_s: f64,
    /// Credit of the limit in MiB, which accumulates under low load; full at the start.
    pub credit_mib: f64,
    /// Size of the device cache in MiB; 0 for none.
    pub cache_mib: f64,
    /// Service time of a hit in the device cache, in microseconds.
    pub hit_us: f64,
    /// 1 if writes that hit the device cache need not reach the medium.
    pub cached_writes: f64,
    /// 1 if the kernel keeps dirty pages of the disk (`FUSE_WRITEBACK_CACHE`).
    pub write_back: f64,
    /// 1 if the kernel caches nothing of the disk (`FOPEN_DIRECT_IO`).
    pub direct_io: f64,
    /// 1 if the kernel keeps cached pages across opens.
    pub keep_cache: f64,
}

impl Default for Parameters {
    /// A disk of 256 MiB that takes no time.
    fn default() -> Self {
        Self {
            size_mib: 256.0,
            arms: 1.0,
            stripe_kib: 64.0,
            seek_min_us: 0.0,
            seek_max_us: 0.0,
            rotation_us: 0.0,
            bandwidth_mb_s: 0.0,
            overhead_us: 0.0,
            limit_mb_s: 0.0,
            credit_mib: 0.0,
            cache_mib: 0.0,
            hit_us: 50.0,
            cached_writes: 0.0,
            write_back: 0.0,
            direct_io: 0.0,
            keep_cache: 0.0,
        }
    }
}

/// The most arms that a disk may have.
const ARMS_MOST: f64 = 64.0;

impl Parameters {
    /// The names, in the order of the fields, with references to the values.
    fn fields(&mut self) -> [(&'static str, &mut f64); 16] {
        [
            ("size_mib", &mut self.size_mib),
            ("arms", &mut self.arms),
            ("stripe_kib", &mut self.stripe_kib),
            ("seek_min_us", &mut self.seek_min_us),
            ("seek_max_us", &mut self.seek_max_us),
            ("rotation_us", &mut self.rotation_us),
            ("bandwidth_mb_s", &mut self.bandwidth_mb_s),
            ("overhead_us", &mut self.overhead_us),
            ("limit_mb_s", &mut self.limit_mb_s),
            ("credit_mib", &mut self.credit_mib),
            ("cache_mib", &mut self.cache_mib),
            ("hit_us", &mut self.hit_us),
            ("cached_writes", &mut self.cached_writes),
            ("write_back", &mut self.write_back),
            ("direct_io", &mut self.direct_io),
            ("keep_cache", &mut self.keep_cache),
        ]
    }

    /// Sets the parameter `name`.
    ///
    /// # Errors
    /// One sentence if there is no such parameter, or the value is out of range.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), String> {
        let value: f64 = text.parse().map_err(|_| format!("{name}: {text:?} is not a number"))?;
        if !value.is_finite() || value < 0.0 {
            return Err(format!("{name}: {text} is not a number from 0 on"));
        }
        let mut changed = *self;
        let field = changed.fields().into_iter().find(|field| field.0 == name);
        let (_, place) = field.ok_or_else(|| format!("there is no parameter {name:?}"))?;
        *place = value;
        if !(1.0..=ARMS_MOST).contains(&changed.arms) || changed.arms.fract() != 0.0 {
            return Err(format!(
                "arms: a whole number from 1 to {ARMS_MOST} is needed, not {text}"
            ));
        }
        if changed.size_mib < 1.0 || changed.stripe_kib < 1.0 {
            return Err(format!("{name}: at least 1 is needed, not {text}"));
        }
        *self = changed;
        Ok(())
    }

    /// Parses `name=value` words.
    ///
    /// # Errors
    /// One sentence that names the first invalid word.
    pub fn parse<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut parameters = Self::default();
        for word in words {
            let (name, value) =
                word.split_once('=').ok_or_else(|| format!("{word:?} is not NAME=VALUE"))?;
            parameters.set(name, value)?;
        }
        Ok(parameters)
    }

    /// `name=value` words that [`Parameters::parse`] reads back.
    pub fn words(&self) -> Vec<String> {
        let mut copy = *self;
        copy.fields().map(|(name, value)| format!("{name}={value}")).to_vec()
    }

    /// Size of the disk in bytes.
    pub fn size_bytes(&self) -> u64 {
        (self.size_mib * 1_048_576.0) as u64
    }
}

/// The names of all parameters, for a usage message.
pub fn names() -> String {
    let mut text = String::new();
    for (name, value) in Parameters::default().fields() {
        let _ = write!(text, " {name}={value}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_back() {
        let parameters =
            Parameters { arms: 4.0, rotation_us: 2.5, write_back: 1.0, ..Parameters::default() };
        let words = parameters.words();
        assert_eq!(Parameters::parse(words.iter().map(String::as_str)).unwrap(), parameters);
    }

    #[test]
    fn wrong_words_are_named_and_change_nothing() {
        let mut parameters = Parameters::default();
        for (name, value, complaint) in [
            ("speed", "1", "no parameter \"speed\""),
            ("rotation_us", "fast", "not a number"),
            ("rotation_us", "-1", "from 0 on"),
            ("arms", "0", "from 1 to 64"),
            ("arms", "1.5", "from 1 to 64"),
            ("size_mib", "0", "at least 1"),
        ] {
            let error = parameters.set(name, value).unwrap_err();
            assert!(error.contains(complaint), "{error}");
        }
        assert_eq!(parameters, Parameters::default());
        assert!(Parameters::parse(["arms"]).unwrap_err().contains("NAME=VALUE"));
    }
}
