//! The values that atomic variables have had in an execution. Under a weak memory model, a read may
//! return an old value (a stale read). The memory of a variable holds the last value in coherence
//! order, so that code with exclusive access finds this value there.

use crate::engine::Engine;
use crate::engine::model::Model;
use crate::engine::place::Place;
use crate::rust::atomic::Value;
use crate::trace::source::Spot;
use explore::{
    EventId, Execution, Halt, MemoryModel, MemoryOrder, ObjectId, OpKind, Pending, ReadsFrom,
    Request, ThreadId,
};
use report::{LeftOut, Omission, Restart};
use rustc_hash::FxHashMap;
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering;

/// The bytes of a value. All types of atomic variables have at most this size.
type Bytes = [MaybeUninit<u8>; 16];

/// The kind of a memory access that is an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sort {
    Atomic,
    Volatile,
    /// An access to a word of memory that belongs to the checker. All accesses to such a word are
    /// ordered with each other.
    Own,
}

/// The values of all variables in an execution.
#[derive(Default)]
pub(crate) struct Versions {
    /// Indexed by event. `None` stands for an event that wrote no variable.
    written: Vec<Option<(ObjectId, Bytes)>>,
    /// Indexed by object.
    variables: Vec<Variable>,
    /// Indexed by thread.
    last: Vec<Option<LastWrite>>,
}

#[derive(Clone, Copy, Default)]
struct Variable {
    /// The value before the first write, once it is known.
    initial: Option<Bytes>,
    /// The write that is the last one in coherence order.
    newest: Option<EventId>,
    /// For memory that was written plainly after atomic accesses: its current object, and how often
    /// its object was replaced. This is stored with the memory's first object.
    renewed: Option<(ObjectId, u32)>,
    /// The sort of the first access, for memory of native programs.
    sort: Option<Sort>,
    /// The threads that have stored the value that was already there, perhaps in a round of a loop
    /// ([`bit`]).
    stored_again: u64,
}

/// Returns the bit of a thread in a set of threads. The last bit stands for all threads from 63 on.
fn bit(thread: ThreadId) -> u64 {
    1 << thread.index().min(63)
}

/// The last write of a thread, and the length of the run of equal stores that ends with it.
#[derive(Clone, Copy)]
struct LastWrite {
    object: ObjectId,
    event: EventId,
    count: u32,
}

/// A thread is assumed to wait in a loop if it has stored the same value this many times in
/// succession and has visited a place where a round may begin.
const MANY: u32 = 8;

/// What cannot be checked under a weak memory model, because the await rule does not know whether a
/// store in a loop changes anything: this depends on the position of other stores.
const AGAIN: &str = "loops that store the same value again while other threads store other values";

impl Versions {
    pub(crate) fn clear(&mut self) {
        self.written.clear();
        self.variables.clear();
        self.last.clear();
    }

    /// Copies what [`restore`](Versions::restore) cannot derive from the current execution.
    pub(crate) fn save(&self, saved: &mut Versions) {
        saved.variables.clone_from(&self.variables);
        saved.last.clone_from(&self.last);
    }

    /// Restores the state after the first `events` events of the current execution.
    pub(crate) fn restore(&mut self, saved: &Versions, events: usize) {
        self.written.truncate(events);
        self.variables.clone_from(&saved.variables);
        self.last.clone_from(&saved.last);
    }

    fn variable(&mut self, object: ObjectId) -> &mut Variable {
        if self.variables.len() <= object.index() {
            self.variables
                .resize_with(object.index() + 1, Variable::default);
        }
        &mut self.variables[object.index()]
    }

    /// Notes an access to an object. Returns whether the access is of the same sort as the first
    /// access to the object.
    pub(crate) fn are_all(&mut self, object: ObjectId, sort: Sort) -> bool {
        *self.variable(object).sort.get_or_insert(sort) == sort
    }

    /// Returns the value that memory holds if all writes since the first access were atomic, or
    /// `None` if no value is known.
    fn newest<V: Value>(&self, object: ObjectId) -> Option<V> {
        let variable = self.variables.get(object.index())?;
        let bytes = match variable.newest {
            Some(write) => self.written_by(write, object)?,
            None => variable.initial.as_ref()?,
        };
        Some(value(bytes))
    }

    /// Returns the value that the event wrote to the object, if it wrote to the object.
    fn written_by(&self, write: EventId, object: ObjectId) -> Option<&Bytes> {
        let (written, bytes) = self.written.get(write.index())?.as_ref()?;
        (*written == object).then_some(bytes)
    }

