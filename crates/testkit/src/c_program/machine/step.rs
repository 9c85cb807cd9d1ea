//! Performs instructions.

use super::compile::{Code, Instruction};
use super::{Once, Phase, State};
use crate::c_program::{Acquire, Expected, Library, Object, Place, REGION, Rmw, Value};

impl Code {
    /// Returns the states to which a step of the thread can lead.
    pub(super) fn steps(&self, state: &State, thread: usize) -> Vec<State> {
        if state.threads[thread].phase != Phase::Runs {
            return Vec::new();
        }
        let mut next = self.raw_steps(state, thread);
        let is_polling = self.polls[thread][state.threads[thread].at];
        for state in &mut next {
            if !is_polling {
                for other in &mut state.threads {
                    other.rests = false;
                }
            }
            self.run_on(state, thread);
        }
        next
    }

    /// Runs the thread up to the next instruction that other threads can observe.
    pub(super) fn run_on(&self, state: &mut State, thread: usize) {
        while state.threads[thread].phase == Phase::Runs && self.is_private(state, thread) {
            let mut next = self.raw_steps(state, thread);
            *state = next.pop().expect("a private step is enabled");
        }
    }

    fn next(&self, state: &State, thread: usize) -> &Instruction {
        &self.threads[thread][state.threads[thread].at]
    }

    /// Checks whether a timed operation expires in the next step of the thread.
    pub(super) fn expires(&self, state: &State, thread: usize) -> bool {
        match *self.next(state, thread) {
            Instruction::Lock(mutex, Acquire::Timed) => state.mutexes[mutex],
            Instruction::ReadLock(rwlock, Acquire::Timed) => state.rwlocks[rwlock].is_written,
            Instruction::WriteLock(rwlock, Acquire::Timed) => {
                let lock = &state.rwlocks[rwlock];
                lock.is_written || lock.readers > 0
            }
            Instruction::Take(semaphore, Acquire::Timed) => state.semaphores[semaphore] == 0,
            Instruction::WakeInTime(condvar) => state.condvars[condvar].contains(&(thread as u8)),
            _ => false,
        }
    }

    /// Checks whether the thread waits for a condition variable and is not signalled.
    pub(super) fn waits_for_signal(&self, state: &State, thread: usize) -> bool {
        matches!(*self.next(state, thread), Instruction::Wake(condvar)
            if state.condvars[condvar].contains(&(thread as u8)))
    }

    fn is_private(&self, state: &State, thread: usize) -> bool {
        let instruction = self.next(state, thread);
        match instruction {
            Instruction::Set(..)
            | Instruction::JumpUnless(..)
            | Instruction::Jump(_)
            | Instruction::Create(_)
            | Instruction::ReadExpected(Expected::Register(_), _)
            | Instruction::WriteExpected(Expected::Register(_), _)
            | Instruction::End => true,
            // These instructions may wait.
            Instruction::Spin(..)
            | Instruction::Rest(..)
            | Instruction::TakeFlag(_)
            | Instruction::EnterOnce(..)
            | Instruction::EnterFutex(..) => false,
            // This instruction writes only if the compare-exchange has failed.
            Instruction::WriteExpected(_, into) if state.threads[thread].registers[*into] == 1 => {
                true
            }
            _ => self
                .access(instruction)
                .is_some_and(|access| !access.bytes().any(|byte| self.is_shared[byte])),
        }
    }

    /// Checks whether two threads are about to access the same byte, where at least one access is
    /// plain and at least one is a write.
    pub(super) fn races(&self, state: &State) -> bool {
        let accesses = |thread: usize| {
            let candidate = &state.threads[thread];
            let is_alive = candidate.phase == Phase::Runs;
            let instruction = is_alive.then(|| self.next(state, thread))?;
            let mut access = self.access(instruction)?;
            if let Instruction::CompareExchange(place, ..) = instruction {
                access.is_write = state.get(*place) == candidate.temporary;
            }
            if let Instruction::EnterOnce(once, _) = instruction
                && state.onces[*once] != Once::New
            {
                return None;
            }
            Some(access)
        };
        (0..state.threads.len()).any(|one| {
            (0..one).any(|two| {
                let (Some(one), Some(two)) = (accesses(one), accesses(two)) else {
                    return false;
                };
                let (left, right) = (one.bytes(), two.bytes());
                let overlap = left.start < right.end && right.start < left.end;
                overlap && (one.is_plain || two.is_plain) && (one.is_write || two.is_write)
            })
        })
    }

