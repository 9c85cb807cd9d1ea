//! The configuration of a model: of the engine and of its guests.

use crate::native::Native;
use report::{Conditions, Shortcut};
use std::time::Duration;

/// The configuration under which a closure is run.
#[derive(Clone)]
pub struct Config {
    /// The conditions that schedule files and checkpoints record.
    pub conditions: Conditions,
    /// The maximum number of threads, including the main thread. Starting more threads is a
    /// failure.
    pub max_threads: usize,
    /// Whether executions shown to users include the places of their operations.
    pub locations: bool,
    /// Whether interleavings are explored from the beginning of each execution. If not, they are
    /// explored once the program calls [`crate::explore`].
    pub explores: bool,
    /// Whether a value with counted owners, or tracked memory, is a failure if it is never dropped
    /// or freed.
    pub leaks_fail: bool,
    /// The number of rounds (iterations) without progress that a spin loop may make in a thread
    /// that has joined all other threads. Loops that read the clock need some rounds. If this is
    /// not 0, runs are not repeatable.
    pub waits_alone: u32,
    /// The number of bytes of a thread's stack.
    pub stack_size: usize,
    /// The time for which the operating-system thread that runs the model may be blocked. A longer
    /// wait is a failure. In a Rust program, the same limit holds for the CPU time that a thread
    /// uses without performing an operation.
    pub patience: Duration,
    /// The directory of the sources of a library on top of this crate, including the slash at its
    /// end. Places in it are not shown, because they do not belong to the program.
    pub library: Option<&'static str>,
    /// The configuration of programs in machine code, or `None` for Rust programs.
    pub native: Option<Native>,
    /// Whether to recognize twins, so that they can be explored up to permutation.
    pub symmetry: bool,
    /// The optimizations of the search that are switched off.
    pub without: Vec<Shortcut>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            conditions: Conditions::default(),
            max_threads: usize::MAX,
            locations: true,
            explores: true,
            leaks_fail: true,
            waits_alone: 0,
            stack_size: 256 * 1024,
            patience: Duration::from_secs(5),
            library: None,
            native: None,
            symmetry: false,
            without: Vec::new(),
        }
    }
}

/// Plain accesses (not events) allowed per thread, as a multiple of the operation limit. With this
/// limit, a loop that waits for a plain flag stops even if the flag never changes.
pub const ACCESSES: u32 = 1000;
