//! Descriptions of the threads' states at the end of an execution, for users.

use crate::engine::Engine;
use crate::rust::object::Condition;
use crate::rust::pools::Wait;
use explore::{Access, Halt, OpKind, Pending, Request, ThreadId};

impl Engine {
    /// Returns the name of a thread and its state at the end.
    pub(crate) fn named_end(&self, id: ThreadId) -> String {
        format!("{} {}", self.thread_name(id), self.end_of(id))
    }

    /// Describes the state of a thread at the end of the execution. The text is empty if the thread
    /// has ended.
    pub(crate) fn end_of(&self, id: ThreadId) -> String {
        match &self.life.pending[id.index()] {
            Pending::NotStarted => "was not started".to_owned(),
            Pending::Enabled(request) => format!("could continue: {}", self.shown_request(request)),
            Pending::Waiting(request) => self.waits(id, request),
            Pending::Halted(Halt::Assume) => "stopped at an assumption".to_owned(),
            Pending::Halted(Halt::Await) => match self.threads[id.index()].life.guests.condition {
                Some(condition) => self.awaits(condition),
                None => "spins".to_owned(),
            },
            Pending::Halted(Halt::Bound(bound)) => {
                format!("stopped at a bound: {}", report::bound_name(*bound))
            }
            Pending::Failed => "failed".to_owned(),
            Pending::Finished if self.threads[id.index()].caught_panic.is_some() => {
                "panicked".to_owned()
            }
            Pending::Finished => String::new(),
        }
    }

    fn waits(&self, id: ThreadId, request: &Request) -> String {
        let wait = self.wait_of(id).expect("a waiting thread has a wait");
        let holders: Vec<String> = self
            .life
            .objects
            .awaited(wait)
            .into_iter()
            .map(|thread| {
                if thread == id {
                    "itself".to_owned()
                } else {
                    self.thread_name(thread)
                }
            })
            .collect();
        let what = match request.op.kind {
            OpKind::Join => return format!("waits for the end of {}", holders.join(", ")),
            OpKind::ParkWait if matches!(wait, Wait::Unpark(_)) => return "is parked".to_owned(),
            OpKind::LetterWait => return self.waits_for_letter(wait),
            _ => self
                .guests
                .recorder
                .object_name(request.op.object, request.op.kind),
        };
        let policy = match wait {
            Wait::RwLock(lock, ticket)
                if self.life.objects.rwlocks.get(lock).is_overtaking(ticket) =>
            {
                " (behind a waiting writer; a lock that prefers readers would let it pass)"
            }
            _ => "",
        };
        let what = format!("{what}{policy}");
        match holders.as_slice() {
            [] => format!("waits for {what}"),
            holders => format!("waits for {what}, held by {}", holders.join(", ")),
        }
    }

    fn awaits(&self, condition: Condition) -> String {
        let object = self
            .guests
            .recorder
            .object_name(condition.object, OpKind::Segment);
        format!("waits for a condition of {object}")
    }

    fn waits_for_letter(&self, wait: Wait) -> String {
        let Wait::Letter(number, _) = wait else {
            unreachable!("a thread that waits for a message waits at a mailbox");
        };
        match self
            .life
            .objects
            .mailboxes
            .get(number)
            .order
            .unreceived()
            .count()
        {
            0 => "waits for a message".to_owned(),
            1 => "waits for a message; the one in its mailbox does not match".to_owned(),
            count => format!("waits for a message; the {count} in its mailbox do not match"),
        }
    }

    fn shown_request(&self, request: &Request) -> String {
        match request.op.access {
            Access::None => format!("{:?}", request.op.kind),
            Access::Read | Access::Write => {
                let object = self
                    .guests
                    .recorder
                    .object_name(request.op.object, request.op.kind);
                format!("{:?} at {object}", request.op.kind)
            }
        }
    }
}
