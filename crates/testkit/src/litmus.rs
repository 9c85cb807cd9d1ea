//! Litmus tests: small programs with a question about their final states. The format is a subset of
//! herd's format for C (Alglave, Maranget, Tautschnig, TOPLAS 2014).
//!
//! ```text
//! C MP+rel+acq
//! { x=0; y=0; }
//! P0 (atomic_int* x, atomic_int* y) {
//!   atomic_store_explicit(x, 1, memory_order_relaxed);
//!   atomic_store_explicit(y, 1, memory_order_release);
//! }
//! P1 (atomic_int* x, atomic_int* y) {
//!   int r0 = atomic_load_explicit(y, memory_order_acquire);
//!   int r1 = atomic_load_explicit(x, memory_order_relaxed);
//! }
//! exists (1:r0=1 /\ 1:r1=0)
//! ```
//!
//! The subset has loads, stores, exchanges, `fetch_add`, `compare_exchange_strong`, fences, `if`
//! without `else`, and local variables of type `int`. A compare-exchange needs a local variable
//! with the expected value. All variables begin with 0. Lines between the name and the init block
//! are comments.

mod formula;
mod parser;
mod table;
mod words;

pub use table::{NotATable, Row};
pub use words::NotALitmusTest;

use crate::program::Program;
use crate::weak::Graph;
use formula::Formula;

/// A litmus test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Litmus {
    /// The name.
    pub name: String,
    /// The program.
    pub program: Program,
    formula: Formula,
    /// Whether the test asks for final states in which the formula holds (`exists` and `~exists`),
    /// or for final states in which it does not hold (`forall`).
    is_wanted: bool,
}

impl Litmus {
    /// Checks whether one of the graphs ends in a state that the test asks for.
    pub fn is_allowed<'a>(&self, graphs: impl IntoIterator<Item = &'a Graph>) -> bool {
        graphs.into_iter().any(|graph| {
            let (variables, registers) = graph.end(&self.program);
            self.formula.holds(&variables, &registers) == self.is_wanted
        })
    }
}
