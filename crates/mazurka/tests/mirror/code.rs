// User code that is compiled against `std` and against Mazurka: `root` is one of them.
use self::root::sync::atomic::*;
use self::root::sync::mpsc::{self, *};
use self::root::sync::*;
use self::root::{cell, hint, thread};
use std::fmt::Debug;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Duration;

static A: AtomicUsize = AtomicUsize::new(3);
static M: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static R: RwLock<u8> = RwLock::new(1);
static C: Condvar = Condvar::new();
static O: Once = Once::new();
static OL: OnceLock<String> = OnceLock::new();
static LL: LazyLock<String> = LazyLock::new(|| "x".to_owned());
static P: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
const fn made() -> Mutex<u8> {
    Mutex::new(0)
}

fn all<T: Send + Sync>() {}
fn unwind<T: UnwindSafe + RefUnwindSafe>() {}
fn debug<T: Debug>() {}
fn default<T: Default>() {}
fn from<T, U: From<T>>() {}
fn clone<T: Clone>() {}

pub fn traits() {
    all::<Mutex<std::cell::Cell<u8>>>();
    all::<RwLock<u8>>();
    all::<Condvar>();
    all::<Once>();
    all::<OnceLock<u8>>();
    all::<Barrier>();
    all::<AtomicPtr<u8>>();
    all::<LazyLock<u8>>();
    all::<Arc<u8>>();
    all::<Weak<u8>>();
    all::<SyncSender<u8>>();
    all::<Sender<u8>>();
    all::<thread::Thread>();
    all::<thread::JoinHandle<std::cell::Cell<u8>>>();
    all::<thread::ThreadId>();
    unwind::<Mutex<u8>>();
    unwind::<RwLock<u8>>();
    unwind::<Condvar>();
    unwind::<Once>();
    unwind::<OnceLock<u8>>();
    unwind::<AtomicU8>();
    unwind::<Barrier>();
    unwind::<Arc<u8>>();
    unwind::<thread::Thread>();
    unwind::<LazyLock<u8>>();
    debug::<Mutex<u8>>();
    debug::<RwLock<u8>>();
    debug::<Condvar>();
    debug::<Once>();
    debug::<OnceLock<u8>>();
    debug::<Barrier>();
    debug::<BarrierWaitResult>();
    debug::<Arc<u8>>();
    debug::<Weak<u8>>();
    debug::<MutexGuard<'_, u8>>();
    debug::<RwLockReadGuard<'_, u8>>();
    debug::<RwLockWriteGuard<'_, u8>>();
    debug::<Sender<u8>>();
    debug::<Receiver<u8>>();
    debug::<SyncSender<u8>>();
    debug::<mpsc::Iter<'_, u8>>();
    debug::<TryIter<'_, u8>>();
    debug::<mpsc::IntoIter<u8>>();
    debug::<thread::Thread>();
    debug::<thread::JoinHandle<u8>>();
    debug::<thread::Builder>();
    debug::<thread::ThreadId>();
    debug::<thread::ScopedJoinHandle<'_, u8>>();
    debug::<thread::Scope<'_, '_>>();
    debug::<thread::LocalKey<u8>>();
    debug::<thread::AccessError>();
    debug::<WaitTimeoutResult>();
    debug::<OnceState>();
    debug::<LazyLock<u8>>();
    debug::<AtomicU8>();
    debug::<AtomicBool>();
    debug::<AtomicPtr<u8>>();
    default::<Mutex<u8>>();
    default::<RwLock<u8>>();
    default::<Condvar>();
    default::<OnceLock<u8>>();
    default::<Arc<u8>>();
    default::<Weak<u8>>();
    default::<AtomicI64>();
    default::<AtomicBool>();
    default::<AtomicPtr<u8>>();
    default::<Arc<str>>();
    default::<Arc<[u8]>>();
    default::<LazyLock<u8>>();
    from::<u8, Mutex<u8>>();
    from::<u8, RwLock<u8>>();
    from::<u8, OnceLock<u8>>();
    from::<u8, Arc<u8>>();
    from::<&str, Arc<str>>();
    from::<String, Arc<str>>();
    from::<Vec<u8>, Arc<[u8]>>();
    from::<Box<u8>, Arc<u8>>();
    from::<u32, AtomicU32>();
    from::<bool, AtomicBool>();
    from::<*mut u8, AtomicPtr<u8>>();
    from::<&[u8], Arc<[u8]>>();
    from::<std::borrow::Cow<'_, str>, Arc<str>>();
    from::<Arc<str>, Arc<[u8]>>();
    from::<&std::path::Path, Arc<std::path::Path>>();
    from::<std::ffi::CString, Arc<std::ffi::CStr>>();
    let _: Result<Arc<[u8; 2]>, Arc<[u8]>> = Arc::<[u8]>::from(vec![1]).try_into();
    let _: Arc<[u8]> = [1, 2].into_iter().collect();
    from::<[u8; 3], Arc<[u8]>>();
    from::<Box<str>, Arc<str>>();
    clone::<Sender<u8>>();
    clone::<SyncSender<u8>>();
    clone::<OnceLock<u8>>();
    clone::<thread::Thread>();
    clone::<Weak<u8>>();
    let _: fn(OnceLock<u8>, OnceLock<u8>) -> bool = |a, b| a == b;
}

