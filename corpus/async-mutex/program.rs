//! async-mutex: a task that finds the mutex taken stores its waker, but does not check again. If
//! the mutex was released in between, the task is never woken. The repaired mutex keeps its flag
//! and its wakers under one lock, so that they are read and changed in one step.

use crate::entry::Entry;
use mazurka::future::{block_on, spawn};
use mazurka::sync::atomic::{AtomicBool, Ordering::SeqCst};
use mazurka::sync::{Arc, Mutex};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::mem;
use std::task::{Context, Poll, Waker};

pub(crate) const ENTRY: Entry = Entry {
    name: "async-mutex",
    about: "an async mutex: a task that finds it taken stores its waker too late",
    parameters: &[],
    body: |_| async_mutex::<LateWaker>(),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "async-mutex-fixed",
    about: "an async mutex: a task that finds it taken stores its waker in the same step",
    parameters: &[],
    body: |_| async_mutex::<Locked>(),
    expect: include_str!("fixed.toml"),
};

trait AsyncMutex: Default + Send + Sync + 'static {
    fn poll_lock(&self, context: &mut Context<'_>) -> Poll<()>;
    fn unlock(&self);
}

/// The buggy mutex: another task may unlock it between the two steps of `poll_lock`.
#[derive(Default)]
struct LateWaker {
    is_taken: AtomicBool,
    wakers: Mutex<VecDeque<Waker>>,
}

impl AsyncMutex for LateWaker {
    fn poll_lock(&self, context: &mut Context<'_>) -> Poll<()> {
        if !self.is_taken.swap(true, SeqCst) {
            return Poll::Ready(());
        }
        self.wakers
            .lock()
            .unwrap()
            .push_back(context.waker().clone());
        Poll::Pending
    }

    fn unlock(&self) {
        self.is_taken.store(false, SeqCst);
        if let Some(waker) = self.wakers.lock().unwrap().pop_front() {
            waker.wake();
        }
    }
}

/// The repaired mutex.
#[derive(Default)]
struct Locked(Mutex<State>);

#[derive(Default)]
struct State {
    is_taken: bool,
    wakers: VecDeque<Waker>,
}

impl AsyncMutex for Locked {
    fn poll_lock(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.lock().unwrap();
        if !mem::replace(&mut state.is_taken, true) {
            return Poll::Ready(());
        }
        state.wakers.push_back(context.waker().clone());
        Poll::Pending
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

fn async_mutex<M: AsyncMutex>() {
    let mutex = Arc::new(M::default());
    let other = spawn({
        let mutex = Arc::clone(&mutex);
        async move {
            poll_fn(|context| mutex.poll_lock(context)).await;
            mutex.unlock();
        }
    });
    block_on(async {
        poll_fn(|context| mutex.poll_lock(context)).await;
        mutex.unlock();
        other.await.unwrap();
    });
}
