//! A thread of the model as a stackful coroutine with its own stack.
//!
//! The coroutine lives as long as the model. When its thread has ended, the coroutine is suspended
//! at its root. In the next execution, it runs the thread with the same name again, on the same
//! stack.

use crate::engine::stack::{GUARD, Room};
use corosensei::stack::{DefaultStack, Stack};
use corosensei::trap::CoroutineTrapHandler;
use corosensei::{CoroutineResult, Yielder};
use explore::ThreadId;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

type Coroutine = corosensei::Coroutine<(), (), (), Room>;

/// The handle by which the code of a coroutine suspends itself.
pub(crate) type Suspender = Yielder<(), ()>;

/// The code of a coroutine: a function that runs the threads that the engine assigns to the
/// coroutine.
#[derive(Clone, Copy)]
pub(crate) struct Root {
    pub(crate) run: fn(NonNull<()>, &Suspender),
    /// The engine, which outlives the coroutine.
    pub(crate) engine: NonNull<()>,
}

/// A coroutine that runs one thread after the other.
pub(crate) struct Fibre {
    /// `None` only while the coroutine is being recreated.
    coroutine: Option<Coroutine>,
    /// The address above the stack, which grows down from there.
    base: usize,
    /// The lowest address, which is that of the guard page.
    limit: usize,
    /// The lowest address that the thread may write. The stack below it is guarded, too.
    lowest: usize,
}

/// A copy of a suspended coroutine.
pub(crate) struct SavedFibre {
    /// The bytes of the coroutine itself.
    coroutine: Bytes,
    /// The content of its stack, down from the base.
    stack: Vec<u8>,
    /// The lowest address that the thread could write at the time of the copy.
    lowest: usize,
}

/// The bytes of a coroutine.
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

/// Runs `work` on a separate stack, because the stack of the running thread may be small and is
/// compared afterwards.
pub fn on_own_stack<R>(work: impl FnOnce() -> R) -> R {
    const SIZE: usize = 1 << 20;
    let stack = DefaultStack::new(SIZE)
        .unwrap_or_else(|error| panic!("no memory for another stack: {error}"));
    corosensei::on_stack(stack, work)
}

/// The bytes below the stack pointer of a suspended coroutine that may be in use (the red zone of
/// the ABI).
const RED_ZONE: usize = 128;

/// Whether stacks are executable, as the program's linker flags may require.
static ARE_EXECUTABLE: AtomicBool = AtomicBool::new(false);

/// Makes all stacks that are created from now on executable.
pub fn make_stacks_executable() {
    ARE_EXECUTABLE.store(true, Relaxed);
}

impl Fibre {
    /// Creates a coroutine that has not run yet. If `thread` is given, the stack lies at the fixed
    /// address of this thread's stack, if that is free.
    pub(crate) fn new(root: Root, stack_size: usize, thread: Option<ThreadId>) -> Fibre {
        let stack = Room::new(stack_size, thread)
            .unwrap_or_else(|error| panic!("no memory for the stack of another thread: {error}"));
        let base = stack.base().get();
        let limit = stack.limit().get();
        let fibre = Fibre {
            coroutine: Some(on(stack, root)),
            base,
            limit,
            lowest: limit + GUARD,
        };
        if ARE_EXECUTABLE.load(Relaxed) {
            allow(fibre.lowest, base);
        }
        fibre
    }

    /// Limits the stack to the given number of bytes. The thread must not have begun.
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

    /// Runs the coroutine until it suspends itself. Returns false if a trap (a signal, see `trap`)
    /// ended it.
    #[inline(always)]
    pub(crate) fn resume(&mut self) -> bool {
        let coroutine = self.coroutine.as_mut().expect("a fibre has a coroutine");
        match coroutine.resume(()) {
            CoroutineResult::Yield(()) => true,
            CoroutineResult::Return(()) => false,
        }
    }

    /// Frees the stack, so that another stack can use its place.
    pub(crate) fn end(&mut self) {
        if let Some(mut coroutine) = self.coroutine.take() {
            // SAFETY: the coroutine is suspended at its root, where it owns nothing, or was
            // abandoned.
            unsafe { coroutine.force_reset() };
        }
    }

    /// Discards the content of the stack, which leaks, and begins at the root again.
    pub(crate) fn begin_again(&mut self, root: Root) {
        let mut coroutine = self.coroutine.take().expect("a fibre has a coroutine");
        // SAFETY: nothing on the stack is used any more. Values that its frames own leak, which is
        // sound. Other threads do not touch values borrowed from the stack, because they end before
        // this thread.
        unsafe { coroutine.force_reset() };
        self.coroutine = Some(on(coroutine.into_stack(), root));
    }

