//! The orderings of atomic accesses, and what they mean for a search and for data races.

use crate::engine::Engine;
use crate::rust::versions::memory_order;
use explore::{Access, Op, Request};
use std::sync::atomic::Ordering;

impl Engine {
    /// Returns whether synchronization by atomic accesses matters for data races.
    #[inline(always)]
    pub(super) fn is_ordering(&self) -> bool {
        self.watch.races && self.guests.native.is_ordering
    }

    /// Returns the request for an atomic access of the running thread at the place `code`. `orders`
    /// are the orderings on success and on failure; they are left out if the search does not need
    /// them.
    #[inline(always)]
    pub(super) fn ordered(&mut self, op: Op, orders: [Ordering; 2], code: usize) -> Request {
        self.thread().life.code = code;
        let is_weak = orders != [Ordering::SeqCst; 2];
        match is_weak && self.guests.native.has_orderings {
            true => self.with_orders(op, orders),
            false => Request::plain(op),
        }
    }

    #[cold]
    fn with_orders(&mut self, op: Op, [order, on_failure]: [Ordering; 2]) -> Request {
        // A release store need not continue the sequence: it also releases everything that earlier
        // stores of the thread have released.
        let may_continue = op.access == Access::Write && !memory_order(order).releases();
        let mut request = Request {
            order: memory_order(order),
            on_failure: memory_order(on_failure),
            continues: may_continue && self.continues_release_sequences(),
            ..Request::plain(op)
        };
        self.process_ordering(&mut request, None);
        request
    }

    /// Returns whether a store at the current code continues the release sequence of its thread, as
    /// in C and in C++ before C++20. Each translation unit may be in another language.
    pub(super) fn continues_release_sequences(&mut self) -> bool {
        let Some(native) = self.config.native else {
            return false;
        };
        let code = self.thread().life.code;
        let known = self.guests.native.continuing.entry(code);
        *known.or_insert_with(|| native.source_map.continues_release_sequences(code))
    }

    /// Returns the effective memory order. Where plain accesses are interleaved, all accesses are
    /// sequentially consistent.
    pub(super) fn effective(&self, order: Ordering) -> Ordering {
        match self.races_plain() {
            true => order,
            false => Ordering::SeqCst,
        }
    }
}
