//! Every algorithm (except the random ones and those that compare states) finds the same outcomes
//! of small programs over many kinds of objects, and the optimal ones agree on the number of
//! traces. So the objects report their dependences correctly.

mod outcomes;

use mazurka::sync::atomic::{AtomicPtr, AtomicU32, Ordering::SeqCst};
use mazurka::sync::mpsc::{channel, sync_channel};
use mazurka::sync::{Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock, Semaphore};
use mazurka::{Algorithm, Checker, choose, thread};
use outcomes::explored;
use std::time::Duration;

const SOON: Duration = Duration::from_millis(1);

/// Compares all algorithms except the random ones and those that compare states.
fn agree(name: &str, program: fn() -> Vec<u32>) {
    let run = |algorithm| {
        explored(
            Checker::new().algorithm(algorithm).keep_going(true),
            program,
        )
    };
    let (expected, every_interleaving) = run(Algorithm::Exhaustive);
    let (_, optimal) = run(Algorithm::Optimal);
    for algorithm in Algorithm::general().filter(|algorithm| algorithm.proves()) {
        let (seen, report) = run(algorithm);
        assert_eq!(seen, expected, "{name} with {algorithm}");
        assert_eq!(
            report.verdict, every_interleaving.verdict,
            "{name} with {algorithm}"
        );
        let [traces, runs] = [&optimal, &report].map(|report| report.executions + report.halted);
        assert!(
            runs >= traces,
            "{name} with {algorithm}: {runs} for {traces}"
        );
        if algorithm.is_optimal() {
            assert_eq!(
                (runs, report.blocked),
                (traces, 0),
                "{name} with {algorithm}"
            );
        }
    }
}

/// Returns the results of two threads that share a value, and the value.
fn both<T: Send + Sync + 'static>(
    shared: T,
    first: fn(&T) -> u32,
    second: fn(&T) -> u32,
) -> (Vec<u32>, Arc<T>) {
    let shared = Arc::new(shared);
    let threads = [first, second].map(|body| {
        let shared = Arc::clone(&shared);
        thread::spawn(move || body(&shared))
    });
    let returned = threads.map(|thread| thread.join().unwrap_or(99));
    (returned.to_vec(), shared)
}

#[test]
fn atomics_agree() {
    agree("compare-exchange", || {
        let exchange = |x: &AtomicU32| {
            let first = x
                .compare_exchange(0, 1, SeqCst, SeqCst)
                .unwrap_or_else(|old| old + 10);
            let second = x
                .compare_exchange(1, 2, SeqCst, SeqCst)
                .unwrap_or_else(|old| old + 10);
            first * 100 + second
        };
        let (mut seen, x) = both(AtomicU32::new(0), exchange, |x| {
            x.compare_exchange(2, 0, SeqCst, SeqCst).unwrap_or(7) + x.swap(1, SeqCst) * 10
        });
        seen.push(x.load(SeqCst));
        seen
    });
    agree("pointers", || {
        let push = |head: &AtomicPtr<u32>| {
            let pointer = Box::into_raw(Box::new(0));
            let before = head.load(SeqCst);
            match head.compare_exchange(before, pointer, SeqCst, SeqCst) {
                Ok(_) => u32::from(before.is_null()),
                Err(_) => 2,
            }
        };
        both(AtomicPtr::new(std::ptr::null_mut()), push, push).0
    });
    agree("choices", || {
        let (mut seen, x) = both(
            AtomicU32::new(0),
            |x| match choose(3) {
                0 => x.fetch_add(1, SeqCst),
                1 => x.load(SeqCst),
                _ => 5,
            },
            |x| {
                x.store(choose(2), SeqCst);
                x.load(SeqCst)
            },
        );
        seen.push(x.load(SeqCst));
        seen
    });
}

#[test]
fn mutexes_agree() {
    agree("try and lock", || {
        let (mut seen, shared) = both(
            (Mutex::new(0), AtomicU32::new(0)),
            |(lock, x)| {
                let tried = match lock.try_lock() {
                    Ok(mut value) => {
                        *value += 1;
                        x.load(SeqCst) + 1
                    }
                    Err(_) => 0,
                };
                tried * 10 + u32::from(lock.try_lock().is_ok())
            },
            |(lock, x)| {
                let mut value = lock.lock().unwrap();
                x.store(1, SeqCst);
                *value *= 2;
                *value
            },
        );
        seen.push(*shared.0.lock().unwrap());
        seen
    });
    agree("poison", || {
        both(
            Mutex::new(0),
            |lock| {
                let _guard = lock.lock();
                panic!("poisons");
            },
            |lock| u32::from(lock.lock().is_err()) + 2 * u32::from(lock.try_lock().is_ok()),
        )
        .0
    });
}

#[test]
fn reader_writer_locks_agree() {
    agree("without tries", || {
        both(
            (RwLock::new(0), AtomicU32::new(0)),
            |(lock, x)| {
                let value = lock.read().unwrap();
                *value * 10 + x.load(SeqCst)
            },
            |(lock, x)| {
                *lock.write().unwrap() = 1;
                x.store(1, SeqCst);
                *lock.read().unwrap()
            },
        )
        .0
    });
    agree("with tries", || {
        both(
            RwLock::new(0),
            |lock| {
                let read = lock.try_read().map_or(7, |value| *value);
                let written = lock.try_write().map(|mut value| *value += 1).is_ok();
                read * 10 + u32::from(written)
            },
            |lock| {
                *lock.write().unwrap() = 3;
                u32::from(lock.try_write().is_ok())
            },
        )
        .0
    });
}

