//! The full state of an execution, for algorithms that compare states.
//!
//! The stack of a coroutine cannot be compared. So a thread that wants to be comparable is written as a
//! state machine and tells its local state, and so does each object. Where every thread and every object
//! of an execution does, the model has a fingerprint.

use crate::engine::Engine;
use crate::perform::silently;
use explore::{Fingerprint, ObjectId, OpKind, Pending, ThreadId};
use objects::{Network, Routes};
use std::collections::BTreeMap;
use std::hash::Hash;

/// Asks a thread or an object for its state.
type Tell = Box<dyn Fn() -> Fingerprint>;

/// The thread at hand is a state machine, and `tell` gives all of its local state.
///
/// Called at the start of the thread, before its first operation. From then on `tell` is asked while the
/// thread waits at an operation. Two runs in which the thread waits at the same operation and told equal
/// states must go on alike: whatever the code keeps from one operation to a later one belongs to the
/// state, also how far it has come. It must not contain addresses, counters of steps of other threads,
/// or whatever depends on the schedule otherwise.
///
/// `tell` is called outside the program: it performs no operation of a model.
///
/// The main thread needs no state while all it does is to start and to join threads; every other
/// thread does, or the model has no fingerprint. So do all objects: see [`tell_state_of`].
///
/// ```
/// use explore::{Program, Step, ThreadId};
/// use runtime::{Config, Model, Opaque, choose, forget, join, spawn, tell_state};
/// use std::cell::Cell;
/// use std::rc::Rc;
///
/// /// The sum of two throws; `sum` is all that the thread knows between them.
/// fn throws() {
///     let sum = Rc::new(Cell::new(0));
///     let told = Rc::clone(&sum);
///     tell_state(move || told.get());
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
///     throws.map(|choice| model.step(Step { thread, choice }).map(drop).unwrap());
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
pub fn tell_state<S: Eq + Hash + 'static>(tell: impl Fn() -> S + 'static) {
    silently(|engine| {
        let thread = engine.running;
        let tell: Tell = Box::new(move || Fingerprint::of(tell()));
        engine.snapshots.threads.insert(thread, tell);
        engine.watch.states = true;
    });
}

/// The same for an object of the execution: `tell` gives all that its operations depend on, but for who
/// waits for it, which the model knows.
///
/// A model has a fingerprint only if every object that was created in the execution tells its state.
pub fn tell_state_of<S: Eq + Hash + 'static>(object: ObjectId, tell: impl Fn() -> S + 'static) {
    silently(|engine| {
        let tell: Tell = Box::new(move || Fingerprint::of(tell()));
        let is_fresh = engine.snapshots.objects.insert(object, tell).is_none();
        if is_fresh && engine.names.is_created(engine.running, object) {
            engine.snapshots.created += 1;
        }
        engine.watch.states = true;
    });
}

/// The same for a part of an object, which is [named by a key](crate::State::part_of).
pub fn tell_state_of_part<S: Eq + Hash + 'static>(part: ObjectId, tell: impl Fn() -> S + 'static) {
    silently(|engine| {
        let tell: Tell = Box::new(move || Fingerprint::of(tell()));
        engine.snapshots.objects.insert(part, tell);
        engine.watch.states = true;
    });
}

/// The thread at hand learnt this from its operation at hand: a part of its local state until it
/// [forgets](forget) it.
///
/// The position of the main thread and all that it has learnt determine what it does, so that it has a
/// state if its operations other than to start and to join threads say what it learns. A thread that
/// [tells](tell_state) its state learns what is on its stack for a while.
pub fn learn<V: Clone + Eq + Hash + 'static>(value: &V) {
    silently(|engine| {
        let thread = engine.running;
        let is_main = thread == ThreadId::MAIN && engine.config.native.is_none();
        let snapshots = &mut engine.snapshots;
        if is_main || snapshots.threads.contains_key(&thread) {
            let before = snapshots.learnt.remove(&thread);
            let learnt = Fingerprint::of((before, value.clone()));
            snapshots.learnt.insert(thread, learnt);
        }
    });
}

/// What the thread at hand has learnt is in the state that it tells, or of no use any more.
pub fn forget() {
    silently(|engine| {
        let thread = engine.running;
        if thread != ThreadId::MAIN {
            engine.snapshots.learnt.remove(&thread);
        }
    });
}

/// How many operations the thread at hand has performed.
pub fn operations() -> u32 {
    silently(|engine| engine.thread().operations)
}

/// Who tells its state in the execution at hand.
#[derive(Default)]
pub(crate) struct Snapshots {
    threads: BTreeMap<ThreadId, Tell>,
    objects: BTreeMap<ObjectId, Tell>,
    /// How many of these objects were created by threads; others belong to a thread from its birth.
    created: u32,
    /// The main thread learnt something that it did not tell, so that its state is not known.
    main_has_learnt: bool,
    /// What threads learnt, in order, and do not tell.
    learnt: BTreeMap<ThreadId, Fingerprint>,
}

