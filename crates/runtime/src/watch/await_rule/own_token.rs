//! The token by which a thread wakes itself, such as its park token. A round in which a thread
//! gives a token to itself and takes it again has no effect.

use crate::engine::life::life;
use explore::{EventId, ObjectId};

life! {
    /// The token that a thread waits for, or last waited for.
    pub(crate) struct OwnToken {
        token: Option<ObjectId>,
        /// The last event by which the thread gave this token to itself.
        gift: Option<EventId>,
        /// Whether the thread's last operation on the token gave the token to itself, or took a
        /// token that it had given to itself.
        wakes_itself: bool,
        /// Whether the token that the thread last gave was already there.
        gave_redundantly: bool,
    }
}

impl OwnToken {
    /// Records that the thread waits for this token.
    pub(crate) fn owns(&mut self, token: ObjectId) {
        self.token = Some(token);
        self.gift = None;
    }

    /// Checks whether the thread waits for this token, or last waited for it.
    pub(crate) fn waits_for(&self, token: ObjectId) -> bool {
        self.token == Some(token)
    }

    /// Checks whether the thread has given the token that it waits for to itself.
    pub(crate) fn has_gift(&self) -> bool {
        self.gift.is_some()
    }

    /// Records that the thread gives this token by `event`. `was_given` is true if the token was
    /// already there.
    pub(crate) fn gives(&mut self, token: ObjectId, event: EventId, was_given: bool) {
        self.gave_redundantly = was_given;
        if self.waits_for(token) {
            self.gift = Some(event);
            self.wakes_itself = true;
        }
    }

    /// Records that the thread begins to wait for this token. `given` is the event that gave the
    /// token, if the token is there. Returns whether the thread gave the token to itself.
    pub(crate) fn takes(&mut self, token: ObjectId, given: Option<EventId>) -> bool {
        let gift = self.gift.take();
        self.wakes_itself = given.is_some() && self.waits_for(token) && given == gift;
        self.token = Some(token);
        self.wakes_itself
    }

    /// Checks whether the thread's last operation on this token changed nothing for other threads.
    /// `is_gift` is true if this operation gave the token.
    pub(crate) fn is_own_affair(&self, token: ObjectId, is_gift: bool) -> bool {
        is_gift && self.gave_redundantly || self.wakes_itself && self.waits_for(token)
    }
}
