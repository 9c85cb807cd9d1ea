//! select-cancel: a task waits for a mutex or a stop, whichever comes first. If it is
//! granted the mutex and then sees the stop, its wait is dropped, and the mutex is lost.

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
    about: "who gives up waiting drops a mutex that it was handed over meanwhile",
    parameters: &[],
    body: |_| select_cancel(),
    expect: include_str!("expect.toml"),
};

/// A mutex that is handed over to the first waiter when it is given back.
#[derive(Default)]
struct Handover(Mutex<State>);

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
        let mut state = self.0.lock().unwrap();
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
        let mut state = self.mutex.0.lock().unwrap();
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
        let mut state = self.mutex.0.lock().unwrap();
        state.waiting.retain(|&(ticket, _)| ticket != own);
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

fn select_cancel() {
    let shared = Arc::new((
        Handover::default(),
        (AtomicBool::new(false), AtomicWaker::new()),
    ));
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
