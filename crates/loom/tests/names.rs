//! Checks that every name of loom 0.7 exists, with a signature that loom's users can call.

#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "each unsafe block uses an object that no other thread uses"
)]

use loom::alloc::{Layout, Track, alloc, alloc_zeroed, dealloc};
use loom::cell::{Cell, ConstPtr, MutPtr, UnsafeCell};
use loom::lazy_static::Lazy;
use loom::model::Builder;
use loom::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8,
    AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence, spin_loop_hint,
};
use loom::sync::mpsc::{Receiver, Sender, channel};
use loom::sync::{
    Arc, Barrier, Condvar, LockResult, Mutex, MutexGuard, Notify, RwLock, RwLockReadGuard,
    RwLockWriteGuard, TryLockResult, WaitTimeoutResult,
};
use loom::thread::{AccessError, JoinHandle, LocalKey, Thread, ThreadId};
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

loom::lazy_static! {
    static ref GREETING: String = "hello".to_owned();
    pub(crate) static ref COUNT: AtomicUsize = AtomicUsize::new(1);
}

loom::thread_local! {
    static OWN: Cell<u32> = Cell::new(7);
}

/// A static written by hand, in the form that loom's `lazy_static!` generates.
static BY_HAND: Lazy<Mutex<u32>> = Lazy {
    init: || Mutex::new(3),
    _p: PhantomData,
};

#[test]
fn atomics() {
    loom::model(|| {
        macro_rules! integer {
            ($($Atomic:ident),*) => {
                $({
                    let mut x = $Atomic::new(1);
                    assert_eq!(x.fetch_add(1, Ordering::SeqCst), 1);
                    x.fetch_sub(1, Ordering::SeqCst);
                    x.fetch_and(3, Ordering::SeqCst);
                    x.fetch_nand(0, Ordering::SeqCst);
                    x.fetch_or(1, Ordering::SeqCst);
                    x.fetch_xor(1, Ordering::SeqCst);
                    x.fetch_max(5, Ordering::SeqCst);
                    x.fetch_min(1, Ordering::SeqCst);
                    x.store(4, Ordering::Release);
                    assert_eq!(x.swap(5, Ordering::AcqRel), 4);
                    #[allow(deprecated)]
                    let found = x.compare_and_swap(5, 6, Ordering::SeqCst);
                    assert_eq!(found, 5);
                    let (order, failure) = (Ordering::AcqRel, Ordering::Relaxed);
                    assert_eq!(x.compare_exchange(6, 7, order, failure), Ok(6));
                    assert_eq!(x.compare_exchange_weak(6, 7, order, failure), Err(7));
                    assert_eq!(x.fetch_update(order, failure, |x| Some(x + 1)), Ok(7));
                    x.with_mut(|x| *x += 1);
                    #[allow(unused_unsafe)]
                    let value = unsafe { x.unsync_load() };
                    assert_eq!(value, x.load(Ordering::Acquire));
                    assert_eq!(x.into_inner(), 9);
                })*
            };
        }
        integer!(
            AtomicI8,
            AtomicI16,
            AtomicI32,
            AtomicI64,
            AtomicIsize,
            AtomicU8,
            AtomicU16,
            AtomicU32,
            AtomicU64,
            AtomicUsize
        );
        let flag = AtomicBool::new(false);
        assert!(!flag.fetch_or(true, Ordering::SeqCst) && flag.fetch_and(true, Ordering::SeqCst));
        assert!(flag.fetch_xor(true, Ordering::SeqCst) && !flag.fetch_nand(true, Ordering::SeqCst));
        let mut pointer: AtomicPtr<u32> = AtomicPtr::new(std::ptr::null_mut());
        pointer.with_mut(|pointer| assert!(pointer.is_null()));
        fence(Ordering::SeqCst);
    });
}

