//! What the engine knows of a thread.

use crate::arena::Heap;
use crate::await_rule::Round;
use crate::coroutine::{Fibre, Suspender};
use crate::failure::Noticed;
use crate::lazy::Making;
use crate::local::Locals;
use crate::native::Laps;
use crate::object::Condition;
use crate::source::Place;
use crate::thread::Panic;
use crate::waiting::Wait;
use explore::{EventId, ThreadId};
use std::panic::Location;
use std::ptr;

/// A thread of the program under test.
pub(crate) struct Thread {
    /// On the heap: it stays where it is while it runs and starts other threads.
    pub(crate) fibre: Box<Fibre>,
    pub(crate) suspender: *const Suspender,
    /// On the heap: it stays where it is, too.
    pub(crate) heap: Box<Heap>,
    pub(crate) job: Option<Job>,
    /// The last event.
    pub(crate) last: Option<EventId>,
    /// After edges of the next event.
    pub(crate) edges: Vec<EventId>,
    /// How many operations it has performed.
    pub(crate) operations: u32,
    /// It has yielded since its last operation that others can notice.
    pub(crate) has_yielded: bool,
    /// How many plain accesses that are no events it may still perform.
    pub(crate) accesses_left: u32,
    pub(crate) expiries: u32,
    pub(crate) spurious: u32,
    /// Allocations that got a block which was freed.
    pub(crate) reused: u32,
    pub(super) children: u32,
    /// Bytes of the stack of the next thread that it starts; 0 for as many as others have.
    pub(crate) stack_of_child: usize,
    pub(super) created: u32,
    pub(crate) wait: Option<Wait>,
    /// The condition that it awaited in vain.
    pub(crate) condition: Option<Condition>,
    pub(crate) location: Place,
    pub(crate) name: Option<String>,
    pub(crate) panic: Option<Panic>,
    pub(crate) noticed: Option<Noticed>,
    /// Panics under way in its code while it is suspended.
    pub(crate) panics: usize,
    /// Operations since the tear-down began.
    pub(crate) torn: u32,
    pub(crate) round: Round,
    /// It may wait for letters at the end.
    pub(crate) serves: bool,
    /// Where it is shown to be while it does what the program does not say itself.
    pub(crate) place: Option<Place>,
    /// The address of the code that does what the thread does; 0 where the source is known.
    pub(crate) code: usize,
    pub(crate) laps: Laps,
    /// Where its code called when it was suspended last: below are no frames of the program. 0 if it never was.
    pub(crate) frame: usize,
    /// Its plain accesses of its own stack are no events.
    pub(crate) has_private_stack: bool,
    /// It stands where it never goes on: its coroutine has to begin again.
    pub(crate) is_lost: bool,
    /// When it was run last, as `Savepoints` counts.
    pub(crate) run: u64,
    pub(crate) locals: Locals,
    /// The static that it makes.
    pub(crate) making: Option<Making>,
}

/// The code of a thread.
pub(crate) enum Job {
    /// Of the main thread; belongs to the engine.
    Main(*const dyn Fn()),
    Spawned(Box<dyn FnOnce()>),
    /// Of a native program; owns nothing, since it may never end.
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
    /// How many threads it started and how many objects it created.
    pub(crate) fn named(&self) -> (u32, u32) {
        (self.children, self.created)
    }

    /// Sets that.
    pub(crate) fn set_named(&mut self, (children, created): (u32, u32)) {
        self.children = children;
        self.created = created;
    }

    pub(super) fn new(id: ThreadId, fibre: Fibre) -> Thread {
        Thread {
            fibre: Box::new(fibre),
            suspender: ptr::null(),
            heap: Box::new(Heap::new(id)),
            job: None,
            last: None,
            edges: Vec::new(),
            operations: 0,
            has_yielded: false,
            accesses_left: 0,
            expiries: 0,
            spurious: 0,
            reused: 0,
            children: 0,
            stack_of_child: 0,
            created: 0,
            wait: None,
            condition: None,
            location: Location::caller(),
            name: None,
            panic: None,
            noticed: None,
            panics: 0,
            torn: 0,
            round: Round::default(),
            serves: false,
            place: None,
            code: 0,
            laps: Laps::default(),
            frame: 0,
            has_private_stack: false,
            is_lost: false,
            run: 0,
            locals: Locals::default(),
            making: None,
        }
    }
}
