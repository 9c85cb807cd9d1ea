//! select-cancel: a task waits for a mutex or a stop, whichever comes first. It may be granted the
//! mutex and then see the stop, so that its wait is dropped. The bug: the mutex is lost. The
//! repair: dropping the wait passes the mutex on.

use crate::entry::Entry;
use mazurka::future::{AtomicWaker, block_on, spawn};
use mazurka::sync::atomic::{AtomicBool, Ordering::SeqCst};
use mazurka::sync::{Arc, Mutex};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

pub(crate) const ENTRY: Entry = Entry {
    name: "select-cancel",
    about: "a cancelled wait loses the mutex that was handed to it meanwhile",
    parameters: &[],
    body: |_| select_cancel(false),
    expect: include_str!("expect.toml"),
};

pub(crate) const FIXED: Entry = Entry {
    name: "select-cancel-fixed",
    about: "a cancelled wait passes on the mutex that was handed to it meanwhile",
    parameters: &[],
    body: |_| select_cancel(true),
    expect: include_str!("fixed.toml"),
};

/// A mutex that is handed over to the first waiter when it is given back.
struct Handover {
    state: Mutex<State>,
    is_fixed: bool,
}

#[derive(Default)]
struct State {
    is_taken: bool,
    tickets: u32,
    waiting: VecDeque<(u32, Waker)>,
    /// The ticket of the waiter that was handed the mutex, until its next poll.
    granted: Option<u32>,
}

/// Waits for the mutex.
struct Lock<'m> {
    mutex: &'m Handover,
    ticket: Option<u32>,
}

impl Handover {
    fn lock(&self) -> Lock<'_> {
        Lock {
            mutex: self,
            ticket: None,
        }
    }

    fn unlock(&self) {
        let mut state = self.state.lock().unwrap();
        match state.waiting.pop_front() {
            Some((ticket, waker)) => {
                state.granted = Some(ticket);
                drop(state);
                waker.wake();
            }
            None => state.is_taken = false,
        }
    }
}

impl Future for Lock<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.mutex.state.lock().unwrap();
        match self.ticket {
            Some(ticket) if state.granted == Some(ticket) => {
                state.granted = None;
                drop(state);
                self.ticket = None;
                Poll::Ready(())
            }
            Some(_) => Poll::Pending,
            None if !state.is_taken => {
                state.is_taken = true;
                Poll::Ready(())
            }
            None => {
                state.tickets += 1;
                let ticket = state.tickets;
                state.waiting.push_back((ticket, context.waker().clone()));
                drop(state);
                self.ticket = Some(ticket);
                Poll::Pending
            }
        }
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        let Some(own) = self.ticket else { return };
        let mut state = self.mutex.state.lock().unwrap();
        state.waiting.retain(|&(ticket, _)| ticket != own);
        if self.mutex.is_fixed && state.granted == Some(own) {
            state.granted = None;
            drop(state);
            self.mutex.unlock();
        }
    }
}

/// Returns whether the mutex was acquired before the stop. The pending wait is dropped otherwise.
async fn lock_or_stop(mutex: &Handover, stop: &(AtomicBool, AtomicWaker)) -> bool {
    let mut lock = pin!(mutex.lock());
    poll_fn(|context| {
        if lock.as_mut().poll(context).is_ready() {
            return Poll::Ready(true);
        }
        stop.1.register_by_ref(context.waker());
        match stop.0.load(SeqCst) {
            true => Poll::Ready(false),
            false => Poll::Pending,
        }
    })
    .await
}

fn select_cancel(is_fixed: bool) {
    let mutex = Handover {
        state: Mutex::default(),
        is_fixed,
    };
    let shared = Arc::new((mutex, (AtomicBool::new(false), AtomicWaker::new())));
    block_on(async {
        shared.0.lock().await;
        let other = spawn({
            let shared = Arc::clone(&shared);
            async move {
                if lock_or_stop(&shared.0, &shared.1).await {
                    shared.0.unlock();
                }
            }
        });
        shared.1.0.store(true, SeqCst);
        shared.1.1.wake();
        shared.0.unlock();
        shared.0.lock().await;
        shared.0.unlock();
        other.await.unwrap();
    });
}
