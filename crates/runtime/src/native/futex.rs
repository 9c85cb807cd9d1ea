//! Futexes: a wait begins only if a word has a given value. Under sequential consistency, the test
//! and the beginning of the wait are one event. Under weak memory models, the test is a load of the
//! word, and a lock makes the test and the beginning of the wait atomic, as the kernel's lock of
//! the queue does.
//!
//! Waits and wakes are writes to the object of the word (of the queue under weak memory models), so
//! that every order of them is explored. The thread that has waited longest is woken first, as the
//! kernel does among threads of equal priority.

use super::annotations::BESIDE;
use super::atomics::{fence, load_unless};
use super::objects::{inner_condvar_at, inner_mutex_at};
use crate::Condvar;
use crate::engine::Engine;
use crate::engine::perform::{self, perform, perform_when, silently};
use crate::rust::atomic::Value;
use crate::rust::mutex::expire;
use crate::rust::pools::Wait;
use crate::rust::versions::Sort;
use explore::{Access, ObjectId, OpKind, Request};
use objects::{Condvar as Queue, Ticket};
use std::cell::Cell;
use std::panic::Location;
use std::sync::atomic::Ordering;

/// How a wait has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Futex {
    /// Another thread woke the thread.
    Woken,
    /// The word did not have the expected value.
    Changed,
    /// The time limit expired.
    Expired,
}

/// A place in the queue of a futex, and the object to which the events of the wait belong.
struct Place {
    ticket: Ticket,
    object: ObjectId,
}

/// Waits on a futex word if its value is `expected`.
///
/// # Safety
///
/// The word must be an atomic variable of the program.
pub unsafe fn futex_wait(word: *const u32, expected: u32, is_timed: bool, code: usize) -> Futex {
    let queue = inner_condvar_at(word.addr());
    let is_weak = silently(|engine| {
        engine.handle_library_wait(code);
        engine.is_weak()
    });
    // SAFETY: as promised by the caller.
    let place = unsafe {
        match is_weak {
            true => enqueue_in_lock(queue, word, expected, code),
            false => enqueue_if(queue, word, expected, code),
        }
    };
    let Some(Place { ticket, object }) = place else {
        return Futex::Changed;
    };
    if !is_timed {
        let wait = Wait::Condvar(queue.number, ticket);
        perform::wait(Queue::WAIT.on(object), wait, Location::caller(), |engine| {
            engine.follows_grant(wait)
        });
        return Futex::Woken;
    }
    let continues = |engine: &mut Engine| {
        engine.thread().life.code = code;
        engine.announces_request(Request::of_object(Queue::RESOLVE.on(object)))
    };
    let is_woken = perform_when(continues, |engine| {
        if !is_weak {
            // SAFETY: as promised by the caller.
            unsafe { engine.record_word(word) };
        }
        let is_woken = queue.waiters(engine).resolve(ticket);
        if is_woken {
            engine.follows_grant(Wait::Condvar(queue.number, ticket));
        }
        engine.record(|_| match is_woken {
            true => "futex: woken in time".to_owned(),
            false => "futex: not woken in time".to_owned(),
        });
        is_woken
    });
    if is_woken {
        return Futex::Woken;
    }
    expire();
    Futex::Expired
}

/// Joins the queue if the word has the expected value, in one event.
///
/// # Safety
///
/// The conditions are those of [`futex_wait`].
unsafe fn enqueue_if(
    queue: Condvar,
    word: *const u32,
    expected: u32,
    code: usize,
) -> Option<Place> {
    let object = Cell::new(ObjectId::NONE);
    let continues = |engine: &mut Engine| {
        let range = engine.range(word.addr(), size_of::<u32>());
        object.set(range.object);
        engine.announces(OpKind::CondvarEnqueue, Access::Write, range, code)
    };
    perform_when(continues, |engine| {
        // SAFETY: as promised by the caller.
        let value = unsafe {
            engine.record_word(word);
            if engine.watch.races {
                engine.shadow_atomic(word.addr(), size_of::<u32>(), Access::Read);
            }
            word.read()
        };
        engine.follows_queue(queue.object);
        let is_equal = value == expected;
        if is_equal {
            engine.take_effect();
        } else {
            engine.see_value(word, value);
            engine.record(|_| "futex: value differs".to_owned());
        }
        is_equal.then(|| Place {
            ticket: queue.join(engine),
            object: object.get(),
        })
    })
}

