//! Events of the block layer, whatever their source, and the rows made from them.

mod arrival;
mod event;
mod fading;
mod lacking;
mod levels;
mod numbers;
mod pair;
mod rwbs;
mod window;

pub(crate) use event::{Event, Kind, device, kernel_event, positive_error};
pub(crate) use lacking::{ONE_END, UNARRIVED, UNISSUED};
pub(crate) use levels::{add_levels, doubt_of_levels, keep_levels};
pub(crate) use numbers::Numbers;
pub(crate) use pair::Pairing;
pub(crate) use rwbs::{is_passed_through, of_kernel as kernel_rwbs, parse as rwbs};
pub(crate) use window::Window;
