//! The engine's data about a thread.

use crate::engine::coroutine::{Fibre, Suspender};
use crate::engine::kin::Kin;
use crate::engine::life::{Life, life};
use crate::engine::place::Place;
use crate::guests::{ThreadGuests, ThreadGuestsLife, Wait};
use explore::{EventId, ThreadId};
use std::any::Any;

/// A thread of the program under test.
pub(crate) struct Thread {
    /// Boxed, so that it does not move while it runs and starts other threads.
    pub(crate) fibre: Box<Fibre>,
    /// The code to run, until the thread takes it when it begins.
    pub(crate) job: Option<Job>,
    /// The payload of the panic that ended the thread, until another thread joins this thread.
    pub(crate) panic: Option<Panic>,
    /// The last panic of the thread that the panic hook has observed.
    pub(crate) caught_panic: Option<CaughtPanic>,
    pub(crate) guests: ThreadGuests,
    pub(crate) life: ThreadLife,
}

life! {
    /// The state of a thread in one execution.
    pub(crate) struct ThreadLife {
        /// The handle by which the thread's coroutine suspends itself.
        pub(crate) suspender: *const Suspender,
        /// The last event.
        pub(crate) last: Option<EventId>,
        /// The events from which synchronization edges lead to the next event.
        pub(crate) edges: Vec<EventId>,
        /// The number of operations performed so far.
        pub(crate) operations: u32,
        /// Whether the thread has yielded since its last operation with an access.
        pub(crate) has_yielded: bool,
        /// The number of plain accesses (not events) that the thread may still perform.
        pub(crate) accesses_left: u32,
        /// The number of timeouts so far.
        pub(crate) expiries: u32,
        /// The number of spurious failures and wake-ups so far.
        pub(crate) spurious: u32,
        /// The number of threads that this thread has started.
        pub(super) children: u32,
        /// The stack size in bytes of the next thread that this thread starts. 0 stands for the
        /// usual size.
        pub(crate) stack_of_child: usize,
        /// The number of objects that this thread has created and that are named after it.
        pub(crate) created: u32,
        /// The wait that the thread has announced, until the wait is performed.
        pub(crate) wait: Option<Wait>,
        /// The place of the last announced operation.
        pub(crate) location: Place,
        /// The name that the program gave to the thread.
        pub(crate) name: Option<String>,
        /// The number of panics in progress in the thread's code while the thread is suspended.
        pub(crate) panics: usize,
        /// The number of operations since the tear-down began.
        pub(crate) tear_down_operations: u32,
        /// The place that traces show for the thread's operations at mailboxes and states, if it is
        /// set.
        pub(crate) place: Option<Place>,
        /// The address of the code that is executed, or 0 if `location` is the place of the thread
        /// instead.
        pub(crate) code: usize,
        /// Whether the thread is suspended at a point from which it never continues, so that its
        /// coroutine must be restarted.
        pub(crate) is_lost: bool,
        /// What is known about twins, if the search asks for them.
        pub(super) kin: Option<Box<Kin>>,
        pub(crate) guests: ThreadGuestsLife,
    }
}

/// The payload of a panic.
pub type Panic = Box<dyn Any + Send + 'static>;

/// Drops the panic payload of a thread that was not joined if it is a message. Leaks any other
/// payload, because its destructor is code of the program, and the execution is over.
pub(crate) fn forget_panic(panic: Panic) {
    if !panic.is::<String>() && !panic.is::<&str>() {
        std::mem::forget(panic);
    }
}

/// A panic, as observed by the hook.
#[derive(Clone, Debug)]
pub(crate) struct CaughtPanic {
    pub(crate) message: String,
    pub(crate) location: String,
}

/// The code of a thread.
pub(crate) enum Job {
    /// The code of the main thread, which the engine owns.
    Main(*const dyn Fn()),
    Spawned(Box<dyn FnOnce()>),
    /// Code of a native program. It owns nothing, so nothing leaks if it never ends.
    Call {
        run: fn(usize),
        argument: usize,
    },
}

impl Job {
    /// Runs the code.
    pub(crate) fn run(self) {
        match self {
            // SAFETY: the engine outlives its threads.
            Job::Main(body) => unsafe { (*body)() },
            Job::Spawned(body) => body(),
            Job::Call { run, argument } => run(argument),
        }
    }
}

impl Thread {
    /// Returns the numbers of threads that this thread has started and of objects that it has
    /// created.
    pub(crate) fn named(&self) -> (u32, u32) {
        (self.life.children, self.life.created)
    }

    pub(super) fn new(id: ThreadId, fibre: Fibre) -> Thread {
        Thread {
            fibre: Box::new(fibre),
            job: None,
            panic: None,
            caught_panic: None,
            guests: ThreadGuests::new(id),
            life: ThreadLife::new(),
        }
    }
}
