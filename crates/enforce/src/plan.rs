//! The plan: the constraints of one case of the safe trace (the part for certain inputs), as stops
//! of each thread. A stop is an event at which the thread waits, or for which another thread waits.

mod error;

use crate::path::{self, Path};
use explore::OpKind;
use report::{Case, Constraint, Inputs, Point, SafeTrace};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as Unknown, StrDeserializer};
use std::collections::BTreeMap;

pub use error::PlanError;

/// Greatest number of threads that can be enforced.
pub(crate) const MOST_THREADS: usize = 4096;

/// The constraints and choices in force.
///
/// ```
/// use enforce::Plan;
/// use report::{Case, Constraint, Point};
///
/// let first = Point { thread: 0, index: 2 };
/// let then = Point { thread: 1, index: 5 };
/// let case = Case {
///     threads: vec!["0".to_owned(), "0.0".to_owned()],
///     constraints: vec![Constraint { first, then }],
///     ..Case::default()
/// };
/// let plan = Plan::of(&case).unwrap();
/// assert_eq!(plan.number_of("0.0"), Some(1));
/// assert_eq!(plan.waits(1, 5), [first]);
/// assert_eq!(plan.next_stop(0, 0), 2, "its second event is waited for");
/// ```
#[derive(Clone, Default, Debug)]
pub struct Plan {
    /// The spawn paths of threads, sorted, with their numbers.
    named: Vec<(Path, usize)>,
    /// The hashes of these paths, sorted, with their positions in `named`.
    hashed: Vec<(u64, usize)>,
    /// The hashes of the paths of all parents, sorted, each with the highest number of a child that
    /// the file names, plus one.
    families: Vec<(u64, u32)>,
    threads: Vec<Stops>,
    /// Whether nothing is left to be enforced, alternatives included.
    is_free: bool,
}

/// The stops of a thread.
#[derive(Clone, Default, Debug)]
pub(crate) struct Stops {
    path: String,
    /// Sorted by index.
    stops: Vec<Stop>,
    /// The alternatives that events must take, by the numbers of the events.
    choices: BTreeMap<u32, u32>,
    /// The descriptions of events in the file, by the numbers of the events.
    described: BTreeMap<u32, Event>,
}

/// An event at which a thread stops.
#[derive(Clone, Default, Debug)]
pub(crate) struct Stop {
    /// The number of the event in its thread.
    pub(crate) index: u32,
    /// The events that must happen before this event.
    pub(crate) waits: Vec<Point>,
    /// Whether another thread waits for this event.
    pub(crate) is_first: bool,
    /// The kind of the event, if the file determines it: see [`Plan::kind`].
    pub(crate) kind: Option<OpKind>,
}

/// An event as the file describes it.
#[derive(Clone, Debug)]
struct Event {
    /// `None` if this version has no kind of this name.
    kind: Option<OpKind>,
    text: String,
}

impl Plan {
    /// Builds the plan of a file for these inputs.
    ///
    /// # Errors
    /// Returns an error if the inputs were not verified, or if the file cannot be enforced.
    pub fn for_inputs(trace: &SafeTrace, inputs: &Inputs) -> Result<Plan, PlanError> {
        let case = trace
            .case(inputs)
            .ok_or_else(|| PlanError::Inputs(inputs.clone()))?;
        Plan::of(case)
    }

    /// Builds the plan of a case.
    ///
    /// # Errors
    /// Returns an error if the case cannot be enforced.
    pub fn of(case: &Case) -> Result<Plan, PlanError> {
        if case.threads.len() > MOST_THREADS {
            return Err(PlanError::Threads(case.threads.len()));
        }
        let mut named = Vec::new();
        let is_free = case.is_complete || case.events_of_prefix == 0 && case.constraints.is_empty();
        // If no thread ever has to wait, no thread has to be identified.
        if !is_free || !case.constraints.is_empty() || !case.choices.is_empty() {
            for (number, path) in case.threads.iter().enumerate() {
                let parsed = path::parse(path).ok_or_else(|| PlanError::Path(path.clone()))?;
                named.push((parsed, number));
            }
            named.sort_unstable();
        }
        let mut plan = Plan {
            hashed: hashed(&named),
            families: families(&named),
            named,
            threads: case.threads.iter().map(|path| Stops::named(path)).collect(),
            is_free,
        };
        for &Constraint { first, then } in &case.constraints {
            plan.of_thread(first)?.at(first.index).is_first = true;
            plan.of_thread(then)?.at(then.index).waits.push(first);
        }
        for choice in &case.choices {
            let choices = &mut plan.of_thread(choice.at)?.choices;
            choices.insert(choice.at.index, choice.alternative);
        }
        for event in &case.events {
            let text = match &event.place {
                Some(place) => format!("{} at {place}", event.operation),
                None => event.operation.clone(),
            };
            let kind = kind(&event.kind);
            let described = &mut plan.of_thread(event.at)?.described;
            described.insert(event.at.index, Event { kind, text });
        }
        for number in 0..plan.threads.len() {
            for position in 0..plan.threads[number].stops.len() {
                let index = plan.threads[number].stops[position].index;
                plan.threads[number].stops[position].kind = plan.kind(number, index);
            }
        }
        Ok(plan)
    }

