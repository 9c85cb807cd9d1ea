//! Default descriptions of operations and objects, by their kinds.

use explore::OpKind;

/// Returns the description of an event for which no text was recorded.
pub(super) fn plain_text(name: &str, kind: OpKind) -> String {
    let what = match kind {
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
        OpKind::OnceWait => "call_once() continues",
        OpKind::OnceDone => "initialized",
        OpKind::SendWait => "send() has room",
        OpKind::SendTryPlace => "try_send() begins",
        OpKind::ReceiveRequest => "recv() requested",
        OpKind::ReceiveWait => "recv() returns",
        OpKind::ReceiveTryPlace => "try_recv() begins",
        OpKind::SenderDrop => "a sender is dropped",
        OpKind::ReceiverDrop => "the receiver is dropped",
        OpKind::ClosedCheck => "try_recv(): checks for senders",
        OpKind::Spawn => return "spawn()".to_owned(),
        OpKind::Join => return "join()".to_owned(),
        OpKind::Send => "send()",
        OpKind::Deliver => "delivered",
        OpKind::LetterWait => "receive()",
        OpKind::LetterLook => "checks for messages",
        OpKind::MailboxClose => "closed",
        OpKind::StateRead | OpKind::ObjectRead => "read",
        OpKind::StateWrite | OpKind::ObjectWrite => "written",
        OpKind::ObjectWait => "wait() returns",
        OpKind::DeliveryWait => return "earlier messages were delivered".to_owned(),
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
        | OpKind::Choose => return format!("{name}: {kind:?}"),
    };
    format!("{name}: {what}")
}

/// Returns the description of an object whose creation was not recorded.
pub fn kind_of_object(kind: OpKind) -> &'static str {
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
        OpKind::Segment | OpKind::ObjectWrite | OpKind::ObjectRead | OpKind::ObjectWait => {
            "an object"
        }
        OpKind::Fence | OpKind::Choose => "nothing",
    }
}
