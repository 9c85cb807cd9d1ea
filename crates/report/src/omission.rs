//! What a search is known to have left out of a program, and what the user accepts of that.

use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// A kind of what is known not to be explored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Omission {
    /// Writes to shared memory that no hook reports.
    Unseen,
    /// Instructions of an assembler that access memory.
    Asm,
    /// Libraries without hooks that synchronise threads.
    Libraries,
    /// Values of inputs that are not tried.
    Inputs,
    /// Memory that was freed and is given out again.
    Reuse,
    /// Synchronisation of Rust programs by other types than those of the checker.
    Hidden,
}

/// Something that is known not to be explored.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its kind.
    pub kind: Omission,
    /// What it is and where, for people.
    pub what: String,
}

impl Omission {
    /// Every kind.
    pub const ALL: [Omission; 6] = [
        Omission::Unseen,
        Omission::Asm,
        Omission::Libraries,
        Omission::Inputs,
        Omission::Reuse,
        Omission::Hidden,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Omission::Unseen => "unseen",
            Omission::Asm => "asm",
            Omission::Libraries => "libraries",
            Omission::Inputs => "inputs",
            Omission::Reuse => "reuse",
            Omission::Hidden => "hidden",
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
            .ok_or_else(|| format!("nothing to accept is called {name}"))
    }
}

impl Display for Omission {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl LeftOut {
    /// Of this kind.
    pub fn new(kind: Omission, what: impl Into<String>) -> LeftOut {
        LeftOut {
            kind,
            what: what.into(),
        }
    }
}

/// As a bound that ends with how to accept it.
impl Display for LeftOut {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let LeftOut { kind, what } = self;
        match kind {
            Omission::Hidden => write!(formatter, "{what}; accept this with MAZURKA_ACCEPT={kind}"),
            Omission::Unseen
            | Omission::Asm
            | Omission::Libraries
            | Omission::Inputs
            | Omission::Reuse => write!(formatter, "{what}; accept this with --accept {kind}"),
        }
    }
}
