//! Programs with hidden synchronization (their threads synchronize through objects that Mazurka
//! does not see), and their repaired versions with types of Mazurka.

use mazurka::future::{block_on, spawn, yield_now};
use mazurka::{Checker, MemoryModel, Report, Verdict, thread};
use report::{Limit, Omission};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

fn check(program: impl Fn() + 'static) -> Report {
    Checker::new().check(program)
}

/// Checks that the program is bounded only because of hidden synchronization, under sequential
/// consistency and under RC11. Returns the bounds under sequential consistency.
#[track_caller]
fn hides(program: impl Fn() + Clone + 'static) -> String {
    let [sc, _] = [MemoryModel::Sc, MemoryModel::Rc11].map(|memory| {
        let report = Checker::new().memory(memory).check(program.clone());
        assert_eq!(report.verdict, Verdict::Bounded, "{report:?}");
        let is_hidden = |limit: &Limit| *limit == Limit::LeftOut(Omission::Hidden);
        assert!(report.limits.iter().all(is_hidden), "{report:?}");
        report.bounds.join("\n")
    });
    sc
}

/// Checks that no hidden synchronization is found.
#[track_caller]
fn is_verified(program: impl Fn() + Clone + 'static) {
    for memory in [MemoryModel::Sc, MemoryModel::Rc11] {
        let report = Checker::new().memory(memory).check(program.clone());
        assert_eq!(report.verdict, Verdict::Verified, "{report:?}");
        assert_eq!(report.bounds, [""; 0]);
        assert_eq!(report.accepted, []);
    }
}

/// Two threads each increment a counter, by a load and a store.
macro_rules! lost_update {
    ($sync:ident) => {
        || {
            let count = $sync::sync::Arc::new($sync::sync::atomic::AtomicU32::new(0));
            let threads = [1, 2].map(|_| {
                let count = $sync::sync::Arc::clone(&count);
                thread::spawn(move || count.store(count.load(SeqCst) + 1, SeqCst))
            });
            for thread in threads {
                thread.join().unwrap();
            }
            count.load(SeqCst);
        }
    };
}

#[test]
fn an_update_of_an_atomic_that_may_be_lost() {
    let text = hides(lost_update!(std));
    assert!(text.contains("T0") && text.contains("T1"), "{text}");
    assert!(
        text.contains("block of 24 bytes allocated by main"),
        "{text}"
    );
    is_verified(lost_update!(mazurka));
}

/// A counter on the stack of the main thread.
macro_rules! on_the_stack {
    ($sync:ident) => {
        || {
            let count = $sync::sync::atomic::AtomicU32::new(0);
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| count.fetch_add(1, Relaxed));
                }
            });
            assert_eq!(count.load(SeqCst), 2);
        }
    };
}

#[test]
fn an_atomic_on_the_stack_of_another_thread() {
    let text = hides(on_the_stack!(std));
    assert!(text.contains("on the stack of main"), "{text}");
    is_verified(on_the_stack!(mazurka));
}

/// Two threads add to a value that a lock protects.
macro_rules! locked {
    ($lock:expr, $guard:ident => $get:expr) => {
        || {
            let count = mazurka::sync::Arc::new($lock);
            let threads = [1, 2].map(|n| {
                let $guard = mazurka::sync::Arc::clone(&count);
                thread::spawn(move || *$get += n)
            });
            for thread in threads {
                thread.join().unwrap();
            }
            let $guard = count;
            assert_eq!(*$get, 3);
        }
    };
}

#[test]
fn what_a_lock_protects() {
    hides(locked!(std::sync::Mutex::new(0), lock => lock.lock().unwrap()));
    hides(locked!(std::sync::RwLock::new(0), lock => lock.write().unwrap()));
    hides(locked!(parking_lot::Mutex::new(0), lock => lock.lock()));
    hides(locked!(parking_lot::RwLock::new(0), lock => lock.write()));
    hides(locked!(tokio::sync::Mutex::new(0), lock => block_on(lock.lock())));
    hides(locked!(tokio::sync::RwLock::new(0), lock => block_on(lock.write())));
    is_verified(locked!(mazurka::sync::Mutex::new(0), lock => lock.lock().unwrap()));
    is_verified(locked!(mazurka::sync::RwLock::new(0), lock => lock.write().unwrap()));
}

