//! Register allocation by linear scan (Poletto and Sarkar, 1999).

use super::ir::{Function, Reg};
use super::liveness::{blocks, step};

/// First register that variables may take.
const FIRST: u8 = 4;

/// How many registers variables may take.
const COUNT: usize = 24;

/// Where a register of the intermediate code is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// Nowhere: it is never used.
    None,
    /// In a register of the machine.
    Machine(u8),
    /// In memory, by its number.
    Spilled(u32),
}

/// The homes of all registers of a function.
#[derive(Clone, Debug)]
pub(super) struct Homes {
    /// The home of each register of the intermediate code.
    pub(super) of: Vec<Home>,
    /// The number of spilled words.
    pub(super) spilled: u32,
    /// The machine registers in use.
    pub(super) used: Vec<u8>,
}

/// The range of instructions over which a register is needed.
#[derive(Clone, Copy)]
struct Interval {
    reg: Reg,
    begin: usize,
    end: usize,
}

fn intervals(function: &mut Function) -> Vec<Interval> {
    let mut range: Vec<Option<(usize, usize)>> = vec![None; function.regs as usize];
    let mut touch = |reg: Reg, at: usize| {
        let (begin, end) = range[reg as usize].unwrap_or((at, at));
        range[reg as usize] = Some((begin.min(at), end.max(at)));
    };
    for block in blocks(&mut function.code, function.regs) {
        block.live_in.all().for_each(|reg| touch(reg, block.begin));
        block.live_out.all().for_each(|reg| touch(reg, block.end));
        let mut live = block.live_out;
        for at in (block.begin..block.end).rev() {
            let inst = &mut function.code[at];
            if let Some(to) = inst.sets() {
                touch(to, at);
            }
            inst.uses(|reg| touch(*reg, at));
            step(inst, &mut live);
        }
    }
    let mut all: Vec<Interval> = (0..)
        .zip(range)
        .filter_map(|(reg, range)| range.map(|(begin, end)| Interval { reg, begin, end }))
        .collect();
    all.sort_by_key(|one| (one.begin, one.reg));
    all
}

/// Assigns a home to every register of a function.
pub(super) fn allocate(function: &mut Function) -> Homes {
    let mut homes =
        Homes { of: vec![Home::None; function.regs as usize], spilled: 0, used: Vec::new() };
    let mut free: Vec<u8> = (0..COUNT as u8).rev().map(|number| FIRST + number).collect();
    let mut active: Vec<Interval> = Vec::new();
    for one in intervals(function) {
        active.retain(|other| {
            let over = other.end <= one.begin && other.reg != one.reg;
            if let (true, Home::Machine(register)) = (over, homes.of[other.reg as usize]) {
                free.push(register);
            }
            !over
        });
        // Takes the lowest free register, so that the choice does not depend on the order of
        // release.
        free.sort_unstable_by(|a, b| b.cmp(a));
        if let Some(register) = free.pop() {
            homes.of[one.reg as usize] = Home::Machine(register);
            if !homes.used.contains(&register) {
                homes.used.push(register);
            }
            active.push(one);
            continue;
        }
        // Spills the register that is needed longest.
        let longest = active.iter().enumerate().max_by_key(|(_, other)| (other.end, other.reg));
        let spilled = match longest {
            Some((at, other)) if other.end > one.end => {
                let other = *other;
                homes.of[one.reg as usize] = homes.of[other.reg as usize];
                active[at] = one;
                other
            }
            _ => one,
        };
        homes.of[spilled.reg as usize] = Home::Spilled(homes.spilled);
        homes.spilled += 1;
    }
    homes.used.sort_unstable();
    homes
}