    /// Returns the event that wrote the newest value, if one has.
    fn newest_write(&self, object: ObjectId) -> Option<EventId> {
        self.variables.get(object.index())?.newest
    }
}

/// Converts an ordering of `std` into one of `explore`.
pub(crate) fn memory_order(order: Ordering) -> MemoryOrder {
    match order {
        Ordering::Relaxed => MemoryOrder::Relaxed,
        Ordering::Acquire => MemoryOrder::Acquire,
        Ordering::Release => MemoryOrder::Release,
        Ordering::AcqRel => MemoryOrder::AcqRel,
        _ => MemoryOrder::SeqCst,
    }
}

fn bytes<V: Value>(value: V) -> Bytes {
    const {
        assert!(
            size_of::<V>() <= size_of::<Bytes>(),
            "a value has at most 16 bytes"
        )
    };
    let mut bytes = [MaybeUninit::uninit(); 16];
    // SAFETY: the value fits, and any bytes are valid there.
    unsafe { bytes.as_mut_ptr().cast::<V>().write_unaligned(value) };
    bytes
}

fn value<V: Value>(bytes: &Bytes) -> V {
    // SAFETY: the bytes are those of a value of this type, since a variable has one type.
    unsafe { bytes.as_ptr().cast::<V>().read_unaligned() }
}

impl Engine {
    /// Returns whether reads may read old values.
    #[inline(always)]
    pub(crate) fn is_weak(&self) -> bool {
        self.guests.native.is_weak
    }

    /// Returns the value that the current operation reads from its variable, whose memory holds
    /// `newest`.
    #[inline(always)]
    pub(crate) fn value_read<V: Value>(&mut self, newest: V) -> V {
        match self.reads_from == ReadsFrom::LAST {
            true => newest,
            false => self.version(newest),
        }
    }

    /// Records that the current operation writes `value` to its variable, whose memory holds
    /// `newest`. Returns whether the memory holds the value from now on.
    #[inline(always)]
    pub(crate) fn is_written<V: Value>(&mut self, newest: V, value: V) -> bool {
        match self.reads_from == ReadsFrom::LAST {
            true => true,
            false => self.add_version(newest, value),
        }
    }

    #[cold]
    fn version<V: Value>(&mut self, newest: V) -> V {
        if self.is_tearing_down {
            return newest;
        }
        let versions = &mut self.guests.versions;
        let variable = versions.variable(self.op.object);
        let initial = *variable.initial.get_or_insert_with(|| bytes(newest));
        let found = match self.reads_from.event() {
            Some(write) => versions.written_by(write, self.op.object),
            None if self.reads_from == ReadsFrom::INITIAL => Some(&initial),
            None => return newest,
        };
        // A schedule from a file may name an event that did not write this object.
        let Some(found) = found else {
            self.life.has_unfit_source = true;
            self.coarsen(Restart::FirstExecution);
            return newest;
        };
        value(found)
    }

    #[cold]
    fn add_version<V: Value>(&mut self, newest: V, value: V) -> bool {
        if self.is_tearing_down {
            return true;
        }
        let (event, object) = (self.event(), self.op.object);
        let may_wait = !self.thread().life.guests.round.visits.is_empty();
        let versions = &mut self.guests.versions;
        let variable = versions.variable(object);
        variable.initial.get_or_insert_with(|| bytes(newest));
        let is_newest = match self.reads_from {
            ReadsFrom::NEWEST => true,
            ReadsFrom::OVERWRITTEN => false,
            source => variable.newest == source.event(),
        };
        if is_newest {
            variable.newest = Some(event);
            if may_wait && self.op.kind == OpKind::Store && newest == value {
                variable.stored_again |= bit(self.running);
            }
        }
        let differs = !is_newest && newest != value;
        let stored_again = variable.stored_again;
        if versions.written.len() <= event.index() {
            versions.written.resize(event.index() + 1, None);
        }
        versions.written[event.index()] = Some((object, bytes(value)));
        let is_repeated = self.is_stored_often(object, value);
        if differs && (is_repeated || self.is_any_halted_in_a_loop(stored_again)) {
            self.leave_out_stale_values(AGAIN);
            self.needs_sc(AGAIN);
        }
        is_newest
    }

