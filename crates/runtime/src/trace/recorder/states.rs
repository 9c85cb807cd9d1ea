//! The states of objects after each event, as shown to users.

use explore::{ObjectId, OpKind, ThreadId};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The state of an object according to its events so far.
#[derive(Default)]
struct Known {
    /// The threads that hold a lock or run the initialization of a `Once`.
    holders: Vec<ThreadId>,
    /// The threads that wait for the object.
    waiting: Vec<ThreadId>,
    /// The number of messages that were sent and not received.
    count: usize,
    /// The content of the object as text, such as `2 permits`.
    stock: String,
    /// Whether a `Once` is initialized.
    is_over: bool,
}

/// The states of all objects, by their first ids and names.
#[derive(Default)]
pub(crate) struct States(BTreeMap<(ObjectId, String), Known>);

/// Returns whether an event of this kind ends a wait that began at the thread's previous event.
pub(crate) fn ends_wait(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::MutexWait
            | OpKind::ReadWait
            | OpKind::WriteWait
            | OpKind::CondvarWait
            | OpKind::SemaphoreWait
            | OpKind::BarrierWait
            | OpKind::OnceWait
            | OpKind::SendWait
            | OpKind::ReceiveWait
            | OpKind::ParkWait
            | OpKind::Join
    )
}

impl States {
    /// Applies an event at an object. Returns the object's state after the event, or `None` for
    /// kinds of objects whose states are not shown.
    pub(crate) fn after(
        &mut self,
        object: &(ObjectId, String),
        (kind, thread): (OpKind, ThreadId),
        (text, stock): (&str, Option<&str>),
        name_of: impl Fn(ThreadId) -> String,
    ) -> Option<String> {
        if !self.0.contains_key(object) {
            self.0.insert(object.clone(), Known::default());
        }
        let known = self.0.get_mut(object)?;
        // The text of a try ends with its result.
        let succeeds = ["-> true", "Accepted", "a message"];
        let succeeds = succeeds.iter().any(|result| text.ends_with(result));
        if !text.ends_with("disconnected") {
            known.change(kind, thread, succeeds);
        }
        let names = |threads: &[ThreadId]| {
            let names: Vec<String> = threads.iter().map(|&thread| name_of(thread)).collect();
            names.join(", ")
        };
        if let Some(stock) = stock {
            stock.clone_into(&mut known.stock);
        }
        known.text(kind, names)
    }
}

impl Known {
    fn change(&mut self, kind: OpKind, thread: ThreadId, succeeds: bool) {
        let leave = |threads: &mut Vec<ThreadId>| {
            if let Some(own) = threads.iter().position(|&other| other == thread) {
                threads.remove(own);
            }
        };
        match kind {
            OpKind::MutexRequest
            | OpKind::ReadRequest
            | OpKind::WriteRequest
            | OpKind::SemaphoreRequest
            | OpKind::BarrierArrive
            | OpKind::CondvarEnqueue
            | OpKind::OnceEnter
            | OpKind::ReceiveRequest => self.waiting.push(thread),
            OpKind::SemaphoreWait | OpKind::BarrierWait => leave(&mut self.waiting),
            OpKind::MutexWait | OpKind::ReadWait | OpKind::WriteWait => {
                leave(&mut self.waiting);
                self.holders.push(thread);
            }
            OpKind::MutexTryResult | OpKind::TryRead | OpKind::TryWrite if succeeds => {
                self.holders.push(thread);
            }
            OpKind::MutexUnlock | OpKind::ReadRelease | OpKind::WriteRelease => {
                leave(&mut self.holders);
            }
            OpKind::CondvarWait | OpKind::CondvarResolve => leave(&mut self.waiting),
            OpKind::OnceWait => {
                leave(&mut self.waiting);
                if !self.is_over {
                    self.holders.push(thread);
                }
            }
            OpKind::OnceDone => {
                self.holders.clear();
                self.is_over = true;
            }
            OpKind::SendRequest | OpKind::Send | OpKind::Deliver => self.count += 1,
            OpKind::SendTryResult => self.count += usize::from(succeeds),
            OpKind::ReceiveWait => {
                leave(&mut self.waiting);
                self.count = self.count.saturating_sub(1);
            }
            OpKind::ReceiveTryResult => {
                self.count = self.count.saturating_sub(usize::from(succeeds));
            }
            _ => {}
        }
    }

