//! Abstract programs: threads with registers over shared variables and synchronization objects.
//!
//! All variables and registers begin with 0. A thread exists from the start unless a statement
//! spawns it. Meaningless actions (unlocking a lock that is not held, sending by a dropped handle)
//! are skipped. Whether an action is meaningless depends only on the thread's own state.

use crate::entry::{self, Act, Kind};
use explore::MemoryOrder;

/// A program.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Program {
    /// The statements of each thread.
    pub threads: Vec<Vec<Statement>>,
    /// Initial permits of each semaphore; 0 if not given.
    pub permits: Vec<usize>,
    /// Places of each barrier; 2 if not given.
    pub places: Vec<usize>,
    /// Capacity of each channel; unbounded if not given.
    pub capacities: Vec<Option<usize>>,
}

/// A register of a thread.
pub type Register = u8;

/// Number of registers of a thread.
pub const REGISTERS: usize = 8;

/// A constant or the content of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// The constant.
    Constant(u64),
    /// The content of the register.
    Register(Register),
}

/// A comparison of two values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The left value.
    pub left: Value,
    /// Whether the values must be equal, instead of different.
    pub equal: bool,
    /// The right value.
    pub right: Value,
}

/// A statement of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Statement {
    /// Performs an action.
    Do(Action),
    /// Halts the thread unless the condition holds.
    Assume(Condition),
    /// Fails the thread unless the condition holds.
    Assert(Condition),
    /// Executes the statements only if the condition holds.
    If(Condition, Vec<Statement>),
    /// Executes the statements this number of times.
    Repeat(u32, Vec<Statement>),
}

/// A verb with its operands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Action {
    /// The verb.
    pub verb: Verb,
    /// The register for the result.
    pub into: Option<Register>,
    /// Numbers of the objects, of the verb's sorts.
    pub objects: Vec<usize>,
    /// The values.
    pub values: Vec<Value>,
    /// The ordering of an atomic access or of a fence.
    pub order: MemoryOrder,
    /// The ordering of a compare-exchange that fails.
    pub on_failure: MemoryOrder,
}

/// A sort of objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Sort {
    Variable,
    Mutex,
    RwLock,
    Condvar,
    Entry(Kind),
    Barrier,
    Once,
    Channel,
    Thread,
}

impl Sort {
    /// Returns the first letter of the names of its objects.
    pub fn letter(self) -> char {
        match self {
            Sort::Variable => 'x',
            Sort::Mutex => 'm',
            Sort::RwLock => 'l',
            Sort::Condvar => 'c',
            Sort::Entry(kind) => kind.letter(),
            Sort::Barrier => 'b',
            Sort::Once => 'o',
            Sort::Channel => 'q',
            Sort::Thread => 't',
        }
    }
}

/// The operations. The result of a try is 1 or 0. The result of a send is 0 (accepted), 1 (full) or
/// 2 (no receiver). The result of a receive is 1 (empty), 2 (no sender) or 10 + the message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Verb {
    Load,
    Store,
    FetchAdd,
    Swap,
    /// The result is the old value.
    CompareExchange,
    /// May fail spuriously. The result is whether the operation succeeded.
    WeakCompareExchange,
    Fence,
    /// Sets a register. This is not an event.
    Let,
    /// Yields before the next action. This is not an event.
    Yield,
    Choose,
    Lock,
    Unlock,
    TryLock,
    ReadLock,
    WriteLock,
    /// Releases the thread's most recent hold of the reader-writer lock.
    Release,
    TryRead,
    TryWrite,
    Wait,
    TimedWait,
    Signal,
    Broadcast,
    /// An action at an object with an entry (see `entry`).
    Act(Act),
    Arrive,
    /// Arrives. The result is whether the thread leads.
    Lead,
    /// Enters a once; the initializer stores a value.
    Once,
    /// Enters a once; the initializer gives up.
    FailOnce,
    /// The result is whether the once is done.
    Get,
    Send,
    TrySend,
    TimedSend,
    Receive,
    TryReceive,
    TimedReceive,
    /// Drops the thread's sender handle.
    HangUp,
    /// Drops the receiver.
    Leave,
    Park,
    TimedPark,
    Unpark,
    Spawn,
    Join,
    /// The result is whether the thread has ended.
    Ended,
}