    /// Returns the plan that enforces nothing.
    pub(crate) fn free() -> Plan {
        Plan {
            is_free: true,
            ..Plan::default()
        }
    }

    fn of_thread(&mut self, point: Point) -> Result<&mut Stops, PlanError> {
        let stops = self.threads.get_mut(point.thread as usize);
        stops.ok_or(PlanError::Point(point))
    }

    /// Returns the number of the thread with this spawn path, or `None` if the file does not name
    /// it.
    pub fn number_of(&self, path: &str) -> Option<usize> {
        self.number(&path::parse(path)?)
    }

    /// Returns the number of the thread with this parsed spawn path.
    fn number(&self, path: &Path) -> Option<usize> {
        let found = self.named.binary_search_by(|(named, _)| named.cmp(path));
        found.ok().map(|position| self.named[position].1)
    }

    /// Returns the number of the thread whose spawn path has this hash and satisfies `is_path`, or
    /// `None` if the file does not name such a thread.
    #[inline]
    pub(crate) fn number_by(&self, hash: u64, is_path: impl Fn(&[u32]) -> bool) -> Option<usize> {
        let from = self.hashed.partition_point(|&(family, _)| family < hash);
        let same = self.hashed[from..]
            .iter()
            .take_while(|&&(family, _)| family == hash);
        // Different paths may have the same hash.
        let mut found = same.map(|&(_, position)| &self.named[position]);
        found
            .find(|(path, _)| is_path(path))
            .map(|&(_, number)| number)
    }

    /// Checks whether the file may name a child with the number `children`, or a higher number, of
    /// the thread whose path has this hash.
    #[inline]
    pub(crate) fn has_more_children(&self, hash: u64, children: u32) -> bool {
        let found = self
            .families
            .binary_search_by_key(&hash, |&(family, _)| family);
        found.is_ok_and(|position| self.families[position].1 > children)
    }

    /// Returns the numbers of the threads that the file names below `parent`: the children from
    /// `child` on, and their descendants.
    pub(crate) fn children_from(
        &self,
        parent: &Path,
        child: u32,
    ) -> impl Iterator<Item = usize> + '_ {
        let (mut first, depth) = (parent.clone(), parent.len());
        first.push(child);
        let from = self.named.partition_point(|(path, _)| *path < first);
        let named = self.named[from..].iter();
        named
            .take_while(move |(path, _)| path.starts_with(&first[..depth]))
            .map(|&(_, number)| number)
    }

    /// Returns the spawn path of a thread.
    pub fn path(&self, number: usize) -> &str {
        self.threads.get(number).map_or("?", |stops| &stops.path)
    }

    /// Returns the number of threads that the file names.
    pub(crate) fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Returns the events that must happen before an event of a thread.
    pub fn waits(&self, number: usize, index: u32) -> &[Point] {
        let stops = self.stops(number);
        let stop = stops.and_then(|stops| stops.get(stops.position_from(index), index));
        stop.map_or(&[], |stop| &stop.waits)
    }

    /// Returns the thread's next event, after this index, that waits or for which another thread
    /// waits. Returns [`u64::MAX`] if there is no such event.
    pub fn next_stop(&self, number: usize, index: u32) -> u64 {
        let stops = self.stops(number);
        stops.map_or(u64::MAX, |stops| {
            stops.index_of(stops.position_from(index.saturating_add(1)))
        })
    }

    /// Returns the stops of a thread.
    pub(crate) fn stops(&self, number: usize) -> Option<&Stops> {
        self.threads.get(number)
    }

    /// Checks whether the thread has a stop at this event or later.
    pub(crate) fn is_inside(&self, number: usize, index: u32) -> bool {
        self.next_stop(number, index.saturating_sub(1)) != u64::MAX
    }

    /// Returns the alternative that an event must take, or `None` if it may take any alternative.
    pub(crate) fn alternative(&self, number: Option<usize>, index: u32) -> Option<u32> {
        let stops = number.and_then(|number| self.threads.get(number));
        let chosen = stops.and_then(|stops| stops.choices.get(&index)).copied();
        chosen.or((!self.is_free).then_some(0))
    }

    /// Returns the kind of an event if the event lies in the part of its thread for which the file
    /// determines the kinds. This part ends with the last event that is a choice or for which other
    /// threads wait.
    pub(crate) fn kind(&self, number: usize, index: u32) -> Option<OpKind> {
        let stops = self.threads.get(number)?;
        let last_first = stops.stops.iter().rfind(|stop| stop.is_first);
        let is_certain = last_first.is_some_and(|last| index <= last.index)
            || stops
                .choices
                .keys()
                .last()
                .is_some_and(|&last| index <= last);
        stops.described.get(&index).filter(|_| is_certain)?.kind
    }

    /// Describes an event for the user: its number, thread and, if known, operation.
    pub fn describe(&self, point: Point) -> String {
        let stops = self.threads.get(point.thread as usize);
        let event = stops.and_then(|stops| stops.described.get(&point.index));
        let path = self.path(point.thread as usize);
        match event {
            Some(event) => format!("event {} of thread {path} ({})", point.index, event.text),
            None => format!("event {} of thread {path}", point.index),
        }
    }
}

