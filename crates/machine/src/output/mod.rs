//! Outputs: the only way in which a command writes a file that its user named.
//!
//! A regular file is replaced whole or not at all; anything else is written through. Only a file
//! with the same kind of result of ours is replaced, unless the user says otherwise. No symbolic
//! link of another user is followed.

mod destination;
mod identity;
mod links;
mod names;
mod numbered;
mod planted;
mod recognise;
mod rotation;
mod saving;

pub use destination::{Destination, DestinationOptions, Draft};
pub use identity::Identity;
pub use links::{is_standard_output, without_links};
pub use names::{Names, Outputs, Tell, tell_leftovers};
pub use numbered::numbered;
pub use recognise::Content;
pub use rotation::{Pruned, Rotation};
pub use saving::SavedOutputs;
