//! The guests of the engine: the data that the front-ends and the watchers keep about an execution
//! and its threads. The engine calls them through the trait [`Guest`].

pub(crate) use crate::rust::pools::{Objects, Wait};

use crate::config::Config;
use crate::engine::dependence::DependsOn;
use crate::engine::guest::{Comparison, Guest};
use crate::engine::life::life;
use crate::engine::names::Names;
use crate::engine::pool::Pool;
use crate::engine::trap::Trap;
use crate::engine::watch::Watch;
use crate::engine::{Engine, Panic, Thread};
use crate::memory::arena::Heap;
use crate::memory::reclaim;
use crate::memory::residents::Residents;
use crate::native::reuse::alternatives;
use crate::native::{self, EndOfThread, Savepoints};
use crate::rust::end_of_statics::{self, Ending};
use crate::rust::exploration::Exploration;
use crate::rust::lazy::{Making, Static};
use crate::rust::local::{self, Locals};
use crate::rust::object::Condition;
use crate::rust::owner::Owned;
use crate::rust::plain::State as PlainState;
use crate::rust::strengthening::Strengthening;
use crate::rust::versions::Versions;
use crate::trace::failure::Failures;
use crate::trace::recorder::Recorder;
use crate::trace::sampling::Sampled;
use crate::trace::source::Spot;
use crate::watch::await_rule::round::Round;
use crate::watch::await_rule::segment::Segment;
use crate::watch::happens_before::HappensBefore;
use crate::watch::hidden::Hidden;
use crate::watch::snapshot::Snapshots;
use crate::watch::undone::History;
use explore::{
    EventId, Execution, Fingerprint, Footprint, ObjectId, Outcome, Pending, Step, ThreadId,
};
use objects::{ChannelWait, Sent};
use report::{Goal, LeftOut, Shortcut};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering::Relaxed;

/// The data of the guests about the current execution, and about all executions.
pub(crate) struct Guests {
    /// The heap of the running thread.
    pub(crate) heap: *mut Heap,
    /// What the running thread changes in memory until the next switch, for the await rule.
    pub(crate) segment: Segment,
    /// The search for synchronization outside the model.
    pub(crate) hidden: Hidden,
    /// Effects that a round of a loop may undo, for the await rule.
    pub(crate) history: History,
    /// Whether the effect of the current event (or its absence) is already recorded.
    pub(crate) is_effect_recorded: bool,
    /// While statics are being dropped: the state to restore afterwards. Otherwise `None`.
    pub(crate) ending: Option<Ending>,
    /// Whether a destructor of a static was stopped, so that values that it owned may remain.
    pub(crate) has_lost_statics: bool,
    pub(crate) plain: Pool<PlainState>,
    /// The values of atomic variables that a read may get.
    pub(crate) versions: Versions,
    /// Objects that are accessed with an ordering weaker than `SeqCst`, each with the place of one
    /// of these accesses. Recorded only if the choice of the memory model depends on them.
    pub(crate) weak_orderings: FxHashMap<ObjectId, Spot>,
    /// While a repair is searched for: orderings that are stronger than those of the program.
    pub(crate) strengthening: Option<Strengthening>,
    pub(crate) statics: Vec<Static>,
    /// Leaked memory of values of lazy statics from earlier executions, for reuse by the same
    /// static. Pairs of (address of the static, memory).
    pub(crate) spare_statics: Vec<(usize, *mut ())>,
    /// Objects that are named by their place in memory, and copies of statics.
    pub(crate) residents: Residents,
    /// Values that must be dropped or freed before the end.
    pub(crate) owned: Pool<Owned>,
    /// For each address that `into_raw` has returned, the number in `owned` of the value at this
    /// address, which has counted owners.
    pub(crate) raw_arcs: BTreeMap<usize, u32>,
    /// The number in `owned` of each block of tracked memory, by address.
    pub(crate) raw_memory: BTreeMap<usize, u32>,
    pub(crate) failures: Failures,
    /// Whether interleavings are explored in the current part of the execution.
    pub(crate) exploration: Exploration,
    /// Whether some execution left out alternatives because of `exploration`.
    pub(crate) has_left_out: bool,
    /// Warnings: observations in executions so far that are not failures.
    pub(crate) warnings: RefCell<BTreeSet<String>>,
    /// Parts of the program's behaviour that executions so far are known to have left out.
    pub(crate) left_out: RefCell<BTreeSet<LeftOut>>,
    /// The goals, in the order in which they first occurred in any execution.
    pub(crate) goals: Vec<Goal>,
    pub(crate) happens_before: HappensBefore,
    pub(crate) recorder: Recorder,
    pub(crate) sampled: Sampled,
    pub(crate) snapshots: Snapshots,
    pub(crate) native: native::State,
    pub(crate) savepoints: Savepoints,
}

