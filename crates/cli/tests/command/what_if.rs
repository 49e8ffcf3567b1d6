//! `predict --what-if` and `validate --what-if`: systems that do not exist, and whether predictions
//! hold for those that do.

use super::common::refused;
use super::models::{Folder, document, small_evaluation, stdout, tiny, twice_as_fast};
use ioscape_schema::{
    Access, Document, Evaluation, Prediction, Probe, Purpose, ValidationPoint, Warning,
};

#[test]
fn what_if_predicts_a_system_that_does_not_exist_or_says_what_would_tell() {
    let folder = Folder::new();
    let (mut plain, mut evaluation) = small_evaluation();
    evaluation.settings.as_mut().expect("settings").memory_limit_bytes = Some(64 << 20);
    plain.outcome = Some(evaluation.into());
    let a = folder.put("a.json", &plain);
    let asked = ["--unique-bytes", "80M", "--read-frac", "1", "--json"];
    let with = |exchange: &str| {
        let found =
            document(&stdout(&[&["predict", &a, "--what-if", exchange], &asked[..]].concat()));
        found.predictions().expect("predictions")[0].clone()
    };
    let own = document(&stdout(&[&["predict", &a], &asked[..]].concat()));
    let own = own.predictions().expect("predictions")[0].clone();
    let larger = with("memory=256M");
    assert!(larger.throughput_bytes_per_s > 1.5 * own.throughput_bytes_per_s, "{larger:?} {own:?}");
    assert_eq!(larger.system, "/srv/data with memory 256M");
    assert!(!larger.extrapolated, "80 MiB were measured");
    let vast = ["predict", &a, "--what-if", "memory=64G", "--unique-bytes", "4G", "--json"];
    let vast = document(&stdout(&vast));
    assert!(vast.predictions().expect("predictions")[0].extrapolated);
    let warned = vast.warnings.iter().any(|w| {
        let span = "4 GiB lies outside what was measured (1 MiB to 256 MiB)";
        w.message.contains(span)
    });
    assert!(warned, "{:?}", vast.warnings);
    // What the system already has is no exchange.
    for same in ["memory=64M", &format!("storage={a}"), &format!("memory=64M,storage={a}")] {
        let same = with(same);
        assert_ne!(same.system, own.system);
        assert_eq!(Prediction { system: own.system.clone(), ..same }, own);
    }
    assert_ne!(larger.region, own.region, "it is served as smaller sets were");
    let beyond = ["predict", &a, "--what-if", "memory=8M", "--unique-bytes", "80M"];
    refused(&beyond, &["a set of 640 MiB", "--max-unique-bytes 640M"]);
    refused(&["predict", &a, "--what-if", "cpu=2", "--unique-bytes", "8M"], &["memory=SIZE"]);
    refused(&["predict", &a, "--what-if", "memory=1G", "--direct"], &["access direct"]);
    let exchanged = ["predict", &a, "--unique-bytes", "8M", "--what-if"];
    let twice = [&exchanged[..], &["memory=1G,memory=2G"]].concat();
    refused(&twice, &["the memory is exchanged twice"]);
    let product = [&exchanged[..], &["memory=1G", "--model", "product"]].concat();
    refused(&product, &["the product model has no levels", "leave --model out"]);
}

#[test]
fn a_workload_that_cannot_be_is_refused_whatever_is_exchanged() {
    let folder = Folder::new();
    // As if the target's direct I/O needed it.
    let aligned = twice_as_fast(|workload| workload.align_bytes = Some(4096));
    let a = folder.put("a.json", &aligned);
    let asked = ["predict", &a, "--unique-bytes", "8M", "--size-mean", "1k"];
    for exchange in [&[][..], &["--what-if", "write-policy=write-through"]] {
        refused(&[&asked[..], exchange].concat(), &["cannot be run", "align_bytes (4096)"]);
    }
}