/// Returns the hashes of the paths, sorted, with their positions.
fn hashed(named: &[(Path, usize)]) -> Vec<(u64, usize)> {
    let hash = |(position, (path, _)): (usize, &(Path, usize))| Some((path::hash(path)?, position));
    let mut hashed: Vec<(u64, usize)> = named.iter().enumerate().filter_map(hash).collect();
    hashed.sort_unstable();
    hashed
}

/// Returns the hashes of all parents of these paths, sorted, each with its greatest child plus one.
fn families(named: &[(Path, usize)]) -> Vec<(u64, u32)> {
    let mut families: BTreeMap<u64, u32> = BTreeMap::new();
    for (path, _) in named {
        for (depth, child) in path.iter().enumerate() {
            if let Some(above) = path::hash(&path[..depth]) {
                let children = families.entry(above).or_default();
                *children = (*children).max(child.saturating_add(1));
            }
        }
    }
    families.into_iter().collect()
}

/// Returns the kind with this name in a file, or `None` if there is no such kind.
fn kind(name: &str) -> Option<OpKind> {
    let name: StrDeserializer<'_, Unknown> = name.into_deserializer();
    OpKind::deserialize(name).ok()
}

impl Stops {
    fn named(path: &str) -> Stops {
        Stops {
            path: path.to_owned(),
            ..Stops::default()
        }
    }

    /// Returns the position of the first stop at or after this event.
    pub(crate) fn position_from(&self, index: u32) -> usize {
        self.stops.partition_point(|stop| stop.index < index)
    }

    /// Returns the same as [`position_from`](Stops::position_from), but faster if the result is
    /// `likely`.
    #[inline]
    pub(crate) fn position_near(&self, likely: usize, index: u32) -> usize {
        let is_behind = |position: usize| {
            let stop = self.stops.get(position);
            stop.is_none_or(|stop| stop.index >= index)
        };
        match likely {
            0 if is_behind(0) => 0,
            1.. if is_behind(likely) && !is_behind(likely - 1) => likely,
            _ => self.position_from(index),
        }
    }

    /// Returns the stop at this position if the stop belongs to this event.
    #[inline]
    pub(crate) fn get(&self, position: usize, index: u32) -> Option<&Stop> {
        let stop = self.stops.get(position);
        stop.filter(|stop| stop.index == index)
    }

    /// Returns the event of the stop at this position, or [`u64::MAX`] if there is no stop.
    #[inline]
    pub(crate) fn index_of(&self, position: usize) -> u64 {
        let stop = self.stops.get(position);
        stop.map_or(u64::MAX, |stop| u64::from(stop.index))
    }

