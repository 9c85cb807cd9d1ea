//! Behaviour of checked programs that must not crash the checker.

use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::sync::{Arc, Mutex};
use mazurka::{Checker, FailureKind, Report, Style, Verdict, thread};

fn kind(report: &Report) -> FailureKind {
    assert_eq!(
        report.verdict,
        Verdict::Bug,
        "{}",
        report.text(Style::default())
    );
    report.errors[0].kind
}

#[test]
fn a_stack_overflow_is_a_failure_and_the_next_check_works() {
    #[inline(never)]
    fn deep(n: u64) -> u64 {
        let block = std::hint::black_box([n; 64]);
        if n == 0 {
            0
        } else {
            deep(n - 1) + block[(n % 64) as usize]
        }
    }
    let report = Checker::new().check(|| {
        let other = thread::spawn(|| deep(1_000_000));
        let _ = other.join();
    });
    assert_eq!(kind(&report), FailureKind::StackOverflow);
    mazurka::model(|| assert_eq!(thread::spawn(|| deep(10)).join().unwrap(), 55));
}

#[test]
fn a_panic_in_drop_while_unwinding_is_an_abort() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("in drop");
        }
    }
    let report = Checker::new().check(|| {
        let _bomb = Bomb;
        panic!("first");
    });
    assert_eq!(kind(&report), FailureKind::Abort);
    let report = Checker::new().check(|| drop(Bomb));
    assert_eq!(kind(&report), FailureKind::Panic);
}

#[test]
fn values_with_operations_in_drop_are_torn_down() {
    struct Locks(Arc<Mutex<u32>>);
    impl Drop for Locks {
        fn drop(&mut self) {
            let mut count = self
                .0
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            *count += 1;
        }
    }
    // The deadlocked threads are abandoned while they hold the locks.
    let report = Checker::new().keep_going(true).check(|| {
        let locks = Arc::new((Mutex::new(0), Mutex::new(0), Arc::new(Mutex::new(0))));
        let other = thread::spawn({
            let locks = Arc::clone(&locks);
            move || {
                let _drops = Locks(Arc::clone(&locks.2));
                let _third = locks.2.lock().unwrap();
                let _second = locks.1.lock().unwrap();
                let _first = locks.0.lock().unwrap();
            }
        });
        {
            let _drops = Locks(Arc::clone(&locks.2));
            let _first = locks.0.lock().unwrap();
            let _second = locks.1.lock().unwrap();
        }
        other.join().unwrap();
    });
    assert_eq!(kind(&report), FailureKind::Deadlock);
}

#[test]
fn thousands_of_events_are_no_problem() {
    let report = Checker::new().check(|| {
        let blocks: Vec<_> = (0..2)
            .map(|_| {
                thread::spawn(|| {
                    let x = AtomicU32::new(0);
                    for _ in 0..4_000 {
                        x.fetch_add(1, SeqCst);
                    }
                    x.into_inner()
                })
            })
            .collect();
        for thread in blocks {
            assert_eq!(thread.join().unwrap(), 4_000);
        }
    });
    assert_eq!((report.verdict, report.executions), (Verdict::Verified, 1));
    assert!(report.max_depth == 8_000);
}

#[test]
fn a_nested_model_is_explained() {
    let report = Checker::new().check(|| mazurka::model(|| ()));
    assert_eq!(kind(&report), FailureKind::Panic);
    assert!(
        report.errors[0].message.contains("nest"),
        "{}",
        report.errors[0].message
    );
}

#[test]
fn an_operation_outside_a_model_is_explained() {
    if cfg!(feature = "enforce") {
        // With this feature the types are real outside of models.
        return;
    }
    let payload = std::panic::catch_unwind(|| AtomicU32::new(0).load(SeqCst)).unwrap_err();
    let message = payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| {
            payload
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
        })
        .unwrap();
    assert!(message.contains("mazurka::model"), "{message}");
}

#[test]
fn models_in_several_threads_do_not_disturb_each_other() {
    let threads: Vec<_> = (2..=5)
        .map(|n| {
            std::thread::spawn(move || {
                Checker::new().check(move || {
                    let count = Arc::new(AtomicU32::new(0));
                    let threads: Vec<_> = (0..n)
                        .map(|_| {
                            let count = Arc::clone(&count);
                            thread::spawn(move || count.fetch_add(1, SeqCst))
                        })
                        .collect();
                    for thread in threads {
                        thread.join().unwrap();
                    }
                })
            })
        })
        .collect();
    let counts: Vec<_> = threads
        .into_iter()
        .map(|t| t.join().unwrap().executions)
        .collect();
    assert_eq!(counts, [2, 6, 24, 120]);
}

