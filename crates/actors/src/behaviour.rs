//! Processes that are state machines.

use crate::{Message, Pid, System};
use runtime::Fingerprint;
use std::collections::VecDeque;
use std::hash::Hash;
use std::panic::Location;
use std::time::Duration;

/// A process that is a state machine: what it is between two messages is plain data, not a stack.
///
/// A system of such processes ([`System::spawn_machine`]) can tell its whole state, which the algorithm
/// `context-sensitive` compares: orders of messages that come to the same are explored once.
///
/// ```
/// use actors::{Actions, Behaviour, Delivery, Input, Next, Pid, System};
/// use mazurka::{Algorithm, Checker};
///
/// /// Adds up three numbers.
/// #[derive(Clone, PartialEq, Eq, Hash)]
/// struct Sum {
///     sum: u32,
///     missing: u32,
/// }
///
/// impl Behaviour for Sum {
///     type Message = u32;
///
///     fn react(&mut self, input: Input<u32>, _: &mut Actions<u32>) -> Next {
///         if let Input::Message(number) = input {
///             self.sum += number;
///             self.missing -= 1;
///         }
///         match self.missing {
///             0 => {
///                 assert_eq!(self.sum, 30);
///                 Next::Stop
///             }
///             _ => Next::Receive,
///         }
///     }
/// }
///
/// /// Sends a number.
/// #[derive(Clone, PartialEq, Eq, Hash)]
/// struct Client(Pid<u32>);
///
/// impl Behaviour for Client {
///     type Message = ();
///
///     fn react(&mut self, _: Input<()>, actions: &mut Actions<()>) -> Next {
///         actions.send(&self.0, 10);
///         Next::Stop
///     }
/// }
///
/// let sums = || {
///     let system = System::new(Delivery::MailboxOrder);
///     let sum = system.spawn_machine("sum", Sum { sum: 0, missing: 3 });
///     for _ in 0..3 {
///         system.spawn_machine("client", Client(sum.clone()));
///     }
/// };
/// let executions = |algorithm| Checker::new().algorithm(algorithm).check(sums).executions;
/// assert_eq!(executions(Algorithm::Optimal), 6);
/// assert_eq!(executions(Algorithm::ContextSensitive), 1);
/// ```
///
/// Processes share nothing but messages: what else two of them share (a cell, a static) is not seen.
pub trait Behaviour: Clone + Eq + Hash + Send + 'static {
    /// What it receives.
    type Message: Message + Eq + Hash;

    /// Whether it may wait for messages for ever: that it does so at the end is no deadlock.
    fn is_server(&self) -> bool {
        false
    }

    /// Whether it receives this message next; one that does not fit stays in the mailbox.
    fn fits(&self, _message: &Self::Message) -> bool {
        true
    }

    /// What it does when it starts, receives a message or has waited too long. It performs no operation of the
    /// model: what is to be done is added to `actions`, and happens before the process goes on.
    ///
    /// The result depends on the state and the input alone.
    fn react(&mut self, input: Input<Self::Message>, actions: &mut Actions<Self::Message>) -> Next;
}

/// What a process reacts to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Input<M> {
    /// The process starts.
    Start,
    /// It received a message.
    Message(M),
    /// There was no message in time.
    Timeout,
}

/// How a process goes on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Next {
    /// It waits for a message that fits.
    Receive,
    /// It receives a message that fits if there is one in time: see
    /// [`receive_within`](crate::Process::receive_within).
    ReceiveWithin(Duration),
    /// It ends.
    Stop,
}

/// What a process does after a reaction, in order.
pub struct Actions<M> {
    me: Pid<M>,
    system: System,
    pub(crate) actions: VecDeque<Action>,
}

/// Something that a process does.
pub(crate) struct Action {
    /// What it is, as a part of the state of the process.
    pub(crate) told: Fingerprint,
    pub(crate) location: &'static Location<'static>,
    pub(crate) perform: Box<dyn FnOnce()>,
}

impl<M: Message> Actions<M> {
    pub(crate) fn new(me: Pid<M>, system: System) -> Actions<M> {
        Actions {
            me,
            system,
            actions: VecDeque::new(),
        }
    }

    /// The process id of the process at hand.
    pub fn pid(&self) -> Pid<M> {
        self.me.clone()
    }

    /// Sends a message.
    #[track_caller]
    pub fn send<N: Message + Eq + Hash>(&mut self, to: &Pid<N>, message: N) {
        let to = to.clone();
        let told = Fingerprint::of((to.clone(), message.clone()));
        self.actions.push_back(Action {
            told: told.clone(),
            location: Location::caller(),
            perform: Box::new(move || to.send_as(message, Some(told))),
        });
    }

    /// Starts a process that is a state machine. Messages to it may be sent by later actions.
    #[track_caller]
    pub fn spawn<B: Behaviour>(&mut self, name: &str, behaviour: B) -> Pid<B::Message> {
        let location = Location::caller();
        let pid = self.system.address(name);
        pid.inbox.tell_state();
        let (started, system) = (pid.clone(), self.system.clone());
        self.actions.push_back(Action {
            told: Fingerprint::of((pid.clone(), behaviour.clone())),
            location,
            perform: Box::new(move || system.start_machine(&started, behaviour, location)),
        });
        pid
    }
}
