//! The meaning of a system of processes: every statement is one step on the whole state.
//!
//! Exit signals are asynchronous. So a process checks for exit signals in a separate step before
//! each statement that other processes can observe. A receive needs no separate step: a signal ends
//! the process there only if it is in the mailbox before a matching message. The actions of a
//! process at its end are also separate steps.

use super::program::{Statement, System};
use objects::Delivery;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// For each possible end of the system, the observations of each process, and whether a process
/// waits forever.
pub type Finals = BTreeSet<(Vec<Vec<String>>, bool)>;

/// Returns all possible ends of the system, or `None` if the system has more than `limit` states.
pub fn finals(system: &System, limit: usize) -> Option<Finals> {
    let mut finals = Finals::new();
    let mut seen = HashSet::new();
    let mut work = vec![State::new(system)];
    while let Some(state) = work.pop() {
        if seen.len() > limit {
            return None;
        }
        if !seen.insert(state.clone()) {
            continue;
        }
        let next = state.successors(system);
        if next.is_empty() {
            let notes = state.processes.iter().map(|process| process.notes.clone());
            let waits = |process: &Process| process.phase != Phase::Ended;
            finals.insert((notes.collect(), state.processes.iter().any(waits)));
        }
        work.extend(next);
    }
    Some(finals)
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    processes: Vec<Process>,
    /// The messages in the network.
    under_way: Vec<Parcel>,
    delivered: BTreeSet<Parcel>,
    table: BTreeMap<u32, u32>,
    is_table_gone: bool,
    name: Option<usize>,
    links: BTreeSet<(usize, usize)>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Process {
    next: usize,
    notes: Vec<String>,
    last: u32,
    mailbox: Vec<(Content, Option<Parcel>)>,
    /// The reason for the exit signal that ends the process, and the sender of the signal.
    exit: Option<(Reason, Option<usize>)>,
    traps_exits: bool,
    monitors: Vec<usize>,
    phase: Phase,
    /// Whether the process has announced its end.
    has_ended: bool,
    sent: u32,
    losses: u32,
    duplicates: u32,
    /// Whether the process has checked for signals since its last statement.
    has_checked_signals: bool,
    /// The second copy of a message, which the next step sends.
    copy: Option<(usize, Content)>,
    /// The parcels that were sent before its next step, in the happens-before order.
    past: BTreeSet<Parcel>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Phase {
    Runs,
    /// The actions still to be performed.
    Ends(Vec<Last>),
    Ended,
}

/// An action of a process at its end.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Last {
    FreesName,
    DropsTable,
    Tells(Reason),
    Sends(usize, Content),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Reason {
    Normal,
    Killed,
    NoProcess,
    Other,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Content {
    Number(u32),
    Down(usize, Reason),
    /// An exit signal of that process, and whether it is a kill.
    Signal(usize, Reason, bool),
    /// An exit signal as a message, for a process that traps exits.
    Exited(usize, Reason),
    /// A signal that ends the process.
    Ends,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Parcel {
    from: usize,
    /// The position among the messages of its sender.
    number: u32,
    to: usize,
    content: Content,
    /// The names of the parcels that were sent before, in the happens-before order.
    past: BTreeSet<(usize, u32, usize)>,
}

impl Parcel {
    fn name(&self) -> (usize, u32, usize) {
        (self.from, self.number, self.to)
    }
}

impl State {
    fn new(system: &System) -> State {
        let process = Process {
            next: 0,
            notes: Vec::new(),
            last: 0,
            mailbox: Vec::new(),
            exit: None,
            traps_exits: false,
            monitors: Vec::new(),
            phase: Phase::Runs,
            has_ended: false,
            sent: 0,
            losses: system.losses,
            duplicates: system.duplicates,
            has_checked_signals: false,
            copy: None,
            past: BTreeSet::new(),
        };
        State {
            processes: vec![process; system.processes.len()],
            under_way: Vec::new(),
            delivered: BTreeSet::new(),
            table: BTreeMap::new(),
            is_table_gone: false,
            name: None,
            links: BTreeSet::new(),
        }
    }

    /// Returns all states after one step.
    fn successors(&self, system: &System) -> Vec<State> {
        let mut next = Vec::new();
        for index in 0..self.processes.len() {
            next.extend(self.steps_of(index, system));
        }
        for (index, parcel) in self.under_way.iter().enumerate() {
            if self.may_come_in(parcel, system.delivery) {
                let mut state = self.clone();
                let parcel = state.under_way.remove(index);
                state.delivered.insert(parcel.clone());
                state.come_in(parcel.to, parcel.content, Some(parcel));
                next.push(state);
            }
        }
        next
    }

    fn may_come_in(&self, parcel: &Parcel, delivery: Delivery) -> bool {
        let is_before = |other: &Parcel| match delivery {
            Delivery::MailboxOrder | Delivery::Unordered => false,
            Delivery::FifoPerPair => other.from == parcel.from && other.number < parcel.number,
            Delivery::Causal => parcel.past.contains(&other.name()),
        };
        let others = self.under_way.iter();
        !others
            .clone()
            .any(|other| other.to == parcel.to && is_before(other))
    }

    /// Delivers a message or a signal to a process.
    fn come_in(&mut self, to: usize, content: Content, parcel: Option<Parcel>) {
        let process = &mut self.processes[to];
        let (from, reason, is_kill) = match content {
            Content::Signal(from, reason, is_kill) => (from, reason, is_kill),
            Content::Number(_) | Content::Down(..) | Content::Exited(..) | Content::Ends => {
                return process.mailbox.push((content, parcel));
            }
        };
        if process.traps_exits && !is_kill {
            process
                .mailbox
                .push((Content::Exited(from, reason), parcel));
        } else if is_kill || reason != Reason::Normal {
            process.exit.get_or_insert((reason, Some(from)));
            process.mailbox.push((Content::Ends, parcel));
        }
    }

    fn steps_of(&self, index: usize, system: &System) -> Vec<State> {
        if let Some((to, content)) = self.processes[index].copy {
            let mut state = self.clone();
            state.processes[index].copy = None;
            state.send(index, to, content, system);
            return vec![state];
        }
        match &self.processes[index].phase {
            Phase::Ended => Vec::new(),
            Phase::Ends(rest) => vec![self.finish(index, rest, system)],
            Phase::Runs => match system.processes[index].get(self.processes[index].next) {
                None => vec![self.ends(index, Reason::Normal, true)],
                Some(statement) => self.perform(index, *statement, system),
            },
        }
    }

    /// Ends the process, normally or because of an exit signal.
    fn ends(&self, index: usize, reason: Reason, is_at_end: bool) -> State {
        let mut state = self.clone();
        let process = &mut state.processes[index];
        if is_at_end {
            process.notes.push("end".to_owned());
        }
        let reason = process.exit.map_or(reason, |(reason, _)| reason);
        let last = vec![Last::FreesName, Last::DropsTable, Last::Tells(reason)];
        process.phase = Phase::Ends(last);
        state
    }

    /// Performs the next action at the end of a process.
    fn finish(&self, index: usize, rest: &[Last], system: &System) -> State {
        let mut state = self.clone();
        let Some((first, rest)) = rest.split_first() else {
            state.processes[index].phase = Phase::Ended;
            return state;
        };
        let mut rest = rest.to_vec();
        match first {
            Last::FreesName => {
                if state.name == Some(index) {
                    state.name = None;
                }
            }
            Last::DropsTable => state.is_table_gone |= system.is_owned && index == 0,
            Last::Tells(reason) => {
                state.processes[index].has_ended = true;
                let linked = (0..state.processes.len())
                    .filter(|&other| state.are_linked(index, other))
                    .map(|other| Last::Sends(other, Content::Signal(index, *reason, false)));
                let mut watchers = state.processes[index].monitors.clone();
                watchers.sort_unstable();
                let monitors = watchers
                    .into_iter()
                    .map(|watcher| Last::Sends(watcher, Content::Down(index, *reason)));
                rest.extend(linked.chain(monitors));
            }
            Last::Sends(to, content) => state.send(index, *to, *content, system),
        }
        state.processes[index].phase = Phase::Ends(rest);
        state
    }

    fn are_linked(&self, a: usize, b: usize) -> bool {
        self.links.contains(&(a.min(b), a.max(b)))
    }

    /// Sends without loss.
    fn send(&mut self, from: usize, to: usize, content: Content, system: &System) {
        if system.delivery == Delivery::MailboxOrder {
            return self.come_in(to, content, None);
        }
        let sender = &mut self.processes[from];
        let parcel = Parcel {
            from,
            number: sender.sent,
            to,
            content,
            past: sender.past.iter().map(Parcel::name).collect(),
        };
        sender.sent += 1;
        if system.delivery == Delivery::Causal {
            sender.past.insert(parcel.clone());
        }
        self.under_way.push(parcel);
        self.under_way.sort();
    }

    /// Returns the states after a statement. There are no states if the process has to wait.
    fn perform(&self, index: usize, statement: Statement, system: &System) -> Vec<State> {
        if let Statement::Receive { odd } = statement {
            return self.receive(index, odd).into_iter().collect();
        }
        let mut state = self.clone();
        if !self.processes[index].has_checked_signals {
            if self.processes[index].exit.is_some() {
                return vec![self.ends(index, Reason::Normal, false)];
            }
            state.processes[index].has_checked_signals = true;
            return vec![state];
        }
        state.processes[index].has_checked_signals = false;
        state.processes[index].next += 1;
        let last = state.processes[index].last;
        match statement {
            Statement::Receive { .. } => unreachable!("a receive was performed above"),
            Statement::ReceiveWithin { odd, .. } => {
                return vec![self.receive(index, odd).unwrap_or_else(|| {
                    state.add_note(index, "nothing");
                    state
                })];
            }
            Statement::Send(to, number) => return state.send_fates(index, to, number, system),
            Statement::Forward(to) => return state.send_fates(index, to, last + 10, system),
            Statement::Kill(to) => {
                state.send(
                    index,
                    to,
                    Content::Signal(index, Reason::Killed, true),
                    system,
                );
            }
            Statement::Signal(to) => {
                state.send(
                    index,
                    to,
                    Content::Signal(index, Reason::Other, false),
                    system,
                );
            }
            Statement::Exit => return vec![self.ends(index, Reason::Other, false)],
            Statement::TrapExits => state.processes[index].traps_exits = true,
            Statement::Link(to) => state.link(index, to, system),
            Statement::Unlink(to) => {
                state.links.remove(&(index.min(to), index.max(to)));
            }
            Statement::Monitor(to) => match state.processes[to].has_ended {
                true => state.send(index, index, Content::Down(to, Reason::NoProcess), system),
                false => state.processes[to].monitors.push(index),
            },
            Statement::IsAlive(to) => {
                let note = format!("alive {}", !state.processes[to].has_ended);
                state.add_note(index, &note);
            }
            Statement::Register => state.register(index),
            Statement::Unregister => {
                let note = format!("unregister {}", state.name.take().is_some());
                state.add_note(index, &note);
            }
            Statement::WhereIs => {
                let note = format!("whereis {:?}", state.name);
                state.add_note(index, &note);
            }
            Statement::Insert(..)
            | Statement::InsertNew(..)
            | Statement::Lookup(_)
            | Statement::Count(_)
            | Statement::Delete(_)
            | Statement::Scan => {
                let note = state.use_table(statement);
                state.add_note(index, &note);
            }
        }
        vec![state]
    }

    fn add_note(&mut self, index: usize, note: &str) {
        self.processes[index].notes.push(note.to_owned());
    }

    /// Returns the state after receiving the first message that fits, or `None` if no message fits.
    fn receive(&self, index: usize, odd: bool) -> Option<State> {
        let mailbox = &self.processes[index].mailbox;
        let fits = |content: &Content| content.number() % 2 == 1 || !odd;
        let position = mailbox
            .iter()
            .position(|(content, _)| *content == Content::Ends || fits(content))?;
        if mailbox[position].0 == Content::Ends {
            return Some(self.ends(index, Reason::Normal, false));
        }
        let mut state = self.clone();
        let process = &mut state.processes[index];
        let (content, parcel) = process.mailbox.remove(position);
        process.next += 1;
        process.has_checked_signals = false;
        process.last = content.number();
        process.notes.push(format!("received {}", content.number()));
        if let Some(parcel) = parcel {
            state.learn(index, parcel);
        }
        Some(state)
    }

    /// Adds a received message, and the messages that its sender knew of, to the past of a process.
    fn learn(&mut self, index: usize, parcel: Parcel) {
        let all = self.under_way.iter().chain(&self.delivered);
        let known: Vec<Parcel> = all
            .filter(|other| parcel.past.contains(&other.name()))
            .cloned()
            .collect();
        self.processes[index].past.extend(known);
        self.processes[index].past.insert(parcel);
    }

    /// Returns the states after a message is delivered, lost or duplicated.
    fn send_fates(&self, index: usize, to: usize, number: u32, system: &System) -> Vec<State> {
        let content = Content::Number(number);
        let mut once = self.clone();
        once.send(index, to, content, system);
        let mut fates = vec![once];
        if self.processes[index].losses > 0 {
            let mut lost = self.clone();
            lost.processes[index].losses -= 1;
            fates.push(lost);
        }
        if self.processes[index].duplicates > 0 {
            fates.push(self.duplicated(index, to, content, system));
        }
        fates
    }

    fn duplicated(&self, index: usize, to: usize, content: Content, system: &System) -> State {
        let mut twice = self.clone();
        twice.processes[index].duplicates -= 1;
        twice.processes[index].copy = Some((to, content));
        twice.send(index, to, content, system);
        twice
    }

    fn link(&mut self, index: usize, to: usize, system: &System) {
        match self.processes[to].has_ended {
            true => self.send(
                index,
                index,
                Content::Signal(to, Reason::NoProcess, false),
                system,
            ),
            false => {
                self.links.insert((index.min(to), index.max(to)));
            }
        }
    }

    fn register(&mut self, index: usize) {
        let result = match self.name {
            Some(_) => "taken",
            None => {
                self.name = Some(index);
                "registered"
            }
        };
        self.add_note(index, result);
    }

    fn use_table(&mut self, statement: Statement) -> String {
        if self.is_table_gone {
            return "gone".to_owned();
        }
        let table = &mut self.table;
        match statement {
            Statement::Insert(key, value) => {
                table.insert(key, value);
                "inserted".to_owned()
            }
            Statement::InsertNew(key, value) => {
                let is_new = !table.contains_key(&key);
                table.entry(key).or_insert(value);
                format!("new {is_new}")
            }
            Statement::Lookup(key) => format!("found {:?}", table.get(&key)),
            Statement::Count(key) => {
                table.entry(key).and_modify(|value| *value += 1);
                format!("counted {:?}", table.get(&key))
            }
            Statement::Delete(key) => format!("deleted {:?}", table.remove(&key)),
            Statement::Scan => format!("all {table:?}"),
            other => unreachable!("{other:?} is not about the table"),
        }
    }
}

impl Content {
    /// Returns the number that the process receives.
    fn number(self) -> u32 {
        match self {
            Content::Number(number) => number,
            Content::Down(process, reason) => 1000 + 100 * reason as u32 + process as u32,
            Content::Exited(process, reason) | Content::Signal(process, reason, _) => {
                2000 + 100 * reason as u32 + process as u32
            }
            Content::Ends => 0,
        }
    }
}
