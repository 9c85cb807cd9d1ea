//! The interface of a process to its code, and the start and end of processes.

use crate::exit::{Ending, Exit, ExitReason, panic_message};
use crate::inbox::{Address, Control, Inbox};
use crate::system::System;
use crate::ties::Ties;
use crate::{Message, Pid};
use std::any::Any;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;

/// The current process. Its code performs operations through this type.
pub struct Process<M> {
    pid: Pid<M>,
    pub(crate) ties: Rc<Ties<M>>,
}

impl<M: Message> Process<M> {
    /// Returns the id of the process.
    pub fn pid(&self) -> Pid<M> {
        self.pid.clone()
    }

    /// Returns the system that the process belongs to.
    pub fn system(&self) -> System {
        System {
            shared: Arc::clone(&self.control().system),
        }
    }

    /// Ends the process.
    pub fn exit(&self, reason: ExitReason) -> ! {
        self.control().end_by(self.control().reason(reason))
    }

    pub(crate) fn inbox(&self) -> &Inbox<M> {
        &self.pid.inbox
    }

    pub(crate) fn control(&self) -> &Control {
        &self.pid.inbox.control
    }

    pub(crate) fn address(&self) -> Address {
        Arc::clone(&self.pid.inbox) as Address
    }

    /// Runs the code of the process from start to end. Some operations belong to the end of the
    /// process. Reports show them at `start`, the place in the source that started the process.
    pub(crate) fn run(
        pid: Pid<M>,
        body: impl FnOnce(&Process<M>),
        start: &'static Location<'static>,
    ) {
        let process = Process {
            pid,
            ties: Rc::default(),
        };
        process.control().system.run(Some(process.address()));
        process.control().mailbox.belongs_here();
        let _end = End(&process);
        let result = catch_unwind(AssertUnwindSafe(|| body(&process)));
        runtime::stand_at(Some(start));
        match result {
            Ok(()) => process.end(Exit {
                process: None,
                reason: ExitReason::Normal,
            }),
            Err(payload) => process.unwound(payload),
        }
    }

    /// Handles the unwinding of the code of the process.
    fn unwound(&self, payload: Box<dyn Any + Send>) {
        if runtime::is_over() {
            resume_unwind(payload);
        }
        match payload.downcast::<Ending>() {
            Ok(ending) => self.end(ending.exit),
            Err(panic) => {
                let reason = ExitReason::Panic(panic_message(&*panic));
                runtime::learn(&reason);
                let is_observed = self.announce_end(&Exit {
                    process: None,
                    reason,
                });
                if !is_observed || runtime::panics_fail() {
                    resume_unwind(panic);
                }
            }
        }
    }

    /// Ends the process after its code has returned, or was unwound by [`Process::exit`] or a
    /// signal.
    fn end(&self, exit: Exit) {
        let exit = match self.is_ended_by_signal(&exit) {
            true => exit,
            false => self.control().exit().unwrap_or(exit),
        };
        let is_observed = self.announce_end(&exit);
        if let (ExitReason::Panic(message), false) = (&exit.reason, is_observed) {
            let name = self.pid.name();
            let who = exit.process.as_ref().map_or("itself", |id| id.name());
            panic!("{name} is linked to {who}, which panicked: {message}");
        }
    }

    fn is_ended_by_signal(&self, exit: &Exit) -> bool {
        exit.process.as_ref().is_some_and(|by| by != self.pid.id())
    }

    /// Announces the end of the process. Returns whether a process other than the cause of the end
    /// observes it.
    fn announce_end(&self, exit: &Exit) -> bool {
        let control = self.control();
        if control.is_registered(false) {
            let id = control.id.clone();
            let text = |_: &()| format!("{} loses its name", self.pid.name());
            control.system.directory.write(|names| names.end(id), text);
        }
        for table in self.ties.tables.take() {
            let text = |_: &()| "its table is deleted".to_owned();
            table.write(|is_alive| *is_alive = false, text);
        }
        let is_observed = match control.is_related(false) {
            true => self.notify_related(exit),
            false => false,
        };
        if control.system.options.dead_letters != runtime::Policy::Allow {
            control.mailbox.close();
        }
        is_observed
    }
}

/// A guard that cleans up when the process ends, whatever the reason is.
struct End<'p, M: Message>(&'p Process<M>);

impl<M: Message> Drop for End<'_, M> {
    fn drop(&mut self) {
        let control = self.0.control();
        let id = control.id.clone();
        control.system.directory.silently(|names| names.end(id));
        control.system.run(None);
        self.0.inbox().close();
    }
}
