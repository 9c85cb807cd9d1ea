//! The orders of messages that each model of delivery allows.

mod outcomes;

use actors::{Delivery, Pid, Process, System};
use outcomes::{Notes, agreed};
use std::time::Duration;

/// Starts a process that receives `count` messages and notes them.
fn listener(system: &System, name: &'static str, count: usize, notes: &Notes) -> Pid<u32> {
    let notes = notes.clone();
    system.spawn(name, move |me: &Process<u32>| {
        let seen: Vec<u32> = (0..count).map(|_| me.receive()).collect();
        notes.add(format!("{name} {seen:?}"));
    })
}

/// Counts the orders in which one process gets two messages from another.
fn two_of_one(delivery: Delivery) -> usize {
    let found = agreed(move |notes| {
        let system = System::new(delivery);
        let listener = listener(&system, "listener", 2, notes);
        system.spawn("speaker", move |_: &Process<()>| {
            listener.send(1);
            listener.send(2);
        });
    });
    found.finals.len()
}

#[test]
fn only_without_order_does_a_message_overtake_another_of_its_sender() {
    let orders = Delivery::ALL.map(two_of_one);
    assert_eq!(orders, [1, 1, 1, 2]);
}

/// Counts the orders when Ann sends to Cy, then to Ben, who sends to Cy.
fn relayed(delivery: Delivery) -> usize {
    let found = agreed(move |notes| {
        let system = System::new(delivery);
        let cy = listener(&system, "cy", 2, notes);
        let also_cy = cy.clone();
        let ben = system.spawn("ben", move |me: &Process<u32>| also_cy.send(me.receive()));
        system.spawn("ann", move |_: &Process<()>| {
            cy.send(1);
            ben.send(2);
        });
    });
    found.finals.len()
}

#[test]
fn an_effect_overtakes_its_cause_only_where_delivery_is_not_causal() {
    let orders = Delivery::ALL.map(relayed);
    assert_eq!(orders, [1, 1, 2, 2]);
}

/// Counts the orders when Ann sends to Cy, then Di, and Ben sends to Di, then Cy.
fn crossed(delivery: Delivery) -> usize {
    let found = agreed(move |notes| {
        let system = System::new(delivery);
        let (cy, di) = (
            listener(&system, "cy", 2, notes),
            listener(&system, "di", 2, notes),
        );
        let (also_cy, also_di) = (cy.clone(), di.clone());
        system.spawn("ann", move |_: &Process<()>| {
            cy.send(1);
            di.send(1);
        });
        system.spawn("ben", move |_: &Process<()>| {
            also_di.send(2);
            also_cy.send(2);
        });
    });
    found.finals.len()
}

#[test]
fn two_listeners_disagree_about_the_first_only_where_messages_are_under_way() {
    let orders = Delivery::ALL.map(crossed);
    assert_eq!(orders, [3, 4, 4, 4]);
}

#[test]
fn lost_and_duplicated_messages_are_choices() {
    let found = agreed(|notes| {
        let system = System::new(Delivery::MailboxOrder).losing(1).duplicating(1);
        let notes = notes.clone();
        let listener = system.spawn("listener", move |me: &Process<u32>| {
            let mut seen = vec![me.receive_if(|&message| message == 3)];
            while let Some(message) = me.receive_within(Duration::ZERO) {
                seen.push(message);
            }
            notes.add(format!("{seen:?}"));
        });
        for message in 1..=3 {
            listener.send(message);
        }
    });
    let seen = found.seen();
    for possible in [
        "[3, 1, 2]",
        "[3, 1]",
        "[3, 2]",
        "[3, 1, 1, 2]",
        "[3, 1, 1]",
        "[3, 1, 2, 3]",
        "[3, 2, 2]",
    ] {
        assert!(seen.contains(&vec![possible]), "{possible} of {seen:?}");
    }
    assert!(seen.contains(&vec![]), "the last message is lost");
    assert!(!seen.contains(&vec!["[3]"]), "one message is lost at most");
}

#[test]
fn a_receive_with_a_limit_gets_what_is_there_or_times_out() {
    for (limit, most) in [
        (Duration::ZERO, 2),
        (Duration::from_secs(1), 2),
        (Duration::MAX, 1),
    ] {
        let found = agreed(move |notes| {
            let system = System::new(Delivery::MailboxOrder);
            let notes = notes.clone();
            let listener = system.spawn("listener", move |me: &Process<u32>| {
                notes.add(format!("{:?}", me.receive_within(limit)));
            });
            listener.send(1);
        });
        assert_eq!(found.finals.len(), most, "{limit:?}");
    }
}

#[test]
fn messages_that_do_not_match_stay_in_their_places() {
    let found = agreed(|notes| {
        let system = System::new(Delivery::MailboxOrder);
        let notes = notes.clone();
        let picky = system.spawn("picky", move |me: &Process<u32>| {
            let second = me.receive_if(|&message| message >= 10);
            let nothing = me.receive_if_within(Duration::ZERO, |&message| message == 5);
            let rest = [me.receive(), me.receive()];
            notes.add(format!("{second} {nothing:?} {rest:?}"));
        });
        for message in [1, 10, 2] {
            picky.send(message);
        }
    });
    assert_eq!(found.seen(), [vec!["10 None [1, 2]"]].into());
}
