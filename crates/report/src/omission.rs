//! Parts of a program that a search is known to leave out, and which of them the user accepts.

use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// A kind of known omission.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Omission {
    /// Writes to shared memory that no hook reports.
    Unseen,
    /// Instructions in assembly that access memory.
    Asm,
    /// Libraries without hooks that synchronize threads.
    Libraries,
    /// Values of inputs that are not tried.
    Inputs,
    /// Reuse of freed memory by later allocations.
    Reuse,
    /// Synchronization in Rust programs by types other than those of the checker.
    Hidden,
    /// Behaviour that the memory model permits and that the search does not explore.
    Memory,
    /// What would follow a suppressed failure.
    Suppressed,
}

/// A known omission.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its kind.
    pub kind: Omission,
    /// A description with its place, for people.
    pub what: String,
}

impl Omission {
    /// Every kind.
    pub const ALL: [Omission; 8] = [
        Omission::Unseen,
        Omission::Asm,
        Omission::Libraries,
        Omission::Inputs,
        Omission::Reuse,
        Omission::Hidden,
        Omission::Memory,
        Omission::Suppressed,
    ];

    /// Returns its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Omission::Unseen => "unseen",
            Omission::Asm => "asm",
            Omission::Libraries => "libraries",
            Omission::Inputs => "inputs",
            Omission::Reuse => "reuse",
            Omission::Hidden => "hidden",
            Omission::Memory => "memory",
            Omission::Suppressed => "suppressed",
        }
    }
}

/// ```
/// use report::Omission;
/// assert_eq!("asm".parse(), Ok(Omission::Asm));
/// assert!("assembly".parse::<Omission>().is_err());
/// ```
impl FromStr for Omission {
    type Err = String;

    fn from_str(name: &str) -> Result<Omission, String> {
        let mut all = Omission::ALL.into_iter();
        all.find(|kind| kind.name() == name)
            .ok_or_else(|| format!("no kind of omission is called {name}"))
    }
}

impl Display for Omission {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl LeftOut {
    /// Creates an omission of this kind.
    pub fn new(kind: Omission, what: impl Into<String>) -> LeftOut {
        LeftOut {
            kind,
            what: what.into(),
        }
    }
}

/// Formats the omission as a bound, followed by the option or environment variable that accepts it.
impl Display for LeftOut {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let LeftOut { kind, what } = self;
        match kind {
            Omission::Hidden => write!(formatter, "{what}; accept this with MAZURKA_ACCEPT={kind}"),
            Omission::Unseen
            | Omission::Asm
            | Omission::Libraries
            | Omission::Inputs
            | Omission::Reuse
            | Omission::Memory
            | Omission::Suppressed => write!(formatter, "{what}; accept this with --accept {kind}"),
        }
    }
}
