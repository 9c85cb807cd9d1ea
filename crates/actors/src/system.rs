//! A system of processes: how messages travel, and who is started.

use crate::inbox::Inbox;
use crate::{Message, Pid, Process};
use runtime::{Delivery, Network, ThreadId};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A system of processes, made in the main thread of a model.
#[derive(Clone)]
pub struct System {
    shared: Arc<Shared>,
}

/// What the processes of a system have in common.
pub(crate) struct Shared {
    /// None if a message is in the mailbox when it is sent.
    pub(crate) network: Option<Network>,
    options: Options,
    /// How often the network may still lose or duplicate a message of each thread.
    budgets: Mutex<BTreeMap<ThreadId, Budget>>,
}

/// How messages travel.
#[derive(Clone, Copy, Default)]
struct Options {
    delivery: Delivery,
    budget: Budget,
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Budget {
    pub(crate) losses: u32,
    pub(crate) duplicates: u32,
}

impl System {
    /// A system whose messages come in as this model of delivery says; none is lost.
    pub fn new(delivery: Delivery) -> System {
        System::of(Options {
            delivery,
            budget: Budget::default(),
        })
    }

    /// The network may lose up to this many of the messages that each process sends. To be said before
    /// the first process is started.
    pub fn losing(self, losses: u32) -> System {
        let mut options = self.shared.options;
        options.budget.losses = losses;
        System::of(options)
    }

    /// The network may duplicate up to this many of the messages that each process sends. To be said
    /// before the first process is started.
    pub fn duplicating(self, duplicates: u32) -> System {
        let mut options = self.shared.options;
        options.budget.duplicates = duplicates;
        System::of(options)
    }

    fn of(options: Options) -> System {
        let network = match options.delivery {
            Delivery::MailboxOrder => None,
            delivery => Some(Network::new(delivery)),
        };
        System {
            shared: Arc::new(Shared {
                network,
                options,
                budgets: Mutex::default(),
            }),
        }
    }

    /// Starts a process. Its name is for people.
    #[track_caller]
    pub fn spawn<M: Message>(
        &self,
        name: &str,
        body: impl FnOnce(&Process<M>) + Send + 'static,
    ) -> Pid<M> {
        let pid = Pid {
            inbox: Arc::new(Inbox::new(name, &self.shared)),
        };
        let process = Process::new(pid.clone());
        let thread = runtime::spawn(Some(name.to_owned()), move || process.run(body));
        if let Some(network) = &self.shared.network {
            network.spawned(thread);
        }
        pid
    }
}

impl Shared {
    /// What the network may still do to messages of the thread at hand, before and after `change`.
    pub(crate) fn budget(&self, change: impl FnOnce(&mut Budget)) -> Budget {
        let thread = runtime::current();
        let mut budgets = self.budgets.lock().unwrap_or_else(PoisonError::into_inner);
        let budget = budgets.entry(thread).or_insert(self.options.budget);
        change(budget);
        *budget
    }
}
