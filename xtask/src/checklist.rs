//! The steps that a new algorithm or a new object needs. Tests and the compiler ask for each step.

/// The thing that is added.
#[derive(Clone, Copy, clap::ValueEnum)]
pub enum What {
    /// A reduction of the exhaustive search
    Algorithm,
    /// A synchronization object
    Object,
}

const ALGORITHM: &str = "\
1. crates/explore/src/reduction/NAME.rs: implement `Reduction`; the header names the paper and each
   deviation from it.
2. crates/explore/src/reduction.rs: the module.
3. crates/explore/src/algorithm.rs: a variant of `Algorithm` at the end, its place in `ALL`, and its
   name. The compiler asks for each `match`. Say what differs from other reductions: `is_exhaustive`,
   `is_optimal`, `compares_states`. From there the laws of testkit, the command and the attribute
   know the algorithm.

No other code changes. If users are to choose the algorithm, docs/book/src/algorithms.md needs
pseudocode and the reason why it is right, and CHANGELOG.md a line.

Check: cargo run --release --package mazurka-testkit -- --programs 100000";

const OBJECT: &str = "\
1. crates/objects/src/NAME.rs: the state machine, as requests (which never block) and waits (which
   access nothing), an implementation of `Object`, and unit tests.
2. crates/objects/src/lib.rs: the module, and its line in the list `objects!`. From there the
   runtime creates, resets, copies and restores the object, and polls its waits.
3. crates/explore/src/execution/op.rs: its operations, in `OpKind`. The compiler asks for their words
   and for what a trace shows.
4. crates/runtime/src/rust/NAME.rs: the mirror, with `mirror!`; its module and its export.
5. crates/testkit: an operation of random programs, so that the laws compare it with brute force.
6. crates/mazurka/src/sync/NAME.rs: the type that users see.
7. docs/book/src/algorithms.md: requests, waits and conflicts.

Check: cargo run --release --package mazurka-testkit -- --programs 100000";

/// Prints the checklist.
pub fn print(what: What) {
    println!(
        "{}",
        match what {
            What::Algorithm => ALGORITHM,
            What::Object => OBJECT,
        }
    );
}
