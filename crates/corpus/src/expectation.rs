//! What must come out of a program: the contents of `corpus/<name>/expect.toml`.

use crate::native;
use mazurka::{Algorithm, FailureKind};
use serde::Deserialize;

/// What must come out of a program, whatever algorithm runs it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// What a search finds.
    pub verdict: Expected,
    /// The kind of the bug, where the verdict is one.
    pub failure: Option<FailureKind>,
    /// The number of traces in closed form, if one is known.
    pub formula: Option<String>,
    /// Where the program and its numbers come from.
    pub source: Option<String>,
    /// Whether it has spin loops. How often they go round before the await rule ends them depends on
    /// the compiled code, and so do the numbers of traces, which are then of one build.
    #[serde(default)]
    pub spins: bool,
    /// What is known for certain sizes.
    #[serde(default)]
    pub sizes: Vec<SizeExpectation>,
    /// What differs for the C or C++ program of the same name.
    pub native: Option<native::Section>,
}

/// The verdict of a finished search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// No interleaving has a bug.
    Verified,
    /// Some interleaving has one.
    Bug,
}

/// What must come out at one size.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeExpectation {
    /// The sizes, one per parameter.
    pub size: Vec<u32>,
    /// The verdict, where it is not that of the other sizes.
    pub verdict: Option<Expected>,
    /// The traces that run to an end: the executions of an optimal algorithm that goes on after bugs.
    pub executions: u64,
    /// The traces in which a thread halts at an assumption, a bound or by the await rule.
    #[serde(default)]
    pub halted: u64,
    /// Which tests run this size.
    pub tested: Tested,
    /// Algorithms that do not finish at this size in the time of the tests.
    #[serde(default)]
    pub too_slow: Vec<Algorithm>,
    /// What context-sensitive DPOR explores, where the program can tell its state.
    pub context_sensitive: Option<ContextSensitive>,
    /// What others measured at this size.
    #[serde(default)]
    pub published: Vec<Published>,
}

/// What context-sensitive DPOR explores at one size.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextSensitive {
    /// Executions that run to an end.
    pub executions: u64,
    /// Executions in which a thread halts.
    #[serde(default)]
    pub halted: u64,
    /// Executions that are cut because they would end like others.
    pub blocked: u64,
}

/// Which tests run a size.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tested {
    /// Each run of the tests, with every algorithm that is not too slow.
    Always,
    /// The thorough run, with the algorithms that explore each trace once.
    Thoroughly,
    /// No test; for `mazurka compare`.
    Never,
}

/// A number that somebody published, for comparison.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The tool or paper.
    pub by: String,
    /// The algorithm, where it is one of ours.
    pub algorithm: Option<Algorithm>,
    /// Executions, redundant ones included.
    pub executions: Option<u64>,
    /// CPU seconds.
    pub seconds: Option<f64>,
    /// Peak memory in megabytes.
    pub megabytes: Option<u32>,
}
