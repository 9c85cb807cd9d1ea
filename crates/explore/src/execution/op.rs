//! Operations and their dependence.

use super::id::{EventId, ObjectId, ThreadId, ValueId};
use serde::{Deserialize, Serialize};

/// How an operation accesses its object.
///
/// `Read` means that the operation commutes with every other read of the object. Not every read
/// returns a value from memory: a reader's request at a reader-writer lock is a read, too.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Access {
    /// No access, as for a wait, a spawn, a join or a choice. The operation is never in a race.
    None,
    /// Commutes with other reads.
    Read,
    /// Conflicts with every access to the object.
    Write,
}

/// The kind of an operation, for display. The core uses only [`Access`] and the object.
///
/// A *request* takes a place in the order of an object, and the *wait* that follows ends when the
/// place is *granted*. The crate `objects` explains these terms.
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
    /// Waits for the end of a thread.
    Join,
    /// Ends a thread.
    End,
    /// Polls whether a thread has ended.
    IsFinished,
    /// Takes a place in the order of a mutex.
    MutexRequest,
    /// Waits until the mutex is granted.
    MutexWait,
    /// Releases a mutex.
    MutexUnlock,
    /// First step of a try-lock or timed lock: takes a place.
    MutexTryPlace,
    /// Second step of a try-lock or timed lock: the place is granted or given up.
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
    /// Becomes a waiter of a condition variable.
    CondvarEnqueue,
    /// Waits for a signal.
    CondvarWait,
    /// Ends a timed wait: the thread was signalled, or it gives up.
    CondvarResolve,
    /// Signals one waiter. The choice determines which one.
    CondvarSignal,
    /// Signals all waiters.
    CondvarBroadcast,
    /// Takes a place in the order of a semaphore.
    SemaphoreRequest,
    /// Waits until the permit is granted.
    SemaphoreWait,
    /// Adds a permit.
    SemaphoreRelease,
    /// First step of a try-acquire or timed acquire: takes a place.
    SemaphoreTryPlace,
    /// Second step of a try-acquire or timed acquire: the place is granted or given up.
    SemaphoreTryResult,
    /// Arrives at a barrier.
    BarrierArrive,
    /// Waits until the generation is complete.
    BarrierWait,
    /// Enters a once: the first thread becomes the initializer.
    OnceEnter,
    /// Waits to become the initializer, or until the initialization is done.
    OnceWait,
    /// Ends an initialization, which has succeeded or failed.
    OnceDone,
    /// Checks whether the initialization is done.
    OnceGet,
    /// Takes a place among the sends of a channel.
    SendRequest,
    /// Waits until the channel has room.
    SendWait,
    /// Takes a place among the receives of a channel.
    ReceiveRequest,
    /// Waits for a message or for disconnection.
    ReceiveWait,
    /// First step of a try-send or timed send: takes a place.
    SendTryPlace,
    /// Second step of a try-send or timed send: the message is accepted, or the place is given up.
    SendTryResult,
    /// Second step of a try-receive or timed receive: takes a place.
    ReceiveTryPlace,
    /// Last step of a try-receive or timed receive: a message is taken, or the place is given up.
    ReceiveTryResult,
    /// Drops a sender handle.
    SenderDrop,
    /// Drops the receiver.
    ReceiverDrop,
    /// First step of a try-receive or timed receive: checks whether all senders are dropped.
    ClosedCheck,
    /// Takes the park token or begins to wait for it.
    ParkRequest,
    /// Waits for the park token.
    ParkWait,
    /// Ends a timed park: the thread takes the token, or it gives up.
    ParkResolve,
    /// Gives a thread its park token.
    Unpark,
    /// Chooses one of n alternatives.
    Choose,
    /// Sends a message that arrives in the mailbox of the receiving process at once.
    Send,
    /// Delivers a message to a process over the network.
    Deliver,
    /// Waits for the delivery of all messages that must be delivered before this message.
    DeliveryWait,
    /// Waits for the next message in the mailbox of the process.
    LetterWait,
    /// Reads the number of messages in the mailbox of the process.
    LetterLook,
    /// Ends a process. Later messages are not received.
    MailboxClose,
    /// Reads a part of the state of processes or tables.
    StateRead,
    /// Changes a part of the state of processes or tables.
    StateWrite,
    /// Runs a task of a concurrent object from one release point to the next.
    Segment,
    /// Changes an object for which this list has no kinds.
    ObjectWrite,
    /// Reads the state of an object for which this list has no kinds.
    ObjectRead,
    /// Waits for an object for which this list has no kinds.
    ObjectWait,
}

