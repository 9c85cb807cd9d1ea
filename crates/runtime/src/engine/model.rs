//! The program under test: a closure that is run repeatedly.

use crate::config::Config;
use crate::engine::Engine;
use crate::engine::coroutine::Fibre;
use crate::engine::names::Names;
use crate::engine::panic_count::PanicCount;
use crate::engine::panic_hook;
use crate::engine::perform;
use crate::engine::trap;
use crate::engine::trap::Trap;
use crate::engine::watchdog::Watch;
use explore::{
    Divergence, Execution, Fingerprint, Footprint, Found, Interrupt, Outcome, Pending, Performed,
    Program, Step, ThreadId,
};
use report::Restart;
use std::ptr::NonNull;
use std::time::Duration;

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
