//! Real traces, published and recorded: every reader against counts and sums by other programs.

mod blkparse;
mod blocks;
mod data;
mod hplajw;
mod miss_ratio;
mod records;
mod ring;
mod srt;
