//! Creates the engine, and resets it between executions.

use crate::config::Config;
use crate::engine::control_words::ControlWords;
use crate::engine::granularity::StepGranularity;
use crate::engine::guest::Guest;
use crate::engine::life::Life;
use crate::engine::names::Names;
use crate::engine::{Engine, ExecutionLife, forget_panic};
use crate::guests::Guests;
use explore::{ObjectId, ReadsFrom, ThreadId, ValueId};
use std::ptr;

impl Engine {
    pub(crate) fn new(config: Config, mut names: Names, body: Box<dyn Fn()>) -> Engine {
        let (guests, watch) = Guests::new(&config, &mut names);
        Engine {
            life: ExecutionLife::new(),
            threads: Vec::new(),
            running: ThreadId::MAIN,
            resumes: 0,
            suspender: ptr::null(),
            control_words: config
                .native
                .map(|_| ControlWords::now().without_exceptions()),
            choice: 0,
            op: objects::Thread::SPAWN.on(ObjectId::NONE),
            reads_from: ReadsFrom::LAST,
            before: ValueId::default(),
            after: ValueId::default(),
            edges: Vec::new(),
            granting: Vec::new(),
            late: None,
            children_go_first: false,
            granularity: StepGranularity::of_search(&config),
            finds_loops: true,
            script: ptr::null(),
            script_end: 0,
            watch,
            is_tearing_down: false,
            is_run_out: false,
            touches: 0,
            names,
            guests,
            config,
            body,
        }
    }

    /// Forgets the execution, whose threads have all ended or been abandoned.
    pub(crate) fn clear(&mut self) {
        Guests::forget_execution(self);
        let mut left = 0;
        // Remove the youngest thread first: its name may be on the heap of an older thread.
        while let Some(id) = self.life.started.pop() {
            left += self.reset_thread(id);
        }
        self.life.begin();
        self.fit_columns();
        self.late.iter_mut().for_each(Vec::clear);
        self.script = ptr::null();
        Guests::clear(self, left);
    }

    /// Forgets a thread of the execution. Returns the number of bytes that it left in use on its
    /// heap.
    #[inline]
    pub(crate) fn reset_thread(&mut self, id: ThreadId) -> usize {
        let thread = &mut self.threads[id.index()];
        thread.panic.take().into_iter().for_each(forget_panic);
        thread.caught_panic = None;
        thread.life.name = None;
        let left = Guests::forget_thread(thread);
        if thread.life.is_lost {
            thread.life.is_lost = false;
            self.begin_again(id);
        }
        left
    }
}