impl Snapshots {
    /// What these objects tell.
    pub(crate) fn told(&self, which: impl Fn(ObjectId) -> bool) -> Vec<(ObjectId, Fingerprint)> {
        let objects = self.objects.iter().filter(|(object, _)| which(**object));
        objects.map(|(&object, tell)| (object, tell())).collect()
    }

    /// The execution is abandoned: what tells states leaks with what it owns of the program.
    pub(crate) fn forget(&mut self) {
        std::mem::forget(std::mem::take(&mut self.threads));
        std::mem::forget(std::mem::take(&mut self.objects));
    }

    /// Forgets the execution. What its threads own is dropped, so their memory must be there still.
    pub(crate) fn clear(&mut self) {
        self.threads.clear();
        self.objects.clear();
        self.created = 0;
        self.main_has_learnt = false;
        self.learnt.clear();
    }
}

/// Why a state cannot be compared.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Opaque {
    /// A thread that does not tell its state.
    #[error(
        "{0} is a closure, whose local state cannot be read: write it as a state machine (a network that carries what a closure has sent is one, too)"
    )]
    Thread(String),
    /// The main thread, which does more than to start and to join threads.
    #[error("the main thread does more than to start and to join threads, and tells no state")]
    Main,
    /// Objects that do not tell their state.
    #[error(
        "it uses objects that tell no state: locks, atomic variables, park tokens, plain memory, mailboxes of processes that are closures…: write its parts as state machines (Behaviour, Task), or take another algorithm"
    )]
    Object,
    /// The await rule looks at stacks.
    #[error("a loop with a hint ends by its stack, which cannot be compared")]
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
    /// What it has learnt that is not in its local state.
    learnt: Option<Fingerprint>,
    /// What it panicked with, for who joins it.
    panic: Option<String>,
    /// Number of its operations, which has a bound; and the position of a thread without a state.
    operations: u32,
    expiries: u32,
    /// What the names of its next child and of its next object depend on.
    named: (u32, u32),
}

impl Engine {
    /// Why there is no fingerprint, if there is none.
    pub(crate) fn opaque(&self) -> Option<Opaque> {
        if !self.all_objects_tell() {
            return Some(Opaque::Object);
        }
        if self.names.has_hints() {
            return Some(Opaque::Hint);
        }
        let closure = self.born.iter().find(|&&thread| {
            thread != ThreadId::MAIN && !self.snapshots.threads.contains_key(&thread)
        });
        if let Some(&thread) = closure {
            return Some(Opaque::Thread(self.thread_name(thread)));
        }
        self.is_main_lost().then_some(Opaque::Main)
    }

    /// The full state, if every thread and every object tells it.
    pub(crate) fn fingerprint(&self) -> Option<Fingerprint> {
        if self.opaque().is_some() {
            return None;
        }
        let objects = self.snapshots.objects.iter();
        let mut threads: Vec<ThreadState> = self.born.iter().map(|&id| self.state_of(id)).collect();
        threads.sort_unstable_by_key(|state| state.thread);
        Some(Fingerprint::of(State {
            threads,
            objects: objects.map(|(&object, tell)| (object, tell())).collect(),
            networks: self.objects.networks.iter().map(Network::routes).collect(),
            failures: self.failures.len(),
        }))
    }

    pub(crate) fn state_of(&self, id: ThreadId) -> ThreadState {
        let thread = &self.threads[id.index()];
        ThreadState {
            thread: id,
            pending: self.pending[id.index()],
            local: self.snapshots.threads.get(&id).map(|tell| tell()),
            learnt: self.snapshots.learnt.get(&id).cloned(),
            panic: self.panic_text(id),
            operations: thread.operations,
            expiries: thread.expiries,
            named: thread.named(),
        }
    }

    /// Whether all objects that were created tell their state, and nobody uses what cannot.
    fn all_objects_tell(&self) -> bool {
        let threads = || self.born.iter().map(|thread| thread.index());
        let created: u32 = threads().map(|thread| self.threads[thread].named().1).sum();
        created == self.snapshots.created
            && self.residents.count() == 0
            && threads().all(|thread| self.objects.parks[thread].is_unused())
            && self.plain.is_empty()
    }

    /// Whether the position of the main thread is not all of its state.
    fn is_main_lost(&self) -> bool {
        self.snapshots.main_has_learnt
            && self.pending[ThreadId::MAIN.index()] != Pending::Finished
            && !self.snapshots.threads.contains_key(&ThreadId::MAIN)
    }

    /// The main thread performed the operation at hand, or learnt how a thread ended.
    pub(crate) fn watch_main(&mut self) {
        // Who awaits a future, performs a segment or uses what belongs to a process says what it learns; who
        // sends a letter learns nothing.
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
        self.snapshots.main_has_learnt |= !is_position;
    }

    /// The thread that runs learnt something by a wait.
    pub(crate) fn learns_by_wait(&mut self) {
        self.snapshots.main_has_learnt |= self.running == ThreadId::MAIN;
    }

    /// A thread learnt that another one panicked.
    pub(crate) fn learns_of_panic(&mut self) {
        self.snapshots.main_has_learnt |= self.running == ThreadId::MAIN;
    }
}
