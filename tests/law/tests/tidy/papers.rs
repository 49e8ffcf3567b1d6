//! What the page on the papers says of the operating-system benchmarks is what their own page says.

use super::sources;

/// The rows held figures that no other page had, and ratios that os.md contradicted.
#[test]
fn every_ratio_that_papers_md_states_of_these_tables_is_that_of_os_md() {
    let papers = sources::text(&sources::root().join("docs/papers.md"));
    let os = sources::text(&sources::root().join("docs/os.md"));
    // To `perf bench`, or the only one, and to lmbench.
    let ratios = |case: &str| -> [&str; 2] {
        let begin = format!("| {case} |");
        let row = os.lines().find(|line| line.starts_with(&begin)).expect(case);
        let mut cells = row.split('|').skip(2).map(|cell| cell.trim().split(' ').next().unwrap());
        [cells.next().unwrap(), cells.next().unwrap()]
    };
    let [c, _] = ratios("`gcc -O2 -fno-inline`, as the rules of Dhrystone ask");
    let [getppid, both] = ratios("`getpid`: getppid");
    let [switch, switch_lm] = ratios("`cswitch` on one processor");
    let [near, near_lm] = ratios("`bcopy` in the L1 cache");
    let [far, far_lm] = ratios("`bcopy` in the L2 cache");
    let [_, foo] = ratios("`open-close`: `foo`");
    assert_eq!(getppid, both, "papers.md states them as one");
    let slower = "copy is 21 % slower than lmbench's";
    assert!(os.contains(slower));
    let bcopy = format!(
        "in the L1 cache {near} of `perf bench`, whose {slower}, and {near_lm} of lmbench; \
         in the L2 cache {far} and {far_lm}"
    );
    let said = [
        ("Table 1", format!("{c} of Dhrystone in C, built as its rules ask")),
        ("Table 2", format!("`getppid`: {getppid} of `perf bench` and of lmbench")),
        ("Table 3", format!("on one processor {switch} of `perf bench`, {switch_lm} of lmbench")),
        ("Table 5", bcopy),
        ("Table 9", format!("`foo`: {foo} of lmbench")),
    ];
    let here = papers.split("\n## ").find(|part| part.starts_with("Ousterhout 1990")).unwrap();
    for (table, said) in &said {
        let (begin, end) = (format!("| {table} |"), format!(" | {said} |"));
        let row = here.lines().find(|line| line.starts_with(&begin)).expect(table);
        assert!(row.ends_with(&end), "{row} does not say {said}");
    }
    let told = here.lines().filter(|line| line.starts_with("| ") && !line.ends_with(" | - |"));
    assert_eq!(told.count(), 1 + said.len(), "the head, and the rows above");
}
