//! Words of the checker that stand for state of the C library, of the system or of the checker
//! itself. Library calls read and write these words in place of the state.

use super::Frame;
use super::atomics::{load_unless, modify_unless};
use super::places::Given;
use crate::engine::Engine;
use crate::engine::names::Range;
use crate::engine::perform::silently;
use crate::rust::atomic::Value;
use crate::rust::versions::{Sort, memory_order};
use explore::{Access, Op, OpKind, Request};
use report::Restart;
use std::sync::atomic::Ordering;

/// Performs an atomic load of one of the checker's own words, while the checker handles a library
/// call of the program. All accesses to the word are totally ordered.
///
/// # Safety
///
/// The conditions are those of [`load`](super::load).
pub unsafe fn load_within<V: Value>(pointer: *const V, order: Ordering, frame: *const Frame) -> V {
    // SAFETY: as promised by the caller.
    unsafe {
        let given = Given::Part([pointer.addr() as u128, 0, 0]);
        let stops = |engine: &mut Engine| engine.stops_by(frame, true, given);
        let code = (*frame).code();
        if silently(|engine| engine.is_weak()) {
            let named = ("load", order, Sort::Own);
            return modify_unless(stops, pointer.cast_mut(), named, code, |value| value);
        }
        load_unless(stops, pointer, (order, Sort::Own), code)
    }
}

/// Performs an atomic read-modify-write of one of the checker's own words, while the checker
/// handles a library call of the program.
///
/// # Safety
///
/// The conditions are those of [`store`](super::store).
pub unsafe fn modify_within<V: Value>(
    pointer: *mut V,
    (name, order): (&'static str, Ordering),
    code: usize,
    change: impl FnOnce(V) -> V,
) -> V {
    let named = (name, order, Sort::Own);
    // SAFETY: as promised by the caller.
    unsafe { modify_unless(|_| false, pointer, named, code, change) }
}

/// Merges the objects of these two words, because one library call uses the state of both.
pub fn use_together(first: usize, second: usize) {
    silently(|engine| {
        let [first, second] = [first, second].map(|word| engine.range(word, size_of::<u64>()));
        if engine.names.merge(first.object, second.object) {
            engine.coarsen(Restart::MergedObjects);
        }
    });
}

impl Engine {
    /// Announces an access to one of the checker's own words. The ordering has no influence on the
    /// choice of the memory model, which depends only on accesses of the program.
    pub(super) fn announces_own(
        &mut self,
        (kind, access): (OpKind, Access),
        range: Range,
        order: Ordering,
        code: usize,
    ) -> bool {
        self.thread().life.code = code;
        let op = Op {
            kind,
            access,
            object: self.names.representative(range.object),
        };
        self.announces_request(Request {
            order: memory_order(order),
            ..Request::plain(op)
        })
    }
}
