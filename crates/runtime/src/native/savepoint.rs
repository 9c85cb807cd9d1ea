//! Saved states of executions of native programs after some events. A later execution that begins
//! with the same events starts from the saved state.
//!
//! Everything that an execution changes is known: the program's memory, which its front-end copies,
//! the stacks of its threads, and the engine's data. The search is depth-first, so the next
//! execution begins like the previous one. So only savepoints on the path of the current execution
//! are kept.

use super::{ProgramLife, shadow};
use crate::engine::coroutine::SavedFibre;
use crate::engine::granularity::StepGranularity;
use crate::engine::life::Life;
use crate::engine::watch::Watch;
use crate::engine::{Engine, ExecutionLife, Thread, ThreadLife};
use crate::rust::versions::Versions;
use crate::watch::happens_before::HappensBefore;
use explore::{Execution, Step, ThreadId};
use report::Shortcut;
use std::any::Any;

/// The memory of a program, and the front-end's data about the current execution.
pub trait Memory: Sync {
    /// Returns the size of a copy in bytes. Returns `None` if the program cannot be restored in the
    /// middle of an execution, because it changes data that is not copied.
    fn size(&self) -> Option<usize>;

    /// Returns whether functions that the program calls may write to memory passed to them without
    /// reporting it ([`changes`](super::changes)). If so, the stack of a thread that has not run
    /// may have changed.
    fn has_unseen_writes(&self) -> bool;

    /// Returns whether functions of the program may run on a stack that is not their thread's. That
    /// stack may be inside a local variable.
    fn switches_stacks(&self) -> bool;

    /// Passes the memory that may change to `visit`: the memory that threads share, except their
    /// stacks. Stops when `visit` returns false, and then returns false.
    fn visit(&self, visit: &mut dyn FnMut(&[u8]) -> bool) -> bool;

    /// Clears dead parts in a copy of a stack that begins at `start` with a
    /// [`Frame`](super::Frame).
    fn clear_dead(&self, start: usize, stack: &mut [u8]);

    /// Begins or ends an audited execution. In between, [`enter_program`](super::enter_program) and
    /// [`leave_program`](super::leave_program) are called when code of the program is entered and
    /// left.
    fn audit(&self, is_on: bool);

    /// Sets whether executions record which code of the program they reach, from the next execution
    /// on.
    fn mark_code(&self, is_on: bool);

    /// Returns the lines with hooks that no recorded execution has reached, as `file:line`.
    fn unreached(&self) -> Vec<String>;

    /// Passes the memory whose accesses hooks report, except stacks, to `visit` until it returns
    /// false.
    fn visit_shared(&self, visit: &mut dyn FnMut(&[u8]) -> bool);

    /// Returns whether the address is in memory that a system library has allocated.
    fn is_of_system(&self, address: usize) -> bool;

    /// Appends the state that this thread can observe by other means than reading memory.
    fn append_state(&self, thread: ThreadId, state: &mut Vec<u8>);

    /// Copies the memory, into an old copy if there is one.
    fn save(&self, old: Option<Box<dyn Any>>) -> Box<dyn Any>;

    /// Restores a copy.
    fn restore(&self, copy: &dyn Any);
}

/// The savepoints on the path of the current execution, in the order of their events.
#[derive(Default)]
pub(crate) struct Savepoints {
    /// The savepoints. The first `count` are on the path; the others are kept for reuse.
    points: Vec<Savepoint>,
    count: usize,
    /// The steps of the current execution.
    path: Vec<Step>,
    /// The last version that was given to the state of a thread. A thread whose state has the same
    /// version as in a savepoint is unchanged.
    runs: u64,
    /// The number of executions so far, by this model and the models of earlier slices.
    pub(crate) repeated: u64,
    /// The settings for watching when the points were made.
    watch: Watch,
    is_ordering: bool,
}

/// A further savepoint must save at least this number of steps, plus one step per
/// [`BYTES_PER_STEP`] bytes of the copy.
const DISTANCE: usize = 6;
/// The number of steps, instead of [`DISTANCE`], at a position to which the search will return.
const RETURNING_DISTANCE: usize = 2;
const BYTES_PER_STEP: usize = 8192;

/// The maximum number of points on a path.
const MOST: usize = 32;

/// The maximum number of bytes of memory that a program with savepoints may have, unless the plain
/// accesses that `Engine::accesses` counts cost more than a copy.
const LARGEST: usize = 256 * 1024;

