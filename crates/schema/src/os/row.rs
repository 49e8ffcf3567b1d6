//! Names of a case's row in a comparison: the case, and how its work was done if not in the usual
//! way.

use super::benchmark::OsBenchmark;
use super::results::{MabProof, OsResults};

/// Maximum number of characters shown of a command, program or setting.
const SHOWN_MOST: usize = 60;

/// Placeholder for a text that has no parts beyond the other one's.
const NOTHING: &str = "nothing further";

/// Separator between the usual name of a row and how other work was done.
const OTHER: &str = ", ";

/// Name in a proof for the small program in which processes end; its size follows.
const SMALL_PROGRAM: &str = "a program of ";

/// Shortens a long command, program or setting to its beginning.
fn shortened(text: &str) -> String {
    let short: String = text.chars().take(SHOWN_MOST).collect();
    if short.len() < text.len() { format!("{short}...") } else { short }
}

/// Shortens two different texts for display side by side.
///
/// Of a long text only the parts missing in the other are shown; if these begin alike, they are
/// shown from where they differ.
pub fn shortened_apart(one: &str, other: &str) -> [String; 2] {
    if [one, other].iter().all(|text| text.chars().count() <= SHOWN_MOST) {
        return [one, other].map(str::to_owned);
    }
    let parts = [further(one, other), further(other, one)];
    let [one, other] = if parts[0] == parts[1] { [one, other].map(str::to_owned) } else { parts };
    let alike = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    if alike < SHOWN_MOST {
        return [one, other].map(|text| shortened(&text));
    }
    let rest = |text: String| text.chars().skip(alike - SHOWN_MOST / 4).collect::<String>();
    [one, other].map(|text| format!("...{}", shortened(&rest(text))))
}

/// Splits a state into the parts listed by the kernel.
fn parts(text: &str) -> Vec<&str> {
    text.split([';', ',']).map(str::trim).collect()
}

/// Returns the parts of a text that another one lacks.
fn further(text: &str, other: &str) -> String {
    let known = parts(other);
    let own: Vec<&str> = parts(text).into_iter().filter(|part| !known.contains(part)).collect();
    if own.is_empty() { NOTHING.to_owned() } else { own.join("; ") }
}

/// Shortens a command or program for the name of a row, keeping it distinct from others with the
/// same beginning: a long one is followed by a hash of its whole text (FNV-1a; Fowler, Noll and Vo,
/// 1991).
fn identified(text: &str) -> String {
    let short = shortened(text);
    if short == text {
        return short;
    }
    let mixed = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    format!("{short} ({:08x})", text.bytes().fold(0x811c_9dc5, mixed))
}

impl MabProof {
    /// Returns a proof's name for the small program of `bytes` bytes in which processes end.
    pub fn small_program(bytes: usize) -> String {
        format!("{SMALL_PROGRAM}{bytes} bytes")
    }

    /// Describes how the work was done, unless it was compiled by the built-in compiler and its
    /// processes ended in the small program, which differs by architecture.
    pub fn other_work(&self) -> Option<String> {
        let compiler =
            (!self.is_built_in()).then(|| format!("compiled by {}", identified(&self.compiler)));
        let end = match self.processes_end_in.as_str() {
            "" => Some("each step a start of ioscape".to_owned()),
            program if program.starts_with(SMALL_PROGRAM) => None,
            program => Some(format!("each process ending in {}", identified(program))),
        };
        let both: Vec<String> = [compiler, end].into_iter().flatten().collect();
        (!both.is_empty()).then(|| both.join(", "))
    }
}

impl OsBenchmark {
    /// Returns the name of the case's row for the usual work.
    pub fn usual_row(&self) -> String {
        let place = self.place.map(|place| format!(" ({})", place.word())).unwrap_or_default();
        format!("{}, {}{place}", self.name, self.case)
    }

    /// Returns whether a row name belongs to this case, with its usual work or other work.
    pub fn has_row(&self, row: &str) -> bool {
        let may_be_other = self.name == MabProof::NAME;
        let rest = row.strip_prefix(self.usual_row().as_str());
        rest.is_some_and(|rest| rest.is_empty() || may_be_other && rest.starts_with(OTHER))
    }
}

impl OsResults {
    /// Returns the proof of a case's work, if that work can vary.
    pub fn proof_of(&self, one: &OsBenchmark) -> Option<&MabProof> {
        self.mab.as_ref().filter(|_| one.name == MabProof::NAME)
    }

