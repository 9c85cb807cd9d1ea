//! Families of random programs.

mod thread;

use crate::entry::Act;
use crate::program::{Action, Program, Statement, Verb};
use crate::random::Random;
use thread::RandomThread;

/// A piece of a random thread: one or more statements that belong together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Piece {
    Load,
    Store,
    ReadModifyWrite,
    CompareExchange,
    Weak,
    Fence,
    Yield,
    Choose,
    Assume,
    Assert,
    /// Another piece, if a register has a given value.
    Branch,
    /// Another piece, twice.
    Loop,
    /// A lock, usually an access, and usually an unlock.
    Critical,
    TryCritical,
    ReadCritical,
    WriteCritical,
    TryRead,
    TryWrite,
    /// Locks, waits (sometimes only if a variable is 0), and usually unlocks.
    Wait,
    TimedWait,
    Signal,
    Broadcast,
    /// Sets a variable and signals, while holding the mutex.
    Notify,
    Act(Act),
    /// An action at any object with an entry (see `entry`).
    AnyAct,
    Arrive,
    Lead,
    Once,
    FailOnce,
    Get,
    /// Sends or receives, depending on the thread's end of the channel.
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
    /// Probability, in percent, that a thread is spawned by another thread.
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

const ACQUIRE: Piece = Piece::Act(Act::Acquire);
const POST: Piece = Piece::Act(Act::Post);
const TRY_ACQUIRE: Piece = Piece::Act(Act::TryAcquire);

/// All families.
pub const SUITES: [Suite; 28] = {
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
        suite("semaphore", &[ACQUIRE, POST, Load, Store]),
        suite("semaphore-try", &[ACQUIRE, POST, TRY_ACQUIRE]),
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
        suite(
            "yield",
            &[Yield, Yield, Load, Store, ReadModifyWrite, Critical],
        ),
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
        suite("entries", &[AnyAct, AnyAct, Load, Store]),
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
                    Yield,
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
                    ACQUIRE,
                    POST,
                    TRY_ACQUIRE,
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
    /// Returns the family with this name.
    pub fn named(name: &str) -> Option<&'static Suite> {
        SUITES.iter().find(|suite| suite.name == name)
    }

    /// Generates a random program.
    pub fn program(&self, random: &mut Random) -> Program {
        self.sized_program(random, 1)
    }

    /// Generates a random program whose threads are twice as long.
    pub fn long_program(&self, random: &mut Random) -> Program {
        self.sized_program(random, 2)
    }

    fn sized_program(&self, random: &mut Random, size: usize) -> Program {
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
            let mut thread = RandomThread {
                suite: self,
                pieces: &pieces,
                random,
                number,
                threads,
                receivers: &receivers,
                next_register: 0,
                size,
            };
            program.threads.push(thread.body());
        }
        self.spawn_some(&mut program, random);
        program.forget_unused();
        program
    }

    /// Selects a few pieces. With all pieces of a large family, threads would rarely interact.
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
        order: explore::MemoryOrder::SeqCst,
        on_failure: explore::MemoryOrder::SeqCst,
    })
}
