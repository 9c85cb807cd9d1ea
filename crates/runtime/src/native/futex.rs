//! Futexes: a wait begins only if a word has a given value. The test and the beginning of the wait
//! are one event.
//!
//! Waits and wakes are writes of the word's object, so that every order of them is explored. The
//! thread that has waited longest is woken first, like in the system among threads of equal
//! priority.

use super::annotations::BESIDE;
use crate::engine::Engine;
use crate::engine::perform::{self, perform_when};
use crate::rust::atomic::Value;
use crate::rust::mutex::expire;
use crate::rust::pools::Wait;
use explore::{Access, Op, OpKind};
use objects::Condvar as Order;
use std::cell::Cell;
use std::panic::Location;

/// The end of a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Futex {
    /// Another thread woke the thread.
    Woken,
    /// The word did not have the expected value.
    Changed,
    /// The time limit expired.
    Expired,
}

/// Waits at a word if it has this value.
///
/// # Safety
///
/// The word must be an atomic variable of the program.
pub unsafe fn futex_wait(word: *const u32, expected: u32, is_timed: bool, code: usize) -> Futex {
    // SAFETY: as promised by the caller.
    let value = || unsafe { word.read() };
    let number = super::condvar_number(word.addr());
    let object = Cell::new(explore::ObjectId::NONE);
    let goes_on = |engine: &mut Engine| {
        engine.thread().life.guests.round.take_effect();
        let range = engine.range(word.addr(), size_of::<u32>());
        object.set(range.object);
        engine.announces(OpKind::CondvarEnqueue, Access::Write, range, code)
    };
    let ticket = perform_when(goes_on, |engine| {
        if engine.is_weak() {
            engine.needs_sc("futexes");
        }
        engine.note(value().token(), value().token());
        let is_equal = value() == expected;
        engine.record(|_| match is_equal {
            true => "futex: begins to wait".to_owned(),
            false => "futex: value differs".to_owned(),
        });
        let thread = engine.running;
        is_equal.then(|| engine.life.objects.condvars.get_mut(number).enqueue(thread))
    });
    let Some(ticket) = ticket else {
        return Futex::Changed;
    };
    if !is_timed {
        let op = Op {
            kind: OpKind::CondvarWait,
            access: Access::None,
            object: object.get(),
        };
        perform::wait(
            op,
            Wait::Condvar(number, ticket),
            Location::caller(),
            |_| (),
        );
        return Futex::Woken;
    }
    let goes_on = |engine: &mut Engine| {
        let range = engine.range(word.addr(), size_of::<u32>());
        engine.announces(OpKind::CondvarResolve, Access::Write, range, code)
    };
    let is_woken = perform_when(goes_on, |engine| {
        engine.note(value().token(), value().token());
        let is_woken = engine.life.objects.condvars.get_mut(number).resolve(ticket);
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

/// Wakes at most `most` threads that wait at the word, and returns their number.
///
/// # Safety
///
/// The conditions are those of [`futex_wait`].
pub unsafe fn futex_wake(word: *const u32, most: u32, code: usize) -> u32 {
    // SAFETY: as promised by the caller.
    let value = || unsafe { word.read() };
    let number = super::condvar_number(word.addr());
    let goes_on = |engine: &mut Engine| {
        engine.thread().life.guests.round.take_effect();
        let range = match engine.is_weak() {
            // No thread waits, and the values of the word are those that its accesses write.
            true => engine.range(BESIDE | word.addr(), 1),
            false => engine.range(word.addr(), size_of::<u32>()),
        };
        engine.announces(OpKind::CondvarBroadcast, Access::Write, range, code)
    };
    perform_when(goes_on, |engine| {
        let value = if engine.is_weak() { 0 } else { value() };
        engine.note(value.token(), value.token());
        let event = engine.event();
        let order: &mut Order = engine.life.objects.condvars.get_mut(number);
        let mut woken = 0;
        while woken < most && order.signal(0, event).is_some() {
            woken += 1;
        }
        engine.record(|_| format!("futex: wakes {woken}"));
        woken
    })
}
