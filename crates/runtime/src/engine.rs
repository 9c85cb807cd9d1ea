//! The state of an execution, shared by the model, which schedules, and the code of its threads.
//!
//! The threads are coroutines of one thread of the operating system: there is always one who uses the
//! engine, and each function that may switch to another ends all references to it first.

mod birth;
mod thread;

pub use birth::ACCESSES;
pub(crate) use thread::{Job, Thread};

use crate::arena::Heap;
use crate::control_words::ControlWords;
use crate::coroutine::Suspender;
use crate::end_of_statics::Ending;
use crate::exploration::Exploration;
use crate::failure::Failures;
use crate::grain::Grain;
use crate::happens_before::HappensBefore;
use crate::heap_changes::HeapSegment;
use crate::hidden::Hidden;
use crate::lazy::Static;
use crate::look::Noted;
use crate::mailbox::State as MailboxState;
use crate::model::Config;
use crate::mutex::State as MutexState;
use crate::names::Names;
use crate::native::{self, Savepoints};
use crate::once::State as OnceState;
use crate::owner::Owned;
use crate::plain::State as PlainState;
use crate::pool::Pool;
use crate::reclaim;
use crate::recorder::Recorder;
use crate::residents::Residents;
use crate::snapshot::Snapshots;
use crate::step::DependsOn;
use crate::thread::forget_panic;
use crate::undone::History;
use explore::{EventId, Execution, ObjectId, Op, Pending, ThreadId, Token};
use objects::Coarsening;
use report::{Goal, LeftOut, Shortcut};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ptr;

