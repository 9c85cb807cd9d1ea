//! The descriptions of objects, messages and places in traces.

use mazurka::cell::UnsafeCell;
use mazurka::future::{AtomicWaker, block_on, spawn};
use mazurka::sync::atomic::{AtomicBool, Ordering::SeqCst};
use mazurka::sync::mpsc::{channel, sync_channel};
use mazurka::sync::{Arc, LazyLock, Mutex, Notify, Once, OnceLock, RwLock};
use mazurka::{Checker, Report, thread};
use std::future::poll_fn;
use std::task::Poll;

/// Returns the rows of the program's first failure, as `text | place`.
fn rows(program: impl Fn() + 'static) -> Vec<String> {
    let report: Report = Checker::new().check(program);
    let rows = report.errors[0].interleaving.rows.iter();
    rows.map(|row| {
        let place = row.location.as_deref().unwrap_or("nowhere");
        format!("{} | {place}", row.text)
    })
    .collect()
}

fn has(rows: &[String], text: &str) -> bool {
    rows.iter().any(|row| row.contains(text))
}

#[test]
fn every_object_can_be_given_a_name() {
    let rows = rows(|| {
        let once = Once::new().named("started");
        once.call_once(|| ());
        let cell = OnceLock::new().named("config");
        cell.get_or_init(|| 1);
        let lazy = LazyLock::new(|| 2).named("table");
        assert_eq!(*lazy, 2);
        let token = Notify::new().named("token");
        token.notify();
        let waker = AtomicWaker::new().named("waker");
        waker.wake();
        let (sender, receiver) = channel();
        sender.named("jobs").send(1).unwrap();
        assert_eq!(receiver.recv(), Ok(1));
        panic!("to show it");
    });
    for name in [
        "started",
        "config",
        "table",
        "token.notify()",
        "waker.take_waker",
        "jobs.send()",
    ] {
        assert!(has(&rows, name), "{name}: {rows:#?}");
    }
}

#[test]
fn cells_and_tasks_have_the_names_that_they_were_given() {
    struct Shared(UnsafeCell<u32>);
    // SAFETY: none; the test is about the race.
    unsafe impl Sync for Shared {}
    // SAFETY: as above.
    unsafe impl Send for Shared {}
    let report = Checker::new().check(|| {
        let shared = Arc::new(Shared(UnsafeCell::new(0).named("counter")));
        let other = Arc::clone(&shared);
        let task = spawn(async move { other.0.with_mut(|_| ()) }).named("writer");
        shared.0.with(|_| ());
        block_on(task).unwrap();
    });
    let text = report.to_string();
    assert!(
        text.contains("counter.") && text.contains("writer"),
        "{text}"
    );
}

#[test]
fn messages_are_shown_where_the_channel_is_shown() {
    let rows = rows(|| {
        let (sender, receiver) = sync_channel(1);
        let sender = sender.shown();
        sender.try_send(Some("one")).unwrap();
        assert_eq!(receiver.recv(), Ok(Some("one")));
        panic!("to show it");
    });
    assert!(has(&rows, r#"try_send(Some("one"))"#), "{rows:#?}");
    assert!(has(&rows, r#"recv() -> Some("one")"#), "{rows:#?}");
}

#[test]
fn a_wake_by_the_standard_library_is_reported_with_the_line_before_it() {
    let line = line!() + 5;
    let report = Checker::new().check(move || {
        let flag = AtomicBool::new(false);
        block_on(poll_fn(|context| {
            let waker = context.waker().clone();
            flag.store(true, SeqCst);
            waker.wake();
            panic!("to show it");
            #[allow(unreachable_code)]
            Poll::Ready(())
        }));
    });
    let rows = &report.errors[0].interleaving.rows;
    let wake = rows.iter().find(|row| row.text.contains("notify()"));
    assert!(wake.is_some_and(|row| row.location.is_none()), "{rows:#?}");
    let text = report.to_string();
    assert!(text.contains(&format!("after traces.rs:{line}")), "{text}");
}

#[test]
fn waits_of_tasks_and_wakes_have_places() {
    let rows = rows(|| {
        let shared = Arc::new((AtomicBool::new(false), AtomicWaker::new()));
        let other = Arc::clone(&shared);
        thread::spawn(move || {
            other.0.store(true, SeqCst);
            other.1.wake();
        });
        block_on(poll_fn(|context| {
            shared.1.register_by_ref(context.waker());
            match shared.0.load(SeqCst) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        }));
        let lock = Mutex::new(0);
        let _first = lock.lock();
        let _second = lock.lock();
    });
    let without = rows.iter().filter(|row| row.ends_with("| nowhere"));
    assert_eq!(without.count(), 0, "{rows:#?}");
}

#[test]
fn a_lock_released_by_a_guard_is_reported_with_the_line_that_took_it() {
    let line = line!() + 4;
    let report = Checker::new().check(|| {
        let (a, b) = (Mutex::new(0), RwLock::new(0));
        thread::scope(|scope| {
            scope.spawn(|| *a.lock().unwrap() = 1);
            scope.spawn(|| *b.write().unwrap() = 1);
        });
        panic!("to show it");
    });
    let rows = &report.errors[0].interleaving.rows;
    let has = |text: &str| rows.iter().any(|row| row.text.ends_with(text));
    let unlock = format!(" unlock(), taken in line {line}");
    let release = format!("write lock released, taken in line {}", line + 1);
    assert!(has(&unlock) && has(&release), "{rows:#?}");
    let text = report.to_string();
    assert!(text.contains(&format!("after traces.rs:{line}")), "{text}");
}
