//! Links, monitors and exit signals (Erlang/OTP, reference manual, "Processes").
//!
//! A signal takes two steps: the sender or the network writes it, and the receiver reads it before
//! its next operation. The signal also puts a notice into the mailbox, to inform a receiver that
//! traps exits or to wake a receiver that waits.

use crate::exit::{Down, Exit, ExitReason};
use crate::inbox::{Address, Control, Notice};
use crate::{Message, Pid, Process, ProcessId};
use runtime::{Fingerprint, Posted, Signalled, Strength};
use std::panic::Location;
use std::sync::Arc;

/// A monitor, which reports the end of one process to another.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Monitor {
    watched: ProcessId,
    number: u32,
}

impl Monitor {
    pub(crate) fn new(watched: ProcessId, number: u32) -> Monitor {
        Monitor { watched, number }
    }

    /// Returns the number of the monitor among the monitors of the watching process.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }
}

impl<M: Message> Process<M> {
    /// Starts a process that is linked to this one from its start.
    #[track_caller]
    pub fn spawn_link<N: Message>(
        &self,
        name: &str,
        body: impl FnOnce(&Process<N>) + Send + 'static,
    ) -> Pid<N> {
        self.control().system.checkpoint();
        let child: Pid<N> = self.system().address(name);
        self.link_child(&child);
        self.system().start(&child, body);
        child
    }

    /// Starts a process that is monitored from its start: see [`monitor`](Process::monitor).
    #[track_caller]
    pub fn spawn_monitor<N: Message>(
        &self,
        name: &str,
        body: impl FnOnce(&Process<N>) + Send + 'static,
        convert: impl Fn(Down) -> M + 'static,
    ) -> (Pid<N>, Monitor) {
        self.control().system.checkpoint();
        let child: Pid<N> = self.system().address(name);
        let monitor = self.ties.monitor(&child, convert);
        self.watch_child(&child, monitor.number);
        self.system().start(&child, body);
        (child, monitor)
    }

    /// Links this process to a child that is about to be started.
    #[track_caller]
    pub(crate) fn link_child<N: Message>(&self, child: &Pid<N>) {
        let control = &child.inbox.control;
        self.becomes_linked(control);
        let (parent, address) = (self.control().id.clone(), self.address());
        control
            .relations
            .silently(|relations| relations.link(parent, address));
        self.link_own_side(Arc::clone(&child.inbox) as Address);
    }

    /// Monitors a child that is about to be started.
    pub(crate) fn watch_child<N: Message>(&self, child: &Pid<N>, number: u32) {
        let control = &child.inbox.control;
        control.is_related(true);
        let (watcher, address) = (self.control().id.clone(), self.address());
        let relations = &control.relations;
        relations.silently(|relations| relations.monitor(watcher, number, address));
    }

    /// Links this process to another. When one of them ends, the other gets an exit signal. The
    /// other process then ends, too, unless the reason is normal or that process [traps
    /// exits](Process::trap_exits).
    #[track_caller]
    pub fn link<N: Message>(&self, other: &Pid<N>) {
        self.control().system.checkpoint();
        let control = &other.inbox.control;
        self.becomes_linked(control);
        let (id, address) = (self.control().id.clone(), self.address());
        let text = |_: &bool| format!("link with {}", other.name());
        let is_alive = control
            .relations
            .write(|relations| relations.link(id, address), text);
        runtime::learn(&is_alive);
        match is_alive {
            true => self.link_own_side(Arc::clone(&other.inbox) as Address),
            false => {
                let exit = control.reason(ExitReason::NoProcess);
                signal(&self.address(), exit, Strength::Abnormal);
            }
        }
    }

    /// Removes a link.
    #[track_caller]
    pub fn unlink<N: Message>(&self, other: &Pid<N>) {
        self.control().system.checkpoint();
        let control = &other.inbox.control;
        self.becomes_linked(control);
        let (id, own_id) = (&control.id, &self.control().id);
        let text = |_: &()| format!("unlink from {}", other.name());
        control.relations.write(|of| of.unlink(own_id), text);
        self.control().relations.write(|of| of.unlink(id), text);
    }

    /// Records, for the whole search, that each process gets a signal when the other ends.
    fn becomes_linked(&self, other: &Control) {
        for control in [self.control(), other] {
            control.is_related(true);
            control.is_signalled(true);
        }
    }

    #[track_caller]
    fn link_own_side(&self, other: Address) {
        let id = other.control().id.clone();
        let text = format!("is linked with {id}");
        let relations = &self.control().relations;
        relations.write(|relations| relations.link(id, other), |_| text);
    }

