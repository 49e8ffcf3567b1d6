//! The command as users run it. One binary, so that it is linked once.
#![allow(clippy::print_stderr, reason = "tests that are skipped say so")]

mod browser;
mod characterize;
mod common;
mod doctor;
mod documented;
mod faults;
mod fio;
mod install;
mod interrupt;
mod limits;
mod loops;
mod misuse;
mod models;
mod one_row;
mod os;
mod outputs;
mod simulate;
mod trace;
mod trace_analysis;
mod trace_compare;
mod trace_damage;
mod trace_input;
mod trace_merge;
mod trace_replay;
mod trace_truth;
mod trace_workload;
mod traced_application;
mod twin;
mod units;
mod verify;
mod vxbench;
mod vxbench_calls;
