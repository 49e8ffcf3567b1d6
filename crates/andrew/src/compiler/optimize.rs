//! The optimiser: moves variables into registers, numbers values, and removes unneeded code.

use super::ir::{Function, Inst, Label, Reg, Slot};
use super::liveness::{blocks, step};
use super::number;
use std::collections::{HashMap, HashSet};

/// The most rounds of improvement.
const ROUNDS: u32 = 6;

/// Improves a function.
pub(super) fn optimize(function: &mut Function) {
    promote(function);
    for _ in 0..ROUNDS {
        let numbered = number::values(function);
        let reached = unreachable(function);
        let dead = dead(function);
        if !(numbered || reached || dead) {
            break;
        }
    }
}

/// Moves variables whose address is never taken into registers.
fn promote(function: &mut Function) {
    let taken: HashSet<Slot> = function
        .code
        .iter()
        .filter_map(|inst| match inst {
            Inst::SlotAddress { slot, .. } => Some(*slot),
            _ => None,
        })
        .collect();
    let mut homes: HashMap<Slot, Reg> = HashMap::new();
    let mut entry = Vec::new();
    for (slot, info) in (0..).zip(&function.slots) {
        if info.scalar && !taken.contains(&slot) {
            let to = function.regs;
            function.regs += 1;
            homes.insert(slot, to);
            entry.push(match info.parameter {
                Some(index) => Inst::Parameter { to, index },
                // A variable read before it is set is zero, on every host.
                None => Inst::Constant { to, value: 0 },
            });
        }
    }
    for inst in &mut function.code {
        let moved = match *inst {
            Inst::LoadSlot { to, slot } => homes.get(&slot).map(|&from| Inst::Move { to, from }),
            Inst::StoreSlot { from, slot } => homes.get(&slot).map(|&to| Inst::Move { to, from }),
            _ => None,
        };
        if let Some(moved) = moved {
            *inst = moved;
        }
    }
    function.code.splice(0..0, entry);
}

/// Removes unreachable code, jumps to the next instruction, and unused labels.
fn unreachable(function: &mut Function) -> bool {
    let before = function.code.len();
    let mut reached = true;
    function.code.retain(|inst| {
        reached |= matches!(inst, Inst::Label(_));
        let kept = reached;
        reached &= !matches!(inst, Inst::Jump(_) | Inst::Return(_));
        kept
    });
    let next: Vec<Option<Label>> = (0..function.code.len())
        .map(|at| match function.code.get(at + 1) {
            Some(Inst::Label(label)) => Some(*label),
            _ => None,
        })
        .collect();
    let mut at = 0;
    function.code.retain(|inst| {
        at += 1;
        !matches!(inst, Inst::Jump(to) if next[at - 1] == Some(*to))
    });
    let wanted: HashSet<Label> = function
        .code
        .iter()
        .filter_map(|inst| match inst {
            Inst::Jump(to) | Inst::Branch { to, .. } => Some(*to),
            _ => None,
        })
        .collect();
    function.code.retain(|inst| !matches!(inst, Inst::Label(label) if !wanted.contains(label)));
    function.code.len() != before
}

/// Removes instructions whose result is never needed.
fn dead(function: &mut Function) -> bool {
    let all = blocks(&mut function.code, function.regs);
    let mut kept = vec![true; function.code.len()];
    for block in all {
        let mut live = block.live_out;
        for at in (block.begin..block.end).rev() {
            let inst = &mut function.code[at];
            let idle = matches!(inst, Inst::Move { to, from } if to == from);
            let unused = inst.is_pure() && inst.sets().is_some_and(|to| !live.has(to));
            if idle || unused {
                kept[at] = false;
            } else {
                step(inst, &mut live);
            }
        }
    }
    let before = function.code.len();
    let mut kept = kept.into_iter();
    function.code.retain(|_| kept.next().unwrap_or(true));
    function.code.len() != before
}
