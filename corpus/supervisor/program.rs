//! supervisor(R, D): the client sends its request to a worker that is crashing, and waits forever.

use crate::entry::{Entry, Parameter, delivery};
use actors::{Actions, Behaviour, Delivery, Input, Next, Pid, Policy, System};

pub(crate) const ENTRY: Entry = Entry {
    name: "supervisor",
    about: "a client does not notice that the worker which has its request crashed",
    parameters: &[Parameter::new("R", 1, 1..=10), Parameter::DELIVERY],
    body: |sizes| supervised(sizes[0], delivery(sizes[1])),
    expect: include_str!("expect.toml"),
};

/// The process that waits for an answer.
type Request = Pid<Event>;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Event {
    Answer,
    Started(Pid<Request>),
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
            Input::Message(Event::Started(_)) => self.has_asked = false,
            Input::Start | Input::Answer(_) | Input::Timeout => {}
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
fn supervised(restarts: u32, delivery: Delivery) {
    let system = System::new(delivery).unhandled(Policy::Allow);
    let client = system.spawn_machine("client", Client::default());
    let supervisor = Supervisor {
        client,
        number: 0,
        restarts,
    };
    system.spawn_machine("supervisor", supervisor);
}