    fn text(&self, kind: OpKind, names: impl Fn(&[ThreadId]) -> String) -> Option<String> {
        use super::wording::kind_of_object;
        let mut text = match kind_of_object(kind) {
            "a mutex" | "a reader-writer lock" => match self.holders.as_slice() {
                [] => "free".to_owned(),
                holders => format!("held by {}", names(holders)),
            },
            "a once" => match (self.is_over, self.holders.as_slice()) {
                (true, _) => "initialized".to_owned(),
                (false, []) => "not initialized".to_owned(),
                (false, holders) => format!("initialized by {}", names(holders)),
            },
            "a channel" => match self.count {
                0 => "no message".to_owned(),
                1 => "1 message not received".to_owned(),
                count => format!("{count} messages not received"),
            },
            "a semaphore" | "a mailbox" | "a process" if !self.stock.is_empty() => {
                self.stock.clone()
            }
            "a condition variable" | "a semaphore" | "a barrier" => match self.waiting.as_slice() {
                [] => return Some("no thread waits".to_owned()),
                _ => String::new(),
            },
            _ => return None,
        };
        if !self.waiting.is_empty() {
            let gap = if text.is_empty() { "" } else { "; " };
            let verb = if self.waiting.len() == 1 {
                "waits"
            } else {
                "wait"
            };
            write!(text, "{gap}{} {verb}", names(&self.waiting)).ok()?;
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutex_is_held_and_waited_for() {
        let mut states = States::default();
        let mutex = (ObjectId(1), "m".to_owned());
        let mut after = |kind, thread, text: &str| {
            let event = (kind, ThreadId(thread));
            let name_of = |thread: ThreadId| format!("T{}", thread.0);
            let state = states.after(&mutex, event, (text, None), name_of);
            state.unwrap()
        };
        assert_eq!(after(OpKind::MutexRequest, 1, ""), "free; T1 waits");
        assert_eq!(after(OpKind::MutexWait, 1, ""), "held by T1");
        assert_eq!(after(OpKind::MutexRequest, 2, ""), "held by T1; T2 waits");
        assert_eq!(
            after(OpKind::MutexTryResult, 3, "m.try_lock() -> false"),
            "held by T1; T2 waits"
        );
        assert_eq!(after(OpKind::MutexUnlock, 1, ""), "free; T2 waits");
        assert_eq!(after(OpKind::MutexWait, 2, ""), "held by T2");
    }

    #[test]
    fn semaphores_have_permits_and_channels_messages() {
        let mut states = States::default();
        let mut after = |object: u32, kind, thread, stock| {
            let key = (ObjectId(object), "o".to_owned());
            let name_of = |thread: ThreadId| format!("T{}", thread.0);
            let state = states.after(&key, (kind, ThreadId(thread)), ("", stock), name_of);
            state.unwrap()
        };
        assert_eq!(
            after(1, OpKind::SemaphoreRequest, 1, Some("1 permit")),
            "1 permit; T1 waits"
        );
        assert_eq!(
            after(1, OpKind::SemaphoreWait, 1, Some("0 permits")),
            "0 permits"
        );
        assert_eq!(
            after(1, OpKind::SemaphoreRequest, 2, None),
            "0 permits; T2 waits"
        );
        assert_eq!(
            after(1, OpKind::SemaphoreRelease, 1, Some("1 permit")),
            "1 permit; T2 waits"
        );
        assert_eq!(
            after(2, OpKind::ReceiveRequest, 1, None),
            "no message; T1 waits"
        );
        assert_eq!(
            after(2, OpKind::SendRequest, 2, None),
            "1 message not received; T1 waits"
        );
        assert_eq!(after(2, OpKind::ReceiveWait, 1, None), "no message");
    }
}
