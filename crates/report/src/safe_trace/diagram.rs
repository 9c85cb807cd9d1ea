//! Shows safe schedules as an execution: the events in constraints, in an order that keeps the
//! constraints.

use super::{Case, Point};
use crate::interleaving::{Interleaving, Row};
use std::collections::{BTreeMap, BTreeSet};

impl Case {
    /// Returns the events in constraints and choices, with a column for each thread. Each row names
    /// the rows that must precede it.
    pub fn diagram(&self) -> Interleaving {
        let constraints = self.constraints.iter();
        let points = constraints.flat_map(|constraint| [constraint.first, constraint.then]);
        let chosen = self.choices.iter().map(|choice| choice.at);
        let left: BTreeSet<Point> = points.chain(chosen).collect();
        let threads: BTreeSet<u32> = left.iter().map(|point| point.thread).collect();
        let threads: Vec<u32> = threads.into_iter().collect();
        let mut rows = Vec::new();
        let mut done: BTreeMap<Point, usize> = BTreeMap::new();
        while let Some(point) = self.next(&left, &done) {
            let column = threads.iter().position(|&thread| thread == point.thread);
            let described = self.events.iter().find(|event| event.at == point);
            let before = self
                .constraints
                .iter()
                .filter(|constraint| constraint.then == point);
            let choice = self.choices.iter().find(|choice| choice.at == point);
            let choice = choice.map(|choice| format!(" (alternative {})", choice.alternative));
            let event = format!("event {}", point.index);
            let operation = described.map_or(event, |described| described.operation.clone());
            done.insert(point, rows.len());
            rows.push(Row {
                thread: column.expect("each thread of an event has a column"),
                text: format!("{operation}{}", choice.unwrap_or_default()),
                location: described.and_then(|described| described.place.clone()),
                after: before
                    .filter_map(|constraint| done.get(&constraint.first).copied())
                    .collect(),
                ..Row::default()
            });
        }
        Interleaving {
            threads: threads
                .iter()
                .map(|&thread| self.thread_name(thread))
                .collect(),
            ends: vec![String::new(); threads.len()],
            rows,
            ..Interleaving::default()
        }
    }

    /// Returns an event that is not done but whose predecessors are. Returns `None` only if all
    /// events are done, because constraints that form a cycle are refused.
    fn next(&self, all: &BTreeSet<Point>, done: &BTreeMap<Point, usize>) -> Option<Point> {
        let mut left = all.iter().filter(|point| !done.contains_key(point));
        left.find(|&&point| {
            let mut before = self
                .constraints
                .iter()
                .filter(|constraint| constraint.then == point);
            let mut points = all.iter();
            let is_first = !points.any(|other| {
                other.thread == point.thread
                    && other.index < point.index
                    && !done.contains_key(other)
            });
            is_first && before.all(|constraint| done.contains_key(&constraint.first))
        })
        .copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::safe_trace::Constraint;

    #[test]
    fn events_come_in_an_order_that_keeps_the_constraints() {
        let point = |thread, index| Point { thread, index };
        let constraint = |first, then| Constraint { first, then };
        let case = Case {
            threads: vec!["0.0".to_owned(), "0.1".to_owned()],
            constraints: vec![
                constraint(point(1, 2), point(0, 1)),
                constraint(point(0, 3), point(1, 4)),
            ],
            ..Case::default()
        };
        let diagram = case.diagram();
        let texts: Vec<(usize, &str)> = diagram
            .rows
            .iter()
            .map(|row| (row.thread, row.text.as_str()))
            .collect();
        assert_eq!(
            texts,
            [
                (1, "event 2"),
                (0, "event 1"),
                (0, "event 3"),
                (1, "event 4")
            ]
        );
        let after: Vec<&[usize]> = diagram.rows.iter().map(|row| &row.after[..]).collect();
        assert_eq!(after, [&[][..], &[0], &[], &[2]]);
        assert_eq!(diagram.threads, ["thread 0.0", "thread 0.1"]);
    }
}
