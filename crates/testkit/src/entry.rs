//! Objects that are described by an *entry*: all that programs, machines, oracles and suites know
//! of such an object is in this file.
//!
//! An object can have an entry if each of its actions consists of a few events at this object and
//! perhaps a final wait, and if its state in the direct semantics is a number. All other objects
//! are spread over the other modules. The tests do not compile unless every object in the list
//! [`objects::objects!`] names its suites.

use crate::phase::{Phase, Wait};
use crate::program::{Program, Signature, Sort, Verb, row};
use explore::{Access, EventId};
use objects::{Form, Object, Ticket};

/// A kind of objects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Kind {
    Semaphore,
}

/// An action at an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Act {
    Acquire,
    Post,
    TryAcquire,
}

/// An event of an action, other than its wait.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Step {
    Request,
    Release,
    TryPlace,
    TryResult,
}

/// An object of the machine.
#[derive(Clone, Debug)]
pub(crate) enum State {
    Semaphore(objects::Semaphore),
}

/// Passes the Rust mirrors of these objects to a macro. For each kind, it passes the name of a
/// field, the type, and a closure that creates the object with a given number in a program. For
/// each action, it passes a closure that performs the action and returns its result, or 0 if it has
/// none. The types must be in scope where `mirrors!` is called.
#[macro_export]
macro_rules! mirrors {
    ($receive:ident) => {
        $receive! {
            semaphores: Semaphore = |program, number| Semaphore::new(program.permits(number)),
            Acquire => |semaphore| { semaphore.acquire(); 0 },
            Post => |semaphore| { semaphore.release(); 0 },
            TryAcquire => |semaphore| u64::from(semaphore.try_acquire());
        }
    };
}

/// The signatures of all actions.
pub(crate) const SIGNATURES: &[Signature] = {
    const SEMAPHORE: &[Sort] = &[Sort::Entry(Kind::Semaphore)];
    &[
        row(Verb::Act(Act::Acquire), "acquire", false, SEMAPHORE, 0),
        row(Verb::Act(Act::Post), "post", false, SEMAPHORE, 0),
        row(Verb::Act(Act::TryAcquire), "tryacquire", true, SEMAPHORE, 0),
    ]
};

impl Kind {
    /// All kinds, in the order of declaration.
    pub(crate) const ALL: &[Kind] = &[Kind::Semaphore];

    /// Returns the first letter of the names of its objects.
    pub(crate) fn letter(self) -> char {
        match self {
            Kind::Semaphore => 's',
        }
    }

    /// Returns the number of ids that an object needs.
    pub(crate) fn parts(self) -> u32 {
        match self {
            Kind::Semaphore => objects::Semaphore::PARTS,
        }
    }

    /// Returns the form of its wait: the announcement of the wait without the concrete object.
    pub(crate) fn wait(self) -> Form {
        match self {
            Kind::Semaphore => objects::Semaphore::WAIT,
        }
    }

    /// Returns the value of an object at the start.
    pub(crate) fn size(self, program: &Program, number: usize) -> usize {
        match self {
            Kind::Semaphore => program.permits(number),
        }
    }

    /// Returns the object of the machine with this value at the start.
    pub(crate) fn state(self, size: usize) -> State {
        match self {
            Kind::Semaphore => State::Semaphore(objects::Semaphore::new(size)),
        }
    }

    /// Returns its type in C, if C has it, and the statement that initializes the object `$0` with
    /// the value `$a`.
    pub(crate) fn in_c(self) -> Option<[&'static str; 2]> {
        match self {
            Kind::Semaphore => Some(["sem_t", "sem_init(&$0, 0, $a);"]),
        }
    }
}

impl Act {
    /// All actions.
    pub(crate) const ALL: &[Act] = &[Act::Acquire, Act::Post, Act::TryAcquire];

    /// Returns the events of the action, in order.
    pub(crate) fn phases(self) -> &'static [Phase] {
        use Kind::Semaphore;
        match self {
            Act::Acquire => &[
                Phase::Entry(Semaphore, Step::Request),
                Phase::Wait(Wait::Entry(Semaphore)),
            ],
            Act::Post => &[Phase::Entry(Semaphore, Step::Release)],
            Act::TryAcquire => &[
                Phase::Entry(Semaphore, Step::TryPlace),
                Phase::Entry(Semaphore, Step::TryResult),
            ],
        }
    }

    /// Returns whether one of its events only reads the object.
    pub(crate) fn reads(self) -> bool {
        self.phases().iter().any(|phase| match phase {
            Phase::Entry(_, step) => step.form().access == Access::Read,
            Phase::Variable(_)
            | Phase::Mutex(_)
            | Phase::RwLock(_)
            | Phase::Condvar(_)
            | Phase::Arrive
            | Phase::Once(_)
            | Phase::Send(_)
            | Phase::Receive(_)
            | Phase::Park(_)
            | Phase::Thread(_)
            | Phase::MaybeSpurious
            | Phase::Fence
            | Phase::Choose
            | Phase::Wait(_) => false,
        })
    }

    /// Returns the kind of its object.
    pub(crate) fn kind(self) -> Kind {
        match Verb::Act(self).signature().sorts {
            &[Sort::Entry(kind)] => kind,
            other => unreachable!("an entry is no action at {other:?}"),
        }
    }

    /// Performs the action at once: the direct semantics. Changes the value of the object and
    /// returns the result. Returns `None` if the thread has to wait.
    pub(crate) fn perform(self, value: &mut usize) -> Option<u64> {
        let is_available = *value > 0;
        match self {
            Act::Acquire if !is_available => return None,
            Act::Acquire | Act::TryAcquire => *value -= usize::from(is_available),
            Act::Post => *value += 1,
        }
        Some(u64::from(is_available))
    }

    /// Returns its template in C; see `c_source`.
    pub(crate) fn in_c(self) -> Option<&'static str> {
        match self {
            Act::Acquire => Some("sem_wait(&$0);"),
            Act::Post => Some("sem_post(&$0);"),
            Act::TryAcquire => Some("$into (sem_trywait(&$0) == 0);"),
        }
    }
}

