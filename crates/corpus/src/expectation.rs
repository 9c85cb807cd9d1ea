//! The expected results of a program: the contents of `corpus/<name>/expect.toml`.

use crate::native;
use mazurka::{Algorithm, FailureKind, MemoryModel};
use serde::Deserialize;

/// The expected results of a program. They hold for every algorithm, under the memory model
/// `memory`.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// The verdict of a search.
    pub verdict: Expected,
    /// The kind of the bug, if the verdict is a bug.
    pub failure: Option<FailureKind>,
    /// The memory model of the results: `sc`, or `rc11` if the orderings of the program matter. A
    /// search must choose `rc11` automatically.
    #[serde(default)]
    pub memory: MemoryModel,
    /// The kind of the bug under sequential consistency, if `memory` is `rc11` and the program also
    /// has a bug under sequential consistency.
    pub sc: Option<FailureKind>,
    /// The number of traces in closed form, if such a form is known.
    pub formula: Option<String>,
    /// The origin of the program and its numbers.
    pub source: Option<String>,
    /// Whether the program has spin loops. The number of rounds before the await rule ends a spin
    /// loop depends on the compiled code. So do the numbers of traces, which hold for one build.
    #[serde(default)]
    pub spins: bool,
    /// Results for certain sizes.
    #[serde(default)]
    pub sizes: Vec<SizeExpectation>,
    /// Differences for the C or C++ program of the same name.
    pub native: Option<native::Section>,
}

/// The verdict of a finished search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// No interleaving has a bug.
    Verified,
    /// Some interleaving has a bug.
    Bug,
}

/// The expected results at one size.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeExpectation {
    /// The sizes, one per parameter.
    pub size: Vec<u32>,
    /// The verdict, if it differs from that of the other sizes.
    pub verdict: Option<Expected>,
    /// Number of traces that run to completion: the executions of an optimal algorithm that
    /// continues after bugs.
    pub executions: u64,
    /// Number of traces in which a thread halts at an assumption, at a bound or because of the
    /// await rule.
    #[serde(default)]
    pub halted: u64,
    /// The tests that run this size.
    pub tested: Tested,
    /// Algorithms that are too slow for the tests at this size.
    #[serde(default)]
    pub too_slow: Vec<Algorithm>,
    /// The results of context-sensitive DPOR, if the program can report its state.
    pub context_sensitive: Option<ContextSensitive>,
    /// Results published by others for this size.
    #[serde(default)]
    pub published: Vec<Published>,
}

/// The results of context-sensitive DPOR at one size.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextSensitive {
    /// Number of executions that run to completion.
    pub executions: u64,
    /// Number of executions in which a thread halts.
    #[serde(default)]
    pub halted: u64,
    /// Number of executions that are cut because they would end like others.
    pub blocked: u64,
}

/// The tests that run a size.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tested {
    /// Every test run, with all algorithms that are not too slow.
    Always,
    /// The thorough test run, with the algorithms that explore each trace once and, if the program
    /// reports its state, with `context-sensitive`.
    Thoroughly,
    /// No test. The size is for `mazurka compare`.
    Never,
}

/// A published result, for comparison.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The tool or paper.
    pub by: String,
    /// The algorithm, if Mazurka has this algorithm.
    pub algorithm: Option<Algorithm>,
    /// Executions, including redundant executions.
    pub executions: Option<u64>,
    /// CPU seconds.
    pub seconds: Option<f64>,
    /// Peak memory in megabytes.
    pub megabytes: Option<u32>,
}
