//! The algorithms by name. Only this module turns a name into a search.

use crate::bounded::Bounded;
use crate::comparing::Comparing;
use crate::const_text::is_same;
use crate::execution::ThreadId;
use crate::graph::{GraphSearch, GraphWalk, MemoryModel};
use crate::parsimonious::Parsimonious;
use crate::preemptions::{Growing, Preemptions};
use crate::random::{Pct, RandomWalk};
use crate::reduction::{Classic, Exhaustive, FewPreemptions, Optimal, Sleep, Source};
use crate::search::Search;
use crate::strategy::Strategy;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::fmt;
use std::str::FromStr;

/// A way to search the executions of a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Algorithm {
    /// Every interleaving.
    Exhaustive,
    /// Sleep sets without another reduction (Godefroid 1996).
    Sleep,
    /// DPOR with persistent sets and sleep sets (Flanagan, Godefroid, POPL 2005).
    Classic,
    /// Source-DPOR (Abdulla et al., POPL 2014).
    Source,
    /// Context-sensitive DPOR based on Source-DPOR (Albert et al., CAV 2017), for programs that
    /// report their states.
    ContextSensitive,
    /// Optimal-DPOR with wakeup trees (Abdulla et al., POPL 2014).
    Optimal,
    /// Parsimonious optimal DPOR (Abdulla et al., CAV 2024).
    #[default]
    Parsimonious,
    /// Random walk.
    Random,
    /// Probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010).
    Pct,
    // Add new algorithms at the end: saved searches contain positions in this list.
}

/// Options of the strategies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Options {
    /// Seed of `random` and `pct`.
    pub seed: u64,
    /// The bound on preemptions in an execution, if there is one.
    pub preemptions: Option<Preemptions>,
    /// The memory model. If it [is weak](MemoryModel::is_weak), the algorithms that
    /// [prove](Algorithm::proves) the absence of bugs search execution graphs instead of
    /// interleavings.
    pub memory: MemoryModel,
}

impl Algorithm {
    /// All algorithms: first those that prove something, from naive to advanced, then the random
    /// ones.
    pub const ALL: [Algorithm; 9] = [
        Algorithm::Exhaustive,
        Algorithm::Sleep,
        Algorithm::Classic,
        Algorithm::Source,
        Algorithm::ContextSensitive,
        Algorithm::Optimal,
        Algorithm::Parsimonious,
        Algorithm::Random,
        Algorithm::Pct,
    ];

    /// Returns the algorithms that can search every program, in the order of [`ALL`](Self::ALL).
    pub fn general() -> impl Iterator<Item = Algorithm> {
        let all = Algorithm::ALL.into_iter();
        all.filter(|algorithm| !algorithm.compares_states())
    }

    /// Returns the name used on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Exhaustive => "exhaustive",
            Algorithm::Sleep => "sleep",
            Algorithm::Classic => "classic",
            Algorithm::Source => "source",
            Algorithm::ContextSensitive => "context-sensitive",
            Algorithm::Optimal => "optimal",
            Algorithm::Parsimonious => "parsimonious",
            Algorithm::Random => "random",
            Algorithm::Pct => "pct",
        }
    }

    /// Returns the algorithm with this name. In a constant, an unknown name is a compile error.
    ///
    /// # Panics
    ///
    /// Panics if no algorithm has this name.
    #[track_caller]
    pub const fn named(name: &str) -> Algorithm {
        let mut all = Algorithm::ALL.as_slice();
        while let [algorithm, others @ ..] = all {
            if is_same(algorithm.name().as_bytes(), name.as_bytes()) {
                return *algorithm;
            }
            all = others;
        }
        panic!("{}", UNKNOWN)
    }

    /// Checks whether a search that has ended without finding a bug proves the absence of bugs.
    pub fn proves(self) -> bool {
        !matches!(self, Algorithm::Random | Algorithm::Pct)
    }

    /// Checks whether the algorithm requires programs that report their state, and may skip traces
    /// that reach the same states as other traces.
    pub fn compares_states(self) -> bool {
        self == Algorithm::ContextSensitive
    }

    /// Checks whether parts of the search can be searched separately. The parts are split with
    /// [`Strategy::give_away`], or with [`Strategy::skip`] if the algorithm proves nothing.
    pub fn is_divisible(self, options: Options) -> bool {
        match self {
            Algorithm::Random | Algorithm::Pct => true,
            _ if options.memory.is_weak() => true,
            Algorithm::Exhaustive | Algorithm::Parsimonious => options.preemptions.is_none(),
            Algorithm::Sleep
            | Algorithm::Classic
            | Algorithm::Source
            | Algorithm::ContextSensitive
            | Algorithm::Optimal => false,
        }
    }

    /// Checks whether every interleaving is executed, instead of one for each trace.
    pub fn is_exhaustive(self) -> bool {
        self == Algorithm::Exhaustive
    }

    /// Checks whether each trace is executed exactly once, without blocked executions, provided
    /// that preemptions are not bounded.
    pub fn is_optimal(self) -> bool {
        matches!(self, Algorithm::Optimal | Algorithm::Parsimonious)
    }
}

