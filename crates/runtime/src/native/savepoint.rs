//! Saved states of executions of native programs after some events. Executions with a common
//! beginning need not be run from the start.
//!
//! Everything that an execution changes is known: the program's memory, which its front-end copies,
//! the stacks of its threads, and the engine's data. A search goes depth first, so the next
//! execution begins like the previous one. All savepoints lie on the path of the current execution.

use super::{Laps, Objects, shadow};
use crate::engine::coroutine::{SavedFibre, Suspender};
use crate::engine::grain::Grain;
use crate::engine::model::Model;
use crate::engine::step::DependsOn;
use crate::engine::waiting::Wait;
use crate::engine::{Engine, Thread, Watch};
use crate::rust::mutex;
use crate::rust::object::Condition;
use crate::rust::once;
use crate::trace::source::Place;
use crate::watch::await_rule::Round;
use crate::watch::happens_before::HappensBefore;
use explore::{EventId, Execution, ObjectId, Pending, Program, Step, ThreadId, Token};
use report::Shortcut;
use std::any::Any;

/// The memory of a program, and the front-end's data about the current execution.
pub trait Memory: Sync {
    /// Returns the size of a copy in bytes. None if the program cannot be restored in the middle of
    /// an execution, because it changes data that is not copied.
    fn size(&self) -> Option<usize>;

    /// Returns whether functions that the program calls may write to memory passed to them without
    /// reporting it ([`changes`](super::changes)). If so, the stack of a thread that has not run
    /// may have changed.
    fn has_unseen_writes(&self) -> bool;

    /// Passes everything that may change to `look`: the memory that threads share, except their
    /// stacks. Stops when `look` returns false, and returns that.
    fn look(&self, look: &mut dyn FnMut(&[u8]) -> bool) -> bool;

    /// Clears dead parts in a copy of a stack that begins at `start` with a
    /// [`Frame`](super::Frame).
    fn clear_dead(&self, start: usize, stack: &mut [u8]);

    /// Begins or ends an audited execution. In between, [`enter_program`](super::enter_program) and
    /// [`leave_program`](super::leave_program) are called when code of the program is entered and
    /// left.
    fn audit(&self, is_on: bool);

    /// Sets whether executions, from the next one on, record which code of the program they reach.
    fn mark_code(&self, is_on: bool);

    /// Returns the lines with hooks that no recorded execution has reached, as `file:line`.
    fn unreached(&self) -> Vec<String>;

    /// Passes the memory whose accesses hooks report, except stacks, to `look` until it returns
    /// false.
    fn look_at_shared(&self, look: &mut dyn FnMut(&[u8]) -> bool);

    /// Returns whether the address is in memory that a system library has allocated.
    fn is_of_system(&self, address: usize) -> bool;

    /// Appends what this thread can observe otherwise than by reading memory.
    fn tell(&self, thread: ThreadId, state: &mut Vec<u8>);

    /// Copies the memory, into an old copy if there is one.
    fn save(&self, old: Option<Box<dyn Any>>) -> Box<dyn Any>;

    /// Restores a copy.
    fn restore(&self, copy: &dyn Any);
}

/// The savepoints on the path of the current execution, in its order.
#[derive(Default)]
pub(crate) struct Savepoints {
    /// The first `count` points are on the path. The others are kept for reuse.
    points: Vec<Savepoint>,
    count: usize,
    /// The steps of the current execution.
    path: Vec<Step>,
    /// Number of runs of threads. A thread that has not run since a savepoint is unchanged.
    runs: u64,
    /// Number of repetitions of executions so far, by this model and those of earlier slices.
    pub(crate) repeated: u64,
    /// The settings for watching when the points were made.
    watch: Watch,
    is_ordering: bool,
}

/// The number of steps that another point must save, plus one per [`BYTES_PER_STEP`] bytes.
const DISTANCE: usize = 6;
/// The number of steps instead of [`DISTANCE`] where more executions begin.
const RETURNING_DISTANCE: usize = 2;
const BYTES_PER_STEP: usize = 8192;

/// The maximum number of points on a path.
const MOST: usize = 32;

/// Larger programs are run from the beginning. In bytes.
const LARGEST: usize = 256 * 1024;

/// The state of an execution.
#[derive(Default)]
struct Savepoint {
    events: u32,
    born: Vec<ThreadId>,
    pending: Vec<Pending>,
    /// Indexed like `born`.
    threads: Vec<SavedThread>,
    live: usize,
    waiting: Vec<(ThreadId, ObjectId)>,
    conditional: Vec<(ThreadId, DependsOn)>,
    values: Vec<Option<Token>>,
    objects: SavedObjects,
    happens_before: HappensBefore,
    touches: shadow::Saved,
    joined: usize,
    excused: Vec<ThreadId>,
    has_exited: bool,
    memory: Option<Box<dyn Any>>,
}

