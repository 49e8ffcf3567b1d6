//! The operating-system micro-benchmarks on another host's file system, beside the local one.

use super::{Checks, network};
use crate::check::{between, equal};
use crate::lab::Lab;
use ioscape_schema::{Locality, OsResults};

/// The cable's round trip, in nanoseconds: 0.25 ms each way.
const ROUND_TRIP_NS: f64 = 500_000.0;

/// The time of a case at a place.
fn value(results: &OsResults, name: &str, case: &str, place: Locality) -> Option<f64> {
    results.find(name, case, Some(place))?.value
}

/// sshfs with no caches but the kernel's, and the laboratory's own directory.
pub fn remote(lab: &Lab) -> Checks {
    let _up = network::sshfs(lab, "kernel_cache,dcache_timeout=0")?;
    let only = "dhrystone,read,open-close,create-delete,mab";
    let document =
        lab.command(&format!("os --quick --only {only} --dir w --dir mnt/ssh --json"))?;
    let results = document.os().ok_or("the result holds no micro-benchmarks")?;
    let far = |name, case| value(results, name, case, Locality::Remote);
    let ratio = |name, case| Some(far(name, case)? / value(results, name, case, Locality::Local)?);
    let measured = |name: &str| {
        let cases = results
            .benchmarks
            .iter()
            .filter(|one| one.name == name && one.place == Some(Locality::Remote));
        cases
            .filter(|one| one.value.is_none())
            .map(|one| one.case.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let trips = |name, case| Some(far(name, case)? / ROUND_TRIP_NS);
    Ok(vec![
        equal("remote cases of open-close without a value", "", &measured("open-close")),
        equal("remote cases of create-delete without a value", "", &measured("create-delete")),
        equal("remote cases of mab, warm and cold, without a value", "", &measured("mab")),
        between("open-close, round trips", 1.0, 6.0, trips("open-close", "foo")),
        between(
            "create-delete of no data, round trips",
            4.0,
            20.0,
            trips("create-delete", "no data"),
        ),
        // Groups of pages are small there, which costs a small factor; the cable costs 100.
        between(
            "read from the file cache, remote over local",
            0.1,
            1.5,
            ratio("read", "file cache"),
        ),
        between(
            "remote copying of files, cold over warm",
            1.1,
            10.0,
            far("mab", "copy files, cold").zip(far("mab", "copy files")).map(|(c, w)| c / w),
        ),
        between(
            "remote penalty of the Modified Andrew Benchmark",
            0.5,
            100.0,
            results.remote_penalty,
        ),
    ])
}