/// The number of bytes that can be copied in the time of one plain access.
const BYTES_PER_ACCESS: usize = 16;

/// The state of an execution.
#[derive(Default)]
struct Savepoint {
    life: ExecutionLife,
    native: ProgramLife,
    happens_before: HappensBefore,
    versions: Versions,
    touches: shadow::Saved,
    /// Indexed like `life.started`.
    threads: Vec<SavedThread>,
    memory: Option<Box<dyn Any>>,
}

struct SavedThread {
    fibre: SavedFibre,
    /// The version of the thread's state. It changes when the thread is resumed, or when another
    /// thread changes this state. While it is the same, the other fields are the same, too.
    run: u64,
    life: ThreadLife,
}

impl Savepoints {
    /// Returns a new version for the state of a thread.
    #[inline(always)]
    pub(crate) fn next_run(&mut self) -> u64 {
        self.runs += 1;
        self.runs
    }

    /// Records that an execution starts from its beginning.
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
        let common = both.take_while(|(saved, step)| saved == step).count();
        let is_common = |point: &Savepoint| point.life.events as usize <= common;
        self.count = self.on_way().partition_point(is_common);
    }
}

impl Engine {
    /// Keeps only the savepoints from which this execution can be repeated. Returns whether there
    /// are any.
    pub(crate) fn find_savepoint(&mut self, execution: &Execution) -> bool {
        match self.prepare_savepoints() {
            true => self.guests.savepoints.keep_common(execution),
            false => self.guests.savepoints.forget(),
        }
        self.guests.savepoints.count > 0
    }

    /// Returns the number of events after which to make the next savepoint, if it is worth its
    /// cost. If more executions begin like this one (`returns`), the savepoint is best at the end.
    /// Otherwise, it is best in the middle, because later executions share ever shorter beginnings
    /// with this one.
    pub(crate) fn next_savepoint(&self, execution: &Execution, returns: bool) -> Option<usize> {
        let last = self.guests.savepoints.on_way().last()?;
        let distance = execution.len() - last.life.events as usize;
        let size = self.size_of_copy()? / BYTES_PER_STEP;
        if returns && distance >= RETURNING_DISTANCE + size {
            return Some(execution.len());
        }
        (distance >= DISTANCE + size).then(|| execution.len() - distance / 2)
    }

    /// Counts an execution. Returns whether it can use savepoints. Occasionally, an execution is
    /// run as a whole, to detect nondeterministic programs.
    fn prepare_savepoints(&mut self) -> bool {
        let savepoints = &mut self.guests.savepoints;
        savepoints.repeated += 1;
        let is_whole = savepoints.repeated.is_power_of_two();
        let made_under = (savepoints.watch, savepoints.is_ordering);
        let is_same = made_under == (self.watch, self.guests.native.is_ordering);
        (savepoints.watch, savepoints.is_ordering) = (self.watch, self.guests.native.is_ordering);
        is_same
            && !is_whole
            && !self.is_coarsened()
            && self.granularity == StepGranularity::Accesses
    }

    /// Records a step of the current execution.
    #[inline(always)]
    pub(crate) fn record_step(&mut self, step: Step) {
        if self.config.native.is_some() {
            self.guests.savepoints.path.push(step);
        }
    }

    /// Returns the size of a copy of the program's memory, or `None` if no savepoints can be made.
    fn size_of_copy(&self) -> Option<usize> {
        let is_plain = self.granularity == StepGranularity::Accesses
            && !self.config.without.contains(&Shortcut::Savepoints)
            && !self.watch.records_or_samples
            && !self.watch.states
            && !self.watch.stacks;
        let native = self.config.native.filter(|_| is_plain)?;
        let size = native.memory.size()?;
        (size <= LARGEST || size <= BYTES_PER_ACCESS * self.accesses()).then_some(size)
    }

    /// Makes a savepoint here if possible. Returns whether the savepoint was made.
    pub(crate) fn save(&mut self) -> bool {
        let is_last = |point: &Savepoint| point.life.events == self.life.events;
        let count = self.guests.savepoints.count;
        let is_here = self.guests.savepoints.on_way().last().is_some_and(is_last);
        let is_full = count >= MOST;
        if is_here || is_full || self.size_of_copy().is_none() || !self.can_be_saved() {
            return false;
        }
        let mut points = std::mem::take(&mut self.guests.savepoints.points);
        if points.len() == count {
            points.push(Savepoint::default());
        }
        self.save_to(&mut points[count]);
        self.guests.savepoints.points = points;
        self.guests.savepoints.count += 1;
        true
    }