/// The execution at hand, and what is kept from one execution to the next.
pub(crate) struct Engine {
    /// Indexed by thread.
    pub(crate) pending: Vec<Pending>,
    pub(crate) threads: Vec<Thread>,
    /// Threads that were started in this execution, in that order.
    pub(crate) born: Vec<ThreadId>,
    /// Born threads that have not come to the end of their code.
    pub(crate) live: usize,
    /// Whose code runs.
    pub(crate) running: ThreadId,
    /// How often a thread was made to run, in all executions.
    pub(crate) resumes: u64,
    pub(crate) suspender: *const Suspender,
    /// How the checker computes with floating-point numbers; none if the program computes likewise, as Rust does.
    pub(crate) control_words: Option<ControlWords>,
    /// The heap of the thread that runs.
    pub(crate) heap: *mut Heap,
    pub(crate) heap_segment: HeapSegment,
    pub(crate) hidden: Hidden,
    pub(crate) history: History,
    /// Whether it is known of the event at hand if it changed anything.
    pub(crate) is_effect_noted: bool,
    /// Which alternative of the operation at hand is performed.
    pub(crate) choice: u32,
    /// Number of events so far: the event at hand has this number.
    pub(crate) events: u32,
    /// The operation at hand as it is performed.
    pub(crate) op: Op,
    pub(crate) before: Token,
    pub(crate) after: Token,
    pub(crate) edges: Vec<EventId>,
    /// After edges of next events of threads that became known in the step at hand.
    pub(crate) next_edges: Vec<(ThreadId, EventId)>,
    /// The after edges of the wait that ends.
    pub(crate) granting: Vec<EventId>,
    /// Who waits for what object.
    pub(crate) waiting: Vec<(ThreadId, ObjectId)>,
    /// Threads whose pending operation depends on the state of its object, and how.
    pub(crate) conditional: Vec<(ThreadId, DependsOn)>,
    /// Threads that run on before the step is over: they were started, or their wait has ended.
    ready: VecDeque<ThreadId>,
    /// Threads that were started and have not begun, while they begin as late as they can.
    pub(crate) late: Option<Vec<ThreadId>>,
    /// A thread that starts another one lets it run to its first operation.
    pub(crate) children_go_first: bool,
    pub(crate) grain: Grain,
    /// Where every operation is a step: threads that would run on by accesses, in that order.
    pub(crate) woken: VecDeque<ThreadId>,
    /// The events to come, while an execution is repeated, and how many of them are.
    pub(crate) script: *const Execution,
    pub(crate) script_end: usize,
    /// Whether an event has begun and not ended.
    pub(crate) is_in_event: bool,
    pub(crate) watch: Watch,
    /// Whether the threads are being unwound after the end of the execution.
    pub(crate) is_tearing_down: bool,
    /// Whether the execution is over, and its threads are let run to their ends.
    pub(crate) is_run_out: bool,
    /// The statics are being dropped.
    pub(crate) ending: Option<Ending>,
    /// Whether a destructor of a static was stopped, so that what it owns may be left.
    pub(crate) has_lost_statics: bool,
    /// Whether objects became coarser in this execution.
    pub(crate) is_coarsened: bool,
    pub(crate) objects: Objects,
    pub(crate) plain: Pool<PlainState>,
    /// Accesses of plain memory.
    pub(crate) touches: u64,
    pub(crate) statics: Vec<Static>,
    /// Memory of values of statics that were forgotten, by the address of the static.
    pub(crate) spare_statics: Vec<(usize, *mut ())>,
    pub(crate) residents: Residents,
    /// What has to be dropped or freed before the end.
    pub(crate) owned: Pool<Owned>,
    /// By address: the number of what a raw pointer may stand for a share of.
    pub(crate) raw_arcs: BTreeMap<usize, u32>,
    /// By address: the number of memory that was allocated.
    pub(crate) raw_memory: BTreeMap<usize, u32>,
    pub(crate) failures: Failures,
    pub(crate) exploration: Exploration,
    /// Whether something was left out for it, in any execution.
    pub(crate) has_left_out: bool,
    /// What was noticed in any execution that is no failure.
    pub(crate) warnings: RefCell<BTreeSet<String>>,
    /// What any execution is known to have left out.
    pub(crate) left_out: RefCell<BTreeSet<LeftOut>>,
    /// In the order in which they were met in any execution.
    pub(crate) goals: Vec<Goal>,
    pub(crate) names: Names,
    pub(crate) happens_before: HappensBefore,
    pub(crate) recorder: Recorder,
    pub(crate) noted: Noted,
    /// Indexed by object: the value that was last written. Known while reads are watched.
    pub(crate) values: Vec<Option<Token>>,
    pub(crate) snapshots: Snapshots,
    pub(crate) native: native::State,
    pub(crate) savepoints: Savepoints,
    pub(crate) config: Config,
    body: Box<dyn Fn()>,
}

/// What else has to be told of each operation; rarely anything.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Watch {
    /// The execution is recorded for people.
    pub(crate) records: bool,
    /// It is noted where events stand.
    pub(crate) looks: bool,
    /// One of the two above.
    pub(crate) notes: bool,
    /// It is audited.
    pub(crate) audits: bool,
    /// Memory is compared, to find synchronisation that the model does not see.
    pub(crate) compares: bool,
    /// Data races are looked for.
    pub(crate) races: bool,
    /// Somebody goes by the await rule.
    pub(crate) reads: bool,
    /// The await rule compares the stacks of threads as they are at hints.
    pub(crate) stacks: bool,
    /// Somebody tells its state.
    pub(crate) states: bool,
}

impl Watch {
    /// Whether anything has to be told.
    #[inline(always)]
    pub(crate) fn is_on(self) -> bool {
        self.records | self.races | self.reads | self.states
    }

    /// Whether the end of an effect has to be told.
    #[inline(always)]
    pub(crate) fn looks_at_effects(self) -> bool {
        self.reads | self.compares
    }

    /// Whether all accesses are reported, also those that are usually left out as harmless.
    #[inline(always)]
    pub(crate) fn sees_all(self) -> bool {
        self.records | self.audits
    }

