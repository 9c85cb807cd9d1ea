//! The assignments of values to a program's inputs, and the verified case of each.

use crate::refusal::Refusal;
use report::{Case, Condition, Input, Inputs};

/// The maximum number of assignments.
const MOST: usize = 100_000;

/// All assignments, with their verified cases.
pub struct Assignments {
    inputs: Vec<Input>,
    all: Vec<Assignment>,
    /// The threads of all cases, so that a thread has the same number in all cases.
    threads: Vec<String>,
}

struct Assignment {
    values: Inputs,
    case: Option<Case>,
}

impl Assignments {
    /// Returns all assignments of values to these inputs.
    pub fn of(inputs: &[Input]) -> Result<Assignments, Refusal> {
        are_different(inputs)?;
        let mut all = vec![Inputs::new()];
        for input in inputs {
            let ways = input.highest.checked_sub(input.lowest);
            let ways = ways.and_then(|ways| usize::try_from(ways).ok()?.checked_add(1));
            let number = ways.and_then(|ways| ways.checked_mul(all.len()));
            if number.is_none_or(|number| number > MOST) {
                return Err(Refusal::Inputs {
                    input: input.name.clone(),
                    most: MOST,
                });
            }
            let longer = all.iter().flat_map(|shorter| {
                (input.lowest..=input.highest).map(move |value| {
                    let mut longer = shorter.clone();
                    longer.insert(input.name.clone(), value);
                    longer
                })
            });
            all = longer.collect();
        }
        let assignment = |values| Assignment { values, case: None };
        Ok(Assignments {
            inputs: inputs.to_vec(),
            all: all.into_iter().map(assignment).collect(),
            threads: Vec::new(),
        })
    }

    /// Adds an input and drops all cases, because the cases hold for no value of the new input.
    pub fn add(&mut self, input: Input) -> Result<(), Refusal> {
        self.inputs.push(input);
        *self = Assignments::of(&self.inputs)?;
        Ok(())
    }

    /// Returns the inputs in the order of their discovery.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Returns the values of an assignment.
    pub fn values(&self, index: usize) -> &Inputs {
        &self.all[index].values
    }

    /// Returns the number of assignments.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Checks whether everything is verified for an assignment.
    pub fn is_complete(&self, index: usize) -> bool {
        let case = self.all[index].case.as_ref();
        case.is_some_and(|case| case.is_complete)
    }

    /// Returns the condition that separates these assignments from others; `None` without inputs.
    pub fn condition(&self, indices: &[usize]) -> Option<String> {
        let values = |index: usize| self.all[index].values.clone();
        let all: Vec<Inputs> = (0..self.len()).map(values).collect();
        let chosen: Vec<Inputs> = indices.iter().copied().map(values).collect();
        let condition = || Condition::describing(&all, |values| chosen.contains(values));
        (!self.inputs.is_empty()).then(|| condition().to_string())
    }

    /// Records a verified case, unless its prefix is longer than that of the known case. Returns
    /// whether the constraints, the choices, the completeness or the prevented bugs have changed.
    pub fn take(&mut self, index: usize, case: Case) -> bool {
        let case = self.renumbered(case);
        let known = &mut self.all[index].case;
        // A search that starts again publishes longer prefixes first. Running programs may already
        // rely on the shorter prefix.
        let is_longer = |before: &Case| case.events_of_prefix > before.events_of_prefix;
        if known.as_ref().is_some_and(is_longer) {
            return false;
        }
        let is_better = known.as_ref().is_none_or(|before| {
            before.constraints != case.constraints
                || before.choices != case.choices
                || before.is_complete != case.is_complete
                || before.excluded != case.excluded
        });
        *known = Some(case);
        is_better
    }

    /// Records that the constraints of an assignment prevent this failure. Returns false if the
    /// assignment has no case.
    pub fn exclude(&mut self, index: usize, message: &str) -> bool {
        let known = &mut self.all[index].case;
        let excluded = known.as_mut().map(|case| &mut case.excluded);
        excluded.map(|all| all.push(message.to_owned())).is_some()
    }

    /// Returns the case with this struct's thread numbers.
    fn renumbered(&mut self, case: Case) -> Case {
        let number = |path: &String| {
            let known = self.threads.iter().position(|known| known == path);
            known.unwrap_or_else(|| {
                self.threads.push(path.clone());
                self.threads.len() - 1
            }) as u32
        };
        let numbers: Vec<u32> = case.threads.iter().map(number).collect();
        let threads = self.threads.clone();
        case.renumbered(threads, |thread| numbers[thread as usize])
    }

    /// Returns the number of constraints of an assignment, or `None` if nothing is verified for it.
    pub fn constraints(&self, index: usize) -> Option<usize> {
        let case = self.all[index].case.as_ref();
        case.map(|case| case.constraints.len())
    }