/// Threads push to a list behind a lock.
macro_rules! pushed {
    ($sync:ident) => {
        || {
            let list = $sync::sync::Arc::new($sync::sync::Mutex::new(Vec::new()));
            let threads = [1_u64, 2].map(|n| {
                let list = $sync::sync::Arc::clone(&list);
                thread::spawn(move || list.lock().unwrap().push(n))
            });
            for thread in threads {
                thread.join().unwrap();
            }
            assert_eq!(list.lock().unwrap().len(), 2);
        }
    };
}

#[test]
fn a_list_behind_a_lock() {
    hides(pushed!(std));
    is_verified(pushed!(mazurka));
}

/// One message is sent from a task to another.
#[test]
fn channels_and_notifications_of_tokio() {
    hides(|| {
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        let other = spawn(async move { sender.send(7_u64).unwrap() });
        block_on(async {
            assert_eq!(receiver.recv().await, Some(7));
            other.await.unwrap();
        });
    });
    hides(|| {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let other = spawn(async move { sender.send(7_u64).unwrap() });
        block_on(async {
            assert_eq!(receiver.await, Ok(7));
            other.await.unwrap();
        });
    });
    hides(|| {
        let notify = std::sync::Arc::new(tokio::sync::Notify::new());
        let other = spawn({
            let notify = std::sync::Arc::clone(&notify);
            async move { notify.notify_one() }
        });
        block_on(async {
            notify.notified().await;
            other.await.unwrap();
        });
    });
    hides(|| {
        let permits = std::sync::Arc::new(tokio::sync::Semaphore::new(0));
        let other = spawn({
            let permits = std::sync::Arc::clone(&permits);
            async move { permits.add_permits(1) }
        });
        block_on(async {
            permits.acquire().await.unwrap().forget();
            other.await.unwrap();
        });
    });
    is_verified(|| {
        let (sender, receiver) = mazurka::sync::mpsc::channel();
        let other = spawn(async move { sender.send(7_u64).unwrap() });
        assert_eq!(receiver.recv(), Ok(7));
        block_on(other).unwrap();
    });
    is_verified(|| {
        let permits = std::sync::Arc::new(mazurka::sync::Semaphore::new(0));
        let other = spawn({
            let permits = std::sync::Arc::clone(&permits);
            async move { permits.release() }
        });
        permits.acquire();
        block_on(other).unwrap();
    });
}

/// Lost updates of tasks, around an await point.
macro_rules! between_awaits {
    ($sync:ident) => {
        || {
            let count = $sync::sync::Arc::new($sync::sync::atomic::AtomicU32::new(0));
            let tasks = [1, 2].map(|_| {
                let count = $sync::sync::Arc::clone(&count);
                spawn(async move {
                    let before = count.load(SeqCst);
                    yield_now().await;
                    count.store(before + 1, SeqCst);
                })
            });
            block_on(async {
                for task in tasks {
                    task.await.unwrap();
                }
            });
            count.load(SeqCst);
        }
    };
}

#[test]
fn an_update_around_an_await_point() {
    hides(between_awaits!(std));
    is_verified(between_awaits!(mazurka));
}

#[test]
fn shares_of_an_arc_of_std_are_counted_by_everybody() {
    is_verified(|| {
        let shared = std::sync::Arc::new(7_u64);
        let threads = [1, 2, 3].map(|n| {
            let shared = std::sync::Arc::clone(&shared);
            thread::spawn(move || {
                let shares = vec![std::sync::Arc::clone(&shared); n];
                let weak = std::sync::Arc::downgrade(&shares[0]);
                thread::yield_now();
                weak.upgrade().map_or(0, |shared| *shared)
            })
        });
        drop(shared);
        for thread in threads {
            assert_eq!(thread.join().unwrap(), 7);
        }
    });
}

