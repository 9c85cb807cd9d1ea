//! Programs in C that use what real ones use: memory of every storage class, atomics of all sizes, locks with tries,
//! condition variables, spin loops, functions of the library.
//!
//! A [`CProgram`] is printed as C ([`source`]) and run by a [`machine`] of its own, which shares no code with
//! `explore`, `objects` or `runtime`. [`random`] makes them from a seed.

pub mod machine;
pub mod random;
pub mod smaller;
pub mod source;

/// Registers of a thread.
pub const REGISTERS: usize = 3;
/// Bytes of a region.
pub const REGION: usize = 16;

/// A program. Thread 0 is the main thread.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CProgram {
    /// Memory that threads share.
    pub regions: Vec<Home>,
    /// Mutexes.
    pub mutexes: Vec<Home>,
    /// Reader-writer locks.
    pub rwlocks: Vec<Home>,
    /// Condition variables.
    pub condvars: Vec<Home>,
    /// Semaphores with their permits.
    pub semaphores: Vec<(Home, u32)>,
    /// Barriers with their places.
    pub barriers: Vec<(Home, u32)>,
    /// Onces: each adds 1 to its place.
    pub onces: Vec<Place>,
    /// What each thread does.
    pub threads: Vec<Thread>,
}

/// A thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// Where its registers are.
    pub registers: RegisterHome,
    /// What it does.
    pub body: Vec<Statement>,
}

/// Where memory or an object is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Home {
    /// A static, initialised by the compiler.
    Static,
    /// Allocated by the main thread.
    Heap,
    /// On the stack of the main thread.
    Stack,
    /// Thread-local memory of the main thread.
    ThreadLocal,
}

/// Where the registers of a thread are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegisterHome {
    /// Local variables.
    Locals,
    /// An array on the thread's own stack.
    Array,
    /// A static array.
    Static,
    /// Memory that the thread allocates.
    Heap,
    /// Thread-local memory.
    ThreadLocal,
    /// An array on the stack of the thread that creates it.
    Creator,
    /// Values of `pthread_setspecific`.
    Specific,
}

/// A part of a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The region.
    pub region: usize,
    /// From this byte on.
    pub offset: usize,
    /// Number of bytes: 1, 2, 4, 8 or 16.
    pub size: usize,
}

/// A value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// This one.
    Constant(u64),
    /// What a register has.
    Register(usize),
}

/// What a read-modify-write does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rmw {
    /// Writes the value.
    Exchange,
    /// Adds it.
    Add,
    /// Ands it.
    And,
    /// Ors it.
    Or,
    /// Exclusive or.
    Xor,
}

/// Where a compare-exchange has the value that it expects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expected {
    /// In a register.
    Register(usize),
    /// In memory, accessed plainly.
    Memory(Place),
}

/// An object that is initialised and destroyed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Object {
    Mutex(usize),
    RwLock(usize),
    Condvar(usize),
    Semaphore(usize),
    Barrier(usize),
}

/// What is done with an object in order to get it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Acquire {
    /// Waits.
    Lock,
    /// Tries once; the result goes to register 0.
    Try,
    /// Tries until it succeeds.
    TryLoop,
    /// Waits until a time that never comes.
    Timed,
}

/// How a thread waits for a condition variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waiting {
    /// Again and again.
    Loop,
    /// Once at most.
    Once,
    /// The same, until a time that never comes; whether it was woken before goes to register 0.
    Timed,
}

/// How a spin lock is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TestAndSet {
    /// `exchange`.
    Exchange,
    /// `fetch_or`.
    Or,
    /// `atomic_flag_test_and_set` or `__sync_lock_test_and_set`.
    Flag,
    /// `compare_exchange`.
    CompareExchange,
    /// `exchange` after a load that finds it free.
    TestFirst,
}

