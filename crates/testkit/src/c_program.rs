//! Programs in C with the features of real programs: memory of every storage class, atomics of all
//! sizes, locks with tries, condition variables, spin loops, library functions.
//!
//! A [`CProgram`] is printed as C ([`source`]) and run by an interpreter ([`machine`]), which
//! shares no code with `explore`, `objects` or `runtime`. [`random`] generates programs from a
//! seed.

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
    /// Barriers, each with the number of threads that it waits for.
    pub barriers: Vec<(Home, u32)>,
    /// Onces. The initializer of each once adds 1 to this place.
    pub onces: Vec<Place>,
    /// The threads.
    pub threads: Vec<Thread>,
}

/// A thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// The memory of its registers.
    pub registers: RegisterHome,
    /// The statements that it executes.
    pub body: Vec<Statement>,
}

/// Where memory or an object is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Home {
    /// A static, initialized by the compiler.
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

/// A part of a region that is accessed at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The region.
    pub region: usize,
    /// The first byte in the region.
    pub offset: usize,
    /// Number of bytes: 1, 2, 4, 8 or 16.
    pub size: usize,
}

/// A value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// A constant.
    Constant(u64),
    /// The value of a register.
    Register(usize),
}

/// The operation of a read-modify-write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rmw {
    /// Writes the value.
    Exchange,
    /// Adds the value.
    Add,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

/// The place of the expected value of a compare-exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expected {
    /// In a register.
    Register(usize),
    /// In memory, accessed plainly.
    Memory(Place),
}

/// An object that is initialized and destroyed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub enum Object {
    Mutex(usize),
    RwLock(usize),
    Condvar(usize),
    Semaphore(usize),
    Barrier(usize),
}

/// The way in which an object is acquired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Acquire {
    /// Waits.
    Lock,
    /// Tries once. The result goes to register 0.
    Try,
    /// Tries until it succeeds.
    TryLoop,
    /// Waits with a deadline that never passes.
    Timed,
}

/// The way in which a thread waits for a condition variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waiting {
    /// In a loop, until the condition holds.
    Loop,
    /// At most once.
    Once,
    /// At most once, with a deadline that never passes. Register 0 records whether the thread was
    /// woken in time.
    Timed,
}

/// The way in which a spin lock is taken.
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
    /// `exchange` after a load that finds the lock free.
    TestFirst,
}

/// The way in which a loop polls a variable under a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Polling {
    /// Each round takes and releases the lock.
    Lock,
    /// Each round tries to take the lock.
    Try,
    /// The thread takes the lock before the loop. Each round releases the lock and takes it again.
    Release,
}

/// The body of a spin loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Round {
    /// Nothing.
    Nothing,
    /// Yields.
    Yield,
    /// Writes the value that a register already has to that register.
    SameValue,
    /// Adds 1 to a register while its value is less than `most`.
    Count {
        /// The register.
        register: usize,
        /// The limit.
        most: u64,
        /// The way in which the register is written.
        by: Counting,
    },
}

/// The way in which a counter is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counting {
    /// By an assignment.
    Assignment,
    /// By `memcpy`.
    Copy,
    /// By `snprintf` and `strtoull` with a buffer on the stack.
    Text,
}

/// A library function on a whole region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Library {
    /// `memset` with the low byte of a register.
    Fill(usize),
    /// `snprintf` of a register as a decimal number.
    Print(usize),
    /// `strtoull` into a register, to which the number of digits is added.
    Parse(usize),
    /// `strcpy` of a constant string of this number of `a`s (below 16).
    CopyString(usize),
    /// `strlen` into a register. The last byte is set to 0 first.
    Length(usize),
    /// `qsort` of the region's two words.
    Sort,
    /// `memcpy` of the first word into a register.
    CopyOut(usize),
}

