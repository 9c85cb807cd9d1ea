//! Registered names.

use crate::system::AnyPid;
use crate::{Message, Pid, System};
use runtime::Unregistered;
use std::sync::Arc;

/// The reasons why a name cannot be registered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
pub enum RegisterError {
    /// Another process has the name.
    #[error("another process has the name")]
    Taken,
    /// The process has ended.
    #[error("the process has ended")]
    Ended,
}

impl System {
    /// Registers a name by which other processes can find this process. The name is free again when
    /// the process ends.
    ///
    /// ```
    /// use actors::{Delivery, Process, RegisterError, System};
    ///
    /// mazurka::model(|| {
    ///     let system = System::new(Delivery::MailboxOrder);
    ///     let server = system.spawn("server", |me: &Process<u32>| assert_eq!(me.receive(), 7));
    ///     let idle = system.spawn_server("idle", |me: &Process<()>| me.receive());
    ///     system.register("seven", &server).unwrap();
    ///     assert_eq!(system.register("seven", &idle), Err(RegisterError::Taken));
    ///     let found = system.whereis::<u32>("seven").expect("it waits for a message");
    ///     found.send(7);
    /// });
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the name is taken or the process has ended.
    #[track_caller]
    pub fn register<M: Message>(&self, name: &str, process: &Pid<M>) -> Result<(), RegisterError> {
        self.shared.checkpoint();
        process.inbox.control.is_registered(true);
        let entry: AnyPid = Arc::new(process.clone());
        let id = process.id().clone();
        let result = self.shared.directory.write(
            |names| names.register(name, id, entry),
            |result| match result {
                Ok(()) => format!("register({name:?}, {})", process.name()),
                Err(why) => format!("register({name:?}, {}) -> {why:?}", process.name()),
            },
        );
        let result = result.map_err(|why| match why {
            Unregistered::Taken => RegisterError::Taken,
            Unregistered::Ended => RegisterError::Ended,
        });
        runtime::learn(&result);
        result
    }

    /// Removes a name. Returns whether a process had the name.
    #[track_caller]
    pub fn unregister(&self, name: &str) -> bool {
        self.shared.checkpoint();
        let had = self.shared.directory.write(
            |names| names.unregister(name),
            |had| format!("unregister({name:?}) -> {had}"),
        );
        runtime::learn(&had);
        had
    }

    /// Returns the process that has the name, if there is one.
    ///
    /// # Panics
    ///
    /// Panics if that process does not receive messages of type `M`.
    #[track_caller]
    pub fn whereis<M: Message>(&self, name: &str) -> Option<Pid<M>> {
        self.shared.checkpoint();
        let entry = self.shared.directory.read(
            |names| names.whereis(name),
            |entry| match entry {
                Some(_) => format!("whereis({name:?}) -> a process"),
                None => format!("whereis({name:?}) -> no process"),
            },
        );
        let found = entry.map(|entry| {
            let pid = entry.downcast::<Pid<M>>().unwrap_or_else(|_| {
                panic!(
                    "the messages of the process {name:?} are not of the type that whereis requests"
                )
            });
            (*pid).clone()
        });
        runtime::learn(&found);
        found
    }
}
