//! Compiles statements to instructions, each of which is one step.

use super::order::Order;
use super::{Barrier, Once, Phase, RwLock, State, ThreadState};
use crate::c_program::{
    Acquire, CProgram, Expected, Library, Object, Place, Polling, REGION, Rmw, Round, Statement,
    TestAndSet, Value, Waiting,
};

/// A program as instructions.
pub(super) struct Code {
    pub(super) threads: Vec<Vec<Instruction>>,
    pub(super) places: Vec<u32>,
    pub(super) onces: Vec<Place>,
    pub(super) renews: bool,
    pub(super) initial: State,
    /// For each byte of memory, whether several threads access it.
    pub(super) is_shared: Vec<bool>,
    /// For each instruction of each thread, whether it belongs to a failing round of a poll.
    pub(super) polls: Vec<Vec<bool>>,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Instruction {
    Load(Place, usize),
    Store(Place, Value),
    Modify(Rmw, Place, Value, Option<usize>),
    /// Compare-exchange that expects the value of the thread's `temporary`. On failure `temporary`
    /// gets the value that was found.
    CompareExchange(Place, Value, usize),
    /// `ReadExpected` copies the expected value from a register or memory into `temporary`. After a
    /// failure, `WriteExpected` copies the value in `temporary` back.
    ReadExpected(Expected, usize),
    WriteExpected(Expected, usize),
    Read(Place, usize),
    Write(Place, Value),
    /// `ReadTemporary` reads a value into `temporary` and adds 1 there. `WriteTemporary` writes the
    /// sum back.
    ReadTemporary(Place),
    WriteTemporary(Place),
    Library(usize, Library),
    Set(usize, u64),
    JumpUnless(usize, bool, u64, usize),
    Lock(usize, Acquire),
    /// Takes the mutex if the mutex is free, otherwise jumps.
    LockOrJump(usize, usize),
    Unlock(usize),
    ReadLock(usize, Acquire),
    ReadUnlock(usize),
    WriteLock(usize, Acquire),
    WriteUnlock(usize),
    /// Waits until the place is 0 and sets it to 1.
    TakeFlag(Place),
    /// Jumps if the place, read plainly, has the value.
    Check(Place, u64, usize),
    Jump(usize),
    Enqueue(usize, usize),
    Wake(usize),
    /// Waits like `Wake`, with a deadline that may have passed.
    WakeInTime(usize),
    Signal(usize, bool),
    Post(usize),
    Take(usize, Acquire),
    Arrive(usize, Option<usize>),
    Leave(usize),
    /// Begins to wait at a futex if it has the value, otherwise jumps.
    EnterFutex(Place, u64, usize),
    /// Continues when the thread was woken.
    LeaveFutex(Place),
    WakeFutex(Place, bool, usize),
    EnterOnce(usize, usize),
    EndOnce(usize),
    Renew(Object),
    /// Continues when the place has the value. Before that, adds 1 to a register up to this limit.
    Spin(Place, u64, Option<(usize, u64)>),
    /// Ends a failed round of a poll, and jumps to its next round. Before that, adds 1 to a register
    /// up to this limit. Without this, another round makes a difference only if the place has the
    /// value, or if other threads have done something other than polling.
    Rest(Place, u64, Option<(usize, u64)>, usize),
    Create(usize),
    Join(usize),
    End,
}

impl Code {
    pub(super) fn of(program: &CProgram) -> Code {
        let compile = |body: &[Statement]| {
            let mut instructions = Vec::new();
            compile(body, &mut instructions);
            instructions.push(Instruction::End);
            instructions
        };
        let threads = program.threads.iter();
        let threads: Vec<_> = threads.map(|thread| compile(&thread.body)).collect();
        let mut code = Code {
            places: program.barriers.iter().map(|barrier| barrier.1).collect(),
            onces: program.onces.clone(),
            renews: program.renews(),
            initial: start(program),
            is_shared: Vec::new(),
            polls: Vec::new(),
            threads,
        };
        code.is_shared = code.shared(program.regions.len() * REGION);
        for thread in &code.threads {
            let mut polls = vec![false; thread.len()];
            for (at, instruction) in thread.iter().enumerate() {
                if let Instruction::Rest(.., start) = *instruction {
                    polls[start..=at].fill(true);
                }
            }
            code.polls.push(polls);
        }
        code
    }

    pub(super) fn start(&self) -> State {
        self.start_with(None)
    }

    pub(super) fn start_with(&self, order: Option<Order>) -> State {
        let mut state = self.initial.clone();
        state.order = order.map(Box::new);
        self.run_on(&mut state, 0);
        state
    }

    fn shared(&self, bytes: usize) -> Vec<bool> {
        let mut users = vec![None; bytes];
        let mut is_shared = vec![false; bytes];
        for (thread, code) in self.threads.iter().enumerate() {
            for access in code
                .iter()
                .filter_map(|instruction| self.access(instruction))
            {
                for byte in access.bytes() {
                    is_shared[byte] |= users[byte].is_some_and(|user| user != thread);
                    users[byte] = Some(thread);
                }
            }
        }
        is_shared
    }
}

/// The memory access of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) place: Place,
    pub(super) is_plain: bool,
    pub(super) is_write: bool,
}

