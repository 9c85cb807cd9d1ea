//! two-phase-commit(N, D): the coordinator may crash between announcements; the others then abort.

use crate::entry::{Entry, Parameter, delivery};
use actors::{Delivery, ExitReason, Pid, Policy, Process, System, Table};
use mazurka::choose;

pub(crate) const ENTRY: Entry = Entry {
    name: "two-phase-commit",
    about: "participants abort when the coordinator crashes, although others may have committed",
    parameters: &[Parameter::new("N", 2, 2..=10), Parameter::DELIVERY],
    body: |sizes| commit(sizes[0], delivery(sizes[1])),
    expect: include_str!("expect.toml"),
};

#[derive(Clone, Debug)]
enum Message {
    Prepare(Pid<bool>),
    Decision(bool),
    Crash,
}

fn commit(n: u32, delivery: Delivery) {
    let system = System::new(delivery).unhandled(Policy::Allow);
    let (log, done) = (system.table("log"), system.table("done"));
    let participants: Vec<Pid<Message>> = (0..n)
        .map(|own| {
            let (log, done) = (log.clone(), done.clone());
            system.spawn(
                &format!("participant {own}"),
                move |me: &Process<Message>| {
                    let decision = participate(me, &log);
                    let is_new = done.insert_new("decision", decision);
                    if is_new == Ok(false) {
                        let other = done.lookup(&"decision");
                        assert_eq!(other, Ok(Some(decision)), "one commits, one aborts");
                    }
                },
            )
        })
        .collect();
    system.spawn("coordinator", move |me: &Process<bool>| {
        coordinate(me, &participants, &log);
    });
}

/// Crashes after a number of announcements that the exploration chooses.
fn coordinate(me: &Process<bool>, participants: &[Pid<Message>], _: &Table<&'static str, bool>) {
    for participant in participants {
        participant.send(Message::Prepare(me.pid()));
    }
    let votes = participants.iter().all(|_| me.receive());
    let decision = votes;
    let told = choose(participants.len() as u32 + 1) as usize;
    for participant in &participants[..told] {
        participant.send(Message::Decision(decision));
    }
    if told < participants.len() {
        me.exit(ExitReason::Killed);
    }
}

/// Returns the decision that the participant learns.
fn participate(me: &Process<Message>, log: &Table<&'static str, bool>) -> bool {
    let prepare = me.receive();
    let Message::Prepare(coordinator) = prepare else {
        unreachable!("the first message prepares")
    };
    me.monitor(&coordinator, |_| Message::Crash);
    coordinator.send(true);
    match me.receive() {
        Message::Decision(decision) => decision,
        Message::Crash => decide_alone(log),
        Message::Prepare(_) => unreachable!("it is prepared"),
    }
}

fn decide_alone(_: &Table<&'static str, bool>) -> bool {
    false
}