#[test]
fn condition_variables_agree() {
    agree("timed", || {
        let (mut seen, shared) = both(
            (Mutex::new(0), Condvar::new()),
            |(lock, condvar)| {
                let (value, result) = condvar.wait_timeout(lock.lock().unwrap(), SOON).unwrap();
                *value * 10 + u32::from(result.timed_out())
            },
            |(lock, condvar)| {
                condvar.notify_one();
                *lock.lock().unwrap() += 1;
                condvar.notify_all();
                u32::from(lock.try_lock().is_ok())
            },
        );
        seen.push(*shared.0.lock().unwrap());
        seen
    });
}

#[test]
fn semaphores_agree() {
    agree("tries", || {
        both(
            Semaphore::new(1),
            |semaphore| {
                let tried = semaphore.try_acquire();
                semaphore.release();
                u32::from(tried) + 2 * u32::from(semaphore.acquire_timeout(SOON))
            },
            |semaphore| {
                semaphore.acquire();
                let again = semaphore.try_acquire();
                semaphore.release();
                u32::from(again)
            },
        )
        .0
    });
}

#[test]
fn channels_agree() {
    agree("unbounded", || {
        let (sender, receiver) = channel();
        let others = [1, 2].map(|n| {
            let sender = sender.clone();
            thread::spawn(move || sender.send(n).unwrap())
        });
        drop(sender);
        let mut seen = vec![receiver.try_recv().unwrap_or(8)];
        seen.extend(receiver.iter());
        seen.push(
            receiver
                .recv_timeout(SOON)
                .map_or_else(|error| error as u32, |_| 9),
        );
        for other in others {
            other.join().unwrap();
        }
        seen
    });
    agree("bounded", || {
        let (sender, receiver) = sync_channel(1);
        let other = thread::spawn(move || {
            let first = sender.try_send(1).is_ok();
            let second = sender.try_send(2).is_ok();
            sender.send(3).map_or(4, |()| 0) + u32::from(first) + 2 * u32::from(second)
        });
        let mut seen = vec![receiver.recv().unwrap(), receiver.try_recv().unwrap_or(8)];
        drop(receiver);
        seen.push(other.join().unwrap());
        seen
    });
    agree("rendezvous", || {
        let (sender, receiver) = sync_channel(0);
        let other = thread::spawn(move || {
            let tried = sender.try_send(1).is_ok();
            u32::from(tried) + 2 * u32::from(sender.send(2).is_ok())
        });
        let mut seen = vec![receiver.try_recv().unwrap_or(8)];
        if choose(2) == 0 {
            seen.push(receiver.recv().unwrap_or(9));
        }
        drop(receiver);
        seen.push(other.join().unwrap());
        seen
    });
}

#[test]
fn once_agrees() {
    agree("once", || {
        both(
            (Once::new(), AtomicU32::new(0)),
            |(once, x)| {
                once.call_once(|| x.store(1, SeqCst));
                u32::from(once.is_completed()) * 10 + x.load(SeqCst)
            },
            |(once, x)| {
                let before = once.is_completed();
                once.call_once(|| x.store(2, SeqCst));
                u32::from(before) * 10 + x.load(SeqCst)
            },
        )
        .0
    });
    agree("once lock", || {
        both(
            OnceLock::new(),
            |cell| cell.get().copied().unwrap_or(5) * 10 + *cell.get_or_init(|| 1),
            |cell| u32::from(cell.set(2).is_ok()) * 10 + *cell.get().unwrap(),
        )
        .0
    });
}

#[test]
fn threads_agree() {
    agree("park", || {
        let x = Arc::new(AtomicU32::new(0));
        let waiter = thread::spawn({
            let x = Arc::clone(&x);
            move || {
                thread::park_timeout(SOON);
                let first = x.load(SeqCst);
                thread::park();
                first * 10 + x.load(SeqCst)
            }
        });
        x.store(1, SeqCst);
        waiter.thread().unpark();
        x.store(2, SeqCst);
        waiter.thread().unpark();
        // An extra token is kept for the next park; a lost token leads to a deadlock.
        let finished = waiter.is_finished();
        if choose(2) == 1 {
            waiter.thread().unpark();
        }
        vec![u32::from(finished)]
    });
    agree("barrier", || {
        let barrier = |(barrier, x): &(Barrier, AtomicU32)| {
            x.fetch_add(1, SeqCst);
            let leads = barrier.wait().is_leader();
            x.load(SeqCst) * 10 + u32::from(leads)
        };
        both((Barrier::new(2), AtomicU32::new(0)), barrier, barrier).0
    });
    agree("spawn in spawn", || {
        both(
            AtomicU32::new(0),
            |x| {
                let inner = thread::scope(|scope| {
                    let inner = scope.spawn(|| x.fetch_add(1, SeqCst));
                    let early = inner.is_finished();
                    inner.join().unwrap() + 10 * u32::from(early)
                });
                inner * 10 + x.load(SeqCst)
            },
            |x| x.swap(5, SeqCst),
        )
        .0
    });
}