    /// Returns the verified cases. Assignments with the same constraints and choices are one case.
    pub fn cases(&self) -> Vec<Case> {
        let all: Vec<Inputs> = self
            .all
            .iter()
            .map(|assignment| assignment.values.clone())
            .collect();
        let mut merged: Vec<Case> = Vec::new();
        for case in self
            .all
            .iter()
            .filter_map(|assignment| assignment.case.as_ref())
        {
            match merged.iter_mut().find(|other| is_same(other, case)) {
                Some(other) => {
                    other.executions += case.executions;
                    other.is_complete &= case.is_complete;
                    let new = case.excluded.iter();
                    let new: Vec<String> = new
                        .filter(|message| !other.excluded.contains(message))
                        .cloned()
                        .collect();
                    other.excluded.extend(new);
                }
                None => merged.push(case.clone()),
            }
        }
        for case in &mut merged {
            case.threads.clone_from(&self.threads);
            let is_own = |values: &Inputs| {
                let assignment = self
                    .all
                    .iter()
                    .find(|assignment| assignment.values == *values);
                let assignment = assignment.and_then(|assignment| assignment.case.as_ref());
                assignment.is_some_and(|known| is_same(known, case))
            };
            case.condition = Condition::describing(&all, is_own);
        }
        merged
    }
}

/// Checks that each input has only one range.
fn are_different(inputs: &[Input]) -> Result<(), Refusal> {
    for (index, input) in inputs.iter().enumerate() {
        let mut before = inputs[..index].iter();
        if let Some(other) = before.find(|other| other.name == input.name) {
            return Err(Refusal::InputTwice {
                name: input.name.clone(),
                values: [other, input].map(|input| format!("{}..{}", input.lowest, input.highest)),
            });
        }
    }
    Ok(())
}

/// Checks whether both cases restrict runs in the same way.
fn is_same(one: &Case, other: &Case) -> bool {
    one.constraints == other.constraints && one.choices == other.choices
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::{Constraint, Point};

    fn input(name: &str, lowest: i64, highest: i64) -> Input {
        Input {
            name: name.to_owned(),
            lowest,
            highest,
        }
    }

    fn case(constraints: &[u32]) -> Case {
        let constraint = |&index: &u32| Constraint {
            first: Point { thread: 0, index },
            then: Point { thread: 1, index },
        };
        Case {
            threads: vec!["0".to_owned(), "0.1".to_owned()],
            constraints: constraints.iter().map(constraint).collect(),
            executions: 2,
            ..Case::default()
        }
    }

    #[test]
    fn assignments_with_equal_constraints_are_one_case() {
        let mut assignments = Assignments::of(&[input("x", 0, 2), input("y", 0, 2)]).unwrap();
        for index in 0..9 {
            let is_equal = assignments.values(index)["x"] == assignments.values(index)["y"];
            assert!(assignments.take(index, case(if is_equal { &[1] } else { &[] })));
        }
        let found: Vec<(String, u64)> = assignments
            .cases()
            .iter()
            .map(|case| (case.condition.to_string(), case.executions))
            .collect();
        assert_eq!(found, [("x == y".to_owned(), 6), ("x != y".to_owned(), 12)]);
    }

    #[test]
    fn a_prefix_that_is_longer_than_a_verified_one_is_no_news() {
        let of_prefix = |events_of_prefix, constraints: &[u32]| Case {
            events_of_prefix,
            ..case(constraints)
        };
        let mut assignments = Assignments::of(&[]).unwrap();
        assert!(assignments.take(0, of_prefix(4, &[1, 2])));
        assert!(assignments.take(0, of_prefix(3, &[1])));
        assert!(!assignments.take(0, of_prefix(4, &[1, 2])));
        assert_eq!(assignments.constraints(0), Some(1));
        assert!(assignments.take(0, of_prefix(0, &[])));
        assert!(assignments.exclude(0, "a bug"));
        assert_eq!(assignments.cases()[0].excluded, ["a bug"]);
    }

    #[test]
    fn an_assignment_that_nothing_is_known_of_has_no_case() {
        let mut assignments = Assignments::of(&[input("x", 0, 2)]).unwrap();
        assignments.take(1, case(&[]));
        let cases = assignments.cases();
        assert_eq!(cases[0].condition.to_string(), "x == 1");
    }

    #[test]
    fn too_many_assignments_are_refused() {
        assert!(Assignments::of(&[input("x", 0, i64::MAX)]).is_err());
        assert!(Assignments::of(&[input("x", i64::MIN, i64::MAX)]).is_err());
        assert!(Assignments::of(&[input("x", 0, 999), input("y", 0, 999)]).is_err());
    }
}
