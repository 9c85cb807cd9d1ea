//! The full state of an execution, for algorithms that compare states.
//!
//! The stack of a coroutine cannot be compared. So a comparable thread is written as a state
//! machine that reports its local state, and each object reports its state, too. If every thread
//! and every object of an execution reports its state, the model has a fingerprint.

use crate::engine::Engine;
use crate::engine::perform::silently;
use explore::{Fingerprint, ObjectId, OpKind, Pending, ThreadId};
use objects::{Network, Routes};
use std::collections::BTreeMap;
use std::hash::Hash;

/// A function that returns the state of a thread or an object.
type ReadState = Box<dyn Fn() -> Fingerprint>;

/// Declares that the current thread is a state machine. `read_state` returns all of its local
/// state.
///
/// Call this at the start of the thread, before its first operation. From then on, `read_state` is
/// called while the thread waits at an operation. Two runs in which the thread waits at the same
/// operation and reported equal states must continue in the same way. So the state includes the
/// thread's position, and all values that the code keeps from one operation to a later operation.
/// It must not contain addresses, counters of steps of other threads, or anything else that depends
/// on the schedule.
///
/// `read_state` is called outside of the program, so it must not perform operations of a model.
///
/// The main thread need not report a state as long as it only starts and joins threads. Without the
/// states of all other threads and of all objects (see [`report_state_of`]) the model has no
/// fingerprint.
///
/// ```
/// use explore::{Program, Step, ThreadId};
/// use runtime::{Config, Model, Opaque, choose, forget, join, spawn, report_state};
/// use std::cell::Cell;
/// use std::rc::Rc;
///
/// /// The sum of two throws; `sum` is all that the thread knows between them.
/// fn throws() {
///     let sum = Rc::new(Cell::new(0));
///     let reported = Rc::clone(&sum);
///     report_state(move || reported.get());
///     for _ in 0..2 {
///         sum.set(sum.get() + choose(6));
///         forget(); // The throw itself is of no use any more.
///     }
/// }
///
/// let mut model = Model::new(Config::default(), || join(spawn(None, throws)).unwrap());
/// let mut state_after = |throws: [u32; 2]| {
///     let thread = ThreadId(1);
///     model.reset();
///     throws.map(|choice| model.step(Step::choosing(thread, choice)).map(drop).unwrap());
///     model.fingerprint().unwrap()
/// };
/// assert_eq!(state_after([1, 4]), state_after([3, 2]));
/// assert_ne!(state_after([1, 4]), state_after([3, 3]));
///
/// let closure = || drop(choose(2));
/// let mut model = Model::new(Config::default(), move || join(spawn(None, closure)).unwrap());
/// model.reset();
/// assert_eq!(model.fingerprint(), None);
/// assert_eq!(model.opaque(), Some(Opaque::Thread("T0".to_owned())));
/// ```
pub fn report_state<S: Eq + Hash + 'static>(read_state: impl Fn() -> S + 'static) {
    silently(|engine| {
        let thread = engine.running;
        let read_state: ReadState = Box::new(move || Fingerprint::of(read_state()));
        engine.guests.snapshots.threads.insert(thread, read_state);
        engine.watch.states = true;
    });
}

/// Registers `read_state`, which returns all state on which an object's operations depend. The
/// model itself tracks the threads that wait for the object.
///
/// A model has a fingerprint only if every object that was created in the execution reports its
/// state.
pub fn report_state_of<S: Eq + Hash + 'static>(
    object: ObjectId,
    read_state: impl Fn() -> S + 'static,
) {
    silently(|engine| {
        let read_state: ReadState = Box::new(move || Fingerprint::of(read_state()));
        let is_fresh = engine
            .guests
            .snapshots
            .objects
            .insert(object, read_state)
            .is_none();
        if is_fresh && engine.names.is_created(engine.running, object) {
            engine.guests.snapshots.created += 1;
        }
        engine.watch.states = true;
    });
}

/// Registers the state of a part of an object that is [named by a key](crate::State::part_of).
pub fn report_state_of_part<S: Eq + Hash + 'static>(
    part: ObjectId,
    read_state: impl Fn() -> S + 'static,
) {
    silently(|engine| {
        let read_state: ReadState = Box::new(move || Fingerprint::of(read_state()));
        engine.guests.snapshots.objects.insert(part, read_state);
        engine.watch.states = true;
    });
}

