//! The objects of an execution, with one pool for each kind, and the conditions for which threads
//! wait.

use crate::engine::life::life;
use crate::engine::pool::Pool;
use crate::rust::mailbox::State as MailboxState;
use explore::{EventId, ThreadId};
use objects::Object;

/// An object of the list `objects!` of the crate `objects`. Each object of this list has a pool.
pub(crate) trait Pooled: Object {
    /// Returns the pool of the objects of this type.
    fn pool(objects: &mut Objects) -> &mut Pool<Self>;
}

macro_rules! pools {
    ($($pool:ident: $Object:ident,)*) => {
        life! {
            /// The synchronization objects of the execution.
            pub(crate) struct Objects {
                $(pub(crate) $pool: Pool<objects::$Object>,)*
                pub(crate) mailboxes: Pool<MailboxState>,
                /// Indexed by thread.
                pub(crate) parks: Vec<objects::Park>,
                /// Indexed by thread.
                pub(crate) ends: Vec<objects::Thread>,
            }
        }

        /// The condition for which a thread waits. Objects are identified by their numbers in their
        /// pools.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum Wait {
            $($Object(u32, <objects::$Object as Object>::Wait),)*
            /// The park token of the thread itself.
            Unpark(ThreadId),
            Join(ThreadId),
            /// The end of a thread without a panic.
            Return(ThreadId),
            /// The letter (message) at a position of a mailbox.
            Letter(u32, usize),
        }

        impl Objects {
            /// Checks whether the wait is over.
            pub(crate) fn is_granted(&self, wait: Wait) -> bool {
                match wait {
                    $(Wait::$Object(number, wait) => self.$pool.get(number).is_granted(wait),)*
                    Wait::Unpark(thread) => self.parks[thread.index()].is_granted(()),
                    Wait::Join(thread) => self.ends[thread.index()].is_finished(),
                    Wait::Return(thread) => self.ends[thread.index()].has_returned(),
                    Wait::Letter(number, position) => {
                        self.mailboxes.get(number).order.has(position)
                    }
                }
            }

            /// Appends to `edges` the events from which synchronization edges lead to a wait that
            /// is over.
            pub(crate) fn edges(&self, wait: Wait, edges: &mut Vec<EventId>) {
                match wait {
                    $(Wait::$Object(number, wait) => self.$pool.get(number).edges(wait, edges),)*
                    Wait::Unpark(thread) => self.parks[thread.index()].edges((), edges),
                    Wait::Join(thread) | Wait::Return(thread) => {
                        self.ends[thread.index()].edges(edges);
                    }
                    Wait::Letter(number, position) => {
                        self.mailboxes.get(number).order.edges(position, edges);
                    }
                }
            }

            /// Returns the threads that must act so that the wait ends, as far as they are known.
            pub(crate) fn awaited(&self, wait: Wait) -> Vec<ThreadId> {
                match wait {
                    $(Wait::$Object(number, wait) => self.$pool.get(number).awaited(wait),)*
                    Wait::Join(thread) | Wait::Return(thread) => vec![thread],
                    Wait::Unpark(_) | Wait::Letter(..) => Vec::new(),
                }
            }
        }

        $(impl Pooled for objects::$Object {
            #[inline(always)]
            fn pool(objects: &mut Objects) -> &mut Pool<Self> {
                &mut objects.$pool
            }
        })*
    };
}
objects::objects!(pools);

impl Wait {
    /// Checks whether the wait is for a lock. Such a wait need not have a lasting effect: the
    /// thread may release the lock in the same round of a loop.
    pub(crate) fn is_for_lock(self) -> bool {
        matches!(self, Wait::Mutex(..) | Wait::RwLock(..))
    }
}