/// Type parameters for closures come first, as in `std`, so that `_` can replace them.
pub fn generics() {
    let _ = thread::spawn::<fn(), ()>;
    let _ = thread::Builder::spawn::<fn(), ()>;
    let _ = Once::call_once::<fn()>;
    let _ = Once::call_once_force::<fn(&OnceState)>;
    let _ = OnceLock::<u8>::get_or_init::<fn() -> u8>;
    let _ = Condvar::wait_while::<u8, fn(&mut u8) -> bool>;
    let _ = Condvar::wait_timeout_while::<u8, fn(&mut u8) -> bool>;
    let _ = AtomicU8::fetch_update::<fn(u8) -> Option<u8>>;
    let _ = Arc::<u8>::new_cyclic::<fn(&Weak<u8>) -> u8>;
    let _ = thread::LocalKey::<u8>::with::<fn(&u8), ()>;
    let _ = thread::LocalKey::<u8>::try_with::<fn(&u8), ()>;
    let _ = thread::LocalKey::<cell::RefCell<u8>>::with_borrow::<fn(&u8), ()>;
    let _ = thread::LocalKey::<cell::RefCell<u8>>::with_borrow_mut::<fn(&mut u8), ()>;
}

pub fn signatures() {
    let _: fn(&Mutex<u8>) -> LockResult<MutexGuard<'_, u8>> = Mutex::lock;
    let _: fn(&Mutex<u8>) -> TryLockResult<MutexGuard<'_, u8>> = Mutex::try_lock;
    let _: fn(&Mutex<u8>) -> bool = Mutex::is_poisoned;
    let _: fn(&Mutex<u8>) = Mutex::clear_poison;
    let _: fn(&mut Mutex<u8>) -> LockResult<&mut u8> = Mutex::get_mut;
    let _: fn(Mutex<u8>) -> LockResult<u8> = Mutex::into_inner;
    let _: fn(&RwLock<u8>) -> LockResult<RwLockReadGuard<'_, u8>> = RwLock::read;
    let _: fn(&RwLock<u8>) -> LockResult<RwLockWriteGuard<'_, u8>> = RwLock::write;
    let _: fn(&RwLock<u8>) -> TryLockResult<RwLockReadGuard<'_, u8>> = RwLock::try_read;
    let _: fn(&RwLock<u8>) -> TryLockResult<RwLockWriteGuard<'_, u8>> = RwLock::try_write;
    let _: fn(&RwLock<u8>) -> bool = RwLock::is_poisoned;
    let _: fn(&RwLock<u8>) = RwLock::clear_poison;
    let _: fn(&mut RwLock<u8>) -> LockResult<&mut u8> = RwLock::get_mut;
    let _: fn(RwLock<u8>) -> LockResult<u8> = RwLock::into_inner;
    let _ = |guard: RwLockWriteGuard<'static, u8>| -> RwLockReadGuard<'static, u8> {
        RwLockWriteGuard::downgrade(guard)
    };
    let _: for<'a> fn(&Condvar, MutexGuard<'a, u8>) -> LockResult<MutexGuard<'a, u8>> =
        Condvar::wait;
    let _: for<'a> fn(
        &Condvar,
        MutexGuard<'a, u8>,
        Duration,
    ) -> LockResult<(MutexGuard<'a, u8>, WaitTimeoutResult)> = Condvar::wait_timeout;
    let _: for<'a> fn(
        &Condvar,
        MutexGuard<'a, u8>,
        fn(&mut u8) -> bool,
    ) -> LockResult<MutexGuard<'a, u8>> = Condvar::wait_while;
    let _: for<'a> fn(
        &Condvar,
        MutexGuard<'a, u8>,
        Duration,
        fn(&mut u8) -> bool,
    ) -> LockResult<(MutexGuard<'a, u8>, WaitTimeoutResult)> = Condvar::wait_timeout_while;
    let _: fn(&Condvar) = Condvar::notify_one;
    let _: fn(&Condvar) = Condvar::notify_all;
    let _: fn(&WaitTimeoutResult) -> bool = WaitTimeoutResult::timed_out;
    let _: fn(usize) -> Barrier = Barrier::new;
    let _: fn(&Barrier) -> BarrierWaitResult = Barrier::wait;
    let _: fn(&BarrierWaitResult) -> bool = BarrierWaitResult::is_leader;
    let _: fn(&Once, fn()) = Once::call_once;
    let _: fn(&Once, fn(&OnceState)) = Once::call_once_force;
    let _: fn(&Once) -> bool = Once::is_completed;
    let _: fn(&Once) = Once::wait;
    let _: fn(&Once) = Once::wait_force;
    let _: fn(&OnceState) -> bool = OnceState::is_poisoned;
    let _: fn(&OnceLock<u8>) -> Option<&u8> = OnceLock::get;
    let _: fn(&OnceLock<u8>) -> &u8 = OnceLock::wait;
    let _: fn(&mut OnceLock<u8>) -> Option<&mut u8> = OnceLock::get_mut;
    let _: fn(&OnceLock<u8>, u8) -> Result<(), u8> = OnceLock::set;
    let _: fn(&OnceLock<u8>, fn() -> u8) -> &u8 = OnceLock::get_or_init;
    let _: fn(OnceLock<u8>) -> Option<u8> = OnceLock::into_inner;
    let _: fn(&mut OnceLock<u8>) -> Option<u8> = OnceLock::take;
    let _: fn(&LazyLock<u8>) -> &u8 = LazyLock::force;
    let _: fn() -> (Sender<u8>, Receiver<u8>) = channel;
    let _: fn(usize) -> (SyncSender<u8>, Receiver<u8>) = sync_channel;
    let _: fn(&Sender<u8>, u8) -> Result<(), SendError<u8>> = Sender::send;
    let _: fn(&SyncSender<u8>, u8) -> Result<(), SendError<u8>> = SyncSender::send;
    let _: fn(&SyncSender<u8>, u8) -> Result<(), TrySendError<u8>> = SyncSender::try_send;
    let _: fn(&Receiver<u8>) -> Result<u8, RecvError> = Receiver::recv;
    let _: fn(&Receiver<u8>) -> Result<u8, TryRecvError> = Receiver::try_recv;
    let _: fn(&Receiver<u8>, Duration) -> Result<u8, RecvTimeoutError> = Receiver::recv_timeout;
    let _: fn(&Receiver<u8>) -> mpsc::Iter<'_, u8> = Receiver::iter;
    let _: fn(&Receiver<u8>) -> TryIter<'_, u8> = Receiver::try_iter;
    let _: fn(fn() -> u8) -> thread::JoinHandle<u8> = thread::spawn;
    let _: fn(thread::JoinHandle<u8>) -> thread::Result<u8> = thread::JoinHandle::join;
    let _: fn(&thread::JoinHandle<u8>) -> &thread::Thread = thread::JoinHandle::thread;
    let _: fn(&thread::JoinHandle<u8>) -> bool = thread::JoinHandle::is_finished;
    let _: fn() -> thread::Builder = thread::Builder::new;
    let _: fn(thread::Builder, String) -> thread::Builder = thread::Builder::name;
    let _: fn(thread::Builder, usize) -> thread::Builder = thread::Builder::stack_size;
    let _: fn(thread::Builder, fn() -> u8) -> std::io::Result<thread::JoinHandle<u8>> =
        thread::Builder::spawn;
    let _: fn() -> thread::Thread = thread::current;
    let _: fn(&thread::Thread) = thread::Thread::unpark;
    let _: fn(&thread::Thread) -> thread::ThreadId = thread::Thread::id;
    let _: fn(&thread::Thread) -> Option<&str> = thread::Thread::name;
    let _: fn() = thread::park;
    let _: fn(Duration) = thread::park_timeout;
    let _: fn(Duration) = thread::sleep;
    let _: fn() = thread::yield_now;
    let _: fn() -> bool = thread::panicking;
    let _: fn() -> std::io::Result<std::num::NonZero<usize>> = thread::available_parallelism;
    let _: fn() = hint::spin_loop;
    let _: fn(u8) -> u8 = hint::black_box;
    let _: fn(&Arc<u8>) -> usize = Arc::strong_count;
    let _: fn(&Arc<u8>) -> usize = Arc::weak_count;
    let _: fn(&Arc<u8>) -> Weak<u8> = Arc::downgrade;
    let _: fn(&Arc<u8>, &Arc<u8>) -> bool = Arc::ptr_eq;
    let _: fn(&mut Arc<u8>) -> Option<&mut u8> = Arc::get_mut;
    let _: fn(&mut Arc<u8>) -> &mut u8 = Arc::make_mut;
    let _: fn(Arc<u8>) -> Result<u8, Arc<u8>> = Arc::try_unwrap;
    let _: fn(Arc<u8>) -> Option<u8> = Arc::into_inner;
    let _: fn(Arc<u8>) -> u8 = Arc::unwrap_or_clone;
    let _: fn(Arc<u8>) -> *const u8 = Arc::into_raw;
    let _: fn(&Arc<u8>) -> *const u8 = Arc::as_ptr;
    let _: unsafe fn(*const u8) -> Arc<u8> = Arc::from_raw;
    let _: unsafe fn(*const u8) = Arc::increment_strong_count;
    let _: unsafe fn(*const u8) = Arc::decrement_strong_count;
    let _: fn(u8) -> std::pin::Pin<Arc<u8>> = Arc::pin;
    let _: fn() -> Weak<u8> = Weak::new;
    let _: fn(&Weak<u8>) -> Option<Arc<u8>> = Weak::upgrade;
    let _: fn(&Weak<u8>) -> usize = Weak::strong_count;
    let _: fn(&Weak<u8>) -> usize = Weak::weak_count;
    let _: fn(&Weak<u8>, &Weak<u8>) -> bool = Weak::ptr_eq;
    let _: fn(&Weak<u8>) -> *const u8 = Weak::as_ptr;
    let _: fn(Weak<u8>) -> *const u8 = Weak::into_raw;
    let _: unsafe fn(*const u8) -> Weak<u8> = Weak::from_raw;
    let _ = Arc::<u8>::new_cyclic(|_: &Weak<u8>| 3);
    let _: fn(&AtomicU32, Ordering) -> u32 = AtomicU32::load;
    let _: fn(&AtomicU32, u32, Ordering) = AtomicU32::store;
    let _: fn(&AtomicU32, u32, Ordering) -> u32 = AtomicU32::swap;
    let _: fn(&AtomicU32, u32, u32, Ordering, Ordering) -> Result<u32, u32> =
        AtomicU32::compare_exchange;
    let _: fn(&AtomicU32, u32, u32, Ordering, Ordering) -> Result<u32, u32> =
        AtomicU32::compare_exchange_weak;
    let _: [fn(&AtomicU32, u32, Ordering) -> u32; 8] = [
        AtomicU32::fetch_add,
        AtomicU32::fetch_sub,
        AtomicU32::fetch_and,
        AtomicU32::fetch_nand,
        AtomicU32::fetch_or,
        AtomicU32::fetch_xor,
        AtomicU32::fetch_max,
        AtomicU32::fetch_min,
    ];
    let _: fn(&AtomicU32, Ordering, Ordering, fn(u32) -> Option<u32>) -> Result<u32, u32> =
        AtomicU32::fetch_update;
    let _: fn(&mut AtomicU32) -> &mut u32 = AtomicU32::get_mut;
    let _: fn(AtomicU32) -> u32 = AtomicU32::into_inner;
    let _: fn(&AtomicU32) -> *mut u32 = AtomicU32::as_ptr;
    let _: [fn(&AtomicBool, bool, Ordering) -> bool; 4] = [
        AtomicBool::fetch_and,
        AtomicBool::fetch_nand,
        AtomicBool::fetch_or,
        AtomicBool::fetch_xor,
    ];
    let _: fn(&AtomicBool, Ordering) -> bool = AtomicBool::fetch_not;
    let _: fn(&AtomicPtr<u8>, Ordering) -> *mut u8 = AtomicPtr::load;
    let _: fn(&AtomicPtr<u8>, *mut u8, *mut u8, Ordering, Ordering) -> Result<*mut u8, *mut u8> =
        AtomicPtr::compare_exchange;
    let _: fn(Ordering) = fence;
    let _: fn(Ordering) = compiler_fence;
    let _: fn(u8) -> cell::Cell<u8> = cell::Cell::new;
    let _: fn(&cell::Cell<u8>) -> u8 = cell::Cell::get;
    let _: fn(&cell::Cell<u8>, u8) = cell::Cell::set;
    let _: fn(&cell::Cell<u8>, u8) -> u8 = cell::Cell::replace;
    let _: fn(&cell::Cell<u8>) -> u8 = cell::Cell::take;
    let _: fn(u8) -> cell::UnsafeCell<u8> = cell::UnsafeCell::new;
    let _: fn(cell::UnsafeCell<u8>) -> u8 = cell::UnsafeCell::into_inner;
    let _: fn(Weak<u8>) = drop;
    let _: fn(&LazyLock<u8>) -> Option<&u8> = LazyLock::get;
    let _: fn(&mut LazyLock<u8>) -> Option<&mut u8> = LazyLock::get_mut;
    let _: fn(&mut LazyLock<u8>) -> &mut u8 = LazyLock::force_mut;
    let _: fn(&AtomicU32, Ordering, Ordering, fn(u32) -> u32) -> u32 = AtomicU32::update;
    let _: fn(&AtomicU32, Ordering, Ordering, fn(u32) -> Option<u32>) -> Result<u32, u32> =
        AtomicU32::try_update;
    let _: fn(&AtomicBool) -> *mut bool = AtomicBool::as_ptr;
    let _: fn(
        thread::Builder,
        &'static thread::Scope<'static, '_>,
        fn() -> u8,
    ) -> std::io::Result<thread::ScopedJoinHandle<'static, u8>> = thread::Builder::spawn_scoped;
    let _: fn(thread::ScopedJoinHandle<'static, u8>) -> thread::Result<u8> =
        thread::ScopedJoinHandle::join;
    let _: fn(&'static thread::ScopedJoinHandle<'static, u8>) -> &'static thread::Thread =
        thread::ScopedJoinHandle::thread;
    let _: fn(&thread::ScopedJoinHandle<'static, u8>) -> bool =
        thread::ScopedJoinHandle::is_finished;
    let _: fn(&cell::Cell<u8>, &cell::Cell<u8>) = cell::Cell::swap;
    let _: fn(cell::Cell<u8>) -> u8 = cell::Cell::into_inner;
    let _: fn(&mut cell::Cell<u8>) -> &mut u8 = cell::Cell::get_mut;
}

pub fn behaviour() -> Vec<String> {
    let mut lines = Vec::new();
    let mut add_line = |text: String| lines.push(text);
    A.fetch_add(1, Ordering::SeqCst);
    add_line(format!("{:?}", A));
    M.lock().unwrap().push(1);
    add_line(format!("{:?}", M));
    add_line(format!("{:?} {:?}", R, *R.read().unwrap()));
    O.call_once(|| ());
    add_line(format!(
        "{:?} {:?} {:?}",
        O.is_completed(),
        OL.get_or_init(|| "y".into()),
        *LL
    ));
    C.notify_all();
    let _ = P.load(Ordering::Relaxed);
    add_line(format!("{:?}", made()));
    let m = Mutex::new(1);
    let g = m.lock().unwrap();
    add_line(format!("{:?} {:?}", m, m.try_lock().is_err()));
    add_line(format!("{g:?} {g}"));
    let w = R.write().unwrap();
    add_line(format!("{R:?} {w:?} {w}"));
    drop(w);
    drop(g);
    let b = Barrier::new(1);
    add_line(format!("{:?}", b.wait().is_leader()));
    let (tx, rx) = channel();
    let tx2 = tx.clone();
    let t = thread::Builder::new()
        .name("worker".to_owned())
        .spawn(move || {
            tx2.send(thread::current().name().map(str::to_owned))
                .unwrap();
            7
        })
        .unwrap();
    add_line(format!("{:?}", t.thread().name()));
    add_line(format!("{:?} {:?}", rx.recv(), t.join().unwrap()));
    drop(tx);
    add_line(format!("{:?} {:?}", rx.recv(), rx.try_recv()));
    let (tx, rx) = sync_channel(1);
    add_line(format!(
        "{:?} {:?} {:?}",
        tx.try_send(1),
        tx.try_send(2),
        rx.iter().next()
    ));
    drop(rx);
    add_line(format!("{:?}", tx.send(5)));
    let v = thread::scope(|s| {
        let h = s.spawn(|| 5);
        h.join().unwrap()
    });
    add_line(format!("{v}"));
    let h = thread::spawn(|| std::panic::resume_unwind(Box::new("boom")));
    let e = h.join().unwrap_err();
    add_line(format!("{:?}", e.downcast_ref::<&str>()));
    let p = Arc::new(Mutex::new(0));
    let q = p.clone();
    let _ = thread::spawn(move || {
        let _g = q.lock();
        std::panic::resume_unwind(Box::new("poison"))
    })
    .join();
    add_line(format!(
        "{:?} {:?}",
        p.is_poisoned(),
        p.lock().map(|g| *g).map_err(|e| *e.into_inner())
    ));
    add_line(format!("{:?}", p));
    p.clear_poison();
    add_line(format!("{:?}", p.lock().is_ok()));
    let a: Arc<str> = "hi".into();
    add_line(format!("{a} {:?} {}", a, Arc::strong_count(&a)));
    let mut a = Arc::new(1);
    *Arc::make_mut(&mut a) += 1;
    let w = Arc::downgrade(&a);
    add_line(format!(
        "{a} {:?} {:?} {}",
        w,
        w.upgrade(),
        Arc::weak_count(&a)
    ));
    drop(a);
    add_line(format!("{:?}", w.upgrade()));
    let c: OnceLock<u8> = OnceLock::new();
    add_line(format!("{:?} {:?} {:?} {:?}", c, c.set(1), c.set(2), c));
    let c = Condvar::new();
    let m = Mutex::new(false);
    let (_g, r) = c
        .wait_timeout(m.lock().unwrap(), Duration::from_millis(1))
        .unwrap();
    add_line(format!("{:?}", r.timed_out()));
    add_line(format!("{:?}", thread::panicking()));
    add_line(format!(
        "{:?}",
        AtomicBool::new(true).fetch_not(Ordering::SeqCst)
    ));
    local::with();
    add_line(format!("{:?}", AtomicPtr::<u8>::default()));
    add_line(format!("{:?}", "1".parse::<u8>().map(AtomicU8::new)));
    let once = Once::new();
    let cell: OnceLock<u8> = OnceLock::new();
    thread::scope(|s| {
        s.spawn(|| {
            once.call_once(|| ());
            cell.set(4).unwrap();
        });
        once.wait();
        once.wait_force();
        assert_eq!(*cell.wait(), 4);
    });
    add_line(format!("{:?}", cell.clone() == cell));
    let lock = RwLock::new(1);
    let mut w = lock.write().unwrap();
    *w = 2;
    let r = RwLockWriteGuard::downgrade(w);
    add_line(format!(
        "{:?} {:?} {:?}",
        *r,
        lock.try_write().is_err(),
        lock.try_read().is_ok()
    ));
    drop(r);
    let a = Arc::new(5);
    let w = Weak::into_raw(Arc::downgrade(&a));
    add_line(format!("{:?}", unsafe { Weak::from_raw(w) }.upgrade()));
    add_line(format!(
        "{:?} {:?}",
        Arc::<str>::default(),
        Arc::<[u8]>::default()
    ));
    let x = AtomicU8::new(1);
    unsafe { *x.as_ptr() = 4 };
    add_line(format!(
        "{:?} {:?} {:?}",
        x.update(Ordering::SeqCst, Ordering::SeqCst, |v| v + 1),
        x.try_update(Ordering::SeqCst, Ordering::SeqCst, |_| None),
        x
    ));
    let bytes = [1_u16, 2, 3];
    let pointer = AtomicPtr::new(bytes.as_ptr().cast_mut());
    pointer.fetch_ptr_add(2, Ordering::SeqCst);
    pointer.fetch_byte_sub(2, Ordering::SeqCst);
    pointer.fetch_byte_add(4, Ordering::SeqCst);
    pointer.fetch_ptr_sub(1, Ordering::SeqCst);
    pointer.fetch_or(1, Ordering::SeqCst);
    pointer.fetch_xor(1, Ordering::SeqCst);
    let pointer = pointer.fetch_and(!1, Ordering::SeqCst);
    add_line(format!("{:?}", unsafe { *pointer }));
    let mut fresh = Arc::<u8>::new_uninit();
    Arc::get_mut(&mut fresh).unwrap().write(9);
    add_line(format!("{:?}", unsafe { fresh.assume_init() }));
    let zeroes = unsafe { Arc::<[u8]>::new_zeroed_slice(2).assume_init() };
    let zero = unsafe { Arc::<u8>::new_zeroed().assume_init() };
    let none = unsafe { Arc::<[u8]>::new_uninit_slice(0).assume_init() };
    add_line(format!("{zeroes:?} {zero} {none:?}"));
    let once = cell::OnceCell::from(hint::select_unpredictable(true, 1, 2));
    add_line(format!("{once:?} {:?}", cell::RefCell::new(1)));
    let mut lazy: LazyLock<u8> = LazyLock::new(|| 3);
    add_line(format!(
        "{:?} {:?} {:?}",
        LazyLock::get(&lazy).copied(),
        {
            *lazy += 1;
            *lazy
        },
        lazy
    ));
    lines
}

mod local {
    use super::root::thread_local;
    use std::cell::{Cell, RefCell};
    thread_local! {
        static X: Cell<u8> = const { Cell::new(1) };
        pub static Y: RefCell<Vec<u8>> = RefCell::new(vec![]);
    }
    pub fn with() {
        X.set(3);
        assert_eq!(X.get(), 3);
        assert_eq!(X.replace(4), 3);
        assert_eq!(X.take(), 4);
        Y.with(|y| y.borrow_mut().push(1));
        Y.with_borrow_mut(|y| y.push(2));
        assert_eq!(Y.with_borrow(|y| y.len()), 2);
        assert_eq!(Y.take().len(), 2);
        assert!(X.try_with(|_| ()).is_ok());
    }
}