/// The synchronization objects that native programs use.
#[derive(Default)]
struct SavedObjects {
    by_address: Objects,
    mutexes: Vec<mutex::State>,
    rwlocks: Vec<objects::RwLock>,
    condvars: Vec<objects::Condvar>,
    semaphores: Vec<objects::Semaphore>,
    barriers: Vec<objects::Barrier>,
    onces: Vec<once::State>,
    parks: Vec<objects::Park>,
    ends: Vec<objects::Thread>,
}

struct SavedThread {
    fibre: SavedFibre,
    /// The number of the thread's last run. The other fields are unchanged while it is the same.
    run: u64,
    suspender: *const Suspender,
    last: Option<EventId>,
    edges: Vec<EventId>,
    operations: u32,
    has_yielded: bool,
    accesses_left: u32,
    expiries: u32,
    spurious: u32,
    reused: u32,
    named: (u32, u32),
    wait: Option<Wait>,
    condition: Option<Condition>,
    location: Place,
    name: Option<String>,
    round: Round,
    place: Option<Place>,
    code: usize,
    laps: Laps,
    frame: usize,
    is_lost: bool,
}

impl Savepoints {
    /// Counts a run of a thread, and returns its number.
    #[inline(always)]
    pub(crate) fn next_run(&mut self) -> u64 {
        self.runs += 1;
        self.runs
    }

    /// Starts the execution from its beginning.
    pub(crate) fn begin(&mut self) {
        self.path.clear();
    }

    /// Forgets all points.
    pub(crate) fn forget(&mut self) {
        self.count = 0;
    }

    fn on_way(&self) -> &[Savepoint] {
        &self.points[..self.count]
    }

    /// Keeps the points that the execution passes.
    fn keep_common(&mut self, execution: &Execution) {
        let both = self.path.iter().zip(execution.steps());
        let common = both.take_while(|(own, step)| own == step).count();
        let is_common = |point: &Savepoint| point.events as usize <= common;
        self.count = self.on_way().partition_point(is_common);
    }
}

impl Model {
    /// Begins an execution like this one, at the last savepoint on its path.
    pub(crate) fn begin_at_savepoint(&mut self, execution: &Execution) {
        let engine = self.engine_mut();
        let is_fit = engine.prepare_savepoints();
        if is_fit {
            engine.savepoints.keep_common(execution);
        } else {
            engine.savepoints.forget();
        }
        if engine.savepoints.count == 0 {
            self.reset();
            self.engine_mut().save();
            return;
        }
        if !self.engine().is_quiet() {
            self.tear_down();
        }
        self.begin_own();
        self.engine_mut().restore();
    }

    /// Returns the number of events after which to stop, because a savepoint pays there. It pays at
    /// the end if more executions begin like this one. Otherwise it pays in the middle, since the
    /// next executions have less and less in common.
    pub(crate) fn next_savepoint(&self, execution: &Execution, returns: bool) -> Option<usize> {
        let last = self.engine().savepoints.on_way().last()?;
        let distance = execution.len() - last.events as usize;
        let size = self.engine().size_of_copy()? / BYTES_PER_STEP;
        if returns && distance >= RETURNING_DISTANCE + size {
            return Some(execution.len());
        }
        (distance >= DISTANCE + size).then(|| execution.len() - distance / 2)
    }
}

impl Engine {
    /// Returns whether savepoints can be used now. From time to time an execution is run as a
    /// whole, to expose programs that are not deterministic.
    fn prepare_savepoints(&mut self) -> bool {
        let savepoints = &mut self.savepoints;
        savepoints.repeated += 1;
        let is_whole = savepoints.repeated.is_power_of_two();
        let made_under = (savepoints.watch, savepoints.is_ordering);
        let is_same = made_under == (self.watch, self.native.is_ordering);
        (savepoints.watch, savepoints.is_ordering) = (self.watch, self.native.is_ordering);
        is_same && !is_whole && !self.is_coarsened && self.grain == Grain::Accesses
    }

    /// Records that the thread of `step` is about to run. Returns the number of this run.
    #[inline(always)]
    pub(crate) fn goes_by(&mut self, step: Step) -> u64 {
        if self.config.native.is_some() {
            self.savepoints.path.push(step);
        }
        self.savepoints.next_run()
    }