    /// Begins or ends to record executions.
    pub(crate) fn record(&mut self, records: bool) {
        self.records = records;
        self.notes = records | self.looks;
    }

    /// Begins or ends to look at executions.
    pub(crate) fn look(&mut self, looks: bool) {
        self.looks = looks;
        self.notes = looks | self.records;
    }
}

/// The synchronisation objects of the execution.
#[derive(Default)]
pub(crate) struct Objects {
    pub(crate) mutexes: Pool<MutexState>,
    pub(crate) rwlocks: Pool<objects::RwLock>,
    pub(crate) condvars: Pool<objects::Condvar>,
    pub(crate) semaphores: Pool<objects::Semaphore>,
    pub(crate) barriers: Pool<objects::Barrier>,
    pub(crate) onces: Pool<OnceState>,
    pub(crate) channels: Pool<objects::Channel>,
    pub(crate) mailboxes: Pool<MailboxState>,
    pub(crate) networks: Pool<objects::Network>,
    pub(crate) notifies: Pool<objects::Park>,
    /// Indexed by thread.
    pub(crate) parks: Vec<objects::Park>,
    /// Indexed by thread.
    pub(crate) ends: Vec<objects::Thread>,
}

impl Engine {
    pub(crate) fn new(config: Config, mut names: Names, body: Box<dyn Fn()>) -> Engine {
        let mut native = native::State::new(config.native);
        let watches_all = config.without.contains(&Shortcut::Ownership);
        if names.has_plain_memory() {
            native.ownership.give_up();
            native.is_ordering = names.orders_atomics();
        }
        if !native.is_raced || watches_all {
            native.watch_all();
        }
        if native.are_stacks_events(&config) {
            names.wipe_stacks();
        }
        Engine {
            pending: Vec::new(),
            threads: Vec::new(),
            born: Vec::new(),
            live: 0,
            running: ThreadId::MAIN,
            resumes: 0,
            suspender: ptr::null(),
            control_words: config
                .native
                .map(|_| ControlWords::now().without_exceptions()),
            heap: ptr::null_mut(),
            heap_segment: HeapSegment::default(),
            hidden: Hidden::default(),
            history: History::default(),
            is_effect_noted: false,
            choice: 0,
            events: 0,
            op: objects::Thread::SPAWN.on(ObjectId::NONE),
            before: Token::default(),
            after: Token::default(),
            edges: Vec::new(),
            next_edges: Vec::new(),
            granting: Vec::new(),
            waiting: Vec::new(),
            conditional: Vec::new(),
            ready: VecDeque::new(),
            late: None,
            children_go_first: false,
            grain: Grain::of_search(&config),
            woken: VecDeque::new(),
            script: ptr::null(),
            script_end: 0,
            is_in_event: false,
            watch: Watch {
                records: false,
                looks: false,
                notes: false,
                audits: false,
                compares: false,
                races: names.has_plain_memory() || native.is_raced && watches_all,
                reads: names.has_hints() || names.has_loops(),
                stacks: names.has_hints(),
                states: false,
            },
            is_tearing_down: false,
            is_run_out: false,
            ending: None,
            has_lost_statics: false,
            is_coarsened: false,
            objects: Objects::default(),
            plain: Pool::default(),
            touches: 0,
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
            names,
            happens_before: HappensBefore::default(),
            recorder: Recorder::default(),
            noted: Noted::default(),
            values: Vec::new(),
            snapshots: Snapshots::default(),
            native,
            savepoints: Savepoints::default(),
            config,
            body,
        }
    }

