//! Spin locks that a program implements with atomics, and their waiting loops.

use mazurka::sync::Arc;
use mazurka::sync::atomic::{AtomicBool, Ordering::SeqCst};
use mazurka::{Checker, FailureKind, Verdict, hint, thread};

#[test]
fn waiting_twice_as_long_each_time_is_polling() {
    let report = Checker::new().check(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = thread::spawn({
            let flag = Arc::clone(&flag);
            move || flag.store(true, SeqCst)
        });
        let mut exponent = 0;
        while !flag.load(SeqCst) {
            for _ in 0..1 << exponent {
                hint::spin_loop();
            }
            exponent = 8.min(exponent + 1);
        }
        other.join().unwrap();
    });
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
    // The rounds differ until the wait has its maximum length. So there is one execution for each
    // of the first ten reads, in which the flag is set just before this read. Later rounds are all
    // the same.
    assert!((10..14).contains(&report.executions), "{report}");
}

/// A lock defined by the program, around memory that the model does not observe.
struct SpinLock(AtomicBool, std::cell::UnsafeCell<u32>);

// SAFETY: the thread that has set the flag has exclusive access to the memory.
unsafe impl Sync for SpinLock {}

impl SpinLock {
    fn with<R>(&self, act: impl FnOnce(&mut u32) -> R) -> R {
        while self
            .0
            .compare_exchange(false, true, SeqCst, SeqCst)
            .is_err()
        {
            hint::spin_loop();
        }
        // SAFETY: the flag was clear, and this thread has set it.
        let result = act(unsafe { &mut *self.1.get() });
        self.0.store(false, SeqCst);
        result
    }
}

#[test]
fn memory_that_a_lock_of_the_program_guards_is_polled() {
    let check = |arrives: bool| {
        Checker::new().unroll(2).check(move || {
            let count = Arc::new(SpinLock(AtomicBool::new(false), 0.into()));
            let other = thread::spawn({
                let count = Arc::clone(&count);
                move || count.with(|count| *count += u32::from(arrives))
            });
            while count.with(|count| *count == 0) {
                hint::spin_loop();
            }
            other.join().unwrap();
        })
    };
    let report = check(true);
    assert!(report.errors.is_empty(), "{report}");
    assert!(report.executions > 0, "{report}");
    let report = check(false);
    assert_eq!(report.errors[0].kind, FailureKind::Stuck, "{report}");
}
