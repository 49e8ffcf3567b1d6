//! Page faults: the first touch of new memory, of huge pages and of a cached file.

use super::region::{HUGE, Region, faults, in_huge_pages};
use crate::case::{Case, Op};
use ioscape_schema::Locality;
use ioscape_schema::units::Bytes;
use rustix::mm::Advice;
use rustix::param::page_size;
use std::fs::{self, File};
use std::io;

/// Pages mapped at a time: enough to make the cost of mapping negligible per page.
const PAGES: usize = 1024;

/// The same for huge pages.
const HUGE_PAGES: usize = 4;

/// Bytes of a page on most machines.
const USUAL: usize = 4 << 10;

/// Names an operation on a page, with the page size if it is unusual: zeroing or copying another
/// size is different work.
pub(super) fn named(what: &str, page: usize) -> String {
    if page == USUAL { what.to_owned() } else { format!("{what} of {}", Bytes(page as f64)) }
}

/// The cases that need no files.
pub(crate) fn cases() -> Vec<Case> {
    let small = "The first touch of a new page: a trap into the kernel, zeroing a page, a page-table entry.";
    let huge =
        "The same for a transparent huge page of 2 MB: one trap, and 512 times as much to zero.";
    let page = named("anonymous page", page_size());
    vec![
        Case::new("page-fault", page, small, |_| operation()).sharing(),
        Case::new("page-fault", "anonymous huge page", huge, |_| huge_pages()).sharing(),
    ]
}

/// The cases on pages of a file.
pub(crate) fn file_cases(place: (usize, Locality)) -> Vec<Case> {
    let read = "The first read of a page of a mapped file in the file cache; the kernel may map its neighbours with it.";
    let write = "The first write to such a page in a private mapping: the page is copied, as a program's data is when it starts.";
    let page = named("cached file page", page_size());
    let [first, second] = ["read", "copied"].map(|how| format!("{page}, {how}"));
    vec![
        Case::new("page-fault", first, read, |_| file_pages(false)).at(place),
        Case::new("page-fault", second, write, |_| file_pages(true)).at(place),
    ]
}

/// Calls `touch` with page counts that add up to `count`, each at most `most`.
fn in_pieces(
    count: u64,
    most: usize,
    mut touch: impl FnMut(usize) -> io::Result<()>,
) -> io::Result<()> {
    let mut left = count as usize;
    while left > 0 {
        let pages = left.min(most);
        touch(pages)?;
        left -= pages;
    }
    Ok(())
}

/// Returns an operation that touches new pages.
pub(super) fn operation() -> io::Result<Op> {
    let page = page_size();
    Ok(Box::new(move |count| {
        in_pieces(count, PAGES, |pages| {
            // Exactly one fault per page, which is what the value counts.
            Region::new(pages * page, page, Advice::LinuxNoHugepage)?.touch(
                pages * page,
                page,
                true,
            );
            Ok(())
        })
    }))
}

fn huge_pages() -> io::Result<Op> {
    let touch = |pages: usize| {
        let region = Region::new(pages * HUGE, HUGE, Advice::LinuxHugepage)?;
        region.touch(pages * HUGE, HUGE, true);
        Ok(region)
    };
    let region = touch(HUGE_PAGES)?;
    let before = faults();
    region.touch(HUGE_PAGES * HUGE, page_size(), true);
    in_huge_pages(faults() - before, HUGE_PAGES * HUGE)?;
    Ok(Box::new(move |count| in_pieces(count, HUGE_PAGES, |pages| touch(pages).map(drop))))
}

fn file_pages(write: bool) -> io::Result<Op> {
    let page = page_size();
    fs::write("mapped", vec![1; PAGES * page])?;
    let file = File::open("mapped")?;
    Ok(Box::new(move |count| {
        in_pieces(count, PAGES, |pages| {
            Region::of_file(&file, pages * page)?.touch(pages * page, page, write);
            Ok(())
        })
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_another_size_are_other_work() {
        let names = [4 << 10, 16 << 10, 64 << 10].map(|page| named("anonymous page", page));
        assert_eq!(names[..1], ["anonymous page"]);
        assert_eq!(names[1..], ["anonymous page of 16 KiB", "anonymous page of 64 KiB"]);
    }
}
