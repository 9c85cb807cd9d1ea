//! One-time initialisation.

/// Who comes first initialises, the others wait for it.
#[derive(Debug)]
pub struct Once {}

/// What a thread that entered has to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// Initialise, and then call `done` or `fail`. With it: whether an initialiser failed before.
    Initialise {
        /// Whether an initialiser failed before.
        after_failure: bool,
    },
    /// Nothing: it is done.
    Done,
}

impl Once {
    /// A new once of the execution.
    #[track_caller]
    pub fn new() -> Once {
        todo!()
    }

    /// Enters; waits for the initialiser if there is one.
    #[track_caller]
    pub fn enter(&self) -> Entry {
        todo!()
    }

    /// The initialisation that this thread has to do is done.
    #[track_caller]
    pub fn done(&self) {
        todo!()
    }

    /// The initialisation failed: the next who enters, or waits, has to do it.
    #[track_caller]
    pub fn fail(&self) {
        todo!()
    }

    /// Whether it is done, without waiting.
    #[track_caller]
    pub fn is_done(&self) -> bool {
        todo!()
    }
}
