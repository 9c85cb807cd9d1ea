//! The end of statics: when the last thread of an execution has ended, what they own is dropped, so that what is left then is a
//! leak.
//!
//! `std` never drops statics. So nothing that their destructors do belongs to the execution but that owners come to an end: a
//! destructor that performs an operation is unwound by that, and operations of what is unwound take effect at once. Executions with
//! threads that are left, or panics, drop their statics when they are cleared.

use crate::engine::Engine;
use crate::perform::{self, TearDown};
use explore::{Pending, Token};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::{self, NonNull};

thread_local! {
    /// The engine whose statics are dropped here; null if none are.
    static ENDING: Cell<*mut Engine> = const { Cell::new(ptr::null_mut()) };
}

/// Whether the statics of an execution are dropped here.
#[inline(always)]
pub(crate) fn is_under_way() -> bool {
    !ENDING.get().is_null()
}

/// Tells the execution whose statics are dropped here, if any are.
pub(crate) fn tell<R>(what: impl FnOnce(&mut Engine) -> R) -> Option<R> {
    let mut engine = NonNull::new(ENDING.get())?;
    // SAFETY: the engine is alive while its statics are dropped, and nobody else uses it while a destructor runs.
    Some(what(unsafe { engine.as_mut() }))
}

/// What is put back when the statics are dropped: nothing of it belongs to the last event.
pub(crate) struct Ending {
    before: Token,
    after: Token,
    next_edges: usize,
    is_recorded: bool,
}

/// An operation outside of an execution: if it is one of a destructor of a static, that is unwound. Gives the engine for operations of
/// what is being unwound.
pub(crate) fn unwind_destructor() -> Option<NonNull<Engine>> {
    let engine = NonNull::new(ENDING.get())?;
    if !std::thread::panicking() {
        resume_unwind(Box::new(TearDown));
    }
    Some(engine)
}

/// A thread ends: if it is the last one, what the statics own is dropped.
///
/// # Safety
///
/// The engine is alive, the checker runs, and no reference to the engine is held.
pub(crate) unsafe fn drop_statics(engine: NonNull<Engine>) {
    // SAFETY: as promised by the caller. No reference is left while a destructor runs.
    let owned = unsafe { &mut *engine.as_ptr() }.begin_end_of_statics();
    if owned.is_empty() {
        return;
    }
    ENDING.set(engine.as_ptr());
    let mut is_stopped = false;
    for drop in owned {
        is_stopped |= catch_unwind(AssertUnwindSafe(drop)).is_err();
        perform::enter_root();
    }
    // SAFETY: as above.
    unsafe { &mut *engine.as_ptr() }.end_ending(is_stopped);
}

impl Engine {
    /// What drops all that statics own, if the thread that runs is the last one. Until it has, a signal ends
    /// nothing but the destructor.
    #[inline]
    fn begin_end_of_statics(&mut self) -> Vec<Box<dyn FnOnce()>> {
        let is_last = self.live == 1 && !self.is_tearing_down;
        match is_last && self.statics_own_values() {
            true => self.take_owned_by_statics(),
            false => Vec::new(),
        }
    }

    /// Whether there are statics that own something.
    pub(crate) fn statics_own_values(&self) -> bool {
        self.residents.own_values() || self.statics.iter().any(|known| known.value.is_some())
    }

    #[cold]
    fn take_owned_by_statics(&mut self) -> Vec<Box<dyn FnOnce()>> {
        self.ending = Some(Ending {
            before: self.before,
            after: self.after,
            next_edges: self.next_edges.len(),
            is_recorded: self.watch.records,
        });
        self.watch.records = false;
        self.is_tearing_down = true;
        // The first operation that takes effect does not begin to unwind the thread.
        self.thread().torn = 1;
        let mut owned = self.residents.take_destructors();
        let lazy = self.statics.iter_mut();
        let lazy = lazy.filter_map(|known| known.value.take());
        owned.extend(lazy.map(|value| Box::new(|| drop(value)) as Box<dyn FnOnce()>));
        owned
    }

    #[cold]
    fn end_ending(&mut self, is_stopped: bool) {
        ENDING.set(ptr::null_mut());
        let Some(ending) = self.ending.take() else {
            return;
        };
        (self.before, self.after) = (ending.before, ending.after);
        self.next_edges.truncate(ending.next_edges);
        self.watch.records = ending.is_recorded;
        self.is_tearing_down = false;
        if is_stopped {
            self.has_late_statics();
        }
    }

    /// The thread that runs does not come to its end: if it drops statics, the execution goes without it.
    pub(crate) fn lose_destructor(&mut self) {
        if self.ending.is_some() {
            self.end_ending(true);
            self.lose_running();
            self.end_thread(self.running);
            self.pending[self.running.index()] = Pending::Finished;
        }
    }

    /// A signal ended a thread, perhaps in a destructor of a static.
    pub(crate) fn lost_destructor(&mut self) {
        self.end_ending(true);
    }

    /// A destructor of a static performs operations. What it owns may be left.
    #[cold]
    pub(crate) fn has_late_statics(&mut self) {
        let warning = "a static performs operations when it is dropped, which nobody sees";
        self.warnings.borrow_mut().insert(warning.to_owned());
        self.are_statics_late = true;
    }
}