#[test]
fn what_is_missing_is_asked_of_the_system_that_lacks_it() {
    let folder = Folder::new();
    let (mut plain, mut evaluation) = small_evaluation();
    let limited = |bytes: u64, evaluation: &mut ioscape_schema::Evaluation| {
        evaluation.settings.as_mut().expect("settings").memory_limit_bytes = Some(bytes);
        evaluation.clone().into()
    };
    plain.outcome = Some(limited(64 << 20, &mut evaluation));
    let a = folder.put("a.json", &plain);
    plain.outcome = Some(limited(128 << 20, &mut evaluation));
    // From another machine, where it has the same name.
    let lender = folder.put("lender.json", &plain);
    let exchange = format!("memory=8M,storage={lender}");
    let beyond = ["predict", &a, "--what-if", &exchange, "--unique-bytes", "80M"];
    refused(&beyond, &["a set of 640 MiB", "--memory 64M", "--max-unique-bytes 640M"]);
}

/// With direct access everything is storage, and memory changes nothing; what is missing is
/// evaluated in the same way, with the target's alignment.
#[test]
fn a_device_lends_its_storage_and_is_sent_to_an_evaluation_of_its_kind() {
    let folder = Folder::new();
    let direct = twice_as_fast(|workload| {
        (workload.access, workload.align_bytes) = (Access::Direct, Some(512));
    });
    let a = folder.put("a.json", &direct);
    let mut evaluation = direct.evaluation().expect("an evaluation").clone();
    evaluation.target = "/mnt/lender".to_owned();
    let other = Document { outcome: Some(evaluation.into()), interrupted: true, ..direct };
    let storage = format!("storage={}", folder.put("lender.json", &other));
    let asked = ["predict", &a, "--unique-bytes", "8M", "--json", "--what-if"];
    let with = |exchange: &str| document(&stdout(&[&asked[..], &[exchange]].concat()));
    let lent = with(&storage);
    assert_eq!(lent.predictions().expect("predictions").len(), 1);
    let is_doubted = |one: &Warning| one.place == "lender" && one.message.contains("interrupted");
    assert!(lent.warnings.iter().any(is_doubted), "{:?}", lent.warnings);
    let larger = with("memory=64G");
    let is_told = larger.warnings.iter().any(|one| one.message.contains("64 GiB changes nothing"));
    assert!(is_told, "{:?}", larger.warnings);
    let beyond = ["predict", &a, "--unique-bytes", "1G", "--what-if", &storage];
    let again = "`ioscape evaluate /mnt/lender --direct --max-unique-bytes 1G`";
    refused(&beyond, &["a set of 1 GiB is beyond", again]);
    // No evaluation has an alignment other than its own.
    let otherwise = ["predict", &a, "--unique-bytes", "8M", "--align", "4k"];
    let says = ["alignment 4096 bytes", "`ioscape run /srv/data --direct", "--align 4k`"];
    refused(&otherwise, &says);
}

/// Advice is useless if an evaluation in the same control group would end in the same refusal.
#[test]
fn requests_that_a_control_group_has_no_room_for_are_measured_in_a_larger_one() {
    let folder = Folder::new();
    let (mut plain, mut evaluation) = small_evaluation();
    let largest = 128u32 << 10;
    for region in &mut evaluation.regions {
        region.curves.size_mean.retain(|point| point.value <= f64::from(largest));
    }
    let settings = evaluation.settings.as_mut().expect("settings");
    settings.memory_limit_bytes = Some(64 << 20);
    settings.size_mean = [4 << 10, u64::from(largest)];
    plain.outcome = Some(evaluation.into());
    let a = folder.put("a.json", &plain);
    let of_size = |size| {
        ["predict", &a, "--what-if", "memory=1G", "--unique-bytes", "8M", "--size-mean", size]
    };
    refused(&of_size("8M"), &["of 8 MiB is beyond", "no evaluation measures that"]);
    refused(&of_size("1M"), &["of 1 MiB is beyond", "group of 64 MiB", "--memory 512M`"]);
}

