//! The coverage of a search: lines that raced, and objects that no two threads shared.
//!
//! The first executions of a search are sampled, then one in a thousand. The samples show what a
//! model exercises, at no measurable cost. Later samples are chosen by a hash of the execution's
//! beginning, so that all jobs make the same choice. A resumed search starts sampling again.

use explore::{Algorithm, EventId, Execution, ObjectId, OpKind, Race, ThreadId};
use report::{Coverage, Line};
use runtime::{Model, Sample, Spot};
use serde::{Deserialize, Serialize};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};

/// The number of first executions, all of which are sampled.
const FIRST: u64 = 64;
/// One in this number of later executions is sampled.
const STRIDE: u64 = 1024;
/// Whether a later execution is sampled depends on a hash of its beginning (the events that it
/// shares with the previous execution). The hash covers the length of the beginning, the clock of
/// its last event, and this many of its last steps.
const STEPS: usize = 4;
/// Spreads numbers over all bits (Knuth, The Art of Computer Programming 3, 6.4).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The coverage of the executions so far.
#[derive(Default)]
pub(super) struct Covered {
    /// Whether executions are independent of each other, so that only their numbers identify them.
    is_random: bool,
    /// Executions of the search before the ones counted here.
    before: u64,
    executions: u64,
    /// The number of sampled executions.
    sampled: u64,
    /// The number of races in the sampled executions, except races among the events that an
    /// execution shares with the previous one.
    races: u64,
    /// The largest number of races in an execution, over all executions.
    most_races: usize,
    /// Number of races by the place of their events.
    lines: HashMap<Spot, u64>,
    /// Users, indexed by object.
    users: Vec<Option<Users>>,
    /// Place of creation, indexed by object.
    made: Vec<Option<Spot>>,
}

/// The threads that use an object.
#[derive(Clone, Copy)]
enum Users {
    One(ThreadId, OpKind),
    Several,
}

impl Covered {
    /// Creates the coverage of a search by this algorithm that follows `before` other executions.
    pub fn of(algorithm: Algorithm, before: u64) -> Covered {
        Covered {
            is_random: !algorithm.proves(),
            before,
            ..Covered::default()
        }
    }

    /// Checks whether to sample the next execution, which starts with these events.
    pub fn samples(&self, beginning: &Execution) -> bool {
        let number = self.before + self.executions;
        if number < FIRST {
            return true;
        }
        if self.is_random {
            return number.is_multiple_of(STRIDE);
        }
        let Some((last, _)) = beginning.events().next_back() else {
            return false;
        };
        let steps = beginning.steps().rev().take(STEPS);
        let steps = steps.map(|step| u32::from(step.thread.0) << 8 ^ step.choice);
        let words = beginning.clock(last).iter().copied().chain(steps);
        let hash = words.fold(beginning.len() as u64, |hash, word| {
            (hash ^ u64::from(word))
                .wrapping_mul(SPREAD)
                .rotate_left(29)
        });
        hash.is_multiple_of(STRIDE)
    }

    /// Counts an execution.
    #[inline]
    pub fn count(&mut self, execution: &Execution) {
        self.executions += 1;
        self.most_races = self.most_races.max(execution.races().len());
    }

    /// Adds a sampled execution. Its first `kept` events are those of the previous execution.
    pub fn take_up(&mut self, execution: &Execution, kept: usize, sample: &Sample<'_>) {
        self.sampled += 1;
        let races = execution.races().iter();
        for &Race { first, second } in races.filter(|race| race.second.index() >= kept) {
            self.races += 1;
            self.race_at(sample, first);
            self.race_at(sample, second);
        }
        for (_, event) in execution
            .events()
            .filter(|(_, event)| is_of_object(event.op.kind) && event.op.object != ObjectId::NONE)
        {
            self.use_by(event.op.object.index(), event.thread(), event.op.kind);
        }
        for (object, spot) in sample.objects() {
            let object = object.index();
            if self.made.len() <= object {
                self.made.resize(object + 1, None);
            }
            self.made[object] = Some(spot);
        }
    }

    fn race_at(&mut self, sample: &Sample<'_>, event: EventId) {
        if let Some(spot) = sample.spot(event) {
            *self.lines.entry(spot).or_default() += 1;
        }
    }

