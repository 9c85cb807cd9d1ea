//! Programs at random.

use super::{
    Acquire, CProgram, Counting, Expected, Home, Library, Place, REGION, REGISTERS, RegisterHome,
    Rmw, Round, Statement, TestAndSet, Thread, Value,
};
use crate::random::Random;

/// What a region is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// Atomic accesses of any size.
    Atomic,
    /// Plain accesses while this mutex is held.
    Guarded(usize),
    /// Plain accesses of one thread.
    Owned(usize),
    /// Plain accesses of all.
    Wild,
    /// A spin lock.
    Flag,
}

/// What a program is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Theme {
    Atomics,
    CompareExchange,
    Locks,
    Condvars,
    ReadersWriters,
    Semaphores,
    Barriers,
    Onces,
    Spins,
    SpinLocks,
    Libraries,
    Nested,
    Wild,
    Messages,
}

const THEMES: [Theme; 14] = [
    Theme::Atomics,
    Theme::CompareExchange,
    Theme::Locks,
    Theme::Condvars,
    Theme::ReadersWriters,
    Theme::Semaphores,
    Theme::Barriers,
    Theme::Onces,
    Theme::Spins,
    Theme::SpinLocks,
    Theme::Libraries,
    Theme::Nested,
    Theme::Wild,
    Theme::Messages,
];

struct Maker<'a> {
    random: &'a mut Random,
    program: CProgram,
    roles: Vec<Role>,
    themes: Vec<Theme>,
    threads: usize,
}

/// A program; it may deadlock, and have races.
pub fn program(random: &mut Random) -> CProgram {
    loop {
        let program = any(random);
        if program.is_sound() {
            return program;
        }
    }
}

fn any(random: &mut Random) -> CProgram {
    let mut themes = vec![THEMES[random.index(THEMES.len())]];
    while random.chance(60) && themes.len() < 3 {
        themes.push(THEMES[random.index(THEMES.len())]);
    }
    let threads = 3 + usize::from(random.chance(35));
    let mut maker = Maker {
        random,
        program: CProgram::default(),
        roles: Vec::new(),
        themes,
        threads,
    };
    maker.make();
    maker.program
}