    /// Monitors another process: when the other process ends (at once if it has already ended),
    /// this process receives the message that `convert` returns.
    ///
    /// ```
    /// use actors::{Delivery, Down, ExitReason, Process, System};
    ///
    /// mazurka::model(|| {
    ///     let system = System::new(Delivery::MailboxOrder);
    ///     let worker = system.spawn("worker", |me: &Process<()>| me.exit(ExitReason::Killed));
    ///     system.spawn("watcher", move |me: &Process<Down>| {
    ///         me.monitor(&worker, |down| down);
    ///         let reason = me.receive().reason;
    ///         assert!([ExitReason::Killed, ExitReason::NoProcess].contains(&reason));
    ///     });
    /// });
    /// ```
    #[track_caller]
    pub fn monitor<N: Message>(
        &self,
        other: &Pid<N>,
        convert: impl Fn(Down) -> M + 'static,
    ) -> Monitor {
        self.control().system.checkpoint();
        let control = &other.inbox.control;
        control.is_related(true);
        let monitor = self.ties.monitor(other, convert);
        let (watcher, address) = (self.control().id.clone(), self.address());
        let number = monitor.number;
        let text = |_: &bool| format!("monitor {}", other.name());
        let is_alive = control
            .relations
            .write(|of| of.monitor(watcher, number, address), text);
        runtime::learn(&is_alive);
        if !is_alive {
            send_down(&self.address(), control.down(number, ExitReason::NoProcess));
        }
        monitor
    }

    /// Stops monitoring. A notice that is already in the mailbox is dropped.
    #[track_caller]
    pub fn demonitor<N: Message>(&self, other: &Pid<N>, monitor: &Monitor) {
        self.control().system.checkpoint();
        self.ties.on_down.borrow_mut().remove(&monitor.number);
        let (watcher, number) = (self.control().id.clone(), monitor.number);
        let text = |_: &()| format!("demonitor {}", other.name());
        let relations = &other.inbox.control.relations;
        relations.write(|of| of.demonitor(watcher, number), text);
    }

    /// Makes this process survive exit signals. For each signal, the process receives the message
    /// that `convert` returns. A kill still ends the process.
    #[track_caller]
    pub fn trap_exits(&self, convert: impl Fn(Exit) -> M + 'static) {
        self.control().system.checkpoint();
        *self.ties.on_exit.borrow_mut() = Some(self.ties.conversion(convert));
        if self.control().is_signalled(false) {
            let text = |_: &()| "traps exits".to_owned();
            let signals = &self.control().signals;
            signals.write(|signals| signals.trap_exits(true), text);
        } else {
            self.control()
                .signals
                .silently(|signals| signals.trap_exits(true));
        }
    }

    /// Reports the end to all linked and monitoring processes. If the reason is a panic, returns
    /// whether one of them observes it: a process that is alive and did not cause the end.
    #[track_caller]
    pub(crate) fn notify_related(&self, exit: &Exit) -> bool {
        let control = self.control();
        let text = |_: &_| format!("ends: {}", exit.reason);
        let related = control.relations.write(runtime::Relations::end, text);
        runtime::learn(&related.ids());
        let strength = match exit.reason {
            ExitReason::Normal => Strength::Normal,
            _ => Strength::Abnormal,
        };
        let is_panic = matches!(exit.reason, ExitReason::Panic(_));
        let watchers = related.monitors.iter().map(|((id, _), other)| (id, other));
        let linked = related.links.iter().map(|(id, other)| (id, other));
        let observes = |(id, other): (_, &Address)| {
            exit.process.as_ref() != Some(id) && other.control().is_alive()
        };
        let is_observed = is_panic && linked.chain(watchers).any(observes);
        for (_, other) in related.links {
            signal(&other, control.reason(exit.reason.clone()), strength);
        }
        for ((_, number), watcher) in related.monitors {
            send_down(&watcher, control.down(number, exit.reason.clone()));
        }
        is_observed
    }
}

impl<M: Message> Pid<M> {
    /// Sends an exit signal. The process ends with this reason unless the reason is normal or the
    /// process traps exits.
    #[track_caller]
    pub fn exit(&self, reason: ExitReason) {
        let strength = match reason {
            ExitReason::Normal => Strength::Normal,
            _ => Strength::Abnormal,
        };
        self.send_signal(reason, strength);
    }

    /// Ends the process even if it traps exits.
    ///
    /// ```
    /// use actors::{Delivery, Process, System};
    ///
    /// mazurka::model(|| {
    ///     let system = System::new(Delivery::MailboxOrder);
    ///     let patient = system.spawn("patient", |me: &Process<()>| me.receive());
    ///     patient.kill(); // otherwise it waits for ever, which is a deadlock
    /// });
    /// ```
    #[track_caller]
    pub fn kill(&self) {
        self.send_signal(ExitReason::Killed, Strength::Kill);
    }

