//! A thread of the model as a stackful coroutine on a stack of its own.
//!
//! The coroutine lives as long as the model: when its thread has ended it is suspended at its root
//! and runs the thread of the same name in the next execution, at the same addresses.

use crate::engine::Engine;
use crate::root;
use crate::stack::{GUARD, Room};
use corosensei::stack::{DefaultStack, Stack};
use corosensei::trap::CoroutineTrapHandler;
use corosensei::{CoroutineResult, Yielder};
use explore::ThreadId;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

type Coroutine = corosensei::Coroutine<(), (), (), Room>;

/// What the code of a coroutine suspends itself with.
pub(crate) type Suspender = Yielder<(), ()>;

/// A coroutine that runs one thread after the other.
pub(crate) struct Fibre {
    /// None only while it is made anew.
    coroutine: Option<Coroutine>,
    base: usize,
    /// The lowest address, that of the guard page.
    limit: usize,
    /// The lowest address that the thread may write: what is below of the stack is guarded, too.
    lowest: usize,
}

/// A coroutine as it was when it was suspended.
pub(crate) struct SavedFibre {
    /// The bytes of the coroutine itself.
    coroutine: Bytes,
    /// What was on its stack, down from the base.
    stack: Vec<u8>,
    lowest: usize,
}

/// Those of a coroutine.
type Bytes = [u8; size_of::<Option<Coroutine>>()];

impl Default for SavedFibre {
    fn default() -> SavedFibre {
        SavedFibre {
            coroutine: [0; size_of::<Bytes>()],
            stack: Vec::new(),
            lowest: 0,
        }
    }
}

/// Works on a stack of its own: that of the thread that runs may be small, and is compared afterwards.
pub fn on_own_stack<R>(work: impl FnOnce() -> R) -> R {
    const SIZE: usize = 1 << 20;
    let stack = DefaultStack::new(SIZE)
        .unwrap_or_else(|error| panic!("no memory for one more stack: {error}"));
    corosensei::on_stack(stack, work)
}

/// Below the stack pointer of a suspended coroutine so much may be in use (the red zone of the ABI).
const RED_ZONE: usize = 128;

/// Whether programs may put code on their stacks, as they are linked.
static ARE_EXECUTABLE: AtomicBool = AtomicBool::new(false);

/// The stacks that are made from now on may hold code.
pub fn make_stacks_executable() {
    ARE_EXECUTABLE.store(true, Relaxed);
}

impl Fibre {
    /// A coroutine that has not run yet. Its stack is at the place of the thread, if that is given.
    pub(crate) fn new(
        engine: NonNull<Engine>,
        stack_size: usize,
        thread: Option<ThreadId>,
    ) -> Fibre {
        let stack = Room::new(stack_size, thread)
            .unwrap_or_else(|error| panic!("no memory for the stack of one more thread: {error}"));
        let base = stack.base().get();
        let limit = stack.limit().get();
        crate::native::meet_stack(limit, base);
        let fibre = Fibre {
            coroutine: Some(on(stack, engine)),
            base,
            limit,
            lowest: limit + GUARD,
        };
        if ARE_EXECUTABLE.load(Relaxed) {
            allow(fibre.lowest, base);
        }
        fibre
    }

    /// The thread, which has not begun, has so many bytes of the stack.
    pub(crate) fn narrow(&mut self, bytes: usize) {
        let lowest = self.base.saturating_sub(bytes) & !(GUARD - 1);
        self.guard_below(lowest.max(self.limit + GUARD));
    }

    fn guard_below(&mut self, lowest: usize) {
        if lowest > self.lowest {
            protect(self.lowest, lowest, libc::PROT_NONE);
        } else if lowest < self.lowest {
            allow(lowest, self.lowest);
        }
        self.lowest = lowest;
    }

    /// Runs on until the coroutine suspends itself; false if it came to its end by a trap.
    #[inline(always)]
    pub(crate) fn resume(&mut self) -> bool {
        let coroutine = self.coroutine.as_mut().expect("a fibre has a coroutine");
        match coroutine.resume(()) {
            CoroutineResult::Yield(()) => true,
            CoroutineResult::Return(()) => false,
        }
    }

    /// Gives the stack back, so that another one can lie there.
    pub(crate) fn end(&mut self) {
        if let Some(mut coroutine) = self.coroutine.take() {
            // SAFETY: the coroutine is suspended at its root, where it owns nothing, or was given up.
            unsafe { coroutine.force_reset() };
        }
    }

