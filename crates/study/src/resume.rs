//! Continuing earlier work: only on the same machine and target, and with the same options.

use ioscape_schema::Environment;
use std::collections::BTreeMap;
use std::path::Path;

/// The option by which several clients measure together.
pub const CLIENTS: &str = "--clients";

/// Options that hold only where they are given, so that they must be given again.
const GIVEN_AGAIN: [&str; 5] = [CLIENTS, "--fs", "--fs-size", "--mkfs", "--mount"];

/// Options by name with their values as words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenOptions {
    /// All that have a value, typed or by default.
    pub all: BTreeMap<String, String>,
    /// Those that were typed.
    pub typed: BTreeMap<String, String>,
}

impl GivenOptions {
    /// The same without these, which may change while the work is continued.
    #[must_use]
    pub fn without(&self, names: &[&str]) -> Self {
        let rest = |options: &BTreeMap<String, String>| {
            let kept = options.iter().filter(|(name, _)| !names.contains(&name.as_str()));
            kept.map(|(name, value)| (name.clone(), value.clone())).collect()
        };
        Self { all: rest(&self.all), typed: rest(&self.typed) }
    }
}

/// The earlier work was begun elsewhere or otherwise.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("--resume {file}: this is not what was begun there: {}", .differences.join("; "))]
pub struct OtherWork {
    /// The file of the earlier work.
    pub file: String,
    /// How it differs, by name.
    pub differences: Vec<String>,
}

/// What a result says of the work it belongs to, so that it can be continued: `here` (machine, target and what else must be the
/// same) with all options, or what the `earlier` result says of it.
///
/// # Errors
/// `here` or the typed options differ from what the earlier result says, or what must be given again is not; results of old versions
/// say nothing.
pub fn identity(
    earlier: Option<(&Path, &Environment)>,
    here: BTreeMap<String, String>,
    options: &GivenOptions,
) -> Result<BTreeMap<String, String>, OtherWork> {
    let Some((file, earlier)) = earlier else {
        return Ok(here.into_iter().chain(options.all.clone()).collect());
    };
    let asked = here.into_iter().chain(options.typed.clone()).collect();
    let mut differences = earlier.identity_differences(&asked);
    differences.extend(GIVEN_AGAIN.iter().filter_map(|name| not_again(name, earlier, options)));
    if !earlier.identity.is_empty() && !differences.is_empty() {
        return Err(OtherWork { file: file.display().to_string(), differences });
    }
    Ok(earlier.identity.clone())
}

/// How the option called `name`, which is not typed, is not what it was.
fn not_again(name: &str, earlier: &Environment, options: &GivenOptions) -> Option<String> {
    let was = earlier.identity.get(name).filter(|_| !options.typed.contains_key(name))?;
    match options.all.get(name) {
        None => Some(format!("{name} was {was} and is not given")),
        Some(now) => (now != was).then(|| format!("{name} was {was} and is {now}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(identity(Some((file, &old)), map(&[("target", "/b")]), &given(&[])).is_ok());
    }

    /// One client went on with the sums of four, and the user's own file system with rounds on loop devices.
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
        // The usual size, of a campaign that makes none.
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
