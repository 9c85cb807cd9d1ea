//! Threads as the mirrors have them: of the model or, with the feature `enforce` and outside of a model, of the system.

use super::Panic;
#[cfg(feature = "enforce")]
use super::system::SystemThread;
use crate::outside::outside;
use explore::ThreadId;
use std::io;
use std::time::Duration;

/// A thread.
#[derive(Clone)]
pub enum Handle {
    /// Of the execution at hand.
    Model(ThreadId),
    /// Of the system.
    #[cfg(feature = "enforce")]
    System(std::sync::Arc<SystemThread>),
}

impl Handle {
    /// Starts a thread, as [`crate::spawn`].
    ///
    /// # Errors
    ///
    /// Outside of a model, if the system has none.
    #[inline(always)]
    #[track_caller]
    pub fn spawn(name: Option<String>, body: impl FnOnce() + Send + 'static) -> io::Result<Handle> {
        outside!(SystemThread::spawn(name, Box::new(body)).map(Handle::System));
        Ok(Handle::Model(crate::spawn(name, body)))
    }

    /// The same for what cannot be sent to another thread of the system.
    ///
    /// # Panics
    ///
    /// Outside of a model.
    #[inline(always)]
    #[track_caller]
    pub fn spawn_local(name: Option<String>, body: impl FnOnce() + 'static) -> Handle {
        Handle::Model(crate::spawn(name, body))
    }

    /// The thread at hand.
    #[track_caller]
    pub fn current() -> Handle {
        outside!(Handle::System(SystemThread::current()));
        Handle::Model(crate::current())
    }

    /// As [`crate::join`].
    ///
    /// # Errors
    ///
    /// With what it panicked with.
    #[inline(always)]
    #[track_caller]
    pub fn join(&self) -> Result<(), Panic> {
        match self {
            Handle::Model(thread) => crate::join(*thread),
            #[cfg(feature = "enforce")]
            Handle::System(thread) => thread.join(),
        }
    }

    /// As [`crate::is_finished`].
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match self {
            Handle::Model(thread) => crate::is_finished(*thread),
            #[cfg(feature = "enforce")]
            Handle::System(thread) => thread.is_finished(),
        }
    }

    /// As [`crate::unpark`].
    #[track_caller]
    pub fn unpark(&self) {
        match self {
            Handle::Model(thread) => crate::unpark(*thread),
            #[cfg(feature = "enforce")]
            Handle::System(thread) => thread.unpark(),
        }
    }

    /// As [`crate::name`].
    #[track_caller]
    pub fn name(&self) -> Option<String> {
        match self {
            Handle::Model(thread) => crate::name(*thread),
            #[cfg(feature = "enforce")]
            Handle::System(thread) => thread.name().map(str::to_owned),
        }
    }

    /// As [`crate::call_thread`]; nothing outside of a model.
    #[track_caller]
    pub fn call(&self, name: &str) {
        match self {
            Handle::Model(thread) => crate::call_thread(*thread, name),
            #[cfg(feature = "enforce")]
            Handle::System(_) => {}
        }
    }

    /// No other thread of the execution has it, or of the process.
    #[inline]
    pub fn number(&self) -> u64 {
        match self {
            Handle::Model(thread) => thread.index() as u64,
            #[cfg(feature = "enforce")]
            Handle::System(thread) => thread.number(),
        }
    }
}

/// As [`crate::park`], also outside of a model.
#[inline(always)]
#[track_caller]
pub fn park_here() {
    outside!(SystemThread::current().park());
    crate::park();
}

/// As [`crate::park_timed`], also outside of a model; in a model the time is no matter.
#[inline(always)]
#[track_caller]
#[cfg_attr(not(feature = "enforce"), allow(unused_variables))]
pub fn park_here_for(limit: Duration) {
    outside!(SystemThread::current().park_for(limit));
    crate::park_timed();
}