#[test]
fn synchronization() {
    loom::model(|| {
        let arc = Arc::new(Mutex::new(1));
        let pinned: Pin<Arc<u32>> = Arc::pin(1);
        assert_eq!(*pinned, 1);
        let from_std: Arc<[u32]> = Arc::from_std(std::sync::Arc::from(vec![1, 2]));
        assert_eq!(from_std.len(), 2);
        let raw = Arc::into_raw(Arc::clone(&arc));
        unsafe {
            Arc::increment_strong_count(raw);
            Arc::decrement_strong_count(raw);
            assert!(Arc::ptr_eq(&arc, &Arc::from_raw(raw)));
        }
        assert!(Arc::strong_count(&arc) == 1 && !Arc::as_ptr(&arc).is_null());
        let mut arc = Arc::try_unwrap(arc).map(Arc::new).unwrap();
        *Arc::get_mut(&mut arc).unwrap().get_mut().unwrap() += 1;
        let guard: LockResult<MutexGuard<'_, u32>> = arc.lock();
        drop(guard);
        let tried: TryLockResult<MutexGuard<'_, u32>> = arc.try_lock();
        drop(tried);
        let condvar = Condvar::new();
        let (guard, result): (_, WaitTimeoutResult) = condvar
            .wait_timeout(arc.lock().unwrap(), Duration::ZERO)
            .unwrap();
        assert!(result.timed_out());
        drop(guard);
        condvar.notify_one();
        condvar.notify_all();
        let mut lock = RwLock::new(1);
        let read: RwLockReadGuard<'_, u32> = lock.read().unwrap();
        assert!(lock.try_read().is_ok() && lock.try_write().is_err());
        drop(read);
        let write: RwLockWriteGuard<'_, u32> = lock.write().unwrap();
        drop(write);
        *lock.get_mut().unwrap() += 1;
        assert_eq!(lock.into_inner().unwrap(), 2);
        Barrier::new(1).wait();
        let notify = Notify::new();
        notify.notify();
        notify.wait();
        let (sender, receiver): (Sender<u32>, Receiver<u32>) = channel();
        sender.send(1).unwrap();
        assert_eq!(receiver.recv(), Ok(1));
        assert!(receiver.try_recv().is_err());
        assert!(receiver.recv_timeout(Duration::ZERO).is_err());
    });
}

#[test]
fn threads_cells_and_statics() {
    loom::model(|| {
        let handle: JoinHandle<u32> = loom::thread::Builder::new()
            .name("named".to_owned())
            .stack_size(1 << 16)
            .spawn(|| {
                let current: Thread = loom::thread::current();
                assert_eq!(current.name(), Some("named"));
                let _: ThreadId = current.id();
                loom::thread::park();
                OWN.with(Cell::get)
            })
            .unwrap();
        handle.thread().unpark();
        assert_eq!(handle.join().unwrap(), 7);
        let key: &'static LocalKey<Cell<u32>> = &OWN;
        let value: Result<u32, AccessError> = key.try_with(Cell::get);
        assert_eq!(value, Ok(7));
        assert!(!loom::thread::panicking());
        loom::thread::yield_now();
        loom::hint::spin_loop();
        spin_loop_hint();
        assert!(*GREETING == "hello" && COUNT.load(Ordering::SeqCst) == 1);
        assert_eq!(*BY_HAND.get().lock().unwrap(), 3);
        let cell = UnsafeCell::new(1);
        cell.with(|value| assert_eq!(unsafe { *value }, 1));
        cell.with_mut(|value| unsafe { *value = 2 });
        let reading: ConstPtr<u32> = cell.get();
        assert_eq!(unsafe { *reading.deref() }, 2);
        reading.with(|value| assert_eq!(unsafe { *value }, 2));
        drop(reading);
        let writing: MutPtr<u32> = cell.get_mut();
        unsafe { *writing.deref() = 3 };
        drop(writing);
        assert_eq!(cell.into_inner(), 3);
        let (one, two) = (Cell::new(1), Cell::new(2));
        one.swap(&two);
        one.set(one.replace(4) + two.take());
        assert_eq!((one.get(), two.into_inner()), (3, 0));
        let layout = Layout::new::<u64>();
        unsafe {
            dealloc(alloc(layout), layout);
            dealloc(alloc_zeroed(layout), layout);
        }
        let mut track = Track::new(1);
        *track.get_mut() += *track.get_ref();
        assert_eq!(track.into_inner(), 2);
        loom::stop_exploring();
        loom::explore();
        loom::skip_branch();
    });
}

#[test]
fn futures() {
    use loom::future::{AtomicWaker, block_on};
    loom::model(|| {
        let waker = AtomicWaker::new();
        block_on(std::future::poll_fn(|context| {
            waker.register_by_ref(context.waker());
            waker.register(context.waker().clone());
            waker.wake();
            assert!(waker.take_waker().is_none());
            std::task::Poll::Ready(())
        }));
    });
}

#[test]
fn all_fields_of_the_builder_can_be_set() {
    let directory = tempfile::tempdir().unwrap();
    let mut builder = Builder::new();
    builder.max_threads = 2;
    builder.max_branches = 100;
    builder.max_permutations = Some(100);
    builder.max_duration = Some(Duration::from_secs(100));
    builder.preemption_bound = Some(3);
    builder.checkpoint_file = Some(PathBuf::from("replaced below"));
    builder.checkpoint_interval = 2;
    builder.expect_explicit_explore = false;
    builder.location = true;
    builder.log = true;
    let file = directory.path().join("state");
    builder.checkpoint_file(file.to_str().unwrap());
    builder.check(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let other = loom::thread::spawn({
            let count = Arc::clone(&count);
            move || count.fetch_add(1, Ordering::SeqCst)
        });
        count.fetch_add(1, Ordering::SeqCst);
        other.join().unwrap();
    });
    assert!(file.is_file());
    assert_eq!(loom::MAX_THREADS, 65_535);
}

