//! Continuing earlier work: only on the same machine and target, and with the same options.

use crate::mount_options::without_names;
use ioscape_schema::{Environment, Warning, WarningKind};
use std::collections::BTreeMap;
use std::path::Path;

/// The option by which several clients measure together.
pub const CLIENTS: &str = "--clients";

/// The place that a warning gives if it compares figures from before and after a continuation.
pub const BEFORE: &str = "before --resume";

/// Options that apply only if given, so that they must be given again.
const GIVEN_AGAIN: [&str; 5] = [CLIENTS, "--fs", "--fs-size", "--mkfs", "--mount"];

/// The name of a place's mount options in an identity; it follows the label of the place.
const MOUNT_OPTIONS: &str = "'s mount options";

/// Why what an old version began is not continued: the figures of two machines, or of files of two
/// sizes, would be one result.
const UNKNOWN: &str =
    "the version that began it recorded neither its machine nor its options: begin anew";

/// Options by name, with their values as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenOptions {
    /// All options that have a value, typed or by default.
    pub all: BTreeMap<String, String>,
    /// The options that were typed.
    pub typed: BTreeMap<String, String>,
}

impl GivenOptions {
    /// Returns the same options without `names`, which may change when the work is continued.
    #[must_use]
    pub fn without(&self, names: &[&str]) -> Self {
        let rest = |options: &BTreeMap<String, String>| {
            let kept = options.iter().filter(|(name, _)| !names.contains(&name.as_str()));
            kept.map(|(name, value)| (name.clone(), value.clone())).collect()
        };
        Self { all: rest(&self.all), typed: rest(&self.typed) }
    }
}

/// The earlier work was begun elsewhere or with other options, or does not say where and how.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("--resume {file} cannot be continued here: {}", .differences.join("; "))]
pub struct OtherWork {
    /// The file of the earlier work.
    pub file: String,
    /// How it differs, by name.
    pub differences: Vec<String>,
}

/// Returns the identity of the work that a result belongs to, so that it can be continued: that of
/// the `earlier` result, or else `here` (machine, target and whatever else must be the same) with
/// all options.
///
/// # Errors
/// `here` or the typed options differ from the earlier result, or an option that must be given
/// again is missing. Results of old versions do not hold an identity, so it cannot be told.
pub fn identity(
    earlier: Option<(&Path, &Environment)>,
    here: BTreeMap<String, String>,
    options: &GivenOptions,
) -> Result<BTreeMap<String, String>, OtherWork> {
    let Some((file, earlier)) = earlier else {
        return Ok(here.into_iter().chain(options.all.clone()).collect());
    };
    let asked: BTreeMap<String, String> = here.into_iter().chain(options.typed.clone()).collect();
    let was = Environment { identity: nameless(&earlier.identity), ..Environment::default() };
    let mut differences = was.identity_differences(&nameless(&asked));
    differences.extend(GIVEN_AGAIN.iter().filter_map(|name| not_again(name, earlier, options)));
    if earlier.identity.is_empty() {
        differences = vec![UNKNOWN.to_owned()];
    }
    if !differences.is_empty() {
        return Err(OtherWork { file: file.display().to_string(), differences });
    }
    Ok(earlier.identity.clone())
}

/// Removes from an identity what the next mount may change: another address, port or account does
/// not make it another place.
fn nameless(identity: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let told = |(name, value): (&String, &String)| {
        let is_of_mount = name.ends_with(MOUNT_OPTIONS);
        let value = if is_of_mount { without_names(value) } else { value.clone() };
        (name.clone(), value)
    };
    identity.iter().map(told).collect()
}

/// How the option `name`, which was not typed, differs from its earlier value.
fn not_again(name: &str, earlier: &Environment, options: &GivenOptions) -> Option<String> {
    let was = earlier.identity.get(name).filter(|_| !options.typed.contains_key(name))?;
    match options.all.get(name) {
        None => Some(format!("{name} was {was} and is not given")),
        Some(now) => (now != was).then(|| format!("{name} was {was} and is {now}")),
    }
}

