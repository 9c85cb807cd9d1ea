//! Detects constraints that no run can keep, because they order events in a cycle.

use super::{Constraint, Point};
use std::collections::{BTreeMap, BTreeSet};

/// Checks whether these constraints, with the order of events in each thread, contain a cycle.
pub(super) fn is_cyclic(constraints: &[Constraint]) -> bool {
    let ends = constraints
        .iter()
        .flat_map(|constraint| [constraint.first, constraint.then]);
    let points: BTreeSet<Point> = ends.collect();
    let ordered: Vec<Point> = points.iter().copied().collect();
    let within = ordered.windows(2).map(|pair| (pair[0], pair[1]));
    let within = within.filter(|(first, then)| first.thread == then.thread);
    let across = constraints
        .iter()
        .map(|constraint| (constraint.first, constraint.then));
    let mut successors: BTreeMap<Point, Vec<Point>> = BTreeMap::new();
    let mut waits: BTreeMap<Point, usize> = BTreeMap::new();
    for (first, then) in within.chain(across) {
        successors.entry(first).or_default().push(then);
        *waits.entry(then).or_default() += 1;
    }
    // Removes events that wait for no other event. If any events remain, they form cycles or come
    // after a cycle.
    let is_ready = |point: &Point| !waits.contains_key(point);
    let mut ready: Vec<Point> = points.iter().copied().filter(is_ready).collect();
    let mut taken = 0;
    while let Some(point) = ready.pop() {
        taken += 1;
        for then in successors.remove(&point).unwrap_or_default() {
            let left = waits.entry(then).or_default();
            *left -= 1;
            if *left == 0 {
                ready.push(then);
            }
        }
    }
    taken < points.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constraint(first: (u32, u32), then: (u32, u32)) -> Constraint {
        Constraint {
            first: first.into(),
            then: then.into(),
        }
    }

    #[test]
    fn cycles_go_through_constraints_and_threads() {
        let crossed = [constraint((0, 2), (1, 1)), constraint((1, 2), (0, 1))];
        assert!(is_cyclic(&crossed));
        let straight = [constraint((0, 1), (1, 2)), constraint((1, 1), (0, 2))];
        assert!(!is_cyclic(&straight));
        assert!(is_cyclic(&[constraint((0, 2), (0, 1))]));
        assert!(is_cyclic(&[constraint((0, 1), (0, 1))]));
        assert!(!is_cyclic(&[constraint((0, 1), (0, 2))]));
        let ring = [(0, 1), (1, 2), (2, 0)].map(|(a, b)| constraint((a, 1), (b, 1)));
        assert!(is_cyclic(&ring) && !is_cyclic(&ring[..2]));
        assert!(!is_cyclic(&[ring[0], ring[0]]), "one is given twice");
        assert!(!is_cyclic(&[]));
    }
}