    /// Forgets what is on the stack and begins at the root again. What is on the stack leaks.
    pub(crate) fn begin_again(&mut self, engine: NonNull<Engine>) {
        let mut coroutine = self.coroutine.take().expect("a fibre has a coroutine");
        // SAFETY: nothing on the stack is used any more. What its frames own is leaked, which is
        // sound; what other threads borrowed from it, they do not touch, since they end before it.
        unsafe { coroutine.force_reset() };
        self.coroutine = Some(on(coroutine.into_stack(), engine));
    }

    /// Copies the coroutine, and so many bytes below its stack.
    pub(crate) fn save(&self, copy: &mut SavedFibre, below: usize) {
        let pointer = self.stack_pointer() - RED_ZONE.max(below);
        let start = pointer.max(self.lowest());
        // SAFETY: the coroutine is suspended, so that its stack is in use from there on and nobody writes to it; a
        // coroutine and its stack are bytes for a copy that only `restore` looks at.
        unsafe {
            copy.coroutine = *self.bytes();
            copy.lowest = self.lowest;
            copy.stack.clear();
            let stack = std::slice::from_raw_parts(start as *const u8, self.base - start);
            copy.stack.extend_from_slice(stack);
        }
    }

    /// Suspends the coroutine where it was when it was copied. What is on its stack is forgotten.
    pub(crate) fn restore(&mut self, copy: &SavedFibre) {
        self.guard_below(copy.lowest);
        let start = self.base - copy.stack.len();
        let target = (&raw mut self.coroutine).cast();
        // SAFETY: the bytes are those of this coroutine, which has had the same stack all along, when it was suspended
        // there. Nothing that its frames own is used twice: all memory of the program is put back with them.
        unsafe {
            *target = copy.coroutine;
            (start as *mut u8).copy_from_nonoverlapping(copy.stack.as_ptr(), copy.stack.len());
        }
    }

    /// The stack pointer of the suspended coroutine, which it keeps in itself: of all the addresses in there that are in
    /// its stack it is the lowest.
    fn stack_pointer(&self) -> usize {
        // SAFETY: as for `bytes`.
        let words = unsafe { self.bytes() }.chunks_exact(size_of::<usize>());
        let words = words.map(|word| {
            let word = word.try_into().expect("a chunk has the size of a word");
            usize::from_ne_bytes(word)
        });
        let in_stack = words.filter(|&word| (self.lowest()..self.base).contains(&word));
        in_stack.min().unwrap_or(self.base)
    }

    /// # Safety
    ///
    /// Nobody changes the coroutine meanwhile.
    unsafe fn bytes(&self) -> &Bytes {
        // SAFETY: as promised by the caller; it consists of pointers and has no padding.
        unsafe { &*(&raw const self.coroutine).cast() }
    }

    /// The part of the stack that is in use.
    ///
    /// # Safety
    ///
    /// The coroutine is suspended, and not resumed while the slice is used.
    pub(crate) unsafe fn in_use(&self) -> &[u8] {
        let start = self.stack_pointer();
        // SAFETY: nobody writes to the stack of a suspended coroutine.
        unsafe { std::slice::from_raw_parts(start as *const u8, self.base - start) }
    }

    /// The address above the first frame of the thread.
    pub(crate) fn base(&self) -> usize {
        self.base
    }

    /// The lowest address that can be written.
    pub(crate) fn lowest(&self) -> usize {
        self.lowest
    }

    /// Bytes of the stack.
    pub(crate) fn room(&self) -> usize {
        self.base - self.lowest()
    }

    /// Whether the address is below the stack, where nothing may be touched.
    pub(crate) fn is_guard(&self, address: usize) -> bool {
        (self.limit..self.lowest).contains(&address)
    }

    /// Ends the coroutine in a signal handler. There is none while it is made anew, where a signal may come, too.
    pub(crate) fn trap_handler(&self) -> Option<CoroutineTrapHandler<()>> {
        Some(self.coroutine.as_ref()?.trap_handler())
    }
}

/// A part of a stack can be used.
fn allow(start: usize, end: usize) {
    let execution = match ARE_EXECUTABLE.load(Relaxed) {
        true => libc::PROT_EXEC,
        false => 0,
    };
    protect(start, end, libc::PROT_READ | libc::PROT_WRITE | execution);
}

fn protect(start: usize, end: usize, access: libc::c_int) {
    // SAFETY: whole pages of the stack of a coroutine, which are not in use.
    let result = unsafe { libc::mprotect(start as *mut libc::c_void, end - start, access) };
    assert_eq!(result, 0, "the system changes how a stack may be accessed");
}

impl Drop for Fibre {
    fn drop(&mut self) {
        self.end();
    }
}

fn on(stack: Room, engine: NonNull<Engine>) -> Coroutine {
    Coroutine::with_stack(stack, move |suspender: &Suspender, ()| {
        root::run(engine, suspender)
    })
}
