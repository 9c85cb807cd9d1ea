//! The actions of a process that is a state machine.

use crate::behaviour::Behaviour;
use crate::ties::Ties;
use crate::{Down, Key, Message, Monitor, Pid, Process, System, Table, Value};
use runtime::Fingerprint;
use std::any::TypeId;
use std::collections::VecDeque;
use std::hash::Hash;
use std::panic::Location;
use std::rc::Rc;

/// The actions that a process performs after a reaction, in order.
pub struct Actions<M> {
    me: Pid<M>,
    system: System,
    ties: Rc<Ties<M>>,
    pub(crate) actions: VecDeque<Action<M>>,
}

/// One action of a process.
pub(crate) struct Action<M> {
    /// Identifies the action in the state of the process.
    pub(crate) fingerprint: Fingerprint,
    /// The place in the source that added the action.
    pub(crate) location: &'static Location<'static>,
    /// Performs the action. Returns the answer if the action is an [`ask`](Actions::ask).
    pub(crate) perform: Perform<M>,
}

type Perform<M> = Box<dyn FnOnce(&Process<M>) -> Option<M>>;

impl<M: Message> Actions<M> {
    pub(crate) fn of(process: &Process<M>) -> Actions<M> {
        Actions {
            me: process.pid(),
            system: process.system(),
            ties: Rc::clone(&process.ties),
            actions: VecDeque::new(),
        }
    }

    /// Returns the id of the current process.
    pub fn pid(&self) -> Pid<M> {
        self.me.clone()
    }

    /// Creates a table that this process owns. The table is deleted when the process ends.
    #[track_caller]
    pub fn table<K: Key, V: Value>(&self, name: &str) -> Table<K, V> {
        let table = self.system.table(name);
        self.ties.own(&table);
        table
    }

    /// Sends a message.
    #[track_caller]
    pub fn send<N: Message + Eq + Hash>(&mut self, to: &Pid<N>, message: N) {
        let to = to.clone();
        let fingerprint = Fingerprint::of((to.clone(), message.clone()));
        self.add(fingerprint.clone(), move |_| {
            to.send_as(message, Some(fingerprint));
            None
        });
    }

    /// Starts a process that is a state machine. Later actions may send messages to it.
    #[track_caller]
    pub fn spawn<B: Behaviour>(&mut self, name: &str, behaviour: B) -> Pid<B::Message> {
        let child = self.child(name);
        self.add_start(&child, behaviour, |_, _| ());
        child
    }

    /// Starts a process that is a state machine and is linked to this one from its start.
    #[track_caller]
    pub fn spawn_link<B: Behaviour>(&mut self, name: &str, behaviour: B) -> Pid<B::Message> {
        let child = self.child(name);
        self.add_start(&child, behaviour, Process::link_child);
        child
    }

    /// Starts a process that is a state machine and is monitored from its start: see
    /// [`Process::monitor`].
    #[track_caller]
    pub fn spawn_monitor<B: Behaviour>(
        &mut self,
        name: &str,
        behaviour: B,
        convert: impl Fn(Down) -> M + 'static,
    ) -> (Pid<B::Message>, Monitor) {
        let child = self.child(name);
        let monitor = self.ties.monitor(&child, convert);
        let number = monitor.number();
        self.add_start(&child, behaviour, move |me, child| {
            me.watch_child(child, number);
        });
        (child, monitor)
    }

    /// Performs any other operation: uses tables, names, links, monitors or signals, or makes a
    /// choice. `operation` gets the process and `on`. It must not receive messages, and it must not
    /// capture anything, so `on` contains the data that it needs.
    ///
    /// ```
    /// use actors::{Actions, Behaviour, Delivery, Input, Next, System, Table};
    /// use mazurka::{Algorithm, Checker};
    ///
    /// /// Counts visits in a table and reads their number.
    /// #[derive(Clone, PartialEq, Eq, Hash)]
    /// struct Visitor(Table<&'static str, u32>);
    ///
    /// impl Behaviour for Visitor {
    ///     type Message = Option<u32>;
    ///
    ///     fn react(&mut self, input: Input<Option<u32>>, actions: &mut Actions<Option<u32>>) -> Next {
    ///         match input {
    ///             Input::Start => {
    ///                 actions.perform(self.0.clone(), |_, visits| {
    ///                     visits.update_counter(&"page", 1).expect("nobody deletes the table");
    ///                 });
    ///                 actions.ask(self.0.clone(), |_, visits| {
    ///                     visits.lookup(&"page").expect("nobody deletes the table")
    ///                 });
    ///                 Next::Receive
    ///             }
    ///             Input::Answer(visits) => {
    ///                 assert!(visits >= Some(1));
    ///                 Next::Stop
    ///             }
    ///             Input::Message(_) | Input::Timeout => unreachable!("nobody sends anything"),
    ///         }
    ///     }
    /// }
    ///
    /// let report = Checker::new().algorithm(Algorithm::ContextSensitive).check(|| {
    ///     let system = System::new(Delivery::MailboxOrder);
    ///     let visits = system.table("visits");
    ///     visits.insert("page", 0).unwrap();
    ///     for name in ["ann", "ben"] {
    ///         system.spawn_machine(name, Visitor(visits.clone()));
    ///     }
    /// });
    /// assert!(report.errors.is_empty());
    /// ```
    #[track_caller]
    pub fn perform<D, F>(&mut self, on: D, operation: F)
    where
        D: Clone + Eq + Hash + 'static,
        F: FnOnce(&Process<M>, D) + 'static,
    {
        const { assert!(size_of::<F>() == 0, "an action must not capture anything") };
        let fingerprint = Fingerprint::of((TypeId::of::<F>(), on.clone()));
        self.add(fingerprint, move |me| {
            operation(me, on);
            None
        });
    }

    /// Performs an operation like [`perform`](Actions::perform) and passes its result to the
    /// process as [`Input::Answer`](crate::Input::Answer), before the process receives a message.
    #[track_caller]
    pub fn ask<D, F>(&mut self, on: D, operation: F)
    where
        D: Clone + Eq + Hash + 'static,
        F: FnOnce(&Process<M>, D) -> M + 'static,
    {
        const { assert!(size_of::<F>() == 0, "an action must not capture anything") };
        let fingerprint = Fingerprint::of((TypeId::of::<F>(), on.clone()));
        self.add(fingerprint, move |me| Some(operation(me, on)));
    }

    /// Returns the address of a state machine that is about to be started.
    #[track_caller]
    fn child<N: Message + Eq + Hash>(&self, name: &str) -> Pid<N> {
        let child = self.system.address(name);
        child.inbox.report_state();
        child
    }

    #[track_caller]
    fn add_start<B: Behaviour>(
        &mut self,
        child: &Pid<B::Message>,
        behaviour: B,
        tie: impl FnOnce(&Process<M>, &Pid<B::Message>) + 'static,
    ) {
        let fingerprint = Fingerprint::of((child.clone(), behaviour.clone()));
        let (child, location) = (child.clone(), Location::caller());
        self.add(fingerprint, move |me| {
            me.control().system.checkpoint();
            tie(me, &child);
            me.system().start_machine(&child, behaviour, location);
            None
        });
    }

    #[track_caller]
    fn add(
        &mut self,
        fingerprint: Fingerprint,
        perform: impl FnOnce(&Process<M>) -> Option<M> + 'static,
    ) {
        self.actions.push_back(Action {
            fingerprint,
            location: Location::caller(),
            perform: Box::new(perform),
        });
    }
}
