//! A campaign of many threads under a low limit on open files. The test has a process of its own,
//! since that limit applies to the whole process.

use ioscape_machine::Error;
use ioscape_measure::vxbench::Watch;
use ioscape_measure::vxbench::site::{CampaignSite, CellRun};
use ioscape_schema::{CellPlan, NameJob, NameOperation, VxJob, VxRun};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::path::PathBuf;

#[test]
fn as_many_threads_have_directories_of_their_own_as_the_hard_limit_allows() {
    let place = tempfile::tempdir().unwrap();
    let before = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(40), ..before }).unwrap();
    let names = NameJob {
        operation: NameOperation::Create,
        threads: 64,
        entries: 2,
        shared: false,
        tree_files: 0,
        tree_churn: 0,
    };
    let plan = CellPlan { names: Some(names), ..CellPlan::of_file(VxJob::default(), 0) };
    let run = |_: &VxJob, _: &[PathBuf], _: bool| -> Result<VxRun, Error> { unreachable!() };
    let (layout, watch) = (VxJob::default(), Watch::default());
    let mut site = CampaignSite::open(place.path()).unwrap();
    let cell = CellRun { plan: &plan, layout, watch: &watch, destroy_data: false, run };
    let sample = site.measure(cell).unwrap();
    assert_eq!(sample.operations, Some(128));
}
