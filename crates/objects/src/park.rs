//! The park token of a thread.
//!
//! Unparks before a park merge into one token. As in `std`, all of these unparks happen before the
//! end of the park that takes the token. Instead of a wait, a timed park has a step that resolves
//! it: the park takes the token, or it expires. The order of this step and the unparks decides
//! between the two.

use crate::{Form, Object};
use explore::{EventId, OpKind};

/// The park token of one thread.
#[derive(Clone, Default, Debug)]
pub struct Park {
    /// The unparks that merged into the available token. Empty if no token is available.
    token: Vec<EventId>,
    /// The unparks that gave the token that the last park took.
    taken: Vec<EventId>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum State {
    #[default]
    Running,
    Waiting,
    Granted,
}

impl Park {
    /// The form of [`request`](Park::request), by the thread that owns the token.
    pub const REQUEST: Form = Form::write(OpKind::ParkRequest, 0);
    /// Waits for the token.
    pub const WAIT: Form = Form::none(OpKind::ParkWait);
    /// Ends a timed park: [`resolve`](Park::resolve).
    pub const RESOLVE: Form = Form::write(OpKind::ParkResolve, 0);
    /// The form of [`unpark`](Park::unpark), by any thread.
    pub const UNPARK: Form = Form::write(OpKind::Unpark, 0);

    /// Takes the token or begins to wait for it.
    pub fn request(&mut self) {
        self.taken.clear();
        self.taken.append(&mut self.token);
        self.state = match self.taken.is_empty() {
            false => State::Granted,
            true => State::Waiting,
        };
    }

    /// Returns the last event that gave the token, if the token is available.
    pub fn given(&self) -> Option<EventId> {
        self.token.last().copied()
    }

    /// Gives the token, by the event `at`: ends the wait of a parked thread, or else makes the
    /// token available.
    pub fn unpark(&mut self, at: EventId) {
        match self.state {
            State::Waiting => {
                self.taken.push(at);
                self.state = State::Granted;
            }
            State::Running | State::Granted => self.token.push(at),
        }
    }

    /// Ends a timed park. Returns whether the park got the token. If not, the thread stops waiting.
    pub fn resolve(&mut self) -> bool {
        let is_granted = self.is_granted(());
        if !is_granted {
            self.state = State::Running;
        }
        is_granted
    }

    /// Checks whether no token is available and the thread is not parked.
    pub fn is_unused(&self) -> bool {
        self.token.is_empty() && self.state == State::Running
    }
}

impl Object for Park {
    type Size = ();
    type Wait = ();

    /// The number of objects that represent a park token.
    const PARTS: u32 = 1;

    fn clear(&mut self, (): ()) {
        self.token.clear();
        self.taken.clear();
        self.state = State::Running;
    }

    /// Checks whether the thread got the token.
    fn is_granted(&self, (): ()) -> bool {
        self.state == State::Granted
    }

    fn edges(&self, (): (), edges: &mut Vec<EventId>) {
        if self.state == State::Granted {
            edges.extend(&self.taken);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unparks_before_the_park_merge() {
        let mut park = Park::default();
        park.unpark(EventId(0));
        park.unpark(EventId(1));
        park.request();
        assert!(park.is_granted(()));
        let mut edges = Vec::new();
        park.edges((), &mut edges);
        assert_eq!(edges, [EventId(0), EventId(1)]);
        park.request();
        assert!(!park.is_granted(()));
    }

    #[test]
    fn an_unpark_after_the_grant_is_a_token_for_the_next_park() {
        let mut park = Park::default();
        park.request();
        park.unpark(EventId(1));
        park.unpark(EventId(2));
        assert!(park.is_granted(()));
        park.request();
        assert!(park.is_granted(()));
    }

    #[test]
    fn a_timed_park_that_expires_leaves_the_token_to_the_next() {
        let mut park = Park::default();
        park.request();
        assert!(!park.resolve());
        park.unpark(EventId(3));
        park.request();
        assert!(park.resolve());
    }
}
