//! What a search has looked at: which lines raced, and which objects nobody shared.
//!
//! The first executions of a search are looked at, then one of a thousand: enough to tell what a model exercises,
//! at no cost that can be measured. A search that is resumed begins to look anew.

use explore::{EventId, Execution, OpKind, Race, ThreadId};
use report::{Coverage, Line};
use runtime::{Look, Model, Spot};
use std::collections::{BTreeMap, HashMap};

/// Executions that are all looked at.
const FIRST: u64 = 64;
/// After them one of so many is.
const STRIDE: u64 = 1024;

/// What is known of the executions so far.
#[derive(Default)]
pub(super) struct Covered {
    /// Executions in this process.
    executions: u64,
    looked_at: u64,
    /// Races that were met for the first time in executions that were looked at.
    races: u64,
    /// Races of the execution that has most, of all executions.
    most_races: usize,
    /// Races by the places of their events.
    lines: HashMap<Spot, u64>,
    /// Indexed by object.
    users: Vec<Option<Users>>,
    /// Indexed by object: where it is made.
    made: Vec<Option<Spot>>,
}

/// Who uses an object.
#[derive(Clone, Copy)]
enum Users {
    One(ThreadId, OpKind),
    Several,
}

impl Covered {
    /// Whether the next execution is to be looked at.
    pub fn looks(&self) -> bool {
        self.executions < FIRST || self.executions.is_multiple_of(STRIDE)
    }

    /// Counts an execution.
    #[inline]
    pub fn count(&mut self, execution: &Execution) {
        self.executions += 1;
        self.most_races = self.most_races.max(execution.races().len());
    }

    /// Takes up an execution that was looked at, the first `kept` events of which are those of one before.
    pub fn take_up(&mut self, execution: &Execution, kept: usize, look: &Look<'_>) {
        self.looked_at += 1;
        let races = execution.races().iter();
        for &Race { first, second } in races.filter(|race| race.second.index() >= kept) {
            self.races += 1;
            self.race_at(look, first);
            self.race_at(look, second);
        }
        for (_, event) in execution
            .events()
            .filter(|(_, event)| is_of_object(event.op.kind))
        {
            self.use_by(event.op.object.index(), event.thread(), event.op.kind);
        }
        for (object, spot) in look.objects() {
            let object = object.index();
            if self.made.len() <= object {
                self.made.resize(object + 1, None);
            }
            self.made[object] = Some(spot);
        }
    }

    fn race_at(&mut self, look: &Look<'_>, event: EventId) {
        if let Some(spot) = look.spot(event) {
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

    /// The search begins anew.
    pub fn begin_anew(&mut self) {
        *self = Covered::default();
    }

    /// For the report: lines by races, the most first.
    pub fn coverage(&self, model: &Model) -> Coverage {
        // One line may have several instructions.
        let mut places: BTreeMap<String, u64> = BTreeMap::new();
        for (&spot, races) in &self.lines {
            if let Some(place) = model.place(spot) {
                *places.entry(place).or_default() += races;
            }
        }
        let lines = places.into_iter();
        let mut lines: Vec<Line> = lines
            .map(|(location, races)| Line { location, races })
            .collect();
        lines.sort_by(|a, b| (b.races, &a.location).cmp(&(a.races, &b.location)));
        Coverage {
            looked_at: self.looked_at,
            races: self.races,
            most_races: self.most_races,
            lines,
        }
    }

    /// What may be a mistake in a model that is verified, and took so many executions.
    pub fn warnings(&self, executions: u64, model: &Model) -> Vec<String> {
        if self.most_races > 0 {
            return self.unshared(model);
        }
        let is_known = self.executions == executions;
        let warning = "no two operations race: the order of the threads makes no difference to this model, so it checks \
                       no more than a test without it";
        is_known.then(|| warning.to_owned()).into_iter().collect()
    }

    /// Objects that only one thread uses, by the places where they are made.
    fn unshared(&self, model: &Model) -> Vec<String> {
        let mut places: BTreeMap<String, Vec<Users>> = BTreeMap::new();
        for (object, spot) in self.made.iter().enumerate() {
            if let Some(place) = spot.and_then(|spot| model.place(spot)) {
                places
                    .entry(place)
                    .or_default()
                    .extend(self.users_of(object));
            }
        }
        let only = places.into_iter().filter_map(|(place, users)| {
            let &Users::One(_, kind) = users.first()? else {
                return None;
            };
            let is_shared = users.iter().any(|users| matches!(users, Users::Several));
            (!is_shared).then_some((place, kind))
        });
        only.map(|(place, kind)| {
            let kind = runtime::kind_of_object(kind);
            format!("{kind} that is made at {place} is used by one thread only")
        })
        .collect()
    }

    /// Who uses the parts of an object, which have consecutive ids; what lies behind them is of no object.
    fn users_of(&self, object: usize) -> impl Iterator<Item = Users> {
        let is_other = |&id: &usize| self.made.get(id).copied().flatten().is_none();
        let others = (object + 1..object + MOST_PARTS).take_while(is_other);
        let parts = std::iter::once(object).chain(others);
        parts.filter_map(|id| self.users.get(id).copied().flatten())
    }
}

/// No object has more parts.
const MOST_PARTS: usize = 4;

/// Whether it is done to an object that a program makes in order to share it.
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
        | OpKind::ClosedCheck => true,
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
        | OpKind::StateRead
        | OpKind::StateWrite
        | OpKind::Segment
        | OpKind::Fence
        | OpKind::Choose => false,
    }
}