/// The data of the guests about a thread.
pub(crate) struct ThreadGuests {
    /// Boxed, so that it does not move while its thread runs and starts other threads.
    pub(crate) heap: Box<Heap>,
    /// Whether the thread's plain accesses to its own stack are not events.
    pub(crate) has_private_stack: bool,
    /// The number of the thread's last run, as counted by `Savepoints`.
    pub(crate) run: u64,
    pub(crate) locals: Locals,
    /// The lazy static whose value the thread is creating, if any.
    pub(crate) making: Option<Making>,
}

life! {
    /// The data of the guests about a thread in one execution.
    pub(crate) struct ThreadGuestsLife {
        /// The number of allocations that reused a freed block.
        pub(crate) reused: u32,
        /// The condition of an object that the thread awaits, if it stopped because the condition
        /// did not hold.
        pub(crate) condition: Option<Condition>,
        /// What the thread has done since its last effect, for the await rule.
        pub(crate) round: Round,
        /// Whether the thread is a server, whose wait for letters at the end is not a deadlock.
        pub(crate) serves: bool,
        /// The address of the frame of the call in which the thread was last suspended, or 0 if it
        /// was never suspended. No frames of the program lie below this address.
        pub(crate) frame: usize,
        /// The bounds of the memory on the thread's stack that other threads have accessed, as far
        /// as it may belong to functions that have not returned.
        pub(crate) shared_locals: Option<(usize, usize)>,
    }
}

impl Guest for Guests {
    type Suspended = *const native::Frame;

    fn new(config: &Config, names: &mut Names) -> (Guests, Watch) {
        let mut native = native::State::new(config);
        let watches_all = config.without.contains(&Shortcut::Ownership);
        if names.has_plain_memory() {
            native.ownership.give_up();
            native.is_ordering = names.orders_atomics();
        }
        if !native.is_raced || watches_all {
            native.watch_all();
        }
        if native.are_stacks_events(config) {
            names.wipe_stacks();
        }
        let watch = Watch {
            races: names.has_plain_memory() || native.is_raced && watches_all,
            reads: names.has_hints() || names.has_loops(),
            stacks: names.has_hints(),
            ..Watch::default()
        };
        let guests = Guests {
            heap: ptr::null_mut(),
            segment: Segment::default(),
            hidden: Hidden::default(),
            history: History::default(),
            is_effect_recorded: false,
            ending: None,
            has_lost_statics: false,
            plain: Pool::default(),
            versions: Versions::default(),
            weak_orderings: FxHashMap::default(),
            strengthening: None,
            statics: Vec::new(),
            spare_statics: Vec::new(),
            residents: Residents::default(),
            owned: Pool::default(),
            raw_arcs: BTreeMap::new(),
            raw_memory: BTreeMap::new(),
            failures: Failures::default(),
            exploration: Exploration::On,
            has_left_out: false,
            warnings: RefCell::default(),
            left_out: RefCell::default(),
            goals: Vec::new(),
            happens_before: HappensBefore::new(config.conditions.memory),
            recorder: Recorder::default(),
            sampled: Sampled::default(),
            snapshots: Snapshots::default(),
            native,
            savepoints: Savepoints::default(),
        };
        (guests, watch)
    }

    fn forget_execution(engine: &mut Engine) {
        // The requests in savepoints refer to the objects as they were before the coarsening. The
        // savepoints are forgotten now, because failures may be repeated before the search starts
        // again, and these executions do not know that an earlier one was coarsened.
        if engine.is_coarsened() {
            engine.guests.savepoints.forget();
        }
        engine.guests.snapshots.clear();
        engine.forget_sample();
    }

    #[inline]
    fn forget_thread(thread: &mut Thread) -> usize {
        thread.guests.heap.reset()
    }

