//! Random numbers and random programs, repeatable from a seed.

use crate::program::{Action, Condition, Program, Register, Statement, Value, Verb};

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The same numbers for the same seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.number() % bound
    }

    fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// In any order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.index(last + 1));
        }
    }
}

/// A piece of a random thread: one or a few statements that belong together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Piece {
    Load,
    Store,
    ReadModifyWrite,
    CompareExchange,
    Weak,
    Fence,
    Choose,
    Assume,
    Assert,
    /// Any other piece, if a register has some value.
    Branch,
    /// Any other piece, twice.
    Loop,
    /// Something between lock and unlock, which may be missing.
    Critical,
    TryCritical,
    ReadCritical,
    WriteCritical,
    TryRead,
    TryWrite,
    /// Locks, waits (perhaps only if a variable is 0), unlocks.
    Wait,
    TimedWait,
    Signal,
    Broadcast,
    /// Sets a variable and signals, under the mutex.
    Notify,
    Acquire,
    Post,
    TryAcquire,
    Arrive,
    Lead,
    Once,
    FailOnce,
    Get,
    /// Sends or receives, whatever the thread is of the channel.
    Talk,
    TryTalk,
    TimedTalk,
    /// Hangs up or drops the receiver.
    EndTalk,
    Park,
    TimedPark,
    Unpark,
    Ended,
}

/// A family of random programs.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    /// Its name.
    pub name: &'static str,
    pieces: &'static [Piece],
    threads: (usize, usize),
    variables: usize,
    /// How often, in percent, a thread is spawned by another.
    spawned: u64,
    capacities: &'static [Option<usize>],
}

const fn suite(name: &'static str, pieces: &'static [Piece]) -> Suite {
    Suite {
        name,
        pieces,
        threads: (2, 4),
        variables: 2,
        spawned: 0,
        capacities: &[None, Some(1), Some(2)],
    }
}

const RENDEZVOUS: &[Option<usize>] = &[Some(0)];

/// All families.
pub const SUITES: [Suite; 26] = {
    use Piece::*;
    [
        suite("rw", &[Load, Store]),
        suite("reads", &[Load, Load, Load, Store]),
        suite("rmw", &[Load, Store, ReadModifyWrite, Branch]),
        suite("cas", &[Load, Store, CompareExchange, CompareExchange]),
        Suite {
            threads: (3, 5),
            ..suite(
                "traps",
                &[Load, Load, CompareExchange, CompareExchange, Store],
            )
        },
        suite(
            "branches",
            &[Load, Store, CompareExchange, Branch, Branch, Loop, Weak],
        ),
        suite("locks", &[Critical, Critical, Critical, Load, Store]),
        suite("trylock", &[Critical, TryCritical, Load, Store]),
        suite("rwlock", &[ReadCritical, WriteCritical, Load, Store]),
        suite(
            "rwlock-try",
            &[ReadCritical, WriteCritical, TryRead, TryWrite],
        ),
        suite("condvar", &[Wait, Notify, Signal, Broadcast, Critical]),
        suite(
            "condvar-timed",
            &[Wait, TimedWait, Notify, Signal, Broadcast],
        ),
        suite("condvar-try", &[Wait, Notify, Signal, TryCritical]),
        suite("semaphore", &[Acquire, Post, Load, Store]),
        suite("semaphore-try", &[Acquire, Post, TryAcquire]),
        suite("barrier", &[Arrive, Arrive, Load, Store]),
        suite("barrier-lead", &[Arrive, Lead, Load, Store]),
        suite("once", &[Once, FailOnce, Get, Load]),
        suite("channel", &[Talk, Talk, EndTalk, Load, Store]),
        suite("channel-try", &[Talk, TryTalk, TimedTalk, EndTalk]),
        Suite {
            capacities: RENDEZVOUS,
            ..suite("rendezvous", &[Talk, Talk, Talk, EndTalk, Load, Store])
        },
        Suite {
            capacities: RENDEZVOUS,
            ..suite("rendezvous-try", &[Talk, TryTalk, TimedTalk, EndTalk])
        },
        suite("park", &[Park, TimedPark, Unpark, Unpark, Load, Store]),
        Suite {
            spawned: 70,
            ..suite(
                "spawn",
                &[
                    Load,
                    Store,
                    CompareExchange,
                    Assume,
                    Assert,
                    Ended,
                    Critical,
                ],
            )
        },
        Suite {
            spawned: 30,
            ..suite(
                "choices",
                &[Choose, CompareExchange, Weak, Signal, Wait, Store, Branch],
            )
        },
        Suite {
            spawned: 30,
            capacities: &[None, Some(1), Some(2), Some(0)],
            ..suite(
                "all",
                &[
                    Load,
                    Store,
                    ReadModifyWrite,
                    CompareExchange,
                    CompareExchange,
                    Weak,
                    Fence,
                    Choose,
                    Assume,
                    Branch,
                    Loop,
                    Critical,
                    Critical,
                    TryCritical,
                    ReadCritical,
                    WriteCritical,
                    TryRead,
                    TryWrite,
                    Wait,
                    TimedWait,
                    Signal,
                    Broadcast,
                    Notify,
                    Acquire,
                    Post,
                    TryAcquire,
                    Arrive,
                    Lead,
                    Once,
                    FailOnce,
                    Get,
                    Talk,
                    TryTalk,
                    TimedTalk,
                    EndTalk,
                    Park,
                    TimedPark,
                    Unpark,
                    Ended,
                ],
            )
        },
    ]
};

