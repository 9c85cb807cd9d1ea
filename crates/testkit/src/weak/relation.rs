//! Relations between at most 64 events, as in the definitions of memory models.

/// A relation: for each event, the set of events that it leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Relation(Vec<u64>);

impl Relation {
    /// Returns the pairs for which the condition holds.
    pub(super) fn of(size: usize, holds: impl Fn(usize, usize) -> bool) -> Relation {
        let row = |from| {
            (0..size)
                .filter(|&to| holds(from, to))
                .map(|to| 1 << to)
                .sum()
        };
        Relation((0..size).map(row).collect())
    }

    /// Returns the identity on a set: `[S]`.
    pub(super) fn on(size: usize, holds: impl Fn(usize) -> bool) -> Relation {
        Relation::of(size, |from, to| from == to && holds(from))
    }

    /// `self ∪ other`
    pub(super) fn or(&self, other: &Relation) -> Relation {
        Relation(
            self.0
                .iter()
                .zip(&other.0)
                .map(|(own, other)| own | other)
                .collect(),
        )
    }

    /// `self ∩ other`
    pub(super) fn and(&self, other: &Relation) -> Relation {
        Relation(
            self.0
                .iter()
                .zip(&other.0)
                .map(|(own, other)| own & other)
                .collect(),
        )
    }

    /// `self; other`
    pub(super) fn then(&self, other: &Relation) -> Relation {
        let row = |own: &u64| {
            let reached = (0..self.0.len()).filter(|middle| own >> middle & 1 == 1);
            reached.fold(0, |row, middle| row | other.0[middle])
        };
        Relation(self.0.iter().map(row).collect())
    }

    /// `self?`
    pub(super) fn or_same(&self) -> Relation {
        self.or(&Relation::on(self.0.len(), |_| true))
    }

    /// `self⁺`
    pub(super) fn plus(&self) -> Relation {
        let mut all = self.clone();
        loop {
            let more = all.or(&all.then(&all));
            if more == all {
                return all;
            }
            all = more;
        }
    }

    /// `self*`
    pub(super) fn star(&self) -> Relation {
        self.plus().or_same()
    }

    pub(super) fn has(&self, from: usize, to: usize) -> bool {
        self.0[from] >> to & 1 == 1
    }

    pub(super) fn is_irreflexive(&self) -> bool {
        (0..self.0.len()).all(|event| !self.has(event, event))
    }

    pub(super) fn is_acyclic(&self) -> bool {
        self.plus().is_irreflexive()
    }
}
