//! Failures and their reports: deadlocks, panics, messages that are never received.

use actors::{Delivery, Down, ExitReason, Policy, Process, System};
use mazurka::sync::Arc;
use mazurka::sync::atomic::{AtomicBool, Ordering::SeqCst};
use mazurka::{Checker, Failure, FailureKind, Report, Style, Verdict, choose};
use std::time::Duration;

fn system() -> System {
    System::new(Delivery::MailboxOrder)
}

/// Returns the first failure of a program. Checks that replaying its schedule shows the same
/// failure.
fn failure(program: impl Fn() + Clone + 'static) -> Failure {
    let report = Checker::new().check(program.clone());
    let failure = report.errors.into_iter().next().expect("it has a bug");
    let again = Checker::new().replay(&failure.schedule, program);
    let again = &again.expect("the schedule fits").errors[0];
    assert_eq!(
        (again.kind, &again.message),
        (failure.kind, &failure.message)
    );
    failure
}

fn verified(program: impl Fn() + 'static) -> Report {
    let report = Checker::new().check(program);
    let text = report.text(Style::default());
    assert_eq!(report.verdict, Verdict::Verified, "{text}");
    report
}

#[test]
fn a_thread_that_waits_for_ever_is_named() {
    let failure = failure(|| {
        let system = system();
        let picky = system.spawn("picky", |me: &Process<u32>| {
            me.receive_if(|&number| number == 2);
        });
        system.spawn("speaker", move |_: &Process<()>| picky.send(1));
    });
    assert_eq!(failure.kind, FailureKind::Deadlock);
    assert_eq!(
        failure.message,
        "picky waits for a message; the one in its mailbox does not match"
    );
}

#[test]
fn a_server_may_wait_but_not_two_processes_for_each_other() {
    verified(|| {
        system().spawn_server("server", |me: &Process<()>| me.receive());
    });
    let failure = failure(|| {
        let system = system();
        for name in ["ann", "ben"] {
            system.spawn(name, |me: &Process<()>| me.receive());
        }
    });
    assert_eq!(
        failure.message,
        "ann waits for a message; ben waits for a message"
    );
}

#[test]
fn a_panic_that_nobody_observes_is_a_failure() {
    let failure = failure(|| {
        system().spawn("fragile", |_: &Process<()>| panic!("broken"));
    });
    assert_eq!(failure.kind, FailureKind::Panic);
    assert_eq!(failure.message, "broken");
    assert!(failure.location.unwrap().contains("failures.rs"));
}

#[test]
fn a_panic_that_a_monitor_reports_is_behaviour() {
    let program = || {
        system().spawn("watcher", |me: &Process<Down>| {
            me.spawn_monitor("fragile", |_: &Process<()>| panic!("broken"), |down| down);
            let reason = me.receive().reason;
            assert_eq!(reason, ExitReason::Panic("broken".to_owned()));
        });
    };
    verified(program);
    let strict = Checker::new().panics_fail(true).check(program);
    assert_eq!(strict.errors[0].message, "broken");
}

#[test]
fn a_panic_that_ends_a_linked_process_which_nobody_watches_is_a_failure() {
    let failure = failure(|| {
        system().spawn("parent", |me: &Process<()>| {
            me.spawn_link("fragile", |_: &Process<()>| panic!("broken"));
            me.receive();
        });
    });
    assert_eq!(failure.kind, FailureKind::Panic);
    assert_eq!(
        failure.message,
        "parent is linked to fragile, which panicked: broken"
    );
}

#[test]
fn a_process_that_has_ended_observes_no_panic() {
    // The parent is the cause of the end of its child, so its monitor does not observe it.
    let failed = failure(|| {
        system().spawn("parent", |me: &Process<()>| {
            let child = me.spawn_link("child", |me: &Process<()>| me.receive());
            me.monitor(&child, |_| ());
            panic!("broken");
        });
    });
    assert_eq!(
        failed.message,
        "child is linked to parent, which panicked: broken"
    );
    // The watcher ends before the panic in some executions only.
    let program = |waits: bool| {
        move || {
            let fragile = system().spawn("fragile", |me: &Process<()>| {
                me.receive();
                panic!("broken");
            });
            system().spawn("watcher", move |me: &Process<()>| {
                me.monitor(&fragile, |_| ());
                fragile.send(());
                if waits {
                    me.receive();
                }
            });
        }
    };
    verified(program(true));
    assert_eq!(failure(program(false)).message, "broken");
}

/// Sends one message too many to a process that ends.
fn one_too_many(system: System) {
    let once = system.spawn("once", |me: &Process<u32>| {
        me.receive();
    });
    once.send(1);
    once.send(2);
}

#[test]
fn an_unhandled_message_is_a_warning_or_an_error_or_nothing() {
    let report = verified(|| one_too_many(system()));
    let text = "a message to once was never received";
    assert!(report.warnings.iter().any(|warning| warning == text));
    let failure = failure(|| one_too_many(system().unhandled(Policy::Fail)));
    assert_eq!(failure.kind, FailureKind::UnhandledMessage);
    assert_eq!(failure.message, text);
    let report = verified(|| one_too_many(system().unhandled(Policy::Allow)));
    assert!(report.warnings.iter().all(|warning| warning != text));
}

