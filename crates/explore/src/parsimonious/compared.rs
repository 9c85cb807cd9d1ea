//! Which objects conditional operations (compare-exchanges) access.
//!
//! On the others the characterisation of read schedules can be shorter. That an object is compared
//! may turn out late; if something was left out for it before, the search begins again.

use crate::execution::{ObjectId, Request};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What is known so far.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(super) struct Compared {
    /// Objects that a conditional operation accessed.
    compared: BTreeSet<ObjectId>,
    /// Objects for which something was left out.
    simplified: BTreeSet<ObjectId>,
    is_refuted: bool,
}

impl Compared {
    /// Takes note of an operation.
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

    /// Whether a conditional operation accesses the object; if not, that is relied on from now on.
    pub(super) fn rely_on(&mut self, object: ObjectId) -> bool {
        let is_compared = self.compared.contains(&object);
        if !is_compared {
            self.simplified.insert(object);
        }
        is_compared
    }

    /// Whether something that was relied on is not true.
    pub(super) fn is_refuted(&self) -> bool {
        self.is_refuted
    }

    /// Keeps what is known for a search from the start.
    pub(super) fn begin_again(&mut self) {
        self.simplified.clear();
        self.is_refuted = false;
    }
}
