//! What is written down of an execution that is shown to people.

use crate::engine::{Engine, Place};
use crate::trace::Trace;
use explore::{Access, Execution, ObjectId, Op, OpKind, ThreadId};
use report::{Interleaving, Racing, Row};
use std::collections::BTreeMap;

/// The events of an execution as text, and the names of its objects.
#[derive(Default)]
pub(crate) struct Recorder {
    events: Vec<Recorded>,
    /// By the first id of the object.
    objects: BTreeMap<ObjectId, String>,
    thread: Option<(ThreadId, Place)>,
    text: Option<String>,
    failed: bool,
}

struct Recorded {
    thread: ThreadId,
    location: Place,
    text: String,
    failed: bool,
}

impl Recorder {
    /// Forgets everything.
    pub(crate) fn begin(&mut self) {
        *self = Recorder::default();
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn begin_event(&mut self, thread: ThreadId, location: Place) {
        self.thread = Some((thread, location));
        self.text = None;
        self.failed = false;
    }

    pub(crate) fn end_event(&mut self, op: Op) {
        let (thread, location) = self.thread.take().expect("an event that ends has begun");
        let text = self.text.take().unwrap_or_else(|| self.plain_text(op));
        self.events.push(Recorded {
            thread,
            location,
            text,
            failed: self.failed,
        });
    }

    /// A failure shows in the event at hand.
    pub(crate) fn mark_failed(&mut self) {
        self.failed = true;
    }

    /// The name of an object for people: its type and where it was created.
    pub(crate) fn object_name(&self, object: ObjectId, kind: OpKind) -> String {
        if object == ObjectId::NONE {
            return String::new();
        }
        match self.objects.range(..=object).next_back() {
            Some((_, name)) => name.clone(),
            None => kind_of_object(kind).to_owned(),
        }
    }

    /// What an event does that has no more to tell.
    fn plain_text(&self, op: Op) -> String {
        let name = self.object_name(op.object, op.kind);
        let what = match op.kind {
            OpKind::MutexRequest => "lock() requested",
            OpKind::MutexWait => "lock() acquired",
            OpKind::MutexUnlock => "unlock()",
            OpKind::MutexTryPlace => "try_lock() begins",
            OpKind::ReadRequest => "read() requested",
            OpKind::ReadWait => "read() acquired",
            OpKind::ReadRelease => "read lock released",
            OpKind::WriteRequest => "write() requested",
            OpKind::WriteWait => "write() acquired",
            OpKind::WriteRelease => "write lock released",
            OpKind::CondvarEnqueue => "wait() begins",
            OpKind::CondvarWait => "wait() was woken",
            OpKind::CondvarBroadcast => "notify_all()",
            OpKind::SemaphoreRequest => "acquire() requested",
            OpKind::SemaphoreWait => "acquire() got a permit",
            OpKind::SemaphoreRelease => "release()",
            OpKind::SemaphoreTryPlace => "try_acquire() begins",
            OpKind::BarrierArrive => "wait() arrives",
            OpKind::BarrierWait => "wait() passes",
            OpKind::OnceEnter => "call_once() requested",
            OpKind::OnceWait => "call_once() goes on",
            OpKind::OnceDone => "initialised",
            OpKind::SendWait => "send() has room",
            OpKind::SendTryPlace => "try_send() begins",
            OpKind::ReceiveRequest => "recv() requested",
            OpKind::ReceiveWait => "recv() returns",
            OpKind::ReceiveTryPlace => "try_recv() begins",
            OpKind::SenderDrop => "a sender is dropped",
            OpKind::ReceiverDrop => "the receiver is dropped",
            OpKind::ClosedCheck => "try_recv(): looks for senders",
            OpKind::Spawn => return "spawn()".to_owned(),
            OpKind::Join => return "join()".to_owned(),
            OpKind::Send => "send()",
            OpKind::Deliver => "delivered",
            OpKind::LetterWait => "receive()",
            OpKind::LetterLook => "looks for letters",
            OpKind::MailboxClose => "closed",
            OpKind::StateRead => "read",
            OpKind::StateWrite => "written",
            OpKind::DeliveryWait => return "what was sent before has come in".to_owned(),
            OpKind::ParkRequest => return "park() begins".to_owned(),
            OpKind::ParkWait => return "park() returns".to_owned(),
            OpKind::End => return "end".to_owned(),
            OpKind::Load
            | OpKind::Store
            | OpKind::ReadModifyWrite
            | OpKind::CompareExchange
            | OpKind::Fence
            | OpKind::Segment
            | OpKind::IsFinished
            | OpKind::MutexTryResult
            | OpKind::TryRead
            | OpKind::TryWrite
            | OpKind::CondvarResolve
            | OpKind::CondvarSignal
            | OpKind::SemaphoreTryResult
            | OpKind::OnceGet
            | OpKind::SendRequest
            | OpKind::SendTryResult
            | OpKind::ReceiveTryResult
            | OpKind::ParkResolve
            | OpKind::Unpark
            | OpKind::Choose => return format!("{name}: {:?}", op.kind),
        };
        format!("{name}: {what}")
    }
}

/// What an object is whose creation was not recorded.
fn kind_of_object(kind: OpKind) -> &'static str {
    match kind {
        OpKind::MutexRequest
        | OpKind::MutexWait
        | OpKind::MutexUnlock
        | OpKind::MutexTryPlace
        | OpKind::MutexTryResult => "a mutex",
        OpKind::ReadRequest
        | OpKind::ReadWait
        | OpKind::ReadRelease
        | OpKind::WriteRequest
        | OpKind::WriteWait
        | OpKind::WriteRelease
        | OpKind::TryRead
        | OpKind::TryWrite => "a reader-writer lock",
        OpKind::CondvarEnqueue
        | OpKind::CondvarWait
        | OpKind::CondvarResolve
        | OpKind::CondvarSignal
        | OpKind::CondvarBroadcast => "a condition variable",
        OpKind::SemaphoreRequest
        | OpKind::SemaphoreWait
        | OpKind::SemaphoreRelease
        | OpKind::SemaphoreTryPlace
        | OpKind::SemaphoreTryResult => "a semaphore",
        OpKind::BarrierArrive | OpKind::BarrierWait => "a barrier",
        OpKind::OnceEnter | OpKind::OnceWait | OpKind::OnceDone | OpKind::OnceGet => "a once",
        OpKind::SendRequest
        | OpKind::SendWait
        | OpKind::ReceiveRequest
        | OpKind::ReceiveWait
        | OpKind::SendTryPlace
        | OpKind::SendTryResult
        | OpKind::ReceiveTryPlace
        | OpKind::ReceiveTryResult
        | OpKind::SenderDrop
        | OpKind::ReceiverDrop
        | OpKind::ClosedCheck => "a channel",
        OpKind::Load | OpKind::Store | OpKind::ReadModifyWrite | OpKind::CompareExchange => {
            "an atomic variable"
        }
        OpKind::ParkRequest | OpKind::ParkWait | OpKind::ParkResolve | OpKind::Unpark => {
            "a park token"
        }
        OpKind::Spawn | OpKind::Join | OpKind::End | OpKind::IsFinished => "a thread",
        OpKind::Send
        | OpKind::Deliver
        | OpKind::LetterWait
        | OpKind::LetterLook
        | OpKind::MailboxClose => "a mailbox",
        OpKind::DeliveryWait => "the network",
        OpKind::StateRead | OpKind::StateWrite => "a process",
        OpKind::Segment => "an object",
        OpKind::Fence | OpKind::Choose => "nothing",
    }
}

