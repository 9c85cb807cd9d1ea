//! The end of statics. When the last thread of an execution ends, the values that statics own are
//! dropped. Values that remain after that are leaks.
//!
//! `std` never drops statics. So the operations of their destructors belong to no execution: they
//! take effect at once and are not events. A destructor that waits for something that has not
//! happened is abandoned, because no other thread is left. Executions with remaining threads or
//! with panics do not drop their statics.

use crate::engine::Engine;
use crate::engine::perform;
use explore::{Pending, ValueId};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

/// The state to restore after the statics are dropped, because the drops do not belong to the last
/// event of the execution.
pub(crate) struct Ending {
    /// The value of the object of the last event, before and after this event.
    before: ValueId,
    after: ValueId,
    /// The number of edges collected for the next event.
    next_edges: usize,
    is_recorded: bool,
}

/// Drops the values that the statics own, if the thread that ends is the last thread.
///
/// # Safety
///
/// The engine must be alive, the caller must be code of the checker (not of the program), and no
/// reference to the engine may be held.
pub(crate) unsafe fn drop_statics(engine: NonNull<Engine>) {
    // SAFETY: as promised by the caller. No reference exists while a destructor runs.
    if !unsafe { &*engine.as_ptr() }.drops_statics() {
        return;
    }
    // SAFETY: as above.
    let owned = unsafe { &mut *engine.as_ptr() }.take_owned_by_statics();
    let mut is_stopped = false;
    for drop in owned {
        perform::leave(engine);
        is_stopped |= catch_unwind(AssertUnwindSafe(drop)).is_err();
        perform::enter_root();
    }
    // SAFETY: as above.
    unsafe { &mut *engine.as_ptr() }.end_ending(is_stopped);
}

impl Engine {
    /// Checks whether the running thread is the last thread, and there are statics to drop.
    #[inline]
    fn drops_statics(&self) -> bool {
        self.life.live == 1 && !self.is_tearing_down && self.statics_own_values()
    }

    /// Checks whether any static owns a value.
    pub(crate) fn statics_own_values(&self) -> bool {
        self.guests.residents.own_values()
            || self
                .guests
                .statics
                .iter()
                .any(|known| known.value.is_some())
    }

    /// Returns the destructors of all values that statics own. Until [`drop_statics`] is done, a
    /// signal ends only the destructor.
    #[cold]
    fn take_owned_by_statics(&mut self) -> Vec<Box<dyn FnOnce()>> {
        self.guests.ending = Some(Ending {
            before: self.before,
            after: self.after,
            next_edges: self.life.next_edges.len(),
            is_recorded: self.watch.records,
        });
        self.watch.records = false;
        self.is_tearing_down = true;
        let mut owned = self.guests.residents.take_destructors();
        let lazy = self.guests.statics.iter_mut();
        let lazy = lazy.filter_map(|known| known.value.take());
        owned.extend(lazy.map(|value| Box::new(|| drop(value)) as Box<dyn FnOnce()>));
        owned
    }

    #[cold]
    fn end_ending(&mut self, is_stopped: bool) {
        let Some(ending) = self.guests.ending.take() else {
            return;
        };
        (self.before, self.after) = (ending.before, ending.after);
        self.life.next_edges.truncate(ending.next_edges);
        self.watch.records = ending.is_recorded;
        self.is_tearing_down = false;
        if is_stopped {
            self.has_lost_statics();
        }
    }

    /// Abandons the running thread if it is dropping statics. For the execution, the thread has
    /// then ended.
    pub(crate) fn lose_destructor(&mut self) {
        if self.guests.ending.is_some() {
            self.end_ending(true);
            self.abandon_running();
            self.end_thread(self.running);
            self.life.pending[self.running.index()] = Pending::Finished;
        }
    }

    /// Records that a signal ended a thread, perhaps in a destructor of a static.
    pub(crate) fn lost_destructor(&mut self) {
        self.end_ending(true);
    }

    /// Records that a destructor of a static did not finish. Values that it owns may remain.
    #[cold]
    fn has_lost_statics(&mut self) {
        let warning = "a static panics or waits when it is dropped, so leaks were not checked";
        self.guests.warnings.borrow_mut().insert(warning.to_owned());
        self.guests.has_lost_statics = true;
    }
}
