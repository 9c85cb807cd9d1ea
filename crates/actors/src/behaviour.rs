//! Processes that are state machines.

use crate::{Actions, Message};
use std::hash::Hash;
use std::time::Duration;

/// A process that is a state machine: what it is between two messages is plain data, not a stack.
///
/// A system of such processes ([`System::spawn_machine`](crate::System::spawn_machine)) can tell its whole state, which the algorithm
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
/// Tables, names, links, monitors and signals are used by [`Actions::perform`] and [`Actions::ask`]; they are a part of
/// the state. What else two processes share (a cell, a static) is not seen.
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
    /// What it has [asked](Actions::ask) for.
    Answer(M),
    /// There was no message in time.
    Timeout,
}

/// How a process goes on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Next {
    /// It waits for a message that fits; if it has asked for something, for the answer.
    Receive,
    /// It receives a message that fits if there is one in time: see
    /// [`receive_within`](crate::Process::receive_within). An answer comes before any message.
    ReceiveWithin(Duration),
    /// It ends when its actions are done. Nobody hears their answers.
    Stop,
}