/// What a spin loop does in each round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Round {
    /// Nothing.
    Nothing,
    /// Yields.
    Yield,
    /// Writes to a register what it has.
    SameValue,
    /// Adds 1 to a register while it is less than this.
    Count {
        /// The register.
        register: usize,
        /// The most.
        most: u64,
        /// How.
        by: Counting,
    },
}

/// How a counter is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counting {
    /// By an assignment.
    Assignment,
    /// By `memcpy`.
    Copy,
    /// By `snprintf` and `strtoull` with a buffer on the stack.
    Text,
}

/// What a library function does with a whole region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Library {
    /// `memset` with the low byte of a register.
    Fill(usize),
    /// `snprintf` of a register as a decimal number.
    Print(usize),
    /// `strtoull` into a register, and the number of its digits is added to it.
    Parse(usize),
    /// `strcpy` of a constant string of so many `a`s (below 16).
    CopyString(usize),
    /// `strlen` into a register; the last byte is set to 0 before.
    Length(usize),
    /// `qsort` of its two words.
    Sort,
    /// `memcpy` into a register, the first word.
    CopyOut(usize),
}

/// A statement.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the fields are named by their types")]
pub enum Statement {
    /// Atomic load.
    Load { place: Place, into: usize },
    /// Atomic store.
    Store { place: Place, value: Value },
    /// Atomic read-modify-write; the old value goes to `into`.
    Modify {
        rmw: Rmw,
        place: Place,
        value: Value,
        into: Option<usize>,
    },
    /// Compare-exchange; whether it succeeded goes to `into`.
    CompareExchange {
        place: Place,
        expected: Expected,
        desired: Value,
        into: usize,
    },
    /// Plain load.
    Read { place: Place, into: usize },
    /// Plain store.
    Write { place: Place, value: Value },
    /// Plain increment.
    Increment { place: Place },
    /// A library function on a region.
    Library { region: usize, does: Library },
    /// An assignment.
    Set { register: usize, value: u64 },
    /// What follows if the register has, or has not, the value.
    If {
        register: usize,
        is_equal: bool,
        value: u64,
        then: Vec<Statement>,
    },
    /// Holds a mutex.
    Locked {
        mutex: usize,
        how: Acquire,
        body: Vec<Statement>,
    },
    /// Holds two mutexes, which `std::lock` takes: in C++ only.
    LockedBoth {
        mutexes: [usize; 2],
        body: Vec<Statement>,
    },
    /// Holds a reader-writer lock for reading.
    Reading {
        rwlock: usize,
        how: Acquire,
        body: Vec<Statement>,
    },
    /// The same for writing.
    Writing {
        rwlock: usize,
        how: Acquire,
        body: Vec<Statement>,
    },
    /// Holds a spin lock at a place.
    Spinning {
        place: Place,
        how: TestAndSet,
        body: Vec<Statement>,
    },
    /// Waits, holding the mutex, while the plain place does not have the value.
    Wait {
        condvar: usize,
        mutex: usize,
        place: Place,
        value: u64,
        how: Waiting,
    },
    /// Signals.
    Signal { condvar: usize, is_broadcast: bool },
    /// Gives a permit.
    Post { semaphore: usize },
    /// Takes a permit; a try puts its result into register 0.
    Take { semaphore: usize, how: Acquire },
    /// Arrives at a barrier; whether the thread is the serial one goes to the register.
    Arrive { barrier: usize, into: Option<usize> },
    /// Calls a once.
    Once { once: usize },
    /// Destroys an object and initialises it again.
    Renew { object: Object },
    /// Spins until the place has the value.
    Spin {
        place: Place,
        value: u64,
        round: Round,
    },
    /// Starts a thread.
    Create { thread: usize },
    /// Joins it.
    Join { thread: usize },
}

impl Statement {
    /// The statements inside.
    pub fn inner(&self) -> &[Statement] {
        match self {
            Statement::If { then: body, .. }
            | Statement::Locked { body, .. }
            | Statement::LockedBoth { body, .. }
            | Statement::Reading { body, .. }
            | Statement::Writing { body, .. }
            | Statement::Spinning { body, .. } => body,
            _ => &[],
        }
    }

