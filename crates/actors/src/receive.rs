//! Selective receive: takes the first message in the mailbox that fits, with or without a timeout.
//!
//! The process goes through its mailbox from the first letter on. It waits for each letter that it
//! has not observed yet. This wait is an event without an access. So the message that the process
//! receives depends only on the order in which letters arrive.

use crate::exit::Exit;
use crate::inbox::{Content, Letter};
use crate::{Message, Process};
use std::time::Duration;

impl<M: Message> Process<M> {
    /// Waits for the next message and returns it.
    #[track_caller]
    pub fn receive(&self) -> M {
        self.receive_if(|_| true)
    }

    /// Waits for the first message for which `fits` returns true. Other messages stay in the
    /// mailbox.
    ///
    /// ```
    /// use actors::{Delivery, Process, System};
    ///
    /// mazurka::model(|| {
    ///     let system = System::new(Delivery::MailboxOrder);
    ///     let picky = system.spawn("picky", |me: &Process<u32>| {
    ///         assert_eq!(me.receive_if(|&number| number > 1), 2);
    ///         assert_eq!(me.receive(), 1);
    ///     });
    ///     picky.send(1);
    ///     picky.send(2);
    /// });
    /// ```
    #[track_caller]
    pub fn receive_if(&self, fits: impl Fn(&M) -> bool) -> M {
        assert!(!self.ties.is_acting.get(), "{RECEIVES}");
        let mut position = 0;
        loop {
            let is_known = position < self.inbox().known();
            if !is_known {
                self.wait_for(position);
            }
            if let Some(message) = self.receive_at(position, &fits, is_known) {
                return message;
            }
            position += 1;
        }
    }

    /// Receives a message if one arrives in time. With [`Duration::ZERO`], it receives only a
    /// message that has already arrived. With [`Duration::MAX`], it waits like
    /// [`receive`](Process::receive). With any other limit, however long, it may time out whenever
    /// there is no message.
    ///
    /// ```
    /// use actors::{Delivery, Process, System};
    /// use std::time::Duration;
    ///
    /// mazurka::model(|| {
    ///     let system = System::new(Delivery::MailboxOrder);
    ///     let lazy = system.spawn("lazy", |me: &Process<&str>| {
    ///         let answer = me.receive_within(Duration::from_secs(5)).unwrap_or("nothing");
    ///         assert!(["news", "nothing"].contains(&answer));
    ///     });
    ///     lazy.send("news");
    /// });
    /// ```
    #[track_caller]
    pub fn receive_within(&self, limit: Duration) -> Option<M> {
        self.receive_if_within(limit, |_| true)
    }

    /// Receives the first message that fits if one arrives in time: see
    /// [`receive_within`](Process::receive_within).
    #[track_caller]
    pub fn receive_if_within(&self, limit: Duration, fits: impl Fn(&M) -> bool) -> Option<M> {
        if limit == Duration::MAX {
            return Some(self.receive_if(fits));
        }
        assert!(!self.ties.is_acting.get(), "{RECEIVES}");
        self.control().system.checkpoint();
        let known = self.inbox().known();
        if let Some(message) = self.receive_among(0..known, &fits, true) {
            return Some(message);
        }
        let count = self.control().mailbox.count();
        self.inbox().know(count);
        let message = self.receive_among(known..count, &fits, false);
        if message.is_none() {
            runtime::describe(|| "receive() -> no message in time".to_owned());
            if limit > Duration::ZERO {
                runtime::expire();
            }
        }
        message
    }

    #[track_caller]
    fn wait_for(&self, position: usize) {
        self.control().mailbox.wait(position);
        self.inbox().know(position + 1);
    }

    #[track_caller]
    fn receive_among(
        &self,
        mut positions: std::ops::Range<usize>,
        fits: &impl Fn(&M) -> bool,
        is_known: bool,
    ) -> Option<M> {
        positions.find_map(|position| self.receive_at(position, fits, is_known))
    }

    /// Receives the letter at this position if it is there and fits. `is_known` means that an
    /// earlier receive observed the letter. This receive then needs an event of its own, because it
    /// did not begin with a wait for the letter.
    #[track_caller]
    fn receive_at(&self, position: usize, fits: &impl Fn(&M) -> bool, is_known: bool) -> Option<M> {
        let Letter {
            content, posted, ..
        } = self.inbox().take(position)?;
        let message = self.message_of(position, content)?;
        if !fits(&message) {
            if !is_known {
                runtime::describe(|| format!("{message:?} does not match and stays"));
            }
            let content = Content::Message(message);
            self.inbox().put(position, Letter::new(content, posted));
            return None;
        }
        if is_known {
            // The letter stays in the mailbox until the event, because the mailbox is part of the
            // state.
            let content = Content::Message(message.clone());
            self.inbox().put(position, Letter::new(content, posted));
            self.control().mailbox.wait(position);
            drop(self.inbox().take(position));
        }
        runtime::describe(|| format!("receive() -> {message:?}"));
        self.control().mailbox.receive(position);
        if let Some(posted) = posted {
            posted.received();
        }
        Some(message)
    }

    /// Returns the message in the letter at this position; `None` if the letter is a notice that
    /// the process no longer wants.
    fn message_of(&self, position: usize, content: Content<M>) -> Option<M> {
        let message = match content {
            Content::Message(message) => return Some(message),
            Content::End(exit) => self.end_by(exit),
            Content::Exit(exit) => {
                let conversion = self.ties.on_exit.borrow();
                conversion
                    .as_ref()
                    .map(|conversion| conversion.message(exit))
            }
            Content::Down(down) => {
                let conversion = self
                    .ties
                    .on_down
                    .borrow_mut()
                    .remove(&down.monitor.number());
                conversion.map(|conversion| conversion.message(down))
            }
        };
        if message.is_none() {
            self.control().mailbox.receive(position);
        }
        message
    }

    /// Ends the process that a letter has woken. Returns `None` if the code of the process is
    /// already being unwound.
    fn end_by(&self, exit: Exit) -> Option<M> {
        if self.control().is_unwinding() {
            return None;
        }
        runtime::describe(|| format!("is ended by a signal: {}", exit.reason));
        self.control().end_by(exit)
    }
}

const RECEIVES: &str = "an action of a process that is a state machine receives a message: return Next::Receive or \
                        Next::ReceiveWithin instead";