impl Engine {
    /// Says more of the event at hand, given the name of its object.
    #[inline]
    pub(crate) fn record(&mut self, text: impl FnOnce(&str) -> String) {
        if self.watch.records {
            let name = self.recorder.object_name(self.op.object, self.op.kind);
            self.recorder.text = Some(text(&name));
        }
    }

    /// Says which thread the event at hand is about.
    #[inline]
    pub(crate) fn record_thread(&mut self, thread: ThreadId, text: impl FnOnce(&str) -> String) {
        if self.watch.records {
            self.recorder.text = Some(text(&self.thread_name(thread)));
        }
    }

    /// An object was created.
    #[inline]
    pub(crate) fn name_object(&mut self, object: ObjectId, kind: &str, location: Place) {
        if self.watch.records {
            self.add_name(object, kind, location);
        }
    }

    #[cold]
    fn add_name(&mut self, object: ObjectId, kind: &str, location: Place) {
        let file = location
            .file()
            .rsplit(['/', '\\'])
            .next()
            .unwrap_or_default();
        let name = format!("{kind}@{file}:{}", location.line());
        let objects = &mut self.recorder.objects;
        let same = objects
            .values()
            .filter(|other| other.split('#').next() == Some(&name))
            .count();
        let name = if same == 0 {
            name
        } else {
            format!("{name}#{}", same + 1)
        };
        objects.insert(object, name);
    }

    /// A panic began in the thread that runs.
    pub(crate) fn panicked(&mut self) {
        self.recorder.mark_failed();
    }

    /// The execution that was recorded.
    pub(crate) fn take_trace(&mut self, execution: &Execution) -> Trace {
        let outcome = self.outcome();
        let failure = self.failure();
        let mut columns: Vec<ThreadId> = Vec::new();
        let mut rows = Vec::new();
        let events = std::mem::take(&mut self.recorder.events);
        for event in events {
            let column = columns.iter().position(|&thread| thread == event.thread);
            let thread = column.unwrap_or_else(|| {
                columns.push(event.thread);
                columns.len() - 1
            });
            let location = Some(event.location.to_string());
            let failed = event.failed && outcome.is_bug();
            rows.push(Row {
                thread,
                text: event.text,
                location,
                failed,
            });
        }
        columns.extend(
            self.born()
                .iter()
                .filter(|thread| !columns.contains(thread))
                .copied()
                .collect::<Vec<_>>(),
        );
        let races = execution
            .races()
            .iter()
            .filter(|race| execution.event(race.first).op.access != Access::None)
            .map(|race| Racing {
                first: race.first.index(),
                second: race.second.index(),
            })
            .collect();
        let threads = columns
            .iter()
            .map(|&thread| self.thread_name(thread))
            .collect();
        let ends = columns.iter().map(|&thread| self.end_of(thread)).collect();
        Trace {
            outcome,
            failure,
            interleaving: Interleaving {
                threads,
                rows,
                races,
                ends,
            },
        }
    }
}