/// An operation that a thread announces and then performs. It accesses at most one object. Values
/// are not part of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Op {
    /// The kind of the operation, for display.
    pub kind: OpKind,
    /// The access to the object in the current state.
    pub access: Access,
    /// The object that is accessed, or that an operation without access refers to.
    pub object: ObjectId,
}

impl Op {
    /// Checks whether two operations of different threads conflict: they access the same object,
    /// and at least one of them is a write.
    pub fn conflicts_with(self, other: Op) -> bool {
        self.object == other.object
            && matches!(
                (self.access, other.access),
                (Access::Write, Access::Read | Access::Write) | (Access::Read, Access::Write)
            )
    }

    /// Checks whether the operation accesses its object.
    pub fn is_access(self) -> bool {
        self.access != Access::None
    }

    /// Checks whether the operation is a read of `object`.
    pub fn reads(self, object: ObjectId) -> bool {
        self.access == Access::Read && self.object == object
    }
}

/// The next operation of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Request {
    /// The operation, with the access that it has in the current state.
    pub op: Op,
    /// The value that the object must hold for a compare-exchange to be a write. With any other
    /// value, it is a read. `None` for all other operations.
    pub expects: Option<ValueId>,
    /// The number of ways in which the operation can be performed, at least 1. An operation with
    /// several alternatives is a write or has no access.
    pub alternatives: u32,
    /// The ordering of an atomic access or of a fence.
    pub order: MemoryOrder,
    /// The ordering of a compare-exchange that fails.
    pub on_failure: MemoryOrder,
    /// Whether a write continues the release sequence of its thread, as in C and in C++ before
    /// C++20.
    pub continues: bool,
    /// Whether the thread has yielded right before the operation (`yield_now`). If so, a step of
    /// another thread is not a preemption, and other threads run first by default.
    pub yields: bool,
}

impl Request {
    /// The placeholder for a request that is not known yet.
    pub(crate) const UNKNOWN: Request = Request {
        op: Op {
            kind: OpKind::Choose,
            access: Access::None,
            object: ObjectId::NONE,
        },
        expects: None,
        alternatives: 1,
        order: MemoryOrder::SeqCst,
        on_failure: MemoryOrder::SeqCst,
        continues: false,
        yields: false,
    };

    /// Returns the request of an operation that has one alternative and the same access in every
    /// state.
    pub fn plain(op: Op) -> Request {
        Request {
            op,
            ..Request::UNKNOWN
        }
    }

    /// Like [`plain`](Request::plain), but for an operation of a synchronization object
    /// ([`MemoryOrder::Object`]). Under every memory model, all of these operations at an object
    /// are in one order.
    pub fn of_object(op: Op) -> Request {
        Request {
            op,
            order: MemoryOrder::Object,
            ..Request::UNKNOWN
        }
    }

    /// κ(op, v): returns the access of the operation when its object holds `value`.
    pub fn access_at(&self, value: ValueId) -> Access {
        access_at(self.op.access, self.expects, value)
    }
}

/// κ(op, v): returns the access of an operation when its object holds `value`. A compare-exchange
/// writes if this is the value that it `expects`. All other operations always have the access
/// `recorded`.
pub(crate) fn access_at(recorded: Access, expects: Option<ValueId>, value: ValueId) -> Access {
    match expects {
        Some(expected) if expected == value => Access::Write,
        Some(_) => Access::Read,
        None => recorded,
    }
}

/// One scheduling decision: the thread to run, the alternative of its operation, and what the
/// operation reads (or, for a store, its place in coherence order).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Step {
    /// The thread to run.
    pub thread: ThreadId,
    /// The number of the alternative, from 0.
    pub choice: u32,
    /// The write that the operation reads from, or the place of a store.
    pub reads_from: ReadsFrom,
}

