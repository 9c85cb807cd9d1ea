//! supervisor(R, D): a supervisor replaces workers that crash. The client sends its request to a
//! worker that crashes, and waits for the answer forever. Repair: the client monitors its worker
//! and sends the request to the next worker after a crash.

use crate::entry::{Entry, Parameter, delivery};
use actors::{Actions, Behaviour, Delivery, Input, Monitor, Next, Pid, Policy, System};

pub(crate) const ENTRY: Entry = Entry {
    name: "supervisor",
    about: "a client waits for an answer from a worker that has crashed",
    parameters: &[Parameter::new("R", 1, 1..=10), Parameter::DELIVERY],
    body: |sizes| supervised(sizes[0], delivery(sizes[1]), Client::default()),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "supervisor-fixed",
    about: "a client monitors its worker and repeats its request after a crash",
    parameters: &[Parameter::new("R", 1, 1..=10), Parameter::DELIVERY],
    body: |sizes| supervised(sizes[0], delivery(sizes[1]), MonitoringClient::default()),
    expect: include_str!("fixed.toml"),
};

/// The process that waits for an answer.
type Request = Pid<Event>;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Event {
    Answer,
    Started(Pid<Request>),
    /// The result of monitoring the worker. Only the repaired client uses it.
    Watched(Monitor),
    /// The worker has crashed. Only the repaired client receives it.
    Crash,
}

/// Waits for the start of a worker, then for any message after its request.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct Client {
    has_asked: bool,
}

impl Behaviour for Client {
    type Message = Event;

    fn fits(&self, event: &Event) -> bool {
        self.has_asked || matches!(event, Event::Started(_))
    }

    fn react(&mut self, input: Input<Event>, actions: &mut Actions<Event>) -> Next {
        match input {
            Input::Message(Event::Answer) => return Next::Stop,
            Input::Message(Event::Started(worker)) if !self.has_asked => {
                actions.send(&worker, actions.pid());
                self.has_asked = true;
            }
            Input::Message(_) => self.has_asked = false,
            Input::Start | Input::Answer(_) | Input::Timeout => {}
        }
        Next::Receive
    }
}

/// The repaired client. Waits for the start of a worker, or for the outcome of its request.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct MonitoringClient {
    worker: Option<Pid<Request>>,
    monitor: Option<Monitor>,
}

impl Behaviour for MonitoringClient {
    type Message = Event;

    /// The start of the next worker may arrive before the crash of this one. Until the crash has
    /// arrived, the start stays in the mailbox.
    fn fits(&self, event: &Event) -> bool {
        self.worker.is_some() != matches!(event, Event::Started(_))
    }

    fn react(&mut self, input: Input<Event>, actions: &mut Actions<Event>) -> Next {
        match input {
            Input::Start | Input::Timeout => {}
            Input::Message(Event::Started(worker)) => {
                self.worker = Some(worker.clone());
                actions.ask(worker, |me, worker| {
                    Event::Watched(me.monitor(&worker, |_| Event::Crash))
                });
            }
            Input::Answer(Event::Watched(monitor)) => {
                self.monitor = Some(monitor);
                let worker = self.worker.as_ref().expect("it watches a worker");
                actions.send(worker, actions.pid());
            }
            Input::Message(event) | Input::Answer(event) => {
                let watched = self.worker.take().zip(self.monitor.take());
                let watched = watched.expect("it watches a worker");
                actions.perform(watched, |me, (worker, monitor)| {
                    me.demonitor(&worker, &monitor);
                });
                if event == Event::Answer {
                    return Next::Stop;
                }
            }
        }
        Next::Receive
    }
}

/// Starts a worker and announces it to the client. When it has crashed, starts the next one.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Supervisor {
    client: Pid<Event>,
    number: u32,
    restarts: u32,
}

impl Behaviour for Supervisor {
    type Message = ();

    fn is_server(&self) -> bool {
        true
    }

    fn react(&mut self, _: Input<()>, actions: &mut Actions<()>) -> Next {
        if self.number > self.restarts {
            return Next::Stop;
        }
        let worker = Worker {
            is_sound: self.number == self.restarts,
        };
        let name = format!("worker {}", self.number);
        let (worker, _) = actions.spawn_monitor(&name, worker, |_| ());
        actions.send(&self.client, Event::Started(worker));
        self.number += 1;
        Next::Receive
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Worker {
    is_sound: bool,
}

impl Behaviour for Worker {
    type Message = Request;

    fn react(&mut self, input: Input<Request>, actions: &mut Actions<Request>) -> Next {
        let Input::Message(client) = input else {
            return Next::Receive;
        };
        assert!(self.is_sound, "a worker crashes");
        actions.send(&client, Event::Answer);
        Next::Stop
    }
}

/// Runs the system. The first `restarts` workers crash at their first request.
fn supervised(restarts: u32, delivery: Delivery, client: impl Behaviour<Message = Event>) {
    let system = System::new(delivery).unhandled(Policy::Allow);
    let client = system.spawn_machine("client", client);
    let supervisor = Supervisor {
        client,
        number: 0,
        restarts,
    };
    system.spawn_machine("supervisor", supervisor);
}
