//! Dhrystone 2.1 in Rust: the integer rating behind the MIPS axis.
//!
//! Written from the published algorithm (R. P. Weicker, Communications of the ACM 27(10), 1984, and
//! its version 2 of 1988): the same sequence of assignments, procedures, comparisons and string
//! operations, with the final values of version 2. As its rules require, procedures are not inlined
//! into one another. Results are checked, so that nothing can be optimised away. As in C, the C
//! library compares strings, the compiler copies string constants as it sees fit, and a procedure
//! changes arguments by reference in place. (Copying such arguments back, with the main program's
//! variables in one structure, takes 294 instead of 238 instructions per run and lowers the rating
//! by 14 %. Comparing strings by loops over bytes lowers it by 13 %. Inlining procedures, against
//! the rules, raises it more than fourfold.)
#![expect(unsafe_code, reason = "strcmp of the C library")]

use super::case::{Case, Op, wrong};
use ioscape_schema::OsUnit;
use std::hint::black_box;
use std::io;

type Text = [u8; 31];

const FIRST: &Text = b"DHRYSTONE PROGRAM, 1'ST STRING\0";
const SECOND: &Text = b"DHRYSTONE PROGRAM, 2'ND STRING\0";
const THIRD: &Text = b"DHRYSTONE PROGRAM, 3'RD STRING\0";
const SOME: &Text = b"DHRYSTONE PROGRAM, SOME STRING\0";

/// As wide as in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
enum Ident {
    One,
    Two,
    Three,
    Four,
    #[expect(dead_code, reason = "the program declares it and never takes it")]
    Five,
}

/// A record that points to another one, here by index; laid out as in C.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Record {
    next: usize,
    discriminant: Ident,
    kind: Ident,
    int: i32,
    text: Text,
}

/// The program's global variables.
#[derive(Debug)]
struct Globals {
    records: [Record; 2],
    int: i32,
    bool: bool,
    ch_1: u8,
    ch_2: u8,
    array_1: [i32; 50],
    array_2: Box<[[i32; 50]; 50]>,
}

/// The record that the program's pointer refers to, and the one after it.
const POINTED: usize = 0;
const FOLLOWING: usize = 1;

/// The final values of the main program's variables.
#[derive(Debug, Default)]
struct Locals {
    int_1: i32,
    int_2: i32,
    int_3: i32,
    second: bool,
    kind: Option<Ident>,
}

impl Globals {
    fn new() -> Self {
        let empty = Record {
            next: POINTED,
            discriminant: Ident::One,
            kind: Ident::One,
            int: 0,
            text: [0; 31],
        };
        let first = Record {
            next: FOLLOWING,
            discriminant: Ident::One,
            kind: Ident::Three,
            int: 40,
            text: *SOME,
        };
        let mut array_2 = Box::new([[0; 50]; 50]);
        array_2[8][7] = 10;
        Self {
            records: [first, empty],
            int: 0,
            bool: false,
            ch_1: 0,
            ch_2: 0,
            array_1: [0; 50],
            array_2,
        }
    }
}

/// The only case.
pub(crate) fn cases() -> Vec<Case> {
    let teaches = "How fast the processor computes without the operating system: the reference for every relative speed.";
    let mut case = Case::new("dhrystone", "2.1", teaches, |_| operation()).effort(1.5);
    case.unit = OsUnit::PerS;
    vec![case]
}

fn operation() -> io::Result<Op> {
    Ok(Box::new(|count| {
        let runs = i32::try_from(count).map_err(|_| wrong("too many runs at once"))?;
        let mut globals = Globals::new();
        let locals = run(black_box(&mut globals), black_box(runs));
        check(&globals, &locals, runs)
    }))
}

/// The main loop.
#[inline(never)]
fn run(g: &mut Globals, runs: i32) -> Locals {
    let first = *black_box(FIRST);
    let mut second = [0; 31];
    let (mut int_1, mut int_2, mut int_3, mut last) = (0, 0, 0, None);
    for index in 1..=runs {
        proc_5(g);
        proc_4(g);
        int_1 = 2;
        int_2 = 3;
        copy(&mut second, SECOND);
        let mut kind = Ident::Two;
        g.bool = !func_2(g, &first, &second);
        while int_1 < int_2 {
            int_3 = 5 * int_1 - int_2;
            proc_7(int_1, int_2, &mut int_3);
            int_1 += 1;
        }
        proc_8(g, int_1, int_3);
        proc_1(g, POINTED);
        let mut letter = b'A';
        while letter <= g.ch_2 {
            if kind == func_1(g, letter, b'C') {
                proc_6(g.int, Ident::One, &mut kind);
                copy(&mut second, THIRD);
                int_2 = index;
                g.int = index;
            }
            letter += 1;
        }
        int_2 *= int_1;
        int_1 = int_2 / int_3;
        int_2 = 7 * (int_2 - int_3) - int_1;
        proc_2(g, &mut int_1);
        last = Some(kind);
    }
    Locals { int_1, int_2, int_3, second: second == *SECOND, kind: last }
}

/// Assigns a whole record and works on the copy.
#[inline(never)]
fn proc_1(g: &mut Globals, at: usize) {
    let next = g.records[at].next;
    g.records[next] = g.records[POINTED];
    g.records[at].int = 5;
    g.records[next].int = g.records[at].int;
    g.records[next].next = g.records[at].next;
    proc_3(g, next);
    if g.records[next].discriminant == Ident::One {
        g.records[next].int = 6;
        let kind = g.records[at].kind;
        proc_6(g.int, kind, &mut g.records[next].kind);
        g.records[next].next = g.records[POINTED].next;
        let int = g.records[next].int;
        proc_7(int, 10, &mut g.records[next].int);
    } else {
        g.records[at] = g.records[g.records[at].next];
    }
}

