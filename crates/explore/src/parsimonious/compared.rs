//! The objects that conditional operations (compare-exchanges) access.
//!
//! For other objects, the characterization of read schedules can be shorter. If an object turns out
//! to be compared after its characterization was shortened, the search starts again.

use crate::execution::{ObjectId, Request};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The compared objects known so far, and the assumptions made.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(super) struct Compared {
    /// Objects that a conditional operation accessed.
    compared: BTreeSet<ObjectId>,
    /// Objects assumed not to be compared.
    simplified: BTreeSet<ObjectId>,
    is_refuted: bool,
}

impl Compared {
    /// Records an operation.
    #[inline]
    pub(super) fn announce(&mut self, request: &Request) {
        if request.expects.is_some() {
            self.compares(request.op.object);
        }
    }

    #[inline(never)]
    fn compares(&mut self, object: ObjectId) {
        if self.compared.insert(object) {
            self.is_refuted |= self.simplified.contains(&object);
        }
    }

    /// Checks whether a conditional operation is known to access the object. If not, records the
    /// assumption that none does.
    pub(super) fn rely_on(&mut self, object: ObjectId) -> bool {
        let is_compared = self.compared.contains(&object);
        if !is_compared {
            self.simplified.insert(object);
        }
        is_compared
    }

    /// Checks whether a conditional operation accesses an object, contrary to an assumption.
    pub(super) fn is_refuted(&self) -> bool {
        self.is_refuted
    }

    /// Keeps the known objects for a search from the start.
    pub(super) fn begin_again(&mut self) {
        self.simplified.clear();
        self.is_refuted = false;
    }
}