/// A statement.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the fields are named after their types")]
pub enum Statement {
    /// Atomic load.
    Load { place: Place, into: usize },
    /// Atomic store.
    Store { place: Place, value: Value },
    /// Atomic read-modify-write. The old value goes to `into`.
    Modify {
        rmw: Rmw,
        place: Place,
        value: Value,
        into: Option<usize>,
    },
    /// Compare-exchange. `into` records whether it succeeded.
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
    /// A body that is executed if the register has the value. If `is_equal` is false, the body is
    /// executed if the register has another value.
    If {
        register: usize,
        is_equal: bool,
        value: u64,
        then: Vec<Statement>,
    },
    /// A body during which a mutex is held.
    Locked {
        mutex: usize,
        how: Acquire,
        body: Vec<Statement>,
    },
    /// A body during which two mutexes are held, which `std::lock` takes. Only in C++.
    LockedBoth {
        mutexes: [usize; 2],
        body: Vec<Statement>,
    },
    /// A body during which a reader-writer lock is held for reading.
    Reading {
        rwlock: usize,
        how: Acquire,
        body: Vec<Statement>,
    },
    /// A body during which a reader-writer lock is held for writing.
    Writing {
        rwlock: usize,
        how: Acquire,
        body: Vec<Statement>,
    },
    /// A body during which a spin lock at a place is held.
    Spinning {
        place: Place,
        how: TestAndSet,
        body: Vec<Statement>,
    },
    /// Waits, while holding the mutex, until the place, which is read plainly, has the value.
    Wait {
        condvar: usize,
        mutex: usize,
        place: Place,
        value: u64,
        how: Waiting,
    },
    /// Signals a condition variable.
    Signal { condvar: usize, is_broadcast: bool },
    /// Adds a permit.
    Post { semaphore: usize },
    /// Takes a permit. A try stores its result in register 0.
    Take { semaphore: usize, how: Acquire },
    /// Arrives at a barrier. The register records whether the thread is the serial thread.
    Arrive { barrier: usize, into: Option<usize> },
    /// Waits at a futex of four bytes if it has the value. The register gets 1 if the thread was
    /// woken, and 0 if the futex had another value.
    FutexWait {
        place: Place,
        value: u64,
        into: usize,
    },
    /// Wakes one thread or all threads that wait at a futex. The register gets their number.
    FutexWake {
        place: Place,
        is_broadcast: bool,
        into: usize,
    },
    /// Calls a once.
    Once { once: usize },
    /// Destroys an object and initializes it again.
    Renew { object: Object },
    /// Spins until the place has the value.
    Spin {
        place: Place,
        value: u64,
        round: Round,
    },
    /// Spins until the place, which is read plainly while the mutex is held, has the value.
    Poll {
        mutex: usize,
        how: Polling,
        place: Place,
        value: u64,
        round: Round,
    },
    /// Starts a thread.
    Create { thread: usize },
    /// Joins a thread.
    Join { thread: usize },
}

impl Statement {
    /// Returns the statements inside.
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

    /// Returns the statements inside, to be changed.
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
    /// Checks whether locks are used correctly: a thread does not take a lock that it holds, and it
    /// holds the mutex when it waits for a condition variable.
    pub fn is_sound(&self) -> bool {
        let mut threads = self.threads.iter();
        threads.all(|thread| are_sound(&thread.body, &mut Vec::new()))
    }
}

impl CProgram {
    /// Checks whether more threads arrive at a barrier than the barrier waits for, which C++ does
    /// not allow.
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
    /// Checks whether objects are destroyed and initialized again.
    pub fn renews(&self) -> bool {
        self.has(|statement| matches!(statement, Statement::Renew { .. }))
    }

    /// Checks whether two mutexes are taken at once.
    pub fn has_std_lock(&self) -> bool {
        self.has(|statement| matches!(statement, Statement::LockedBoth { .. }))
    }

    /// Checks whether the program makes system calls by number. If so, no savepoints are made for
    /// the executable that contains it.
    pub fn calls_by_number(&self) -> bool {
        self.has(|statement| {
            matches!(
                statement,
                Statement::FutexWait { .. } | Statement::FutexWake { .. }
            )
        })
    }

    /// Checks whether there is a timed wait for a condition variable.
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

/// An object that a thread may hold.
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
            Statement::Poll { mutex, .. } => return !held.contains(&Held::Mutex(mutex)),
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
