//! Systems of processes: delivery of messages, and the start of processes.

use crate::inbox::{Address, Inbox};
use crate::{Behaviour, Message, Pid, Process, ProcessId, machine};
use runtime::{Delivery, Directory, Network, Policy, State, ThreadId};
use std::any::Any;
use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A system of processes, created in the main thread of a model.
#[derive(Clone)]
pub struct System {
    pub(crate) shared: Arc<Shared>,
}

/// A [`Pid`] for any type of messages.
pub(crate) type AnyPid = Arc<dyn Any + Send + Sync>;

/// The data that the processes of a system share.
pub(crate) struct Shared {
    /// `None` if each message is in the mailbox as soon as it is sent.
    pub(crate) network: Option<Network>,
    pub(crate) options: Options,
    pub(crate) directory: State<Directory<ProcessId, AnyPid>>,
    /// The number of messages of each thread that the network may still lose or duplicate.
    budgets: Mutex<BTreeMap<ThreadId, Budget>>,
    /// The running processes by their threads.
    running: Mutex<BTreeMap<ThreadId, Address>>,
}

/// The model of delivery, and the policies for messages that no process receives.
#[derive(Clone, Copy, Default)]
pub(crate) struct Options {
    delivery: Delivery,
    budget: Budget,
    pub(crate) unhandled: Policy,
    pub(crate) dead_letters: Policy,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Budget {
    pub(crate) losses: u32,
    pub(crate) duplicates: u32,
}

impl System {
    /// Creates a system with this model of delivery. By default, the network loses no message, the
    /// report warns of a message that is never received, and a message to a process that has ended
    /// is dropped, as in Erlang.
    pub fn new(delivery: Delivery) -> System {
        System::of(Options {
            delivery,
            unhandled: Policy::Warn,
            ..Options::default()
        })
    }

    /// Allows the network to lose up to this many of the messages that each process sends.
    ///
    /// This and the other options must be set before the first process is started.
    pub fn losing(self, losses: u32) -> System {
        self.with(|options| options.budget.losses = losses)
    }

    /// Allows the network to duplicate up to this many of the messages that each process sends.
    pub fn duplicating(self, duplicates: u32) -> System {
        self.with(|options| options.budget.duplicates = duplicates)
    }

    /// Sets the policy for messages that are not received by the end of the execution.
    ///
    /// ```
    /// use actors::{Delivery, Policy, Process, System};
    /// use mazurka::{Checker, FailureKind};
    ///
    /// let report = Checker::new().check(|| {
    ///     let system = System::new(Delivery::MailboxOrder).unhandled(Policy::Fail);
    ///     let once = system.spawn("once", |me: &Process<u32>| {
    ///         me.receive();
    ///     });
    ///     once.send(1);
    ///     once.send(2);
    /// });
    /// assert_eq!(report.errors[0].kind, FailureKind::UnhandledMessage);
    /// assert_eq!(report.errors[0].message, "a message to once was never received");
    /// ```
    pub fn unhandled(self, policy: Policy) -> System {
        self.with(|options| options.unhandled = policy)
    }

    /// Sets the policy for messages to a process that has ended. Unless the policy is
    /// [`Policy::Allow`], the search distinguishes whether a message arrives before or after the
    /// end of the process. A message that arrives after the end is a dead letter, and does not
    /// count as unhandled.
    pub fn dead_letters(self, policy: Policy) -> System {
        self.with(|options| options.dead_letters = policy)
    }

    fn with(&self, change: impl FnOnce(&mut Options)) -> System {
        let mut options = self.shared.options;
        change(&mut options);
        System::of(options)
    }

    fn of(options: Options) -> System {
        let network = match options.delivery {
            Delivery::MailboxOrder => None,
            delivery => Some(Network::new(delivery)),
        };
        let shared = Shared {
            network,
            options,
            directory: State::new("names", Directory::default()),
            budgets: Mutex::default(),
            running: Mutex::default(),
        };
        let shared = Arc::new(shared);
        let reported = Arc::clone(&shared);
        runtime::report_state_of(shared.directory.object(), move || {
            let owners = reported.directory.silently(|names| names.owners());
            (owners, reported.budgets().clone())
        });
        if let Some(network) = &shared.network {
            network.report_state();
        }
        System { shared }
    }