    /// The same, to be changed.
    pub fn inner_mut(&mut self) -> Option<&mut Vec<Statement>> {
        match self {
            Statement::If { then: body, .. }
            | Statement::Locked { body, .. }
            | Statement::LockedBoth { body, .. }
            | Statement::Reading { body, .. }
            | Statement::Writing { body, .. }
            | Statement::Spinning { body, .. } => Some(body),
            _ => None,
        }
    }
}

impl CProgram {
    /// Whether locks are used as they may be: not taken twice by one thread, and held where a condition variable is
    /// waited for.
    pub fn is_sound(&self) -> bool {
        let mut threads = self.threads.iter();
        threads.all(|thread| are_sound(&thread.body, &mut Vec::new()))
    }
}

impl CProgram {
    /// Whether more threads arrive at a barrier than it has places, which C++ does not allow.
    pub fn has_crowded_barrier(&self) -> bool {
        let arrives = |thread: &&Thread, barrier| arrives(&thread.body, barrier);
        (0..self.barriers.len()).any(|barrier| {
            let threads = self
                .threads
                .iter()
                .filter(|thread| arrives(thread, barrier));
            threads.count() > self.barriers[barrier].1 as usize
        })
    }
}

impl CProgram {
    /// Whether objects are destroyed and initialised again.
    pub fn renews(&self) -> bool {
        self.has(|statement| matches!(statement, Statement::Renew { .. }))
    }

    /// Whether two mutexes are taken at once.
    pub fn has_std_lock(&self) -> bool {
        self.has(|statement| matches!(statement, Statement::LockedBoth { .. }))
    }

    /// Whether a condition variable is waited for until a time.
    pub fn has_timed_wait(&self) -> bool {
        self.has(|statement| {
            matches!(
                statement,
                Statement::Wait {
                    how: Waiting::Timed,
                    ..
                }
            )
        })
    }

    fn has(&self, is_wanted: fn(&Statement) -> bool) -> bool {
        let mut threads = self.threads.iter();
        threads.any(|thread| has(&thread.body, is_wanted))
    }
}

fn has(body: &[Statement], is_wanted: fn(&Statement) -> bool) -> bool {
    body.iter()
        .any(|statement| is_wanted(statement) || has(statement.inner(), is_wanted))
}

fn arrives(body: &[Statement], at: usize) -> bool {
    body.iter().any(|statement| {
        matches!(*statement, Statement::Arrive { barrier, .. } if barrier == at)
            || arrives(statement.inner(), at)
    })
}

/// What a thread may hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    Mutex(usize),
    RwLock(usize),
    Spin(Place),
}

fn are_sound(body: &[Statement], held: &mut Vec<Held>) -> bool {
    body.iter().all(|statement| {
        let takes = match *statement {
            Statement::Locked { mutex, .. } => vec![Held::Mutex(mutex)],
            Statement::LockedBoth { mutexes, .. } => mutexes.map(Held::Mutex).into(),
            Statement::Reading { rwlock, .. } | Statement::Writing { rwlock, .. } => {
                vec![Held::RwLock(rwlock)]
            }
            Statement::Spinning { place, .. } => vec![Held::Spin(place)],
            Statement::Wait { mutex, .. } => return held.contains(&Held::Mutex(mutex)),
            Statement::Renew { object } => {
                return match object {
                    Object::Mutex(mutex) => !held.contains(&Held::Mutex(mutex)),
                    Object::RwLock(rwlock) => !held.contains(&Held::RwLock(rwlock)),
                    Object::Condvar(_) | Object::Semaphore(_) | Object::Barrier(_) => true,
                };
            }
            _ => return are_sound(statement.inner(), held),
        };
        if takes.iter().any(|taken| held.contains(taken)) {
            return false;
        }
        let before = held.len();
        held.extend(takes);
        let is_sound = are_sound(statement.inner(), held);
        held.truncate(before);
        is_sound
    })
}