    /// Checks whether a thread is about to destroy an object that is held, awaited or used next.
    pub(super) fn has_race_of_objects(&self, state: &State) -> bool {
        let runs = |thread: &usize| state.threads[*thread].phase == Phase::Runs;
        (0..state.threads.len()).filter(runs).any(|destroyer| {
            let Instruction::Renew(object) = *self.next(state, destroyer) else {
                return false;
            };
            let others = (0..state.threads.len()).filter(|&other| other != destroyer);
            let uses = |other: usize| {
                let next = self.next(state, other);
                *next == Instruction::Renew(object) || Code::uses(next).contains(&Some(object))
            };
            state.is_busy(object) || others.filter(runs).any(uses)
        })
    }

    fn raw_steps(&self, state: &State, thread: usize) -> Vec<State> {
        let mut next = state.clone();
        next.threads[thread].at += 1;
        let instruction = self.next(state, thread);
        if let Some(order) = &mut next.order {
            order.record(self, state, thread, instruction);
        }
        if let &Instruction::Signal(condvar, is_broadcast) = instruction {
            return signal(next, condvar, is_broadcast);
        }
        if let &Instruction::WakeInTime(condvar) = instruction {
            return wake_in_time(next, condvar, thread);
        }
        match self.perform(instruction, &mut next, thread) {
            true => vec![next],
            false => Vec::new(),
        }
    }

