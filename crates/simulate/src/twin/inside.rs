//! The report on a drive's internals: its shape and numbers, as far as the search determined them,
//! and why the search ended.

use super::fit::{BATCHES, CHANNELS, DIES, Ended, Fitted, Looked};
use ioscape_schema::units::counted;

/// The whole report, in sentences.
pub fn says(fitted: &Fitted) -> Vec<String> {
    [shape(fitted), numbers(fitted), Some(ended(fitted))].into_iter().flatten().collect()
}

/// A shape in words.
fn words([channels, dies, pages]: [u32; 3]) -> String {
    let [channels, dies, pages] = [(channels, "channel"), (dies, "die"), (pages, "page")]
        .map(|(n, what)| counted(n.into(), what));
    format!("{channels} with {dies} that each program {pages} at once")
}

/// Several shapes in the short form that [`SHORT`] explains.
fn short(shapes: &[[u32; 3]]) -> String {
    let one = |[channels, dies, pages]: &[u32; 3]| format!("{channels}x{dies}x{pages}");
    shapes.iter().map(one).collect::<Vec<_>>().join(", ")
}

const SHORT: &str = "channels x dies of each x pages";

/// Which other shapes the drive may have. `None` if all measurements are exact and only this drive
/// explains them.
fn shape(fitted: &Fitted) -> Option<String> {
    let found = words(fitted.shape());
    let untold = format!("cannot be told: whether the drive has {found}");
    match &fitted.looked {
        Looked::Everywhere if fitted.ended == Ended::Explained => None,
        Looked::Everywhere => {
            Some(format!("{untold}; no drive that was tried explains what was measured"))
        }
        Looked::Alike { as_good } => Some(format!(
            "{untold}, which explains what was measured, but not exactly{}",
            as_well(as_good)
        )),
        Looked::Near { as_good, farther } => {
            Some(untold + &as_well(as_good) + &searched(1 + as_good.len(), farther))
        }
        Looked::Nowhere => Some(format!(
            "cannot be told: how many channels and dies the drive has, nor its times and rates, since dies alone do not explain what was read; {found} are what came nearest"
        )),
    }
}

/// Lists other shapes that explain the measurements as well, if any.
fn as_well(as_good: &[[u32; 3]]) -> String {
    match as_good {
        [] => String::new(),
        some => {
            format!("; the measurements are explained as well by {} ({SHORT})", short(some))
        }
    }
}

/// Says how wide the search was, since an untried shape may be the drive's.
fn searched(near: usize, farther: &[[u32; 3]]) -> String {
    let all = CHANNELS.len() * DIES.len() * BATCHES.len();
    let fitted = near + farther.len();
    let less = match farther {
        [] => String::new(),
        some => format!(", of which {} came less near, which rules none of them out", short(some)),
    };
    let most = [&CHANNELS[..], &DIES, &BATCHES].map(|some| some.last().copied().unwrap_or(1));
    format!(
        "; the search was narrow: of {all} shapes (up to {}, {SHORT}) {fitted} were fitted to all that was measured{less}, and each of the others may explain it, too; the times and rates are those of the one shape",
        short(&[most])
    )
}

/// Lists the numbers that the measurements do not determine.
fn numbers(fitted: &Fitted) -> Option<String> {
    (!fitted.untold.is_empty()).then(|| {
        format!(
            "cannot be told from these workloads: {}; other values would explain them as well",
            fitted.untold.join(", ")
        )
    })
}

/// Why the search for the drive ended. Time does not bound the search, so the same measurements
/// give the same drive.
fn ended(fitted: &Fitted) -> String {
    let why = match (fitted.ended, &fitted.looked) {
        (Ended::Explained, Looked::Everywhere) => {
            "this drive explains what was measured, as far as that is known"
        }
        (Ended::Explained, _) => {
            "this drive explains what was measured, as far as that is known, and others may do so as well"
        }
        (Ended::Tried, _) => "of the drives that were tried this one is the nearest",
    };
    format!("the search ended after {} simulated workloads: {why}", fitted.simulated)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(ended: Ended, looked: Looked) -> Fitted {
        let drive = crate::ssd::find("generic-ssd").expect("it is shipped");
        Fitted { ended, looked, simulated: 12, ..Fitted::new(drive, vec![0.1]) }
    }

    #[test]
    fn why_the_search_ended_is_said() {
        let said = says(&fitted(Ended::Tried, Looked::Nowhere));
        assert!(said[0].contains("how many channels and dies"), "{said:?}");
        assert!(said[1].contains("12 simulated") && said[1].ends_with("is the nearest"));
        let said = says(&fitted(Ended::Explained, Looked::Everywhere));
        assert!(said.len() == 1 && said[0].ends_with("as far as that is known"), "{said:?}");
    }

    #[test]
    fn a_shape_is_only_told_where_all_others_were_tried() {
        let said = says(&fitted(Ended::Tried, Looked::Everywhere));
        assert!(
            said[0].starts_with("cannot be told: whether the drive has 8 channels"),
            "{said:?}"
        );
        let alike = |as_good: &[[u32; 3]]| {
            let looked = Looked::Alike { as_good: as_good.to_vec() };
            says(&fitted(Ended::Explained, looked)).join("\n")
        };
        let said = alike(&[[4, 2, 4], [2, 4, 4]]);
        assert!(said.contains("cannot be told: whether the drive has 8 channels"), "{said}");
        assert!(said.contains("as well by 4x2x4, 2x4x4 (channels x"), "{said}");
        assert!(said.ends_with("others may do so as well"), "{said}");
        let said = alike(&[]);
        assert!(said.contains("but not exactly") && !said.contains("as well by"), "{said}");
        let near = |as_good: &[[u32; 3]], farther: &[[u32; 3]]| {
            let [as_good, farther] = [as_good, farther].map(<[[u32; 3]]>::to_vec);
            says(&fitted(Ended::Explained, Looked::Near { as_good, farther })).join("\n")
        };
        let said = near(&[], &[]);
        assert!(said.contains("cannot be told: whether the drive has"), "{said}");
        assert!(said.contains("the search was narrow: of 100 shapes (up to 16x8x16"), "{said}");
        assert!(said.contains(" 1 were fitted") && said.ends_with("others may do so as well"));
        let said = near(&[[4, 2, 4]], &[[1, 1, 1], [2, 1, 1]]);
        assert!(said.contains("as well by 4x2x4 (channels x"), "{said}");
        assert!(
            said.contains(" 4 were fitted")
                && said.contains("1x1x1, 2x1x1 came less near, which rules none")
        );
    }
}