#[inline(never)]
fn proc_2(g: &Globals, int: &mut i32) {
    let mut here = *int + 10;
    loop {
        if g.ch_1 == b'A' {
            here -= 1;
            *int = here - g.int;
            break;
        }
    }
}

#[inline(never)]
fn proc_3(g: &mut Globals, at: usize) {
    g.records[at].next = g.records[POINTED].next;
    proc_7(10, g.int, &mut g.records[POINTED].int);
}

#[inline(never)]
fn proc_4(g: &mut Globals) {
    let here = g.ch_1 == b'A';
    g.bool |= here;
    g.ch_2 = b'B';
}

#[inline(never)]
fn proc_5(g: &mut Globals) {
    g.ch_1 = b'A';
    g.bool = false;
}

/// `int` is the program's global variable.
#[inline(never)]
fn proc_6(int: i32, kind: Ident, result: &mut Ident) {
    *result = if func_3(kind) { kind } else { Ident::Four };
    match kind {
        Ident::One => *result = Ident::One,
        Ident::Two => *result = if int > 100 { Ident::One } else { Ident::Four },
        Ident::Three => *result = Ident::Two,
        Ident::Four => {}
        Ident::Five => *result = Ident::Three,
    }
}

#[inline(never)]
fn proc_7(a: i32, b: i32, result: &mut i32) {
    let here = a + 2;
    *result = b + here;
}

#[inline(never)]
fn proc_8(g: &mut Globals, first: i32, second: i32) {
    let here = (first + 5) as usize;
    g.array_1[here] = second;
    g.array_1[here + 1] = g.array_1[here];
    g.array_1[here + 30] = here as i32;
    for index in here..=here + 1 {
        g.array_2[here][index] = here as i32;
    }
    g.array_2[here][here - 1] += 1;
    g.array_2[here + 20][here] = g.array_1[here];
    g.int = 5;
}

#[inline(never)]
fn func_1(g: &mut Globals, a: u8, b: u8) -> Ident {
    let here = a;
    if here == b {
        g.ch_1 = here;
        Ident::Two
    } else {
        Ident::One
    }
}

#[inline(never)]
fn func_2(g: &mut Globals, a: &Text, b: &Text) -> bool {
    let mut int = 2;
    let mut letter = 0;
    while int <= 2 {
        if func_1(g, a[int], b[int + 1]) == Ident::One {
            letter = b'A';
            int += 1;
        }
    }
    if (b'W'..b'Z').contains(&letter) {
        int = 7;
    }
    if letter == b'R' {
        return true;
    }
    if compare(a, b) > 0 {
        int += 7;
        g.int = int as i32;
        return true;
    }
    false
}

#[inline(never)]
fn func_3(kind: Ident) -> bool {
    kind == Ident::Three
}

/// Returns the sign of the difference of the first differing bytes, up to the terminating zero.
#[inline(never)]
fn compare(a: &Text, b: &Text) -> i32 {
    // SAFETY: every text of this file ends with a zero within its array.
    unsafe { libc::strcmp(a.as_ptr().cast(), b.as_ptr().cast()) }
}

fn copy(to: &mut Text, from: &Text) {
    *to = *from;
}

/// Refuses any final state but the one that version 2.1 prints.
fn check(g: &Globals, l: &Locals, runs: i32) -> io::Result<()> {
    let [first, second] = &g.records;
    let sound = [
        ("Int_Glob", g.int == 5),
        ("Bool_Glob", g.bool),
        ("Ch_1_Glob", g.ch_1 == b'A'),
        ("Ch_2_Glob", g.ch_2 == b'B'),
        ("Arr_1_Glob[8]", g.array_1[8] == 7),
        ("Arr_2_Glob[8][7]", g.array_2[8][7] == runs + 10),
        ("Ptr_Glob", first.discriminant == Ident::One && first.kind == Ident::Three),
        ("Ptr_Glob->Int_Comp", first.int == 17 && first.text == *SOME),
        ("Next_Ptr_Glob", second.discriminant == Ident::One && second.kind == Ident::Two),
        ("Next_Ptr_Glob->Int_Comp", second.int == 18 && second.text == *SOME),
        ("Int_1_Loc", l.int_1 == 5),
        ("Int_2_Loc", l.int_2 == 13),
        ("Int_3_Loc", l.int_3 == 7),
        ("Enum_Loc", l.kind == Some(Ident::Two)),
        ("Str_2_Loc", l.second),
    ];
    match sound.iter().find(|(_, sound)| !sound) {
        Some((name, _)) => {
            Err(wrong(format!("Dhrystone ended with a wrong {name}: its rating does not count")))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_with_the_published_values() {
        for runs in [1, 2, 1000] {
            let mut globals = Globals::new();
            let locals = run(&mut globals, runs);
            check(&globals, &locals, runs).unwrap();
        }
    }

    #[test]
    fn work_left_out_on_purpose_is_found_out() {
        let mut globals = Globals::new();
        let locals = run(&mut globals, 99);
        let error = check(&globals, &locals, 100).unwrap_err();
        assert!(error.to_string().contains("Arr_2_Glob"), "{error}");
        assert!(check(&Globals::new(), &Locals::default(), 0).is_err());
    }
}