impl Step {
    /// Returns the first alternative of the thread's operation.
    pub const fn of(thread: ThreadId) -> Step {
        Step::choosing(thread, 0)
    }

    /// Returns an alternative of the thread's operation.
    pub const fn choosing(thread: ThreadId, choice: u32) -> Step {
        Step {
            thread,
            choice,
            reads_from: ReadsFrom::LAST,
        }
    }
}

/// The write that a read reads from, or the place of a write in the coherence order of its object.
///
/// Coherence order is the order in which all threads observe the writes of an object. Under
/// sequential consistency a read always reads the last write before it, and a write always comes
/// last in coherence order. Under a weaker memory model, the strategy decides.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ReadsFrom(u32);

impl ReadsFrom {
    /// The last write before a read in the execution, or the last place in coherence order for a
    /// write.
    pub const LAST: ReadsFrom = ReadsFrom(0);
    /// The initial value of the object.
    pub const INITIAL: ReadsFrom = ReadsFrom(1);
    /// A store that comes after all writes of earlier steps in coherence order.
    pub const NEWEST: ReadsFrom = ReadsFrom(2);
    /// A store that comes before a write of an earlier step in coherence order. It does not change
    /// the memory.
    pub const OVERWRITTEN: ReadsFrom = ReadsFrom(3);

    /// Returns a write of the current execution as the source.
    pub fn from(event: EventId) -> ReadsFrom {
        ReadsFrom(event.0 + 4)
    }

    /// Returns the code of the source, for files.
    pub fn code(self) -> u32 {
        self.0
    }

    /// Returns the source with this code.
    pub fn of_code(code: u32) -> ReadsFrom {
        ReadsFrom(code)
    }

    /// Returns the source, if it is a write of the current execution.
    pub fn event(self) -> Option<EventId> {
        self.0.checked_sub(4).map(EventId)
    }
}

/// The ordering of an atomic access or of a fence.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
pub enum MemoryOrder {
    /// Orders nothing.
    Relaxed,
    /// A read that synchronizes with the release that it reads from.
    Acquire,
    /// A write that synchronizes with an acquire that reads from it.
    Release,
    /// Both.
    AcqRel,
    /// Acquire and release, in one total order of all accesses with this ordering.
    #[default]
    SeqCst,
    /// An access of a synchronization object: it is in the order of the accesses with `SeqCst`, and
    /// synchronizes by the edges that the object reports.
    Object,
}

impl MemoryOrder {
    /// Checks whether a read with this ordering acquires.
    pub fn acquires(self) -> bool {
        matches!(
            self,
            MemoryOrder::Acquire | MemoryOrder::AcqRel | MemoryOrder::SeqCst
        )
    }

    /// Checks whether a write with this ordering releases.
    pub fn releases(self) -> bool {
        matches!(
            self,
            MemoryOrder::Release | MemoryOrder::AcqRel | MemoryOrder::SeqCst
        )
    }

    /// Returns the weakest ordering that is as strong as both. `Object` counts as `SeqCst`, unless
    /// it is `self`: then the result is `Object`.
    pub fn at_least(self, other: MemoryOrder) -> MemoryOrder {
        match (self, other) {
            (MemoryOrder::Object, _) => self,
            (_, MemoryOrder::SeqCst | MemoryOrder::Object) => MemoryOrder::SeqCst,
            (MemoryOrder::SeqCst, _) => self,
            (MemoryOrder::Relaxed, _) => other,
            (_, MemoryOrder::Relaxed) => self,
            _ if self == other => self,
            _ => MemoryOrder::AcqRel,
        }
    }

    /// Checks whether the ordering is weaker than `SeqCst`.
    pub fn is_weaker(self) -> bool {
        !self.is_total()
    }

    /// Checks whether the access is in the total order of sequentially consistent accesses.
    pub fn is_total(self) -> bool {
        matches!(self, MemoryOrder::SeqCst | MemoryOrder::Object)
    }
}

/// The steps from the start of the program.
pub type Schedule = Vec<Step>;