/// Data that a test collects outside of the model does not belong to the program.
#[test]
fn data_that_a_test_collects_does_not_belong_to_the_program() {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(std::collections::BTreeSet::new()));
    is_verified({
        let seen = std::sync::Arc::clone(&seen);
        move || {
            let x = mazurka::sync::Arc::new(mazurka::sync::atomic::AtomicU32::new(0));
            let other = thread::spawn({
                let x = mazurka::sync::Arc::clone(&x);
                move || x.store(1, SeqCst)
            });
            seen.lock().unwrap().insert(x.load(SeqCst));
            other.join().unwrap();
        }
    });
    assert_eq!(seen.lock().unwrap().len(), 2);
}

/// One thread sets a flag. The other thread loads the flag once and, if it is set, stores to a
/// counter of the model.
macro_rules! flag_looked_at_once {
    ($flag:expr, $bool:ty) => {
        || {
            static FLAG: $bool = $flag;
            FLAG.store(false, SeqCst);
            let counter = mazurka::sync::Arc::new(mazurka::sync::atomic::AtomicU32::new(0));
            let raises = thread::spawn(|| FLAG.store(true, SeqCst));
            let looks = thread::spawn({
                let counter = mazurka::sync::Arc::clone(&counter);
                move || {
                    if FLAG.load(SeqCst) {
                        counter.store(1, SeqCst);
                    }
                }
            });
            raises.join().unwrap();
            looks.join().unwrap();
        }
    };
}

/// The static is outside the memory whose writes are compared. But the second thread behaves
/// differently if the first thread runs later.
#[test]
fn a_static_that_is_only_read() {
    use std::sync::atomic::AtomicBool;
    let text = hides(flag_looked_at_once!(AtomicBool::new(false), AtomicBool));
    assert!(text.contains("T1 continues differently at"), "{text}");
    use mazurka::sync::atomic::AtomicBool as Mirrored;
    is_verified(flag_looked_at_once!(Mirrored::new(false), Mirrored));
}

/// Both the main thread and the other thread write to a variable on the main thread's stack.
#[test]
fn an_atomic_on_the_own_stack() {
    hides(|| {
        let count = std::sync::atomic::AtomicU32::new(0);
        let x = mazurka::sync::atomic::AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                x.load(SeqCst);
                count.store(count.load(SeqCst) + 1, SeqCst);
            });
            x.load(SeqCst);
            count.store(count.load(SeqCst) + 1, SeqCst);
        });
    });
    is_verified(|| {
        let mut count = 0_u32;
        let lock = mazurka::sync::Mutex::new((&raw mut count).addr());
        thread::scope(|scope| {
            let add = || {
                let count = lock.lock().unwrap();
                // SAFETY: the lock is held, and the variable outlives the scope.
                unsafe { *(*count as *mut u32) += 1 };
            };
            scope.spawn(add);
            add();
        });
    });
    // The frames of functions that are called and return are not shared data.
    is_verified(|| {
        fn deep(x: &mazurka::sync::atomic::AtomicU32, depth: u64) -> u64 {
            let room = [depth; 16];
            x.fetch_add(1, SeqCst);
            match depth {
                0 => room[3],
                _ => deep(x, depth - 1) + room[5],
            }
        }
        let x = mazurka::sync::atomic::AtomicU32::new(0);
        let mut sums = [0; 2];
        thread::scope(|scope| {
            let [first, _] = &mut sums;
            scope.spawn(|| *first = deep(&x, 1));
            deep(&x, 2);
        });
        sums[1] = deep(&x, 1);
        assert_eq!(sums[0], sums[1]);
    });
}