    /// Records a write. Checks whether the thread has written nothing but this value for some time.
    /// In a loop, such stores may all be placed before a different value. The await rule, which
    /// compares them with the newest value, would then never end the loop.
    fn is_stored_often<V: Value>(&mut self, object: ObjectId, stored: V) -> bool {
        let (event, index) = (self.event(), self.running.index());
        let versions = &mut self.guests.versions;
        if versions.last.len() <= index {
            versions.last.resize(index + 1, None);
        }
        let is_same = |last: &LastWrite| {
            let is_store = self.op.kind == OpKind::Store && last.object == object;
            is_store && versions.written_by(last.event, object).map(value) == Some(stored)
        };
        let may_wait = !self.threads[index].life.guests.round.visits.is_empty();
        let same = versions.last[index].filter(is_same);
        let count = same.map_or(1, |last| last.count + 1);
        versions.last[index] = Some(LastWrite {
            object,
            event,
            count,
        });
        may_wait && count >= MANY
    }

    /// Checks whether the await rule has halted one of these threads. If the last round of such a
    /// thread has stored a value again, a store that is placed between the two stores turns the
    /// second one into an effect. Then the thread should not have been halted.
    fn is_any_halted_in_a_loop(&self, threads: u64) -> bool {
        let mut started = self.started().iter();
        threads != 0
            && started.any(|&thread| {
                let pending = &self.life.pending[thread.index()];
                threads & bit(thread) != 0 && matches!(pending, Pending::Halted(Halt::Await))
            })
    }

    /// Refuses an event that cannot be checked under a weak memory model. If the search has chosen
    /// the model itself, it starts again under sequential consistency, with a warning.
    #[cold]
    pub(crate) fn needs_sc(&mut self, what: &str) {
        if !self.is_weak() {
            return;
        }
        let Some((_, place)) = self.names.chosen_memory() else {
            let memory = self.config.conditions.memory;
            return self.refuse_event(format!(
                "{what} cannot be checked under {memory}; choose the memory model sc"
            ));
        };
        let place = place.to_owned();
        self.guests.warnings.get_mut().insert(format!(
            "{what} are checked under sequential consistency only"
        ));
        self.names.choose_memory(MemoryModel::Sc, place);
        self.coarsen(Restart::WeakOrdering);
    }

    /// Records that accesses do not read all old values that the program could read, unless the
    /// user has chosen sequential consistency.
    #[cold]
    pub(crate) fn leave_out_stale_values(&mut self, why: &str) {
        if self.config.conditions.memory == MemoryModel::Sc {
            return;
        }
        let left_out = LeftOut::new(Omission::Memory, why);
        self.guests.left_out.get_mut().insert(left_out);
    }

    /// Returns the current object of a variable whose memory holds `found`. Memory that was written
    /// plainly since its last atomic access becomes a new object: without a data race, all earlier
    /// accesses happen before all later ones, so none of the old values can be read.
    pub(crate) fn renewed<V: Value>(&mut self, first: ObjectId, found: V) -> ObjectId {
        let versions = &self.guests.versions;
        let known = versions.variables.get(first.index());
        let renewed = known.and_then(|variable| variable.renewed);
        let (object, count) = renewed.unwrap_or((first, 0));
        if versions
            .newest::<V>(object)
            .is_none_or(|held| held == found)
        {
            return object;
        }
        let object = self.names.renewed(first, count + 1);
        self.guests.versions.variable(first).renewed = Some((object, count + 1));
        object
    }

    /// Returns `before` followed by the ordering as a report shows it. Returns an empty string if
    /// nothing is recorded or the memory model does not distinguish orderings.
    pub(crate) fn shown_order(&self, order: Ordering, before: &str) -> String {
        if !self.watch.records || !self.config.conditions.memory.is_weak() {
            return String::new();
        }
        format!("{before}{}", self.ordering_name(memory_order(order)))
    }

