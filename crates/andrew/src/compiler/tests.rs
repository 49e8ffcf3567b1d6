//! Programs compiled, linked and run on a model of the invented machine.

use super::assemble::{THREE, assemble, code};
use super::ir::Binary;
use super::link::link;
use super::object::{Fix, Object, Section, Symbol};
use super::preprocess::preprocess;
use super::{Fault, compile};

const MEMORY: usize = 1 << 20;
const STEPS: u32 = 20_000_000;

/// The machine: 32 registers, memory, and the address of the current instruction.
struct Machine {
    regs: [i32; 32],
    memory: Vec<u8>,
}

impl Machine {
    fn load(&self, at: i32) -> i32 {
        let at = at as usize;
        i32::from_le_bytes(self.memory[at..at + 4].try_into().unwrap())
    }

    fn store(&mut self, at: i32, value: i32) {
        let at = at as usize;
        self.memory[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    /// Runs from `at` until the function returns; returns its result.
    fn run(&mut self, at: u32) -> i32 {
        let mut at = at as i32;
        self.regs[29] = MEMORY as i32 - 64;
        self.regs[31] = -4;
        for _ in 0..STEPS {
            if at == -4 {
                return self.regs[1];
            }
            let inst = self.load(at) as u32;
            let (to, a, b) = (inst >> 21 & 31, inst >> 16 & 31, inst >> 11 & 31);
            let (a, b) = (self.regs[a as usize], self.regs[b as usize]);
            let low = i32::from(inst as u16 as i16);
            let mut next = at + 4;
            let far = (inst << 6) as i32 >> 4;
            let set = match inst >> 26 {
                op @ 0..14 => Some(operation(THREE[op as usize]).fold(a, b).unwrap_or(0)),
                code::ADDI => Some(a.wrapping_add(low)),
                code::LUI => Some(low << 16),
                code::ORI => Some(a | (low & 0xffff)),
                code::LW => Some(self.load(a + low)),
                code::LB => Some(i32::from(self.memory[(a + low) as usize])),
                code::SW => {
                    let value = self.regs[to as usize];
                    self.store(a + low, value);
                    None
                }
                code::SB => {
                    self.memory[(a + low) as usize] = self.regs[to as usize] as u8;
                    None
                }
                code::BEQZ | code::BNEZ => {
                    if (a == 0) == (inst >> 26 == code::BEQZ) {
                        next = at + low * 4;
                    }
                    None
                }
                code::JUMP => {
                    next = at + far;
                    None
                }
                code::CALL => {
                    self.regs[31] = at + 4;
                    next = at + far;
                    None
                }
                code::CALL_REGISTER => {
                    self.regs[31] = at + 4;
                    next = a;
                    None
                }
                code::RETURN => {
                    next = self.regs[31];
                    None
                }
                other => panic!("instruction {other} at {at}"),
            };
            if let Some(value) = set.filter(|_| to != 0) {
                self.regs[to as usize] = value;
            }
            at = next;
        }
        panic!("the program does not end");
    }
}

fn operation(name: &str) -> Binary {
    use Binary::*;
    let all = [
        Add, Sub, Mul, Div, Rem, And, Or, Xor, ShiftLeft, ShiftRight, Less, LessEqual, Equal,
        NotEqual,
    ];
    all[THREE.iter().position(|op| *op == name).unwrap()]
}

/// Places an object in memory: code at `text`, then data, then zeroed memory. Returns code and data
/// with all relocations applied, and the address of every symbol. Missing names are at 0.
fn place(object: &Object, text: u32) -> (Vec<u32>, Vec<u8>, Vec<u32>) {
    let data = text + object.text.len() as u32 * 4;
    let bss = data + object.data.len().next_multiple_of(4) as u32;
    let address = |symbol: &Symbol| match symbol.section {
        Section::Undefined => 0,
        Section::Text => text + symbol.value,
        Section::Data => data + symbol.value,
        Section::Bss => bss + symbol.value,
    };
    let addresses: Vec<u32> = object.symbols.iter().map(address).collect();
    let (mut code, mut bytes) = (object.text.clone(), object.data.clone());
    for one in &object.relocations {
        let to = addresses[one.symbol as usize].wrapping_add(one.addend as u32);
        let at = one.offset as usize;
        match one.fix {
            Fix::High => code[at / 4] |= to >> 16,
            Fix::Low => code[at / 4] |= to & 0xffff,
            Fix::Call => {
                let distance = (to.wrapping_sub(text + one.offset) as i32) >> 2;
                code[at / 4] |= distance as u32 & 0x3ff_ffff;
            }
            Fix::Word => bytes[at..at + 4].copy_from_slice(&to.to_le_bytes()),
        }
    }
    (code, bytes, addresses)
}

/// Compiles the sources, links them and runs `main`.
fn run(sources: &[&str]) -> Result<i32, Fault> {
    let mut objects = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        let name = format!("{number}.c");
        let text = preprocess(source, &name, &mut |_, _, _| None)?;
        let assembly = compile(&text, &name)?;
        objects.push((name.clone(), assemble(&assembly, &name)?.encode()));
    }
    let linked = link(&objects, &[]).unwrap();
    assert!(linked.missing().is_empty(), "{:?}", linked.missing());
    let start = 4096;
    let (text, data, addresses) = place(&linked, start);
    let main = linked.symbols.iter().position(|s| s.name == "main").unwrap();
    let mut machine = Machine { regs: [0; 32], memory: vec![0; MEMORY] };
    let bytes: Vec<u8> = text.iter().flat_map(|word| word.to_le_bytes()).chain(data).collect();
    machine.memory[start as usize..start as usize + bytes.len()].copy_from_slice(&bytes);
    Ok(machine.run(addresses[main]))
}

fn value(body: &str) -> i32 {
    run(&[&format!("int main(void) {{ {body} }}")]).unwrap()
}

#[test]
fn expressions_have_the_values_of_c() {
    for (body, expected) in [
        ("return 2 + 3 * 4 - 10 / 3 % 2;", 13),
        ("return (7 & 3) | 8 ^ 1 << 2;", 15),
        ("return -7 / 2 * 100 + -7 % 3;", -301),
        ("return 1 < 2 == 2 > 1 != 3 <= 3;", 0),
        ("int a; a = 5; return a++ * 10 + a-- - --a + ++a;", 57),
        (
            "int a; a = 3; a += 4; a *= 5; a -= 1; a /= 2; a %= 10; a <<= 4; a |= 1; a ^= 8; a >>= 1; a &= 60; return a;",
            60,
        ),
        ("return 1 ? 2 ? 3 : 4 : 5;", 3),
        ("int x; x = 9; return x > 5 ? x < 8 ? 1 : 2 : 3;", 2),
        ("int x; x = 0; return (x && ++x) + (x || (x = 7)) * 10 + x * 100 + !x;", 710),
        ("return ~5 + !0 + !9 + - -3;", -2),
        ("char c; c = 300; return c + sizeof(c) + sizeof(int) * 10 + sizeof c;", 86),
        ("return (char) 257 + (int) 'A';", 66),
        ("int i, *p; p = &i; *p = 41; return ++*p;", 42),
        (
            "int a[5], *p; p = a + 1; p[2] = 7; *(a + 1) = 4; return a[3] * 10 + *p + (&a[4] - p);",
            77,
        ),
        ("char *s; s = \"ab\" \"cd\"; return s[3] * 2 + *s;", 297),
        ("return 0x7fffffff + 1 < 0;", 1),
    ] {
        assert_eq!(value(body), expected, "{body}");
    }
}

#[test]
fn statements_go_where_they_should() {
    for (body, expected) in [
        (
            "int i, s; s = 0; for (i = 0; i < 10; i++) { if (i == 3) continue; if (i == 7) break; s += i; } return s;",
            18,
        ),
        ("int i; i = 0; while (1) if (++i > 20) return i;", 21),
        ("int i; i = 0; do i += 3; while (i < 10); return i;", 12),
        (
            "int i, s; s = 0; for (i = 0; i < 6; i++) switch (i) { case 1: s += 1; case 2: s += 10; break; case 4: s += 100; default: s += 1000; } return s;",
            4121,
        ),
        ("int x = 3, y = x * 2; { int x = 100; y += x; } return x + y;", 109),
        ("if (0) return 1; else if (0) return 2; else return 3;", 3),
        (
            "int a[3][4]; int i, j; for (i = 0; i < 3; i++) for (j = 0; j < 4; j++) a[i][j] = i * 10 + j; return a[2][3] + a[1][0];",
            33,
        ),
    ] {
        assert_eq!(value(body), expected, "{body}");
    }
}

#[test]
fn functions_structs_and_data_work_across_files() {
    let one = r#"
        enum colour { RED, GREEN = 5, BLUE };
        typedef struct node { int key; char tag; struct node *next; char name[6]; } node_t;
        extern int total, table[];
        int sum(node_t *list);
        int apply(int (*f)(int, int), int a, int b);
        static int add(int a, int b) { return a + b; }
        static int sub(int a, int b) { return a - b; }
        int (*choice[2])(int, int) = { add, sub };
        int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
        int main(void) {
            node_t a, b;
            a.key = 3; a.tag = 'x'; a.next = &b; b.key = 4; b.next = 0; a.name[2] = 9;
            total += sum(&a) + a.name[2];
            return total * 1000 + fib(10) + choice[1](9, 4) + apply(add, 1, BLUE) + table[2] + (a.tag == 'x');
        }"#;
    let two = r#"
        struct node { int key; char tag; struct node *next; char name[6]; };
        int total = 2, table[4] = { 1, 2, 30 };
        char *words[] = { "zero", "one" };
        struct pair { char c; int n; } pairs[2] = { { 'a', 7 }, { 'b', 8 } };
        int sum(struct node *list) {
            int s = 0;
            while (list) { s += list->key; list = list->next; }
            return s + pairs[1].n + words[1][2] - 'e' + pairs[0].c - 'a';
        }
        int apply(int (*f)(int, int), int a, int b) { return (*f)(a, b); }"#;
    assert_eq!(run(&[one, two]), Ok((2 + 7 + 8 + 9) * 1000 + 55 + 5 + 7 + 30 + 1));
}

#[test]
fn more_variables_than_registers_are_spilled() {
    let names: Vec<String> = (0..60).map(|i| format!("v{i}")).collect();
    let set: String = (0..60).map(|i| format!("v{i} = f({i});")).collect();
    let body = format!(
        "int f(int x) {{ return x * 3 + 1; }} int main(void) {{ int {}; {set} return {}; }}",
        names.join(", "),
        names.join(" + ")
    );
    assert_eq!(run(&[&body]), Ok((0..60).map(|i| i * 3 + 1).sum()));
}

#[test]
fn faults_say_where_and_what() {
    for (source, message) in [
        ("int main(void) { return x; }", "0.c:1: x is not declared"),
        ("int f(void) {\n return 1\n}", "0.c:3: ; is missing"),
        ("struct s { int a; } v; int f(void) { return v.b; }", "0.c:1: there is no member b"),
        ("int f(void) { 1 = 2; }", "0.c:1: this cannot be assigned to"),
        ("int f(void) { break; }", "0.c:1: break outside of a loop"),
        ("int a[1 / 0];", "0.c:1: a division by zero"),
        ("int f(void) {", "0.c:1: } is missing"),
        ("int a[999999999];", "0.c:1: this array is too large"),
    ] {
        assert_eq!(run(&[source]).unwrap_err().to_string(), message);
    }
    let deep = format!("int x = {}1{};", "(".repeat(5000), ")".repeat(5000));
    assert!(run(&[&deep]).unwrap_err().to_string().contains("too deep"));
}

#[test]
fn the_same_source_makes_the_same_bytes() {
    let source = "int g; int f(int a, int b) { while (a < b) { g += a * b; a++; } return g; }";
    let once = compile(source, "x.c").unwrap();
    assert_eq!(compile(source, "x.c").unwrap(), once);
}

mod random {
    use super::*;
    use proptest::prelude::*;

