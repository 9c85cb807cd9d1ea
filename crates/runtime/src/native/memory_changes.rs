//! The changes that a thread makes to the memory that it shares with other threads. Each of them is
//! an effect, which counts as progress for the await rule. Memory is compared only for threads that
//! have reached a spin loop and have had no effect since. A *segment* is the time between two
//! switches, in which only one thread runs.

use crate::engine::Engine;
use crate::engine::perform::silently;

/// Records that the front-end has changed the state of a lock in this memory of the program.
pub fn has_changed_lock(address: usize, length: usize) {
    silently(|engine| engine.hides_change(address, length));
}

impl Engine {
    /// Copies the memory at the beginning of a segment.
    pub(crate) fn copy_memory(&self, content: &mut Vec<u8>) {
        self.visit_memory(&mut |piece| {
            content.extend_from_slice(piece);
            true
        });
    }

    /// Records an effect of the running thread if memory has changed in this segment.
    pub(crate) fn record_changes_of_memory(&mut self) {
        if self.thread().life.guests.round.is_watched() && self.has_changed_memory() {
            self.thread().life.guests.round.take_effect();
        }
    }

    /// Checks whether the running thread has changed memory in this segment, other than its own
    /// stack.
    fn has_changed_memory(&self) -> bool {
        let mut rest = &self.guests.segment.content[..];
        let is_same = self.visit_memory(&mut |piece| match rest.split_at_checked(piece.len()) {
            Some((before, behind)) if before == piece => {
                rest = behind;
                true
            }
            Some(_) | None => false,
        });
        !is_same || !rest.is_empty()
    }

    /// Hides a change that the front-end has made to this memory from the comparison. The memory
    /// holds the state of a lock, and [`undone`](crate::watch::undone) tracks locks.
    fn hides_change(&mut self, address: usize, length: usize) {
        if !self.guests.segment.is_known() || !self.undoes_locks() {
            return;
        }
        let mut content = std::mem::take(&mut self.guests.segment.content);
        let mut rest = &mut content[..];
        self.visit_memory(&mut |piece| {
            let Some((before, behind)) =
                std::mem::take(&mut rest).split_at_mut_checked(piece.len())
            else {
                return false;
            };
            let start = address.wrapping_sub(piece.as_ptr().addr());
            let is_here = start < piece.len() && length <= piece.len() - start;
            if is_here {
                let fields = start..start + length;
                before[fields.clone()].copy_from_slice(&piece[fields]);
            }
            rest = behind;
            !is_here
        });
        self.guests.segment.content = content;
    }

    /// Passes the pieces of memory that the running thread shares with other threads to `visit`.
    /// Stops when `visit` returns false, and then returns false.
    fn visit_memory(&self, visit: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        let Some(native) = self.config.native else {
            return true;
        };
        native.memory.visit(visit)
            && self.started().iter().all(|&id| {
                let fibre = &self.threads[id.index()].fibre;
                // SAFETY: the thread is suspended, and the slice is not kept.
                id == self.running || visit(unsafe { fibre.in_use() })
            })
    }

    /// Records a write by the running thread to memory other than its own stack. Where memory is
    /// compared, the write counts as an effect only if the comparison does not cover it.
    #[inline(always)]
    pub(super) fn writes_memory(&mut self, address: usize) {
        if !self.thread().life.guests.round.is_watched() {
            self.thread().life.guests.round.set_effect(true);
        } else if !self.is_compared(address) {
            self.thread().life.guests.round.take_effect();
        }
    }

    #[cold]
    #[inline(never)]
    fn is_compared(&self, address: usize) -> bool {
        let mut is_outside = |piece: &[u8]| !piece.as_ptr_range().contains(&(address as *const u8));
        !self.visit_memory(&mut is_outside)
    }
}
