//! Ctrl-C: the first ends the work and keeps all finished results, the second ends the program at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Exit code of the second Ctrl-C.
const AT_ONCE: i32 = 130;

/// Sets the returned flag on SIGINT, SIGTERM and SIGHUP.
pub fn flag() -> Arc<AtomicBool> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Registration fails only for signals that cannot be caught; then the default action stands.
        let _ =
            signal_hook::flag::register_conditional_shutdown(signal, AT_ONCE, Arc::clone(&flag));
        let _ = signal_hook::flag::register(signal, Arc::clone(&flag));
    }
    flag
}
