//! The threads behind the mirror of `std::thread`: threads of the model or, with the feature
//! `enforce` and outside of a model, threads of the system.

#[cfg(feature = "enforce")]
use super::system::SystemThread;
use crate::engine::Panic;
use crate::engine::perform::silently;
use crate::rust::outside::outside;
use explore::ThreadId;
use std::io;
use std::time::Duration;

/// A thread.
#[derive(Clone)]
pub enum Handle {
    /// A thread of the current execution.
    Model(ThreadId),
    /// A thread of the system.
    #[cfg(feature = "enforce")]
    System(std::sync::Arc<SystemThread>),
}

impl Handle {
    /// Starts a thread like [`crate::spawn`].
    ///
    /// # Errors
    ///
    /// Returns an error if the system cannot start a thread, outside of a model.
    #[inline(always)]
    #[track_caller]
    pub fn spawn(name: Option<String>, body: impl FnOnce() + Send + 'static) -> io::Result<Handle> {
        outside!(SystemThread::spawn(name, Box::new(body)).map(Handle::System));
        Ok(Handle::Model(crate::spawn(name, body)))
    }

    /// Starts a thread of a model, with a body that cannot be sent to another thread of the system.
    ///
    /// # Panics
    ///
    /// Panics outside of a model.
    #[inline(always)]
    #[track_caller]
    pub fn spawn_local(name: Option<String>, body: impl FnOnce() + 'static) -> Handle {
        Handle::Model(crate::spawn(name, body))
    }

    /// Returns the current thread.
    #[track_caller]
    pub fn current() -> Handle {
        outside!(Handle::System(SystemThread::current()));
        Handle::Model(crate::current())
    }

    /// Joins the thread like [`crate::join`].
    ///
    /// # Errors
    ///
    /// Returns the payload of the panic as the error if the thread panicked.
    #[inline(always)]
    #[track_caller]
    pub fn join(&self) -> Result<(), Panic> {
        match self {
            Handle::Model(thread) => crate::join(*thread),
            #[cfg(feature = "enforce")]
            Handle::System(thread) => thread.join(),
        }
    }

    /// Checks whether the thread has ended, like [`crate::is_finished`].
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match self {
            Handle::Model(thread) => crate::is_finished(*thread),
            #[cfg(feature = "enforce")]
            Handle::System(thread) => thread.is_finished(),
        }
    }

    /// Gives the park token, like [`crate::unpark`].
    #[track_caller]
    pub fn unpark(&self) {
        match self {
            Handle::Model(thread) => crate::unpark(*thread),
            #[cfg(feature = "enforce")]
            Handle::System(thread) => thread.unpark(),
        }
    }

    /// Returns the name, like [`crate::name`].
    #[track_caller]
    pub fn name(&self) -> Option<String> {
        match self {
            Handle::Model(thread) => crate::name(*thread),
            #[cfg(feature = "enforce")]
            Handle::System(thread) => thread.name().map(str::to_owned),
        }
    }

    /// Sets the name in traces, like [`crate::call_thread`]. Does nothing outside of a model.
    #[track_caller]
    pub fn call(&self, name: &str) {
        match self {
            Handle::Model(thread) => crate::call_thread(*thread, name),
            #[cfg(feature = "enforce")]
            Handle::System(_) => {}
        }
    }

    /// Returns a number that is unique in the execution or, for a thread of the system, in the
    /// process.
    #[inline]
    pub fn number(&self) -> u64 {
        match self {
            Handle::Model(thread) => {
                if crate::is_in_model() {
                    silently(|engine| {
                        if engine.config.symmetry {
                            engine.tell_apart(*thread);
                        }
                    });
                }
                thread.index() as u64
            }
            #[cfg(feature = "enforce")]
            Handle::System(thread) => thread.number(),
        }
    }
}

/// Parks the current thread like [`crate::park`], also outside of a model.
#[inline(always)]
#[track_caller]
pub fn park_here() {
    outside!(SystemThread::current().park());
    crate::park();
}

/// Parks the current thread like [`crate::park_timed`], also outside of a model. A model ignores
/// the time limit.
#[inline(always)]
#[track_caller]
#[cfg_attr(not(feature = "enforce"), allow(unused_variables))]
pub fn park_here_for(limit: Duration) {
    outside!(SystemThread::current().park_for(limit));
    crate::park_timed();
}