impl Access {
    pub(super) fn bytes(&self) -> std::ops::Range<usize> {
        let start = self.place.region * REGION + self.place.offset;
        start..start + self.place.size
    }
}

impl Code {
    /// Returns the objects that an instruction uses. A thread that wakes uses no object, because
    /// POSIX permits others to destroy the object for which the thread waited.
    pub(super) fn uses(instruction: &Instruction) -> [Option<Object>; 2] {
        use Instruction::*;
        match *instruction {
            Lock(mutex, _) | LockOrJump(mutex, _) | Unlock(mutex) => {
                [Some(Object::Mutex(mutex)), None]
            }
            ReadLock(rwlock, _)
            | ReadUnlock(rwlock)
            | WriteLock(rwlock, _)
            | WriteUnlock(rwlock) => [Some(Object::RwLock(rwlock)), None],
            Enqueue(condvar, mutex) => [Some(Object::Condvar(condvar)), Some(Object::Mutex(mutex))],
            Signal(condvar, _) => [Some(Object::Condvar(condvar)), None],
            Post(semaphore) | Take(semaphore, _) => [Some(Object::Semaphore(semaphore)), None],
            Arrive(barrier, _) => [Some(Object::Barrier(barrier)), None],
            _ => [None, None],
        }
    }

    /// Returns the access of an instruction. A compare-exchange counts as a write.
    pub(super) fn access(&self, instruction: &Instruction) -> Option<Access> {
        use Instruction::*;
        let access = |place, is_plain, is_write| {
            Some(Access {
                place,
                is_plain,
                is_write,
            })
        };
        match *instruction {
            Load(place, _) | Spin(place, ..) | EnterFutex(place, ..) => access(place, false, false),
            Store(place, _) | Modify(_, place, ..) | CompareExchange(place, ..) => {
                access(place, false, true)
            }
            TakeFlag(place) => access(place, false, true),
            ReadExpected(Expected::Memory(place), _) | Read(place, _) | ReadTemporary(place) => {
                access(place, true, false)
            }
            Check(place, ..) => access(place, true, false),
            WriteExpected(Expected::Memory(place), _) | Write(place, _) | WriteTemporary(place) => {
                access(place, true, true)
            }
            Instruction::Library(region, does) => {
                use crate::c_program::Library::*;
                let place = Place {
                    region,
                    offset: 0,
                    size: REGION,
                };
                let is_write = match does {
                    Fill(_) | Print(_) | CopyString(_) | Length(_) | Sort => true,
                    Parse(_) | CopyOut(_) => false,
                };
                access(place, true, is_write)
            }
            EnterOnce(once, _) => access(self.onces[once], false, true),
            _ => None,
        }
    }
}

fn start(program: &CProgram) -> State {
    let thread = |number| ThreadState {
        at: 0,
        phase: match number {
            0 => Phase::Runs,
            _ => Phase::NotStarted,
        },
        registers: Default::default(),
        temporary: 0,
        spurious: 0,
        rests: false,
        round: 0,
    };
    State {
        memory: vec![0; program.regions.len() * REGION],
        mutexes: vec![false; program.mutexes.len()],
        rwlocks: vec![RwLock::default(); program.rwlocks.len()],
        condvars: vec![Vec::new(); program.condvars.len()],
        semaphores: program
            .semaphores
            .iter()
            .map(|semaphore| semaphore.1)
            .collect(),
        barriers: vec![Barrier::default(); program.barriers.len()],
        onces: vec![Once::New; program.onces.len()],
        threads: (0..program.threads.len()).map(thread).collect(),
        sleeping: Vec::new(),
        order: None,
    }
}

/// Returns the register that counts the rounds of a spin loop, and its limit.
fn count(round: Round) -> Option<(usize, u64)> {
    match round {
        Round::Count { register, most, .. } => Some((register, most)),
        Round::Nothing | Round::Yield | Round::SameValue => None,
    }
}

fn compile(body: &[Statement], code: &mut Vec<Instruction>) {
    for statement in body {
        one(statement, code);
    }
}

/// Compiles a body between two instructions. The body is skipped after a failed try.
fn held(
    code: &mut Vec<Instruction>,
    (take, how): (Instruction, Acquire),
    body: &[Statement],
    release: Instruction,
) {
    code.push(take);
    let jump = code.len();
    code.push(Instruction::Jump(jump + 1));
    compile(body, code);
    code.push(release);
    let end = code.len();
    code[jump] = match how {
        Acquire::Try | Acquire::Timed => Instruction::JumpUnless(0, true, 1, end),
        Acquire::Lock | Acquire::TryLoop => Instruction::Jump(jump + 1),
    };
}

