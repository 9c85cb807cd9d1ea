//! A process as others see it: its mailbox with the letters that came in, its signals and its relations.

use crate::exit::{Down, Ending, Exit, ExitReason};
use crate::system::Shared;
use crate::{Message, ProcessId};
use runtime::{Coarsening, Mailbox, ObjectId, Posted, Relations, Signals, State, ThreadId};
use std::hash::Hash;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What came in at a position, until it is received.
pub(crate) struct Letter<M> {
    pub(crate) content: Content<M>,
    /// How it came, if the network brought it.
    pub(crate) posted: Option<Posted>,
    /// Which one it is, where that matters.
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

/// What a letter says.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Content<M> {
    Message(M),
    /// To a process that traps exits.
    Exit(Exit),
    Down(Down),
    /// Wakes a process that has to end.
    End(Exit),
}

/// A letter that is no message: any process can get it.
pub(crate) enum Notice {
    Exit(Exit),
    Down(Down),
    End(Exit),
}

/// What all processes have, whatever they receive.
pub(crate) struct Control {
    pub(crate) id: ProcessId,
    pub(crate) mailbox: Mailbox,
    pub(crate) system: Arc<Shared>,
    pub(crate) signals: State<Signals<Exit>>,
    pub(crate) relations: State<Relations<ProcessId, Address>>,
    /// It is being unwound by its end.
    is_ending: AtomicBool,
}

/// How to reach a process without knowing what it receives.
pub(crate) type Address = Arc<dyn Addressee>;

/// A process that notices can be sent to.
pub(crate) trait Addressee: Send + Sync {
    fn control(&self) -> &Control;
    /// A notice has come in at this position.
    fn put_notice(&self, position: usize, notice: Notice, posted: Option<Posted>);
}

/// A process as those see it who know what it receives.
pub(crate) struct Inbox<M> {
    pub(crate) control: Control,
    /// Indexed by position.
    letters: Mutex<Letters<M>>,
}

struct Letters<M> {
    there: Vec<Option<Letter<M>>>,
    /// Letters at smaller positions are known to the process to have come in.
    known: usize,
    /// How many came in that nobody received, once the process has ended.
    left: usize,
    /// The process has ended: letters are dropped.
    is_closed: bool,
}

impl Control {
    /// Whether others send signals to the process. If `learn`, they do from now on.
    pub(crate) fn is_signalled(&self, learn: bool) -> bool {
        self.signals.is_coarse(Coarsening::Shared, learn)
    }

    /// Whether others want to know of its end.
    pub(crate) fn is_related(&self, learn: bool) -> bool {
        self.relations.is_coarse(Coarsening::Shared, learn)
    }

    /// Whether the process ever has a name.
    pub(crate) fn is_registered(&self, learn: bool) -> bool {
        self.relations.is_coarse(Coarsening::Registered, learn)
    }

    /// If the process was told to end, why. An event only if others send it signals.
    #[track_caller]
    pub(crate) fn exit(&self) -> Option<Exit> {
        if !self.is_signalled(false) {
            return None;
        }
        let exit = self.signals.read(
            |signals| signals.exit().cloned(),
            |exit| match exit {
                Some(Exit { reason, .. }) => format!("is told to end: {reason}"),
                None => "is not told to end".to_owned(),
            },
        );
        runtime::learn(&exit);
        exit
    }

    /// Whether the code of the process is being unwound, so that it must not be once more.
    pub(crate) fn is_unwinding(&self) -> bool {
        self.is_ending.load(Relaxed) || runtime::panicking()
    }

    /// Ends the process at hand, which this is.
    pub(crate) fn end_by(&self, exit: Exit) -> ! {
        self.is_ending.store(true, Relaxed);
        runtime::learn(&exit);
        resume_unwind(Box::new(Ending { exit }))
    }

    /// That the process ended with this reason.
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

    /// Letters before this position are known to the process to have come in.
    pub(crate) fn known(&self) -> usize {
        self.letters().known
    }

    /// The process knows letters before this position to have come in.
    pub(crate) fn know(&self, count: usize) {
        self.letters().known = count;
    }

    /// Drops what is there and what will come: letters may hold process ids, and these their inboxes.
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

    /// Never held while another process runs.
    fn letters(&self) -> MutexGuard<'_, Letters<M>> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M: Message> Inbox<M> {
    /// A letter has come in at this position.
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
        letters.tell(self.control.mailbox.object());
    }

    /// Takes the letter at this position; none if it was received before.
    pub(crate) fn take(&self, position: usize) -> Option<Letter<M>> {
        let mut letters = self.letters();
        let taken = letters.there.get_mut(position)?.take();
        letters.tell(self.control.mailbox.object());
        taken
    }
}

impl<M: Message> Letters<M> {
    /// Says what is in the mailbox after the event at hand.
    fn tell(&self, mailbox: ObjectId) {
        runtime::tell_contents(mailbox, mailbox, || {
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

/// The contents of a mailbox or a table, for people: the first of them, if they are many.
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

/// What [`Inbox::tell_state`] tells.
type Snapshot<M> = (
    Vec<(Content<M>, Option<(ThreadId, u32)>)>,
    usize,
    usize,
    bool,
);

impl<M: Message + Eq + Hash> Inbox<M> {
    /// The mailbox and what belongs to the process tell their state from now on.
    pub(crate) fn tell_state(self: &Arc<Inbox<M>>) {
        let control = &self.control;
        let [own, signalled, related] = [(); 3].map(|()| Arc::clone(self));
        runtime::tell_state_of(control.mailbox.object(), move || own.snapshot());
        runtime::tell_state_of(control.signals.object(), move || {
            // Nobody listens to them any more where the process has ended.
            let is_heard = !signalled.letters().is_closed;
            let signals = &signalled.control.signals;
            is_heard.then(|| signals.silently(|signals| signals.clone()))
        });
        runtime::tell_state_of(control.relations.object(), move || {
            let relations = &related.control.relations;
            relations.silently(|relations| (relations.related(), relations.is_alive()))
        });
    }

    /// The letters that are not received, in order; which are known to the process; how many will never be
    /// received. The positions do not matter, as what was received counts for nothing any more.
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

    fn put_notice(&self, position: usize, notice: Notice, posted: Option<Posted>) {
        let content = match notice {
            Notice::Exit(exit) => Content::Exit(exit),
            Notice::Down(down) => Content::Down(down),
            Notice::End(exit) => Content::End(exit),
        };
        self.put(position, Letter::new(content, posted));
    }
}
