//! supervisor(R, D): the client sends its request to a worker that may just be crashing, and waits for ever.

use crate::entry::{Entry, Parameter, delivery};
use actors::{Delivery, Pid, Policy, Process, System};

pub(crate) const ENTRY: Entry = Entry {
    name: "supervisor",
    about: "a client does not notice that the worker which has its request crashed",
    parameters: &[Parameter::new("R", 1, 1..=10), Parameter::DELIVERY],
    body: |sizes| supervised(sizes[0], delivery(sizes[1])),
    expect: include_str!("expect.toml"),
};

/// Who wants an answer.
type Request = Pid<Event>;

#[derive(Clone, Debug)]
enum Event {
    Answer,
    Started(Pid<Request>),
}

/// The first `restarts` workers crash at their first request.
fn supervised(restarts: u32, delivery: Delivery) {
    let system = System::new(delivery).unhandled(Policy::Allow);
    let client = system.spawn("client", |me: &Process<Event>| {
        loop {
            let Event::Started(worker) = me.receive_if(is_start) else {
                unreachable!("only a start was asked for")
            };
            if ask(me, &worker) {
                return;
            }
        }
    });
    system.spawn_server("supervisor", move |me: &Process<()>| {
        for number in 0..=restarts {
            let name = format!("worker {number}");
            let work = move |me: &Process<Request>| work(me, number == restarts);
            let (worker, _) = me.spawn_monitor(&name, work, |_| ());
            client.send(Event::Started(worker));
            me.receive();
        }
    });
}

fn is_start(event: &Event) -> bool {
    matches!(event, Event::Started(_))
}

fn work(me: &Process<Request>, is_sound: bool) {
    let client = me.receive();
    assert!(is_sound, "a worker crashes");
    client.send(Event::Answer);
}

fn ask(me: &Process<Event>, worker: &Pid<Request>) -> bool {
    worker.send(me.pid());
    matches!(me.receive(), Event::Answer)
}
