//! The program under test: a closure that is run repeatedly.

use crate::engine::Engine;
use crate::engine::coroutine::Fibre;
use crate::engine::names::Names;
use crate::engine::panic_count::PanicCount;
use crate::engine::panic_hook;
use crate::engine::perform;
use crate::engine::trap;
use crate::engine::trap::Trap;
use crate::engine::watchdog::Watch;
use crate::native::Native;
use crate::trace::failure::Wanted;
use crate::trace::{Described, Shown, Trace};
use crate::watch::snapshot::Opaque;
use explore::{
    Bound, Divergence, Execution, Fingerprint, Footprint, Found, Halt, Interrupt, Outcome, Pending,
    Performed, Program, Schedule, Step, ThreadId,
};
use report::{Conditions, FailureKind, Goal, LeftOut, Restart, Shortcut, Suppressed, Suppression};
use std::ptr::NonNull;
use std::time::Duration;

/// The configuration under which a closure is run.
#[derive(Clone)]
pub struct Config {
    /// The conditions that schedule files and checkpoints record.
    pub conditions: Conditions,
    /// The maximum number of threads, including the main thread. More threads are a failure.
    pub max_threads: usize,
    /// Whether executions that are shown include the places of their operations.
    pub locations: bool,
    /// Whether interleavings are explored from the beginning, and not only once the program
    /// requests it ([`crate::explore`]).
    pub explores: bool,
    /// Whether counted or tracked values must be dropped.
    pub leaks_fail: bool,
    /// The number of rounds without progress that a spin loop may make in the only remaining
    /// thread, which may read the clock. If this is not 0, runs are not repeatable.
    pub waits_alone: u32,
    /// The number of bytes of a thread's stack.
    pub stack_size: usize,
    /// The time for which the operating-system thread that runs the model may be blocked. A longer
    /// wait is a failure.
    pub patience: Duration,
    /// The directory of the sources of a library on top of this crate, including the last slash.
    /// Places in it are not shown, because they do not belong to the program.
    pub library: Option<&'static str>,
    /// The configuration of programs in machine code, or `None` for Rust programs.
    pub native: Option<Native>,
    /// The shortcuts that the search does not use.
    pub without: Vec<Shortcut>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            conditions: Conditions::default(),
            max_threads: usize::MAX,
            locations: true,
            explores: true,
            leaks_fail: true,
            waits_alone: 0,
            stack_size: 256 * 1024,
            patience: Duration::from_secs(5),
            library: None,
            native: None,
            without: Vec::new(),
        }
    }
}

/// The patience with a model that has blocked or run endlessly before, and does so again when the
/// execution is recorded.
const HURRIED: Duration = Duration::from_millis(150);

/// A closure and the threads that it starts, as a program that can be explored.
///
/// Panics if it is reset inside a model, because models do not nest.
pub struct Model {
    engine: NonNull<Engine>,
    watch: Watch,
    /// Whether the model was created while a panic unwound its thread.
    is_within_panic: bool,
    /// The count of panics, or `None` until a thread of the model is suspended while a panic
    /// unwinds it.
    panics: Option<PanicCount>,
}

impl Model {
    /// Creates the program that runs `body` in its main thread.
    pub fn new(config: Config, body: impl Fn() + 'static) -> Model {
        Model::with_names(config, Names::default(), body)
    }

    /// Creates the program with names of another process, so that schedules and searches saved
    /// there fit.
    pub fn with_names(config: Config, names: Names, body: impl Fn() + 'static) -> Model {
        assert!(perform::current().is_none(), "{NESTED}");
        panic_hook::install();
        trap::install();
        let watch = Watch::begin(config.patience, config.native.is_none());
        let engine = Box::new(Engine::new(config, names, Box::new(body)));
        Model {
            engine: NonNull::from(Box::leak(engine)),
            watch,
            is_within_panic: std::thread::panicking(),
            panics: None,
        }
    }

    /// Returns the names of threads and objects interned so far, and the known coarsenings.
    pub fn names(&self) -> &Names {
        &self.engine().names
    }

