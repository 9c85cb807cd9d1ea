//! The fast path for plain accesses to memory that no other thread uses now. Most accesses are of
//! this kind. Only the await rule has to record them, and it records few of the reads.

use super::foreign::may_be_stack;
use crate::engine::Engine;
use crate::engine::granularity::StepGranularity;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::Relaxed};

/// The engine whose threads may take the fast path, if there is one.
static ENGINE: AtomicPtr<Engine> = AtomicPtr::new(ptr::null_mut());

/// Whether hooks wipe the stack below them, because the await rule compares the bytes that hooks
/// leave there.
pub static WIPES: AtomicBool = AtomicBool::new(false);

impl Engine {
    /// Sets `ENGINE` and `WIPES` for an execution of a native program.
    pub(crate) fn begin_own(&mut self) {
        // These variables belong to the process, where models in Rust may run in parallel.
        if self.config.native.is_none() {
            return;
        }
        WIPES.store(self.names.has_wiped_stacks(), Relaxed);
        let passes = self.guests.native.is_simple && self.granularity == StepGranularity::Accesses;
        let passes = passes && !self.watch.sees_all();
        let engine = if passes {
            &raw mut *self
        } else {
            ptr::null_mut()
        };
        if ENGINE.load(Relaxed) != engine {
            ENGINE.store(engine, Relaxed);
        }
    }
}

/// Returns whether a plain read at this place may skip [`read`](super::read). This is possible only
/// if no other thread uses the memory now. In addition, the visit must be left out
/// (`leaves_out_plain_read`), or be the thread's first visit of this place since its last effect.
/// If the result is true, this call has counted the read, and has recorded the visit unless it is
/// left out. Only a thread of the program may call this.
#[inline(always)]
pub fn reads_own(address: usize, length: usize, code: usize) -> bool {
    // SAFETY: the engine is alive while its threads run, and is not used elsewhere meanwhile.
    let Some(engine) = (unsafe { ENGINE.load(Relaxed).as_mut() }) else {
        return false;
    };
    engine.thread().life.code = code;
    !is_below_frame(address)
        && engine.passes(address, length)
        && engine.visits_plainly(code)
        && engine.begin_passing()
}

/// Returns whether a further read of an operation may skip [`read_on`](super::read_on).
#[inline(always)]
pub fn reads_on_own(address: usize, length: usize) -> bool {
    // SAFETY: as above.
    let engine = unsafe { ENGINE.load(Relaxed).as_mut() };
    engine.is_some_and(|engine| engine.passes(address, length) && engine.begin_passing())
}

/// Returns whether a plain write may skip [`write()`](super::write).
#[inline(always)]
pub fn writes_own(address: usize, length: usize, code: usize) -> bool {
    // SAFETY: as above.
    let Some(engine) = (unsafe { ENGINE.load(Relaxed).as_mut() }) else {
        return false;
    };
    let is_own = !is_below_frame(address) && engine.passes(address, length);
    let is_own = is_own && engine.takes_effect_simply(address) && engine.begin_passing();
    if is_own {
        engine.thread().life.code = code;
    }
    is_own
}

/// Checks whether the address may be in the frame of a function that has returned, on the running
/// thread's stack.
#[inline(always)]
fn is_below_frame(address: usize) -> bool {
    /// An address within this distance below the frame may be in an ended frame. The total size of
    /// frames is rarely larger.
    const NEAR: usize = 1 << 20;
    // SAFETY: the running hook has written `FRAME`.
    let frame = unsafe { super::FRAME }.addr();
    frame.wrapping_sub(address) < NEAR
}

impl Engine {
    /// Checks whether, as far as is known, only the running thread uses the memory now.
    #[inline(always)]
    fn passes(&mut self, address: usize, length: usize) -> bool {
        match self.races_plain() {
            true => self.is_unshared(address, length) || self.is_before_threads(address),
            false => self.is_on_private_stack(address, length),
        }
    }

    /// Checks whether no thread but `main` has started yet, and the memory cannot be on a stack,
    /// where frames may have ended.
    #[inline(always)]
    fn is_before_threads(&self, address: usize) -> bool {
        self.started().len() == 1 && !may_be_stack(address)
    }

    /// Counts the access. Returns false if it exceeds the limit.
    #[inline(always)]
    fn begin_passing(&mut self) -> bool {
        match self.races_plain() {
            true => self.begin_raced_access(),
            false => self.begin_private_access(),
        }
    }
}
