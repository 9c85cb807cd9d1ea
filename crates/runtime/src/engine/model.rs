//! The program under test: a closure that is run repeatedly.

use crate::config::Config;
use crate::engine::Engine;
use crate::engine::guest::Guest;
use crate::engine::names::Names;
use crate::engine::panic_count::PanicCount;
use crate::engine::panic_hook;
use crate::engine::perform;
use crate::engine::trap;
use crate::engine::watchdog::Watch;
use crate::guests::Guests;
use explore::{
    Execution, Fingerprint, Footprint, Interrupt, Outcome, Pending, Performed, Program, Step,
    ThreadId,
};
use report::Restart;
use std::ptr::NonNull;

/// A closure and the threads that it starts, as a program that can be explored.
///
/// Models do not nest: creating or resetting a model inside another one panics.
pub struct Model {
    pub(super) engine: NonNull<Engine>,
    /// Makes the watchdog look at the thread that created the model.
    pub(super) watch: Watch,
    /// Whether the model was created while a panic unwound its thread.
    pub(super) is_within_panic: bool,
    /// The location of the count of panics in progress, or `None` until a thread of the model is
    /// suspended while a panic unwinds it.
    pub(super) panics: Option<PanicCount>,
}

impl Model {
    /// Creates the program that runs `body` in its main thread.
    pub fn new(config: Config, body: impl Fn() + 'static) -> Model {
        Model::with_names(config, Names::default(), body)
    }

    /// Creates the program with the names of another process, so that it can use schedules and
    /// searches that this process has saved.
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

    /// Sets whether executions may show new loops in machine code. If not, threads stop only in the
    /// loops that are known.
    pub fn find_loops(&mut self, finds_loops: bool) {
        self.engine_mut().finds_loops = finds_loops;
    }

    /// Returns the names mutably, so that a schedule from a file can be converted to ids.
    pub fn names_mut(&mut self) -> &mut Names {
        &mut self.engine_mut().names
    }

    /// Checks at the end of an execution whether it shows that twins must not be exchanged. Then
    /// the search must start again ([`Interrupt::Coarsened`]).
    pub fn tells_twins_apart(&mut self) -> bool {
        self.engine_mut().tells_twins_apart()
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

    /// Ends an execution in which threads remain. These threads may still perform operations. If
    /// the operations require that the exploration starts again, returns the reason.
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
        Guests::prepare(self.engine_mut());
        self.engine_mut().begin();
        self.settle();
    }

    fn pending(&self) -> &[Pending] {
        &self.engine().life.pending
    }

    #[inline]
    fn step(&mut self, step: Step) -> Result<Performed<'_>, Interrupt> {
        let is_fixed = Guests::is_fixed(self.engine_mut(), step);
        self.advance(step)?;
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
        Guests::outcome(self.engine())
    }

    fn twin(&self, thread: ThreadId) -> Option<ThreadId> {
        self.engine().twin(thread)
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        Guests::fingerprint(self.engine())
    }

    fn footprint(&self, thread: ThreadId) -> Option<Footprint> {
        Guests::footprint(self.engine(), thread)
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
