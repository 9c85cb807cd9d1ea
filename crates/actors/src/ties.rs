//! What a process has of others that nobody else knows: what it is told of their ends, and its tables.

use crate::exit::{Down, Exit};
use crate::{Monitor, Pid};
use runtime::{ObjectId, State};
use std::any::TypeId;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What ties a process to others, from its side.
pub(crate) struct Ties<M> {
    /// What the process is told of an exit signal, if it traps them.
    pub(crate) on_exit: RefCell<Option<Told<Exit, M>>>,
    /// What the process is told of the end of another, for each of its monitors.
    pub(crate) on_down: RefCell<BTreeMap<u32, Told<Down, M>>>,
    /// How many monitors it has made.
    monitors: Cell<u32>,
    /// Whether its tables are alive.
    pub(crate) tables: RefCell<Vec<Arc<State<bool>>>>,
    /// It tells its state, so that what it is told must capture nothing.
    is_machine: Cell<bool>,
    /// It performs an action, in which it receives nothing.
    pub(crate) is_acting: Cell<bool>,
}

/// Makes a message of a notice.
pub(crate) struct Told<N, M> {
    make: Box<dyn Fn(N) -> M>,
    function: TypeId,
}

/// Ties as a part of the state of the process.
pub(crate) type Snapshot = (Option<TypeId>, BTreeMap<u32, TypeId>, u32, Vec<ObjectId>);

impl<N, M> Told<N, M> {
    /// The message.
    pub(crate) fn message(&self, notice: N) -> M {
        (self.make)(notice)
    }
}

impl<M> Default for Ties<M> {
    fn default() -> Ties<M> {
        Ties {
            on_exit: RefCell::default(),
            on_down: RefCell::default(),
            monitors: Cell::default(),
            tables: RefCell::default(),
            is_machine: Cell::default(),
            is_acting: Cell::default(),
        }
    }
}

impl<M> Ties<M> {
    /// The process is a state machine.
    pub(crate) fn of_machine(&self) {
        self.is_machine.set(true);
    }

    /// What the process is to be told.
    pub(crate) fn told<N, F: Fn(N) -> M + 'static>(&self, told: F) -> Told<N, M> {
        assert!(size_of::<F>() == 0 || !self.is_machine.get(), "{CAPTURES}");
        Told {
            make: Box::new(told),
            function: TypeId::of::<F>(),
        }
    }

    /// One more monitor, of whose news the process is told so.
    pub(crate) fn monitor<N>(
        &self,
        watched: &Pid<N>,
        told: impl Fn(Down) -> M + 'static,
    ) -> Monitor {
        let number = self.monitors.get();
        self.monitors.set(number + 1);
        self.on_down.borrow_mut().insert(number, self.told(told));
        Monitor::new(watched.id().clone(), number)
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let on_exit = self.on_exit.borrow().as_ref().map(|told| told.function);
        let on_down = self.on_down.borrow();
        let on_down = on_down
            .iter()
            .map(|(&number, told)| (number, told.function));
        let tables = self.tables.borrow();
        let tables = tables.iter().map(|is_alive| is_alive.object()).collect();
        (on_exit, on_down.collect(), self.monitors.get(), tables)
    }
}

const CAPTURES: &str = "what makes a message of the end of a process captures something, in a process that is a \
                        state machine: what it needs belongs to the behaviour";
