//! A value is initialized once, and the threads that wait for it wake up.

use mazurka::sync::atomic::{AtomicU32, Ordering::SeqCst};
use mazurka::thread;
use once_cell::sync::OnceCell;
use std::sync::Arc;

type Shared = Arc<(OnceCell<u32>, AtomicU32)>;

fn make(shared: &Shared) -> u32 {
    *shared.0.get_or_init(|| shared.1.fetch_add(1, SeqCst))
}

#[mazurka::test]
fn a_value_is_made_once() {
    let shared = Shared::default();
    let other = thread::spawn({
        let shared = Arc::clone(&shared);
        move || make(&shared)
    });
    assert_eq!(make(&shared), 0);
    assert_eq!(other.join().unwrap(), 0);
}

#[mazurka::test]
fn a_waiting_thread_wakes_up() {
    let shared = Shared::default();
    let others = [(); 2].map(|()| {
        let shared = Arc::clone(&shared);
        thread::spawn(move || make(&shared))
    });
    for other in others {
        assert_eq!(other.join().unwrap(), 0);
    }
}

#[mazurka::test]
fn all_waiting_threads_wake_up() {
    let shared = Shared::default();
    let others = [(); 2].map(|()| {
        let shared = Arc::clone(&shared);
        thread::spawn(move || make(&shared))
    });
    assert_eq!(make(&shared), 0);
    for other in others {
        assert_eq!(other.join().unwrap(), 0);
    }
}