    #[inline]
    fn clear(engine: &mut Engine, left: usize) {
        engine.guests.savepoints.begin();
        engine.guests.plain.clear();
        engine.guests.versions.clear();
        engine.forget_statics();
        engine.guests.has_lost_statics = false;
        engine.clear_owned();
        engine.guests.failures.clear();
        engine.guests.native.clear();
        engine.guests.segment.forget();
        if engine.watch.compares {
            engine.guests.hidden.clear();
        }
        engine.guests.history.clear();
        if engine.watch.races {
            engine.guests.happens_before.clear();
        }
        if reclaim::is_due(left) {
            engine.reclaim();
        }
    }

    fn prepare(engine: &mut Engine) {
        engine.begin_own();
    }

    fn begin(engine: &mut Engine) {
        engine.guests.exploration = match engine.config.explores {
            true => Exploration::On,
            false => Exploration::Off,
        };
    }

    fn find_savepoint(engine: &mut Engine, execution: &Execution) -> bool {
        engine.config.native.is_some() && engine.find_savepoint(execution)
    }

    fn restore(engine: &mut Engine) {
        engine.restore();
    }

    fn next_savepoint(engine: &Engine, execution: &Execution, returns: bool) -> Option<usize> {
        engine.next_savepoint(execution, returns)
    }

    fn save(engine: &mut Engine) -> bool {
        engine.save()
    }

    fn outcome(engine: &Engine) -> Outcome {
        engine.outcome()
    }

    fn fingerprint(engine: &Engine) -> Option<Fingerprint> {
        engine.fingerprint()
    }

    fn footprint(engine: &Engine, thread: ThreadId) -> Option<Footprint> {
        engine.footprint(thread)
    }

    fn misuse(engine: &mut Engine, message: &str) {
        engine.misuse(message);
    }

    fn add_thread(engine: &mut Engine) {
        engine.guests.residents.add_thread();
    }

    fn add_stack(_: &mut Engine, start: usize, end: usize) {
        native::include_stack(start, end);
    }

    #[inline]
    fn start(engine: &mut Engine, thread: ThreadId, parent: Option<ThreadId>) {
        let has_private_stack = engine.begins_with_private_stack(thread);
        let guests = &mut engine.threads[thread.index()].guests;
        guests.has_private_stack = has_private_stack;
        guests.locals.forget();
        guests.making = None;
        if engine.watch.compares {
            engine.guests.hidden.started(thread, parent);
        }
        if engine.watch.races {
            engine.guests.happens_before.started(thread, parent);
            if engine.watch.audits {
                engine.guests.native.audit.started(thread, parent);
            }
        }
    }

    #[inline(always)]
    fn enter(engine: &mut Engine, thread: ThreadId) {
        let run = engine.guests.savepoints.next_run();
        let guests = &mut engine.threads[thread.index()].guests;
        guests.run = run;
        engine.guests.heap = &raw mut *guests.heap;
    }

    #[inline(always)]
    fn wake(engine: &mut Engine, thread: ThreadId, wait: Wait) {
        let run = engine.guests.savepoints.next_run();
        let woken = &mut engine.threads[thread.index()];
        woken.guests.run = run;
        if !wait.is_for_lock() {
            woken.life.guests.round.take_effect();
        }
    }

    #[inline]
    fn has_locals(engine: &mut Engine) -> bool {
        engine.has_locals()
    }

    fn drop_locals() {
        local::drop_locals();
    }

    #[inline]
    unsafe fn drop_statics(engine: NonNull<Engine>) {
        // SAFETY: as promised by the caller.
        unsafe { end_of_statics::drop_statics(engine) };
    }

    fn is_dropping_statics(engine: &Engine) -> bool {
        engine.guests.ending.is_some()
    }

    fn lose_destructor(engine: &mut Engine) {
        engine.lose_destructor();
    }

    fn is_end_of_thread(payload: &Panic) -> bool {
        payload.is::<EndOfThread>()
    }

    #[inline]
    fn end(engine: &mut Engine) {
        engine.guests.segment.forget();
    }

    fn panicked(engine: &mut Engine) {
        engine.panicked();
    }

    fn unwound(engine: &mut Engine, thread: ThreadId, panic: Panic) -> Pending {
        engine.unwound(thread, panic)
    }

    fn trapped(engine: &mut Engine, thread: ThreadId, trap: Option<Trap>) {
        engine.trapped(thread, trap);
    }

    fn can_unwind(engine: &Engine) -> bool {
        let is_native = engine.config.native.is_some();
        !is_native && engine.watch.states && engine.opaque().is_none()
    }

    fn has_changed_system(_: &Engine) -> bool {
        native::CHANGES_SYSTEM.load(Relaxed)
    }

