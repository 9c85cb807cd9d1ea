//! Enumerates all interleavings of a program. Each thread has its own stack of owned values.

use super::{Last, Program, Statement};
use std::collections::{BTreeSet, HashSet};

/// The end of an execution.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Ending {
    /// The execution is complete. The fields are the values that each thread loaded (`None` if it
    /// panicked), the values of the variables, and the number of times that destructors used each
    /// lock.
    Complete(Vec<Option<Vec<u32>>>, [u32; 2], [u32; 2]),
    /// The main thread panicked, or another thread that the main thread cannot join.
    Panic,
    Abort,
    /// Threads wait for each other, or poll for a value that is never written.
    Hang,
}

pub(crate) type Endings = BTreeSet<Ending>;

/// Returns the ends of all executions, or `None` if there are more than `limit` states.
pub(crate) fn endings(program: &Program, limit: usize) -> Option<Endings> {
    let mut seen = HashSet::new();
    let mut endings = Endings::new();
    let mut work = vec![State::new(program)];
    while let Some(state) = work.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        if seen.len() > limit {
            return None;
        }
        let successors: Vec<_> = (0..state.threads.len())
            .filter_map(|thread| state.after(thread))
            .collect();
        if successors.is_empty() {
            endings.insert(state.hang());
        }
        for successor in successors {
            match successor {
                Ok(state) => work.push(state),
                Err(ending) => drop(endings.insert(ending)),
            }
        }
    }
    Some(endings)
}

/// The next move of a thread.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Move {
    Begin(Statement),
    Drop(Last),
    /// Drops a guard.
    Unlock(usize, WhenPanicking),
    /// Waits until the lock is free. A destructor then holds it briefly.
    LockInDrop(usize),
    UnlockInDrop(usize),
    /// Drops the values that the scope owns.
    Leave,
    /// Drops the values that the thread owns, after a panic.
    Unwind,
    /// The code of the thread has ended: drops its thread-local.
    EndOfCode,
    Finish,
    Join(usize),
    /// All threads have ended.
    Report,
}

/// Whether the thread was panicking when it took the guard.
type WhenPanicking = bool;