    /// Returns what a report adds to a store: whether a store that the execution has already
    /// performed comes later in coherence order.
    pub(crate) fn shown_position(&self) -> &'static str {
        match self.reads_from == ReadsFrom::OVERWRITTEN {
            true => " (already overwritten)",
            false => "",
        }
    }

    /// Returns the name of an ordering in the language of the program.
    fn ordering_name(&self, order: MemoryOrder) -> &'static str {
        let [rust, c] = match order {
            MemoryOrder::Relaxed => ["Relaxed", "relaxed"],
            MemoryOrder::Acquire => ["Acquire", "acquire"],
            MemoryOrder::Release => ["Release", "release"],
            MemoryOrder::AcqRel => ["AcqRel", "acq_rel"],
            MemoryOrder::SeqCst | MemoryOrder::Object => ["SeqCst", "seq_cst"],
        };
        match self.config.native {
            Some(_) => c,
            None => rust,
        }
    }

    /// Processes the ordering of an operation before its announcement. Records the ordering if the
    /// choice of the memory model depends on it, and strengthens it during the search for a repair.
    /// A `place` of `None` stands for the current place of the thread.
    #[inline(always)]
    pub(crate) fn process_ordering(&mut self, request: &mut Request, place: Option<Place>) {
        if request.order.is_weaker() || request.on_failure.is_weaker() {
            self.process_weak_ordering(request, place);
        }
    }

    #[cold]
    fn process_weak_ordering(&mut self, request: &mut Request, place: Option<Place>) {
        let chooses = self.config.conditions.memory == MemoryModel::Auto && request.op.is_access();
        if !chooses && self.guests.strengthening.is_none() {
            return;
        }
        let spot = place.map_or_else(|| self.own_spot(), Spot::Source);
        match chooses {
            true => {
                let weak = &mut self.guests.weak_orderings;
                weak.entry(request.op.object).or_insert(spot);
            }
            false => self.strengthen(request, spot),
        }
    }

    /// Checks whether the object holds what the current operation has written.
    pub(crate) fn is_newest(&self) -> bool {
        match self.reads_from {
            ReadsFrom::LAST | ReadsFrom::NEWEST => true,
            ReadsFrom::OVERWRITTEN => false,
            _ => self.guests.versions.newest_write(self.op.object) == Some(self.event()),
        }
    }

    /// Under a weak memory model, sets the release sequence of the variable to that of the value
    /// that is read.
    pub(crate) fn take_version(&mut self) {
        if self.reads_from != ReadsFrom::LAST {
            let (object, source) = (self.op.object, self.reads_from.event());
            self.guests.happens_before.take_version(object, source);
        }
    }

    /// Under a weak memory model, keeps the release sequence of the value that was written.
    pub(crate) fn keep_version(&mut self) {
        if self.reads_from != ReadsFrom::LAST {
            let (object, event) = (self.op.object, self.event());
            self.guests.happens_before.keep_version(object, event);
        }
    }
}

impl Model {
    /// Returns the name of an ordering in the language of the program.
    pub fn ordering_name(&self, order: MemoryOrder) -> &'static str {
        self.engine().ordering_name(order)
    }

    /// Returns the place of an access with an ordering weaker than `SeqCst`, if several threads
    /// access its object in this execution. Always returns `None` unless the model is
    /// [`MemoryModel::Auto`].
    pub fn weak_ordering(&self, execution: &Execution) -> Option<String> {
        let weak = &self.engine().guests.weak_orderings;
        if weak.is_empty() {
            return None;
        }
        let mut accessed: FxHashMap<ObjectId, ThreadId> = FxHashMap::default();
        let mut events = execution.events();
        let is_shared = events.find_map(|(_, event)| {
            let spot = weak.get(&event.op.object)?;
            let first = accessed.entry(event.op.object).or_insert(event.thread());
            (*first != event.thread()).then_some(*spot)
        });
        let spot = is_shared?;
        let place = self.engine().shown_spot(spot);
        Some(place.unwrap_or_else(|| "a place without a name".to_owned()))
    }

    /// Chooses the memory model and records the reason. The search starts again.
    pub fn choose_memory(&mut self, memory: MemoryModel, why: String) {
        let engine = self.engine_mut();
        engine.names.choose_memory(memory, why);
        engine.coarsen(Restart::WeakOrdering);
        self.set_memory(memory);
    }

    /// Stays with sequential consistency although there is a weaker ordering at this place.
    pub fn stay_sequentially_consistent(&mut self, place: String) {
        let names = &mut self.engine_mut().names;
        names.choose_memory(MemoryModel::Sc, place);
        self.set_memory(MemoryModel::Sc);
    }

    /// Checks whether reads may return old values.
    pub fn is_weak(&self) -> bool {
        self.engine().is_weak()
    }

    /// Sets the memory model of the next executions.
    pub fn set_memory(&mut self, memory: MemoryModel) {
        let engine = self.engine_mut();
        engine.config.conditions.memory = memory;
        engine.guests.native.is_weak = memory.is_weak();
        engine.guests.native.has_orderings = memory != MemoryModel::Sc;
        engine.guests.weak_orderings.clear();
    }
}
