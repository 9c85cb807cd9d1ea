//! The park token of a thread.
//!
//! Unparks before a park merge into one token. A timed park resolves instead of waiting: it takes
//! the token, or stops waiting. The order of this step and the unparks decides between the two.

use crate::{Form, Object};
use explore::{EventId, OpKind};

/// The park token of one thread.
#[derive(Clone, Copy, Default, Debug)]
pub struct Park {
    /// The last unpark that gave the token, if the token is available.
    token: Option<EventId>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum State {
    #[default]
    Running,
    Waiting,
    /// This unpark supplied the token.
    Granted(EventId),
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
        self.state = match self.token.take() {
            Some(unpark) => State::Granted(unpark),
            None => State::Waiting,
        };
    }

    /// Returns the last event that gave the token, if the token is available.
    pub fn given(&self) -> Option<EventId> {
        self.token
    }

    /// Supplies the token, by the event `at`.
    pub fn unpark(&mut self, at: EventId) {
        match self.state {
            State::Waiting => self.state = State::Granted(at),
            State::Running | State::Granted(_) => self.token = Some(at),
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

    /// Checks whether no token is available and no thread parks.
    pub fn is_unused(&self) -> bool {
        self.token.is_none() && self.state == State::Running
    }
}

impl Object for Park {
    type Size = ();
    type Wait = ();

    /// The number of objects that represent a park token.
    const PARTS: u32 = 1;

    fn clear(&mut self, (): ()) {
        *self = Park::default();
    }

    /// Checks whether the thread got the token.
    fn is_granted(&self, (): ()) -> bool {
        matches!(self.state, State::Granted(_))
    }

    fn edges(&self, (): (), edges: &mut Vec<EventId>) {
        if let State::Granted(unpark) = self.state {
            edges.push(unpark);
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
        assert_eq!(edges, [EventId(1)]);
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
