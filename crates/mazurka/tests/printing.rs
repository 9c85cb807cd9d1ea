//! Programs that print. Writes to the output buffers of the process are neither effects nor program
//! state.

use mazurka::sync::Arc;
use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::{Checker, Verdict, hint, thread};

/// Checks a loop that prints each value it reads from `first` on.
fn check(first: u32, print: fn(u32)) {
    let report = Checker::new().check(move || {
        let number = Arc::new(AtomicU32::new(0));
        let waiting = thread::spawn({
            let number = Arc::clone(&number);
            move || {
                loop {
                    let found = number.load(SeqCst);
                    if found >= first {
                        print(found);
                    }
                    if found == 3 {
                        break;
                    }
                    hint::spin_loop();
                }
            }
        });
        (1..=3).for_each(|value| number.store(value, SeqCst));
        waiting.join().unwrap();
    });
    assert_eq!(report.verdict, Verdict::Verified, "{report}");
    // The thread has read each value before the last one, or not.
    assert_eq!(report.executions, 8);
}

#[test]
fn a_loop_may_print() {
    check(0, |found| println!("found {found}"));
    check(0, |found| eprintln!("found {found}"));
    check(0, |found| println!("{}", "x".repeat(3000 + found as usize)));
}

#[test]
fn a_loop_may_print_late_for_the_first_time() {
    check(2, |found| println!("found {found}"));
}