    const MARKS: [&str; 10] = ["+", "-", "*", "&", "|", "^", "<", "<=", "==", "!="];

    /// An expression on the variables a, b and c.
    #[derive(Clone, Debug)]
    enum Tree {
        Number(i32),
        Variable(usize),
        Both(Box<Self>, usize, Box<Self>),
    }

    impl Tree {
        fn text(&self) -> String {
            match self {
                Self::Number(n) => format!("({n})"),
                Self::Variable(v) => ["a", "b", "c"][*v].to_owned(),
                Self::Both(x, at, y) => format!("({} {} {})", x.text(), MARKS[*at], y.text()),
            }
        }

        /// Evaluates it in Rust's own arithmetic.
        fn value(&self, all: [i32; 3]) -> i32 {
            match self {
                Self::Number(n) => *n,
                Self::Variable(v) => all[*v],
                Self::Both(x, at, y) => {
                    let (x, y) = (x.value(all), y.value(all));
                    match MARKS[*at] {
                        "+" => x.wrapping_add(y),
                        "-" => x.wrapping_sub(y),
                        "*" => x.wrapping_mul(y),
                        "&" => x & y,
                        "|" => x | y,
                        "^" => x ^ y,
                        "<" => i32::from(x < y),
                        "<=" => i32::from(x <= y),
                        "==" => i32::from(x == y),
                        _ => i32::from(x != y),
                    }
                }
            }
        }
    }

    fn expression() -> impl Strategy<Value = Tree> {
        let leaf =
            prop_oneof![(-50i32..50).prop_map(Tree::Number), (0usize..3).prop_map(Tree::Variable)];
        leaf.prop_recursive(5, 40, 2, |inner| {
            (inner.clone(), 0..MARKS.len(), inner)
                .prop_map(|(x, at, y)| Tree::Both(Box::new(x), at, Box::new(y)))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn random_expressions_are_compiled_right(tree in expression(), all in any::<[i16; 3]>()) {
            let ([a, b, c], text) = (all.map(i32::from), tree.text());
            let source = format!(
                "int f(int a, int b, int c) {{ int r; r = {text}; return r; }} int main(void) {{ return f({a}, {b}, {c}); }}"
            );
            prop_assert_eq!(run(&[&source]).unwrap(), tree.value([a, b, c]), "{}", source);
        }

        #[test]
        fn no_source_panics(text in "(int|char|\\*|[a-c]|[0-9]|[(){};=+\\[\\],&?:]|if|while|return|struct|switch|case| ){0,40}") {
            let _ = compile(&text, "x.c");
        }
    }
}
