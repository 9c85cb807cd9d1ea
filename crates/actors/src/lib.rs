//! Processes that communicate by messages, for programs that Mazurka checks. They have mailboxes
//! and selective receive as in Erlang. Messages are delivered as on one Erlang node, by causal
//! broadcast, by TCP or by UDP ([`Delivery`]).
//!
//! A [`System`] is created inside a model. Its processes are threads of the model, so that every
//! algorithm, replay and report works as for other programs.
//!
//! ```
//! use actors::{Delivery, Pid, Process, System};
//!
//! #[derive(Clone, Debug)]
//! enum Message {
//!     Add(u32),
//!     Ask(Pid<u32>),
//! }
//!
//! mazurka::model(|| {
//!     let system = System::new(Delivery::MailboxOrder);
//!     let counter = system.spawn("counter", |me: &Process<Message>| {
//!         let mut sum = 0;
//!         loop {
//!             match me.receive() {
//!                 Message::Add(number) => sum += number,
//!                 Message::Ask(who) => return who.send(sum),
//!             }
//!         }
//!     });
//!     system.spawn("client", move |me: &Process<u32>| {
//!         counter.send(Message::Add(1));
//!         counter.send(Message::Add(2));
//!         counter.send(Message::Ask(me.pid()));
//!         assert_eq!(me.receive(), 3);
//!     });
//! });
//! ```
//!
//! With [`Delivery::Unordered`] the same model panics, because `Ask` may overtake the `Add`
//! messages.
//!
//! A process can also be a state machine ([`Behaviour`]), whose state Mazurka can compare. It acts
//! through [`Actions`].
//!
//! The module [`object`] has concurrent objects with tasks that are atomic between release points,
//! as in ABS.
//!
//! # Steps
//!
//! A send is a write of the mailbox. Where delivery is not immediate, the network delivers the
//! message in a separate step. A receive waits, but does not access the mailbox: the first matching
//! message stays the first one once it has arrived. Only a receive with a timeout reads the
//! mailbox. Messages to different processes are independent.

#![forbid(unsafe_code)]

mod actions;
mod behaviour;
mod exit;
mod inbox;
mod machine;
mod message;
pub mod object;
mod pid;
mod process;
mod receive;
mod registry;
mod relation;
mod send;
mod system;
mod table;
mod ties;

pub use actions::Actions;
pub use behaviour::{Behaviour, Input, Next};
pub use exit::{Down, Exit, ExitReason};
pub use message::Message;
pub use pid::{Pid, ProcessId};
pub use process::Process;
pub use registry::RegisterError;
pub use relation::Monitor;
pub use runtime::{Delivery, Policy};
pub use system::System;
pub use table::{Key, Table, TableGone, Value};
