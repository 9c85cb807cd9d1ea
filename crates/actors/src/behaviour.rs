//! Processes that are state machines.

use crate::{Actions, Message};
use std::hash::Hash;
use std::time::Duration;

/// A process that is a state machine: between two messages its state is plain data, not a stack.
///
/// A system of these processes ([`System::spawn_machine`](crate::System::spawn_machine)) can report
/// its whole state. If several orders of messages lead to the same state, the algorithm
/// `context-sensitive` continues from that state only once.
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
/// [`Actions::perform`] and [`Actions::ask`] give access to tables, names, links, monitors and
/// signals, which are part of the state. Other shared data (a cell, a static) is not part of the
/// state.
pub trait Behaviour: Clone + Eq + Hash + Send + 'static {
    /// The type of the messages that the process receives.
    type Message: Message + Eq + Hash;

    /// Checks whether the process may wait for messages forever. If so, its wait at the end of the
    /// execution is not a deadlock.
    fn is_server(&self) -> bool {
        false
    }

    /// Checks whether the process accepts this message in its current state. If not, the message
    /// stays in the mailbox.
    fn fits(&self, _message: &Self::Message) -> bool {
        true
    }

    /// Reacts to an input. The reaction must not perform operations. It adds them to `actions`, and
    /// the process performs them after the reaction.
    ///
    /// The result must depend on the state and the input alone.
    fn react(&mut self, input: Input<Self::Message>, actions: &mut Actions<Self::Message>) -> Next;
}

/// An input that a process reacts to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Input<M> {
    /// The process has started.
    Start,
    /// The process has received a message.
    Message(M),
    /// The process gets the answer that it has [asked](Actions::ask) for.
    Answer(M),
    /// No message has arrived in time.
    Timeout,
}

/// How a process continues.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Next {
    /// Waits for a message that fits, or for the answer if the process has asked for one.
    Receive,
    /// Receives a message that fits if one arrives in time: see
    /// [`receive_within`](crate::Process::receive_within). An answer comes before any message.
    ReceiveWithin(Duration),
    /// Ends the process when its actions are done. Their answers are dropped.
    Stop,
}