/// The last thread to end drops statics and thread-locals.
#[test]
fn destructors_of_statics_and_thread_locals() {
    use mazurka::sync::{Arc, Mutex};
    struct Log(Arc<Mutex<Vec<u64>>>);
    impl Drop for Log {
        fn drop(&mut self) {
            self.0.lock().unwrap().push(7);
        }
    }
    mazurka::lazy_static! {
        static ref LOG: Log = Log(Arc::new(Mutex::new(vec![1, 2, 3])));
    }
    mazurka::thread_local! {
        static OWN: std::cell::RefCell<Vec<u64>> = std::cell::RefCell::new(vec![1]);
    }
    is_verified(|| {
        let threads = [1, 2].map(|n| {
            thread::spawn(move || {
                OWN.with(|list| list.borrow_mut().push(n));
                LOG.0.lock().unwrap().push(n);
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
    });
    is_verified(|| {
        let other = thread::spawn(|| LOG.0.lock().unwrap()[0] = 5);
        LOG.0.lock().unwrap()[1] = 6;
        drop(other);
    });
}

/// Threads without operations may begin at any time, and other threads may wait for their ends.
#[test]
fn threads_without_operations() {
    is_verified(|| {
        for _ in 0..2 {
            thread::spawn(|| ()).join().unwrap();
        }
        let other = thread::spawn(|| thread::spawn(|| 7).join().unwrap());
        let x = mazurka::sync::Arc::new(mazurka::sync::atomic::AtomicU32::new(0));
        let child = thread::spawn(move || thread::spawn(move || x.load(SeqCst)));
        let waited_for = thread::spawn(|| ());
        let waits = thread::spawn(|| waited_for.join().unwrap());
        assert_eq!(other.join().unwrap(), 7);
        waits.join().unwrap();
        assert_eq!(child.join().unwrap().join().unwrap(), 0);
    });
}

/// A failure that occurs only in a reordered execution is reported, with a schedule if a schedule
/// can repeat it.
#[test]
fn a_failure_that_needs_another_order() {
    fn program(holds: impl Fn(bool) -> bool + Copy + Send + 'static) {
        let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let x = mazurka::sync::Arc::new(mazurka::sync::atomic::AtomicU32::new(0));
        let y = mazurka::sync::Arc::new(mazurka::sync::atomic::AtomicU32::new(0));
        let raises = thread::spawn({
            let flag = flag.clone();
            move || {
                x.load(SeqCst);
                flag.store(true, SeqCst);
                x.load(SeqCst);
            }
        });
        let looks = thread::spawn(move || {
            y.load(SeqCst);
            assert!(holds(flag.load(SeqCst)), "the flag is not as it was");
            y.load(SeqCst);
        });
        raises.join().unwrap();
        looks.join().unwrap();
    }
    for up in [false, true] {
        let report = check(move || program(move |flag| flag == up));
        assert_eq!(report.verdict, Verdict::Bug, "{report:?}");
        assert!(
            report.errors[0]
                .message
                .contains("the flag is not as it was")
        );
    }
    // Nothing depends on the flag.
    is_verified(|| program(|_| true));
}

/// A spin loop on a hidden flag does not hang the checker.
#[test]
fn a_spin_on_a_flag_of_std() {
    let report = Checker::new()
        .patience(std::time::Duration::from_millis(200))
        .check(|| {
            let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
            let raises = thread::spawn({
                let flag = flag.clone();
                move || flag.store(true, SeqCst)
            });
            let waits = thread::spawn(move || while !flag.load(SeqCst) {});
            raises.join().unwrap();
            waits.join().unwrap();
        });
    assert_eq!(report.verdict, Verdict::Bounded, "{report:?}");
}

/// The value that each thread takes from a counter of the standard library decides its behaviour.
#[test]
fn tickets_of_a_static() {
    hides(|| {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        NEXT.store(0, SeqCst);
        let x = mazurka::sync::Arc::new(mazurka::sync::atomic::AtomicU32::new(0));
        let threads = [1, 2].map(|_| {
            let x = mazurka::sync::Arc::clone(&x);
            thread::spawn(move || {
                let ticket = NEXT.fetch_add(1, SeqCst);
                x.load(SeqCst);
                if ticket == 1 {
                    x.load(SeqCst);
                }
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn hidden_synchronization_may_be_accepted() {
    let report = Checker::new().accept_hidden(true).check(lost_update!(std));
    assert_eq!(report.verdict, Verdict::Verified);
    let kinds: Vec<_> = report
        .accepted
        .iter()
        .map(|left_out| left_out.kind)
        .collect();
    assert!(kinds.iter().all(|&kind| kind == Omission::Hidden));
    assert!(!kinds.is_empty() && report.bounds.is_empty());
}

#[mazurka::test(accept_hidden)]
fn hidden_synchronization_may_be_accepted_by_the_attribute() {
    (lost_update!(std))();
}

/// Every algorithm finds the hidden synchronization. It does not change the numbers of executions.
#[test]
fn every_algorithm_finds_it_and_counts_alike() {
    for algorithm in mazurka::Algorithm::ALL {
        let check = |program: fn()| {
            let checker = Checker::new().algorithm(algorithm).max_executions(50);
            checker.try_check(program)
        };
        let Ok(report) = check(lost_update!(std)) else {
            // The algorithm compares states, which this program does not report.
            continue;
        };
        let hidden = Limit::LeftOut(Omission::Hidden);
        assert!(report.limits.contains(&hidden), "{algorithm}: {report:?}");
        let report = check(lost_update!(mazurka)).expect("the program can be checked");
        assert!(!report.limits.contains(&hidden), "{algorithm}: {report:?}");
    }
}

/// The thread that drops the last share runs the destructor, which may write to the value.
#[test]
fn the_last_share_of_an_arc_of_std_drops_the_value() {
    struct Count(mazurka::sync::Mutex<u64>);
    impl Drop for Count {
        fn drop(&mut self) {
            *self.0.get_mut().unwrap() += 0x0101;
        }
    }
    is_verified(|| {
        let shared = std::sync::Arc::new(Count(mazurka::sync::Mutex::new(0)));
        let other = thread::spawn({
            let shared = std::sync::Arc::clone(&shared);
            move || {
                *shared.0.lock().unwrap() += 1;
                mazurka::sync::atomic::AtomicU32::new(0).store(1, SeqCst);
            }
        });
        *shared.0.lock().unwrap() += 1;
        drop(shared);
        other.join().unwrap();
    });
}

/// The thread that drops the last share runs the destructor, and its operations depend on which
/// thread this is. No two threads write to the same memory, so only another order shows it.
#[test]
fn the_last_share_of_an_arc_of_std_performs_operations() {
    macro_rules! program {
        ($arc:ident, $order:ident) => {
            || {
                struct Flag($arc<mazurka::sync::atomic::AtomicBool>);
                impl Drop for Flag {
                    fn drop(&mut self) {
                        self.0.store(true, $order);
                    }
                }
                let flag = $arc::default();
                let shared = $arc::new(Flag($arc::clone(&flag)));
                let other = thread::spawn({
                    let shared = $arc::clone(&shared);
                    move || drop(shared)
                });
                drop(shared);
                flag.load($order);
                other.join().unwrap();
            }
        };
    }
    use mazurka::sync::Arc;
    use std::sync::Arc as Hidden;
    hides(program!(Hidden, SeqCst));
    hides(program!(Hidden, Relaxed));
    is_verified(program!(Arc, SeqCst));
    is_verified(program!(Arc, Relaxed));
}

#[test]
fn what_threads_print_is_no_business_of_the_model() {
    is_verified(|| {
        let threads = [1, 2].map(|n| thread::spawn(move || println!("thread {n} of a test")));
        println!("the main thread of a test");
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

/// Readers of a lock of Mazurka are not ordered, and do not change any data of the program.
#[test]
fn two_readers_at_a_time() {
    is_verified(|| {
        let lock = mazurka::sync::Arc::new(mazurka::sync::RwLock::new(1));
        let read = {
            let lock = mazurka::sync::Arc::clone(&lock);
            move || {
                let value = lock.read().unwrap();
                mazurka::sync::atomic::AtomicU32::new(0).load(SeqCst);
                *value
            }
        };
        let other = thread::spawn(read.clone());
        assert_eq!(read() + other.join().unwrap(), 2);
        *lock.write().unwrap() = 2;
    });
}

/// The system may give a large block that one thread has freed to the other thread.
#[test]
fn large_blocks() {
    is_verified(|| {
        let x = mazurka::sync::Arc::new(mazurka::sync::atomic::AtomicU32::new(0));
        let threads = [1, 2].map(|_| {
            let x = mazurka::sync::Arc::clone(&x);
            thread::spawn(move || {
                let mut large = vec![0_u64; 10_000];
                x.load(SeqCst);
                large[5] = 7;
                x.load(SeqCst);
                large[5]
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
    });
    let report = check(|| std::panic::panic_any(vec![1_u64; 100_000]));
    assert_eq!(report.verdict, Verdict::Bug);
}

/// Set for a child process. Its test passes if the hidden synchronization of a program is accepted.
const FIXTURE: &str = "MAZURKA_TEST_HIDES";

#[test]
fn fixture() {
    if std::env::var_os(FIXTURE).is_some() {
        mazurka::model(lost_update!(std));
    }
}

#[test]
fn the_environment_accepts_hidden_synchronization() {
    let run = |accepts: &str| {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "fixture", "--nocapture"]);
        command.env(FIXTURE, "").env("MAZURKA_ACCEPT", accepts);
        let output = command.output().unwrap();
        let (out, err) = (output.stdout, output.stderr);
        let text = String::from_utf8_lossy(&out).into_owned() + &String::from_utf8_lossy(&err);
        (output.status.success(), text)
    };
    for (accepts, passes) in [
        ("", false),
        ("unseen", false),
        ("hidden", true),
        ("unseen, hidden", true),
    ] {
        let (has_passed, text) = run(accepts);
        assert_eq!(has_passed, passes, "{accepts}: {text}");
        assert!(text.contains("block of 24 bytes"), "{accepts}: {text}");
    }
    let (has_passed, text) = run("hiden");
    let error = "MAZURKA_ACCEPT=hiden: no kind of omission is called hiden";
    assert!(!has_passed && text.contains(error), "{text}");
}

/// Neither thread performs an operation before its check, so the main thread checks first in each
/// execution.
#[test]
fn hidden_synchronization_that_decides_which_thread_is_first_is_found() {
    hides(|| {
        let once = std::sync::Arc::new(std::sync::OnceLock::new());
        let other = thread::spawn({
            let once = once.clone();
            move || _ = once.set(1)
        });
        assert!(once.get().is_none());
        other.join().unwrap();
    });
    hides(|| {
        let once = std::sync::Arc::new(std::sync::OnceLock::new());
        let other = thread::spawn({
            let once = once.clone();
            move || _ = once.get_or_init(|| 1)
        });
        assert_eq!(*once.get_or_init(|| 2), 2);
        other.join().unwrap();
    });
    hides(|| {
        let (sender, receiver) = std::sync::mpsc::channel();
        let other = thread::spawn(move || sender.send(1).unwrap());
        assert!(receiver.try_recv().is_err());
        other.join().unwrap();
    });
    hides(|| {
        let value = std::sync::Arc::new(std::sync::RwLock::new(0));
        let other = thread::spawn({
            let value = value.clone();
            move || *value.write().unwrap() = 1
        });
        assert_eq!(*value.read().unwrap(), 0);
        other.join().unwrap();
    });
    // Nothing depends on the order.
    is_verified(|| {
        let once = std::sync::Arc::new(std::sync::OnceLock::new());
        let other = thread::spawn({
            let once = once.clone();
            move || assert_eq!(*once.get_or_init(|| 1), 1)
        });
        assert_eq!(*once.get_or_init(|| 1), 1);
        other.join().unwrap();
    });
}
