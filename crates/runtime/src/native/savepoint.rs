//! Executions of native programs as they were after some events, so that those that begin alike need not be run from
//! their beginning.
//!
//! All that an execution changes is known: the memory of the program, which its front-end copies; the stacks of its
//! threads; and what the engine knows. A search goes depth first, so that the next execution begins like the one
//! before. Savepoints lie on the way of the execution at hand.

use super::{Laps, Objects, shadow};
use crate::await_rule::Round;
use crate::coroutine::{SavedFibre, Suspender};
use crate::engine::{Engine, Thread, Watch};
use crate::grain::Grain;
use crate::happens_before::HappensBefore;
use crate::model::Model;
use crate::object::Condition;
use crate::source::Place;
use crate::step::DependsOn;
use crate::waiting::Wait;
use crate::{mutex, once};
use explore::{EventId, Execution, ObjectId, Pending, Program, Step, ThreadId, Token};
use report::Shortcut;
use std::any::Any;

/// The memory of a program, and what its front-end knows of the execution at hand.
pub trait Memory: Sync {
    /// How many bytes a copy would have; none if the program cannot be put back in the middle of an execution,
    /// because it changes what is not copied.
    fn size(&self) -> Option<usize>;

    /// Whether functions that the program calls may write to memory that they are given without telling ([`changes`](super::changes)):
    /// then a thread's stack may have changed that has not been run.
    fn has_unseen_writes(&self) -> bool;

    /// Shows what may differ from one moment to another: the memory that threads share, but for their stacks. Stops when `look` gives false,
    /// and gives that.
    fn look(&self, look: &mut dyn FnMut(&[u8]) -> bool) -> bool;

    /// Clears what its thread does not read any more in a copy of a stack, which begins at `start` with a [`Frame`](super::Frame).
    fn clear_dead(&self, start: usize, stack: &mut [u8]);

    /// From here on an execution is audited, or no longer: code of the program is entered and left by calls of
    /// [`enter_program`](super::enter_program) and [`leave_program`](super::leave_program).
    fn audit(&self, is_on: bool);

    /// From the next execution on it is noted which code of the program executions come to, or no longer.
    fn mark_code(&self, is_on: bool);

    /// The lines with hooks to which no execution has come that was noted, as `file:line`.
    fn unreached(&self) -> Vec<String>;

    /// Shows the memory that hooks report accesses of, but for stacks, until `look` gives false.
    fn look_at_shared(&self, look: &mut dyn FnMut(&[u8]) -> bool);

    /// Whether the address is in memory that a library of the system has asked for.
    fn is_of_system(&self, address: usize) -> bool;

    /// Adds what this thread can find out otherwise than by reading memory.
    fn tell(&self, thread: ThreadId, state: &mut Vec<u8>);

    /// Copies it, into an old copy if there is one.
    fn save(&self, old: Option<Box<dyn Any>>) -> Box<dyn Any>;

    /// Puts back what was copied.
    fn restore(&self, copy: &dyn Any);
}

/// The savepoints on the way of the execution at hand, in its order.
#[derive(Default)]
pub(crate) struct Savepoints {
    /// The first `count` are on the way. The others are room for the next ones.
    points: Vec<Savepoint>,
    count: usize,
    /// The steps of the execution at hand.
    path: Vec<Step>,
    /// How often threads have been run: who has not been run since is as it was.
    runs: u64,
    /// How often an execution was to be repeated, by this model and those of earlier slices.
    pub(crate) repeated: u64,
    /// What was watched when the points were made.
    watch: Watch,
    is_ordering: bool,
}

/// The steps that it must save to have one more point, and one more for each so many bytes.
const DISTANCE: usize = 6;
/// The same where more executions begin.
const RETURNING_DISTANCE: usize = 2;
const BYTES_PER_STEP: usize = 8192;

/// More points than this lie on no way.
const MOST: usize = 32;

/// Larger programs are run from the beginning.
const LARGEST: usize = 256 * 1024;

/// The execution as it was.
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

/// The synchronisation objects that native programs have.
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
    /// When it had been run last: the rest is the same while this is.
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
    /// The thread that runs goes on.
    #[inline(always)]
    pub(crate) fn next_run(&mut self) -> u64 {
        self.runs += 1;
        self.runs
    }

    /// The execution is begun from its beginning.
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

    /// Leaves the points that the execution comes by.
    fn keep_common(&mut self, execution: &Execution) {
        let both = self.path.iter().zip(execution.steps());
        let common = both.take_while(|(own, step)| own == step).count();
        let is_common = |point: &Savepoint| point.events as usize <= common;
        self.count = self.on_way().partition_point(is_common);
    }
}

impl Model {
    /// Begins an execution like this one, at the last savepoint on its way; gives the number of events so far.
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

    /// Where to stop on the way to the end of the execution: a savepoint pays there. It pays at the end if
    /// more executions begin like this one, else in the middle, since the next ones have less and less in common.
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
    /// Whether savepoints can be used now. Executions are run as a whole now and then, so that a program that is
    /// not deterministic shows it.
    fn prepare_savepoints(&mut self) -> bool {
        let savepoints = &mut self.savepoints;
        savepoints.repeated += 1;
        let is_whole = savepoints.repeated.is_power_of_two();
        let made_under = (savepoints.watch, savepoints.is_ordering);
        let is_same = made_under == (self.watch, self.native.is_ordering);
        (savepoints.watch, savepoints.is_ordering) = (self.watch, self.native.is_ordering);
        is_same && !is_whole && !self.is_coarsened && self.grain == Grain::Accesses
    }

    /// The thread of the step is about to run; when that is.
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

    /// Makes a savepoint here, if that is possible; whether there is a new one.
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

    /// Whether the state has nothing that cannot be copied.
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
        // Frames have room that nobody wrote to; where stacks are compared it has to be the same, too.
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

    /// Puts the last savepoint back. No thread is left on its stack that the engine does not know.
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
    /// Whether the stack of a thread is as it was when the thread ran last, unless that was told.
    fn are_writes_told(&self) -> bool {
        let native = self.config.native;
        native.is_none_or(|native| !native.memory.has_unseen_writes())
    }

    /// The thread has not been started.
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

/// Makes a column like another one; most of them are empty.
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
        // Others belong to Rust's threads, or to what `can_be_saved` excludes.
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
