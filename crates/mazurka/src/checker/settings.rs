//! The settings of a check: everything except its observer.

use super::CheckError;
use explore::{Algorithm, MemoryModel, Options};
use report::{Conditions, FailureKind, LeftOut, Omission, Suppression};
use runtime::{Config, Names};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

/// The number of executions of `random` and `pct` if no limit is set.
const RANDOM_EXECUTIONS: u64 = 10_000;

/// The default limit of executions spent after a failure to find a short one.
const EXTRA_EXECUTIONS: u64 = 100;

/// The settings of a [`Checker`](super::Checker).
#[derive(Clone)]
pub(crate) struct Settings {
    pub algorithm: Algorithm,
    pub options: Options,
    pub seed_is_set: bool,
    /// The configuration of the model.
    pub config: Config,
    /// Whether messages write options as on the command line.
    pub is_commanded: bool,
    /// The memory model that the search has chosen under `MemoryModel::Auto`.
    pub chosen_memory: Option<MemoryModel>,
    /// Omissions (parts of the behaviour that the check leaves out) despite which a program counts
    /// as verified.
    pub accepted: Vec<Omission>,
    pub suppressions: Vec<Suppression>,
    /// Omissions that do not depend on the program's behaviour.
    pub left_out: Vec<LeftOut>,
    pub name: String,
    pub max_executions: Option<u64>,
    pub time_limit: Option<Duration>,
    pub keeps_going: bool,
    pub extra: u64,
    /// Whether to find out why an execution fails.
    pub explains: bool,
    /// Whether the report includes the tree of the search.
    pub draws: bool,
    pub schedule_file: Option<PathBuf>,
    pub checkpoint: Option<PathBuf>,
    pub checkpoint_interval: u64,
    pub resume: Option<PathBuf>,
    /// Flags, each of which stops the search.
    pub stops: Vec<Arc<AtomicBool>>,
    /// Checks whether a slice should end soon, because other jobs have nothing to do.
    pub asks_for_early_end: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
    /// The file in which the search records its progress for the process that started it
    /// (`report::Trail`).
    pub trail: Option<PathBuf>,
    /// The trail, if it is already mapped into memory.
    pub trail_words: Option<&'static [AtomicU64]>,
}

impl Settings {
    /// Checks whether a failure of this kind ends the search. After an unsupported operation, the
    /// program may behave differently from what the search expects.
    pub fn ends_after(&self, kind: FailureKind) -> bool {
        !self.keeps_going || kind == FailureKind::Unsupported
    }

    /// Creates the default settings.
    pub fn new() -> Settings {
        Settings {
            algorithm: Algorithm::default(),
            options: Options::default(),
            seed_is_set: false,
            config: Config {
                library: crate::sources(),
                conditions: Conditions {
                    memory: MemoryModel::Auto,
                    ..Conditions::default()
                },
                ..Config::default()
            },
            is_commanded: false,
            chosen_memory: None,
            accepted: Vec::new(),
            suppressions: Vec::new(),
            left_out: Vec::new(),
            name: String::new(),
            max_executions: None,
            time_limit: None,
            keeps_going: false,
            extra: EXTRA_EXECUTIONS,
            explains: false,
            draws: false,
            schedule_file: None,
            checkpoint: None,
            checkpoint_interval: 1,
            resume: None,
            stops: Vec::new(),
            asks_for_early_end: None,
            trail: None,
            trail_words: None,
        }
    }

    /// Returns the memory of the trail, if there is a trail.
    pub fn trail_words(&self) -> Result<Option<&'static [AtomicU64]>, CheckError> {
        let (None, Some(path)) = (self.trail_words, &self.trail) else {
            return Ok(self.trail_words);
        };
        shared_words(path).map(Some)
    }

    /// Returns the memory model of the search. Under `Auto`, this is sequential consistency until
    /// the search has chosen another model.
    pub fn memory(&self) -> MemoryModel {
        match (self.config.conditions.memory, self.chosen_memory) {
            (MemoryModel::Auto, chosen) => chosen.unwrap_or(MemoryModel::Sc),
            (memory, _) => memory,
        }
    }

    /// Checks whether the algorithm can explore execution graphs.
    pub fn has_graphs(&self) -> bool {
        matches!(self.algorithm, Algorithm::Parsimonious | Algorithm::Random)
    }

    /// Checks whether the options allow a search under a weaker memory model.
    pub fn may_weaken(&self) -> bool {
        self.has_graphs()
            && self.options.preemptions.is_none()
            && !self.config.conditions.interleaves_plain
            && !self.config.conditions.is_enforceable
    }

    /// Adopts the memory model that the search has chosen.
    pub fn adopt(&mut self, names: &Names) {
        self.chosen_memory = names.chosen_memory().map(|(memory, _)| memory);
    }

    /// Returns the memory model for a model of the program that continues the search. This is
    /// `Auto` if it was requested and the search has not chosen a memory model.
    pub fn memory_of_model(&self) -> MemoryModel {
        match (self.config.conditions.memory, self.chosen_memory) {
            (MemoryModel::Auto, Some(chosen)) => chosen,
            (memory, _) => memory,
        }
    }

    /// Returns the configuration of a model that continues the search.
    pub fn model_config(&self) -> Config {
        let mut config = self.config.clone();
        config.conditions.memory = self.memory_of_model();
        config
    }

    /// Checks whether execution graphs are searched.
    pub fn is_weak(&self) -> bool {
        self.memory().is_weak()
    }

    /// Checks whether twins are explored up to permutation.
    pub fn uses_symmetry(&self) -> bool {
        self.config.symmetry && !self.is_weak()
    }

    /// Returns the options of the strategy.
    pub fn options(&self) -> Options {
        Options {
            memory: self.memory(),
            ..self.options
        }
    }

    /// Returns the effective limit on executions.
    pub fn limit(&self) -> Option<u64> {
        match (self.max_executions, self.time_limit) {
            (None, None) if !self.algorithm.proves() => Some(RANDOM_EXECUTIONS),
            (limit, _) => limit,
        }
    }
}

/// Maps the memory of a trail.
pub(super) fn shared_words(trail: &Path) -> Result<&'static [AtomicU64], CheckError> {
    runtime::shared_words(trail).map_err(|error| CheckError::Unwritable {
        path: trail.to_owned(),
        reason: error.to_string(),
    })
}