impl Suite {
    /// The family with this name.
    pub fn named(name: &str) -> Option<&'static Suite> {
        SUITES.iter().find(|suite| suite.name == name)
    }

    /// A random member.
    pub fn program(&self, random: &mut Random) -> Program {
        let (least, most) = self.threads;
        let threads = least + random.index(most - least + 1);
        let channels = 1 + random.index(2);
        let mut program = Program {
            threads: Vec::new(),
            permits: vec![random.index(2)],
            places: vec![2 + random.index(2)],
            capacities: (0..channels)
                .map(|_| self.capacities[random.index(self.capacities.len())])
                .collect(),
        };
        let receivers: Vec<usize> = (0..channels).map(|_| random.index(threads)).collect();
        let pieces = self.some_pieces(random);
        for number in 0..threads {
            let mut thread = Thread {
                suite: self,
                pieces: &pieces,
                random,
                number,
                threads,
                receivers: &receivers,
                next_register: 0,
            };
            program.threads.push(thread.body());
        }
        self.spawn_some(&mut program, random);
        program.forget_unused();
        program
    }

    /// Of a large family only a few pieces, or they would hardly meet.
    fn some_pieces(&self, random: &mut Random) -> Vec<Piece> {
        let mut pieces = self.pieces.to_vec();
        random.shuffle(&mut pieces);
        pieces.truncate(8);
        pieces
    }

    fn spawn_some(&self, program: &mut Program, random: &mut Random) {
        for child in 1..program.threads.len() {
            if !random.chance(self.spawned) {
                continue;
            }
            let parent = random.index(child);
            let body = &mut program.threads[parent];
            let at = random.index(body.len() + 1);
            body.insert(at, about_thread(Verb::Spawn, child));
            if random.chance(60) {
                let at = at + 1 + random.index(body.len() - at);
                body.insert(at, about_thread(Verb::Join, child));
            }
        }
    }
}

fn about_thread(verb: Verb, thread: usize) -> Statement {
    Statement::Do(Action {
        verb,
        into: None,
        objects: vec![thread],
        values: Vec::new(),
    })
}

/// A thread that is being made.
struct Thread<'a> {
    suite: &'a Suite,
    pieces: &'a [Piece],
    random: &'a mut Random,
    number: usize,
    threads: usize,
    receivers: &'a [usize],
    next_register: Register,
}

