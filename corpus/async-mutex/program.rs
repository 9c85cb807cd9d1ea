//! async-mutex: a task that finds the mutex taken stores its waker, but does not
//! check again. If the mutex was given back in between, the task is never woken.

use crate::entry::Entry;
use mazurka::future::{block_on, spawn};
use mazurka::sync::atomic::{AtomicBool, Ordering::SeqCst};
use mazurka::sync::{Arc, Mutex};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Poll, Waker};

pub(crate) const ENTRY: Entry = Entry {
    name: "async-mutex",
    about: "tasks wait for a mutex of their own, and leave their wakers too late",
    parameters: &[],
    body: |_| async_mutex(),
    expect: include_str!("expect.toml"),
};

#[derive(Default)]
struct AsyncMutex {
    is_taken: AtomicBool,
    wakers: Mutex<VecDeque<Waker>>,
}

impl AsyncMutex {
    async fn lock(&self) {
        poll_fn(|context| {
            if !self.is_taken.swap(true, SeqCst) {
                return Poll::Ready(());
            }
            self.wakers
                .lock()
                .unwrap()
                .push_back(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn unlock(&self) {
        self.is_taken.store(false, SeqCst);
        if let Some(waker) = self.wakers.lock().unwrap().pop_front() {
            waker.wake();
        }
    }
}

fn async_mutex() {
    let mutex = Arc::new(AsyncMutex::default());
    let other = spawn({
        let mutex = Arc::clone(&mutex);
        async move {
            mutex.lock().await;
            mutex.unlock();
        }
    });
    block_on(async {
        mutex.lock().await;
        mutex.unlock();
        other.await.unwrap();
    });
}