    fn abandon_all(engine: &mut Engine) {
        engine.guests.snapshots.forget();
    }

    fn abandon(thread: &mut Thread) {
        thread.guests.run = 0;
        thread.guests.locals.forget();
    }

    #[inline(always)]
    fn is_fixed(engine: &mut Engine, step: Step) -> bool {
        engine.leaves_out(step)
    }

    #[inline(always)]
    fn begin_event(engine: &mut Engine, step: Step) {
        engine.guests.is_effect_recorded = false;
        engine.record_step(step);
        Guests::enter(engine, step.thread);
        if engine.watch.records_or_samples {
            engine.record_begin(step.thread);
        }
    }

    #[inline(always)]
    fn complete_event(engine: &mut Engine) {
        if engine.guests.native.written.is_some() {
            engine.complete_write();
        }
    }

    #[cold]
    fn end_event(engine: &mut Engine, thread: ThreadId) {
        if engine.watch.reads {
            engine.record_effect(thread);
        }
        if engine.watch.states && thread == ThreadId::MAIN {
            engine.watch_main();
        }
        if engine.watch.records {
            engine.guests.recorder.end_event(engine.op);
        }
    }

    #[inline(always)]
    fn perform_part(engine: &mut Engine, wait: Option<Wait>) {
        if !wait.is_some_and(Wait::is_for_lock) {
            engine.thread().life.guests.round.take_effect();
        }
    }

    fn record_end(engine: &mut Engine) {
        engine.record(|_| "end".to_owned());
    }

    fn alternatives(engine: &Engine, on: DependsOn) -> u32 {
        match on {
            DependsOn::Value => 1,
            DependsOn::Waiters(condvar) => engine.life.objects.condvars.get(condvar).alternatives(),
            DependsOn::Freed(size) => {
                alternatives(engine.guests.native.life.objects.freed.get(&size))
            }
        }
    }

    fn compare(engine: &mut Engine, at: Comparison) {
        match at {
            Comparison::BeforeRun(thread) => engine.begin_comparison(thread),
            Comparison::AfterRun(thread) => engine.end_comparison(thread),
            Comparison::BeforeEffect => engine.compare_before_effect(),
        }
    }

    fn end_effect(engine: &mut Engine) {
        engine.end_effect();
    }

    fn suspend(engine: &mut Engine) {
        engine.end_segment();
    }

    #[inline(always)]
    fn keep(engine: &mut Engine) -> *const native::Frame {
        engine.record_frame()
    }

    #[inline(always)]
    fn resume(kept: *const native::Frame) {
        native::restore_frame(kept);
    }

    #[inline]
    fn wait(engine: &mut Engine) {
        engine.stop_at_deadlock();
    }

    #[inline]
    fn end_wait(engine: &mut Engine, wait: Wait, edges: &[EventId]) {
        engine.end_frames();
        if engine.watch.races {
            match wait {
                Wait::Unpark(thread) => engine.guests.happens_before.parked(thread),
                // The end of the receiver orders nothing.
                Wait::Channel(channel, ChannelWait::Send(ticket))
                    if engine.life.objects.channels.get(channel).sent(ticket)
                        == Sent::Disconnected => {}
                Wait::Condvar(..) | Wait::Letter(..) | Wait::Network(..) | Wait::Park(..) => {}
                _ => engine.guests.happens_before.take_up(engine.running, edges),
            }
        }
        if engine.watch.states {
            engine.learns_by_wait();
        }
    }

    #[inline]
    fn join(engine: &mut Engine, thread: ThreadId) {
        engine.end_frames();
        // The main thread is not counted, because it may be joined before it has joined all other
        // threads.
        engine.guests.native.life.joined += usize::from(thread != ThreadId::MAIN);
        if engine.watch.compares {
            engine.guests.hidden.joined(engine.running, thread);
        }
        if engine.watch.races {
            engine.guests.happens_before.joined(engine.running, thread);
            if engine.watch.audits {
                engine.guests.native.audit.joined(engine.running, thread);
            }
        }
    }
}

impl ThreadGuests {
    /// Returns the data about a thread that has not started.
    pub(crate) fn new(id: ThreadId) -> ThreadGuests {
        ThreadGuests {
            heap: Box::new(Heap::new(id)),
            has_private_stack: false,
            run: 0,
            locals: Locals::default(),
            making: None,
        }
    }
}
