//! A token for which one thread waits. It is like the park token, but not bound to a thread.

use crate::engine::perform::{self, perform, silently};
use crate::rust::mirror::mirror;
use crate::rust::pools::Wait;
use crate::watch::seen::Seen;
use explore::ObjectId;
use objects::Park as Order;
use std::panic::Location;
use std::sync::atomic::Ordering::{Acquire, Release};

/// A token that any thread may give and one thread takes. Until the token is taken, giving it again
/// has no effect.
#[derive(Clone, Copy, Debug)]
pub struct Notify {
    pub(crate) object: ObjectId,
    number: u32,
}

mirror! {
    /// Creates the object without a token.
    Notify: Order,
    new() => (),
    real enforce::blocking::Token = enforce::blocking::Token::new(),
    |engine, object, number| {}
}

impl Notify {
    /// Waits for the token and takes it. Only one thread may wait at a time.
    #[track_caller]
    pub fn wait(&self) {
        self.wait_at(Location::caller());
    }

    /// Waits for the token at the given place of the program. Returns whether the thread had given
    /// the token to itself since it last waited for it.
    // Not inlined: the await rule compares the program's frames between the rounds of a loop, and
    // the numbers of events differ in each round.
    #[inline(never)]
    pub fn wait_at(&self, location: &'static Location<'static>) -> bool {
        let own_round = perform(Order::REQUEST.on(self.object), location, |engine| {
            let token = self.order(engine);
            let given = token.given();
            token.request();
            engine.record(|name| format!("{name}.wait() begins"));
            let round = &mut engine.thread().life.guests.round;
            round
                .token
                .takes(self.object, given)
                .then_some(round.has_effect())
        });
        let wait = Wait::Park(self.number, ());
        perform::wait(Order::WAIT.on(self.object), wait, location, |engine| {
            if engine.watch.races {
                engine
                    .guests
                    .happens_before
                    .load(engine.running, self.object, Acquire);
            }
            // The await rule stops loops whose rounds have no effect. For this rule, a wait for a
            // token that the thread gave to itself does not count as an effect, unlike other waits.
            if let Some(had_effect) = own_round {
                engine.thread().life.guests.round.set_effect(had_effect);
            }
            engine.record(|name| format!("{name}.wait() returns"));
        });
        own_round.is_some()
    }

    /// Registers the running thread as the thread that waits for the token.
    pub fn own(&self) {
        silently(|engine| engine.thread().life.guests.round.token.owns(self.object));
    }

    /// Checks whether the running thread has given the token to itself since it last waited for it.
    pub fn is_own_gift(&self) -> bool {
        silently(|engine| engine.thread().life.guests.round.token.has_gift())
    }

    /// Gives the token.
    #[track_caller]
    pub fn notify(&self) {
        self.notify_at(Location::caller());
    }

    /// Gives the token at the given place of the program.
    // Not inlined: the await rule compares the program's frames between the rounds of a loop, and
    // the numbers of events differ in each round.
    #[inline(never)]
    pub fn notify_at(&self, location: &'static Location<'static>) {
        perform(Order::UNPARK.on(self.object), location, |engine| {
            let event = engine.event();
            let token = self.order(engine);
            let was_given = token.given().is_some();
            token.unpark(event);
            engine
                .thread()
                .life
                .guests
                .round
                .token
                .gives(self.object, event, was_given);
            if was_given {
                engine.see(Seen::Notified(self.number));
            }
            if engine.watch.races {
                engine
                    .guests
                    .happens_before
                    .publish(engine.running, self.object, Release);
            }
            engine.record(|name| format!("{name}.notify()"));
        });
    }
}