    fn size_of_copy(&self) -> Option<usize> {
        let is_plain = self.grain == Grain::Accesses
            && !self.config.without.contains(&Shortcut::Savepoints)
            && !self.watch.notes
            && !self.watch.states
            && !self.watch.stacks;
        let native = self.config.native.filter(|_| is_plain)?;
        native.memory.size().filter(|&size| size <= LARGEST)
    }

    /// Makes a savepoint here if possible. Returns whether it did.
    pub(crate) fn save(&mut self) -> bool {
        let is_last = |point: &Savepoint| point.events == self.events;
        let count = self.savepoints.count;
        let is_here = self.savepoints.on_way().last().is_some_and(is_last);
        let is_full = count >= MOST;
        if is_here || is_full || self.size_of_copy().is_none() || !self.can_be_saved() {
            return false;
        }
        let mut points = std::mem::take(&mut self.savepoints.points);
        if points.len() == count {
            points.push(Savepoint::default());
        }
        self.save_to(&mut points[count]);
        self.savepoints.points = points;
        self.savepoints.count += 1;
        true
    }

    /// Returns whether everything in the state can be copied.
    fn can_be_saved(&self) -> bool {
        let is_simple = |&id: &ThreadId| {
            let thread = &self.threads[id.index()];
            thread.panic.is_none()
                && thread.noticed.is_none()
                && thread.job.is_none()
                && thread.making.is_none()
                && thread.heap.is_unused()
        };
        self.failures.len() == 0
            && !self.is_coarsened
            && !std::thread::panicking()
            && self.native.shadow.is_small()
            && self.born.iter().all(is_simple)
    }

    fn save_to(&mut self, point: &mut Savepoint) {
        let count = self.threads.len();
        point.events = self.events;
        copy_column(&mut point.born, &self.born);
        copy_column(&mut point.pending, &self.pending);
        point.live = self.live;
        copy_column(&mut point.waiting, &self.waiting);
        copy_column(&mut point.conditional, &self.conditional);
        copy_column(&mut point.values, &self.values);
        point.objects.save(self, count);
        point.happens_before.clone_from(&self.happens_before);
        self.native.shadow.save(&mut point.touches);
        point.joined = self.native.joined;
        copy_column(&mut point.excused, &self.native.excused);
        point.has_exited = self.native.has_exited;
        // Frames contain bytes that were never written. Where stacks are compared, these must be
        // restored, too.
        let below = if self.names.has_loops() { 4096 } else { 0 };
        let is_told = self.are_writes_told();
        point.threads.truncate(self.born.len());
        for (index, id) in self.born.iter().enumerate() {
            let thread = &self.threads[id.index()];
            match point.threads.get_mut(index) {
                Some(saved) if saved.run == thread.run && is_told => {}
                Some(saved) => saved.save(thread, below),
                None => point.threads.push(SavedThread::of(thread, below)),
            }
        }
        if let Some(native) = self.config.native {
            point.memory = Some(native.memory.save(point.memory.take()));
        }
    }

    /// Restores the last savepoint. All threads with stacks in use must be known to the engine.
    fn restore(&mut self) {
        let points = std::mem::take(&mut self.savepoints.points);
        let point = &points[self.savepoints.count - 1];
        while !point.born.starts_with(&self.born)
            && let Some(id) = self.born.pop()
        {
            self.unbear(id);
        }
        copy_column(&mut self.born, &point.born);
        self.pending[..point.pending.len()].copy_from_slice(&point.pending);
        let is_told = self.are_writes_told();
        for (id, saved) in point.born.iter().zip(&point.threads) {
            let thread = &mut self.threads[id.index()];
            if thread.run != saved.run || !is_told {
                saved.restore(thread);
            }
        }
        self.events = point.events;
        self.live = point.live;
        copy_column(&mut self.waiting, &point.waiting);
        copy_column(&mut self.conditional, &point.conditional);
        copy_column(&mut self.values, &point.values);
        self.next_edges.clear();
        self.is_coarsened = false;
        self.is_in_event = false;
        self.failures.clear();
        point.objects.restore(self);
        self.happens_before.clone_from(&point.happens_before);
        self.native.shadow.restore(&point.touches);
        self.native.joined = point.joined;
        copy_column(&mut self.native.excused, &point.excused);
        self.native.has_exited = point.has_exited;
        self.native.written = None;
        self.native.segment.forget();
        if let (Some(native), Some(memory)) = (self.config.native, &point.memory) {
            native.memory.restore(&**memory);
        }
        self.savepoints.path.truncate(point.events as usize);
        self.savepoints.points = points;
    }
}

impl Engine {
    /// Checks whether every change of a thread's stack is reported, so that a stack whose thread
    /// has not run is unchanged.
    fn are_writes_told(&self) -> bool {
        let native = self.config.native;
        native.is_none_or(|native| !native.memory.has_unseen_writes())
    }

