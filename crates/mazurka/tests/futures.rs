//! Futures and their wakers.

use mazurka::future::{AtomicWaker, block_on, spawn, spurious, yield_now};
use mazurka::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use mazurka::sync::{Arc, Mutex, Notify};
use mazurka::{Algorithm, Checker, FailureKind, Report, Verdict, thread};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Poll, Waker};

fn check(program: impl Fn() + 'static) -> Report {
    Checker::new().check(program)
}

/// Checks the number of executions of the optimal algorithms. Brute force needs at least as many.
fn traces(expected: u64, program: impl Fn() + Copy + 'static) {
    for algorithm in [Algorithm::Optimal, Algorithm::Parsimonious] {
        let report = Checker::new().algorithm(algorithm).check(program);
        assert_eq!(report.verdict, Verdict::Verified, "{algorithm}");
        assert_eq!(report.executions, expected, "{algorithm}");
    }
    let all = Checker::new()
        .algorithm(Algorithm::Exhaustive)
        .check(program);
    assert_eq!(all.verdict, Verdict::Verified);
    assert!(all.executions >= expected);
}

fn waits_for_flag(registers_first: bool) {
    let shared = Arc::new((AtomicBool::new(false), AtomicWaker::new()));
    let other = thread::spawn({
        let shared = Arc::clone(&shared);
        move || {
            shared.0.store(true, SeqCst);
            shared.1.wake();
        }
    });
    block_on(poll_fn(|context| {
        if registers_first {
            shared.1.register_by_ref(context.waker());
        }
        if shared.0.load(SeqCst) {
            return Poll::Ready(());
        }
        if !registers_first {
            shared.1.register_by_ref(context.waker());
        }
        Poll::Pending
    }));
    other.join().unwrap();
}

#[test]
fn a_waiter_that_registers_before_it_checks_is_woken() {
    assert_eq!(check(|| waits_for_flag(true)).verdict, Verdict::Verified);
}

#[test]
fn a_waiter_that_checks_before_it_registers_may_sleep_for_ever() {
    let report = check(|| waits_for_flag(false));
    assert_eq!(report.errors[0].kind, FailureKind::Deadlock);
    assert!(
        report.errors[0].message.contains("Notify@"),
        "{}",
        report.errors[0].message
    );
}

#[test]
fn a_future_that_nobody_wakes_is_a_deadlock() {
    let report = check(|| block_on(std::future::pending::<()>()));
    assert_eq!(report.errors[0].kind, FailureKind::Deadlock);
}

#[test]
fn a_future_that_is_ready_is_not_waited_for() {
    let report = check(|| assert_eq!(block_on(async { 7 }), 7));
    assert_eq!(report.verdict, Verdict::Verified);
    assert_eq!(report.events, 0);
}

#[test]
fn wakes_before_the_wait_are_one() {
    let report = check(|| {
        let polls = std::cell::Cell::new(0);
        block_on(poll_fn(|context| {
            polls.set(polls.get() + 1);
            if polls.get() == 3 {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            context.waker().wake_by_ref();
            Poll::Pending
        }));
        assert_eq!(polls.get(), 3);
    });
    assert_eq!(report.verdict, Verdict::Verified);
}

#[test]
fn a_token_orders_what_was_done_before() {
    // The notification comes before or after the thread begins to wait.
    traces(2, || {
        let shared = Arc::new((AtomicU32::new(0), Notify::new()));
        thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                shared.0.store(1, SeqCst);
                shared.1.notify();
            }
        });
        shared.1.wait();
        assert_eq!(shared.0.load(SeqCst), 1);
    });
}

#[test]
fn two_tokens_may_be_one() {
    let program = || {
        let ready = Arc::new(Notify::new());
        for _ in 0..2 {
            let ready = Arc::clone(&ready);
            thread::spawn(move || ready.notify());
        }
        ready.wait();
        ready.wait();
    };
    let report = check(program);
    assert_eq!(report.errors[0].kind, FailureKind::Deadlock);
}

#[test]
fn a_second_waiter_is_refused() {
    let report = Checker::new().keep_going(true).check(|| {
        let ready = Arc::new(Notify::new());
        let other = thread::spawn({
            let ready = Arc::clone(&ready);
            move || ready.wait()
        });
        ready.notify();
        ready.notify();
        ready.wait();
        other.join().unwrap();
    });
    let is_refusal = |message: &str| message.contains("only a single thread may wait");
    assert!(report.errors.iter().any(|error| is_refusal(&error.message)));
}

// Tasks.

/// Two tasks add, and main waits for both.
fn two_tasks() {
    let count = Arc::new(AtomicU32::new(0));
    let tasks = [1, 2].map(|n| {
        let count = Arc::clone(&count);
        spawn(async move { count.fetch_add(n, SeqCst) })
    });
    let found = block_on(async {
        let mut found = Vec::new();
        for task in tasks {
            found.push(task.await.unwrap());
        }
        found
    });
    assert!([[0, 1], [2, 0]].contains(&[found[0], found[1]]));
    assert_eq!(count.load(SeqCst), 3);
}

#[test]
fn tasks_give_what_their_futures_are_ready_with() {
    // The additions happen in either order. Each task ends before its handle is polled, between the
    // registration of the waker and the check, or after the check.
    let optimal = Checker::new()
        .algorithm(Algorithm::Optimal)
        .check(two_tasks);
    assert_eq!(optimal.verdict, Verdict::Verified, "{optimal}");
    for algorithm in [Algorithm::Sleep, Algorithm::Source, Algorithm::Parsimonious] {
        let report = Checker::new().algorithm(algorithm).check(two_tasks);
        assert_eq!(report.executions, optimal.executions, "{algorithm}");
    }
}