    /// Performs an instruction. Returns false if the instruction waits.
    fn perform(&self, instruction: &Instruction, state: &mut State, thread: usize) -> bool {
        use Instruction::*;
        match *instruction {
            // All other objects have their initial state already, unless there is a race.
            Renew(Object::Semaphore(semaphore)) => {
                state.semaphores[semaphore] = self.initial.semaphores[semaphore];
            }
            Renew(_) => {}
            Load(place, into) | Read(place, into) => {
                state.threads[thread].registers[into] = narrow(state.get(place));
            }
            Store(place, value) | Write(place, value) => {
                let value = state.value(thread, value, place.size);
                state.put(place, value);
            }
            Modify(rmw, place, value, into) => {
                let (old, value) = (state.get(place), state.value(thread, value, place.size));
                state.put(place, modified(rmw, old, value));
                if let Some(into) = into {
                    state.threads[thread].registers[into] = narrow(old);
                }
            }
            ReadExpected(expected, size) => {
                let value = match expected {
                    Expected::Register(register) => {
                        let value = Value::Register(register);
                        cut(state.value(thread, value, size), size)
                    }
                    Expected::Memory(place) => state.get(place),
                };
                state.threads[thread].temporary = value;
            }
            CompareExchange(place, desired, into) => {
                let old = state.get(place);
                let is_done = old == state.threads[thread].temporary;
                if is_done {
                    let desired = state.value(thread, desired, place.size);
                    state.put(place, desired);
                }
                let running = &mut state.threads[thread];
                (running.temporary, running.round) = match is_done {
                    true => (0, 0),
                    false => (old, place.size as u32),
                };
                running.registers[into] = u64::from(is_done);
            }
            WriteExpected(expected, _) => {
                let running = &mut state.threads[thread];
                let size = std::mem::take(&mut running.round);
                let found = std::mem::take(&mut running.temporary);
                let has_failed = size > 0;
                match expected {
                    Expected::Register(register) if has_failed => {
                        let keep = if size >= 8 { 0 } else { u64::MAX << (8 * size) };
                        let register = &mut running.registers[register];
                        *register = *register & keep | found as u64;
                    }
                    Expected::Memory(place) if has_failed => state.put(place, found),
                    Expected::Register(_) | Expected::Memory(_) => {}
                }
            }
            ReadTemporary(place) => {
                state.threads[thread].temporary = state.get(place).wrapping_add(1);
            }
            WriteTemporary(place) => {
                let value = std::mem::take(&mut state.threads[thread].temporary);
                state.put(place, value);
            }
            Instruction::Library(region, does) => state.call(thread, region, does),
            Set(register, value) => state.threads[thread].registers[register] = value,
            JumpUnless(register, is_equal, value, target) => {
                let running = &mut state.threads[thread];
                if (running.registers[register] == value) != is_equal {
                    running.at = target;
                }
            }
            Jump(target) => state.threads[thread].at = target,
            Check(place, value, target) => {
                if narrow(state.get(place)) == value {
                    state.threads[thread].at = target;
                }
            }
            Lock(mutex, how) => {
                let is_free = !state.mutexes[mutex];
                state.mutexes[mutex] = true;
                return state.taken(thread, is_free, how);
            }
            LockOrJump(mutex, target) => match state.mutexes[mutex] {
                true => state.threads[thread].at = target,
                false => state.mutexes[mutex] = true,
            },
            Unlock(mutex) => state.mutexes[mutex] = false,
            ReadLock(rwlock, how) => {
                let lock = &mut state.rwlocks[rwlock];
                let is_free = !lock.is_written;
                lock.readers += u8::from(is_free);
                return state.taken(thread, is_free, how);
            }
            ReadUnlock(rwlock) => state.rwlocks[rwlock].readers -= 1,
            WriteLock(rwlock, how) => {
                let lock = &mut state.rwlocks[rwlock];
                let is_free = !lock.is_written && lock.readers == 0;
                lock.is_written |= is_free;
                return state.taken(thread, is_free, how);
            }
            WriteUnlock(rwlock) => state.rwlocks[rwlock].is_written = false,
            TakeFlag(place) => {
                if state.get(place) != 0 {
                    return false;
                }
                state.put(place, 1);
            }
            Enqueue(condvar, mutex) => {
                state.mutexes[mutex] = false;
                state.condvars[condvar].push(thread as u8);
                state.condvars[condvar].sort_unstable();
            }
            Wake(condvar) => {
                let waiting = &mut state.condvars[condvar];
                if let Some(position) = waiting.iter().position(|&other| other == thread as u8) {
                    waiting.remove(position);
                    let Some(left) = state.threads[thread].spurious.checked_sub(1) else {
                        return false;
                    };
                    state.threads[thread].spurious = left;
                }
            }
            Signal(..) | WakeInTime(_) => {
                unreachable!("these statements may lead to several states")
            }
            Post(semaphore) => state.semaphores[semaphore] += 1,
            Take(semaphore, how) => {
                let permits = &mut state.semaphores[semaphore];
                let is_free = *permits > 0;
                *permits -= u32::from(is_free);
                return state.taken(thread, is_free, how);
            }
            Arrive(barrier, into) => {
                let entered = &mut state.barriers[barrier];
                entered.arrived += 1;
                let is_last = entered.arrived == self.places[barrier];
                let round = entered.rounds + 1;
                if is_last {
                    entered.arrived = 0;
                    entered.rounds += 1;
                }
                state.threads[thread].round = round;
                if let Some(into) = into {
                    state.threads[thread].registers[into] = u64::from(is_last);
                }
            }
            Leave(barrier) => {
                let running = &mut state.threads[thread];
                if state.barriers[barrier].rounds < running.round {
                    return false;
                }
                running.round = 0;
            }
            EnterFutex(place, value, end) => match narrow(state.get(place)) == value {
                true => state.sleeping.push((first_byte(place), thread as u8)),
                false => state.threads[thread].at = end,
            },
            LeaveFutex(place) => {
                let waits = (first_byte(place), thread as u8);
                return !state.sleeping.contains(&waits);
            }
            WakeFutex(place, is_broadcast, into) => {
                let most = if is_broadcast { usize::MAX } else { 1 };
                let mut woken = 0;
                state.sleeping.retain(|&(futex, _)| {
                    let wakes = futex == first_byte(place) && woken < most;
                    woken += usize::from(wakes);
                    !wakes
                });
                state.threads[thread].registers[into] = woken as u64;
            }
            EnterOnce(once, end) => match state.onces[once] {
                Once::New => {
                    state.onces[once] = Once::Runs;
                    let old = state.get(self.onces[once]);
                    state.put(self.onces[once], old.wrapping_add(1));
                }
                Once::Runs => return false,
                Once::Done => state.threads[thread].at = end,
            },
            EndOnce(once) => state.onces[once] = Once::Done,
            Spin(place, value, count) => {
                if narrow(state.get(place)) == value {
                    return true;
                }
                let running = &mut state.threads[thread];
                running.at -= 1;
                return match count {
                    Some((register, most)) if running.registers[register] < most => {
                        running.registers[register] += 1;
                        true
                    }
                    Some(_) | None => false,
                };
            }
            Rest(place, value, count, start) => {
                let is_there = narrow(state.get(place)) == value;
                let running = &mut state.threads[thread];
                match count {
                    Some((register, most)) if running.registers[register] < most => {
                        running.registers[register] += 1;
                    }
                    _ if running.rests && !is_there => return false,
                    _ => running.rests = true,
                }
                running.at = start;
            }
            Create(child) => {
                state.threads[child].phase = Phase::Runs;
                self.run_on(state, child);
            }
            Join(child) => return state.threads[child].phase == Phase::Ended,
            End => state.threads[thread].phase = Phase::Ended,
        }
        true
    }
}

/// Returns the states to which a signal can lead: one for each thread that it may wake, or the
/// unchanged state if no thread waits. A broadcast leads to one state.
fn signal(mut state: State, condvar: usize, is_broadcast: bool) -> Vec<State> {
    let waiting = state.condvars[condvar].clone();
    if is_broadcast || waiting.is_empty() {
        state.condvars[condvar].clear();
        return vec![state];
    }
    let wake = |index: usize| {
        let mut state = state.clone();
        state.condvars[condvar].remove(index);
        state
    };
    (0..waiting.len()).map(wake).collect()
}