    /// Returns the stop at an event, and adds a stop if there is none.
    fn at(&mut self, index: u32) -> &mut Stop {
        let position = self.position_from(index);
        if self.get(position, index).is_none() {
            let stop = Stop {
                index,
                ..Stop::default()
            };
            self.stops.insert(position, stop);
        }
        &mut self.stops[position]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::Choice;

    fn point(thread: u32, index: u32) -> Point {
        Point { thread, index }
    }

    fn case(constraints: &[(Point, Point)]) -> Case {
        Case {
            threads: vec!["0".to_owned(), "0.0".to_owned()],
            constraints: constraints
                .iter()
                .map(|&(first, then)| Constraint { first, then })
                .collect(),
            events_of_prefix: 9,
            ..Case::default()
        }
    }

    #[test]
    fn a_thread_stops_where_it_waits_and_where_it_is_waited_for() {
        let plan = Plan::of(&case(&[
            (point(0, 3), point(1, 2)),
            (point(1, 4), point(0, 5)),
        ]))
        .unwrap();
        let stops = |number| {
            let mut stops = Vec::new();
            let mut next = plan.next_stop(number, 0);
            while next != u64::MAX {
                stops.push(next);
                next = plan.next_stop(number, next as u32);
            }
            stops
        };
        assert_eq!(stops(0), [3, 5]);
        assert_eq!(stops(1), [2, 4]);
        assert_eq!(stops(2), [0; 0]);
        let is_first = |index| {
            let stops = plan.stops(0).unwrap();
            stops
                .get(stops.position_near(0, index), index)
                .unwrap()
                .is_first
        };
        assert!(is_first(3) && !is_first(5));
        assert!(plan.is_inside(0, 5) && !plan.is_inside(0, 6));
    }

    #[test]
    fn an_unspecified_choice_is_the_first_alternative_as_long_as_something_is_enforced() {
        let mut case = case(&[]);
        case.choices.push(Choice {
            at: point(1, 2),
            alternative: 3,
        });
        let plan = Plan::of(&case).unwrap();
        assert_eq!(plan.alternative(Some(1), 2), Some(3));
        assert_eq!(plan.alternative(Some(1), 3), Some(0));
        assert_eq!(plan.alternative(None, 3), Some(0));
        case.choices.clear();
        case.is_complete = true;
        assert_eq!(Plan::of(&case).unwrap().alternative(Some(1), 2), None);
    }

    #[test]
    fn a_point_of_no_thread_is_an_error() {
        let damaged = case(&[(point(7, 1), point(0, 1))]);
        let error = Plan::of(&damaged).unwrap_err();
        assert!(error.to_string().contains("no thread 7"), "{error}");
    }

    #[test]
    fn the_threads_beneath_a_thread_are_found_from_a_child_on() {
        let case = Case {
            threads: ["0", "0.1", "0.10", "0.2", "0.2.0", "1"]
                .map(str::to_owned)
                .to_vec(),
            ..case(&[(point(0, 1), point(1, 1))])
        };
        let plan = Plan::of(&case).unwrap();
        let main = path::parse("0").unwrap();
        let beneath = |child| plan.children_from(&main, child).collect::<Vec<_>>();
        assert_eq!(beneath(0), [1, 3, 4, 2]);
        assert_eq!(beneath(2), [3, 4, 2]);
        assert_eq!(beneath(11), [0; 0]);
        let hash = path::hash(&main).unwrap();
        assert!(plan.has_more_children(hash, 10) && !plan.has_more_children(hash, 11));
        let is = |path: &'static [u32]| move |given: &[u32]| given == path;
        assert_eq!(
            plan.number_by(path::hash(&[0, 2]).unwrap(), is(&[0, 2])),
            Some(3)
        );
        assert_eq!(
            plan.number_by(path::hash(&[0, 2]).unwrap(), is(&[0, 3])),
            None
        );
        assert_eq!(
            plan.number_by(path::hash(&[0, 3]).unwrap(), is(&[0, 3])),
            None
        );
    }

    #[test]
    fn an_invalid_spawn_path_is_an_error() {
        let case = Case {
            threads: vec!["0.x".to_owned()],
            ..case(&[(point(0, 1), point(0, 2))])
        };
        let error = Plan::of(&case).unwrap_err();
        assert!(
            error.to_string().contains("\"0.x\" is not a thread"),
            "{error}"
        );
    }

    #[test]
    fn kinds_are_recognized_by_their_names() {
        assert_eq!(
            kind(&format!("{:?}", OpKind::MutexRequest)),
            Some(OpKind::MutexRequest)
        );
        assert_eq!(kind("Dance"), None);
    }

    #[test]
    fn inputs_that_were_not_verified_are_named() {
        let trace = SafeTrace::default();
        let inputs = Inputs::from([("x".to_owned(), 4)]);
        let error = Plan::for_inputs(&trace, &inputs).unwrap_err();
        assert!(error.to_string().contains("x = 4"), "{error}");
    }
}
