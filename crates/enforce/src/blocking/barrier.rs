//! Barriers in the memory of `pthread_barrier_t`.

use crate::gate::SPINS;
use crate::{begin, end};
use explore::OpKind;
use rustix::thread::{futex, sched_yield};
use std::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, SeqCst},
};

/// A barrier.
#[repr(C)]
pub struct Barrier {
    /// Lower half: arrivals of the current generation. Upper half: number of the generation.
    arrivals: AtomicU32,
    /// Number of complete generations.
    complete: AtomicU32,
    /// Number of threads for which the barrier waits, at the place where the C library stores it.
    places: u32,
    /// Belongs to the C library.
    shared: u32,
    /// Threads that have not left [`Barrier::wait`] yet.
    inside: AtomicU32,
}

/// A generation must have fewer arrivals than this number, because 16 bits count them.
const MOST: u32 = 1 << 16;

impl Barrier {
    /// Returns a barrier for `places` threads.
    pub const fn new(places: u32) -> Barrier {
        Barrier {
            arrivals: AtomicU32::new(0),
            complete: AtomicU32::new(0),
            places,
            shared: 0,
            inside: AtomicU32::new(0),
        }
    }

    /// Returns the barrier in this memory.
    ///
    /// # Safety
    ///
    /// The memory holds a barrier of the C library that is used through this type only.
    pub unsafe fn at<'o, T>(object: *mut T) -> &'o Barrier {
        // SAFETY: as promised by the caller. `pthread_barrier_t` is at least as large as this type.
        unsafe { &*object.cast() }
    }

    /// Waits until as many threads have arrived as there are places. Returns true in the last
    /// thread.
    pub fn wait(&self) -> bool {
        if self.places >= MOST {
            crate::fail("a barrier waits for more than 65,535 threads; this cannot be enforced");
        }
        self.inside.fetch_add(1, SeqCst);
        let is_last = self.arrives();
        // This is the last access to the barrier, because `destroy` may return right after it.
        self.inside.fetch_sub(1, SeqCst);
        is_last
    }

    /// Waits until all threads have left [`Barrier::wait`]. Then the barrier's memory may be freed.
    pub fn destroy(&self) {
        while self.inside.load(SeqCst) > 0 {
            sched_yield();
        }
    }

    fn arrives(&self) -> bool {
        begin(OpKind::BarrierArrive);
        let arrive = |arrivals: u32| match arrivals % MOST + 1 {
            number if number >= self.places => Some((arrivals / MOST + 1).wrapping_mul(MOST)),
            _ => Some(arrivals + 1),
        };
        let before = self.arrivals.fetch_update(SeqCst, SeqCst, arrive);
        end();
        let (Ok(before) | Err(before)) = before;
        if before % MOST + 1 >= self.places {
            self.complete.fetch_add(1, SeqCst);
            let _ = futex::wake(&self.complete, futex::Flags::PRIVATE, i32::MAX as u32);
            return true;
        }
        self.wait_for(before / MOST);
        false
    }

    /// Waits until the generation is complete. Its number has 16 bits and may wrap around.
    fn wait_for(&self, generation: u32) {
        crate::publish();
        let is_complete =
            |complete: u32| (complete.wrapping_sub(generation) as u16).cast_signed() > 0;
        for _ in 0..*SPINS {
            if is_complete(self.complete.load(Acquire)) {
                return;
            }
            std::hint::spin_loop();
        }
        loop {
            let complete = self.complete.load(SeqCst);
            if is_complete(complete) {
                return;
            }
            let _ = futex::wait(&self.complete, futex::Flags::PRIVATE, complete, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_passes_before_all_have_arrived_and_one_is_the_last() {
        let barrier = &Barrier::new(3);
        let (arrived, last) = (&AtomicU32::new(0), &AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for round in 1..=500 {
                        arrived.fetch_add(1, SeqCst);
                        last.fetch_add(u32::from(barrier.wait()), SeqCst);
                        assert!(arrived.load(SeqCst) >= 3 * round);
                    }
                });
            }
        });
        assert_eq!(last.load(SeqCst), 500);
    }

    #[test]
    fn a_barrier_may_be_ended_by_the_last_that_arrives() {
        for _ in 0..2_000 {
            let barrier = Box::leak(Box::new(Barrier::new(2)));
            let address = std::ptr::from_mut(barrier).expose_provenance();
            let pass = move || {
                // SAFETY: the last of the two threads frees the barrier after the other has left.
                let barrier = unsafe { &*std::ptr::with_exposed_provenance::<Barrier>(address) };
                if barrier.wait() {
                    barrier.destroy();
                    let barrier = std::ptr::with_exposed_provenance_mut::<Barrier>(address);
                    // SAFETY: as above.
                    drop(unsafe { Box::from_raw(barrier) });
                }
            };
            let other = std::thread::spawn(pass);
            pass();
            other.join().unwrap();
        }
    }
}