    /// Returns the name of a case's row, which matches rows of two results: other work has another
    /// name.
    pub fn row(&self, one: &OsBenchmark) -> String {
        let usual = one.usual_row();
        match self.proof_of(one).and_then(MabProof::other_work) {
            Some(work) => format!("{usual}{OTHER}{work}"),
            None => usual,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::Locality;

    fn case(name: &str, case: &str, place: Option<Locality>) -> OsBenchmark {
        let (name, case) = (name.to_owned(), case.to_owned());
        OsBenchmark { name, case, place, ..OsBenchmark::default() }
    }

    #[test]
    fn a_case_finds_its_row_whatever_its_work_was() {
        let total = case(MabProof::NAME, "total", Some(Locality::Local));
        let cold = case(MabProof::NAME, "total, cold", Some(Locality::Local));
        let getpid = case("getpid", "system call", None);
        let row = |one: &OsBenchmark, compiler: &str, processes_end_in: &str| {
            let (compiler, processes_end_in) = (compiler.to_owned(), processes_end_in.to_owned());
            let mab = Some(MabProof { compiler, processes_end_in, ..MabProof::default() });
            let results = OsResults { mab, ..OsResults::default() };
            let row = results.row(one);
            assert!(one.has_row(&row), "{row}");
            row
        };
        let small = MabProof::small_program(129);
        assert_eq!(row(&total, MabProof::BUILT_IN, &small), "mab, total (local)");
        let both = row(&total, "gcc", "");
        assert_eq!(both, "mab, total (local), compiled by gcc, each step a start of ioscape");
        let ending = row(&cold, MabProof::BUILT_IN, "ioscape");
        assert_eq!(ending, "mab, total, cold (local), each process ending in ioscape");
        assert!(!total.has_row(&ending) && !cold.has_row(&both));
        assert_eq!(row(&getpid, "gcc", ""), "getpid, system call", "it compiles nothing");
        assert!(!getpid.has_row("getpid, system call, compiled by gcc"));
    }

    #[test]
    fn a_long_command_is_shown_by_its_beginning() {
        let compiler = "gcc ".repeat(20);
        let proof = MabProof { compiler, ..MabProof::default() };
        let told = proof.other_work().unwrap();
        assert!(told.contains("gcc ... (") && told.len() < 120, "{told}");
        assert_eq!(shortened("gcc"), "gcc");
    }

    #[test]
    fn long_commands_that_begin_alike_are_other_work() {
        let told = |level: &str| {
            let compiler = format!("{}bin/gcc {level}", "/opt/toolchains/".repeat(5));
            MabProof { compiler, ..MabProof::default() }.other_work().unwrap()
        };
        assert_eq!(told("-O2"), told("-O2"));
        assert_ne!(told("-O0"), told("-O2"));
    }

    #[test]
    fn long_texts_are_shown_by_what_they_do_not_share() {
        let spectre = "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; STIBP: disabled; \
                       RSB filling; PBRSB-eIBRS: SW sequence; BHI: ";
        let of = |state: &str| format!("{spectre}{state}");
        let (on, off) = (of("SW loop, KVM: SW loop"), of("Vulnerable"));
        let told = shortened_apart(&on, &off);
        assert_eq!(told, ["BHI: SW loop; KVM: SW loop", "BHI: Vulnerable"]);
        let l1tf = "Mitigation: PTE Inversion; VMX: conditional cache flushes, SMT ";
        let told = ["vulnerable", "disabled"].map(|smt| format!("{l1tf}{smt}"));
        assert_eq!(shortened_apart(&told[0], &told[1]), ["SMT vulnerable", "SMT disabled"]);
        let flags = "-C link-arg=-Wl -C target-cpu=".repeat(3);
        let told = shortened_apart(&format!("{flags}native"), &format!("{flags}znver4"));
        assert!(told[0].starts_with("...") && told[0].ends_with("native"), "{told:?}");
        assert!(told[1].ends_with("znver4"), "{told:?}");
        assert_eq!(shortened_apart("a; b", "a"), ["a; b", "a"], "short ones as they are");
        let [more, none] = shortened_apart(&on, spectre.trim_end_matches("; BHI: "));
        assert_eq!((&*more, &*none), ("BHI: SW loop; KVM: SW loop", NOTHING));
    }
}