    #[track_caller]
    fn send_signal(&self, reason: ExitReason, strength: Strength) {
        let control = &self.inbox.control;
        control.system.checkpoint();
        control.is_signalled(true);
        let sender = control.system.current();
        let process = sender.map(|sender| sender.control().id.clone());
        let address = Arc::clone(&self.inbox) as Address;
        signal(&address, Exit { process, reason }, strength);
    }

    /// Checks whether the process has not ended yet.
    #[track_caller]
    pub fn is_alive(&self) -> bool {
        let control = &self.inbox.control;
        control.system.checkpoint();
        control.is_alive()
    }
}

impl Control {
    /// Checks whether the process has not ended yet.
    #[track_caller]
    fn is_alive(&self) -> bool {
        self.is_related(true);
        let text = |is_alive: &bool| format!("{}.is_alive() -> {is_alive}", self.id.name());
        let is_alive = self.relations.read(runtime::Relations::is_alive, text);
        runtime::learn(&is_alive);
        is_alive
    }

    fn down(&self, number: u32, reason: ExitReason) -> Down {
        Down {
            monitor: Monitor {
                watched: self.id.clone(),
                number,
            },
            process: self.id.clone(),
            reason,
        }
    }
}

/// Sends an exit signal, through the network if there is one.
#[track_caller]
fn signal(to: &Address, exit: Exit, strength: Strength) {
    let text = format!("exit signal to {}: {}", to.control().id, exit.reason);
    let fingerprint = Fingerprint::of((to.control().id.clone(), exit.clone(), strength));
    carry(to, (text, fingerprint), move |to, posted| {
        write_signal(to, exit, strength, posted)
    });
}

#[track_caller]
fn write_signal(to: &Address, exit: Exit, strength: Strength, posted: Option<Posted>) {
    let control = to.control();
    let (id, reason) = (control.id.clone(), exit.clone());
    let text = move |_: &Signalled| format!("signal to {id}: {}", reason.reason);
    let sent = exit.clone();
    let signalled = control
        .signals
        .write(|signals| signals.signal(strength, sent), text);
    runtime::learn(&signalled);
    match signalled {
        Signalled::Ignored => {
            if let Some(posted) = posted {
                posted.arrived();
            }
        }
        Signalled::Delivered => deliver_notice(to, Notice::Exit(exit), posted),
        Signalled::Ended => deliver_notice(to, Notice::End(exit), posted),
    }
}

#[track_caller]
fn send_down(watcher: &Address, down: Down) {
    let text = format!("notifies {} of its end", watcher.control().id);
    let fingerprint = Fingerprint::of((watcher.control().id.clone(), down.clone()));
    carry(watcher, (text, fingerprint), move |to, posted| {
        deliver_notice(to, Notice::Down(down), posted)
    });
}

/// Performs `act`, which brings a signal or a notice to a process: at once, or when the network
/// delivers it. `text` describes the signal or notice, and `fingerprint` represents it in the
/// state.
#[track_caller]
fn carry(
    to: &Address,
    (text, fingerprint): (String, Fingerprint),
    act: impl FnOnce(&Address, Option<Posted>) + 'static,
) {
    let control = to.control();
    let location = runtime::place(Location::caller());
    let Some(network) = &control.system.network else {
        let before = runtime::stand_at(Some(location));
        act(to, None);
        runtime::stand_at(before);
        return;
    };
    let posted = network.post(&control.mailbox);
    let to = Arc::clone(to);
    let carrier = move || {
        runtime::stand_at(Some(location));
        runtime::report_state(move || fingerprint.clone());
        posted.wait();
        act(&to, Some(posted));
    };
    runtime::spawn_at(location, Some("network".to_owned()), Box::new(carrier));
    posted.sent(|| text);
}

/// Puts a notice into the mailbox, unless the mailbox is closed.
#[track_caller]
fn deliver_notice(to: &Address, notice: Notice, posted: Option<Posted>) {
    let control = to.control();
    let text = || match &notice {
        Notice::Exit(exit) => format!("exit of {} reported to {}", who(exit), control.id),
        Notice::Down(down) => format!("end of {} reported to {}", down.process, control.id),
        Notice::End(_) => format!("{} is woken by an end signal", control.id),
    };
    let position = match posted {
        Some(posted) => posted.deliver(&control.mailbox, text),
        None => control.mailbox.send(text),
    };
    if let Some(position) = position {
        control.mailbox.excuse(position);
        to.store_notice(position, notice, posted);
    }
}

fn who(exit: &Exit) -> &str {
    exit.process.as_ref().map_or("nobody", ProcessId::name)
}