    fn use_by(&mut self, object: usize, thread: ThreadId, kind: OpKind) {
        if self.users.len() <= object {
            self.users.resize(object + 1, None);
        }
        let users = &mut self.users[object];
        *users = Some(match users {
            None => Users::One(thread, kind),
            Some(Users::One(one, _)) if *one == thread => return,
            Some(_) => Users::Several,
        });
    }

    /// Discards the coverage, because the search starts again.
    pub fn restart(&mut self) {
        *self = Covered {
            is_random: self.is_random,
            ..Covered::default()
        };
    }

    /// Returns the coverage with names instead of ids.
    pub fn seen(&self, model: &Model) -> Seen {
        // Several instructions may belong to the same line.
        let mut lines: BTreeMap<String, u64> = BTreeMap::new();
        for (&spot, races) in &self.lines {
            if let Some(place) = model.place(spot) {
                *lines.entry(place).or_default() += races;
            }
        }
        let names = model.names();
        let creators = match self.made.is_empty() {
            true => BTreeMap::new(),
            false => names.creators(),
        };
        let mut objects: BTreeMap<Object, User> = BTreeMap::new();
        for (object, spot) in self.made.iter().enumerate() {
            let Some(place) = spot.and_then(|spot| model.place(spot)) else {
                continue;
            };
            let users = self.users_of(object).map(|users| match users {
                Users::One(thread, kind) => User::One(names.spawn_path(thread), kind),
                Users::Several => User::Several,
            });
            let creator = creators.get(&ObjectId(object as u32)).cloned();
            for user in users {
                User::add_to(&mut objects, (place.clone(), creator.clone()), user);
            }
        }
        Seen {
            executions: self.executions,
            sampled: self.sampled,
            races: self.races,
            most_races: self.most_races,
            lines,
            objects,
        }
    }

    /// Returns the users of an object and of its parts. The parts have the next ids, and no
    /// recorded place of creation.
    fn users_of(&self, object: usize) -> impl Iterator<Item = Users> {
        let is_other = |&id: &usize| self.made.get(id).copied().flatten().is_none();
        let others = (object + 1..object + MOST_PARTS).take_while(is_other);
        let parts = std::iter::once(object).chain(others);
        parts.filter_map(|id| self.users.get(id).copied().flatten())
    }
}

/// An object: its place of creation, and, if known, the thread that created it and its number among
/// the objects of that thread.
type Object = (String, Option<(String, u32)>);

/// The coverage of a search or of a part of it, with names instead of ids, so that the coverage of
/// all parts can be added up.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(crate) struct Seen {
    executions: u64,
    sampled: u64,
    races: u64,
    most_races: usize,
    lines: BTreeMap<String, u64>,
    objects: BTreeMap<Object, User>,
}

/// The users of an object. A thread is named by its spawn path: for each of its ancestors and
/// itself, the number among the threads of the parent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum User {
    One(String, OpKind),
    Several,
}

impl User {
    /// Returns the only user's kind of operation, or `None` if there are several users.
    fn kind(&self) -> Option<OpKind> {
        match self {
            User::One(_, kind) => Some(*kind),
            User::Several => None,
        }
    }

    /// Records a user of the object.
    fn add_to(objects: &mut BTreeMap<Object, User>, object: Object, user: User) {
        match objects.entry(object) {
            Entry::Vacant(entry) => {
                entry.insert(user);
            }
            Entry::Occupied(mut entry) => {
                let is_same = matches!((entry.get(), &user), (User::One(own, _), User::One(other, _)) if own == other);
                if !is_same {
                    entry.insert(User::Several);
                }
            }
        }
    }
}

impl Seen {
    /// Adds the coverage of another part of the search.
    pub fn add(&mut self, other: Seen) {
        self.executions = self.executions.saturating_add(other.executions);
        self.sampled = self.sampled.saturating_add(other.sampled);
        self.races = self.races.saturating_add(other.races);
        self.most_races = self.most_races.max(other.most_races);
        for (line, races) in other.lines {
            let counts = self.lines.entry(line).or_default();
            *counts = counts.saturating_add(races);
        }
        for (object, user) in other.objects {
            User::add_to(&mut self.objects, object, user);
        }
    }

