//! Traces in every format: what is read, written and refused. One binary, so it is linked once.

mod complete;
mod cut;
mod events;
mod formats;
mod guesses;
mod hostile;
mod lacking;
mod levels;
mod memory;
mod others;
mod part;
mod published;
mod round_trip;
mod slots;
mod whole;
