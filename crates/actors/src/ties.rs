//! The private data of a process about its relations: functions that turn notices into messages,
//! and the tables that it owns.

use crate::exit::{Down, Exit};
use crate::{Monitor, Pid};
use runtime::{ObjectId, State};
use std::any::TypeId;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The private data of a process about its relations.
pub(crate) struct Ties<M> {
    /// Turns an exit signal into a message, if the process traps exits.
    pub(crate) on_exit: RefCell<Option<Conversion<Exit, M>>>,
    /// For each monitor of this process, turns the end of the monitored process into a message.
    pub(crate) on_down: RefCell<BTreeMap<u32, Conversion<Down, M>>>,
    /// The number of monitors that the process has created.
    monitors: Cell<u32>,
    /// For each table of the process, whether it is alive.
    pub(crate) tables: RefCell<Vec<Arc<State<bool>>>>,
    /// Whether the process is a state machine, which reports its state. If so, functions that turn
    /// notices into messages must not capture anything.
    is_machine: Cell<bool>,
    /// Whether the process is performing an action, during which it must not receive.
    pub(crate) is_acting: Cell<bool>,
}

/// A function that turns a notice into a message.
pub(crate) struct Conversion<N, M> {
    make: Box<dyn Fn(N) -> M>,
    function: TypeId,
}

/// The ties as part of the state of the process.
pub(crate) type Snapshot = (Option<TypeId>, BTreeMap<u32, TypeId>, u32, Vec<ObjectId>);

impl<N, M> Conversion<N, M> {
    /// Returns the message of a notice.
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
    /// Marks the process as a state machine.
    pub(crate) fn of_machine(&self) {
        self.is_machine.set(true);
    }

    /// Wraps a function that turns a notice into a message.
    pub(crate) fn conversion<N, F: Fn(N) -> M + 'static>(&self, convert: F) -> Conversion<N, M> {
        assert!(size_of::<F>() == 0 || !self.is_machine.get(), "{CAPTURES}");
        Conversion {
            make: Box::new(convert),
            function: TypeId::of::<F>(),
        }
    }

    /// Creates a monitor of `watched`. `convert` turns the notice of its end into a message.
    pub(crate) fn monitor<N>(
        &self,
        watched: &Pid<N>,
        convert: impl Fn(Down) -> M + 'static,
    ) -> Monitor {
        let number = self.monitors.get();
        self.monitors.set(number + 1);
        self.on_down
            .borrow_mut()
            .insert(number, self.conversion(convert));
        Monitor::new(watched.id().clone(), number)
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let on_exit = self
            .on_exit
            .borrow()
            .as_ref()
            .map(|conversion| conversion.function);
        let on_down = self.on_down.borrow();
        let on_down = on_down
            .iter()
            .map(|(&number, conversion)| (number, conversion.function));
        let tables = self.tables.borrow();
        let tables = tables.iter().map(|is_alive| is_alive.object()).collect();
        (on_exit, on_down.collect(), self.monitors.get(), tables)
    }
}

const CAPTURES: &str = "in a process that is a state machine, the function that turns the end of a process into a \
                        message captures something: store it in the behaviour";