#[test]
fn one_thread_too_many_fails_the_test() {
    let mut builder = Builder::new();
    builder.max_threads = 2;
    let check = || {
        builder.check(|| {
            loom::thread::spawn(|| ()).join().unwrap();
            loom::thread::spawn(|| ()).join().unwrap();
        });
    };
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).unwrap_err();
    let message = panic.downcast_ref::<String>().unwrap();
    assert!(message.contains("limit `max_threads`"), "{message}");
}

#[test]
fn what_is_not_explored_hides_a_bug_and_what_is_explored_shows_it() {
    let finds = |explores_explicitly: bool, explores: bool| {
        let mut builder = Builder::new();
        builder.expect_explicit_explore = explores_explicitly;
        let check = || {
            builder.check(move || {
                if explores {
                    loom::explore();
                }
                let count = Arc::new(AtomicUsize::new(0));
                let other = loom::thread::spawn({
                    let count = Arc::clone(&count);
                    move || count.store(count.load(Ordering::SeqCst) + 1, Ordering::SeqCst)
                });
                count.store(count.load(Ordering::SeqCst) + 1, Ordering::SeqCst);
                other.join().unwrap();
                assert_eq!(count.load(Ordering::SeqCst), 2);
            });
        };
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).is_err()
    };
    assert!(finds(false, false) && finds(true, true));
    assert!(!finds(true, false));
}

/// Returns the outcomes of the model in all executions.
fn outcomes(model: impl Fn() -> u32 + Send + Sync + 'static) -> BTreeSet<u32> {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(BTreeSet::new()));
    loom::model({
        let seen = std::sync::Arc::clone(&seen);
        move || {
            let outcome = model();
            seen.lock().unwrap().insert(outcome);
        }
    });
    std::mem::take(&mut seen.lock().unwrap())
}

#[test]
fn a_future_is_polled_once_for_no_reason() {
    let polls = outcomes(|| {
        let is_ready = Arc::new(AtomicBool::new(false));
        let mut polls = 0;
        loom::future::block_on(std::future::poll_fn(|context| {
            polls += 1;
            if polls == 1 {
                let (is_ready, waker) = (Arc::clone(&is_ready), context.waker().clone());
                loom::thread::spawn(move || {
                    is_ready.store(true, Ordering::Release);
                    waker.wake();
                });
            }
            match is_ready.load(Ordering::Acquire) {
                true => std::task::Poll::Ready(()),
                false => std::task::Poll::Pending,
            }
        }));
        polls
    });
    assert_eq!(polls, BTreeSet::from([1, 2, 3]));
}

#[test]
fn a_waiter_returns_once_for_no_reason() {
    let found = outcomes(|| {
        let shared = Arc::new((Notify::new(), AtomicUsize::new(0)));
        let other = Arc::clone(&shared);
        loom::thread::spawn(move || {
            other.1.store(1, Ordering::SeqCst);
            other.0.notify();
        });
        shared.0.wait();
        shared.1.load(Ordering::SeqCst) as u32
    });
    assert_eq!(found, BTreeSet::from([0, 1]));
}

#[test]
fn what_loom_0_7_3_has_is_there() {
    const _: () = assert!(loom::IS_MAZURKA);
    loom::model(|| {
        let count = AtomicUsize::new(1);
        assert_eq!(
            count.update(Ordering::SeqCst, Ordering::SeqCst, |count| count + 1),
            1
        );
        assert_eq!(
            count.try_update(Ordering::SeqCst, Ordering::SeqCst, |_| None),
            Err(2)
        );
        let lock: Box<loom::sync::RwLock<[u8]>> = Box::new(loom::sync::RwLock::new([1, 2]));
        lock.write().unwrap()[0] = 3;
        assert_eq!(*lock.read().unwrap(), [3, 2]);
    });
}

/// Some tests use the types of `std` on purpose, to hide data from loom. The report names this
/// hidden synchronization, but the test passes.
#[test]
fn what_loom_does_not_see_fails_no_test() {
    loom::model(|| {
        let count = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
        let other = loom::thread::spawn({
            let count = count.clone();
            move || count.fetch_add(1, std::sync::atomic::Ordering::SeqCst)
        });
        count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        other.join().unwrap();
    });
}