#[test]
fn allocations_of_all_sizes_live_and_die() {
    let report = Checker::new().check(|| {
        let shared = Arc::new(Mutex::new(Vec::new()));
        let threads: Vec<_> = (0..3usize)
            .map(|n| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let blocks: Vec<Vec<usize>> = (0..18).map(|size| vec![n; 1 << size]).collect();
                    shared.lock().unwrap().push(blocks);
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        for blocks in shared.lock().unwrap().drain(..) {
            for (size, values) in blocks.iter().enumerate() {
                assert_eq!(values.len(), 1 << size);
                assert!(values.iter().all(|value| *value == blocks[0][0]));
            }
        }
    });
    assert_eq!((report.verdict, report.executions), (Verdict::Verified, 6));
}

#[test]
fn the_model_panics_with_the_report() {
    let payload = std::panic::catch_unwind(|| {
        mazurka::model(|| {
            let (first, second) = (Arc::new(AtomicU32::new(0)), AtomicU32::new(0));
            let other = thread::spawn({
                let first = Arc::clone(&first);
                move || first.store(1, SeqCst)
            });
            second.store(first.load(SeqCst), SeqCst);
            other.join().unwrap();
            assert_eq!(second.load(SeqCst), 1, "came too early");
        });
    })
    .unwrap_err();
    let text = payload.downcast_ref::<String>().unwrap();
    for expected in ["came too early", "MAZURKA_REPLAY=", "survival.rs", "load"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn objects_have_the_names_that_they_were_given() {
    let report = Checker::new().check(|| {
        let head = AtomicU32::new(0).named("head");
        let locks = [Mutex::new(0).named("left"), Mutex::new(0).named("left")];
        thread::scope(|scope| {
            scope.spawn(|| {
                let _first = locks[0].lock();
                head.store(1, SeqCst);
                let _second = locks[1].lock();
            });
            let _second = locks[1].lock();
            let _first = locks[0].lock();
        });
    });
    assert_eq!(kind(&report), FailureKind::Deadlock);
    let message = &report.errors[0].message;
    assert!(message.contains("waits for left, held by"), "{message}");
    assert!(message.contains("waits for left#2, held by"), "{message}");
    let rows = &report.errors[0].interleaving.rows;
    assert!(
        rows.iter().any(|row| row.text == "head.store(1)"),
        "{report}"
    );
}

/// Uses more than the default stack size.
#[inline(never)]
fn use_half_a_megabyte() {
    std::hint::black_box(&mut [0_u8; 512 << 10]);
}

#[test]
fn a_thread_has_the_stack_that_it_asks_for() {
    use mazurka::thread::{Builder, scope};
    let report = Checker::new().check(|| {
        let larger = || Builder::new().name("larger".to_owned()).stack_size(1 << 20);
        for _ in 0..2 {
            larger().spawn(use_half_a_megabyte).unwrap().join().unwrap();
            scope(|scope| {
                drop(larger().spawn_scoped(scope, use_half_a_megabyte));
            });
        }
    });
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
    let report = Checker::new().stack_size(1 << 20).check(|| {
        use_half_a_megabyte();
        thread::spawn(use_half_a_megabyte);
    });
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn a_stack_overflow_is_reported_with_the_way_to_a_larger_stack() {
    let report = Checker::new().check(|| drop(thread::spawn(use_half_a_megabyte)));
    assert_eq!(report.errors[0].kind, FailureKind::StackOverflow);
    let message = &report.errors[0].message;
    assert!(
        message.contains("256 KiB (Checker::stack_size"),
        "{message}"
    );
}

/// Aborts if it is dropped during a panic, as worker threads of some executors do.
struct AbortsByPanic;

impl Drop for AbortsByPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}

/// Threads that still spin are abandoned at the end of an execution. They are not unwound, so their
/// guards are not dropped.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn the_guard_of_a_thread_that_still_spins_is_not_dropped() {
    let report = Checker::new().check(|| {
        let flag = Arc::new(AtomicU32::new(0));
        let other = thread::spawn({
            let flag = Arc::clone(&flag);
            move || {
                let _guard = AbortsByPanic;
                while flag.load(SeqCst) == 0 {
                    thread::yield_now();
                }
            }
        });
        assert!(!std::thread::panicking());
        flag.store(1, SeqCst);
        other.join().unwrap();
    });
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
    assert!(report.halted > 0, "{report}");
    assert!(!std::thread::panicking());
}

#[test]
fn a_panic_that_unwinds_one_thread_does_not_show_in_another() {
    struct AbortsIfPanicking;
    impl Drop for AbortsIfPanicking {
        fn drop(&mut self) {
            if std::thread::panicking() {
                std::process::abort();
            }
        }
    }
    mazurka::model(|| {
        let shared = Arc::new((Mutex::new(0), AtomicU32::new(0)));
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                let _guard = shared.0.lock();
                shared.1.load(SeqCst);
                // Unlocking is an operation, and the main thread may continue before it.
                std::panic::resume_unwind(Box::new("while the lock is held"));
            }
        });
        shared.1.fetch_add(1, SeqCst);
        thread::yield_now();
        drop(AbortsIfPanicking);
        assert!(other.join().is_err());
        assert!(shared.0.is_poisoned());
    });
}

#[test]
fn a_panic_that_a_polling_thread_joins_later_is_no_bug() {
    mazurka::model(|| {
        let number = Arc::new(AtomicU32::new(0));
        let panics = thread::spawn(|| panic!("observed"));
        let sets = thread::spawn({
            let number = Arc::clone(&number);
            move || number.store(1, SeqCst)
        });
        while number.load(SeqCst) == 0 {
            thread::yield_now();
        }
        assert!(panics.join().is_err());
        sets.join().unwrap();
    });
}
