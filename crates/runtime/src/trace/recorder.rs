//! The record of an execution, as shown to users.

pub(crate) mod states;
mod wording;

pub use wording::kind_of_object;

use crate::engine::Engine;
use crate::engine::place::Place;
use crate::rust::atomic::Value;
use crate::trace::source::Spot;
use explore::{EventId, ObjectId, Op, OpKind, ThreadId, ValueId};
use objects::Ticket;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The events of an execution as text, and the names of its objects.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) events: Vec<Recorded>,
    /// The *touches*: accesses to plain memory, which are not events. Each has the number of events
    /// that had begun before it.
    pub(crate) touches: Vec<(usize, Recorded)>,
    /// Indices of entries in `touches` that are not accesses, but messages (notes) of the program.
    pub(crate) notes: Vec<u32>,
    /// The touches of the first data race, in order.
    pub(crate) race: Option<[u32; 2]>,
    /// The names of objects by their first ids.
    objects: BTreeMap<ObjectId, String>,
    /// Names of pieces of plain memory by their numbers.
    memory: BTreeMap<u32, String>,
    /// The ids of the addresses that were shown, in order of appearance.
    pointers: Vec<ValueId>,
    /// The numbers of the touches since the last event by the thread that touched memory last.
    /// Loops repeat these touches.
    repeatable: FxHashMap<NativeTouch, u32>,
    /// The thread and the place of the current event. `None` between events.
    thread: Option<(ThreadId, Spot)>,
    /// The text of the current event, if it is not the default text of its kind.
    text: Option<String>,
    /// The variable of the current event, and its value afterwards.
    variable: Option<(String, String)>,
    /// The content, after the event, of the current event's object or of its container.
    stock: Option<(ObjectId, String)>,
    /// Whether a failure has appeared in the current event.
    failed: bool,
    /// As in [`Recorded`], for the current event.
    sent_to: Option<ThreadId>,
    /// As in [`Recorded`], for the current event.
    sent_in: Option<EventId>,
    /// The events that sent letters (messages) through networks, by network and letter.
    sends: BTreeMap<(u32, Ticket), EventId>,
    /// For each thread that a call (`call_at`) has started and that has no events yet: the event of
    /// the call.
    calls: BTreeMap<ThreadId, EventId>,
    /// The place where each thread took each lock. A release is shown with this place, because most
    /// releases are the drop of a guard, which has no line.
    taken: BTreeMap<(ThreadId, ObjectId), Spot>,
}

