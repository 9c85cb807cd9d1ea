//! two-phase-commit(N, D): the coordinator may crash between announcements of its decision.
//! Participants without a decision then abort, although others may have committed. Repair: the
//! coordinator logs its decision before announcing it. After a crash, a participant without a
//! decision reads the log, and logs an abort if the log is empty.

use crate::entry::{Entry, Parameter, delivery};
use actors::{Delivery, ExitReason, Pid, Policy, Process, System, Table};
use mazurka::choose;

pub(crate) const ENTRY: Entry = Entry {
    name: "two-phase-commit",
    about: "participants abort when the coordinator crashes, although others may have committed",
    parameters: &[Parameter::new("N", 2, 2..=10), Parameter::DELIVERY],
    body: |sizes| commit(sizes[0], delivery(sizes[1]), |_, decision| decision),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "two-phase-commit-fixed",
    about: "the coordinator logs its decision, which participants look up when it crashes",
    parameters: &[Parameter::new("N", 2, 2..=10), Parameter::DELIVERY],
    body: |sizes| commit(sizes[0], delivery(sizes[1]), log_decision),
    expect: include_str!("fixed.toml"),
};

#[derive(Clone, Debug)]
enum Message {
    Prepare(Pid<bool>),
    Decision(bool),
    Crash,
}

/// The log of the repaired version, with at most one decision.
type Log = Table<&'static str, bool>;

/// Maps the log and a proposed decision to the decision that is made.
type Decide = fn(&Log, bool) -> bool;

fn commit(n: u32, delivery: Delivery, decide: Decide) {
    let system = System::new(delivery).unhandled(Policy::Allow);
    let (log, done) = (system.table("log"), system.table("done"));
    let participants: Vec<Pid<Message>> = (0..n)
        .map(|own| {
            let (log, done) = (log.clone(), done.clone());
            system.spawn(
                &format!("participant {own}"),
                move |me: &Process<Message>| {
                    let decision = participate(me, &log, decide);
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
        coordinate(me, &participants, &log, decide);
    });
}

/// Crashes after a number of announcements that the exploration chooses.
fn coordinate(me: &Process<bool>, participants: &[Pid<Message>], log: &Log, decide: Decide) {
    for participant in participants {
        participant.send(Message::Prepare(me.pid()));
    }
    let votes = participants.iter().all(|_| me.receive());
    let decision = decide(log, votes);
    let announced = choose(participants.len() as u32 + 1) as usize;
    for participant in &participants[..announced] {
        participant.send(Message::Decision(decision));
    }
    if announced < participants.len() {
        me.exit(ExitReason::Killed);
    }
}

/// Returns the decision that the coordinator announces or, after a crash, the participant makes.
fn participate(me: &Process<Message>, log: &Log, decide: Decide) -> bool {
    let prepare = me.receive();
    let Message::Prepare(coordinator) = prepare else {
        unreachable!("the first message prepares")
    };
    me.monitor(&coordinator, |_| Message::Crash);
    coordinator.send(true);
    match me.receive() {
        Message::Decision(decision) => decision,
        Message::Crash => decide(log, false),
        Message::Prepare(_) => unreachable!("it is prepared"),
    }
}

/// Logs this decision unless another one is logged already. Returns the logged decision.
fn log_decision(log: &Log, decision: bool) -> bool {
    let is_first = log.insert_new("decision", decision);
    if is_first.expect("the log exists") {
        return decision;
    }
    let logged = log.lookup(&"decision").expect("the log exists");
    logged.expect("there was a decision")
}
