//! Operations and their dependence.

use super::id::{ObjectId, ThreadId, Token};
use serde::{Deserialize, Serialize};

/// How an operation touches its object.
///
/// `Read` means: commutes with every other read of the object. Not every read returns a value of
/// memory (the request of a reader at a reader-writer lock is one, too).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Access {
    /// Touches nothing: a wait, a spawn, a join, a choice. Never in a race.
    None,
    /// Commutes with other reads.
    Read,
    /// Conflicts with every access of the object.
    Write,
}

/// What an operation does, for people. The core decides by [`Access`] and object alone.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum OpKind {
    /// Atomic load.
    Load,
    /// Atomic store.
    Store,
    /// Atomic read-modify-write that always writes (swap, fetch_add…).
    ReadModifyWrite,
    /// Compare-exchange: a read if it fails.
    CompareExchange,
    /// Memory fence.
    Fence,
    /// Starts a thread.
    Spawn,
    /// The wait for the end of a thread.
    Join,
    /// The end of a thread.
    End,
    /// Polls whether a thread has ended.
    IsFinished,
    /// Takes a place in the order of a mutex.
    MutexRequest,
    /// Waits until the mutex is granted.
    MutexWait,
    /// Releases a mutex.
    MutexUnlock,
    /// First step of a try or timed lock: takes a place.
    MutexTryPlace,
    /// Second step of a try or timed lock: granted, or leaves.
    MutexTryResult,
    /// Takes a reader's place in the order of a reader-writer lock.
    ReadRequest,
    /// Waits until the reader is granted.
    ReadWait,
    /// Releases a reader.
    ReadRelease,
    /// Takes a writer's place in the order of a reader-writer lock.
    WriteRequest,
    /// Waits until the writer is granted.
    WriteWait,
    /// Releases a writer.
    WriteRelease,
    /// Non-blocking read lock.
    TryRead,
    /// Non-blocking write lock.
    TryWrite,
    /// Joins the waiters of a condition variable.
    CondvarEnqueue,
    /// Waits until signalled.
    CondvarWait,
    /// End of a timed wait: signalled, or leaves.
    CondvarResolve,
    /// Signals one waiter; which one is a choice.
    CondvarSignal,
    /// Signals all waiters.
    CondvarBroadcast,
    /// Takes a place in the order of a semaphore.
    SemaphoreRequest,
    /// Waits until the permit is granted.
    SemaphoreWait,
    /// Adds a permit.
    SemaphoreRelease,
    /// First step of a try or timed acquire: takes a place.
    SemaphoreTryPlace,
    /// Second step of a try or timed acquire: granted, or leaves.
    SemaphoreTryResult,
    /// Arrives at a barrier.
    BarrierArrive,
    /// Waits until the generation is complete.
    BarrierWait,
    /// Enters a once: the first becomes the initialiser.
    OnceEnter,
    /// Waits until the initialisation is done.
    OnceWait,
    /// The initialisation is done.
    OnceDone,
    /// Looks whether the initialisation is done.
    OnceGet,
    /// Takes a place among the sends of a channel.
    SendRequest,
    /// Waits until the channel has room.
    SendWait,
    /// Takes a place among the receives of a channel.
    ReceiveRequest,
    /// Waits for a message or for the hang-up.
    ReceiveWait,
    /// First step of a try or timed send.
    SendTryPlace,
    /// Second step of a try or timed send.
    SendTryResult,
    /// First step of a try or timed receive.
    ReceiveTryPlace,
    /// Second step of a try or timed receive.
    ReceiveTryResult,
    /// A handle of a sender is dropped.
    SenderDrop,
    /// The receiver is dropped.
    ReceiverDrop,
    /// Looks whether all senders are gone.
    ClosedCheck,
    /// Takes the park token or begins to wait for it.
    ParkRequest,
    /// Waits for the park token.
    ParkWait,
    /// End of a timed park: token taken, or leaves.
    ParkResolve,
    /// Gives a thread its park token.
    Unpark,
    /// One of n alternatives.
    Choose,
    /// Sends a letter to a process, which has it at once.
    Send,
    /// The network brings a letter to a process.
    Deliver,
    /// Waits until the letters have come in that must come in before.
    DeliveryWait,
    /// Waits for the next letter of the own mailbox.
    LetterWait,
    /// Looks how many letters the own mailbox has.
    LetterLook,
    /// The end of a process, after which letters come too late.
    MailboxClose,
    /// Looks at a part of the state of processes or tables.
    StateRead,
    /// Changes a part of the state of processes or tables.
    StateWrite,
    /// A task of a concurrent object from one release point to the next.
    Segment,
}

/// What a thread announces and performs: at most one access of one object, and no value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Op {
    /// What it does, for people.
    pub kind: OpKind,
    /// How it touches the object, in the state at hand.
    pub access: Access,
    /// What it touches; without an access, what it is about.
    pub object: ObjectId,
}

impl Op {
    /// Two operations of different threads that do not commute.
    pub fn conflicts_with(self, other: Op) -> bool {
        self.object == other.object
            && matches!(
                (self.access, other.access),
                (Access::Write, Access::Read | Access::Write) | (Access::Read, Access::Write)
            )
    }

    /// Whether it has an access at all.
    pub fn is_access(self) -> bool {
        self.access != Access::None
    }

    /// Whether it is a read of `object`.
    pub fn reads(self, object: ObjectId) -> bool {
        self.access == Access::Read && self.object == object
    }
}

/// What a thread would do next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Request {
    /// The operation; `access` is its kind in the state at hand.
    pub op: Op,
    /// For a compare-exchange the value that makes it a write; any other makes it a read.
    pub expects: Option<Token>,
    /// In how many ways it can be performed, at least 1. An operation with more than one is a write
    /// or has no access.
    pub alternatives: u32,
    /// Whether the thread has given way right before it (`yield_now`). Then a step of another thread is no preemption, and
    /// other threads move first by default.
    pub yields: bool,
}

impl Request {
    /// An operation that is performed in one way whatever the state.
    pub fn plain(op: Op) -> Request {
        Request {
            op,
            expects: None,
            alternatives: 1,
            yields: false,
        }
    }

    /// The access that the operation has where its object holds `value`: κ(op, v) of POP with
    /// state-dependent kinds.
    pub fn access_at(&self, value: Token) -> Access {
        access_at(self.op.access, self.expects, value)
    }
}

/// κ(op, v): the access of an operation with comparand `expects` where its object holds `value`.
pub(crate) fn access_at(recorded: Access, expects: Option<Token>, value: Token) -> Access {
    match expects {
        Some(expected) if expected == value => Access::Write,
        Some(_) => Access::Read,
        None => recorded,
    }
}

/// One scheduling decision: who runs, and which alternative of its operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Step {
    /// Who runs.
    pub thread: ThreadId,
    /// Which of the alternatives, from 0.
    pub choice: u32,
}

impl Step {
    /// The thread's first alternative.
    pub fn of(thread: ThreadId) -> Step {
        Step { thread, choice: 0 }
    }
}

/// A list of steps from the start of the program.
pub type Schedule = Vec<Step>;