/// A touch of memory by address: the address of the code, the granule (eight aligned bytes), the
/// touched bytes in it, and the kind of access.
type NativeTouch = (usize, usize, u8, &'static str);

pub(crate) struct Recorded {
    pub(crate) thread: ThreadId,
    pub(crate) location: Spot,
    pub(crate) text: String,
    /// The variable of the event, and its value after the event.
    pub(crate) variable: Option<(String, String)>,
    /// The content, after the event, of its object or of its container, such as `2 permits`.
    pub(crate) stock: Option<(ObjectId, String)>,
    /// Whether a failure appeared in the event.
    pub(crate) failed: bool,
    /// The receiver of the message or result that the event sent or delivered.
    pub(crate) sent_to: Option<ThreadId>,
    /// The event that sent the received message or result, or that called the thread.
    pub(crate) sent_in: Option<EventId>,
}

impl Recorder {
    /// Forgets everything.
    pub(crate) fn begin(&mut self) {
        *self = Recorder::default();
    }

    /// Returns the number of events that have begun.
    fn position(&self) -> usize {
        self.events.len() + usize::from(self.thread.is_some())
    }

    /// Returns the number of an equal touch since the last event. Returns `None` if there is none,
    /// or if another thread has touched memory after it.
    fn repeated(&mut self, thread: ThreadId, touch: NativeTouch) -> Option<u32> {
        let (position, last) = self.touches.last()?;
        if *position != self.position() || last.thread != thread {
            self.repeatable.clear();
        }
        self.repeatable.get(&touch).copied()
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn begin_event(&mut self, thread: ThreadId, location: Spot) {
        self.thread = Some((thread, location));
        self.text = None;
        self.variable = None;
        self.stock = None;
        self.failed = false;
        self.sent_to = None;
        self.sent_in = self.calls.remove(&thread);
    }

    /// Records that the current event, whose id is `call`, calls the thread `callee`.
    pub(crate) fn record_call_of(&mut self, callee: ThreadId, call: EventId) {
        self.record_arrival(callee);
        self.calls.insert(callee, call);
    }

    /// Records that the current event gets the result of `callee`. The last event of `callee` is
    /// shown as the one that sent the result.
    pub(crate) fn record_return_of(&mut self, callee: ThreadId) {
        let awaiting = self.thread.map(|(thread, _)| thread);
        let last = self
            .events
            .iter()
            .rposition(|recorded| recorded.thread == callee);
        if let Some(last) = last {
            let sent_to = &mut self.events[last].sent_to;
            *sent_to = sent_to.or(awaiting);
            self.sent_in = Some(EventId::at(last));
        }
    }

    /// Records that the current event delivers a message to the thread.
    pub(crate) fn record_arrival(&mut self, to: ThreadId) {
        self.sent_to = Some(to);
    }

    /// Records that the current event receives a message that the event `arrival` delivered.
    pub(crate) fn record_receipt(&mut self, arrival: EventId) {
        self.sent_in = Some(arrival);
    }

    /// Records that the event `send` sends a letter through a network.
    pub(crate) fn record_send(&mut self, letter: (u32, Ticket), send: EventId) {
        self.sends.insert(letter, send);
    }

    /// Records that the current event delivers this letter.
    pub(crate) fn record_delivery(&mut self, letter: (u32, Ticket)) {
        if let Some(send) = self.sends.get(&letter) {
            self.events[send.index()].sent_to = self.sent_to;
        }
    }

    /// Records that the current event receives this letter, which a network delivered.
    pub(crate) fn record_origin(&mut self, letter: (u32, Ticket)) {
        if let Some(&send) = self.sends.get(&letter) {
            self.sent_in = Some(send);
        }
    }

    pub(crate) fn end_event(&mut self, op: Op) {
        let (thread, location) = self.thread.take().expect("an event that ends has begun");
        let text = self
            .text
            .take()
            .unwrap_or_else(|| wording::plain_text(&self.object_name(op.object, op.kind), op.kind));
        let text = text + &self.taken_in(op, thread, location);
        self.events.push(Recorded {
            thread,
            location,
            text,
            variable: self.variable.take(),
            stock: self.stock.take(),
            failed: self.failed,
            sent_to: self.sent_to,
            sent_in: self.sent_in,
        });
    }

    /// Records where a lock is taken. For the release of a lock, returns a text with the line where
    /// the lock was taken. Returns an empty string if the line is not known, and for other
    /// operations.
    fn taken_in(&mut self, op: Op, thread: ThreadId, location: Spot) -> String {
        use OpKind::{
            MutexRequest, MutexTryPlace, MutexUnlock, ReadRelease, ReadRequest, TryRead, TryWrite,
            WriteRelease, WriteRequest,
        };
        // The first part of a lock identifies it.
        let Some((&lock, _)) = self.objects.range(..=op.object).next_back() else {
            return String::new();
        };
        let key = (thread, lock);
        let takes = [
            MutexRequest,
            MutexTryPlace,
            ReadRequest,
            WriteRequest,
            TryRead,
            TryWrite,
        ];
        if takes.contains(&op.kind) {
            self.taken.insert(key, location);
        }
        let gives_back = [MutexUnlock, ReadRelease, WriteRelease].contains(&op.kind);
        match self.taken.get(&key).filter(|_| gives_back) {
            Some(Spot::Source(place)) => format!(", taken in line {}", place.line()),
            Some(Spot::Code(_)) | None => String::new(),
        }
    }

    /// Marks the current event as one in which a failure appears.
    pub(crate) fn mark_failed(&mut self) {
        self.failed = true;
    }

    /// Records the first two touches that race. Ignores later races.
    pub(crate) fn record_race(&mut self, earlier: u32, later: u32) {
        if let (None, Some((_, later_one))) = (self.race, self.touches.get_mut(later as usize)) {
            later_one.failed = true;
            self.race = Some([earlier, later]);
        }
    }

    /// Returns the events in which failures appeared.
    pub(crate) fn failed(&self) -> impl DoubleEndedIterator<Item = EventId> {
        let events = self.events.iter().enumerate();
        events
            .filter(|(_, event)| event.failed)
            .map(|(position, _)| EventId::at(position))
    }

    /// Formats a value for users. Addresses vary by process, so they are numbered in order of
    /// appearance.
    fn shown<V: Value>(&mut self, value: V) -> String {
        let token = value.token();
        if !V::IS_POINTER {
            return format!("{value:?}");
        }
        if token == ValueId::default() {
            return "null".to_owned();
        }
        let known = self.pointers.iter().position(|&known| known == token);
        let number = known.unwrap_or_else(|| {
            self.pointers.push(token);
            self.pointers.len() - 1
        });
        format!("ptr#{}", number + 1)
    }

    /// Returns the first id of the object that this id is a part of.
    pub(crate) fn first_part(&self, object: ObjectId) -> ObjectId {
        let known = self.objects.range(..=object).next_back();
        known.map_or(object, |(&first, _)| first)
    }

    /// Returns the name of an object for users: usually its type and the place of its creation, or
    /// the name that the program has chosen. An object without a recorded name is named by its
    /// kind. `ObjectId::NONE` has an empty name.
    pub(crate) fn object_name(&self, object: ObjectId, kind: OpKind) -> String {
        if object == ObjectId::NONE {
            return String::new();
        }
        match self.objects.range(..=object).next_back() {
            Some((_, name)) => name.clone(),
            None => kind_of_object(kind).to_owned(),
        }
    }
}

impl Engine {
    /// Sets the text of the current event, given the name of its object.
    #[inline]
    pub(crate) fn record(&mut self, text: impl FnOnce(&str) -> String) {
        if self.watch.records {
            let name = self
                .guests
                .recorder
                .object_name(self.op.object, self.op.kind);
            self.guests.recorder.text = Some(text(&name));
        }
    }

    /// Sets the text of the current event, given its values. `afterwards` is the index of the value
    /// that the variable has after the event.
    #[inline]
    pub(crate) fn record_values<V: Value, const N: usize>(
        &mut self,
        values: [V; N],
        afterwards: usize,
        text: impl FnOnce(&str, [String; N]) -> String,
    ) {
        if self.watch.records {
            let values = values.map(|value| self.guests.recorder.shown(value));
            let name = self
                .guests
                .recorder
                .object_name(self.op.object, self.op.kind);
            self.record_variable(name, values[afterwards].clone());
            self.record(|name| text(name, values));
        }
    }

    /// Records the content, after the event, of the current event's object or of its container.
    pub(crate) fn record_stock(&mut self, object: ObjectId, stock: String) {
        self.guests.recorder.stock = Some((object, stock));
    }

    /// Records that the current event is not an access to a variable, but a call that `text`
    /// describes.
    pub(crate) fn record_call(&mut self, text: impl FnOnce() -> String) {
        if self.watch.records {
            self.guests.recorder.variable = None;
            self.guests.recorder.text = Some(text());
        }
    }

    /// Records the variable of the current event, and its value after the event.
    pub(crate) fn record_variable(&mut self, name: String, value: String) {
        self.guests.recorder.variable = Some((name, value));
    }

    /// Records a plain access to memory by the running thread. Returns the number of the touch.
    #[cold]
    pub(crate) fn record_touch(&mut self, memory: u32, location: Place, kind: &str) -> u32 {
        let name = self.guests.recorder.memory.get(&memory);
        let text = format!("{}.{kind}()", name.map_or("plain memory", String::as_str));
        self.add_touch(Spot::Source(location), text)
    }

    /// Records a touch of memory named by address. `bytes` has a bit for each touched byte of the
    /// granule. Returns the number of the touch, or that of an equal earlier touch.
    #[cold]
    pub(crate) fn record_native_touch(
        &mut self,
        granule: usize,
        bytes: u8,
        kind: &'static str,
    ) -> u32 {
        let key = (self.thread().life.code, granule, bytes, kind);
        if let Some(number) = self.guests.recorder.repeated(self.running, key) {
            return number;
        }
        let address = granule + bytes.trailing_zeros() as usize;
        let length = bytes.count_ones() as usize;
        let name = match self.config.native {
            Some(native) => native.source_map.variable(address, length),
            None => "memory".to_owned(),
        };
        let spot = self.own_spot();
        let number = self.add_touch(spot, format!("{kind} of {name}"));
        self.guests.recorder.repeatable.insert(key, number);
        number
    }

    /// Records a message of the program.
    pub(crate) fn record_note(&mut self, location: Place, text: String) {
        let note = self.add_touch(Spot::Source(location), text);
        self.guests.recorder.notes.push(note);
    }

    fn add_touch(&mut self, location: Spot, text: String) -> u32 {
        let touch = Recorded {
            thread: self.running,
            location,
            text,
            variable: None,
            stock: None,
            failed: false,
            sent_to: None,
            sent_in: None,
        };
        let recorder = &mut self.guests.recorder;
        let before = recorder.position();
        recorder.touches.push((before, touch));
        u32::try_from(recorder.touches.len() - 1)
            .expect("an execution has fewer than 2^32 accesses")
    }

    /// Appends the result of the current event to its text.
    pub(crate) fn record_result(&mut self, result: &str) {
        if let Some(text) = self
            .guests
            .recorder
            .text
            .as_mut()
            .filter(|_| self.watch.records)
        {
            text.push_str(" -> ");
            text.push_str(result);
        }
    }

    /// Sets the text of the current event, given the name of the thread that the event concerns.
    #[inline]
    pub(crate) fn record_thread(&mut self, thread: ThreadId, text: impl FnOnce(&str) -> String) {
        if self.watch.records {
            self.guests.recorder.text = Some(text(&self.thread_name(thread)));
        }
    }

    /// Names an object that was created.
    #[inline]
    pub(crate) fn name_object(&mut self, object: ObjectId, kind: &str, location: Place) {
        if self.watch.records_or_samples {
            self.add_name(object, kind, location);
        }
    }

    /// Names an object that a library created.
    pub(crate) fn name_internal(&mut self, object: ObjectId, name: &str) {
        if self.watch.records {
            let objects = &mut self.guests.recorder.objects;
            let name = distinct(objects.values(), name.to_owned());
            objects.insert(object, name);
        }
    }

    /// Gives an object the name that the program has chosen, and renames its parts accordingly.
    pub(crate) fn rename(&mut self, object: ObjectId, name: &str) {
        if !self.watch.records {
            return;
        }
        let objects = &mut self.guests.recorder.objects;
        let name = distinct(objects.values(), name.to_owned());
        if let Some(before) = objects.insert(object, name.clone()) {
            let part = format!("{before}.");
            for other in objects
                .values_mut()
                .filter(|other| other.starts_with(&part))
            {
                *other = format!("{name}.{}", &other[part.len()..]);
            }
        }
    }

    /// Names an object that is a part of another object.
    pub(crate) fn name_part(&mut self, part: ObjectId, whole: ObjectId, name: &str) {
        if self.watch.records {
            let objects = &mut self.guests.recorder.objects;
            let whole = objects.get(&whole).map_or("a lock", String::as_str);
            let name = format!("{whole}.{name}");
            objects.insert(part, name);
        }
    }

    /// Names an object that was created at an address.
    pub(crate) fn name_object_at(&mut self, object: ObjectId, address: usize, length: usize) {
        if let (true, Some(native)) = (self.watch.records, self.config.native) {
            let name = native.source_map.variable(address, length);
            self.guests.recorder.objects.insert(object, name);
        }
    }

    #[cold]
    fn add_name(&mut self, object: ObjectId, kind: &str, location: Place) {
        if self.watch.samples {
            self.sample_object(object, location);
        }
        if !self.watch.records {
            return;
        }
        let objects = &mut self.guests.recorder.objects;
        let name = distinct_name(objects.values(), kind, location);
        objects.insert(object, name);
    }

    /// Names plain memory that was created.
    #[inline]
    pub(crate) fn name_memory(&mut self, number: u32, kind: &str, location: Place) {
        if self.watch.records {
            let memory = &mut self.guests.recorder.memory;
            let name = distinct_name(memory.values(), kind, location);
            memory.insert(number, name);
        }
    }

    /// Gives plain memory the name that the program has chosen.
    pub(crate) fn rename_memory(&mut self, number: u32, name: &str) {
        if self.watch.records {
            let memory = &mut self.guests.recorder.memory;
            let name = distinct(memory.values(), name.to_owned());
            memory.insert(number, name);
        }
    }

    /// Records that a panic has begun in the running thread.
    pub(crate) fn panicked(&mut self) {
        self.guests.recorder.mark_failed();
    }
}

/// Returns a name such as `Mutex@a.rs:12`, with a number if other objects were created there.
fn distinct_name<'n>(
    others: impl Iterator<Item = &'n String>,
    kind: &str,
    location: Place,
) -> String {
    let file = location.file().rsplit(['/', '\\']).next();
    let name = format!("{kind}@{}:{}", file.unwrap_or_default(), location.line());
    distinct(others, name)
}

/// Returns the name, followed by a number if other objects have the same name.
pub(crate) fn distinct<'n>(others: impl Iterator<Item = &'n String>, name: String) -> String {
    let same = others.filter(|other| other.split('#').next() == Some(&name));
    match same.count() {
        0 => name,
        same => format!("{name}#{}", same + 1),
    }
}
