//! Sends messages, directly or through the network.

use crate::inbox::{Content, Inbox, Letter};
use crate::{Message, Pid};
use runtime::{Fingerprint, Posted};
use std::panic::Location;
use std::sync::Arc;

/// The fate of a message in the network.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Delivered,
    Lost,
    Duplicated,
}

impl<M: Message> Pid<M> {
    /// Sends a message. The message is dropped if the process has ended (see
    /// [`System::dead_letters`](crate::System::dead_letters)) or the network loses it.
    #[track_caller]
    pub fn send(&self, message: M) {
        self.send_as(message, None);
    }

    /// Sends a message. If there is a `fingerprint`, it represents the message and its receiver in
    /// the state while the message is in transit.
    #[track_caller]
    pub(crate) fn send_as(&self, message: M, fingerprint: Option<Fingerprint>) {
        self.inbox.control.system.checkpoint();
        match self.fate(&message) {
            Fate::Lost => {}
            Fate::Delivered => self.transmit(message, fingerprint),
            Fate::Duplicated => {
                self.transmit(message.clone(), fingerprint.clone());
                self.transmit(message, fingerprint);
            }
        }
    }

    /// Chooses the fate of the message if there is a choice.
    #[track_caller]
    fn fate(&self, message: &M) -> Fate {
        let system = &self.inbox.control.system;
        let budget = system.budget(|_| ());
        let mut fates = vec![Fate::Delivered];
        fates.extend((budget.losses > 0).then_some(Fate::Lost));
        fates.extend((budget.duplicates > 0).then_some(Fate::Duplicated));
        if fates.len() == 1 {
            return Fate::Delivered;
        }
        let fate = fates[runtime::choose(fates.len() as u32) as usize];
        let does = match fate {
            Fate::Delivered => "will deliver",
            Fate::Lost => "loses",
            Fate::Duplicated => "duplicates",
        };
        runtime::describe(|| format!("the network {does} {message:?} to {}", self.name()));
        system.budget(|budget| match fate {
            Fate::Delivered => {}
            Fate::Lost => budget.losses -= 1,
            Fate::Duplicated => budget.duplicates -= 1,
        });
        fate
    }

    #[track_caller]
    fn transmit(&self, message: M, fingerprint: Option<Fingerprint>) {
        let Some(network) = &self.inbox.control.system.network else {
            let text = || format!("send({message:?}) to {}", self.name());
            let position = self.inbox.control.mailbox.send(text);
            return self.inbox.hand_in(position, message, None);
        };
        let posted = network.post(&self.inbox.control.mailbox);
        let inbox = Arc::clone(&self.inbox);
        let text = format!("send({message:?}) to {}", self.name());
        let location = Location::caller();
        runtime::spawn(Some("network".to_owned()), move || {
            runtime::stand_at(Some(location));
            if let Some(fingerprint) = fingerprint {
                runtime::report_state(move || fingerprint.clone());
            }
            inbox.deliver_message(posted, message);
        });
        posted.sent(|| text);
    }
}

impl<M: Message> Inbox<M> {
    /// Delivers one message. Each message has a network thread, which runs this function.
    fn deliver_message(&self, posted: Posted, message: M) {
        posted.wait();
        let text = || format!("{message:?} is delivered to {}", self.control.id);
        let position = posted.deliver(&self.control.mailbox, text);
        self.hand_in(position, message, Some(posted));
    }

    /// Puts the message into the mailbox, at the position that the current event has assigned to
    /// it. Without a position, the mailbox is closed, and the message is a dead letter.
    fn hand_in(&self, position: Option<usize>, message: M, posted: Option<Posted>) {
        let Some(position) = position else {
            let policy = self.control.system.options.dead_letters;
            let text = || {
                format!(
                    "{message:?} was sent to {}, which has ended",
                    self.control.id
                )
            };
            return self.control.mailbox.came_too_late(policy, text);
        };
        let content = Content::Message(message);
        self.put(position, Letter::new(content, posted));
    }
}
