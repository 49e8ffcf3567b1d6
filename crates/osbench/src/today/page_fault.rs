//! Page faults: the first touch of new memory.
#![expect(unsafe_code, reason = "maps, touches and unmaps memory of its own")]

use crate::case::{Case, Op};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::io;
use std::ptr;

/// Pages mapped at a time, so that mapping costs next to nothing per page.
const PAGES: usize = 1024;

/// The only case.
pub(crate) fn cases() -> Vec<Case> {
    let teaches = "The first touch of a new page: a trap into the kernel, zeroing a page, a page-table entry.";
    vec![Case::new("page-fault", "anonymous page", teaches, |_| operation()).sharing()]
}

fn operation() -> io::Result<Op> {
    Ok(Box::new(|count| {
        let mut left = count as usize;
        while left > 0 {
            let pages = left.min(PAGES);
            touch(pages)?;
            left -= pages;
        }
        Ok(())
    }))
}

fn touch(pages: usize) -> io::Result<()> {
    let page = rustix::param::page_size();
    let (len, rights) = (pages * page, ProtFlags::READ | ProtFlags::WRITE);
    // SAFETY: a new mapping where the kernel chooses overlaps nothing; it is written within its bounds and unmapped here,
    // and no reference into it is kept.
    unsafe {
        let base = mmap_anonymous(ptr::null_mut(), len, rights, MapFlags::PRIVATE)?;
        // One fault per page is what is counted; a kernel without huge pages refuses the advice.
        let _ = madvise(base, len, Advice::LinuxNoHugepage);
        for at in (0..len).step_by(page) {
            base.cast::<u8>().add(at).write_volatile(1);
        }
        munmap(base, len)?;
    }
    Ok(())
}