#[test]
fn a_resumed_search_reports_the_warnings_of_the_one_before() {
    let program = || {
        if choose(2) == 0 {
            one_too_many(system());
        }
    };
    let file = format!("mazurka-actors-{}-warnings", std::process::id());
    let file = std::env::temp_dir().join(file);
    let whole = Checker::new().check(program);
    let first = Checker::new().max_executions(whole.executions - 1);
    let first = first.checkpoint(&file).check(program);
    assert_eq!(first.warnings, ["a message to once was never received"]);
    let rest = Checker::new().resume(&file).check(program);
    assert_eq!(rest.executions, whole.executions);
    let [warning, trust] = &rest.warnings[..] else {
        panic!("{:?}", rest.warnings);
    };
    assert_eq!(*warning, first.warnings[0]);
    assert!(trust.starts_with("the search resumed from "), "{trust}");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn a_message_to_a_process_that_has_ended_is_an_error_if_wanted() {
    let failure = failure(|| one_too_many(system().dead_letters(Policy::Fail)));
    assert_eq!(failure.kind, FailureKind::DeadLetter);
    assert_eq!(failure.message, "2 was sent to once, which has ended");
    let report = verified(|| one_too_many(system().dead_letters(Policy::Warn)));
    assert_eq!(
        report.warnings,
        [
            "2 was sent to once, which has ended",
            "a message to once was never received",
        ]
    );
}

#[test]
fn a_failure_that_was_met_before_objects_became_coarser_is_shown() {
    let report = Checker::new().keep_going(true).check(|| {
        let system = system();
        let other = system.spawn("other", |_: &Process<()>| ());
        system.spawn("watcher", move |me: &Process<Down>| {
            me.monitor(&other, |down| down);
            me.receive_within(Duration::ZERO);
            me.receive();
            other.exit(ExitReason::Killed);
        });
    });
    assert_eq!(report.errors[0].kind, FailureKind::Deadlock);
    assert!(!report.errors[0].interleaving.rows.is_empty());
}

#[test]
fn a_message_is_an_arrow_to_the_process_that_receives_it() {
    for delivery in Delivery::ALL {
        let failure = failure(move || {
            let system = System::new(delivery);
            let listener = system.spawn("listener", |me: &Process<u32>| {
                assert_eq!(me.receive(), 2, "another message was expected");
            });
            system.spawn("speaker", move |_: &Process<()>| listener.send(1));
        });
        let shown = &failure.interleaving;
        let received = shown.rows.iter().find(|row| row.text == "receive() -> 1");
        let received = received.expect("the message is received");
        let row = received.sent_in.expect("it was sent");
        let send = &shown.rows[row];
        assert_eq!(send.text, "send(1) to listener", "{delivery:?}");
        assert_eq!(shown.threads[send.thread], "speaker");
        assert_eq!(send.sent_to, Some(received.thread), "{delivery:?}");
        assert_eq!(shown.threads[received.thread], "listener");
        let text = shown.text(Style::default());
        let place = format!("(from {})", row + 1);
        assert!(text.contains(&place), "{text}");
        let mut lines = text.lines();
        let line = lines.find(|line| line.contains("send(1)"));
        assert!(line.is_some_and(|line| line.contains(['▶', '◀'])), "{text}");
    }
}

/// The children of two parents monitor a worker. The first child panics if it finds that the second
/// child was notified of the worker's end before the first child was.
fn children_of_two(system: System) {
    let [is_made, is_notified] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
    let worker = system.spawn("worker", |me: &Process<()>| me.receive());
    let (flags, patient) = (
        (Arc::clone(&is_made), Arc::clone(&is_notified)),
        worker.clone(),
    );
    system.spawn("one parent", move |me: &Process<()>| {
        let is_second = flags.0.load(SeqCst);
        me.system().spawn("second", move |me: &Process<Down>| {
            me.monitor(&patient, |down| down);
            me.receive();
            flags.1.store(is_second, SeqCst);
        });
    });
    system.spawn("other parent", move |me: &Process<()>| {
        is_made.store(true, SeqCst);
        me.system().spawn("first", move |me: &Process<Down>| {
            me.monitor(&worker, |down| down);
            worker.send(());
            if is_notified.load(SeqCst) {
                let down = me.receive_within(Duration::ZERO);
                assert!(down.is_some(), "told later");
            }
        });
    });
}

#[test]
fn a_schedule_fits_whichever_process_was_made_first() {
    let failure = failure(|| children_of_two(system()));
    assert_eq!(failure.message, "told later");
}

#[test]
fn mailboxes_and_tables_have_contents_at_each_event() {
    for delivery in [Delivery::MailboxOrder, Delivery::Causal] {
        let failure = failure(move || {
            let system = System::new(delivery);
            let table = system.table("sums");
            table.insert("all", 1).unwrap();
            let listener = system.spawn("listener", move |me: &Process<u32>| {
                let sum = me.receive() + me.receive();
                table.insert("both", sum).unwrap();
                assert_eq!(table.update_counter(&"all", sum), Ok(Some(1)));
            });
            listener.send(1);
            listener.send(2);
        });
        let shown = &failure.interleaving;
        let states = |name: &str| -> Vec<&str> {
            let object = shown
                .objects
                .iter()
                .position(|object| object.starts_with(name));
            let object = object.unwrap_or_else(|| panic!("{name} in {:?}", shown.objects));
            let rows = shown.rows.iter().filter(|row| row.object == Some(object));
            rows.filter_map(|row| row.state.as_deref()).collect()
        };
        let mailbox = states("mailbox of listener");
        assert!(
            mailbox.contains(&"1") && mailbox.last() == Some(&"empty"),
            "{mailbox:?}"
        );
        let table = [
            "\"all\": 1",
            "\"all\": 1, \"both\": 3",
            "\"all\": 4, \"both\": 3",
        ];
        assert_eq!(states("table sums"), table);
    }
}
