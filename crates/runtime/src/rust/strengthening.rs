//! Stronger orderings than those of the program, to find out which of them prevent a failure.

use crate::engine::Engine;
use crate::engine::model::Model;
use crate::rust::versions::memory_order;
use crate::trace::source::Spot;
use explore::{MemoryOrder, OpKind, Request};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// An ordering weaker than `SeqCst` in the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Written {
    /// The kind of the operation.
    pub kind: OpKind,
    /// The ordering. For a compare-exchange it is that on success, unless this is `SeqCst`.
    pub order: MemoryOrder,
}

impl Written {
    /// Returns the orderings weaker than `SeqCst` that the operation can have instead, the weakest
    /// first. The first one stands for the ordering that is written.
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
    /// The weakest ordering that each place may have. Other places have `SeqCst`.
    least: BTreeMap<Spot, MemoryOrder>,
    /// The weaker orderings of the program that were met.
    met: BTreeMap<Spot, Written>,
}

impl Strengthening {
    fn least(&self, spot: Spot) -> MemoryOrder {
        self.least
            .get(&spot)
            .copied()
            .unwrap_or(MemoryOrder::SeqCst)
    }
}

impl Engine {
    /// Strengthens the orderings of an operation at this place.
    pub(crate) fn strengthen(&mut self, request: &mut Request, spot: Spot) {
        let Some(strengthening) = &mut self.guests.strengthening else {
            return;
        };
        strengthening.met.entry(spot).or_insert(Written {
            kind: request.op.kind,
            order: match request.order.is_weaker() {
                true => request.order,
                false => request.on_failure,
            },
        });
        let least = strengthening.least(spot);
        request.order = request.order.at_least(least);
        request.on_failure = request.on_failure.at_least(least);
    }

    /// Returns the ordering that the current operation has instead of this one.
    pub(crate) fn strengthened(&mut self, order: Ordering) -> Ordering {
        if self.guests.strengthening.is_none() || order == Ordering::SeqCst {
            return order;
        }
        let spot = self.own_spot();
        let strengthening = self.guests.strengthening.as_ref();
        let least = strengthening.map_or(MemoryOrder::Relaxed, |own| own.least(spot));
        match memory_order(order).at_least(least) {
            MemoryOrder::Relaxed => Ordering::Relaxed,
            MemoryOrder::Acquire => Ordering::Acquire,
            MemoryOrder::Release => Ordering::Release,
            MemoryOrder::AcqRel => Ordering::AcqRel,
            MemoryOrder::SeqCst | MemoryOrder::Object => Ordering::SeqCst,
        }
    }
}

impl Model {
    /// Uses stronger orderings from now on: at each place at least the one given, or `SeqCst` if
    /// none is given.
    pub fn strengthen(&mut self, least: BTreeMap<Spot, MemoryOrder>) {
        let strengthening = &mut self.engine_mut().guests.strengthening;
        strengthening.get_or_insert_default().least = least;
    }

    /// Uses the orderings of the program again. Returns the weaker ones that were met since the
    /// first call of [`strengthen`](Model::strengthen), by place.
    pub fn stop_strengthening(&mut self) -> BTreeMap<Spot, Written> {
        let strengthening = self.engine_mut().guests.strengthening.take();
        strengthening.map_or_else(BTreeMap::new, |own| own.met)
    }

    /// Returns the weaker orderings that were met so far.
    pub fn weak_orderings(&self) -> BTreeMap<Spot, Written> {
        let strengthening = self.engine().guests.strengthening.as_ref();
        strengthening.map_or_else(BTreeMap::new, |own| own.met.clone())
    }
}