    /// Resets a thread that has not been started.
    fn unbear(&mut self, id: ThreadId) {
        self.pending[id.index()] = Pending::Unborn;
        let thread = &mut self.threads[id.index()];
        thread.panic = None;
        thread.noticed = None;
        thread.name = None;
        thread.heap.reset();
        if thread.is_lost {
            thread.is_lost = false;
            self.begin_again(id);
        }
    }
}

/// Copies a column. Most columns are empty.
#[inline(always)]
fn copy_column<T: Copy>(copy: &mut Vec<T>, column: &[T]) {
    copy.clear();
    if !column.is_empty() {
        copy.extend_from_slice(column);
    }
}

impl SavedObjects {
    fn save(&mut self, engine: &Engine, threads: usize) {
        let objects = &engine.objects;
        self.by_address.copy(&engine.native.objects);
        objects.mutexes.save(&mut self.mutexes);
        objects.rwlocks.save(&mut self.rwlocks);
        objects.condvars.save(&mut self.condvars);
        objects.semaphores.save(&mut self.semaphores);
        objects.barriers.save(&mut self.barriers);
        objects.onces.save(&mut self.onces);
        self.parks.clear();
        self.parks.extend_from_slice(&objects.parks[..threads]);
        self.ends.clear();
        self.ends.extend_from_slice(&objects.ends[..threads]);
    }

    fn restore(&self, engine: &mut Engine) {
        engine.native.objects.copy(&self.by_address);
        let objects = &mut engine.objects;
        objects.mutexes.restore(&self.mutexes);
        objects.rwlocks.restore(&self.rwlocks);
        objects.condvars.restore(&self.condvars);
        objects.semaphores.restore(&self.semaphores);
        objects.barriers.restore(&self.barriers);
        objects.onces.restore(&self.onces);
        objects.parks[..self.parks.len()].clone_from_slice(&self.parks);
        objects.ends[..self.ends.len()].clone_from_slice(&self.ends);
    }
}

impl SavedThread {
    fn of(thread: &Thread, below: usize) -> SavedThread {
        let mut saved = SavedThread {
            fibre: SavedFibre::default(),
            run: 0,
            suspender: thread.suspender,
            last: None,
            edges: Vec::new(),
            operations: 0,
            has_yielded: false,
            accesses_left: 0,
            expiries: 0,
            spurious: 0,
            reused: 0,
            named: (0, 0),
            wait: None,
            condition: None,
            location: thread.location,
            name: None,
            round: Round::default(),
            place: None,
            code: 0,
            laps: Laps::default(),
            frame: 0,
            is_lost: false,
        };
        saved.save(thread, below);
        saved
    }

    fn save(&mut self, thread: &Thread, below: usize) {
        // Other fields are used only by threads of Rust, or by states that `can_be_saved` excludes.
        self.suspender = thread.suspender;
        self.last = thread.last;
        copy_column(&mut self.edges, &thread.edges);
        self.operations = thread.operations;
        self.has_yielded = thread.has_yielded;
        self.accesses_left = thread.accesses_left;
        self.expiries = thread.expiries;
        self.spurious = thread.spurious;
        self.reused = thread.reused;
        self.named = thread.named();
        self.wait = thread.wait;
        self.condition = thread.condition;
        self.location = thread.location;
        self.name.clone_from(&thread.name);
        self.round.copy(&thread.round);
        self.place = thread.place;
        self.code = thread.code;
        self.is_lost = thread.is_lost;
        self.run = thread.run;
        thread.fibre.save(&mut self.fibre, below);
        self.frame = thread.frame;
        self.laps.copy(&thread.laps);
    }

    fn restore(&self, thread: &mut Thread) {
        thread.suspender = self.suspender;
        thread.last = self.last;
        copy_column(&mut thread.edges, &self.edges);
        thread.operations = self.operations;
        thread.has_yielded = self.has_yielded;
        thread.accesses_left = self.accesses_left;
        thread.expiries = self.expiries;
        thread.spurious = self.spurious;
        thread.reused = self.reused;
        thread.set_named(self.named);
        thread.wait = self.wait;
        thread.condition = self.condition;
        thread.location = self.location;
        thread.name.clone_from(&self.name);
        thread.round.copy(&self.round);
        thread.place = self.place;
        thread.code = self.code;
        thread.is_lost = self.is_lost;
        thread.panic = None;
        thread.noticed = None;
        thread.heap.reset();
        thread.run = self.run;
        thread.fibre.restore(&self.fibre);
        thread.frame = self.frame;
        thread.laps.copy(&self.laps);
    }
}
