//! The events of an action: every action that may block is a request and a wait.

use crate::entry::{Kind, Step};
use crate::program::Verb;

/// One event of an action.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Phase {
    Variable(Variable),
    Mutex(Mutex),
    RwLock(RwLock),
    Condvar(Condvar),
    Entry(Kind, Step),
    Arrive,
    Once(Once),
    Send(Send),
    Receive(Receive),
    Park(Park),
    Thread(Thread),
    /// Decides whether a weak compare-exchange fails spuriously. This event has no access and no
    /// object.
    MaybeSpurious,
    Fence,
    Choose,
    /// A wait, which is enabled only once it is granted.
    Wait(Wait),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Variable {
    Load,
    Store,
    FetchAdd,
    Swap,
    CompareExchange,
    /// The store by the initializer of a once.
    Initialize,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Mutex {
    Request,
    Unlock,
    TryPlace,
    TryResult,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum RwLock {
    ReadRequest,
    WriteRequest,
    Release,
    TryRead,
    TryWrite,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Condvar {
    Enqueue,
    Resolve,
    Signal,
    Broadcast,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Once {
    Enter,
    Done,
    Fail,
    Get,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Send {
    Request,
    TryPlace,
    TryResult,
    RendezvousTry,
    Drop,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Receive {
    Request,
    ClosedCheck,
    TryPlace,
    TryResult,
    RendezvousTry,
    Drop,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Park {
    Request,
    Resolve,
    Unpark,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Thread {
    Spawn,
    IsFinished,
    /// The end of a thread that is polled. Not part of an action.
    End,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Wait {
    Mutex,
    Read,
    Write,
    Signalled,
    Entry(Kind),
    Barrier,
    Once,
    Send,
    Receive,
    Park,
    Join,
}

/// Returns the phases of an action, in order. `capacity` is the capacity of its channel.
pub(crate) fn phases(verb: Verb, capacity: Option<usize>) -> &'static [Phase] {
    let is_rendezvous = capacity == Some(0);
    match verb {
        Verb::Load => &[Phase::Variable(Variable::Load)],
        Verb::Store => &[Phase::Variable(Variable::Store)],
        Verb::FetchAdd => &[Phase::Variable(Variable::FetchAdd)],
        Verb::Swap => &[Phase::Variable(Variable::Swap)],
        Verb::CompareExchange => &[Phase::Variable(Variable::CompareExchange)],
        Verb::WeakCompareExchange => &[
            Phase::MaybeSpurious,
            Phase::Variable(Variable::CompareExchange),
        ],
        Verb::Fence => &[Phase::Fence],
        Verb::Let | Verb::Yield => &[],
        Verb::Choose => &[Phase::Choose],
        Verb::Lock => &[Phase::Mutex(Mutex::Request), Phase::Wait(Wait::Mutex)],
        Verb::Unlock => &[Phase::Mutex(Mutex::Unlock)],
        Verb::TryLock => &[
            Phase::Mutex(Mutex::TryPlace),
            Phase::Mutex(Mutex::TryResult),
        ],
        Verb::ReadLock => &[Phase::RwLock(RwLock::ReadRequest), Phase::Wait(Wait::Read)],
        Verb::WriteLock => &[
            Phase::RwLock(RwLock::WriteRequest),
            Phase::Wait(Wait::Write),
        ],
        Verb::Release => &[Phase::RwLock(RwLock::Release)],
        Verb::TryRead => &[Phase::RwLock(RwLock::TryRead)],
        Verb::TryWrite => &[Phase::RwLock(RwLock::TryWrite)],
        Verb::Wait => &[
            Phase::Condvar(Condvar::Enqueue),
            Phase::Mutex(Mutex::Unlock),
            Phase::Wait(Wait::Signalled),
            Phase::Mutex(Mutex::Request),
            Phase::Wait(Wait::Mutex),
        ],
        Verb::TimedWait => &[
            Phase::Condvar(Condvar::Enqueue),
            Phase::Mutex(Mutex::Unlock),
            Phase::Condvar(Condvar::Resolve),
            Phase::Mutex(Mutex::Request),
            Phase::Wait(Wait::Mutex),
        ],
        Verb::Signal => &[Phase::Condvar(Condvar::Signal)],
        Verb::Broadcast => &[Phase::Condvar(Condvar::Broadcast)],
        Verb::Act(act) => act.phases(),
        Verb::Arrive | Verb::Lead => &[Phase::Arrive, Phase::Wait(Wait::Barrier)],
        Verb::Once => &[
            Phase::Once(Once::Enter),
            Phase::Wait(Wait::Once),
            Phase::Variable(Variable::Initialize),
            Phase::Once(Once::Done),
        ],
        Verb::FailOnce => &[
            Phase::Once(Once::Enter),
            Phase::Wait(Wait::Once),
            Phase::Once(Once::Fail),
        ],
        Verb::Get => &[Phase::Once(Once::Get)],
        Verb::Send if capacity.is_none() => &[Phase::Send(Send::Request)],
        Verb::Send => &[Phase::Send(Send::Request), Phase::Wait(Wait::Send)],
        Verb::TrySend if is_rendezvous => &[Phase::Send(Send::RendezvousTry)],
        Verb::TrySend | Verb::TimedSend => {
            &[Phase::Send(Send::TryPlace), Phase::Send(Send::TryResult)]
        }
        Verb::Receive => &[Phase::Receive(Receive::Request), Phase::Wait(Wait::Receive)],
        Verb::TryReceive if is_rendezvous => &[
            Phase::Receive(Receive::ClosedCheck),
            Phase::Receive(Receive::RendezvousTry),
        ],
        Verb::TryReceive | Verb::TimedReceive => &[
            Phase::Receive(Receive::ClosedCheck),
            Phase::Receive(Receive::TryPlace),
            Phase::Receive(Receive::TryResult),
        ],
        Verb::HangUp => &[Phase::Send(Send::Drop)],
        Verb::Leave => &[Phase::Receive(Receive::Drop)],
        Verb::Park => &[Phase::Park(Park::Request), Phase::Wait(Wait::Park)],
        Verb::TimedPark => &[Phase::Park(Park::Request), Phase::Park(Park::Resolve)],
        Verb::Unpark => &[Phase::Park(Park::Unpark)],
        Verb::Spawn => &[Phase::Thread(Thread::Spawn)],
        Verb::Join => &[Phase::Wait(Wait::Join)],
        Verb::Ended => &[Phase::Thread(Thread::IsFinished)],
    }
}
