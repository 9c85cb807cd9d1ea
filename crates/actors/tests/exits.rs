//! Links, monitors, exit signals, kills and names.

mod outcomes;

use actors::{Delivery, Down, Exit, ExitReason, Pid, Process, RegisterError, System};
use outcomes::{Notes, agreed};

const MAILBOX: Delivery = Delivery::MailboxOrder;

#[test]
fn a_monitor_reports_the_end_exactly_once() {
    for delivery in Delivery::ALL {
        let found = agreed(move |notes| {
            let system = System::new(delivery);
            let notes = notes.clone();
            let worker = system.spawn("worker", |_: &Process<()>| ());
            system.spawn("watcher", move |me: &Process<Down>| {
                me.monitor(&worker, |down| down);
                notes.add(format!("{}", me.receive().reason));
            });
        });
        let reasons = [vec!["no process"], vec!["normal"]];
        assert_eq!(found.seen(), reasons.into(), "{delivery:?}");
    }
}

#[test]
fn a_process_that_is_monitored_from_its_start_has_ended_normally() {
    let found = agreed(|notes| {
        let notes = notes.clone();
        System::new(MAILBOX).spawn("watcher", move |me: &Process<Down>| {
            let (worker, monitor) = me.spawn_monitor("worker", |_: &Process<()>| (), |down| down);
            let down = me.receive();
            assert_eq!((down.monitor, &down.process), (monitor, worker.id()));
            notes.add(format!("{}", down.reason));
        });
    });
    assert_eq!(found.seen(), [vec!["normal"]].into());
}

#[test]
fn the_end_of_a_demonitored_process_is_not_reported() {
    let found = agreed(|notes| {
        let system = System::new(MAILBOX);
        let notes = notes.clone();
        let worker = system.spawn("worker", |_: &Process<()>| ());
        system.spawn("watcher", move |me: &Process<Option<Down>>| {
            let monitor = me.monitor(&worker, Some);
            me.demonitor(&worker, &monitor);
            me.pid().send(None);
            notes.add(format!("{:?}", me.receive()));
        });
    });
    assert_eq!(found.seen(), [vec!["None"]].into());
}

/// Starts a process that waits forever.
fn sleeper(system: &System, notes: &Notes) -> Pid<()> {
    let notes = notes.clone();
    system.spawn("sleeper", move |me: &Process<()>| {
        me.receive();
        notes.add("woken");
    })
}

#[test]
fn a_kill_ends_a_process_that_waits() {
    for delivery in Delivery::ALL {
        let found = agreed(move |notes| {
            let system = System::new(delivery);
            sleeper(&system, notes).kill();
        });
        assert_eq!(found.seen(), [vec![]].into(), "{delivery:?}");
        assert_eq!(found.finals.len(), 1, "{delivery:?}");
    }
}

#[test]
fn a_kill_may_come_before_or_after_each_operation() {
    let found = agreed(|notes| {
        let system = System::new(MAILBOX);
        let (heard, notes) = (notes.clone(), notes.clone());
        let listener = system.spawn_server("listener", move |me: &Process<u32>| {
            let mut sum = 0;
            loop {
                sum += me.receive();
                heard.add(format!("{sum}"));
            }
        });
        let victim = system.spawn("victim", move |_: &Process<()>| {
            for number in [1, 10] {
                listener.send(number);
            }
            notes.add("done");
        });
        victim.kill();
    });
    // A kill takes effect only at an operation of the victim. The victim has no operation after its
    // last send, so it notes "done" whenever it has sent both numbers.
    let seen = [vec![], vec!["1"], vec!["1", "11", "done"]];
    assert_eq!(found.seen(), seen.into());
}

#[test]
fn a_message_that_comes_before_the_kill_may_still_be_received() {
    let found = agreed(|notes| {
        let system = System::new(MAILBOX);
        let sleeper = sleeper(&system, notes);
        sleeper.send(());
        sleeper.kill();
    });
    assert_eq!(found.seen(), [vec!["woken"]].into());
}