impl Step {
    /// Returns the form of the event: its announcement without the concrete object.
    pub(crate) fn form(self) -> Form {
        match self {
            Step::Request => objects::Semaphore::REQUEST,
            Step::Release => objects::Semaphore::RELEASE,
            Step::TryPlace => objects::Semaphore::TRY_PLACE,
            Step::TryResult => objects::Semaphore::TRY_RESULT,
        }
    }
}

impl State {
    /// Resets the object.
    pub(crate) fn clear(&mut self, size: usize) {
        match self {
            State::Semaphore(semaphore) => semaphore.clear(size),
        }
    }

    /// Performs the event `at`: the split semantics. `place` is the position in the order of the
    /// object that an earlier event of the action took. Returns the result of the action, if the
    /// event decides it.
    pub(crate) fn perform(
        &mut self,
        step: Step,
        place: &mut Option<Ticket>,
        at: EventId,
    ) -> Option<u64> {
        match (self, step) {
            (State::Semaphore(semaphore), Step::Request | Step::TryPlace) => {
                *place = Some(semaphore.request(at));
            }
            (State::Semaphore(semaphore), Step::Release) => semaphore.release(at),
            (State::Semaphore(semaphore), Step::TryResult) => {
                return Some(u64::from(semaphore.resolve(placed(*place))));
            }
        }
        None
    }

    /// Checks whether the wait of the action is over.
    pub(crate) fn is_granted(&self, place: Option<Ticket>) -> bool {
        match self {
            State::Semaphore(semaphore) => semaphore.is_granted(placed(place)),
        }
    }

    /// Appends the synchronization edges of a wait that is over.
    pub(crate) fn edges(&self, place: Option<Ticket>, edges: &mut Vec<EventId>) {
        match self {
            State::Semaphore(semaphore) => semaphore.edges(placed(place), edges),
        }
    }
}

fn placed(place: Option<Ticket>) -> Ticket {
    place.expect("the request comes before")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::suite::Suite;

    /// An object, with the suites of random programs that use it.
    trait Tested: Object {
        const SUITES: &[(Sort, &str)];
    }

    impl Tested for objects::Mutex {
        const SUITES: &[(Sort, &str)] = &[(Sort::Mutex, "locks"), (Sort::Mutex, "trylock")];
    }

    impl Tested for objects::RwLock {
        const SUITES: &[(Sort, &str)] = &[(Sort::RwLock, "rwlock"), (Sort::RwLock, "rwlock-try")];
    }

    impl Tested for objects::Condvar {
        const SUITES: &[(Sort, &str)] = &[(Sort::Condvar, "condvar")];
    }

    impl Tested for objects::Semaphore {
        const SUITES: &[(Sort, &str)] = &[(Sort::Entry(Kind::Semaphore), "entries")];
    }

    impl Tested for objects::Barrier {
        const SUITES: &[(Sort, &str)] = &[(Sort::Barrier, "barrier")];
    }

    impl Tested for objects::Once {
        const SUITES: &[(Sort, &str)] = &[(Sort::Once, "once")];
    }

    impl Tested for objects::Channel {
        const SUITES: &[(Sort, &str)] =
            &[(Sort::Channel, "channel"), (Sort::Channel, "rendezvous")];
    }

    impl Tested for objects::Park {
        const SUITES: &[(Sort, &str)] = &[(Sort::Thread, "park")];
    }

    // The systems of processes in `crate::processes` use networks.
    impl Tested for objects::Network {
        const SUITES: &[(Sort, &str)] = &[];
    }

    macro_rules! suites {
        ($($objects:ident: $Object:ident,)*) => {
            [$(<objects::$Object as Tested>::SUITES),*].concat()
        };
    }

    #[test]
    fn each_object_of_the_list_is_used_by_its_suites() {
        for (sort, name) in objects::objects!(suites) {
            let suite = Suite::named(name).expect("it is the name of a suite");
            let is_used = |seed| suite.program(&mut Random::new(seed)).count(sort) > 0;
            assert!((0..20).any(is_used), "{name} does not use {sort:?}");
        }
    }
}