    /// Forgets the execution, whose threads have all ended.
    pub(crate) fn clear(&mut self) {
        self.snapshots.clear();
        self.forget_look();
        let mut left = 0;
        // The youngest first: a thread may have its name from the heap of an older one.
        while let Some(id) = self.born.pop() {
            self.pending[id.index()] = Pending::Unborn;
            let thread = &mut self.threads[id.index()];
            thread.panic.take().into_iter().for_each(forget_panic);
            thread.name = None;
            left += thread.heap.reset();
            if thread.is_lost {
                thread.is_lost = false;
                self.begin_again(id);
            }
        }
        self.live = 0;
        self.events = 0;
        self.waiting.clear();
        self.conditional.clear();
        self.ready.clear();
        self.late.iter_mut().for_each(Vec::clear);
        self.woken.clear();
        self.script = ptr::null();
        self.is_in_event = false;
        self.next_edges.clear();
        self.is_coarsened = false;
        self.savepoints.begin();
        self.objects.clear();
        self.plain.clear();
        self.forget_statics();
        self.has_lost_statics = false;
        self.clear_owned();
        self.failures.clear();
        self.values.clear();
        self.native.clear();
        self.heap_segment.forget();
        if self.watch.compares {
            self.hidden.clear();
        }
        self.history.clear();
        if self.watch.races {
            self.happens_before.clear();
        }
        if reclaim::is_due(left) {
            self.reclaim();
        }
    }

    /// The next event of the thread comes after this one.
    #[inline(always)]
    pub(crate) fn order_after(&mut self, thread: ThreadId, event: EventId) {
        self.threads[thread.index()].edges.push(event);
        self.next_edges.push((thread, event));
    }

    /// From now on data races are looked for. If there may have been some already, the exploration
    /// starts again.
    pub(crate) fn look_for_races(&mut self) {
        if self.watch.races {
            return;
        }
        self.names.meet_plain_memory();
        self.watch.races = true;
        self.happens_before.clear();
        for &thread in &self.born {
            self.happens_before.born(thread, None);
        }
        self.is_coarsened |= self.born.len() > 1;
    }

    /// The next object of the thread that runs.
    pub(crate) fn create(&mut self, parts: u32) -> ObjectId {
        let thread = &mut self.threads[self.running.index()];
        if let Some(making) = thread.making {
            return self.create_for_making(making, parts);
        }
        let number = thread.created;
        thread.created += 1;
        self.names.object(self.running, number, parts)
    }

    /// The object is coarser than announced so far: the exploration has to start again.
    pub(crate) fn coarsen(&mut self, object: ObjectId, coarsening: Coarsening) {
        if !self.names.is_coarse(object, coarsening) {
            self.names.coarsen(object, coarsening);
            self.is_coarsened = true;
        }
    }

    /// The event at hand.
    #[inline(always)]
    pub(crate) fn event(&self) -> EventId {
        EventId(self.events)
    }

    /// The thread that runs.
    #[inline(always)]
    pub(crate) fn thread(&mut self) -> &mut Thread {
        &mut self.threads[self.running.index()]
    }

    /// The value of the object before and after the event at hand.
    #[inline(always)]
    pub(crate) fn note(&mut self, before: Token, after: Token) {
        self.before = before;
        self.after = after;
    }

    /// Whether a thread runs on before the step is over.
    #[inline(always)]
    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// A thread that runs on before the step is over.
    #[inline(always)]
    pub(crate) fn take_ready(&mut self) -> Option<ThreadId> {
        self.ready.pop_front()
    }

    /// The thread runs on before the step is over.
    pub(crate) fn is_ready(&mut self, thread: ThreadId) {
        self.ready.push_back(thread);
    }

    /// Whether no thread is left on its stack.
    pub(crate) fn is_quiet(&self) -> bool {
        self.live == 0
    }

    /// The threads of the execution, in the order of their birth.
    pub(crate) fn born(&self) -> &[ThreadId] {
        &self.born
    }
}

impl Objects {
    fn clear(&mut self) {
        self.mutexes.clear();
        self.rwlocks.clear();
        self.condvars.clear();
        self.semaphores.clear();
        self.barriers.clear();
        self.onces.clear();
        self.channels.clear();
        self.mailboxes.clear();
        self.networks.clear();
        self.notifies.clear();
    }
}
