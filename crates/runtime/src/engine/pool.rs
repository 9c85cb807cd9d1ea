//! Objects of one kind that are recycled between executions.

use crate::engine::life::Life;
use objects::Object;

/// Items by their number in the current execution. Items beyond `used` belong to earlier
/// executions. Their memory is reused.
pub(crate) struct Pool<T> {
    items: Vec<T>,
    used: usize,
}

impl<T> Default for Pool<T> {
    fn default() -> Pool<T> {
        Pool {
            items: Vec::new(),
            used: 0,
        }
    }
}

impl<T: Clone> Life for Pool<T> {
    fn new() -> Pool<T> {
        Pool::default()
    }

    #[inline(always)]
    fn begin(&mut self) {
        self.clear();
    }

    #[inline]
    fn copy(&mut self, other: &Pool<T>) {
        self.used = other.used;
        if self.used == 0 {
            return;
        }
        let (copied, added) = other.items[..other.used].split_at(self.items.len().min(other.used));
        self.items[..copied.len()].clone_from_slice(copied);
        self.items.extend_from_slice(added);
    }
}

impl<T: Object> Pool<T> {
    /// Adds an object. Returns its number.
    pub(crate) fn create(&mut self, size: T::Size) -> u32 {
        self.add(|object| object.clear(size), || T::new(size))
    }
}

impl<T> Pool<T> {
    /// Adds an item: one of an earlier execution, which `clear` resets, or a new one from `fresh`.
    /// Returns its number.
    pub(crate) fn add(&mut self, clear: impl FnOnce(&mut T), fresh: impl FnOnce() -> T) -> u32 {
        match self.items.get_mut(self.used) {
            Some(item) => clear(item),
            None => self.items.push(fresh()),
        }
        self.used += 1;
        u32::try_from(self.used - 1).expect("an execution has fewer than 2^32 objects")
    }

    /// Returns the item with this number.
    pub(crate) fn get(&self, number: u32) -> &T {
        &self.items[number as usize]
    }

    /// Returns the item with this number.
    pub(crate) fn get_mut(&mut self, number: u32) -> &mut T {
        &mut self.items[number as usize]
    }

    /// Checks whether the execution has no items.
    pub(crate) fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Returns the items of the execution.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.items[..self.used].iter()
    }

    /// Discards the items of the execution.
    pub(crate) fn clear(&mut self) {
        self.used = 0;
    }
}