/// The panic message of [`Algorithm::named`]. It repeats the names, because a constant cannot join
/// strings.
const UNKNOWN: &str = "there is no such algorithm; the algorithms are exhaustive, sleep, classic, \
    source, context-sensitive, optimal, parsimonious, random, pct";

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is not the name of an algorithm.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no algorithm {0:?}; the algorithms are {names}", names = Algorithm::ALL.map(Algorithm::name).join(", "))]
pub struct UnknownAlgorithm(pub String);

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Algorithm, UnknownAlgorithm> {
        Algorithm::ALL
            .into_iter()
            .find(|algorithm| algorithm.name() == name)
            .ok_or_else(|| UnknownAlgorithm(name.to_owned()))
    }
}

/// A saved search that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the saved search cannot be read: {0}")]
pub struct Unreadable(pub String);

impl Algorithm {
    /// Returns a new search. With a bound on preemptions, or under a weak memory model, another
    /// search replaces an algorithm that [proves](Algorithm::proves) something.
    pub fn strategy(self, options: Options) -> Box<dyn Strategy> {
        match options.preemptions.filter(|_| self.proves()) {
            Some(Preemptions::AtMost(bound)) => {
                return Box::new(Search::new().by(self.few_preemptions(bound)));
            }
            Some(Preemptions::From(bound)) => {
                return Box::new(Growing::new(bound, self.is_exhaustive()));
            }
            None => {}
        }
        match self {
            _ if options.memory.is_weak() && self.proves() => {
                Box::new(GraphSearch::new(options.memory))
            }
            Algorithm::Random if options.memory.is_weak() => {
                Box::new(GraphWalk::new(options.memory, options.seed))
            }
            Algorithm::Exhaustive => Box::new(Search::<Exhaustive>::new()),
            Algorithm::Sleep => Box::new(Search::<Sleep>::new()),
            Algorithm::Classic => Box::new(Search::<Classic>::new()),
            Algorithm::Source => Box::new(Search::<Source>::new()),
            Algorithm::ContextSensitive => Box::new(Comparing::new()),
            Algorithm::Optimal => Box::new(Search::<Optimal>::new()),
            Algorithm::Parsimonious => Box::new(Parsimonious::new()),
            Algorithm::Random => bounded(RandomWalk::new(options.seed), options),
            Algorithm::Pct => bounded(Pct::new(options.seed), options),
        }
    }

    /// Returns the reduction for a bound on preemptions. It replaces the reduction of the
    /// algorithm.
    fn few_preemptions(self, bound: u32) -> FewPreemptions {
        FewPreemptions::new(bound, self.is_exhaustive())
    }