/// The warning about work that was begun on a system as it `was` and continues as it is `now`, if
/// its kernel, its mitigations or the way to the device have changed, as far as both say. An upgrade does not make
/// it another machine, but changes the figures.
pub fn changed_since(was: &Environment, now: &Environment) -> Option<Warning> {
    let [given, given_now] = [was, now].map(mitigations);
    let both = [
        ("kernel", was.kernel.clone().zip(now.kernel.clone())),
        ("mitigations", given.zip(given_now)),
    ];
    let both = both.into_iter().filter_map(|(what, both)| Some((what, <[String; 2]>::from(both?))));
    let differs = |(what, [was, now]): (&str, [String; 2])| {
        (was != now).then(|| format!("{what} {was}, and {now} since then"))
    };
    let changed: Vec<String> = both.chain(was.ways_apart(now)).filter_map(differs).collect();
    (!changed.is_empty()).then(|| {
        let changed = changed.join("; ");
        let message = format!(
            "{changed}: figures and ratios may be of both; to have those of one, begin anew without --resume"
        );
        Warning::new(WarningKind::DifferentKinds, message).at(BEFORE)
    })
}

/// The mitigations that a kernel was told to apply, in words. A document that names its kernel also
/// knows its command line, which usually does not mention any.
fn mitigations(one: &Environment) -> Option<String> {
    let own = || "the kernel's own".to_owned();
    one.kernel.as_ref().map(|_| one.mitigations.clone().unwrap_or_else(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against a defect: rounds under two kernels formed one table under the name of the
    /// later kernel.
    #[test]
    fn work_that_goes_on_under_another_kernel_is_doubted() {
        let under = |kernel: &str| Environment {
            kernel: Some(kernel.to_owned()),
            scheduler: Some("none".to_owned()),
            ..Environment::default()
        };
        let told = |was: &Environment, now: &Environment| {
            changed_since(was, now).map(|doubt| doubt.to_string())
        };
        let (old, new) = (under("Linux 6.8"), under("Linux 6.12"));
        let said = told(&old, &new).unwrap_or_default();
        assert!(
            said.starts_with("before --resume: kernel Linux 6.8, and Linux 6.12 since then:"),
            "{said}"
        );
        assert_eq!(told(&old, &old), None);
        assert_eq!(told(&old, &Environment::default()), None, "not known");
        let volume = Environment { device: Some("dm-0".to_owned()), ..old };
        let (scheduler, cached_below) = (Some("bfq".to_owned()), Some("none".to_owned()));
        let later = Environment { scheduler, cached_below, ..volume.clone() };
        assert_eq!(told(&volume, &later), None, "once its own, then its drive's");
        let both = [volume, later.clone()]
            .map(|one| Environment { cached_below: later.cached_below.clone(), ..one });
        assert!(told(&both[0], &both[1]).is_some_and(|said| said.contains("scheduler none")));
    }

    /// Guards against silence: one result held figures with and without a limit of 500 requests.
    #[test]
    fn work_that_goes_on_under_another_limit_of_io_is_doubted() {
        let under = |limit: &str| Environment {
            io_limit: Some(limit.to_owned()),
            ..Environment::default()
        };
        let doubt = changed_since(&under("none"), &under("sda: up to 500 reads a second"));
        let limit = "I/O limit of a control group none, and sda: up to 500 reads a second since";
        assert!(doubt.is_some_and(|doubt| doubt.message.starts_with(limit)));
    }

    /// Guards against a defect: the usual command line, which does not mention mitigations, counted
    /// as unknown.
    #[test]
    fn work_that_goes_on_with_other_mitigations_than_the_usual_ones_is_doubted() {
        let usual = Environment { kernel: Some("Linux 6.8".to_owned()), ..Environment::default() };
        let mitigations = Some("mitigations=off".to_owned());
        let off = Environment { mitigations, ..usual.clone() };
        let told = |was: &Environment, now: &Environment| {
            changed_since(was, now).map(|doubt| doubt.message).unwrap_or_default()
        };
        let (gone, back) = (told(&usual, &off), told(&off, &usual));
        let begins = "mitigations the kernel's own, and mitigations=off since then:";
        assert!(gone.starts_with(begins), "{gone}");
        let begins = "mitigations mitigations=off, and the kernel's own since then:";
        assert!(back.starts_with(begins), "{back}");
    }

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn work_is_continued_where_it_was_begun_with_the_options_it_was_begun_with() {
        let given = |typed| GivenOptions { all: map(&[("--seed", "1")]), typed: map(typed) };
        let begun = identity(None, map(&[("target", "/a")]), &given(&[])).unwrap();
        assert_eq!(begun, map(&[("--seed", "1"), ("target", "/a")]));
        let was = Environment { identity: begun.clone(), ..Environment::default() };
        let file = Path::new("a.json");
        let go_on = |here, typed| identity(Some((file, &was)), map(here), &given(typed));
        assert_eq!(go_on(&[("target", "/a")], &[("--seed", "1")]), Ok(begun));
        let other = go_on(&[("target", "/b")], &[("--seed", "2")]).unwrap_err();
        assert_eq!(other.differences.len(), 2, "{other}");
        let old = Environment::default();
        let untold = identity(Some((file, &old)), map(&[("target", "/b")]), &given(&[]));
        assert!(untold.unwrap_err().to_string().ends_with(UNKNOWN));
    }

    /// Guards against a defect: after a reboot the DHCP server had assigned another address, and a
    /// night's work was refused.
    #[test]
    fn another_address_of_the_same_mount_is_no_other_place() {
        let on = |options: &str| map(&[("target's mount options", options)]);
        let identity_of = |options| Environment { identity: on(options), ..Environment::default() };
        let was = identity_of("rw,hard,clientaddr=192.168.1.17");
        let go_on = |options| {
            identity(Some((Path::new("a.json"), &was)), on(options), &GivenOptions::default())
        };
        assert_eq!(go_on("rw,hard,clientaddr=192.168.1.23"), Ok(was.identity.clone()));
        let other = go_on("rw,soft,clientaddr=192.168.1.17").unwrap_err();
        assert_eq!(other.differences, ["target's mount options was rw,hard and is rw,soft"]);
    }

    /// Guards against two defects: one client continued the sums of four, and the user's own file
    /// system continued rounds on loop devices.
    #[test]
    fn clients_and_file_systems_to_be_made_must_be_given_again() {
        let begun = [("--clients", "4"), ("--fs", "ext4"), ("--fs-size", "4G"), ("--seed", "1")];
        let was = Environment { identity: map(&begun), ..Environment::default() };
        let usual = ("--fs-size", "8G");
        let go_on = |typed: &[(&str, &str)]| {
            let all = map(&[&[usual][..], typed].concat());
            let options = GivenOptions { all, typed: map(typed) };
            identity(Some((Path::new("a.json"), &was)), map(&[]), &options)
        };
        let differences = go_on(&[]).unwrap_err().differences;
        assert_eq!(
            differences,
            [
                "--clients was 4 and is not given",
                "--fs was ext4 and is not given",
                "--fs-size was 4G and is 8G"
            ]
        );
        let given = [("--clients", "4"), ("--fs", "ext4"), ("--fs-size", "4G")];
        assert_eq!(go_on(&given), Ok(map(&begun)));
        let other = [("--clients", "4"), ("--fs", "xfs"), ("--fs-size", "4G")];
        assert_eq!(go_on(&other).unwrap_err().differences, ["--fs was ext4 and is xfs"]);
        // The default size, of a campaign that makes no file systems.
        let alone = Environment { identity: map(&[usual]), ..Environment::default() };
        let options = GivenOptions { all: map(&[usual]), typed: map(&[]) };
        assert!(identity(Some((Path::new("a.json"), &alone)), map(&[]), &options).is_ok());
    }

    #[test]
    fn options_that_may_change_are_left_out() {
        let options = GivenOptions { all: map(&[("--seed", "1")]), typed: map(&[]) };
        assert!(options.without(&["--seed"]).all.is_empty());
    }
}
