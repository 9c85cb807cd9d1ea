//! Process ids.

use crate::inbox::Inbox;
use runtime::Mailbox;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The address of a process that receives messages of type `M`. It can be cloned, compared and
/// sent.
pub struct Pid<M> {
    pub(crate) inbox: Arc<Inbox<M>>,
}

/// The identity of a process of any message type. The order of ids is the same in every schedule:
/// it depends on the threads that started the processes, not on time.
#[derive(Clone)]
pub struct ProcessId {
    /// The mailbox of the process. Its id is the same in all executions.
    object: runtime::ObjectId,
    /// The spawn path of the thread that started the process (for each ancestor of the thread and
    /// the thread itself, its number among the threads of its parent), and the number of objects
    /// that this thread had created before.
    birth: (Arc<[u32]>, u32),
    name: Arc<str>,
}

impl ProcessId {
    /// Returns the id of the process whose mailbox the current thread has just created.
    pub(crate) fn new(name: &str, mailbox: Mailbox) -> ProcessId {
        let (path, number) = Mailbox::birth();
        ProcessId {
            object: mailbox.object(),
            birth: (Arc::from(path), number),
            name: Arc::from(name),
        }
    }

    /// Returns the name that the process was started with.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl<M> Pid<M> {
    /// Returns the id of the process.
    pub fn id(&self) -> &ProcessId {
        &self.inbox.control.id
    }

    /// Returns the name that the process was started with.
    pub fn name(&self) -> &str {
        self.id().name()
    }
}

impl<M> Clone for Pid<M> {
    fn clone(&self) -> Pid<M> {
        Pid {
            inbox: Arc::clone(&self.inbox),
        }
    }
}

impl<M> PartialEq for Pid<M> {
    fn eq(&self, other: &Pid<M>) -> bool {
        self.id() == other.id()
    }
}

impl<M> Eq for Pid<M> {}

impl<M> PartialOrd for Pid<M> {
    fn partial_cmp(&self, other: &Pid<M>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<M> Ord for Pid<M> {
    fn cmp(&self, other: &Pid<M>) -> Ordering {
        self.id().cmp(other.id())
    }
}

impl<M> Hash for Pid<M> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id().hash(state);
    }
}

impl<M> fmt::Debug for Pid<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.id(), f)
    }
}

impl PartialEq for ProcessId {
    fn eq(&self, other: &ProcessId) -> bool {
        self.object == other.object
    }
}

impl Eq for ProcessId {}

impl PartialOrd for ProcessId {
    fn partial_cmp(&self, other: &ProcessId) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ProcessId {
    fn cmp(&self, other: &ProcessId) -> Ordering {
        self.birth.cmp(&other.birth)
    }
}

impl Hash for ProcessId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.object.hash(state);
    }
}

impl fmt::Debug for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}>", self.name)
    }
}

impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