    /// Returns whether everything in the state can be copied.
    fn can_be_saved(&self) -> bool {
        let is_simple = |&id: &ThreadId| {
            let thread = &self.threads[id.index()];
            thread.panic.is_none()
                && thread.caught_panic.is_none()
                && thread.life.panics == 0
                && thread.job.is_none()
                && thread.guests.making.is_none()
                && thread.guests.heap.is_unused()
        };
        self.guests.failures.len() == 0
            && !self.is_coarsened()
            && !std::thread::panicking()
            && self.guests.native.shadow.is_small()
            && self.life.started.iter().all(is_simple)
    }

    fn save_to(&mut self, point: &mut Savepoint) {
        point.life.copy(&self.life);
        point.native.copy(&self.guests.native.life);
        point.happens_before.clone_from(&self.guests.happens_before);
        self.guests.versions.save(&mut point.versions);
        self.guests.native.shadow.save(&mut point.touches);
        // Frames contain bytes that were never written. Where stacks are compared, these must be
        // restored, too.
        let has_loops = self.names.has_loops();
        let depth = |id: ThreadId| match has_loops {
            true => self.names.compared_depth(id),
            false => 0,
        };
        let is_reported = self.reports_all_writes();
        point.threads.truncate(self.life.started.len());
        for (index, id) in self.life.started.iter().enumerate() {
            let thread = &self.threads[id.index()];
            match point.threads.get_mut(index) {
                Some(saved) if saved.run == thread.guests.run && is_reported => {}
                Some(saved) => saved.save(thread, depth(*id)),
                None => point.threads.push(SavedThread::of(thread, depth(*id))),
            }
        }
        if let Some(native) = self.config.native {
            point.memory = Some(native.memory.save(point.memory.take()));
        }
    }

    /// Restores the last savepoint. All threads with stacks in use must be known to the engine.
    pub(crate) fn restore(&mut self) {
        let points = std::mem::take(&mut self.guests.savepoints.points);
        let point = &points[self.guests.savepoints.count - 1];
        while !point.life.started.starts_with(&self.life.started)
            && let Some(id) = self.life.started.pop()
        {
            self.reset_thread(id);
        }
        self.life.copy(&point.life);
        self.fit_columns();
        let is_reported = self.reports_all_writes();
        for (id, saved) in point.life.started.iter().zip(&point.threads) {
            let thread = &mut self.threads[id.index()];
            if thread.guests.run != saved.run || !is_reported {
                saved.restore(thread);
            }
        }
        self.guests.failures.clear();
        self.guests.native.life.copy(&point.native);
        let events = point.life.events as usize;
        let happens_before = &mut self.guests.happens_before;
        happens_before.restore(&point.happens_before, events);
        self.guests.versions.restore(&point.versions, events);
        self.guests.native.shadow.restore(&point.touches);
        self.guests.native.written = None;
        self.guests.segment.forget();
        if let (Some(native), Some(memory)) = (self.config.native, &point.memory) {
            native.memory.restore(&**memory);
        }
        self.guests.savepoints.path.truncate(events);
        self.guests.savepoints.points = points;
    }
}

impl Engine {
    /// Checks whether every change of a thread's stack is reported, so that a stack whose thread
    /// has not run is unchanged.
    fn reports_all_writes(&self) -> bool {
        let native = self.config.native;
        native.is_none_or(|native| !native.memory.has_unseen_writes())
    }
}

impl SavedThread {
    fn of(thread: &Thread, depth: usize) -> SavedThread {
        let mut saved = SavedThread {
            fibre: SavedFibre::default(),
            run: 0,
            life: ThreadLife::new(),
        };
        saved.save(thread, depth);
        saved
    }

    /// Copies the state that can be copied. `can_be_saved` excludes threads with other state.
    fn save(&mut self, thread: &Thread, depth: usize) {
        self.run = thread.guests.run;
        self.life.copy(&thread.life);
        thread.fibre.save(&mut self.fibre, depth);
    }

    fn restore(&self, thread: &mut Thread) {
        thread.guests.run = self.run;
        thread.life.copy(&self.life);
        thread.panic = None;
        thread.caught_panic = None;
        thread.guests.heap.reset();
        thread.fibre.restore(&self.fibre);
    }
}
