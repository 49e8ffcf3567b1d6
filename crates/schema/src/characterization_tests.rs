//! What traits become as workloads, and how they are written.

use super::*;

#[test]
fn traits_make_a_valid_workload_whatever_they_say() {
    assert_eq!(Traits::default().workload().validate(), Ok(()));
    let odd = Traits {
        size_mean: u64::MAX,
        unique_bytes: 3,
        read_frac: 7.0,
        process_num: 1 << 20,
        ..Traits::default()
    };
    assert_eq!(odd.workload().validate(), Ok(()));
}

#[test]
fn the_workload_has_the_alignment_that_was_found_and_none_of_its_own() {
    let align = |size_mean: u64, align_bytes| {
        let size_distribution = SizeDistribution::Fixed;
        // The mean is exact, as if 4 KiB and 8 KiB alternated.
        let (requests, bytes) = (2, 2 * size_mean);
        let one = Traits { size_mean, size_distribution, align_bytes, ..Traits::default() };
        Traits { requests, bytes, ..one }.workload().align_bytes
    };
    assert_eq!(align(5120, Some(1024)), Some(1024));
    assert_eq!(align(6144, None), None);
    // Not a usable alignment: it does not divide the size.
    assert_eq!([Some(0), Some(3), Some(4096)].map(|one| align(5120, one)), [None; 3]);
}

#[test]
fn one_size_is_the_same_with_every_alignment_that_is_no_finer() {
    let of = |size_mean, align, other| {
        let size_distribution = SizeDistribution::Fixed;
        let own = Workload { size_mean, size_distribution, ..Workload::default() };
        Workload { align_bytes: align, ..own }.is_aligned_within(other)
    };
    assert!(of(4096, None, None) && of(65_536, Some(65_536), None));
    assert!(of(5120, Some(1024), Some(512)) && !of(5120, None, None));
    assert!(!of(4096, Some(512), None) && !of(5120, Some(1024), None));
}

#[test]
fn an_older_result_tells_no_alignment() {
    let mut text = serde_json::to_value(Traits::default()).unwrap();
    assert!(text.get("align_bytes").is_none());
    assert_eq!(serde_json::from_value::<Traits>(text.clone()).unwrap().align_bytes, None);
    text["align_bytes"] = 1024.into();
    assert_eq!(serde_json::from_value::<Traits>(text).unwrap().align_bytes, Some(1024));
}

#[test]
fn files_carry_their_traits_beside_their_name() {
    let file = FileTraits { path: "a".into(), ..FileTraits::default() };
    let text = serde_json::to_value(&file).unwrap();
    assert_eq!(text["unique_bytes"], 0);
    assert_eq!(serde_json::from_value::<FileTraits>(text).unwrap(), file);
}
