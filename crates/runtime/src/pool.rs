//! Objects of one kind that are recycled from execution to execution.

/// Items by their number in the execution at hand; those of earlier executions keep their memory.
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

impl<T> Pool<T> {
    /// The number of one more item: an old one made new by `clear`, or a fresh one.
    pub(crate) fn add(&mut self, clear: impl FnOnce(&mut T), fresh: impl FnOnce() -> T) -> u32 {
        match self.items.get_mut(self.used) {
            Some(item) => clear(item),
            None => self.items.push(fresh()),
        }
        self.used += 1;
        u32::try_from(self.used - 1).expect("an execution has less than 2^32 objects")
    }

    /// The item with this number.
    pub(crate) fn get(&self, number: u32) -> &T {
        &self.items[number as usize]
    }

    /// The item with this number.
    pub(crate) fn get_mut(&mut self, number: u32) -> &mut T {
        &mut self.items[number as usize]
    }

    /// Whether the execution has no items.
    pub(crate) fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// The items of the execution.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.items[..self.used].iter()
    }

    /// Copies the items of the execution.
    pub(crate) fn save(&self, copy: &mut Vec<T>)
    where
        T: Clone,
    {
        copy.clear();
        copy.extend_from_slice(&self.items[..self.used]);
    }

    /// Puts the items back that were copied.
    pub(crate) fn restore(&mut self, copy: &[T])
    where
        T: Clone,
    {
        self.used = copy.len();
        self.items[..copy.len()].clone_from_slice(copy);
    }

    /// Forgets the items of the execution.
    pub(crate) fn clear(&mut self) {
        self.used = 0;
    }
}
