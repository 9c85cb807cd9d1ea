//! The links and monitors of a process: the processes that are notified of its end. A *link*
//! relates two processes, and each is notified of the end of the other. A *monitor* belongs to a
//! *watcher*, and only the watcher is notified.
//!
//! Both processes record a link, each in a separate object, so linking writes one object and then
//! the other. The end of a process writes the process's own object and then notifies all related
//! processes.

/// The links and monitors of a process. `P` is a process and `A` its address.
///
/// Links and monitors are kept in the order of creation. The creation of a link or monitor is a
/// write, so this order is the same in all executions of a trace, independent of process ids.
#[derive(Clone, Debug)]
pub struct Relations<P, A> {
    links: Vec<(P, A)>,
    /// Watchers, each with the number of its monitor.
    monitors: Vec<((P, u32), A)>,
    has_ended: bool,
}

/// The processes to notify of an end, in the order in which they became related.
#[derive(Clone, Debug)]
pub struct Related<P, A> {
    /// Linked processes.
    pub links: Vec<(P, A)>,
    /// Watchers, each with the number of its monitor.
    pub monitors: Vec<((P, u32), A)>,
}

impl<P: Clone, A> Related<P, A> {
    /// Returns the linked processes and the watchers, in the same order.
    pub fn ids(&self) -> (Vec<P>, Vec<(P, u32)>) {
        related(&self.links, &self.monitors)
    }
}

fn related<P: Clone, A>(links: &[(P, A)], monitors: &[((P, u32), A)]) -> (Vec<P>, Vec<(P, u32)>) {
    let links = links.iter().map(|(linked, _)| linked.clone());
    let monitors = monitors.iter().map(|(monitor, _)| monitor.clone());
    (links.collect(), monitors.collect())
}

impl<P, A> Default for Relations<P, A> {
    fn default() -> Relations<P, A> {
        Relations {
            links: Vec::new(),
            monitors: Vec::new(),
            has_ended: false,
        }
    }
}

impl<P: PartialEq, A> Relations<P, A> {
    /// Links the process with another one, unless they are already linked or the process has ended.
    /// Returns whether the process itself is alive.
    pub fn link(&mut self, other: P, address: A) -> bool {
        let is_linked = self.links.iter().any(|(linked, _)| *linked == other);
        if !self.has_ended && !is_linked {
            self.links.push((other, address));
        }
        !self.has_ended
    }

    /// Removes a link.
    pub fn unlink(&mut self, other: &P) {
        self.links.retain(|(linked, _)| linked != other);
    }

    /// Adds a monitor with a number chosen by its watcher, unless the process has ended. Returns
    /// whether the process is alive.
    pub fn monitor(&mut self, watcher: P, number: u32, address: A) -> bool {
        if !self.has_ended {
            self.monitors.push(((watcher, number), address));
        }
        !self.has_ended
    }

    /// Removes a monitor of the watcher.
    pub fn demonitor(&mut self, watcher: P, number: u32) {
        let monitor = (watcher, number);
        self.monitors.retain(|(other, _)| *other != monitor);
    }

    /// Ends the process. Returns the processes to notify.
    pub fn end(&mut self) -> Related<P, A> {
        self.has_ended = true;
        Related {
            links: std::mem::take(&mut self.links),
            monitors: std::mem::take(&mut self.monitors),
        }
    }

    /// Returns the linked processes and the watchers, in the order in which they became related.
    pub fn related(&self) -> (Vec<P>, Vec<(P, u32)>)
    where
        P: Clone,
    {
        related(&self.links, &self.monitors)
    }

    /// Checks whether the process has not ended.
    pub fn is_alive(&self) -> bool {
        !self.has_ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_process_is_reported_to_all_that_are_still_related() {
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

    #[test]
    fn the_process_that_became_related_first_is_notified_first() {
        let mut relations = Relations::default();
        for other in [3, 1, 2, 3] {
            relations.link(other, ());
        }
        for (watcher, number) in [(8, 1), (7, 0), (8, 0)] {
            relations.monitor(watcher, number, ());
        }
        let related = relations.end();
        assert_eq!(related.links, [(3, ()), (1, ()), (2, ())]);
        let monitors = [((8, 1), ()), ((7, 0), ()), ((8, 0), ())];
        assert_eq!(related.monitors, monitors);
    }
}
