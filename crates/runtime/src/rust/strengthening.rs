//! Stronger orderings than those of the program, to find out which of them prevent a failure.

use crate::engine::Engine;
use crate::engine::model::Model;
use crate::rust::versions::memory_order;
use crate::trace::source::Spot;
use explore::{MemoryOrder, OpKind, Request};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// The place of an ordering in the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Site {
    /// The place of the operation.
    pub spot: Spot,
    /// Whether the ordering is the failure ordering of a compare-exchange.
    pub is_of_failure: bool,
}

/// An ordering weaker than `SeqCst` in the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Written {
    /// The kind of the operation. A compare-exchange that fails is a load.
    pub kind: OpKind,
    /// The ordering.
    pub order: MemoryOrder,
}

impl Written {
    /// Returns the orderings weaker than `SeqCst` that the operation can have instead, the weakest
    /// first. The first one, `Relaxed`, stands for the program's own ordering.
    pub fn candidates(self) -> impl Iterator<Item = MemoryOrder> {
        let all: &[MemoryOrder] = match self.kind {
            OpKind::Load => &[MemoryOrder::Acquire],
            OpKind::Store => &[MemoryOrder::Release],
            _ => &[
                MemoryOrder::Acquire,
                MemoryOrder::Release,
                MemoryOrder::AcqRel,
            ],
        };
        let others = all.iter().copied();
        let others = others.filter(move |&order| self.order.at_least(order) != self.order);
        std::iter::once(MemoryOrder::Relaxed).chain(others)
    }
}

/// The orderings of the current search for a repair.
#[derive(Default)]
pub(crate) struct Strengthening {
    /// The weakest ordering that each site may have. Other sites have `SeqCst`.
    least: BTreeMap<Site, MemoryOrder>,
    /// The orderings of the program weaker than `SeqCst` that executions have used.
    used: BTreeMap<Site, Written>,
}

impl Strengthening {
    /// Returns the ordering to use at a site instead of the program's own ordering.
    fn strengthened(&self, site: Site, order: MemoryOrder) -> MemoryOrder {
        let least = self.least.get(&site).copied();
        order.at_least(least.unwrap_or(MemoryOrder::SeqCst))
    }

    fn record_and_strengthen(&mut self, site: Site, kind: OpKind, order: &mut MemoryOrder) {
        if order.is_weaker() {
            let written = Written {
                kind,
                order: *order,
            };
            self.used.entry(site).or_insert(written);
        }
        *order = self.strengthened(site, *order);
    }
}

impl Engine {
    /// Strengthens the orderings of an operation at this place.
    pub(crate) fn strengthen(&mut self, request: &mut Request, spot: Spot) {
        let Some(strengthening) = &mut self.guests.strengthening else {
            return;
        };
        let site = |is_of_failure| Site {
            spot,
            is_of_failure,
        };
        let kind = request.op.kind;
        strengthening.record_and_strengthen(site(false), kind, &mut request.order);
        if kind == OpKind::CompareExchange {
            strengthening.record_and_strengthen(site(true), OpKind::Load, &mut request.on_failure);
        }
    }

    /// Returns the strengthened ordering of the current operation, for which the program requests
    /// `order`.
    pub(crate) fn strengthened(&mut self, order: Ordering) -> Ordering {
        self.strengthened_if(false, order)
    }

    /// Returns the strengthened ordering of the current operation. `is_of_failure` selects the
    /// failure ordering of a compare-exchange.
    pub(crate) fn strengthened_if(&mut self, is_of_failure: bool, order: Ordering) -> Ordering {
        if self.guests.strengthening.is_none() || order == Ordering::SeqCst {
            return order;
        }
        let site = Site {
            spot: self.own_spot(),
            is_of_failure,
        };
        let strengthening = self.guests.strengthening.as_ref();
        let order = memory_order(order);
        match strengthening.map_or(order, |own| own.strengthened(site, order)) {
            MemoryOrder::Relaxed => Ordering::Relaxed,
            MemoryOrder::Acquire => Ordering::Acquire,
            MemoryOrder::Release => Ordering::Release,
            MemoryOrder::AcqRel => Ordering::AcqRel,
            MemoryOrder::SeqCst | MemoryOrder::Object => Ordering::SeqCst,
        }
    }
}

impl Model {
    /// Uses stronger orderings from now on: at each site at least the one given, or `SeqCst` if
    /// none is given.
    pub fn strengthen(&mut self, least: BTreeMap<Site, MemoryOrder>) {
        let strengthening = &mut self.engine_mut().guests.strengthening;
        strengthening.get_or_insert_default().least = least;
    }

    /// Uses the orderings of the program again. Returns those weaker than `SeqCst` that executions
    /// have used since the first call of [`strengthen`](Model::strengthen).
    pub fn stop_strengthening(&mut self) -> BTreeMap<Site, Written> {
        let strengthening = self.engine_mut().guests.strengthening.take();
        strengthening.map_or_else(BTreeMap::new, |own| own.used)
    }

    /// Returns the orderings weaker than `SeqCst` that executions have used so far.
    pub fn weak_orderings(&self) -> BTreeMap<Site, Written> {
        let strengthening = self.engine().guests.strengthening.as_ref();
        strengthening.map_or_else(BTreeMap::new, |own| own.used.clone())
    }
}