/// Adds a result of the current operation to the local state of the current thread, until the
/// thread [forgets](forget) it.
///
/// The position of the main thread and its results determine its behaviour. So its state is known
/// if all its operations, except starting and joining threads, pass their results to this function.
/// In a thread that [reports](report_state) its state, results stand for the values on its stack
/// that the reported state does not yet include.
pub fn learn<V: Clone + Eq + Hash + 'static>(value: &V) {
    silently(|engine| {
        let thread = engine.running;
        let is_main = thread == ThreadId::MAIN && engine.config.native.is_none();
        let snapshots = &mut engine.guests.snapshots;
        if is_main || snapshots.threads.contains_key(&thread) {
            let before = snapshots.learnt.remove(&thread);
            let learnt = Fingerprint::of((before, value.clone()));
            snapshots.learnt.insert(thread, learnt);
        }
    });
}

/// Removes the current thread's results, because its reported state includes them or they are not
/// needed.
pub fn forget() {
    silently(|engine| {
        let thread = engine.running;
        if thread != ThreadId::MAIN {
            engine.guests.snapshots.learnt.remove(&thread);
        }
    });
}

/// Returns how many operations the current thread has performed.
pub fn operations() -> u32 {
    silently(|engine| engine.thread().life.operations)
}

/// The reported states of the current execution.
#[derive(Default)]
pub(crate) struct Snapshots {
    threads: BTreeMap<ThreadId, ReadState>,
    objects: BTreeMap<ObjectId, ReadState>,
    /// The number of these objects that threads created. Other objects belong to a thread from its
    /// start.
    created: u32,
    /// Whether the main thread's state is unknown, because it got a result that it did not report.
    is_main_state_unknown: bool,
    /// For each thread: the digest of the results, in order, that its reported state does not
    /// include.
    learnt: BTreeMap<ThreadId, Fingerprint>,
}

impl Snapshots {
    /// Returns the reported states of these objects.
    pub(crate) fn states_of(
        &self,
        which: impl Fn(ObjectId) -> bool,
    ) -> Vec<(ObjectId, Fingerprint)> {
        let objects = self.objects.iter().filter(|(object, _)| which(**object));
        objects
            .map(|(&object, read_state)| (object, read_state()))
            .collect()
    }

    /// Abandons the execution. The closures that report states leak with the values that they own.
    pub(crate) fn forget(&mut self) {
        std::mem::forget(std::mem::take(&mut self.threads));
        std::mem::forget(std::mem::take(&mut self.objects));
    }

    /// Discards the execution and drops values of its threads, whose memory must still exist.
    pub(crate) fn clear(&mut self) {
        self.threads.clear();
        self.objects.clear();
        self.created = 0;
        self.is_main_state_unknown = false;
        self.learnt.clear();
    }
}

/// The reason why a state cannot be compared.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Opaque {
    /// A thread that does not report its state.
    #[error(
        "{0} is a closure, whose local state cannot be read: write it as a state machine (this includes a network that carries messages sent by a closure)"
    )]
    Thread(String),
    /// The main thread, which does more than start and join threads.
    #[error("the main thread does more than start and join threads, and does not report its state")]
    Main,
    /// Objects that do not report their state.
    #[error(
        "it uses objects that do not report their state: locks, atomic variables, park tokens, plain memory, mailboxes of processes that are closures…: write its parts as state machines (Behaviour, Task), or choose another algorithm"
    )]
    Object,
    /// The await rule compares stacks.
    #[error("the end of a loop with a spin hint depends on the stack, which cannot be compared")]
    Hint,
}

/// The full state of an execution.
#[derive(PartialEq, Eq, Hash)]
struct State {
    threads: Vec<ThreadState>,
    objects: Vec<(ObjectId, Fingerprint)>,
    networks: Vec<Routes>,
    failures: usize,
}