impl Thread<'_> {
    fn body(&mut self) -> Vec<Statement> {
        let most = match self.threads {
            2 => 5,
            3 => 3,
            _ => 2,
        };
        let mut body = Vec::new();
        for _ in 0..1 + self.random.index(most) {
            self.add_some_piece(&mut body);
        }
        body
    }

    fn add_some_piece(&mut self, body: &mut Vec<Statement>) {
        let piece = self.pieces[self.random.index(self.pieces.len())];
        self.add(piece, body);
    }

    fn variable(&mut self) -> usize {
        self.random.index(self.suite.variables)
    }

    fn value(&mut self) -> Value {
        match self.random.chance(20) && self.next_register > 0 {
            true => Value::Register(self.some_register()),
            false => Value::Constant(self.random.below(3)),
        }
    }

    fn some_register(&mut self) -> Register {
        self.random.below(u64::from(self.next_register.clamp(1, 8))) as Register
    }

    /// Something that the value of an earlier result may or may not be.
    fn condition(&mut self) -> Condition {
        let left = Value::Register(self.some_register());
        let right = Value::Constant(self.random.below(2));
        Condition {
            left,
            equal: self.random.chance(60),
            right,
        }
    }

    /// The verb with random values; its result goes to the next register.
    fn act(&mut self, verb: Verb, objects: &[usize]) -> Statement {
        let signature = verb.signature();
        let values = (0..signature.values).map(|_| self.value()).collect();
        let into = signature.has_result.then(|| {
            self.next_register += 1;
            (self.next_register - 1) % 8
        });
        Statement::Do(Action {
            verb,
            into,
            objects: objects.to_vec(),
            values,
        })
    }

    fn add(&mut self, piece: Piece, body: &mut Vec<Statement>) {
        match piece {
            Piece::Load => self.add_access(Verb::Load, body),
            Piece::Store => self.add_access(Verb::Store, body),
            Piece::ReadModifyWrite => {
                let verb = if self.random.chance(50) {
                    Verb::FetchAdd
                } else {
                    Verb::Swap
                };
                self.add_access(verb, body);
            }
            Piece::CompareExchange => self.add_access(Verb::CompareExchange, body),
            Piece::Weak => self.add_access(Verb::WeakCompareExchange, body),
            Piece::Fence => body.push(self.act(Verb::Fence, &[])),
            Piece::Choose => {
                let mut choose = self.act(Verb::Choose, &[]);
                if let Statement::Do(action) = &mut choose {
                    action.values = vec![Value::Constant(2 + self.random.below(2))];
                }
                body.push(choose);
            }
            Piece::Assume => body.push(Statement::Assume(self.condition())),
            Piece::Assert => body.push(Statement::Assert(self.condition())),
            Piece::Branch => {
                let condition = self.condition();
                let inner = self.nested();
                body.push(Statement::If(condition, inner));
            }
            Piece::Loop => {
                let inner = self.nested();
                body.push(Statement::Repeat(2, inner));
            }
            Piece::Critical => self.add_critical(Verb::Lock, Verb::Unlock, body),
            Piece::ReadCritical => self.add_critical(Verb::ReadLock, Verb::Release, body),
            Piece::WriteCritical => self.add_critical(Verb::WriteLock, Verb::Release, body),
            Piece::TryCritical => self.add_try(Verb::TryLock, Verb::Unlock, body),
            Piece::TryRead => self.add_try(Verb::TryRead, Verb::Release, body),
            Piece::TryWrite => self.add_try(Verb::TryWrite, Verb::Release, body),
            Piece::Wait => self.add_wait(Verb::Wait, body),
            Piece::TimedWait => self.add_wait(Verb::TimedWait, body),
            Piece::Signal => body.push(self.act(Verb::Signal, &[0])),
            Piece::Broadcast => body.push(self.act(Verb::Broadcast, &[0])),
            Piece::Notify => {
                body.push(self.act(Verb::Lock, &[0]));
                body.push(self.act(Verb::Store, &[0]));
                body.push(self.act(Verb::Signal, &[0]));
                body.push(self.act(Verb::Unlock, &[0]));
            }
            Piece::Acquire => body.push(self.act(Verb::Acquire, &[0])),
            Piece::Post => body.push(self.act(Verb::Post, &[0])),
            Piece::TryAcquire => body.push(self.act(Verb::TryAcquire, &[0])),
            Piece::Arrive => body.push(self.act(Verb::Arrive, &[0])),
            Piece::Lead => body.push(self.act(Verb::Lead, &[0])),
            Piece::Once => {
                let variable = self.variable();
                body.push(self.act(Verb::Once, &[0, variable]));
            }
            Piece::FailOnce => body.push(self.act(Verb::FailOnce, &[0])),
            Piece::Get => body.push(self.act(Verb::Get, &[0])),
            Piece::Talk => self.add_talk(Verb::Send, Verb::Receive, body),
            Piece::TryTalk => self.add_talk(Verb::TrySend, Verb::TryReceive, body),
            Piece::TimedTalk => self.add_talk(Verb::TimedSend, Verb::TimedReceive, body),
            Piece::EndTalk => self.add_talk(Verb::HangUp, Verb::Leave, body),
            Piece::Park => body.push(self.act(Verb::Park, &[])),
            Piece::TimedPark => body.push(self.act(Verb::TimedPark, &[])),
            Piece::Unpark => {
                let target = self.random.index(self.threads);
                body.push(self.act(Verb::Unpark, &[target]));
            }
            Piece::Ended => {
                let target = self.random.index(self.threads);
                body.push(self.act(Verb::Ended, &[target]));
            }
        }
    }

    fn nested(&mut self) -> Vec<Statement> {
        let simple = [Piece::Load, Piece::Store, Piece::CompareExchange];
        let piece = self.pieces[self.random.index(self.pieces.len())];
        let mut inner = Vec::new();
        match piece {
            Piece::Branch | Piece::Loop => {
                let piece = simple[self.random.index(3)];
                self.add(piece, &mut inner);
            }
            _ => self.add(piece, &mut inner),
        }
        inner
    }

    fn add_access(&mut self, verb: Verb, body: &mut Vec<Statement>) {
        let variable = self.variable();
        body.push(self.act(verb, &[variable]));
    }

    fn add_critical(&mut self, take: Verb, free: Verb, body: &mut Vec<Statement>) {
        let lock = self.random.index(2);
        body.push(self.act(take, &[lock]));
        match self.random.below(10) {
            0..5 => self.add_access(Verb::Store, body),
            5..8 => self.add_access(Verb::Load, body),
            8 => body.push(self.act(take, &[1 - lock])),
            _ => {}
        }
        if self.random.chance(90) {
            body.push(self.act(free, &[lock]));
        }
    }

    fn add_try(&mut self, take: Verb, free: Verb, body: &mut Vec<Statement>) {
        let lock = self.random.index(2);
        body.push(self.act(take, &[lock]));
        if self.random.chance(40) {
            self.add_access(Verb::Store, body);
        }
        if self.random.chance(80) {
            body.push(self.act(free, &[lock]));
        }
    }

    fn add_wait(&mut self, verb: Verb, body: &mut Vec<Statement>) {
        body.push(self.act(Verb::Lock, &[0]));
        let wait = if self.random.chance(50) {
            let load = self.act(Verb::Load, &[0]);
            let register = (self.next_register - 1) % 8;
            body.push(load);
            let left = Value::Register(register);
            let condition = Condition {
                left,
                equal: true,
                right: Value::Constant(0),
            };
            Statement::If(condition, vec![self.act(verb, &[0, 0])])
        } else {
            self.act(verb, &[0, 0])
        };
        body.push(wait);
        if self.random.chance(80) {
            body.push(self.act(Verb::Unlock, &[0]));
        }
    }

    fn add_talk(&mut self, send: Verb, receive: Verb, body: &mut Vec<Statement>) {
        let channel = self.random.index(self.receivers.len());
        let verb = if self.receivers[channel] == self.number {
            receive
        } else {
            send
        };
        body.push(self.act(verb, &[channel]));
    }
}