#[derive(Clone, PartialEq, Eq, Hash)]
enum Owned {
    Guard(usize, WhenPanicking),
    Value(Vec<Last>),
    /// The beginning of a scope.
    Scope,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Thread {
    /// The moves still to be made. The last element is the next move.
    moves: Vec<Move>,
    owned: Vec<Owned>,
    local: Option<Vec<Last>>,
    is_panicking: bool,
    has_panicked: bool,
    has_ended: bool,
    is_joined: bool,
    seen: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Lock {
    is_held: bool,
    is_poisoned: bool,
    count: u32,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    numbers: [u32; 2],
    locks: [Lock; 2],
    threads: Vec<Thread>,
}

impl State {
    fn new(program: &Program) -> State {
        let thread = |(number, statements): (usize, &Vec<Statement>)| {
            let mut moves = match number {
                0 => [Move::Report]
                    .into_iter()
                    .chain((1..program.len()).rev().map(Move::Join))
                    .collect(),
                _ => vec![Move::EndOfCode],
            };
            enter(&mut moves, statements);
            Thread {
                moves,
                owned: vec![Owned::Scope],
                local: None,
                is_panicking: false,
                has_panicked: false,
                has_ended: false,
                is_joined: false,
                seen: Vec::new(),
            }
        };
        State {
            numbers: [0; 2],
            locks: [Lock::default(); 2],
            threads: program.iter().enumerate().map(thread).collect(),
        }
    }

    /// Returns the ending if no thread can move: `Panic` if a thread that was not joined has ended
    /// with a panic, otherwise `Hang`.
    fn hang(&self) -> Ending {
        let mut threads = self.threads.iter();
        match threads.any(|thread| thread.has_panicked && thread.has_ended && !thread.is_joined) {
            true => Ending::Panic,
            false => Ending::Hang,
        }
    }

    /// Returns the result of one move of the thread, or `None` if it must wait or has ended.
    fn after(&self, number: usize) -> Option<Result<State, Ending>> {
        let mut state = self.clone();
        let next = state.threads[number].moves.pop()?;
        let is_free = |which: usize| !self.locks[which].is_held;
        let is_possible = match &next {
            Move::Begin(Statement::Guard(which) | Statement::GuardOfPoisoned(which))
            | Move::LockInDrop(which) => is_free(*which),
            Move::Begin(Statement::Await(which, value)) => self.numbers[*which] == *value,
            Move::Join(other) => self.threads[*other].has_ended,
            _ => true,
        };
        is_possible.then(|| state.perform(number, next).map_or(Ok(state), Err))
    }

    /// Performs the move. Returns the ending if the move ends the execution.
    fn perform(&mut self, number: usize, next: Move) -> Option<Ending> {
        let State {
            numbers,
            locks,
            threads,
        } = self;
        let thread = &mut threads[number];
        match next {
            Move::Begin(statement) => match statement {
                Statement::Load(which) => thread.seen.push(numbers[which]),
                Statement::Store(which, value) => numbers[which] = value,
                Statement::Add(which) => numbers[which] += 1,
                Statement::Guard(which) | Statement::GuardOfPoisoned(which) => {
                    locks[which].is_held = true;
                    thread.owned.push(Owned::Guard(which, false));
                    let accepts = matches!(statement, Statement::GuardOfPoisoned(_));
                    if locks[which].is_poisoned && !accepts {
                        return thread.panic();
                    }
                }
                Statement::Own(parts) => thread.owned.push(Owned::Value(parts)),
                Statement::ThreadLocal(parts) => {
                    thread.local.get_or_insert(parts);
                }
                Statement::PanicIf(which, value) if numbers[which] == value => {
                    return thread.panic();
                }
                Statement::PanicIf(..) | Statement::Await(..) => {}
                Statement::Scope(inner) => {
                    thread.owned.push(Owned::Scope);
                    enter(&mut thread.moves, &inner);
                }
            },
            Move::Drop(part) => match part {
                Last::Add(which) => numbers[which] += 1,
                Last::Lock(which) => thread
                    .moves
                    .extend([Move::UnlockInDrop(which), Move::LockInDrop(which)]),
                Last::AbortIfPanicking if thread.is_panicking => return Some(Ending::Abort),
                Last::AbortIfPanicking => {}
                Last::PanicIf(which, value) if numbers[which] == value => return thread.panic(),
                Last::PanicIf(..) => {}
            },
            Move::Unlock(which, was_panicking) => {
                locks[which].is_held = false;
                locks[which].is_poisoned |= thread.is_panicking && !was_panicking;
            }
            Move::LockInDrop(which) => {
                locks[which].is_held = true;
                locks[which].count += 1;
            }
            Move::UnlockInDrop(which) => locks[which].is_held = false,
            Move::Leave => match thread.owned.pop() {
                None | Some(Owned::Scope) => {}
                Some(owned) => thread.drop_owned(owned, Move::Leave),
            },
            Move::Unwind => match thread.owned.pop() {
                None if number == 0 => return Some(Ending::Panic),
                None => {
                    thread.is_panicking = false;
                    thread.has_panicked = true;
                    thread.moves.push(Move::EndOfCode);
                }
                Some(Owned::Scope) => thread.moves.push(Move::Unwind),
                Some(owned) => thread.drop_owned(owned, Move::Unwind),
            },
            Move::EndOfCode => {
                thread.moves.push(Move::Finish);
                let parts = thread.local.take().unwrap_or_default();
                thread.moves.extend(parts.into_iter().rev().map(Move::Drop));
            }
            Move::Finish => thread.has_ended = true,
            Move::Join(other) => threads[other].is_joined = true,
            Move::Report => {
                let seen = threads
                    .iter()
                    .map(|thread| (!thread.has_panicked).then(|| thread.seen.clone()));
                let counts = locks.map(|lock| lock.count);
                return Some(Ending::Complete(seen.collect(), *numbers, counts));
            }
        }
        None
    }
}

impl Thread {
    fn drop_owned(&mut self, owned: Owned, then: Move) {
        self.moves.push(then);
        match owned {
            Owned::Guard(which, was_panicking) => {
                self.moves.push(Move::Unlock(which, was_panicking));
            }
            Owned::Value(parts) => self.moves.extend(parts.into_iter().rev().map(Move::Drop)),
            Owned::Scope => {}
        }
    }

    /// A second panic while unwinding aborts.
    fn panic(&mut self) -> Option<Ending> {
        if self.is_panicking {
            return Some(Ending::Abort);
        }
        self.is_panicking = true;
        self.moves = vec![Move::Unwind];
        None
    }
}

/// Pushes the statements, and then the end of their scope.
fn enter(moves: &mut Vec<Move>, statements: &[Statement]) {
    moves.push(Move::Leave);
    moves.extend(statements.iter().rev().cloned().map(Move::Begin));
}