#[test]
fn a_task_that_panics_is_an_error_for_who_waits_and_a_failure_if_nobody_does() {
    let report = check(|| {
        let error = block_on(spawn(async { panic!("in the task") })).unwrap_err();
        assert!(error.is_panic() && !error.is_cancelled());
        let panic = error.try_into_panic().unwrap();
        assert_eq!(panic.downcast_ref(), Some(&"in the task"));
    });
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
    let report = check(|| drop(spawn(async { panic!("in the task") })));
    assert_eq!(report.errors[0].message, "in the task");
}

/// Increments the counter when it is dropped.
struct Dropped(Arc<AtomicU32>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn an_aborted_task_drops_its_future_before_it_ends() {
    let report = check(|| {
        let drops = Arc::new(AtomicU32::new(0));
        let dropped = Dropped(Arc::clone(&drops));
        let task = spawn(async move {
            let _dropped = dropped;
            std::future::pending::<()>().await;
        });
        task.abort();
        let error = block_on(task).unwrap_err();
        assert!(error.is_cancelled());
        assert_eq!(error.to_string(), "the task was aborted");
        assert_eq!(drops.load(SeqCst), 1);
    });
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
}

#[test]
fn an_aborted_task_may_be_ready_before() {
    let report = check(|| {
        let task = spawn(async { 7 });
        task.abort();
        let both = block_on(task).map_err(|error| error.is_cancelled());
        assert!([Ok(7), Err(true)].contains(&both));
        let is_ready = both.is_ok();
        mazurka::assume(is_ready);
    });
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
    assert!(report.executions > 0 && report.halted > 0, "{report}");
}

#[test]
fn what_is_aborted_on_drop_does_not_wait_for_ever() {
    let endless = || spawn(std::future::pending::<()>());
    let report = check(move || drop(endless().abort_on_drop()));
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
    let report = check(move || drop(endless()));
    assert_eq!(report.errors[0].kind, FailureKind::Deadlock);
    let report = check(|| assert_eq!(block_on(spawn(async { 7 }).abort_on_drop()).unwrap(), 7));
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
}

#[test]
fn a_handle_knows_whether_its_task_has_ended() {
    let report = Checker::new().keep_going(true).check(|| {
        let task = spawn(async {});
        assert!(!task.is_finished(), "it has ended already");
        block_on(task).unwrap();
    });
    assert_eq!(report.errors.len(), 1);
    assert!(report.executions > 1, "it may end later, too");
}

/// A queue of wakers for one event, as in hand-written code.
#[derive(Default)]
struct Event {
    state: Mutex<(bool, Vec<Waker>)>,
}

impl Event {
    /// Waits for the event. If the task finds the event without a wakeup, its waker stays in the
    /// queue unless `cleans_up` is set.
    async fn wait(&self, cleans_up: bool) {
        poll_fn(|context| {
            let current = context.waker();
            let mut state = self.state.lock().unwrap();
            if std::mem::take(&mut state.0) {
                state
                    .1
                    .retain(|waker| !(cleans_up && waker.will_wake(current)));
                return Poll::Ready(());
            }
            if !state.1.iter().any(|waker| waker.will_wake(current)) {
                state.1.push(current.clone());
            }
            Poll::Pending
        })
        .await;
    }

    /// Makes the event happen, and wakes one waiter.
    fn happen(&self) {
        let mut state = self.state.lock().unwrap();
        state.0 = true;
        let waker = if state.1.is_empty() {
            None
        } else {
            Some(state.1.remove(0))
        };
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Two tasks that wait for one event, which happens twice, once for each task. The first task may
/// be polled spuriously.
fn two_waiters(cleans_up: bool, polls: u32) {
    let event = Arc::new(Event::default());
    let task = |polls| {
        let event = Arc::clone(&event);
        spawn(async move { spurious(event.wait(cleans_up), polls).await })
    };
    let tasks = [task(polls), task(0)];
    block_on(async {
        event.happen();
        let mut tasks = tasks;
        // Whichever task gets the first event, the other one gets the next.
        let first = poll_fn(|context| {
            for (index, task) in tasks.iter_mut().enumerate() {
                if Pin::new(task).poll(context).is_ready() {
                    return Poll::Ready(index);
                }
            }
            Poll::Pending
        });
        let first = first.await;
        event.happen();
        let [one, other] = tasks;
        let left = if first == 0 { other } else { one };
        left.await.unwrap();
    });
}

#[test]
fn spurious_polls_find_a_waker_that_is_left_behind() {
    let check = |cleans_up, polls| check(move || two_waiters(cleans_up, polls));
    let report = check(false, 0);
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
    let report = check(false, 1);
    assert_eq!(report.errors[0].kind, FailureKind::Deadlock, "{report}");
    let report = check(true, 1);
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
}

#[test]
fn a_task_that_yields_lets_others_come_between() {
    let report = check(|| {
        let x = Arc::new(AtomicU32::new(0));
        let other = spawn({
            let x = Arc::clone(&x);
            async move {
                x.store(1, SeqCst);
                yield_now().await;
                x.store(2, SeqCst);
            }
        });
        block_on(async {
            let seen = x.load(SeqCst);
            mazurka::assume(seen == 1);
            other.await.unwrap();
        });
    });
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
    assert!(report.executions > 0);
}
