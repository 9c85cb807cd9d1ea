//! Symmetry reduction: numbers of executions that are known from theory, and programs that tell
//! their threads apart, for which every result must still be found.

use mazurka::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
use mazurka::sync::{Arc, Barrier, Mutex, RwLock, mpsc};
use mazurka::{Algorithm, Checker, MemoryModel, Report, Verdict, hint, thread};
use std::collections::BTreeSet;
use std::sync::Mutex as StdMutex;

const ALGORITHMS: [Algorithm; 3] = [
    Algorithm::Parsimonious,
    Algorithm::Optimal,
    Algorithm::Source,
];

fn check(symmetry: bool, program: impl Fn() + 'static) -> Report {
    Checker::new().symmetry(symmetry).check(program)
}

/// Runs the body in this number of threads at once.
fn in_threads(threads: usize, body: impl Fn() + Sync) {
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(&body);
        }
    });
}

fn assert_counts(program: impl Fn() + Clone + 'static, traces: u64, orbits: u64) {
    let plain = check(false, program.clone());
    assert_eq!(
        (plain.verdict, plain.executions),
        (Verdict::Verified, traces)
    );
    for algorithm in ALGORITHMS {
        let checker = Checker::new().algorithm(algorithm).symmetry(true);
        let report = checker.check(program.clone());
        assert_eq!(report.verdict, Verdict::Verified);
        match algorithm {
            Algorithm::Source => assert!((orbits..=traces).contains(&report.executions)),
            _ => assert_eq!(report.executions, orbits, "{algorithm}"),
        }
    }
}

#[test]
fn identical_threads_are_explored_up_to_permutation() {
    let add = |threads, rounds| {
        move || {
            let number = AtomicU32::new(0);
            in_threads(threads, || {
                for _ in 0..rounds {
                    number.fetch_add(1, SeqCst);
                }
            });
        }
    };
    assert_counts(add(4, 1), 24, 1);
    assert_counts(add(5, 1), 120, 1);
    assert_counts(add(3, 2), 90, 15);
    let lock = |threads, rounds| {
        move || {
            let number = Mutex::new(0);
            in_threads(threads, || {
                for _ in 0..rounds {
                    *number.lock().unwrap() += 1;
                }
            });
        }
    };
    assert_counts(lock(4, 1), 24, 1);
    assert_counts(lock(3, 2), 90, 15);
    assert_counts(lock(2, 4), 70, 35);
    let increment = |threads| {
        move || {
            let number = AtomicU32::new(0);
            in_threads(threads, || number.store(number.load(SeqCst) + 1, SeqCst));
        }
    };
    assert_counts(increment(3), 36, 6);
    assert_counts(increment(4), 576, 24);
    let read = |threads| {
        move || {
            let (lock, number) = (RwLock::new(0), AtomicU32::new(0));
            thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| (*lock.read().unwrap(), number.load(SeqCst)).0 < 1);
                }
                number.store(1, SeqCst);
            });
        }
    };
    // The results may differ, so these threads are no twins.
    assert_counts(read(3), 8, 8);
}

