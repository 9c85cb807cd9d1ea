//! Plain accesses of memory that a thread has to itself: most of all accesses, and nothing but a note for the await
//! rule.

use crate::engine::Engine;
use crate::grain::Grain;
use crate::model::Model;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::Relaxed};

/// The engine whose threads have such accesses pass, if any has.
static ENGINE: AtomicPtr<Engine> = AtomicPtr::new(ptr::null_mut());

/// Whether hooks wipe the stack behind them, since the await rule compares what they leave there.
pub static WIPES: AtomicBool = AtomicBool::new(false);

impl Model {
    /// An execution begins.
    pub(crate) fn begin_own(&mut self) {
        let engine = self.engine_mut();
        // What is written here is of the process, and models in Rust may run side by side.
        if engine.config.native.is_none() {
            return;
        }
        WIPES.store(engine.names.has_wiped_stacks(), Relaxed);
        let passes = engine.native.is_simple && engine.grain == Grain::Accesses;
        let passes = passes && !engine.watch.sees_all();
        let engine = if passes { engine } else { ptr::null_mut() };
        if ENGINE.load(Relaxed) != engine {
            ENGINE.store(engine, Relaxed);
        }
    }
}

/// Whether a plain read at this place needs [`read`](super::read) to be called: false if the memory is the own one of
/// the thread that runs, which has not been at this place since its last effect. Called by a thread of the program.
#[inline(always)]
pub fn reads_own(address: usize, length: usize, code: usize) -> bool {
    // SAFETY: the engine is alive while its threads run, and nobody else uses it meanwhile.
    let Some(engine) = (unsafe { ENGINE.load(Relaxed).as_mut() }) else {
        return false;
    };
    engine.thread().code = code;
    !is_below_frame(address)
        && engine.passes(address, length)
        && engine.visits(code)
        && engine.begin_passing()
}

/// The same for [`read_on`](super::read_on).
#[inline(always)]
pub fn reads_on_own(address: usize, length: usize) -> bool {
    // SAFETY: as above.
    let engine = unsafe { ENGINE.load(Relaxed).as_mut() };
    engine.is_some_and(|engine| engine.passes(address, length) && engine.begin_passing())
}

/// The same for a plain write.
#[inline(always)]
pub fn writes_own(address: usize, length: usize, code: usize) -> bool {
    // SAFETY: as above.
    let Some(engine) = (unsafe { ENGINE.load(Relaxed).as_mut() }) else {
        return false;
    };
    let is_own = !is_below_frame(address) && engine.passes(address, length);
    let is_own = is_own && engine.takes_effect_simply(address) && engine.begin_passing();
    if is_own {
        engine.thread().code = code;
    }
    is_own
}

/// Whether a function that has returned may have had its frame here, on the stack of the thread that runs.
#[inline(always)]
fn is_below_frame(address: usize) -> bool {
    /// Frames of more bytes together are rare.
    const NEAR: usize = 1 << 20;
    // SAFETY: the hook that runs has written it.
    let frame = unsafe { super::FRAME }.addr();
    frame.wrapping_sub(address) < NEAR
}

impl Engine {
    /// Whether the thread that runs may have the memory to itself.
    #[inline(always)]
    fn passes(&mut self, address: usize, length: usize) -> bool {
        match self.races_plain() {
            true => self.is_unshared(address, length),
            false => self.is_on_private_stack(address, length),
        }
    }

    /// Counts the access; false if that is one too many.
    #[inline(always)]
    fn begin_passing(&mut self) -> bool {
        match self.races_plain() {
            true => self.begin_raced_access(),
            false => self.begin_private_access(),
        }
    }
}