    /// Returns the names mutably, for naming the threads of a schedule from a file.
    pub fn names_mut(&mut self) -> &mut Names {
        &mut self.engine_mut().names
    }

    /// Returns the name of a thread of the current execution for users.
    pub fn thread_name(&self, thread: ThreadId) -> String {
        self.engine().thread_name(thread)
    }

    /// Returns the failure of the current execution, if its outcome is a bug.
    pub fn failure(&self) -> Option<Shown> {
        self.engine().failure()
    }

    /// Returns, for users, a thread that has reached the limit of operations, and the place of its
    /// last operation.
    pub fn thread_at_limit(&self) -> Option<String> {
        let engine = self.engine();
        let is_there = |thread: &&ThreadId| {
            engine.life.pending[thread.index()] == Pending::Halted(Halt::Bound(Bound::Events))
        };
        let &thread = engine.life.started.iter().find(is_there)?;
        let name = engine.thread_name(thread);
        Some(match engine.shown_place_of(thread) {
            Some(place) => format!("{name} at {place}"),
            None => name,
        })
    }

    /// Returns all failures of the current execution, if its outcome is a bug.
    pub fn failures(&self) -> Vec<Shown> {
        self.engine().all_failures()
    }

    /// Selects the failure that [`failure`](Model::failure) and traces report for executions with
    /// several.
    pub fn want_failure(&mut self, wanted: Option<Wanted>) {
        self.engine_mut().want_failure(wanted);
    }

    /// Suppresses these failures from now on.
    pub fn suppress(&mut self, suppressions: Vec<Suppression>) {
        self.engine_mut().failures.suppressions = suppressions;
    }

    /// Checks whether the user has suppressed this failure, and counts it if so.
    pub fn suppresses(&mut self, shown: &Shown) -> bool {
        let failures = &mut self.engine_mut().failures;
        failures.may_suppress() && failures.suppresses(shown, &[])
    }

    /// Returns the distinct failures that were suppressed.
    pub fn suppressed(&self) -> Vec<Suppressed> {
        self.engine().failures.suppressed.iter().cloned().collect()
    }

    /// Adds the suppressed failures of earlier executions of another model.
    pub fn add_suppressed(&mut self, suppressed: Vec<Suppressed>) {
        self.engine_mut().failures.suppressed.extend(suppressed);
    }

    /// Checks whether a data race was suppressed.
    pub fn has_suppressed_a_race(&self) -> bool {
        let mut all = self.engine().failures.suppressed.iter();
        all.any(|own| own.kind == FailureKind::DataRace)
    }

    /// Checks whether interleavings were left out at the program's request
    /// ([`crate::stop_exploring`]).
    pub fn has_left_out(&self) -> bool {
        self.engine().has_left_out
    }

    /// Returns the observations in the executions so far that are not failures.
    pub fn warnings(&self) -> Vec<String> {
        self.engine().warnings.borrow().iter().cloned().collect()
    }

    /// Adds the warnings of earlier executions of another model.
    pub fn warned(&mut self, warnings: Vec<String>) {
        self.engine_mut().warnings.get_mut().extend(warnings);
    }

    /// Returns the known parts of the program that the executions so far have left out.
    pub fn left_out(&self) -> Vec<LeftOut> {
        self.engine().left_out.borrow().iter().cloned().collect()
    }

    /// Adds the parts left out in earlier executions of another model.
    pub fn leave_out(&mut self, left_out: Vec<LeftOut>) {
        self.engine_mut().left_out.get_mut().extend(left_out);
    }

    /// Returns why the current execution has no fingerprint, if it has none.
    pub fn opaque(&self) -> Option<Opaque> {
        self.engine().opaque()
    }

    /// Runs and records one schedule of operations, up to its end or the first step that does not
    /// fit.
    pub fn trace(&mut self, schedule: &Schedule) -> Result<Trace, Interrupt> {
        let execution = self.record(schedule)?;
        Ok(self.engine_mut().take_trace(&execution))
    }