/// Joins the queue if the word has the expected value, in several events under a lock.
///
/// # Safety
///
/// The conditions are those of [`futex_wait`].
unsafe fn enqueue_in_lock(
    queue: Condvar,
    word: *const u32,
    expected: u32,
    code: usize,
) -> Option<Place> {
    let lock = inner_mutex_at(BESIDE | word.addr());
    // The kernel executes a full barrier before the test. Programs that announce a wait in another
    // variable rely on this barrier.
    fence(Ordering::SeqCst, code);
    super::at(code, || lock.lock());
    // SAFETY: as promised by the caller.
    let value = unsafe { load_unless(|_| false, word, (Ordering::Relaxed, Sort::Atomic), code) };
    let place = (value == expected).then(|| {
        let enqueue = Queue::ENQUEUE.on(queue.object);
        let ticket = perform(enqueue, Location::caller(), |engine| queue.join(engine));
        Place {
            ticket,
            object: queue.object,
        }
    });
    super::at(code, || lock.unlock());
    place
}

/// Wakes at most `most` threads that wait at the word, and returns their number. The program may
/// have freed the word.
///
/// # Safety
///
/// The word's memory must be readable.
pub unsafe fn futex_wake(word: *const u32, most: u32, code: usize) -> u32 {
    let queue = inner_condvar_at(word.addr());
    let wake = |engine: &mut Engine| {
        let event = engine.event();
        let waiters = queue.waiters(engine);
        let mut woken = 0;
        while woken < most && waiters.signal(0, event).is_some() {
            woken += 1;
        }
        if woken > 0 {
            engine.may_grant(event);
        }
        engine.record(|_| format!("futex: wakes {woken}"));
        woken
    };
    if silently(|engine| engine.is_weak()) {
        let lock = inner_mutex_at(BESIDE | word.addr());
        // The same barrier as in a wait.
        fence(Ordering::SeqCst, code);
        super::at(code, || lock.lock());
        let woken = perform(Queue::BROADCAST.on(queue.object), Location::caller(), wake);
        super::at(code, || lock.unlock());
        return woken;
    }
    let continues = |engine: &mut Engine| {
        engine.thread().life.guests.round.take_effect();
        let range = engine.range(word.addr(), size_of::<u32>());
        engine.announces(OpKind::CondvarBroadcast, Access::Write, range, code)
    };
    perform_when(continues, |engine| {
        // SAFETY: as promised by the caller.
        unsafe { engine.record_word(word) };
        engine.follows_queue(queue.object);
        wake(engine)
    })
}

impl Condvar {
    /// Adds the running thread to the queue of a futex.
    fn join(&self, engine: &mut Engine) -> Ticket {
        let thread = engine.running;
        engine.record(|_| "futex: begins to wait".to_owned());
        self.waiters(engine).enqueue(thread)
    }

    fn waiters<'a>(&self, engine: &'a mut Engine) -> &'a mut Queue {
        engine.life.objects.condvars.get_mut(self.number)
    }
}

impl Engine {
    /// Handles a wait at the place `code`, which may be an atomic wait of libstdc++. Before
    /// libstdc++ notifies, it looks for waiting threads with a seq_cst load, which RC11 does not
    /// order after a release store. So correct programs may lose wakeups under RC11. If the search
    /// itself has chosen RC11, it returns to sequential consistency.
    fn handle_library_wait(&mut self, code: usize) {
        let Some(native) = self.config.native else {
            return;
        };
        if !self.is_weak() || self.names.chosen_memory().is_none() {
            return;
        }
        let known = self.guests.native.library_waits.entry(code);
        let is_of_library = *known.or_insert_with(|| {
            let mut functions = native.source_map.functions(code).into_iter();
            functions.any(|function| function.contains("__platform_wait"))
        });
        if is_of_library {
            self.needs_sc("waits on std::atomic, std::latch, std::barrier and semaphores");
        }
    }

    /// Orders the current event after all earlier events of the queue, for data races. Under weak
    /// memory models, the lock of the queue does this.
    fn follows_queue(&mut self, queue: ObjectId) {
        if self.watch.races {
            let order = &mut self.guests.happens_before;
            order.load(self.running, queue, Ordering::AcqRel);
            order.publish(self.running, queue, Ordering::AcqRel);
        }
    }

    /// Records that the current event leaves the word unchanged.
    ///
    /// # Safety
    ///
    /// The word must be readable.
    unsafe fn record_word(&mut self, word: *const u32) {
        // SAFETY: as promised by the caller.
        let value = unsafe { word.read() }.token();
        self.record_value_ids(value, value);
    }
}