/// Once, inside a container, `--memory` was advised with the container's own limit, and then
/// refused there.
#[test]
fn a_memory_limit_that_nobody_asked_for_is_in_no_command() {
    let folder = Folder::new();
    let (mut plain, mut evaluation) = small_evaluation();
    plain.environment.memory_limit_bytes = Some(64 << 20);
    let of = |evaluation: &Evaluation| Document {
        outcome: Some(evaluation.clone().into()),
        ..plain.clone()
    };
    let a = folder.put("a.json", &of(&evaluation));
    let beyond = ["predict", &a, "--what-if", "memory=8M", "--unique-bytes", "80M"];
    let again = "`ioscape evaluate /srv/data --max-unique-bytes 640M`";
    refused(&beyond, &["a set of 640 MiB", again]);
    for region in &mut evaluation.regions {
        region.curves.size_mean.retain(|point| point.value <= f64::from(128u32 << 10));
    }
    evaluation.settings.as_mut().expect("settings").size_mean = [4 << 10, 128 << 10];
    let b = folder.put("b.json", &of(&evaluation));
    let large = ["--unique-bytes", "8M", "--size-mean", "1M"];
    let large = [&["predict", &b, "--what-if", "memory=1G"], &large[..]].concat();
    refused(&large, &["of 1 MiB is beyond", "under the memory limit of 64 MiB"]);
}

/// Older results store the requested limit even if the container had less.
#[test]
fn of_two_limits_of_memory_the_lesser_was_in_force() {
    let folder = Folder::new();
    let (mut plain, mut evaluation) = small_evaluation();
    plain.environment.memory_limit_bytes = Some(64 << 20);
    evaluation.settings.as_mut().expect("settings").memory_limit_bytes = Some(256 << 20);
    plain.outcome = Some(evaluation.into());
    let a = folder.put("a.json", &plain);
    let beyond = ["predict", &a, "--what-if", "memory=8M", "--unique-bytes", "80M"];
    refused(&beyond, &["a set of 640 MiB"]);
}

/// Writes to a set beyond the cache, as if each had waited for storage.
fn synchronous(evaluation: &Evaluation) -> Probe {
    let behind = evaluation.regions.last().expect("a region").curves.read_frac[0].clone();
    let mut measurement = behind.measurement;
    measurement.workload.access = Access::Dsync;
    Probe { purpose: Purpose::SynchronousWrites, measurement }
}

#[test]
fn an_exchange_is_validated_where_it_was_made_or_refused_where_nothing_is_known() {
    let folder = Folder::new();
    let mut tiny = tiny();
    let mut evaluation = tiny.evaluation().expect("an evaluation").clone();
    evaluation.settings.as_mut().expect("settings").memory_limit_bytes = Some(64 << 20);
    // Workers are not limited where the target is validated, because that needs privileges.
    evaluation.probes.push(synchronous(&evaluation));
    tiny.outcome = Some(evaluation.clone().into());
    let limited = folder.put("limited.json", &tiny);
    evaluation.settings.as_mut().expect("settings").memory_limit_bytes = None;
    tiny.outcome = Some(evaluation.clone().into());
    let a = folder.put("a.json", &tiny);
    let target = folder.path("");
    let target = target.as_str();
    let asked = ["--workloads", "3", "--budget", "4s", "--json"];
    let exchange = ["validate", &a, target, "--what-if", "write-policy=write-through"];
    let result = document(&stdout(&[&exchange, &asked[..]].concat()));
    let validation = result.validation().and_then(|run| run.validation.as_ref());
    let validation = validation.expect("it is whole");
    assert_eq!(validation.target, target);
    let models: Vec<&str> = validation.models.keys().map(String::as_str).collect();
    assert_eq!(models, ["as_evaluated", "default", "single_point"]);
    assert_eq!(validation.points.len(), 3);
    let differ = |point: &ValidationPoint| {
        point.prediction.throughput_bytes_per_s < point.models["as_evaluated"]
    };
    assert!(validation.points.iter().all(differ), "writes that go through are slower");
    let system = "a with writes done through";
    assert!(validation.points.iter().all(|point| point.prediction.system == system));
    // A set of 1 MiB in 64 KiB would behave like one of 1 GiB in the 64 MiB that were evaluated.
    let small = ["validate", &limited, target, "--what-if", "memory=64k"];
    refused(&[&small, &asked[..]].concat(), &["beyond what was measured", "--max-unique-bytes"]);
    refused(&[&exchange[..], &["--orthogonal"]].concat(), &["--orthogonal"]);
    evaluation.probes.clear();
    tiny.outcome = Some(evaluation.into());
    let unknown = folder.put("unknown.json", &tiny);
    let exchange = ["predict", &unknown, "--unique-bytes", "2M", "--what-if", exchange[4]];
    refused(
        &exchange,
        &["were not measured", "--dsync", "ioscape evaluate /srv/data --access dsync`"],
    );
}