    /// Returns the coverage for the report. Lines are sorted by number of races, highest first.
    pub fn coverage(&self) -> Coverage {
        let lines = self.lines.iter().map(|(location, &races)| Line {
            location: location.clone(),
            races,
        });
        let mut lines: Vec<Line> = lines.collect();
        lines.sort_by(|a, b| (b.races, &a.location).cmp(&(a.races, &b.location)));
        Coverage {
            looked_at: self.sampled,
            races: self.races,
            most_races: self.most_races,
            lines,
        }
    }

    /// Returns warnings about possible mistakes in a verified model with this number of executions.
    pub fn warnings(&self, executions: u64) -> Vec<String> {
        if self.most_races > 0 {
            return self.unshared();
        }
        let is_known = self.executions == executions;
        let warning = "no two operations race: the order of the threads makes no difference to this model, so a check \
                       finds no more than an ordinary test";
        is_known.then(|| warning.to_owned()).into_iter().collect()
    }

    /// Returns a warning for each place of creation if every object created there is used by one
    /// thread only.
    fn unshared(&self) -> Vec<String> {
        let mut places: BTreeMap<&str, Vec<&User>> = BTreeMap::new();
        for ((place, _), user) in &self.objects {
            places.entry(place).or_default().push(user);
        }
        let only = places.into_iter().filter_map(|(place, users)| {
            let kinds: Option<Vec<OpKind>> = users.into_iter().map(User::kind).collect();
            Some((place, *kinds?.first()?))
        });
        only.map(|(place, kind)| {
            let kind = runtime::kind_of_object(kind);
            format!("{kind} created at {place} is used by one thread only")
        })
        .collect()
    }
}

/// The maximum number of parts of an object.
const MOST_PARTS: usize = 4;

/// Checks whether this kind of operation is on an object that programs create in order to share it.
fn is_of_object(kind: OpKind) -> bool {
    match kind {
        OpKind::Load
        | OpKind::Store
        | OpKind::ReadModifyWrite
        | OpKind::CompareExchange
        | OpKind::MutexRequest
        | OpKind::MutexUnlock
        | OpKind::MutexTryPlace
        | OpKind::MutexTryResult
        | OpKind::ReadRequest
        | OpKind::ReadRelease
        | OpKind::WriteRequest
        | OpKind::WriteRelease
        | OpKind::TryRead
        | OpKind::TryWrite
        | OpKind::CondvarEnqueue
        | OpKind::CondvarResolve
        | OpKind::CondvarSignal
        | OpKind::CondvarBroadcast
        | OpKind::SemaphoreRequest
        | OpKind::SemaphoreRelease
        | OpKind::SemaphoreTryPlace
        | OpKind::SemaphoreTryResult
        | OpKind::BarrierArrive
        | OpKind::OnceEnter
        | OpKind::OnceDone
        | OpKind::OnceGet
        | OpKind::SendRequest
        | OpKind::ReceiveRequest
        | OpKind::SendTryPlace
        | OpKind::SendTryResult
        | OpKind::ReceiveTryPlace
        | OpKind::ReceiveTryResult
        | OpKind::SenderDrop
        | OpKind::ReceiverDrop
        | OpKind::ClosedCheck
        | OpKind::ObjectWrite
        | OpKind::ObjectRead => true,
        OpKind::MutexWait
        | OpKind::ReadWait
        | OpKind::WriteWait
        | OpKind::CondvarWait
        | OpKind::SemaphoreWait
        | OpKind::BarrierWait
        | OpKind::OnceWait
        | OpKind::SendWait
        | OpKind::ReceiveWait
        | OpKind::ParkRequest
        | OpKind::ParkWait
        | OpKind::ParkResolve
        | OpKind::Unpark
        | OpKind::Spawn
        | OpKind::Join
        | OpKind::End
        | OpKind::IsFinished
        | OpKind::Send
        | OpKind::Deliver
        | OpKind::LetterWait
        | OpKind::LetterLook
        | OpKind::MailboxClose
        | OpKind::DeliveryWait
        | OpKind::ObjectWait
        | OpKind::StateRead
        | OpKind::StateWrite
        | OpKind::Segment
        | OpKind::Fence
        | OpKind::Choose => false,
    }
}
