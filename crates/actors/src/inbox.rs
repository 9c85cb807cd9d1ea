//! A process as others see it: its name, its mailbox, and the letters that came in.

use crate::ProcessId;
use crate::system::Shared;
use runtime::{Mailbox, Posted};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What came in at a position, until it is received.
pub(crate) struct Letter<M> {
    pub(crate) content: M,
    /// How it came, if the network brought it.
    pub(crate) posted: Option<Posted>,
}

/// A process as others see it.
pub(crate) struct Inbox<M> {
    pub(crate) id: ProcessId,
    pub(crate) mailbox: Mailbox,
    pub(crate) system: Arc<Shared>,
    /// Indexed by position.
    letters: Mutex<Letters<M>>,
}

struct Letters<M> {
    there: Vec<Option<Letter<M>>>,
    /// The process has ended: letters are dropped.
    is_closed: bool,
}

impl<M> Inbox<M> {
    #[track_caller]
    pub(crate) fn new(name: &str, system: &Arc<Shared>) -> Inbox<M> {
        let mailbox = Mailbox::new(name);
        Inbox {
            id: ProcessId::new(name, mailbox.object()),
            mailbox,
            system: Arc::clone(system),
            letters: Mutex::new(Letters {
                there: Vec::new(),
                is_closed: false,
            }),
        }
    }

    /// A letter has come in at this position.
    pub(crate) fn put(&self, position: usize, letter: Letter<M>) {
        let mut letters = self.letters();
        if letters.is_closed {
            drop(letters);
            return drop(letter);
        }
        if letters.there.len() <= position {
            letters.there.resize_with(position + 1, || None);
        }
        letters.there[position] = Some(letter);
    }

    /// Takes the letter at this position; none if it was received before.
    pub(crate) fn take(&self, position: usize) -> Option<Letter<M>> {
        self.letters().there.get_mut(position)?.take()
    }

    /// Drops what is there and what will come: letters may hold process ids, and these their inboxes.
    pub(crate) fn close(&self) {
        let mut letters = self.letters();
        letters.is_closed = true;
        let there = std::mem::take(&mut letters.there);
        drop(letters);
        drop(there);
    }

    /// Never held while another process runs.
    fn letters(&self) -> MutexGuard<'_, Letters<M>> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