impl Maker<'_> {
    fn has(&self, theme: Theme) -> bool {
        self.themes.contains(&theme)
    }

    fn home(&mut self) -> Home {
        [
            Home::Static,
            Home::Static,
            Home::Heap,
            Home::Stack,
            Home::ThreadLocal,
        ][self.random.index(5)]
    }

    fn region(&mut self, role: Role) {
        let home = self.home();
        self.program.regions.push(home);
        self.roles.push(role);
    }

    fn make(&mut self) {
        self.region(Role::Atomic);
        if self.random.chance(40) {
            self.region(Role::Atomic);
        }
        if self.has(Theme::Locks) || self.has(Theme::Condvars) || self.has(Theme::Libraries) {
            for mutex in 0..1 + usize::from(self.random.chance(40)) {
                let home = self.home();
                self.program.mutexes.push(home);
                self.region(Role::Guarded(mutex));
            }
        }
        if self.has(Theme::Condvars) {
            let home = self.home();
            self.program.condvars.push(home);
        }
        if self.has(Theme::ReadersWriters) {
            let home = self.home();
            self.program.rwlocks.push(home);
        }
        if self.has(Theme::Semaphores) {
            let (home, permits) = (self.home(), self.random.below(2) as u32);
            self.program.semaphores.push((home, permits));
        }
        if self.has(Theme::Barriers) {
            let home = self.home();
            self.program.barriers.push((home, 2));
        }
        if self.has(Theme::SpinLocks) {
            self.region(Role::Flag);
        }
        if self.has(Theme::Wild) {
            self.region(Role::Wild);
        }
        for thread in 0..self.threads {
            if self.has(Theme::CompareExchange) || self.random.chance(15) {
                self.region(Role::Owned(thread));
            }
        }
        if self.has(Theme::Onces) {
            let place = self.atomic_place();
            let place = Place {
                size: place.size.min(8),
                ..place
            };
            self.program.onces.push(place);
        }
        for thread in 0..self.threads {
            let body = self.body(thread);
            let homes = [
                RegisterHome::Locals,
                RegisterHome::Locals,
                RegisterHome::Array,
                RegisterHome::Static,
                RegisterHome::Heap,
                RegisterHome::ThreadLocal,
                RegisterHome::Creator,
                RegisterHome::Specific,
            ];
            let mut registers = homes[self.random.index(homes.len())];
            if thread == 0 && registers == RegisterHome::Creator {
                registers = RegisterHome::Static;
            }
            self.program.threads.push(Thread { registers, body });
        }
        self.create_and_join();
    }

    /// Every thread but the main one is created and joined by an earlier one.
    fn create_and_join(&mut self) {
        for child in (1..self.threads).rev() {
            let parent = match self.has(Theme::Nested) {
                true => self.random.index(child),
                false => 0,
            };
            let length = self.program.threads[parent].body.len();
            let at = if self.random.chance(75) {
                0
            } else {
                self.random.index(length + 1)
            };
            let join = at + self.random.index(length - at + 1);
            let join = if self.random.chance(75) { length } else { join };
            let body = &mut self.program.threads[parent].body;
            body.insert(join, Statement::Join { thread: child });
            body.insert(at, Statement::Create { thread: child });
        }
    }

    fn body(&mut self, thread: usize) -> Vec<Statement> {
        let most = if thread == 0 { 2 } else { 4 };
        let least = u64::from(thread > 0);
        let count = least + self.random.below(most);
        (0..count).flat_map(|_| self.statement(thread, 0)).collect()
    }

    fn register(&mut self) -> usize {
        self.random.index(REGISTERS)
    }

    fn value(&mut self) -> Value {
        match self.random.chance(75) {
            true => Value::Constant(1 + self.random.below(2)),
            false => Value::Register(self.register()),
        }
    }

    fn region_of(&mut self, is_fit: impl Fn(Role) -> bool) -> Option<usize> {
        let fit: Vec<usize> = (0..self.roles.len())
            .filter(|&region| is_fit(self.roles[region]))
            .collect();
        (!fit.is_empty()).then(|| fit[self.random.index(fit.len())])
    }

    /// A place in a region; mostly one of two, so that threads meet.
    fn place_in(&mut self, region: usize, largest: usize) -> Place {
        let sizes = [4, 4, 4, 8, 8, 2, 1, 16];
        let size = sizes[self.random.index(sizes.len())].min(largest);
        let places = (REGION / size).min(2);
        Place {
            region,
            offset: size * self.random.index(places),
            size,
        }
    }

    fn atomic_place(&mut self) -> Place {
        let region = self
            .region_of(|role| role == Role::Atomic)
            .expect("there is one");
        self.place_in(region, 16)
    }

    /// The same without 16 bytes.
    fn small_place(&mut self) -> Place {
        let region = self
            .region_of(|role| role == Role::Atomic)
            .expect("there is one");
        self.place_in(region, 8)
    }

    fn statement(&mut self, thread: usize, depth: usize) -> Vec<Statement> {
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
            Theme::Spins => vec![self.spin()],
            Theme::SpinLocks => vec![self.spin_lock(thread, depth)],
            Theme::Wild => {
                let region = self
                    .region_of(|role| role == Role::Wild)
                    .expect("there is one");
                vec![self.plain(region, 8)]
            }
            Theme::Messages => self.message(),
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
            .expect("there is one");
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
            .expect("there is one");
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
                let wait = Statement::Wait {
                    condvar: 0,
                    mutex,
                    place,
                    value,
                    is_loop: self.random.chance(75),
                };
                vec![wait, Statement::Read { place, into }]
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
            .expect("there is one");
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

    fn spin(&mut self) -> Statement {
        let place = self.small_place();
        // The other half of them gives a spin something to wait for.
        if self.random.chance(50) {
            return Statement::Store {
                place,
                value: Value::Constant(1 + self.random.below(2)),
            };
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
        Statement::Spin {
            place,
            value: self.random.below(2),
            round,
        }
    }

    /// Plain memory that is handed over by an atomic flag, or read if the flag is set.
    fn message(&mut self) -> Vec<Statement> {
        let data = Place {
            region: 0,
            offset: 8,
            size: 4,
        };
        let flag = Place {
            region: 0,
            offset: 0,
            size: 1,
        };
        let into = self.register();
        match self.random.chance(50) {
            true => vec![
                Statement::Write {
                    place: data,
                    value: self.value(),
                },
                Statement::Store {
                    place: flag,
                    value: Value::Constant(1),
                },
            ],
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