    /// Starts a process. Its name is shown in reports.
    #[track_caller]
    pub fn spawn<M: Message>(
        &self,
        name: &str,
        body: impl FnOnce(&Process<M>) + Send + 'static,
    ) -> Pid<M> {
        self.shared.checkpoint();
        let pid = self.address(name);
        self.start(&pid, body);
        pid
    }

    /// Starts a process that may wait for messages forever. Its wait at the end of the execution is
    /// not a deadlock.
    ///
    /// ```
    /// use actors::{Delivery, Pid, Process, System};
    ///
    /// mazurka::model(|| {
    ///     let system = System::new(Delivery::MailboxOrder);
    ///     let double = system.spawn_server("double", |me: &Process<(u32, Pid<u32>)>| loop {
    ///         let (number, client) = me.receive();
    ///         client.send(2 * number);
    ///     });
    ///     system.spawn("client", move |me: &Process<u32>| {
    ///         double.send((21, me.pid()));
    ///         assert_eq!(me.receive(), 42);
    ///     });
    /// });
    /// ```
    #[track_caller]
    pub fn spawn_server<M: Message>(
        &self,
        name: &str,
        body: impl FnOnce(&Process<M>) + Send + 'static,
    ) -> Pid<M> {
        self.spawn(name, |process: &Process<M>| {
            runtime::serve();
            body(process);
        })
    }

    /// Starts a process that is a state machine. Its name is shown in reports.
    ///
    /// A system whose processes are all state machines reports its state: see [`Behaviour`]. Only
    /// state machines should send messages to state machines: a message from another thread is
    /// missing from the reported state while a network carries it.
    #[track_caller]
    pub fn spawn_machine<B: Behaviour>(&self, name: &str, behaviour: B) -> Pid<B::Message> {
        self.shared.checkpoint();
        let pid = self.address(name);
        pid.inbox.report_state();
        self.start_machine(&pid, behaviour, Location::caller());
        pid
    }

    /// Starts the state machine with this address. Reports show its start at `start`.
    pub(crate) fn start_machine<B: Behaviour>(
        &self,
        pid: &Pid<B::Message>,
        behaviour: B,
        start: &'static Location<'static>,
    ) {
        self.start_at(start, pid, machine::body(behaviour, start));
    }

    /// Returns the address of a process that is about to be started.
    #[track_caller]
    pub(crate) fn address<M>(&self, name: &str) -> Pid<M> {
        Pid {
            inbox: Arc::new(Inbox::new(name, &self.shared)),
        }
    }

    /// Starts the process with this address.
    #[track_caller]
    pub(crate) fn start<M: Message>(
        &self,
        pid: &Pid<M>,
        body: impl FnOnce(&Process<M>) + Send + 'static,
    ) {
        self.start_at(Location::caller(), pid, body);
    }

    fn start_at<M: Message>(
        &self,
        start: &'static Location<'static>,
        pid: &Pid<M>,
        body: impl FnOnce(&Process<M>) + Send + 'static,
    ) {
        let name = pid.name().to_owned();
        let process = pid.clone();
        let run = Box::new(move || Process::run(process, body, start));
        let thread = runtime::spawn_at(start, Some(name), run);
        if let Some(network) = &self.shared.network {
            network.spawned(thread);
        }
    }
}

impl Shared {
    /// Returns how many messages of the current thread the network may still lose or duplicate,
    /// after `change` has changed these numbers.
    pub(crate) fn budget(&self, change: impl FnOnce(&mut Budget)) -> Budget {
        let thread = runtime::current();
        let mut budgets = self.budgets();
        let budget = budgets.entry(thread).or_insert(self.options.budget);
        change(budget);
        *budget
    }

    fn budgets(&self) -> MutexGuard<'_, BTreeMap<ThreadId, Budget>> {
        self.budgets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the current process, if the current thread is one.
    pub(crate) fn current(&self) -> Option<Address> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.get(&runtime::current()).cloned()
    }

    /// Records which process the current thread runs. `None` means that it no longer runs one.
    pub(crate) fn run(&self, process: Option<Address>) {
        let thread = runtime::current();
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let _before = match process {
            Some(process) => running.insert(thread, process),
            None => running.remove(&thread),
        };
    }

    /// Ends the current process if a signal requests it. Called before each visible operation.
    #[track_caller]
    pub(crate) fn checkpoint(&self) {
        if let Some(process) = self.current()
            && !process.control().is_unwinding()
            && let Some(exit) = process.control().exit()
        {
            process.control().end_by(exit);
        }
    }
}
