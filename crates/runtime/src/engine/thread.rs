//! The engine's data about a thread.

use crate::engine::coroutine::{Fibre, Suspender};
use crate::engine::life::{Life, life};
use crate::engine::pools::Wait;
use crate::memory::arena::Heap;
use crate::native::Visits;
use crate::rust::lazy::Making;
use crate::rust::local::Locals;
use crate::rust::object::Condition;
use crate::rust::thread::Panic;
use crate::trace::failure::Noticed;
use crate::trace::source::Place;
use crate::watch::await_rule::Round;
use explore::{EventId, ThreadId};

/// A thread of the program under test.
pub(crate) struct Thread {
    /// Boxed, so that it does not move while it runs and starts other threads.
    pub(crate) fibre: Box<Fibre>,
    /// Boxed, so that it does not move either.
    pub(crate) heap: Box<Heap>,
    pub(crate) job: Option<Job>,
    pub(crate) panic: Option<Panic>,
    pub(crate) noticed: Option<Noticed>,
    /// Whether the thread's plain accesses to its own stack are not events.
    pub(crate) has_private_stack: bool,
    /// The number of its last run, as counted by `Savepoints`.
    pub(crate) run: u64,
    pub(crate) locals: Locals,
    /// The static that the thread is creating.
    pub(crate) making: Option<Making>,
    pub(crate) life: ThreadLife,
}

life! {
    /// The state that lives for one execution and can be copied.
    pub(crate) struct ThreadLife {
        pub(crate) suspender: *const Suspender,
        /// The last event.
        pub(crate) last: Option<EventId>,
        /// Synchronization edges to the next event.
        pub(crate) edges: Vec<EventId>,
        /// The number of operations performed so far.
        pub(crate) operations: u32,
        /// Whether the thread has yielded since its last operation that other threads can observe.
        pub(crate) has_yielded: bool,
        /// The number of plain accesses (not events) that the thread may still perform.
        pub(crate) accesses_left: u32,
        pub(crate) expiries: u32,
        pub(crate) spurious: u32,
        /// The number of allocations that reused a freed block.
        pub(crate) reused: u32,
        pub(super) children: u32,
        /// The stack size in bytes of the next thread that this thread starts. 0 stands for the
        /// usual size.
        pub(crate) stack_of_child: usize,
        pub(super) created: u32,
        pub(crate) wait: Option<Wait>,
        /// The condition that stopped the thread because it did not hold.
        pub(crate) condition: Option<Condition>,
        pub(crate) location: Place,
        pub(crate) name: Option<String>,
        /// The number of panics in progress in the thread's code while the thread is suspended.
        pub(crate) panics: usize,
        /// The number of operations since the tear-down began.
        pub(crate) torn: u32,
        pub(crate) round: Round,
        /// Whether the thread may be waiting for letters at the end.
        pub(crate) serves: bool,
        /// The place to show while the thread does something that has no place in the program.
        pub(crate) place: Option<Place>,
        /// The address of the code that is executed, or 0 where the source is known.
        pub(crate) code: usize,
        pub(crate) visits: Visits,
        /// The frame of the call in which the thread was last suspended, or 0 if it was never
        /// suspended. No frames of the program lie below.
        pub(crate) frame: usize,
        /// Whether the thread is suspended where it never continues, so that its coroutine must be
        /// restarted.
        pub(crate) is_lost: bool,
    }
}

/// The code of a thread.
pub(crate) enum Job {
    /// The code of the main thread, which the engine owns.
    Main(*const dyn Fn()),
    Spawned(Box<dyn FnOnce()>),
    /// Code of a native program. The code owns nothing, because it may never end.
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
            heap: Box::new(Heap::new(id)),
            job: None,
            panic: None,
            noticed: None,
            has_private_stack: false,
            run: 0,
            locals: Locals::default(),
            making: None,
            life: ThreadLife::new(),
        }
    }
}