    /// Copies the coroutine with the part of its stack that is in use, and at least `depth` bytes
    /// of the stack, if it is that large.
    pub(crate) fn save(&self, copy: &mut SavedFibre, depth: usize) {
        let in_use = self.stack_pointer() - RED_ZONE;
        let start = in_use.min(self.base - depth).max(self.lowest());
        // SAFETY: the coroutine is suspended, so its stack is in use from the stack pointer on and
        // nothing writes to it. A copy treats coroutine and stack as bytes, which only `restore`
        // reads.
        unsafe {
            copy.coroutine = *self.bytes();
            copy.lowest = self.lowest;
            copy.stack.clear();
            let stack = std::slice::from_raw_parts(start as *const u8, self.base - start);
            copy.stack.extend_from_slice(stack);
        }
    }

    /// Restores the coroutine to the point of the copy. Discards the current content of its stack.
    pub(crate) fn restore(&mut self, copy: &SavedFibre) {
        self.guard_below(copy.lowest);
        let start = self.base - copy.stack.len();
        let target = (&raw mut self.coroutine).cast();
        // SAFETY: the bytes are a copy of this coroutine, made while it was suspended at that
        // point, and the coroutine has had the same stack ever since. Nothing that its frames own
        // is used twice: all memory of the program is restored with them.
        unsafe {
            *target = copy.coroutine;
            (start as *mut u8).copy_from_nonoverlapping(copy.stack.as_ptr(), copy.stack.len());
        }
    }

    /// Returns the stack pointer of the suspended coroutine. The coroutine has stored it in one of
    /// its own words: the one with the smallest value that is an address in its stack.
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

    /// Returns the bytes of the coroutine itself.
    ///
    /// # Safety
    ///
    /// Nothing may change the coroutine while the bytes are used.
    unsafe fn bytes(&self) -> &Bytes {
        // SAFETY: as promised by the caller. The coroutine consists of pointers and has no padding.
        unsafe { &*(&raw const self.coroutine).cast() }
    }

    /// Returns the part of the stack that is in use.
    ///
    /// # Safety
    ///
    /// The coroutine must be suspended, and must not be resumed while the slice is used.
    pub(crate) unsafe fn in_use(&self) -> &[u8] {
        let start = self.stack_pointer();
        // SAFETY: nothing writes to the stack of a suspended coroutine.
        unsafe { std::slice::from_raw_parts(start as *const u8, self.base - start) }
    }

    /// Returns the address of the guard page, below all addresses of the stack.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Returns the address above the first frame of the thread.
    pub(crate) fn base(&self) -> usize {
        self.base
    }

    /// Returns the lowest address that can be written.
    pub(crate) fn lowest(&self) -> usize {
        self.lowest
    }

    /// Returns the number of bytes of the stack.
    pub(crate) fn room(&self) -> usize {
        self.base - self.lowest()
    }

    /// Checks whether the address is in the guarded part below the stack, where accesses are
    /// forbidden.
    pub(crate) fn is_guard(&self, address: usize) -> bool {
        (self.limit..self.lowest).contains(&address)
    }

    /// Returns the handler with which a signal handler ends the coroutine. Returns `None` if the
    /// signal arrives while the coroutine is being recreated.
    pub(crate) fn trap_handler(&self) -> Option<CoroutineTrapHandler<()>> {
        Some(self.coroutine.as_ref()?.trap_handler())
    }
}

/// Makes a part of a stack accessible.
fn allow(start: usize, end: usize) {
    let execution = match ARE_EXECUTABLE.load(Relaxed) {
        true => libc::PROT_EXEC,
        false => 0,
    };
    protect(start, end, libc::PROT_READ | libc::PROT_WRITE | execution);
}

fn protect(start: usize, end: usize, access: libc::c_int) {
    // SAFETY: these are whole pages of a coroutine's stack that are not in use.
    let result = unsafe { libc::mprotect(start as *mut libc::c_void, end - start, access) };
    assert_eq!(result, 0, "the system changes how a stack may be accessed");
}

impl Drop for Fibre {
    fn drop(&mut self) {
        self.end();
    }
}

fn on(stack: Room, root: Root) -> Coroutine {
    Coroutine::with_stack(stack, move |suspender: &Suspender, ()| {
        (root.run)(root.engine, suspender);
    })
}
