//! async-mutex-fixed: the flag of the mutex and its waiters are read and changed in one step.

use crate::entry::Entry;
use mazurka::future::{block_on, spawn};
use mazurka::sync::{Arc, Mutex};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Poll, Waker};

pub(crate) const ENTRY: Entry = Entry {
    name: "async-mutex-fixed",
    about: "tasks wait for a mutex of their own, and leave their wakers in time",
    parameters: &[],
    body: |_| async_mutex_fixed(),
    expect: include_str!("expect.toml"),
};

#[derive(Default)]
struct AsyncMutex(Mutex<State>);

#[derive(Default)]
struct State {
    is_taken: bool,
    wakers: VecDeque<Waker>,
}

impl AsyncMutex {
    async fn lock(&self) {
        poll_fn(|context| {
            let mut state = self.0.lock().unwrap();
            if !std::mem::replace(&mut state.is_taken, true) {
                return Poll::Ready(());
            }
            state.wakers.push_back(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn unlock(&self) {
        let waker = {
            let mut state = self.0.lock().unwrap();
            state.is_taken = false;
            state.wakers.pop_front()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

fn async_mutex_fixed() {
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