    /// Returns a search for a [`Verification`](crate::Verification), or `None` for an algorithm
    /// that offers none. As event i, its first execution performs a step of the thread `guide[i]`,
    /// if this thread is enabled. Executions that share a longer prefix with the first execution
    /// are explored earlier.
    pub fn verifier(self, guide: Vec<ThreadId>) -> Option<Box<dyn Strategy>> {
        match self {
            Algorithm::Source => Some(Box::new(Search::<Source>::guided(guide))),
            Algorithm::Optimal => Some(Box::new(Search::<Optimal>::guided(guide))),
            Algorithm::Parsimonious => Some(Box::new(Parsimonious::guided(guide))),
            Algorithm::Exhaustive
            | Algorithm::Sleep
            | Algorithm::Classic
            | Algorithm::ContextSensitive
            | Algorithm::Random
            | Algorithm::Pct => None,
        }
    }

    /// Resumes a search that [`Strategy::save`] saved, under the same options.
    pub fn resume(self, options: Options, saved: &[u8]) -> Result<Box<dyn Strategy>, Unreadable> {
        self.read(options, saved)
            .map_err(|error| Unreadable(error.to_string()))
            .and_then(|strategy| match strategy.is_consistent() {
                true => Ok(strategy),
                false => Err(Unreadable("it is inconsistent".to_owned())),
            })
    }
}

impl Algorithm {
    fn read(self, options: Options, saved: &[u8]) -> postcard::Result<Box<dyn Strategy>> {
        match options.preemptions.filter(|_| self.proves()) {
            Some(Preemptions::AtMost(bound)) => {
                let search: Search<FewPreemptions> = whole(saved)?;
                return Ok(Box::new(search.by(self.few_preemptions(bound))));
            }
            Some(Preemptions::From(_)) => {
                return Ok(Box::new(whole::<Growing>(saved)?.resumed()));
            }
            None => {}
        }
        Ok(match self {
            _ if options.memory.is_weak() && self.proves() => {
                Box::new(whole::<GraphSearch>(saved)?)
            }
            Algorithm::Random if options.memory.is_weak() => Box::new(whole::<GraphWalk>(saved)?),
            Algorithm::Exhaustive => Box::new(whole::<Search<Exhaustive>>(saved)?),
            Algorithm::Sleep => Box::new(whole::<Search<Sleep>>(saved)?),
            Algorithm::Classic => Box::new(whole::<Search<Classic>>(saved)?),
            Algorithm::Source => Box::new(whole::<Search<Source>>(saved)?),
            Algorithm::ContextSensitive => Box::new(whole::<Comparing>(saved)?),
            Algorithm::Optimal => Box::new(whole::<Search<Optimal>>(saved)?),
            Algorithm::Parsimonious => Box::new(whole::<Parsimonious>(saved)?),
            Algorithm::Random => bounded(whole::<RandomWalk>(saved)?, options),
            Algorithm::Pct => bounded(whole::<Pct>(saved)?, options),
        })
    }
}

fn bounded(strategy: impl Strategy + 'static, options: Options) -> Box<dyn Strategy> {
    match options.preemptions {
        Some(Preemptions::AtMost(bound)) => Box::new(Bounded::new(strategy, bound)),
        // A bound grows when a search ends. Random searches never end, so a growing bound is
        // ignored.
        Some(Preemptions::From(_)) | None => Box::new(strategy),
    }
}

/// Decodes a value. It is an error if bytes are left over.
fn whole<S: DeserializeOwned>(saved: &[u8]) -> postcard::Result<S> {
    let (strategy, rest) = postcard::take_from_bytes(saved)?;
    match rest.is_empty() {
        true => Ok(strategy),
        false => Err(postcard::Error::SerdeDeCustom),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_has_a_name_that_messages_list() {
        for algorithm in Algorithm::ALL {
            assert_eq!(Algorithm::named(algorithm.name()), algorithm);
        }
        let names = Algorithm::ALL.map(Algorithm::name).join(", ");
        assert_eq!(
            UNKNOWN,
            format!("there is no such algorithm; the algorithms are {names}")
        );
    }

    #[test]
    #[should_panic(expected = "there is no such algorithm; the algorithms are exhaustive, sleep")]
    fn a_part_of_a_name_is_unknown() {
        Algorithm::named("opt");
    }
}
