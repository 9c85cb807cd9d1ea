//! The registered names of processes.
//!
//! All names are one object. A process can get a name only while it is alive, so the end of a
//! process is an access to this object, too.

use std::collections::{BTreeMap, BTreeSet};

/// The names and their owners. `P` is a process and `A` its address.
#[derive(Clone, Debug)]
pub struct Directory<P, A> {
    names: BTreeMap<String, (P, A)>,
    ended: BTreeSet<P>,
}

/// The reason why a name was not registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unregistered {
    /// Another process has the name.
    Taken,
    /// The process has ended.
    Ended,
}

impl<P: Ord, A> Default for Directory<P, A> {
    fn default() -> Directory<P, A> {
        Directory {
            names: BTreeMap::new(),
            ended: BTreeSet::new(),
        }
    }
}

impl<P: Ord, A: Clone> Directory<P, A> {
    /// Registers a name for a process, unless the name is taken or the process has ended.
    pub fn register(&mut self, name: &str, process: P, address: A) -> Result<(), Unregistered> {
        if self.ended.contains(&process) {
            return Err(Unregistered::Ended);
        }
        if self.names.contains_key(name) {
            return Err(Unregistered::Taken);
        }
        self.names.insert(name.to_owned(), (process, address));
        Ok(())
    }

    /// Removes a name. Returns whether a process had it.
    pub fn unregister(&mut self, name: &str) -> bool {
        self.names.remove(name).is_some()
    }

    /// Returns the address of the process with this name.
    pub fn whereis(&self, name: &str) -> Option<A> {
        self.names.get(name).map(|(_, address)| address.clone())
    }

    /// Returns the owner of each name, and the processes that have ended.
    pub fn owners(&self) -> (BTreeMap<String, P>, BTreeSet<P>)
    where
        P: Clone,
    {
        let names = self.names.iter();
        let owners = names.map(|(name, (owner, _))| (name.clone(), owner.clone()));
        (owners.collect(), self.ended.clone())
    }

    /// Records the end of the process and frees its names.
    pub fn end(&mut self, process: P) {
        self.names.retain(|_, (owner, _)| *owner != process);
        self.ended.insert(process);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_free_again_when_its_process_has_ended() {
        let mut directory = Directory::default();
        assert_eq!(directory.register("a", 1, 'x'), Ok(()));
        assert_eq!(directory.register("a", 2, 'y'), Err(Unregistered::Taken));
        directory.end(1);
        assert_eq!(directory.whereis("a"), None);
        assert_eq!(directory.register("b", 1, 'x'), Err(Unregistered::Ended));
        assert_eq!(directory.register("a", 2, 'y'), Ok(()));
        assert_eq!(directory.whereis("a"), Some('y'));
        assert!(directory.unregister("a") && !directory.unregister("a"));
    }
}