fn one(statement: &Statement, code: &mut Vec<Instruction>) {
    use Instruction as I;
    use Statement::*;
    match statement {
        &Load { place, into } => code.push(I::Load(place, into)),
        &Store { place, value } => code.push(I::Store(place, value)),
        &Modify {
            rmw,
            place,
            value,
            into,
        } => code.push(I::Modify(rmw, place, value, into)),
        &CompareExchange {
            place,
            expected,
            desired,
            into,
        } => code.extend([
            I::ReadExpected(expected, place.size),
            I::CompareExchange(place, desired, into),
            I::WriteExpected(expected, into),
        ]),
        &Read { place, into } => code.push(I::Read(place, into)),
        &Write { place, value } => code.push(I::Write(place, value)),
        &Increment { place } => code.extend([I::ReadTemporary(place), I::WriteTemporary(place)]),
        &Library { region, does } => code.push(I::Library(region, does)),
        &Set { register, value } => code.push(I::Set(register, value)),
        If {
            register,
            is_equal,
            value,
            then,
        } => {
            let jump = code.len();
            code.push(I::Jump(0));
            compile(then, code);
            let end = code.len();
            code[jump] = I::JumpUnless(*register, *is_equal, *value, end);
        }
        &Locked {
            mutex,
            how,
            ref body,
        } => {
            held(code, (I::Lock(mutex, how), how), body, I::Unlock(mutex));
        }
        &LockedBoth {
            mutexes: [one, two],
            ref body,
        } => {
            // This is like libstdc++: after failing to get the second mutex, it starts with the
            // second mutex.
            let start = code.len();
            let (other, again, both) = (start + 3, start + 7, start + 9);
            code.extend([
                I::Lock(one, Acquire::Lock),
                I::LockOrJump(two, other),
                I::Jump(both),
                I::Unlock(one),
                I::Lock(two, Acquire::Lock),
                I::LockOrJump(one, again),
                I::Jump(both),
                I::Unlock(two),
                I::Jump(start),
            ]);
            compile(body, code);
            code.extend([I::Unlock(one), I::Unlock(two)]);
        }
        &Reading {
            rwlock,
            how,
            ref body,
        } => {
            held(
                code,
                (I::ReadLock(rwlock, how), how),
                body,
                I::ReadUnlock(rwlock),
            );
        }
        &Writing {
            rwlock,
            how,
            ref body,
        } => {
            held(
                code,
                (I::WriteLock(rwlock, how), how),
                body,
                I::WriteUnlock(rwlock),
            );
        }
        &Spinning {
            place,
            how,
            ref body,
        } => {
            let size = if how == TestAndSet::Flag {
                1
            } else {
                place.size
            };
            let place = Place { size, ..place };
            code.push(I::TakeFlag(place));
            compile(body, code);
            code.push(I::Store(place, Value::Constant(0)));
        }
        &Wait {
            condvar,
            mutex,
            place,
            value,
            how,
        } => {
            let check = code.len();
            code.push(I::Jump(0));
            code.extend([
                I::Enqueue(condvar, mutex),
                match how {
                    Waiting::Loop | Waiting::Once => I::Wake(condvar),
                    Waiting::Timed => I::WakeInTime(condvar),
                },
                I::Lock(mutex, Acquire::Lock),
            ]);
            if how == Waiting::Loop {
                code.push(I::Jump(check));
            }
            code[check] = I::Check(place, value, code.len());
        }
        &Signal {
            condvar,
            is_broadcast,
        } => code.push(I::Signal(condvar, is_broadcast)),
        &Post { semaphore } => code.push(I::Post(semaphore)),
        &Take { semaphore, how } => code.push(I::Take(semaphore, how)),
        &Arrive { barrier, into } => code.extend([I::Arrive(barrier, into), I::Leave(barrier)]),
        &FutexWait { place, value, into } => {
            let end = code.len() + 4;
            code.extend([
                I::Set(into, 0),
                I::EnterFutex(place, value, end),
                I::LeaveFutex(place),
                I::Set(into, 1),
            ]);
        }
        &FutexWake {
            place,
            is_broadcast,
            into,
        } => code.push(I::WakeFutex(place, is_broadcast, into)),
        &Once { once } => {
            let end = code.len() + 2;
            code.extend([I::EnterOnce(once, end), I::EndOnce(once)]);
        }
        &Spin {
            place,
            value,
            round,
        } => {
            code.push(I::Spin(place, value, count(round)));
        }
        &Poll {
            mutex,
            how,
            place,
            value,
            round,
        } => {
            let start = code.len();
            let (rest, end) = (start + 3, start + 4);
            code.extend([
                match how {
                    Polling::Try => I::LockOrJump(mutex, rest),
                    Polling::Lock | Polling::Release => I::Lock(mutex, Acquire::Lock),
                },
                I::Check(place, value, end),
                I::Unlock(mutex),
                I::Rest(place, value, count(round), start),
                I::Unlock(mutex),
            ]);
        }
        &Renew { object } => code.push(I::Renew(object)),
        &Create { thread } => code.push(I::Create(thread)),
        &Join { thread } => code.push(I::Join(thread)),
    }
}
