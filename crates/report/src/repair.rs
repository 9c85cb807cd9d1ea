//! Stronger orderings that prevent a failure.

use crate::quantity::counted;
use serde::{Deserialize, Serialize};

/// The stronger orderings with which a failure does not happen.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Repair {
    /// Orderings that together prevent the failure. Each is as weak as possible. The list is empty
    /// if the failure happens even with sequentially consistent orderings.
    pub orderings: Vec<Stronger>,
    /// The number of executions that were run to find the orderings.
    pub executions: u64,
}

/// A stronger ordering at a place of the program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Stronger {
    /// The place in the source.
    pub location: String,
    /// Whether this is the failure ordering of a compare-exchange.
    #[serde(default)]
    pub on_failure: bool,
    /// The ordering that the program has there.
    pub is: String,
    /// The ordering that prevents the failure.
    pub needs: String,
}

impl Repair {
    /// Describes the repair, in one sentence.
    pub fn sentence(&self) -> String {
        let tried = counted(self.executions, "execution");
        if self.orderings.is_empty() {
            return format!(
                "It also happens if all orderings are sequentially consistent, so it is not a matter of orderings ({tried} tried)."
            );
        }
        let orderings: Vec<String> = self.orderings.iter().map(Stronger::text).collect();
        format!(
            "It cannot happen with {} ({tried} tried).",
            orderings.join(" and ")
        )
    }
}

impl Stronger {
    fn text(&self) -> String {
        // Two orderings can be on one line, so the column is needed.
        let place = self.location.rsplit(['/', '\\']).next();
        let place = place.unwrap_or(&self.location);
        let when = match self.on_failure {
            true => " (on failure)",
            false => "",
        };
        format!("{} instead of {}{when} at {place}", self.needs, self.is)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repair_says_what_is_needed_where() {
        let stronger = |location: &str, is: &str, needs: &str| Stronger {
            location: location.to_owned(),
            on_failure: location.starts_with("b"),
            is: is.to_owned(),
            needs: needs.to_owned(),
        };
        let repair = Repair {
            orderings: vec![
                stronger("a.rs:3:5", "Relaxed", "Release"),
                stronger("b.rs:9:5", "Relaxed", "Acquire"),
            ],
            executions: 12,
        };
        assert_eq!(
            repair.sentence(),
            "It cannot happen with Release instead of Relaxed at a.rs:3:5 and Acquire instead of Relaxed (on \
             failure) at b.rs:9:5 (12 executions tried)."
        );
    }
}
