//! Static information about a program: its code, the ids of its objects, and which objects are used
//! in ways that make more operations dependent.

use crate::code::Code;
use crate::entry::Kind;
use crate::program::{Program, Sort, Statement, Verb};
use explore::{ObjectId, ThreadId};
use objects::{Capacity, Object};

/// A program prepared for execution.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) codes: Vec<Code>,
    /// For each thread, whether it exists from the start.
    pub(crate) is_root: Vec<bool>,
    /// For each thread, whether its end is polled.
    pub(crate) is_polled: Vec<bool>,
    /// For each thread, the last thread before it with the same statements, if threads do not refer
    /// to each other.
    pub(crate) twins: Vec<Option<ThreadId>>,
    pub(crate) variables: usize,
    pub(crate) mutexes: usize,
    /// For each reader-writer lock, whether it is tried.
    pub(crate) rwlocks: Vec<bool>,
    pub(crate) condvars: usize,
    /// For each kind of object with an entry (see `entry`), the value of each object at the start.
    pub(crate) entries: Vec<Vec<usize>>,
    pub(crate) barriers: Vec<BarrierPlan>,
    pub(crate) onces: usize,
    pub(crate) channels: Vec<ChannelPlan>,
    /// For each sort, its first id and the number of ids that an object needs.
    ids: Vec<(Sort, u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct BarrierPlan {
    pub(crate) places: usize,
    /// Whether the order of arrivals matters: a thread learns whether it leads, or more threads
    /// arrive than the barrier has places.
    pub(crate) is_ordered: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct ChannelPlan {
    /// The bound; `None` if unbounded.
    pub(crate) bound: Option<usize>,
    /// Whether a thread receives by a try or with a time limit. For a rendezvous channel (bound 0),
    /// sends by a try or with a time limit also count.
    pub(crate) is_tried: bool,
    /// Number of sender handles: one for each thread that sends, but at least one.
    pub(crate) senders: usize,
}

impl ChannelPlan {
    pub(crate) fn capacity(&self) -> Capacity {
        self.bound.map_or(Capacity::Unbounded, Capacity::Bounded)
    }
}

/// The sorts other than `Sort::Entry`, with the number of ids that an object of the sort needs.
/// Variables and mutexes come first, because the machine compares their states (see `State`).
const SORTS: [(Sort, u32); 8] = [
    (Sort::Variable, 1),
    (Sort::Mutex, objects::Mutex::PARTS),
    (Sort::RwLock, objects::RwLock::PARTS),
    (Sort::Condvar, objects::Condvar::PARTS),
    (Sort::Barrier, objects::Barrier::PARTS),
    (Sort::Once, objects::Once::PARTS),
    (Sort::Channel, objects::Channel::PARTS),
    (Sort::Thread, objects::Thread::PARTS + objects::Park::PARTS),
];

impl Plan {
    pub(crate) fn new(program: &Program) -> Plan {
        let threads = 0..program.threads.len();
        let entries = Kind::ALL.iter();
        let entries = entries.map(|&kind| (Sort::Entry(kind), kind.parts()));
        let mut next = 0;
        let ids = SORTS.into_iter().chain(entries).map(|(sort, parts)| {
            let first = next;
            next += parts * program.count(sort) as u32;
            (sort, first, parts)
        });
        Plan {
            codes: program.threads.iter().map(|body| Code::new(body)).collect(),
            is_root: threads
                .clone()
                .map(|thread| program.users(&[Verb::Spawn], thread).is_empty())
                .collect(),
            is_polled: threads
                .map(|thread| !program.users(&[Verb::Ended], thread).is_empty())
                .collect(),
            twins: twins(program),
            variables: program.count(Sort::Variable),
            mutexes: program.count(Sort::Mutex),
            rwlocks: (0..program.count(Sort::RwLock))
                .map(|lock| {
                    !program
                        .users(&[Verb::TryRead, Verb::TryWrite], lock)
                        .is_empty()
                })
                .collect(),
            condvars: program.count(Sort::Condvar),
            entries: Kind::ALL
                .iter()
                .map(|&kind| {
                    let numbers = 0..program.count(Sort::Entry(kind));
                    numbers.map(|n| kind.size(program, n)).collect()
                })
                .collect(),
            barriers: (0..program.count(Sort::Barrier))
                .map(|n| barrier(program, n))
                .collect(),
            onces: program.count(Sort::Once),
            channels: (0..program.count(Sort::Channel))
                .map(|n| channel(program, n))
                .collect(),
            ids: ids.collect(),
        }
    }

    /// Returns the first id of an object. The ids of a thread's park token follow that of its end.
    pub(crate) fn object(&self, sort: Sort, number: usize) -> ObjectId {
        let mut ids = self.ids.iter();
        let &(_, first, parts) = ids
            .find(|&&(listed, ..)| listed == sort)
            .expect("all sorts are listed");
        ObjectId(first + parts * number as u32)
    }
}

fn twins(program: &Program) -> Vec<Option<ThreadId>> {
    let actions = program.actions();
    let names_threads = actions.iter().any(|(_, action)| {
        // A thread parks at an object of its own.
        matches!(action.verb, Verb::Park | Verb::TimedPark)
            || action.verb.signature().sorts.contains(&Sort::Thread)
    });
    let twin = |(number, body): (usize, &Vec<Statement>)| {
        let earlier = program.threads[..number].iter();
        let twin = earlier.rev().position(|other| other == body)?;
        (!names_threads).then(|| ThreadId::from_index(number - 1 - twin))
    };
    program.threads.iter().enumerate().map(twin).collect()
}

fn barrier(program: &Program, number: usize) -> BarrierPlan {
    let places = program.places(number);
    let users = program.users(&[Verb::Arrive, Verb::Lead], number).len();
    let is_led = !program.users(&[Verb::Lead], number).is_empty();
    BarrierPlan {
        places,
        is_ordered: is_led || users > places,
    }
}

fn channel(program: &Program, number: usize) -> ChannelPlan {
    let bound = program.capacity(number);
    let is_tried = match bound {
        Some(0) => &[
            Verb::TrySend,
            Verb::TimedSend,
            Verb::TryReceive,
            Verb::TimedReceive,
        ] as &[Verb],
        Some(_) | None => &[Verb::TryReceive, Verb::TimedReceive],
    };
    ChannelPlan {
        bound,
        is_tried: !program.users(is_tried, number).is_empty(),
        senders: program.users(SENDING, number).len().max(1),
    }
}

const SENDING: &[Verb] = &[Verb::Send, Verb::TrySend, Verb::TimedSend, Verb::HangUp];
const RECEIVING: &[Verb] = &[
    Verb::Receive,
    Verb::TryReceive,
    Verb::TimedReceive,
    Verb::Leave,
];

impl Program {
    /// Checks whether the program can be run: a thread is spawned at most once and not by itself,
    /// all named threads exist, and each channel has at most one receiver.
    pub fn is_sound(&self) -> bool {
        let actions = self.actions();
        let names_exist = actions.iter().all(|(_, action)| {
            let sorts = action.verb.signature().sorts;
            sorts
                .iter()
                .zip(&action.objects)
                .all(|(&sort, &number)| match sort {
                    Sort::Thread => number < self.threads.len(),
                    Sort::Variable
                    | Sort::Mutex
                    | Sort::RwLock
                    | Sort::Condvar
                    | Sort::Entry(_)
                    | Sort::Barrier
                    | Sort::Once
                    | Sort::Channel => true,
                })
        });
        let spawns = |target: usize| {
            let spawn = |(_, action): &&(usize, &crate::program::Action)| {
                action.verb == Verb::Spawn && action.objects[0] == target
            };
            actions.iter().filter(spawn).count()
        };
        names_exist
            && (0..self.threads.len()).all(|thread| {
                spawns(thread) <= 1 && !self.users(&[Verb::Spawn], thread).contains(&thread)
            })
            && !self.threads.iter().flatten().any(repeats_spawn)
            && (0..self.count(Sort::Channel))
                .all(|channel| self.users(RECEIVING, channel).len() <= 1)
    }
}

fn repeats_spawn(statement: &Statement) -> bool {
    match statement {
        Statement::Repeat(_, body) => {
            let inner = Program {
                threads: vec![body.clone()],
                ..Program::default()
            };
            inner.does(&[Verb::Spawn])
        }
        Statement::If(_, body) => body.iter().any(repeats_spawn),
        Statement::Do(_) | Statement::Assume(_) | Statement::Assert(_) => false,
    }
}