    /// Describes the events of an execution of accesses for users. Events without a description are
    /// left out.
    pub fn describe(&mut self, execution: &Execution) -> Result<Vec<Described>, Interrupt> {
        let operations = self.refine(&execution.schedule())?;
        let operations = self.record(&operations)?;
        let described = self.engine_mut().described(execution, &operations);
        self.step_by_accesses();
        Ok(described)
    }

    /// Runs a schedule of operations and records it. All memory is watched, so the program may turn
    /// out to have coarser objects than in the search. The steps are the same.
    fn record(&mut self, schedule: &Schedule) -> Result<Execution, Interrupt> {
        self.step_by_operations();
        let engine = self.engine_mut();
        let before = (engine.watch, engine.native.is_ordering);
        engine.watch.record(true);
        engine.watch_all_memory();
        let result = loop {
            self.engine_mut().recorder.begin();
            match self.replay(schedule) {
                Err(Interrupt::Coarsened) => {}
                result => break result,
            }
        };
        let engine = self.engine_mut();
        (engine.watch, engine.native.is_ordering) = before;
        result
    }

    /// Returns why the current execution made the exploration start again
    /// (`Interrupt::Coarsened`).
    pub fn restart(&self) -> Option<Restart> {
        self.engine().life.coarsened
    }

    /// Returns the goals, each with whether an execution so far has reached it.
    pub fn goals(&self) -> &[Goal] {
        &self.engine().goals
    }

    /// Replaces the goals with those known from earlier executions of another model.
    pub fn met(&mut self, goals: Vec<Goal>) {
        self.engine_mut().goals = goals;
    }

    pub(crate) fn pointer(&self) -> NonNull<Engine> {
        self.engine
    }

    pub(crate) fn engine(&self) -> &Engine {
        // SAFETY: the engine belongs to the model, and no thread of it runs.
        unsafe { self.engine.as_ref() }
    }

    pub(crate) fn engine_mut(&mut self) -> &mut Engine {
        // SAFETY: as in `engine`.
        unsafe { self.engine.as_mut() }
    }

    /// Runs a schedule as far as it fits.
    fn replay(&mut self, schedule: &Schedule) -> Result<Execution, Interrupt> {
        let mut execution = Execution::default();
        self.reset();
        for &step in schedule {
            let request = match self.pending().get(step.thread.index()) {
                Some(Pending::Enabled(request)) => *request,
                // In the execution that the schedule comes from, a thread polls for the end of this
                // thread, so the end is an event.
                Some(Pending::Finished) => continue,
                _ => break,
            };
            execution.push(step, &request, &self.step(step)?);
        }
        Ok(execution)
    }

    /// Runs a thread to its next operation.
    pub(crate) fn resume(&mut self, thread: ThreadId) {
        let fibre = self.engine_mut().begin_run(thread);
        self.run(thread, fibre);
    }

    /// Runs the thread with this coroutine until the coroutine suspends itself.
    #[inline(always)]
    fn run(&mut self, thread: ThreadId, fibre: *mut Fibre) {
        trap::enter(self.engine);
        if self.engine().watch.compares {
            self.engine_mut().begin_comparison(thread);
        }
        let panics = self.engine().threads[thread.index()].life.panics;
        if let (1.., Some(count)) = (panics, &self.panics) {
            count.put(panics);
        }
        // SAFETY: the fibre stays at its address until the model is dropped. No reference to the
        // engine exists while the coroutine uses it.
        let is_suspended = unsafe { (*fibre).resume() };
        if panics > 0 || std::thread::panicking() {
            self.keep_panics(thread);
        }
        if !is_suspended {
            self.trapped(thread);
        } else if self.engine().watch.compares {
            self.engine_mut().end_comparison(thread);
        }
    }

    /// Stores the panics in progress of a suspended thread, which must not affect other threads.
    #[cold]
    fn keep_panics(&mut self, thread: ThreadId) {
        let is_within_panic = self.is_within_panic;
        let find = || PanicCount::find(is_within_panic);
        let panics = self.panics.get_or_insert_with(find).take();
        self.engine_mut().threads[thread.index()].life.panics = panics;
    }

