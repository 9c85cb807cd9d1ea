//! Who wants to know of the end of a process: its links and monitors.
//!
//! A link is known to both processes, each of whose relations is an object of its own: to link is a write of
//! the one, then of the other. The end of a process writes its relations, and then tells all of them.

/// The links and monitors of a process; `P` is a process and `A` how to reach it.
///
/// Both are kept in the order in which they were made. To make one is a write, so this order is the same in
/// all executions of a trace, whatever the ids of processes are.
#[derive(Clone, Debug)]
pub struct Relations<P, A> {
    links: Vec<(P, A)>,
    /// Watchers with their numbers of the monitor.
    monitors: Vec<((P, u32), A)>,
    has_ended: bool,
}

/// Who is to be told of an end, in the order in which they became related.
#[derive(Clone, Debug)]
pub struct Related<P, A> {
    /// Linked processes.
    pub links: Vec<(P, A)>,
    /// Watchers with their numbers of the monitor.
    pub monitors: Vec<((P, u32), A)>,
}

impl<P: Clone, A> Related<P, A> {
    /// Who is linked and who watches, in the same order.
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
    /// Links the process with another, unless it is linked already; whether it has not ended.
    pub fn link(&mut self, other: P, address: A) -> bool {
        let is_linked = self.links.iter().any(|(linked, _)| *linked == other);
        if !self.has_ended && !is_linked {
            self.links.push((other, address));
        }
        !self.has_ended
    }

    /// Takes a link away.
    pub fn unlink(&mut self, other: &P) {
        self.links.retain(|(linked, _)| linked != other);
    }

    /// Another process watches this one by a monitor with a number of its own; whether it has not ended.
    pub fn monitor(&mut self, watcher: P, number: u32, address: A) -> bool {
        if !self.has_ended {
            self.monitors.push(((watcher, number), address));
        }
        !self.has_ended
    }

    /// Another process watches no longer.
    pub fn demonitor(&mut self, watcher: P, number: u32) {
        let monitor = (watcher, number);
        self.monitors.retain(|(other, _)| *other != monitor);
    }

    /// The process ends; gives who is to be told.
    pub fn end(&mut self) -> Related<P, A> {
        self.has_ended = true;
        Related {
            links: std::mem::take(&mut self.links),
            monitors: std::mem::take(&mut self.monitors),
        }
    }

    /// Who is linked and who watches, in the order in which they became related.
    pub fn related(&self) -> (Vec<P>, Vec<(P, u32)>)
    where
        P: Clone,
    {
        related(&self.links, &self.monitors)
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

    #[test]
    fn who_became_related_first_is_told_first() {
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
