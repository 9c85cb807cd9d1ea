//! The data of a process that other processes access: its mailbox, signals and relations (links and
//! monitors). A *letter* is a message or a notice in the mailbox.

use crate::exit::{Down, Ending, Exit, ExitReason};
use crate::system::Shared;
use crate::{Message, ProcessId};
use runtime::{Coarsening, Mailbox, ObjectId, Posted, Relations, Signals, State, ThreadId};
use std::hash::Hash;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A letter that has arrived at a position of the mailbox and is not yet received.
pub(crate) struct Letter<M> {
    pub(crate) content: Content<M>,
    /// The network's handle of the letter, if the network delivered it.
    pub(crate) posted: Option<Posted>,
    /// The identity of the letter, if it matters after the arrival ([`Posted::name`]). It is then
    /// part of the state of the mailbox.
    pub(crate) name: Option<(ThreadId, u32)>,
}

impl<M> Letter<M> {
    pub(crate) fn new(content: Content<M>, posted: Option<Posted>) -> Letter<M> {
        let name = posted.as_ref().and_then(Posted::name);
        Letter {
            content,
            posted,
            name,
        }
    }
}

/// The content of a letter.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Content<M> {
    Message(M),
    /// An exit notice for a process that traps exits.
    Exit(Exit),
    Down(Down),
    /// Wakes a process that has to end.
    End(Exit),
}

/// The content of a letter that is not a message. Its type does not depend on the type of the
/// process's messages.
pub(crate) enum Notice {
    Exit(Exit),
    Down(Down),
    End(Exit),
}

/// The parts of a process that do not depend on the type of its messages.
pub(crate) struct Control {
    pub(crate) id: ProcessId,
    pub(crate) mailbox: Mailbox,
    pub(crate) system: Arc<Shared>,
    pub(crate) signals: State<Signals<Exit>>,
    pub(crate) relations: State<Relations<ProcessId, Address>>,
    /// Whether the process is being unwound because it ends.
    is_ending: AtomicBool,
}

/// The address of a process whose message type is unknown.
pub(crate) type Address = Arc<dyn Addressee>;

/// A process that can get notices.
pub(crate) trait Addressee: Send + Sync {
    fn control(&self) -> &Control;
    /// Puts a notice that has arrived at this position into the mailbox.
    fn store_notice(&self, position: usize, notice: Notice, posted: Option<Posted>);
}

/// A process whose message type is known.
pub(crate) struct Inbox<M> {
    pub(crate) control: Control,
    /// Indexed by position.
    letters: Mutex<Letters<M>>,
}

struct Letters<M> {
    there: Vec<Option<Letter<M>>>,
    /// The process has observed all letters at smaller positions.
    known: usize,
    /// The number of letters never received, once the process has ended.
    left: usize,
    /// Whether the process has ended, so that letters are dropped.
    is_closed: bool,
}

impl Control {
    /// Checks whether the search has found that other processes may send signals to this process.
    /// If `learn` is true, records that they may.
    pub(crate) fn is_signalled(&self, learn: bool) -> bool {
        self.signals.is_coarse(Coarsening::Shared, learn)
    }

    /// Checks whether the search has found that other processes may link to this process or monitor
    /// it. If `learn` is true, records that they may.
    pub(crate) fn is_related(&self, learn: bool) -> bool {
        self.relations.is_coarse(Coarsening::Shared, learn)
    }

    /// Checks whether the search has found that this process may have a registered name. If `learn`
    /// is true, records that it may.
    pub(crate) fn is_registered(&self, learn: bool) -> bool {
        self.relations.is_coarse(Coarsening::Registered, learn)
    }

    /// Returns the exit that a signal has requested, if any. This is an event only if other
    /// processes send signals to the process.
    #[track_caller]
    pub(crate) fn exit(&self) -> Option<Exit> {
        if !self.is_signalled(false) {
            return None;
        }
        let exit = self.signals.read(
            |signals| signals.exit().cloned(),
            |exit| match exit {
                Some(Exit { reason, .. }) => format!("finds an exit signal: {reason}"),
                None => "finds no exit signal".to_owned(),
            },
        );
        runtime::learn(&exit);
        exit
    }

    /// Checks whether the code of the process is being unwound, which must not happen twice.
    pub(crate) fn is_unwinding(&self) -> bool {
        self.is_ending.load(Relaxed) || runtime::panicking()
    }

    /// Ends the current process, which must be the process of this inbox.
    pub(crate) fn end_by(&self, exit: Exit) -> ! {
        self.is_ending.store(true, Relaxed);
        runtime::learn(&exit);
        resume_unwind(Box::new(Ending { exit }))
    }

    /// Returns the exit of this process with this reason.
    pub(crate) fn reason(&self, reason: ExitReason) -> Exit {
        Exit {
            process: Some(self.id.clone()),
            reason,
        }
    }
}

impl<M> Inbox<M> {
    #[track_caller]
    pub(crate) fn new(name: &str, system: &Arc<Shared>) -> Inbox<M> {
        let mailbox = Mailbox::new(name, system.options.unhandled);
        Inbox {
            control: Control {
                id: ProcessId::new(name, mailbox),
                mailbox,
                system: Arc::clone(system),
                signals: State::new(&format!("signals of {name}"), Signals::default()),
                relations: State::new(&format!("links of {name}"), Relations::default()),
                is_ending: AtomicBool::new(false),
            },
            letters: Mutex::new(Letters {
                there: Vec::new(),
                known: 0,
                left: 0,
                is_closed: false,
            }),
        }
    }