    /// Handles the end of the thread's coroutine by a signal.
    #[cold]
    fn trapped(&mut self, thread: ThreadId) {
        perform::enter_root();
        let engine = self.engine;
        if let Some(control_words) = self.engine().control_words {
            control_words.set();
        }
        let trap = trap::take();
        if matches!(trap, Some(Trap::Blocked | Trap::Endless)) {
            let patience = &mut self.engine_mut().config.patience;
            *patience = (*patience).min(HURRIED);
            self.watch.hurry(HURRIED);
            // If the thread waited in `park`, its token indicates a waiting thread.
            std::thread::current().unpark();
            std::thread::park();
        }
        self.engine_mut().trapped(thread, trap, engine);
    }

    /// Performs a step. If the following steps are known, also performs those that belong to the
    /// same thread.
    #[inline(always)]
    pub(crate) fn move_on(&mut self, step: Step) -> Result<(), Interrupt> {
        let Some(fibre) = self.engine_mut().begin_step(step) else {
            return Err(self.diverged(step));
        };
        self.run(step.thread, fibre);
        self.settle();
        if self.engine().life.is_in_event {
            self.engine_mut().end_step(step.thread);
            self.settle();
        }
        if self.engine().is_coarsened() {
            return Err(Interrupt::Coarsened);
        }
        Ok(())
    }

    /// Runs threads that were started, or whose waits have ended, to their next step.
    #[inline(always)]
    pub(crate) fn settle(&mut self) {
        while let Some(ready) = self.engine_mut().take_ready() {
            self.resume(ready);
            self.engine_mut().halt_at_bound(ready);
        }
    }

    /// Ends an execution in which threads remain. Returns why the exploration has to start again, if
    /// it has to because of what they did meanwhile.
    #[cold]
    fn end(&mut self) -> Option<Restart> {
        self.engine_mut().is_run_out = true;
        let coarsened = self.run_out();
        self.engine_mut().is_run_out = false;
        if !self.engine().is_quiet() {
            self.tear_down();
        }
        coarsened
    }

    /// Returns the interrupt for a step that cannot be performed here.
    #[cold]
    fn diverged(&self, step: Step) -> Interrupt {
        Interrupt::Diverged(Divergence {
            at: self.engine().event().index(),
            thread: step.thread,
            expected: None,
            found: Found::NotEnabled,
        })
    }
}

/// The message of a model that is started inside a model.
const NESTED: &str =
    "a model is started inside another model: models cannot be nested; start it outside";

impl Program for Model {
    fn reset(&mut self) {
        assert!(perform::current().is_none(), "{NESTED}");
        let coarsened = match self.engine().is_quiet() {
            true => None,
            false => self.end(),
        };
        self.engine_mut().clear();
        self.engine_mut().life.coarsened = coarsened;
        self.begin_own();
        self.engine_mut().begin();
        self.settle();
    }

    fn pending(&self) -> &[Pending] {
        &self.engine().life.pending
    }

    #[inline]
    fn step(&mut self, step: Step) -> Result<Performed<'_>, Interrupt> {
        let is_fixed = self.engine_mut().leaves_out(step);
        self.move_on(step)?;
        let engine = self.engine_mut();
        let Engine {
            op, before, after, ..
        } = *engine;
        Ok(Performed {
            op,
            before,
            after,
            edges: &engine.edges,
            next_edges: &engine.life.next_edges,
            preempts: false,
            is_fixed,
        })
    }

    fn repeat(&mut self, execution: &Execution, returns: bool) -> Result<(), Interrupt> {
        self.begin_with(execution, returns)
    }

    fn outcome(&self) -> Outcome {
        self.engine().outcome()
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        self.engine().fingerprint()
    }

    fn footprint(&self, thread: ThreadId) -> Option<Footprint> {
        self.engine().footprint(thread)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        if !self.engine().is_quiet() {
            self.tear_down();
        }
        if self.engine().config.native.is_none() {
            self.engine_mut().clear();
        }
        trap::exit(self.engine);
        // SAFETY: `with_names` leaked the engine, and no thread of it is left on its stack.
        drop(unsafe { Box::from_raw(self.engine.as_ptr()) });
    }
}
