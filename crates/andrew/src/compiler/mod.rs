//! A small C compiler for an invented 32-bit machine: the same compiler for the same target everywhere.
//!
//! The Modified Andrew Benchmark uses one compiler for one target on every machine, so that results
//! differ only by machine and operating system (Ousterhout 1990, section 9). This compiler is made
//! for it: a preprocessor that reads real headers, a front end for a subset of C, an optimiser,
//! register allocation, textual assembly, an assembler, archives and a relocatable linker. On every
//! host, the same input gives the same output, byte for byte.
//!
//! The subset: `int`, `char` (unsigned), pointers, arrays, structs, functions, `typedef`, `enum`; all statements but
//! `goto`; all operators but the comma; initialisers of globals; no floating point, unions, bit fields or struct values.

mod allocate;
pub(crate) mod archive;
pub(crate) mod assemble;
mod declare;
mod emit;
mod expression;
mod external;
mod fault;
pub(crate) mod ir;
pub(crate) mod lex;
pub(crate) mod link;
mod liveness;
mod local;
mod number;
pub(crate) mod object;
mod operand;
mod optimize;
mod parse;
pub(crate) mod preprocess;
mod statement;
mod types;

pub use fault::Fault;

#[cfg(test)]
mod tests;

/// Compiles preprocessed C to assembly text.
///
/// # Errors
/// The source is not within the subset.
pub(crate) fn compile(source: &str, name: &str) -> Result<String, Fault> {
    let tokens = lex::tokens(source, name)?;
    let module = external::module(tokens)?;
    emit::assembly(module, name)
}