    /// Returns the position up to which the process has observed its letters.
    pub(crate) fn known(&self) -> usize {
        self.letters().known
    }

    /// Records that the process has observed the letters before this position.
    pub(crate) fn know(&self, count: usize) {
        self.letters().known = count;
    }

    /// Drops all letters and relations, and later letters when they arrive. Otherwise process ids
    /// in letters could keep inboxes alive in a cycle.
    pub(crate) fn close(&self) {
        let mut letters = self.letters();
        letters.is_closed = true;
        let there = std::mem::take(&mut letters.there);
        letters.left += there.iter().flatten().count();
        drop(letters);
        drop(there);
        let related = self.control.relations.silently(Relations::end);
        drop(related);
    }

    /// Locks the letters. The lock is never held while another process runs.
    fn letters(&self) -> MutexGuard<'_, Letters<M>> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M: Message> Inbox<M> {
    /// Puts a letter that has arrived at this position into the mailbox.
    pub(crate) fn put(&self, position: usize, letter: Letter<M>) {
        let mut letters = self.letters();
        if letters.is_closed {
            letters.left += 1;
            drop(letters);
            return drop(letter);
        }
        if letters.there.len() <= position {
            letters.there.resize_with(position + 1, || None);
        }
        letters.there[position] = Some(letter);
        letters.report_contents(self.control.mailbox.object());
    }

    /// Takes the letter at this position; `None` if it has been received before or has not arrived.
    pub(crate) fn take(&self, position: usize) -> Option<Letter<M>> {
        let mut letters = self.letters();
        let taken = letters.there.get_mut(position)?.take();
        letters.report_contents(self.control.mailbox.object());
        taken
    }
}

impl<M: Message> Letters<M> {
    /// Reports the contents of the mailbox after the current event.
    fn report_contents(&self, mailbox: ObjectId) {
        runtime::report_contents(mailbox, mailbox, || {
            let there = self.there.iter().flatten();
            let texts = there.map(|letter| match &letter.content {
                Content::Message(message) => format!("{message:?}"),
                Content::Exit(exit) => format!("exit: {}", exit.reason),
                Content::Down(down) => format!("down: {}", down.reason),
                Content::End(exit) => format!("end: {}", exit.reason),
            });
            contents(texts)
        });
    }
}

/// Formats the contents of a mailbox or a table for people: at most eight entries in full.
pub(crate) fn contents(texts: impl Iterator<Item = String>) -> String {
    const SHOWN: usize = 8;
    let mut texts = texts.peekable();
    if texts.peek().is_none() {
        return "empty".to_owned();
    }
    let shown: Vec<String> = texts.by_ref().take(SHOWN).collect();
    match texts.count() {
        0 => shown.join(", "),
        others => format!("{} and {others} more", shown.join(", ")),
    }
}

/// The state of a mailbox as [`Inbox::snapshot`] returns it.
type Snapshot<M> = (
    Vec<(Content<M>, Option<(ThreadId, u32)>)>,
    usize,
    usize,
    bool,
);

impl<M: Message + Eq + Hash> Inbox<M> {
    /// Makes the mailbox, the signals and the relations of the process report their state.
    pub(crate) fn report_state(self: &Arc<Inbox<M>>) {
        let control = &self.control;
        let [own, signalled, related] = [(); 3].map(|()| Arc::clone(self));
        runtime::report_state_of(control.mailbox.object(), move || own.snapshot());
        runtime::report_state_of(control.signals.object(), move || {
            // No process reads the signals of a process that has ended.
            let is_read = !signalled.letters().is_closed;
            let signals = &signalled.control.signals;
            is_read.then(|| signals.silently(|signals| signals.clone()))
        });
        runtime::report_state_of(control.relations.object(), move || {
            let relations = &related.control.relations;
            relations.silently(|relations| (relations.related(), relations.is_alive()))
        });
    }

    /// Returns the state of the mailbox: the letters that are not yet received, in order; the
    /// number of them that the process has observed; the number of letters that are never received;
    /// and whether the mailbox is closed. Positions are not part of the state.
    fn snapshot(&self) -> Snapshot<M> {
        let letters = self.letters();
        let known = letters.there.iter().take(letters.known);
        let known = known.flatten().count();
        let there = letters.there.iter().flatten();
        let contents = there
            .map(|letter| (letter.content.clone(), letter.name))
            .collect();
        (contents, known, letters.left, letters.is_closed)
    }
}

impl<M: Message> Addressee for Inbox<M> {
    fn control(&self) -> &Control {
        &self.control
    }

    fn store_notice(&self, position: usize, notice: Notice, posted: Option<Posted>) {
        let content = match notice {
            Notice::Exit(exit) => Content::Exit(exit),
            Notice::Down(down) => Content::Down(down),
            Notice::End(exit) => Content::End(exit),
        };
        self.put(position, Letter::new(content, posted));
    }
}
