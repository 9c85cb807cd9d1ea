//! The steps that a new algorithm or a new object needs. Tests or the compiler fail if a step in
//! the code is missing.

/// The thing that is added.
#[derive(Clone, Copy, clap::ValueEnum)]
pub enum What {
    /// A reduction of the exhaustive search
    Algorithm,
    /// A synchronization object
    Object,
}

const ALGORITHM: &str = "\
1. crates/explore/src/reduction/NAME.rs: implement `Reduction`; the header names the paper and
   each deviation from it.
2. crates/explore/src/reduction.rs: the module.
3. crates/explore/src/algorithm.rs: a variant at the end of `Algorithm` (saved searches contain
   its position), its place in `ALL` by strength, and its name, also in `UNKNOWN`. The compiler
   asks for each `match`; answer `false` and `None` where you are not sure. Say what differs from
   other reductions: `is_exhaustive`, `is_optimal`, `compares_states`. From there the laws of
   testkit, the command, the attribute and the tests of the corpus know the algorithm.

   A reduction that chooses threads in another order must run all others before a thread that
   has yielded (see `Enabled` in search.rs). If the algorithm is too slow for some programs of the
   corpus, name it in their `too_slow` (expect.toml).

No other code changes. docs/book/src/algorithms.md needs pseudocode (begin with Depth-first search
there) and the reason why the algorithm is right, and its lists need the name. CHANGELOG.md needs a
line.

Check, in about three minutes: cargo test -p mazurka-explore -p mazurka-testkit --lib --test laws
Then: cargo xtask fast, and cargo run --release -p mazurka-testkit -- --algorithm NAME --programs 3000
(about a minute; a night of it: --programs 100000)";

const OBJECT: &str = "\
1. crates/objects/src/NAME.rs: the state machine, as requests (which never block) and waits (which
   access nothing), with its unit tests. A wait needs no request if all waits end at once. Its
   operations are an `ObjectWrite`, `ObjectRead` or `ObjectWait` unless traces, the await rule or
   reports treat them in a way of their own.
2. crates/objects/src/lib.rs: its module, and its line in `objects!`. From this list the engine
   makes the pool and the waits, and testkit asks for an entry.
3. crates/runtime/src/rust/NAME.rs: the mirror, by `mirror!`. An event that may end a wait calls
   `may_grant`. A read without a wait that sees such an event calls `synchronize_with`. Waits need
   neither. `record` gives the text of reports. With `real () = ()` the object works only in a
   model. To work under a safe trace, it needs a real object that blocks threads of the system.
4. crates/runtime/src/rust.rs: its module, and `pub use` in the module `sync`, whose items users
   see in mazurka::sync. Name it in the lists of crates/mazurka/src/sync.rs, docs/book/src/loom.md
   and ARCHITECTURE.md. An object that has a `const` constructor, holds user data or has a real
   object needs more: see how Semaphore does it.
5. crates/testkit/src/entry.rs: its actions, each with a letter that no other action has (see
   program.rs), so that the laws compare them with brute force, and its lines in `mirrors!`, so
   that the test abstract_programs of runtime compares the mirror with `testkit::Machine`.
6. docs/book/src/algorithms.md: requests, waits and conflicts. CHANGELOG.md: a line.

Check, in about three minutes: cargo test -p mazurka-objects -p mazurka-testkit --lib, and
cargo test -p mazurka-runtime --test abstract_programs
Then: cargo xtask fast, and
cargo run --release -p mazurka-testkit -- --suite entries --programs 3000
(about four minutes; a night of it: --programs 100000). Write a model that guards plain data with the
object, too: these tests do not look for data races.";

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
