//! The options for the conditions of a run.

use super::values::memory;
use clap::{Args, ValueEnum};
use explore::MemoryModel;
use report::Conditions;

/// Treatment of plain (non-atomic) accesses in C and C++.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Plain {
    /// Check for data races; plain accesses do not interleave.
    Race,
    /// Plain accesses interleave like atomic ones; data races are allowed.
    Sc,
}

/// The conditions of a run that `check` and `verify` share.
#[derive(Args, Clone)]
pub struct SharedConditions {
    /// How to treat plain (non-atomic) accesses in C and C++ [default: race]
    #[arg(long, value_name = "HOW")]
    pub plain: Option<Plain>,
    /// Stop a thread after N operations
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..),
        default_value_t = Conditions::default().max_events
    )]
    pub max_events: u32,
    /// Maximum number of timeouts per thread; a thread stops when one more timed operation expires
    #[arg(long, value_name = "N", default_value_t = Conditions::default().timeouts)]
    pub timeouts: u32,
}

/// The conditions of a run of `check`.
#[derive(Args, Clone)]
pub struct CheckConditions {
    #[command(flatten)]
    pub shared: SharedConditions,
    /// Memory model: auto, sc, tso, ra or rc11. Under a weaker model than sc, loads may return old
    /// values; auto is rc11 if threads share an atomic variable and access it with an ordering
    /// weaker than seq_cst, otherwise sc
    #[arg(long, value_name = "MODEL", default_value = MemoryModel::Auto.name(), value_parser = memory())]
    pub memory: MemoryModel,
    /// Stop a thread in C or C++ after N iterations of a loop
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub unroll: Option<u32>,
    /// Maximum number of spurious wakeups per thread
    #[arg(long, value_name = "N", default_value_t = Conditions::default().spurious)]
    pub spurious: u32,
    /// How often allocations of a thread in C or C++ may reuse freed memory
    #[arg(long, value_name = "N", default_value_t = Conditions::default().reuse)]
    pub reuse: u32,
}

impl SharedConditions {
    /// Returns the conditions of the run. Those that are no options here have their defaults.
    pub fn all(&self) -> Conditions {
        Conditions {
            interleaves_plain: self.plain == Some(Plain::Sc),
            max_events: self.max_events,
            timeouts: self.timeouts,
            ..Conditions::default()
        }
    }
}

impl CheckConditions {
    /// Returns the conditions of the run.
    pub fn all(&self) -> Conditions {
        Conditions {
            memory: self.memory,
            unroll: self.unroll,
            spurious: self.spurious,
            reuse: self.reuse,
            ..self.shared.all()
        }
    }
}
