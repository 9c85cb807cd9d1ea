//! Copies and restores the state that an execution changes outside the crate `runtime`, for
//! savepoints: copies of an execution's state, from which later executions continue.

use crate::gate::{self, Own};
use crate::library_calls::last_call;
use crate::{
    audit, block_numbers, blocks, cancel, clock, dead_values, ending, heap, image, keys, pages,
    reached, rwlock, threads,
};
use native::{has_unseen_writes, is_confined};
use runtime::ThreadId;
use runtime::native::Memory;
use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;

/// The memory of the program, and the state of its threads.
pub(crate) struct ProgramMemory;

/// A copy.
#[derive(Default)]
struct Copy {
    image: Vec<u8>,
    pages: pages::Saved,
    heap: heap::Saved,
    block_numbers: block_numbers::Saved,
    /// Thread-local memory of all threads, one after the other.
    blocks: Vec<u8>,
    threads: threads::Saved,
    keys: keys::Saved,
    cancel: Vec<u32>,
    rwlocks: rwlock::Saved,
    ending: ending::Saved,
    clocks: clock::Carried,
}

/// Whether the program changes only the state in a [`Copy`]; computed at the first query.
static IS_CONFINED: Own<Option<bool>> = Own::new(None);

/// Whether functions called by the program write to its memory without a hook; computed at the
/// first query.
static HAS_UNSEEN_WRITES: Own<Option<bool>> = Own::new(None);

/// Whether the program calls one of [`SWITCHING_STACKS`]; computed at the first query.
static SWITCHES_STACKS: Own<Option<bool>> = Own::new(None);

const SWITCHING_STACKS: [&str; 3] = ["makecontext", "sigaltstack", "sigstack"];

/// Checks whether the program changes only the state in a [`Copy`].
pub(crate) fn is_confined_program() -> bool {
    let is_confined = || is_so(is_confined);
    *IS_CONFINED.get().get_or_insert_with(is_confined)
}

/// Checks whether the program uses state that the C library keeps per thread.
pub(crate) fn uses_thread_state() -> bool {
    is_so(native::uses_thread_state)
}

/// Answers a question about the files of the program and its libraries.
fn is_so(question: fn(&Path, &[PathBuf]) -> bool) -> bool {
    let [program, libraries @ ..] = image::files() else {
        unreachable!("the program is an image")
    };
    question(program, libraries)
}

impl Memory for ProgramMemory {
    fn size(&self) -> Option<usize> {
        let blocks = blocks::size() * threads::count();
        is_confined_program().then(|| image::size() + pages::size() + heap::size() + blocks)
    }

    fn has_unseen_writes(&self) -> bool {
        *HAS_UNSEEN_WRITES
            .get()
            .get_or_insert_with(|| is_so(has_unseen_writes))
    }

    fn switches_stacks(&self) -> bool {
        *SWITCHES_STACKS
            .get()
            .get_or_insert_with(|| image::calls_any(&SWITCHING_STACKS))
    }

    fn visit(&self, visit: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        let _neutral = gate::WithoutErrno::begin();
        image::visit(visit) && heap::visit(visit) && blocks::visit(visit)
    }

    fn clear_dead(&self, start: usize, stack: &mut [u8]) {
        dead_values::clear(start, stack);
    }

    fn audit(&self, is_on: bool) {
        audit::switch(is_on);
    }

    fn mark_code(&self, is_on: bool) {
        reached::switch(is_on);
    }

    fn unreached(&self) -> Vec<String> {
        reached::unreached()
    }

    fn visit_shared(&self, visit: &mut dyn FnMut(&[u8]) -> bool) {
        audit::visit_shared(visit);
    }

    fn is_of_system(&self, address: usize) -> bool {
        audit::is_of_system(address)
    }

    fn append_state(&self, thread: ThreadId, state: &mut Vec<u8>) {
        let index = thread.index();
        state.extend_from_slice(&gate::errno_at(threads::pointer_of(index)).to_ne_bytes());
        threads::append_state(index, state);
    }

    fn save(&self, old: Option<Box<dyn Any>>) -> Box<dyn Any> {
        let old = old.and_then(|old| old.downcast::<Copy>().ok());
        let mut copy = old.unwrap_or_default();
        image::save_to(&mut copy.image);
        pages::save_to(&mut copy.pages);
        heap::save_to(&mut copy.heap);
        block_numbers::save_to(&mut copy.block_numbers);
        threads::save_to(&mut copy.threads);
        copy.blocks.clear();
        for pointer in thread_pointers(&copy.threads) {
            blocks::save_to(pointer, &mut copy.blocks);
        }
        keys::save_to(&mut copy.keys);
        cancel::save_to(&mut copy.cancel, threads::count());
        rwlock::save_to(&mut copy.rwlocks);
        ending::save_to(&mut copy.ending);
        clock::save_to(&mut copy.clocks);
        copy
    }

    fn restore(&self, copy: &dyn Any) {
        let copy: &Copy = copy.downcast_ref().expect("a copy is one of ours");
        image::restore_from(&copy.image);
        pages::restore_from(&copy.pages);
        heap::restore_from(&copy.heap);
        block_numbers::restore_from(&copy.block_numbers);
        gate::IS_THROWN.store(false, Relaxed);
        threads::restore_from(&copy.threads);
        let mut blocks = &copy.blocks[..];
        for pointer in thread_pointers(&copy.threads) {
            blocks = blocks::restore_from(pointer, blocks);
        }
        keys::restore_from(&copy.keys);
        last_call::forget();
        cancel::restore_from(&copy.cancel);
        rwlock::restore_from(&copy.rwlocks);
        ending::restore_from(&copy.ending);
        clock::restore_from(&copy.clocks);
    }
}

/// Returns the thread pointer that the checker and the main thread share, and those of the threads
/// that have their own.
fn thread_pointers(threads: &threads::Saved) -> impl Iterator<Item = usize> {
    std::iter::once(gate::checker()).chain(threads.pointers())
}