#[derive(PartialEq, Eq, Hash)]
pub(crate) struct ThreadState {
    thread: ThreadId,
    pending: Pending,
    local: Option<Fingerprint>,
    /// The digest of the results of the thread's operations that its local state does not include.
    learnt: Option<Fingerprint>,
    /// The message of the thread's panic, for the thread that joins it.
    panic: Option<String>,
    /// The number of the thread's operations, which has a bound. For a thread without a state, this
    /// is its position.
    operations: u32,
    /// The number of the thread's timeouts so far, which has a bound.
    expiries: u32,
    /// The numbers that determine the names of the thread's next child and next object.
    named: (u32, u32),
}

impl Engine {
    /// Returns why there is no fingerprint, if there is none.
    pub(crate) fn opaque(&self) -> Option<Opaque> {
        if !self.all_objects_report() {
            return Some(Opaque::Object);
        }
        if self.names.has_hints() {
            return Some(Opaque::Hint);
        }
        let closure = self.life.started.iter().find(|&&thread| {
            thread != ThreadId::MAIN && !self.guests.snapshots.threads.contains_key(&thread)
        });
        if let Some(&thread) = closure {
            return Some(Opaque::Thread(self.thread_name(thread)));
        }
        self.has_unknown_main().then_some(Opaque::Main)
    }

    /// Returns the full state, if every thread and every object reports it.
    pub(crate) fn fingerprint(&self) -> Option<Fingerprint> {
        if self.opaque().is_some() {
            return None;
        }
        let objects = self.guests.snapshots.objects.iter();
        let mut threads: Vec<ThreadState> = self
            .life
            .started
            .iter()
            .map(|&id| self.state_of(id))
            .collect();
        threads.sort_unstable_by_key(|state| state.thread);
        Some(Fingerprint::of(State {
            threads,
            objects: objects
                .map(|(&object, read_state)| (object, read_state()))
                .collect(),
            networks: self
                .life
                .objects
                .networks
                .iter()
                .map(Network::routes)
                .collect(),
            failures: self.guests.failures.len(),
        }))
    }

    pub(crate) fn state_of(&self, id: ThreadId) -> ThreadState {
        let thread = &self.threads[id.index()];
        ThreadState {
            thread: id,
            pending: self.life.pending[id.index()],
            local: self
                .guests
                .snapshots
                .threads
                .get(&id)
                .map(|read_state| read_state()),
            learnt: self.guests.snapshots.learnt.get(&id).cloned(),
            panic: self.panic_text(id),
            operations: thread.life.operations,
            expiries: thread.life.expiries,
            named: thread.named(),
        }
    }

    /// Checks whether all objects in use report their state. Settled objects, the tokens of `park`
    /// and plain memory never do.
    fn all_objects_report(&self) -> bool {
        let threads = || self.life.started.iter().map(|thread| thread.index());
        let created: u32 = threads().map(|thread| self.threads[thread].named().1).sum();
        created == self.guests.snapshots.created
            && self.guests.residents.count() == 0
            && threads().all(|thread| self.life.objects.parks[thread].is_unused())
            && self.guests.plain.is_empty()
    }

    /// Checks whether the main thread has state besides its position.
    fn has_unknown_main(&self) -> bool {
        self.guests.snapshots.is_main_state_unknown
            && self.life.pending[ThreadId::MAIN.index()] != Pending::Finished
            && !self.guests.snapshots.threads.contains_key(&ThreadId::MAIN)
    }

    /// Records whether the current operation of the main thread makes its state unknown.
    pub(crate) fn watch_main(&mut self) {
        // Choices and operations that await a future, perform a segment or use parts of a process
        // report their results. Sending a letter has no result.
        let is_position = matches!(
            self.op.kind,
            OpKind::Spawn
                | OpKind::Join
                | OpKind::End
                | OpKind::Segment
                | OpKind::Send
                | OpKind::StateRead
                | OpKind::StateWrite
                | OpKind::Choose
        );
        self.guests.snapshots.is_main_state_unknown |= !is_position;
    }

    /// Records that the running thread observed something by a wait.
    pub(crate) fn learns_by_wait(&mut self) {
        self.guests.snapshots.is_main_state_unknown |= self.running == ThreadId::MAIN;
    }

    /// Records that the running thread observed the panic of another thread.
    pub(crate) fn learns_of_panic(&mut self) {
        self.guests.snapshots.is_main_state_unknown |= self.running == ThreadId::MAIN;
    }
}