/// The operands of a verb.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// The verb.
    pub verb: Verb,
    /// Its name.
    pub name: &'static str,
    /// Whether it has a result.
    pub has_result: bool,
    /// The sorts of its objects.
    pub sorts: &'static [Sort],
    /// The number of its values.
    pub values: usize,
}

pub(crate) const fn row(
    verb: Verb,
    name: &'static str,
    has_result: bool,
    sorts: &'static [Sort],
    values: usize,
) -> Signature {
    Signature {
        verb,
        name,
        has_result,
        sorts,
        values,
    }
}

/// The signatures of the verbs other than `Verb::Act`.
const SIGNATURES: [Signature; 41] = [
    row(Verb::Load, "load", true, &[Sort::Variable], 0),
    row(Verb::Store, "store", false, &[Sort::Variable], 1),
    row(Verb::FetchAdd, "add", true, &[Sort::Variable], 1),
    row(Verb::Swap, "swap", true, &[Sort::Variable], 1),
    row(Verb::CompareExchange, "cas", true, &[Sort::Variable], 2),
    row(
        Verb::WeakCompareExchange,
        "weak",
        true,
        &[Sort::Variable],
        2,
    ),
    row(Verb::Fence, "fence", false, &[], 0),
    row(Verb::Let, "let", true, &[], 1),
    row(Verb::Yield, "yield", false, &[], 0),
    row(Verb::Choose, "choose", true, &[], 1),
    row(Verb::Lock, "lock", false, &[Sort::Mutex], 0),
    row(Verb::Unlock, "unlock", false, &[Sort::Mutex], 0),
    row(Verb::TryLock, "trylock", true, &[Sort::Mutex], 0),
    row(Verb::ReadLock, "rdlock", false, &[Sort::RwLock], 0),
    row(Verb::WriteLock, "wrlock", false, &[Sort::RwLock], 0),
    row(Verb::Release, "release", false, &[Sort::RwLock], 0),
    row(Verb::TryRead, "tryrd", true, &[Sort::RwLock], 0),
    row(Verb::TryWrite, "trywr", true, &[Sort::RwLock], 0),
    row(Verb::Wait, "wait", false, &[Sort::Condvar, Sort::Mutex], 0),
    row(
        Verb::TimedWait,
        "timedwait",
        true,
        &[Sort::Condvar, Sort::Mutex],
        0,
    ),
    row(Verb::Signal, "signal", false, &[Sort::Condvar], 0),
    row(Verb::Broadcast, "broadcast", false, &[Sort::Condvar], 0),
    row(Verb::Arrive, "arrive", false, &[Sort::Barrier], 0),
    row(Verb::Lead, "lead", true, &[Sort::Barrier], 0),
    row(Verb::Once, "once", false, &[Sort::Once, Sort::Variable], 1),
    row(Verb::FailOnce, "failonce", false, &[Sort::Once], 0),
    row(Verb::Get, "get", true, &[Sort::Once], 0),
    row(Verb::Send, "send", true, &[Sort::Channel], 1),
    row(Verb::TrySend, "trysend", true, &[Sort::Channel], 1),
    row(Verb::TimedSend, "timedsend", true, &[Sort::Channel], 1),
    row(Verb::Receive, "recv", true, &[Sort::Channel], 0),
    row(Verb::TryReceive, "tryrecv", true, &[Sort::Channel], 0),
    row(Verb::TimedReceive, "timedrecv", true, &[Sort::Channel], 0),
    row(Verb::HangUp, "hangup", false, &[Sort::Channel], 0),
    row(Verb::Leave, "leave", false, &[Sort::Channel], 0),
    row(Verb::Park, "park", false, &[], 0),
    row(Verb::TimedPark, "timedpark", true, &[], 0),
    row(Verb::Unpark, "unpark", false, &[Sort::Thread], 0),
    row(Verb::Spawn, "spawn", false, &[Sort::Thread], 0),
    row(Verb::Join, "join", false, &[Sort::Thread], 0),
    row(Verb::Ended, "ended", true, &[Sort::Thread], 0),
];