/// Returns the notes of a process that is linked to another, which ends for this reason.
fn linked(traps: bool, reason: ExitReason) -> Vec<String> {
    let found = agreed(move |notes| {
        let notes = notes.clone();
        let reason = reason.clone();
        System::new(MAILBOX).spawn("parent", move |me: &Process<Option<Exit>>| {
            if traps {
                me.trap_exits(Some);
            }
            let child = me.spawn_link("child", move |me: &Process<()>| me.exit(reason));
            me.pid().send(None);
            me.receive_if(Option::is_none);
            // An exit signal may have ended the parent before this operation.
            let is_alive = child.is_alive();
            if traps {
                let exit = me.receive().expect("what is left is the exit");
                notes.add(exit.reason.to_string());
            } else {
                notes.add(if is_alive { "before" } else { "after" });
            }
        });
    });
    let mut seen: Vec<String> = found.seen().into_iter().map(|seen| seen.concat()).collect();
    seen.sort();
    seen
}

#[test]
fn a_linked_process_ends_with_the_other_unless_that_ends_normally() {
    let other = || ExitReason::Other("lost".to_owned());
    assert_eq!(linked(false, ExitReason::Normal), ["after", "before"]);
    // The child's signal may arrive before the parent's next operation or after its last one.
    assert_eq!(linked(false, other()), ["", "after", "before"]);
}

#[test]
fn a_process_that_traps_exits_gets_a_message() {
    let other = || ExitReason::Other("lost".to_owned());
    assert_eq!(linked(true, ExitReason::Normal), ["normal"]);
    assert_eq!(linked(true, other()), ["lost"]);
    assert_eq!(linked(true, ExitReason::Killed), ["killed"]);
}

#[test]
fn a_link_to_a_process_that_has_ended_ends_the_one_who_links() {
    let found = agreed(|notes| {
        let system = System::new(MAILBOX);
        let notes = notes.clone();
        let gone = system.spawn("gone", |_: &Process<()>| ());
        system.spawn("late", move |me: &Process<()>| {
            while gone.is_alive() {
                mazurka::assume(false);
            }
            me.link(&gone);
            me.pid().send(());
            notes.add("lives");
        });
    });
    assert_eq!(found.seen(), [vec![]].into());
}

#[test]
fn an_unlinked_process_lives_on() {
    let found = agreed(|notes| {
        let system = System::new(MAILBOX);
        let notes = notes.clone();
        system.spawn("parent", move |me: &Process<()>| {
            let child = me.spawn_link("child", |me: &Process<()>| {
                me.receive();
                me.exit(ExitReason::Killed);
            });
            me.unlink(&child);
            child.send(());
            me.pid().send(());
            me.receive();
            notes.add("lives");
        });
    });
    assert_eq!(found.seen(), [vec!["lives"]].into());
}

#[test]
fn two_processes_cannot_have_one_name() {
    let found = agreed(|notes| {
        let system = System::new(MAILBOX);
        for name in ["ann", "ben"] {
            let notes = notes.clone();
            system.spawn(name, move |me: &Process<()>| {
                match me.system().register("leader", &me.pid()) {
                    Ok(()) => notes.add(format!("{name} leads")),
                    Err(RegisterError::Taken) => notes.add(format!("{name} follows")),
                    Err(RegisterError::Ended) => unreachable!("it runs"),
                }
            });
        }
    });
    let seen = [
        vec!["ann follows", "ben leads"],
        vec!["ann leads", "ben follows"],
        // The name is free again after its process has ended.
        vec!["ann leads", "ben leads"],
    ];
    assert_eq!(found.seen(), seen.into());
}

#[test]
fn a_process_that_has_ended_gets_no_name() {
    let found = agreed(|notes| {
        let system = System::new(MAILBOX);
        let brief = system.spawn("brief", |_: &Process<()>| ());
        let result = system.register("brief", &brief);
        let is_there = system.whereis::<()>("brief").is_some();
        notes.add(format!("{result:?} {is_there}"));
    });
    let seen = [
        vec!["Err(Ended) false"],
        vec!["Ok(()) false"],
        vec!["Ok(()) true"],
    ];
    assert_eq!(found.seen(), seen.into());
}
