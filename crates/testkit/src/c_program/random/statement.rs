//! Generates random statements.

use super::{Maker, Role, Theme};
use crate::c_program::{
    Acquire, Counting, Expected, Library, Object, Place, Polling, REGION, REGISTERS, Rmw, Round,
    Statement, TestAndSet, Value, Waiting,
};

impl Maker<'_> {
    pub(super) fn statement(&mut self, thread: usize, depth: usize) -> Vec<Statement> {
        if depth < 2 && self.random.chance(10) {
            let then = self.statement(thread, depth + 1);
            return vec![Statement::If {
                register: self.register(),
                is_equal: self.random.chance(50),
                value: self.random.below(2),
                then,
            }];
        }
        let theme = match self.random.chance(70) {
            true => self.themes[self.random.index(self.themes.len())],
            false => Theme::Atomics,
        };
        match theme {
            Theme::Atomics | Theme::Nested => vec![self.atomic()],
            Theme::CompareExchange => vec![self.compare_exchange(thread)],
            Theme::Locks | Theme::Libraries => vec![self.locked(thread, depth)],
            Theme::Condvars => vec![self.with_condvar()],
            Theme::ReadersWriters => vec![self.read_or_write(thread, depth)],
            Theme::Semaphores => vec![match self.random.chance(50) {
                true => Statement::Post { semaphore: 0 },
                false => Statement::Take {
                    semaphore: 0,
                    how: self.acquire(),
                },
            }],
            Theme::Barriers => vec![Statement::Arrive {
                barrier: 0,
                into: self.random.chance(50).then(|| self.register()),
            }],
            Theme::Onces => vec![Statement::Once { once: 0 }],
            Theme::Spins => self.spin(),
            Theme::SpinLocks => vec![self.spin_lock(thread, depth)],
            Theme::Wild => {
                let region = self
                    .region_of(|role| role == Role::Wild)
                    .expect("the program has a region of this role");
                vec![self.plain(region, 8)]
            }
            Theme::Messages => self.message(),
            Theme::Lifetimes => self.renewal(thread, depth),
            Theme::Futexes => self.futex(),
        }
    }

    /// Destroys and initializes an object. In some cases, a mutex orders this with other uses.
    fn renewal(&mut self, thread: usize, depth: usize) -> Vec<Statement> {
        let program = &self.program;
        let all = (0..program.mutexes.len())
            .map(Object::Mutex)
            .chain((0..program.rwlocks.len()).map(Object::RwLock))
            .chain((0..program.condvars.len()).map(Object::Condvar))
            .chain((0..program.semaphores.len()).map(Object::Semaphore))
            .chain((0..program.barriers.len()).map(Object::Barrier));
        let all: Vec<Object> = all.collect();
        let renewal = Statement::Renew {
            object: all[self.random.index(all.len())],
        };
        if thread > 0 && self.random.chance(50) {
            return vec![self.locked(thread, depth)];
        }
        match self.random.chance(50) {
            true => vec![renewal],
            false => vec![Statement::Locked {
                mutex: self.random.index(self.program.mutexes.len()),
                how: Acquire::Lock,
                body: vec![renewal],
            }],
        }
    }

    fn atomic(&mut self) -> Statement {
        let (place, into) = (self.atomic_place(), self.register());
        match self.random.below(10) {
            0..4 => Statement::Load { place, into },
            4..7 => Statement::Store {
                place,
                value: self.value(),
            },
            _ => {
                let rmws = [
                    Rmw::Exchange,
                    Rmw::Add,
                    Rmw::Add,
                    Rmw::And,
                    Rmw::Or,
                    Rmw::Xor,
                ];
                let rmw = rmws[self.random.index(rmws.len())];
                let rmw = if place.size == 16 { Rmw::Exchange } else { rmw };
                Statement::Modify {
                    rmw,
                    place,
                    value: self.value(),
                    into: self.random.chance(70).then_some(into),
                }
            }
        }
    }

    fn compare_exchange(&mut self, thread: usize) -> Statement {
        let (place, into) = (self.atomic_place(), self.register());
        let owned = self.region_of(|role| role == Role::Owned(thread));
        let expected = match owned {
            Some(region) if place.size == 16 || self.random.chance(60) => Expected::Memory(Place {
                region,
                offset: 0,
                size: place.size,
            }),
            _ => Expected::Register((into + 1 + self.random.index(REGISTERS - 1)) % REGISTERS),
        };
        let place = match expected {
            Expected::Register(_) => Place {
                size: place.size.min(8),
                ..place
            },
            Expected::Memory(_) => place,
        };
        Statement::CompareExchange {
            place,
            expected,
            desired: self.value(),
            into,
        }
    }

    fn acquire(&mut self) -> Acquire {
        [
            Acquire::Lock,
            Acquire::Lock,
            Acquire::Try,
            Acquire::TryLoop,
            Acquire::Timed,
        ][self.random.index(5)]
    }

    fn plain(&mut self, region: usize, largest: usize) -> Statement {
        let place = self.place_in(region, largest);
        match self.random.below(4) {
            0 => Statement::Write {
                place,
                value: self.value(),
            },
            1 => Statement::Increment { place },
            _ => Statement::Read {
                place,
                into: self.register(),
            },
        }
    }

    fn locked(&mut self, thread: usize, depth: usize) -> Statement {
        let mutex = self.random.index(self.program.mutexes.len());
        let guarded = self
            .region_of(|role| role == Role::Guarded(mutex))
            .expect("the program has a region of this role");
        let mut body = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            if self.has(Theme::Libraries) {
                body.push(self.library(guarded));
            } else if depth < 1 && self.random.chance(15) {
                body.extend(self.statement(thread, depth + 1));
            } else {
                body.push(self.plain(guarded, 8));
            }
        }
        if self.program.mutexes.len() > 1 && self.random.chance(20) {
            return Statement::LockedBoth {
                mutexes: [mutex, 1 - mutex],
                body,
            };
        }
        Statement::Locked {
            mutex,
            how: self.acquire(),
            body,
        }
    }

    fn library(&mut self, region: usize) -> Statement {
        let register = self.register();
        let does = match self.random.below(8) {
            0 => Library::Fill(register),
            1 => Library::Print(register),
            2 => Library::Parse(register),
            3 => Library::CopyString(self.random.index(REGION)),
            4 => Library::Length(register),
            5 => Library::Sort,
            6 => Library::CopyOut(register),
            _ => return self.plain(region, 8),
        };
        Statement::Library { region, does }
    }

    fn with_condvar(&mut self) -> Statement {
        let mutex = 0;
        let region = self
            .region_of(|role| role == Role::Guarded(mutex))
            .expect("the program has a region of this role");
        let place = Place {
            region,
            offset: 0,
            size: 4,
        };
        let is_broadcast = self.random.chance(30);
        let signal = Statement::Signal {
            condvar: 0,
            is_broadcast,
        };
        let value = 1 + self.random.below(2);
        let body = match self.random.below(5) {
            0 | 1 => {
                let into = self.register();
                let how = match self.random.below(20) {
                    0..14 => Waiting::Loop,
                    14..17 => Waiting::Once,
                    _ => Waiting::Timed,
                };
                let wait = Statement::Wait {
                    condvar: 0,
                    mutex,
                    place,
                    value,
                    how,
                };
                // Registers record the order in which threads wait.
                let count = Place { offset: 8, ..place };
                let order = self.register();
                vec![
                    Statement::Increment { place: count },
                    Statement::Read {
                        place: count,
                        into: order,
                    },
                    wait,
                    Statement::Read { place, into },
                ]
            }
            2 => vec![Statement::Increment { place }, signal],
            3 => vec![signal],
            _ => vec![
                Statement::Write {
                    place,
                    value: Value::Constant(value),
                },
                signal,
            ],
        };
        Statement::Locked {
            mutex,
            how: Acquire::Lock,
            body,
        }
    }

    fn read_or_write(&mut self, thread: usize, depth: usize) -> Statement {
        let body = match depth {
            0 => self.statement(thread, 1),
            _ => vec![self.atomic()],
        };
        let (rwlock, how) = (0, self.acquire());
        match self.random.chance(50) {
            true => Statement::Reading { rwlock, how, body },
            false => Statement::Writing { rwlock, how, body },
        }
    }

    fn spin_lock(&mut self, thread: usize, depth: usize) -> Statement {
        let region = self
            .region_of(|role| role == Role::Flag)
            .expect("the program has a region of this role");
        let hows = [
            TestAndSet::Exchange,
            TestAndSet::Or,
            TestAndSet::Flag,
            TestAndSet::CompareExchange,
            TestAndSet::TestFirst,
        ];
        let body = match depth {
            0 => self.statement(thread, 1),
            _ => vec![self.atomic()],
        };
        Statement::Spinning {
            place: Place {
                region,
                offset: 0,
                size: 4,
            },
            how: hows[self.random.index(hows.len())],
            body,
        }
    }

    fn spin(&mut self) -> Vec<Statement> {
        let place = self.small_place();
        let mutex = self.random.index(self.program.mutexes.len().max(1));
        let guarded = self.region_of(|role| role == Role::Guarded(mutex));
        let guarded = guarded.filter(|_| self.random.chance(50));
        let guarded = guarded.map(|region| Place {
            region,
            offset: 0,
            size: 4,
        });
        // Half of these statements are stores for which a spin loop can wait.
        if self.random.chance(50) {
            let value = Value::Constant(1 + u64::from(self.random.chance(30)));
            let Some(place) = guarded else {
                return vec![Statement::Store { place, value }];
            };
            // A try may fail because of a failing round of a loop.
            let tries = Statement::Locked {
                mutex,
                how: Acquire::Try,
                body: Vec::new(),
            };
            let is_tried = self.random.chance(40);
            let write = Statement::Locked {
                mutex,
                how: self.acquire(),
                body: vec![Statement::Write { place, value }],
            };
            return is_tried
                .then_some(tries)
                .into_iter()
                .chain([write])
                .collect();
        }
        let round = match self.random.below(6) {
            0 | 1 => Round::Nothing,
            2 => Round::Yield,
            3 => Round::SameValue,
            _ => Round::Count {
                register: self.register(),
                most: 1 + self.random.below(2),
                by: [Counting::Assignment, Counting::Copy, Counting::Text][self.random.index(3)],
            },
        };
        let value = u64::from(self.random.chance(if guarded.is_some() { 80 } else { 50 }));
        let spin = match guarded {
            Some(place) => Statement::Poll {
                mutex,
                how: [Polling::Lock, Polling::Try, Polling::Release][self.random.index(3)],
                place,
                value,
                round,
            },
            None => Statement::Spin {
                place,
                value,
                round,
            },
        };
        vec![spin]
    }

    /// Waits at a futex, wakes threads that wait, or changes the futex and then wakes threads.
    fn futex(&mut self) -> Vec<Statement> {
        let place = Place {
            region: 0,
            offset: 4 * self.random.index(2),
            size: 4,
        };
        let into = self.register();
        let wake = Statement::FutexWake {
            place,
            is_broadcast: self.random.chance(40),
            into,
        };
        match self.random.below(6) {
            0..3 => vec![Statement::FutexWait {
                place,
                value: self.random.below(2),
                into,
            }],
            3 => vec![wake],
            _ => {
                let value = self.value();
                vec![Statement::Store { place, value }, wake]
            }
        }
    }

    /// Writes plain data and sets an atomic flag, or reads the data if the flag is set.
    fn message(&mut self) -> Vec<Statement> {
        let data = Place {
            region: 0,
            offset: 8,
            size: 4,
        };
        let flag = Place {
            region: 0,
            offset: 0,
            size: self.atomic_size.unwrap_or(1),
        };
        let into = self.register();
        match self.random.chance(50) {
            true => {
                let mut parts = vec![
                    Statement::Write {
                        place: data,
                        value: self.value(),
                    },
                    Statement::Store {
                        place: flag,
                        value: Value::Constant(1),
                    },
                ];
                // This is a bug: the flag is set before the data is written.
                if self.random.chance(25) {
                    parts.swap(0, 1);
                }
                parts
            }
            false => vec![
                Statement::Load { place: flag, into },
                Statement::If {
                    register: into,
                    is_equal: true,
                    value: 1,
                    then: vec![Statement::Read { place: data, into }],
                },
            ],
        }
    }
}