/// Returns the results when a timed wait ends: by a signal, by its deadline, or spuriously.
fn wake_in_time(mut state: State, condvar: usize, thread: usize) -> Vec<State> {
    let waiting = &mut state.condvars[condvar];
    let position = waiting.iter().position(|&other| other == thread as u8);
    if let Some(position) = position {
        waiting.remove(position);
    }
    let running = &mut state.threads[thread];
    running.registers[0] = u64::from(position.is_none());
    let left = running
        .spurious
        .checked_sub(1)
        .filter(|_| position.is_some());
    let spurious = left.map(|left| {
        let mut state = state.clone();
        state.threads[thread].registers[0] = 1;
        state.threads[thread].spurious = left;
        state
    });
    std::iter::once(state).chain(spurious).collect()
}

/// Returns the value that a register gets from a wide value.
fn narrow(value: u128) -> u64 {
    (value as u64).wrapping_add(((value >> 64) as u64).wrapping_mul(3))
}

fn first_byte(place: Place) -> usize {
    place.region * REGION + place.offset
}

fn cut(value: u128, size: usize) -> u128 {
    match size {
        16 => value,
        size => value & ((1 << (8 * size)) - 1),
    }
}

fn modified(rmw: Rmw, old: u128, value: u128) -> u128 {
    match rmw {
        Rmw::Exchange => value,
        Rmw::Add => old.wrapping_add(value),
        Rmw::And => old & value,
        Rmw::Or => old | value,
        Rmw::Xor => old ^ value,
    }
}

impl State {
    pub(super) fn get(&self, place: Place) -> u128 {
        let start = place.region * REGION + place.offset;
        let bytes = self.memory[start..start + place.size].iter().rev();
        bytes.fold(0, |value, &byte| value << 8 | u128::from(byte))
    }

    fn put(&mut self, place: Place, value: u128) {
        let start = place.region * REGION + place.offset;
        let bytes = value.to_le_bytes();
        self.memory[start..start + place.size].copy_from_slice(&bytes[..place.size]);
    }

    /// Returns the value of an operand. For 16 bytes, both halves have the value.
    fn value(&self, thread: usize, value: Value, size: usize) -> u128 {
        let value = u128::from(match value {
            Value::Constant(value) => value,
            Value::Register(register) => self.threads[thread].registers[register],
        });
        if size == 16 {
            value << 64 | value
        } else {
            value
        }
    }

    /// Checks whether a thread holds or awaits the object. Waiters for a permit do not count.
    fn is_busy(&self, object: Object) -> bool {
        match object {
            Object::Mutex(mutex) => self.mutexes[mutex],
            Object::RwLock(rwlock) => self.rwlocks[rwlock] != Default::default(),
            Object::Condvar(condvar) => !self.condvars[condvar].is_empty(),
            Object::Semaphore(_) => false,
            Object::Barrier(barrier) => self.barriers[barrier].arrived > 0,
        }
    }

    /// Ends an attempt to take an object. Returns false if the thread must wait.
    fn taken(&mut self, thread: usize, is_taken: bool, how: Acquire) -> bool {
        match how {
            Acquire::Lock | Acquire::TryLoop => is_taken,
            Acquire::Try | Acquire::Timed => {
                self.threads[thread].registers[0] = u64::from(is_taken);
                true
            }
        }
    }

    fn call(&mut self, thread: usize, region: usize, does: Library) {
        let start = region * REGION;
        let registers = &mut self.threads[thread].registers;
        let bytes = &mut self.memory[start..start + REGION];
        let word =
            |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("the slice has eight bytes"));
        match does {
            Library::Fill(register) => bytes.fill(registers[register] as u8),
            Library::Print(register) => {
                // Like `snprintf`, this drops the characters that do not fit.
                let mut text = registers[register].to_string().into_bytes();
                text.truncate(REGION - 1);
                bytes[..text.len()].copy_from_slice(&text);
                bytes[text.len()] = 0;
            }
            Library::Parse(register) => {
                let digits = bytes[..REGION - 1].iter();
                let digits = digits.take_while(|byte| byte.is_ascii_digit()).count();
                let text = String::from_utf8_lossy(&bytes[..digits]).into_owned();
                registers[register] = text.parse::<u64>().unwrap_or(0) + digits as u64;
            }
            Library::CopyString(length) => {
                bytes[..length].fill(b'a');
                bytes[length] = 0;
            }
            Library::Length(register) => {
                bytes[REGION - 1] = 0;
                let length = bytes.iter().position(|&byte| byte == 0);
                registers[register] = length.expect("the last byte is 0") as u64;
            }
            Library::Sort => {
                let (low, high) = (word(&bytes[..8]), word(&bytes[8..]));
                bytes[..8].copy_from_slice(&low.min(high).to_le_bytes());
                bytes[8..].copy_from_slice(&low.max(high).to_le_bytes());
            }
            Library::CopyOut(register) => registers[register] = word(&bytes[..8]),
        }
    }
}
