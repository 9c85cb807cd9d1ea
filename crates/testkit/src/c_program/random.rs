//! Generates random programs.

mod statement;

use super::{CProgram, Home, Place, REGION, REGISTERS, RegisterHome, Statement, Thread, Value};
use crate::random::Random;

/// The purpose of a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// Atomic accesses of any size.
    Atomic,
    /// Plain accesses while this mutex is held.
    Guarded(usize),
    /// Plain accesses of one thread.
    Owned(usize),
    /// Plain accesses of all threads.
    Wild,
    /// A spin lock.
    Flag,
}

/// The subject of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub enum Theme {
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
    Lifetimes,
    Futexes,
}

/// All themes.
pub const THEMES: [Theme; 16] = [
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
    Theme::Lifetimes,
    Theme::Futexes,
];

struct Maker<'a> {
    random: &'a mut Random,
    program: CProgram,
    roles: Vec<Role>,
    themes: Vec<Theme>,
    threads: usize,
    /// The size of atomic accesses, if all have the same size. Weak memory models refuse accesses
    /// of different sizes to the same memory.
    atomic_size: Option<usize>,
}

/// Generates a program, which may deadlock and have races. The program has the theme `about`, if a
/// theme is given, and perhaps others.
pub fn program(random: &mut Random, about: Option<Theme>) -> CProgram {
    loop {
        let program = any(random, about);
        if program.is_sound() {
            return program;
        }
    }
}

fn any(random: &mut Random, about: Option<Theme>) -> CProgram {
    let mut themes = vec![about.unwrap_or(THEMES[random.index(THEMES.len())])];
    while random.chance(60) && themes.len() < 3 {
        themes.push(THEMES[random.index(THEMES.len())]);
    }
    let threads = 3 + usize::from(random.chance(35));
    let atomic_size = random.chance(40).then_some(4);
    let mut maker = Maker {
        random,
        atomic_size,
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
        let mutexes = [
            Theme::Locks,
            Theme::Condvars,
            Theme::Libraries,
            Theme::Lifetimes,
        ];
        let polls = self.has(Theme::Spins) && self.random.chance(50);
        if polls || mutexes.into_iter().any(|theme| self.has(theme)) {
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

    /// Creates and joins each thread except the main thread. Adds these statements to the body of a
    /// thread with a smaller number.
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

    /// Returns a place in a region. Of each size, only the first two places are used, so that
    /// threads share places.
    fn place_in(&mut self, region: usize, largest: usize) -> Place {
        let sizes = [4, 4, 4, 8, 8, 2, 1, 16];
        let size = match self.roles[region] {
            Role::Atomic => self.atomic_size,
            _ => None,
        };
        let size = size.unwrap_or_else(|| sizes[self.random.index(sizes.len())].min(largest));
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
            .expect("the program has a region of this role");
        self.place_in(region, 16)
    }

    /// Returns an atomic place of at most 8 bytes.
    fn small_place(&mut self) -> Place {
        let region = self
            .region_of(|role| role == Role::Atomic)
            .expect("the program has a region of this role");
        self.place_in(region, 8)
    }
}