#[test]
fn threads_with_arcs_and_joins_are_reduced() {
    let program = || {
        let numbers = Arc::new((AtomicU32::new(0), Mutex::new(Vec::new())));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let numbers = Arc::clone(&numbers);
                thread::spawn(move || {
                    let number = numbers.0.fetch_add(1, SeqCst);
                    numbers.1.lock().unwrap().push(number);
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        let mut all = numbers.1.lock().unwrap().clone();
        all.sort();
        assert_eq!(all, [0, 1, 2, 3]);
    };
    let plain = check(false, program);
    let reduced = check(true, program);
    assert_eq!(reduced.verdict, Verdict::Verified);
    assert_eq!(plain.executions, 24 * reduced.executions);
}

#[test]
fn barriers_queues_and_spin_locks_are_reduced() {
    let barrier = || {
        let (barrier, number) = (Barrier::new(3), AtomicU32::new(0));
        in_threads(3, || {
            number.fetch_add(1, SeqCst);
            barrier.wait();
            assert_eq!(number.load(SeqCst), 3);
        });
    };
    assert_counts(barrier, 6, 1);
    let queue = || {
        let (sender, receiver) = mpsc::channel();
        in_threads(3, || sender.send(1).unwrap());
        drop(sender);
        assert_eq!(receiver.iter().count(), 3);
    };
    let (plain, reduced) = (check(false, queue), check(true, queue));
    assert_eq!(plain.executions, 6 * reduced.executions);
    let spin = || {
        let (lock, number) = (AtomicU32::new(0), AtomicU32::new(0));
        in_threads(3, || {
            while lock.compare_exchange(0, 1, SeqCst, SeqCst).is_err() {
                hint::spin_loop();
            }
            let before = number.load(SeqCst);
            number.store(before + 1, SeqCst);
            lock.store(0, SeqCst);
        });
        assert_eq!(number.load(SeqCst), 3);
    };
    let (plain, reduced) = (check(false, spin), check(true, spin));
    assert_eq!(reduced.verdict, Verdict::Verified);
    // All threads have different histories, so each orbit has six traces.
    assert_eq!(plain.executions, 6 * reduced.executions);
}

/// Collects the results of all executions, with and without the reduction.
fn results(program: fn(&mut Vec<u32>)) -> [BTreeSet<Vec<u32>>; 2] {
    [false, true].map(|symmetry| {
        let all = std::sync::Arc::new(StdMutex::new(BTreeSet::new()));
        let found = std::sync::Arc::clone(&all);
        let report = check(symmetry, move || {
            let mut result = Vec::new();
            program(&mut result);
            found.lock().unwrap().insert(result);
        });
        assert_eq!(report.verdict, Verdict::Verified, "{report}");
        std::mem::take(&mut *all.lock().unwrap())
    })
}

fn assert_same_results(program: fn(&mut Vec<u32>), count: usize) {
    let [plain, reduced] = results(program);
    assert_eq!(plain.len(), count, "{plain:?}");
    assert_eq!(plain, reduced);
}

#[test]
fn a_parent_that_joins_threads_one_by_one_tells_them_apart() {
    assert_same_results(
        |result| {
            let numbers: Arc<[AtomicU32; 3]> = Arc::default();
            let threads = [(); 2].map(|()| {
                let numbers = Arc::clone(&numbers);
                thread::spawn(move || {
                    let number = numbers[0].fetch_add(1, SeqCst);
                    numbers[1 + number as usize].store(1, SeqCst);
                })
            });
            let [first, second] = threads;
            first.join().unwrap();
            result.extend([1, 2].map(|index| numbers[index].load(SeqCst)));
            second.join().unwrap();
        },
        3,
    );
}

#[test]
fn a_parent_that_waits_for_one_thread_only_tells_it_apart() {
    // If the second thread comes first, the parent goes on although that thread never ends.
    let report = check(true, || {
        let number: Arc<AtomicU32> = Arc::default();
        let threads = [(); 2].map(|()| {
            let number = Arc::clone(&number);
            thread::spawn(move || mazurka::assume(number.fetch_add(1, SeqCst) == 1))
        });
        threads.into_iter().next().unwrap().join().unwrap();
        panic!("the first thread ends");
    });
    assert_eq!(report.verdict, Verdict::Bug, "{report}");
}

#[test]
fn ids_tell_threads_apart() {
    assert_same_results(
        |result| {
            let last = Arc::new(Mutex::new(None));
            let threads = [(); 3].map(|()| {
                let last = Arc::clone(&last);
                thread::spawn(move || *last.lock().unwrap() = Some(thread::current().id()))
            });
            let ids = threads.each_ref().map(|thread| thread.thread().id());
            threads
                .into_iter()
                .for_each(|thread| thread.join().unwrap());
            let last = last.lock().unwrap().unwrap();
            result.push(ids.iter().position(|id| *id == last).unwrap() as u32);
        },
        3,
    );
}

#[test]
fn a_thread_that_is_unparked_or_polled_is_told_apart() {
    assert_same_results(
        |result| {
            let numbers: Arc<[AtomicU32; 2]> = Arc::default();
            let threads = [(); 2].map(|()| {
                let numbers = Arc::clone(&numbers);
                thread::spawn(move || {
                    let number = numbers[0].fetch_add(1, SeqCst);
                    thread::park();
                    numbers[1].fetch_add(10 + number, SeqCst);
                })
            });
            threads[1].thread().unpark();
            while numbers[1].load(SeqCst) == 0 {
                hint::spin_loop();
            }
            result.push(numbers[1].load(SeqCst));
            threads[0].thread().unpark();
            threads
                .into_iter()
                .for_each(|thread| thread.join().unwrap());
        },
        2,
    );
    assert_same_results(
        |result| {
            let number: Arc<AtomicU32> = Arc::default();
            let threads = [(); 2].map(|()| {
                let number = Arc::clone(&number);
                thread::spawn(move || {
                    number.fetch_add(1, SeqCst);
                })
            });
            result.extend(
                threads
                    .each_ref()
                    .map(|thread| u32::from(thread.is_finished())),
            );
            threads
                .into_iter()
                .for_each(|thread| thread.join().unwrap());
        },
        4,
    );
}

#[test]
fn threads_with_results_captures_names_or_children_of_their_own_are_told_apart() {
    assert_same_results(
        |result| {
            let number: Arc<AtomicU32> = Arc::default();
            let threads = [(); 2].map(|()| {
                let number = Arc::clone(&number);
                thread::spawn(move || number.fetch_add(1, SeqCst))
            });
            result.extend(threads.map(|thread| thread.join().unwrap()));
        },
        2,
    );
    assert_same_results(
        |result| {
            let order = Arc::new(Mutex::new(Vec::new()));
            let threads = [0, 1, 1].map(|own| {
                let order = Arc::clone(&order);
                thread::spawn(move || order.lock().unwrap().push(own))
            });
            threads
                .into_iter()
                .for_each(|thread| thread.join().unwrap());
            result.extend(&*order.lock().unwrap());
        },
        3,
    );
    assert_same_results(
        |result| {
            let last: Arc<Mutex<String>> = Arc::default();
            let threads = ["0", "1"].map(|name| {
                let last = Arc::clone(&last);
                let named = thread::Builder::new().name(name.to_owned());
                let body = move || {
                    *last.lock().unwrap() = thread::current().name().unwrap().to_owned();
                };
                named.spawn(body).unwrap()
            });
            threads
                .into_iter()
                .for_each(|thread| thread.join().unwrap());
            result.push(last.lock().unwrap().parse().unwrap());
        },
        2,
    );
    assert_same_results(
        |result| {
            let number: Arc<AtomicUsize> = Arc::default();
            let threads = [(); 2].map(|()| {
                let number = Arc::clone(&number);
                thread::spawn(move || {
                    let in_child = Arc::clone(&number);
                    let child = thread::spawn(move || {
                        in_child.fetch_add(1, SeqCst);
                    });
                    number.fetch_add(10, SeqCst);
                    child.join().unwrap();
                })
            });
            result.push(number.load(SeqCst) as u32);
            threads
                .into_iter()
                .for_each(|thread| thread.join().unwrap());
        },
        9,
    );
}

#[test]
fn a_panic_tells_threads_apart() {
    let checker = || Checker::new().symmetry(true);
    let program = || {
        let number: Arc<AtomicU32> = Arc::default();
        let threads = [(); 2].map(|()| {
            let number = Arc::clone(&number);
            thread::spawn(move || assert_eq!(number.fetch_add(1, SeqCst), 0))
        });
        let [first, second] = threads.map(|thread| thread.join().is_err());
        assert!(
            !first,
            "the first thread panics, and the second thread: {second}"
        );
    };
    assert_eq!(checker().check(program).verdict, Verdict::Bug);
}

#[test]
fn a_bug_of_some_threads_is_found() {
    let report = check(true, || {
        let number = AtomicU32::new(0);
        in_threads(3, || number.store(number.load(SeqCst) + 1, SeqCst));
        assert_ne!(number.load(SeqCst), 1);
    });
    assert_eq!(report.verdict, Verdict::Bug);
}

#[test]
fn a_search_that_is_saved_and_resumed_finds_each_orbit_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("checkpoint");
    let program = || {
        let number = AtomicU32::new(0);
        in_threads(5, || number.store(number.load(SeqCst) + 1, SeqCst));
    };
    let checker = || Checker::new().symmetry(true).checkpoint(&file);
    let begun = checker().max_executions(50).check(program);
    assert_eq!((begun.verdict, begun.executions), (Verdict::Bounded, 50));
    let whole = checker().resume(&file).check(program);
    assert_eq!((whole.verdict, whole.executions), (Verdict::Verified, 120));
    assert!(whole.symmetry);
    let error = Checker::new().resume(&file).try_check(program).unwrap_err();
    assert!(error.to_string().contains("symmetry reduction"), "{error}");
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let checker = || Checker::new().symmetry(true);
    for (checker, why) in [
        (
            checker().algorithm(Algorithm::Random),
            "parsimonious, optimal",
        ),
        (checker().preemptions(1), "preemptions"),
        (
            checker().memory(MemoryModel::Rc11),
            "sequential consistency",
        ),
    ] {
        let error = checker.try_check(|| ()).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}
