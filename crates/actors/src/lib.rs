//! Processes that talk by messages, to be checked by Mazurka: mailboxes and selective receive as in Erlang,
//! under the delivery models of one node, of TCP, of causal broadcast and of UDP.
//!
//! A [`System`] is made inside a model. Its processes are threads of the model, so that every algorithm,
//! replay and report works as for other programs.
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
//! With [`Delivery::Unordered`] the same model panics: the question may overtake what was to be added.
//!
//! A process can also be a state machine, a [`Behaviour`], which tells its state; [`Actions`] are what it does.
//!
//! [`object`] has concurrent objects whose tasks run atomically between release points, as in ABS.
//!
//! # What is one step
//!
//! A send is a write of the mailbox; where delivery is not immediate the network brings the message in by a
//! step of its own. To receive is to wait, without an access: the first message that fits cannot change any
//! more once it is there. Only a receive with a timeout looks at the mailbox, a read. Messages between
//! different pairs of processes are independent.

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