/// Returns the signatures of all verbs.
pub(crate) fn signatures() -> impl Iterator<Item = &'static Signature> {
    SIGNATURES.iter().chain(entry::SIGNATURES)
}

impl Action {
    /// Returns the number of its object of this sort.
    pub fn object(&self, sort: Sort) -> usize {
        let at = self
            .verb
            .signature()
            .sorts
            .iter()
            .position(|&listed| listed == sort);
        self.objects[at.expect("the verb has an object of the sort")]
    }
}

impl Verb {
    /// Returns the signature of the verb.
    pub fn signature(self) -> &'static Signature {
        signatures()
            .find(|row| row.verb == self)
            .expect("every verb has a signature")
    }
}

impl Statement {
    /// Calls `visit` for every action, including nested actions.
    fn visit<'a>(&'a self, visit: &mut impl FnMut(&'a Action)) {
        match self {
            Statement::Do(action) => visit(action),
            Statement::If(_, body) | Statement::Repeat(_, body) => {
                body.iter().for_each(|statement| statement.visit(visit));
            }
            Statement::Assume(_) | Statement::Assert(_) => {}
        }
    }
}

impl Statement {
    fn change(&mut self, change: &mut impl FnMut(&mut Action)) {
        match self {
            Statement::Do(action) => change(action),
            Statement::If(_, body) | Statement::Repeat(_, body) => {
                body.iter_mut()
                    .for_each(|statement| statement.change(change));
            }
            Statement::Assume(_) | Statement::Assert(_) => {}
        }
    }
}

impl Program {
    /// Returns every action, with the number of its thread.
    pub fn actions(&self) -> Vec<(usize, &Action)> {
        let mut actions = Vec::new();
        for (thread, body) in self.threads.iter().enumerate() {
            for statement in body {
                statement.visit(&mut |action| actions.push((thread, action)));
            }
        }
        actions
    }

    /// Calls `change` for every action, including nested actions.
    pub(crate) fn change(&mut self, mut change: impl FnMut(&mut Action)) {
        let statements = self.threads.iter_mut().flatten();
        statements.for_each(|statement| statement.change(&mut change));
    }

    /// Removes the parameters of objects that are not used.
    pub(crate) fn forget_unused(&mut self) {
        self.permits
            .truncate(self.count(Sort::Entry(Kind::Semaphore)));
        self.places.truncate(self.count(Sort::Barrier));
        self.capacities.truncate(self.count(Sort::Channel));
    }

    /// Returns the number of objects of the sort.
    pub fn count(&self, sort: Sort) -> usize {
        if sort == Sort::Thread {
            return self.threads.len();
        }
        let used = self.actions().into_iter().flat_map(|(_, action)| {
            let sorts = action.verb.signature().sorts;
            sorts
                .iter()
                .zip(&action.objects)
                .filter(|&(&listed, _)| listed == sort)
                .map(|(_, &n)| n + 1)
        });
        used.max().unwrap_or(0)
    }

    /// Returns the initial permits of a semaphore.
    pub fn permits(&self, semaphore: usize) -> usize {
        self.permits.get(semaphore).copied().unwrap_or(0)
    }

    /// Returns the places of a barrier.
    pub fn places(&self, barrier: usize) -> usize {
        self.places.get(barrier).copied().unwrap_or(2)
    }

    /// Returns the capacity of a channel.
    pub fn capacity(&self, channel: usize) -> Option<usize> {
        self.capacities.get(channel).copied().flatten()
    }

    /// Returns the threads, each once, that apply one of `verbs` to the object with this number.
    pub fn users(&self, verbs: &[Verb], object: usize) -> Vec<usize> {
        let mut users: Vec<usize> = self
            .actions()
            .into_iter()
            .filter(|(_, action)| {
                verbs.contains(&action.verb) && action.objects.first() == Some(&object)
            })
            .map(|(thread, _)| thread)
            .collect();
        users.dedup();
        users
    }

    /// Checks whether any thread uses one of `verbs`.
    pub fn does(&self, verbs: &[Verb]) -> bool {
        self.actions()
            .iter()
            .any(|(_, action)| verbs.contains(&action.verb))
    }
}
