//! The cost of creating a thread and waiting for its end.

use crate::case::{Case, Op, repeated};
use std::io;

/// Stack size of the threads: enough for all of them, and no more.
const STACK: usize = 64 << 10;

/// The only case.
pub(crate) fn cases() -> Vec<Case> {
    let teaches = "A thread that ends at once, and waiting for it: what a program pays that makes a thread for each request.";
    vec![Case::new("thread", "create and join", teaches, |_| operation())]
}

#[expect(clippy::disallowed_methods, reason = "nothing but the thread is measured")]
fn operation() -> io::Result<Op> {
    Ok(repeated(|| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn(|| ())?;
        thread.join().map_err(|_| io::Error::other("the thread panicked"))
    }))
}
