//! A value that is never dropped is a leak, unless a static owns it.

use mazurka::alloc::Track;
use mazurka::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use mazurka::sync::{Arc, Mutex};
use mazurka::{Checker, FailureKind, Report, Verdict, thread};

type Names = Mutex<Vec<Arc<String>>>;

mazurka::lazy_static! {
    static ref LAZY: Names = Mutex::new(vec![Arc::new("first".to_owned())]);
    static ref TRACKED: Mutex<Option<Track<u32>>> = Mutex::new(None);
}

#[cfg(feature = "statics")]
static NAMES: Names = Mutex::new(Vec::new());

/// Two threads push names to the list. With `forgets`, each leaks a share of its name.
fn share(names: &'static Names, forgets: bool) {
    let threads = ["one", "two"].map(|name| {
        thread::spawn(move || {
            let name = Arc::new(name.to_owned());
            names.lock().unwrap().push(Arc::clone(&name));
            if forgets {
                std::mem::forget(name);
            }
        })
    });
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}

fn verified(report: &Report) {
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
    assert!(report.executions > 1, "{report}");
}

#[test]
fn what_a_lazy_static_owns_is_no_leak_and_what_is_forgotten_is_one() {
    verified(&Checker::new().check(|| share(&LAZY, false)));
    let report = Checker::new().check(|| share(&LAZY, true));
    assert_eq!(report.errors[0].kind, FailureKind::Leak, "{report}");
}

#[cfg(feature = "statics")]
#[test]
fn what_a_static_owns_is_no_leak_and_what_is_forgotten_is_one() {
    verified(&Checker::new().check(|| share(&NAMES, false)));
    let report = Checker::new().check(|| share(&NAMES, true));
    assert_eq!(report.errors[0].kind, FailureKind::Leak, "{report}");
    let message = &report.errors[0].message;
    assert_eq!(message.matches("Arc created at").count(), 2, "{message}");
}

#[test]
fn a_leak_in_a_program_with_a_static_is_shown_with_a_schedule() {
    let program = || {
        LAZY.lock().unwrap().push(Arc::new("second".to_owned()));
        std::mem::forget(Arc::new(7));
    };
    let report = Checker::new().check(program);
    let error = &report.errors[0];
    assert_eq!(error.kind, FailureKind::Leak, "{report}");
    assert_eq!(
        error.message.matches("Arc created at").count(),
        1,
        "{report}"
    );
    let again = Checker::new().replay(&error.schedule, program).unwrap();
    assert_eq!(again.errors[0].message, error.message);
}

#[test]
fn tracked_values_of_statics_are_dropped() {
    let report = Checker::new().check(|| *TRACKED.lock().unwrap() = Some(Track::new(1)));
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
    let report = Checker::new().check(|| {
        *TRACKED.lock().unwrap() = Some(Track::new(1));
        std::mem::forget(Track::new(2));
    });
    assert_eq!(report.errors[0].kind, FailureKind::Leak, "{report}");
}

/// Increments the counter when it is dropped.
struct Counting(Arc<AtomicUsize>);

impl Drop for Counting {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn a_static_may_perform_operations_when_it_is_dropped() {
    mazurka::lazy_static! {
        static ref COUNTING: Mutex<Option<Counting>> = Mutex::new(None);
    }
    let check = |leaks| {
        Checker::new().check(move || {
            *COUNTING.lock().unwrap() = Some(Counting(Arc::new(AtomicUsize::new(0))));
            if leaks {
                std::mem::forget(Arc::new(7));
            }
        })
    };
    let report = check(false);
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
    assert!(!report.to_string().contains("dropped"), "{report}");
    let report = check(true);
    assert_eq!(report.errors[0].kind, FailureKind::Leak, "{report}");
}

/// The destructor of this value runs the function, which does not return and may leak something.
struct Lost(fn());

impl Drop for Lost {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[test]
fn a_static_whose_destructor_comes_to_no_end_hides_leaks_and_is_warned_of() {
    mazurka::lazy_static! {
        static ref LOST: Mutex<Option<Lost>> = Mutex::new(None);
    }
    fn waits() {
        let lock = Mutex::new(());
        let _first = lock.lock();
        let _second = lock.lock();
    }
    let all: [fn(); 3] = [|| panic!("at the end"), waits, thread::park];
    for lost in all {
        let report = Checker::new().check(move || {
            *LOST.lock().unwrap() = Some(Lost(lost));
            std::mem::forget(Arc::new(7));
        });
        assert_eq!(report.verdict, Verdict::Verified, "{report}");
        let warned = "a static panics or waits when it is dropped, so leaks were not checked";
        assert!(report.to_string().contains(warned), "{report}");
    }
}

#[test]
fn a_static_that_is_not_used_owns_nothing() {
    let report = Checker::new().check(|| std::mem::forget(Arc::new(7)));
    assert_eq!(report.errors[0].kind, FailureKind::Leak, "{report}");
}

#[test]
fn destructors_of_one_static_share_a_counter() {
    mazurka::lazy_static! {
        static ref ALL: Mutex<Vec<Counting>> = Mutex::new(Vec::new());
    }
    let report = Checker::new().check(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let all = [0; 3].map(|_| Counting(Arc::clone(&count)));
        ALL.lock().unwrap().extend(all);
    });
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
}
