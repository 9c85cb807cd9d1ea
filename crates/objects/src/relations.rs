//! Who wants to know of the end of a process: its links and monitors.
//!
//! A link is known to both processes, each of whose relations is an object of its own: to link is a write of
//! the one, then of the other. The end of a process writes its relations, and then tells all of them.

use std::collections::BTreeMap;

/// The links and monitors of a process; `P` is a process and `A` how to reach it.
#[derive(Clone, Debug)]
pub struct Relations<P, A> {
    links: BTreeMap<P, A>,
    /// By watcher and its number of the monitor.
    monitors: BTreeMap<(P, u32), A>,
    has_ended: bool,
}

/// Who is to be told of an end.
#[derive(Clone, Debug)]
pub struct Related<P, A> {
    /// Linked processes.
    pub links: Vec<(P, A)>,
    /// Watchers with their numbers of the monitor.
    pub monitors: Vec<((P, u32), A)>,
}

impl<P: Ord, A> Default for Relations<P, A> {
    fn default() -> Relations<P, A> {
        Relations {
            links: BTreeMap::new(),
            monitors: BTreeMap::new(),
            has_ended: false,
        }
    }
}

impl<P: Ord, A> Relations<P, A> {
    /// Links the process with another; whether it has not ended.
    pub fn link(&mut self, other: P, address: A) -> bool {
        if !self.has_ended {
            self.links.insert(other, address);
        }
        !self.has_ended
    }

    /// Takes a link away.
    pub fn unlink(&mut self, other: &P) {
        self.links.remove(other);
    }

    /// Another process watches this one; whether it has not ended.
    pub fn monitor(&mut self, watcher: P, number: u32, address: A) -> bool {
        if !self.has_ended {
            self.monitors.insert((watcher, number), address);
        }
        !self.has_ended
    }

    /// Another process watches no longer.
    pub fn demonitor(&mut self, watcher: P, number: u32) {
        self.monitors.remove(&(watcher, number));
    }

    /// The process ends; gives who is to be told.
    pub fn end(&mut self) -> Related<P, A> {
        self.has_ended = true;
        Related {
            links: std::mem::take(&mut self.links).into_iter().collect(),
            monitors: std::mem::take(&mut self.monitors).into_iter().collect(),
        }
    }

    /// Whether the process has not ended.
    pub fn is_alive(&self) -> bool {
        !self.has_ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_told_to_those_who_are_related_still() {
        let mut relations = Relations::default();
        for other in 1..=3 {
            assert!(relations.link(other, ()));
        }
        relations.unlink(&2);
        relations.monitor(7, 0, ());
        relations.monitor(7, 1, ());
        relations.demonitor(7, 0);
        let related = relations.end();
        assert_eq!(related.links, [(1, ()), (3, ())]);
        assert_eq!(related.monitors, [((7, 1), ())]);
        assert!(!relations.is_alive() && !relations.link(4, ()) && !relations.monitor(7, 2, ()));
    }
}
