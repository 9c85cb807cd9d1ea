//! Condition variables.

use crate::Mutex;
use crate::engine::Engine;
use crate::engine::dependence::DependsOn;
use crate::engine::perform::{self, perform, visible};
use crate::rust::choice::spurious;
use crate::rust::mirror::mirror;
use crate::rust::mutex::expire;
use crate::rust::pools::Wait;
use explore::{EventId, ObjectId, Request};
use objects::{Condvar as Order, Ticket};
use std::panic::Location;

/// A condition variable.
#[derive(Clone, Copy, Debug)]
pub struct Condvar {
    pub(crate) object: ObjectId,
    pub(crate) number: u32,
}

/// The warning in reports of native programs that wait for condition variables.
const NO_SPURIOUS_WAKEUPS: &str = "no wait for a condition variable ended spuriously, although POSIX and the standards \
     of C and C++ allow it: also check with --spurious 1";

impl Engine {
    /// Warns that waits for condition variables are checked without spurious wakeups.
    fn warn_of_waits(&mut self) {
        if self.config.native.is_some() && self.config.conditions.spurious == 0 {
            let warnings = self.guests.warnings.get_mut();
            if !warnings.contains(NO_SPURIOUS_WAKEUPS) {
                warnings.insert(NO_SPURIOUS_WAKEUPS.to_owned());
            }
        }
    }
}

mirror! {
    /// Creates a condition variable of the execution.
    Condvar: Order,
    new() => (),
    at() => (), 48 bytes,
    real enforce::blocking::Condvar = enforce::blocking::Condvar::new(),
    |engine, object, number| {}
}

impl Condvar {
    /// Releases the mutex, waits for a signal, and locks the mutex again. The caller must hold the
    /// mutex. Returns the event that signalled the thread, or `None` if it perhaps woke
    /// spuriously.
    #[track_caller]
    pub fn wait(&self, mutex: &Mutex) -> Option<EventId> {
        let location = Location::caller();
        let mut signal = None;
        if spurious() {
            self.wait_some_time(mutex);
        } else {
            let ticket = self.enqueue(mutex);
            let wait = Wait::Condvar(self.number, ticket);
            perform::wait(Order::WAIT.on(self.object), wait, location, |engine| {
                signal = self.order(engine).signal_of(ticket);
            });
        }
        mutex.lock();
        signal
    }

    /// Waits like [`Condvar::wait`], with a time limit. Returns whether the thread woke before the
    /// limit.
    #[track_caller]
    pub fn wait_timed(&self, mutex: &Mutex) -> bool {
        if spurious() {
            self.wait_some_time(mutex);
            mutex.lock();
            return true;
        }
        let is_signalled = self.wait_some_time(mutex);
        if !is_signalled {
            expire();
        }
        mutex.lock();
        is_signalled
    }

    /// Releases the mutex and waits with a time limit, which may expire at any time. Returns
    /// whether the thread was signalled in time.
    #[track_caller]
    fn wait_some_time(&self, mutex: &Mutex) -> bool {
        let location = Location::caller();
        let ticket = self.enqueue(mutex);
        perform(Order::RESOLVE.on(self.object), location, |engine| {
            let is_signalled = self.order(engine).resolve(ticket);
            if !is_signalled {
                engine.record_end_of_wait(self.number);
            }
            engine.record(|name| match is_signalled {
                true => format!("{name}: signalled in time"),
                false => format!("{name}: not signalled in time"),
            });
            is_signalled
        })
    }

    #[track_caller]
    fn enqueue(&self, mutex: &Mutex) -> Ticket {
        let ticket = perform(
            Order::ENQUEUE.on(self.object),
            Location::caller(),
            |engine| {
                let thread = engine.running;
                engine.warn_of_waits();
                self.order(engine).enqueue(thread)
            },
        );
        mutex.unlock();
        ticket
    }

    /// Wakes one of the waiting threads, if there are any. The exploration tries each of them.
    /// Returns the event.
    #[track_caller]
    pub fn signal(&self) -> EventId {
        let location = Location::caller();
        let announce = |engine: &mut Engine| {
            let alternatives = self.order(engine).alternatives();
            let op = Order::SIGNAL.on(self.object);
            engine.announce_conditional(
                Request {
                    alternatives,
                    ..Request::plain(op)
                },
                DependsOn::Waiters(self.number),
                location,
            );
        };
        visible(announce, |engine| {
            engine.order_ends_of_waits(self.number);
            let (choice, event) = (engine.choice, engine.event());
            let woken = self.order(engine).signal(choice, event);
            engine.record(|name| match woken {
                Some(_) => format!("{name}.notify_one(), waiter {choice}"),
                None => format!("{name}.notify_one(), no waiter"),
            });
            event
        })
    }

    /// Wakes all waiting threads. Returns the event.
    #[track_caller]
    pub fn broadcast(&self) -> EventId {
        perform(
            Order::BROADCAST.on(self.object),
            Location::caller(),
            |engine| {
                engine.order_ends_of_waits(self.number);
                let event = engine.event();
                self.order(engine).broadcast(event);
                event
            },
        )
    }
}
