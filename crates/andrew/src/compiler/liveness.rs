//! Liveness analysis: which registers are still needed at each point of a function.

use super::ir::{Inst, Label, Reg};
use std::collections::HashMap;

/// A set of registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RegSet(Vec<u64>);

impl RegSet {
    fn new(regs: u32) -> Self {
        Self(vec![0; regs.div_ceil(64) as usize])
    }

    /// Whether it contains `reg`.
    pub(super) fn has(&self, reg: Reg) -> bool {
        self.0[reg as usize / 64] >> (reg % 64) & 1 == 1
    }

    /// Adds `reg`.
    pub(super) fn add(&mut self, reg: Reg) {
        self.0[reg as usize / 64] |= 1 << (reg % 64);
    }

    /// Removes `reg`.
    pub(super) fn remove(&mut self, reg: Reg) {
        self.0[reg as usize / 64] &= !(1 << (reg % 64));
    }

    fn add_all(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine |= theirs;
        }
    }

    /// Returns its registers in ascending order.
    pub(super) fn all(&self) -> impl Iterator<Item = Reg> + '_ {
        let words = self.0.iter().zip(0u32..);
        words.flat_map(|(&word, at)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit)
        })
    }
}

/// A run of instructions that is entered only at its start and left only at its end.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// Its first instruction.
    pub(super) begin: usize,
    /// The index after its last instruction.
    pub(super) end: usize,
    /// The registers needed at its start.
    pub(super) live_in: RegSet,
    /// The registers needed at its end.
    pub(super) live_out: RegSet,
    successors: Vec<usize>,
}

fn bounds(code: &[Inst]) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    let mut begin = 0;
    for (at, inst) in code.iter().enumerate() {
        if matches!(inst, Inst::Label(_)) && at > begin {
            all.push((begin, at));
            begin = at;
        }
        if matches!(inst, Inst::Jump(_) | Inst::Branch { .. } | Inst::Return(_)) {
            all.push((begin, at + 1));
            begin = at + 1;
        }
    }
    if begin < code.len() {
        all.push((begin, code.len()));
    }
    all
}

/// Returns the blocks of `code` with the registers live at their boundaries, by the usual backward
/// iteration.
pub(super) fn blocks(code: &mut [Inst], regs: u32) -> Vec<Block> {
    let bounds = bounds(code);
    let mut at_label: HashMap<Label, usize> = HashMap::new();
    for (index, (begin, _)) in bounds.iter().enumerate() {
        if let Inst::Label(label) = code[*begin] {
            at_label.insert(label, index);
        }
    }
    let mut blocks: Vec<Block> = bounds
        .iter()
        .enumerate()
        .map(|(index, &(begin, end))| {
            let mut successors = Vec::new();
            match &code[end - 1] {
                Inst::Jump(to) => successors.extend(at_label.get(to)),
                Inst::Branch { to, .. } => {
                    successors.extend(at_label.get(to));
                    successors.push(index + 1);
                }
                Inst::Return(_) => {}
                _ => successors.push(index + 1),
            }
            successors.retain(|next| *next < bounds.len());
            let (live_in, live_out) = (RegSet::new(regs), RegSet::new(regs));
            Block { begin, end, live_in, live_out, successors }
        })
        .collect();
    let mut changed = true;
    while changed {
        changed = false;
        for index in (0..blocks.len()).rev() {
            let mut out = RegSet::new(regs);
            for next in blocks[index].successors.clone() {
                out.add_all(&blocks[next].live_in);
            }
            let mut live = out.clone();
            let (begin, end) = (blocks[index].begin, blocks[index].end);
            for inst in code[begin..end].iter_mut().rev() {
                step(inst, &mut live);
            }
            changed |= live != blocks[index].live_in;
            blocks[index].live_in = live;
            blocks[index].live_out = out;
        }
    }
    blocks
}

/// Updates the live registers from after `inst` to before it.
pub(super) fn step(inst: &mut Inst, live: &mut RegSet) {
    if let Some(to) = inst.sets() {
        live.remove(to);
    }
    inst.uses(|reg| live.add(*reg));
}
