//! Conditions on the inputs of a program, and how to describe a set of inputs by a condition.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The values of a program's inputs, by name.
pub type Inputs = BTreeMap<String, i64>;

/// A condition on inputs, which holds if one of its conjunctions holds.
///
/// ```
/// use report::{Condition, Inputs};
///
/// let assignments: Vec<Inputs> = (0..3)
///     .flat_map(|x| (0..3).map(move |y| Inputs::from([("x".to_owned(), x), ("y".to_owned(), y)])))
///     .collect();
/// let same = Condition::describing(&assignments, |inputs| inputs["x"] == inputs["y"]);
/// assert_eq!(same.to_string(), "x == y");
/// assert!(same.holds(&assignments[0]));
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Condition {
    any: Vec<Vec<Comparison>>,
}

/// Compares an input with another input or with a number.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
struct Comparison {
    input: String,
    relation: Relation,
    with: Operand,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
enum Relation {
    #[serde(rename = "==")]
    Equal,
    #[serde(rename = "!=")]
    Different,
    #[serde(rename = "<")]
    Less,
    #[serde(rename = "<=")]
    AtMost,
    #[serde(rename = ">=")]
    AtLeast,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Operand {
    Number(i64),
    Input(String),
}

/// The largest number of comparisons that are combined into conjunctions of two.
const MOST_COMPARISONS: usize = 400;

impl Condition {
    /// Returns the condition that holds for all inputs.
    pub fn always() -> Condition {
        Condition { any: vec![vec![]] }
    }

    /// Returns a short condition that separates the wanted assignments from the others. All must
    /// assign the same inputs. The conjunctions are chosen greedily. Each has at most two
    /// comparisons or, if no such conjunction is suitable, all values of an assignment.
    pub fn describing(assignments: &[Inputs], is_wanted: impl Fn(&Inputs) -> bool) -> Condition {
        let wanted: Vec<bool> = assignments.iter().map(is_wanted).collect();
        let mut open = wanted.clone();
        let mut any = Vec::new();
        let candidates = conjunctions(assignments, &wanted);
        while let Some(first) = open.iter().position(|&is_open| is_open) {
            let covers = |candidate: &Candidate| {
                let both = candidate.holds.iter().zip(&open);
                both.filter(|&(&holds, &is_open)| holds && is_open).count()
            };
            // Candidates are sorted by length, so this candidate is the shortest of those that
            // cover the most assignments.
            let best = candidates
                .iter()
                .rev()
                .max_by_key(|candidate| covers(candidate));
            let is_worth_it = |best: &&Candidate| best.conjunction.is_empty() || covers(best) > 1;
            let (conjunction, holds) = match best.filter(is_worth_it) {
                Some(best) => (best.conjunction.clone(), best.holds.clone()),
                None => exactly(assignments, first),
            };
            for (is_open, holds) in open.iter_mut().zip(holds) {
                *is_open &= !holds;
            }
            any.push(conjunction);
        }
        Condition { any }
    }

    /// Checks whether the inputs fulfil the condition. They must include all inputs that the
    /// condition mentions.
    pub fn holds(&self, inputs: &Inputs) -> bool {
        let mut any = self.any.iter();
        any.any(|all| all.iter().all(|comparison| comparison.holds(inputs)))
    }
}

/// A conjunction that holds only for wanted assignments.
struct Candidate {
    conjunction: Vec<Comparison>,
    /// For each assignment, whether the conjunction holds.
    holds: Vec<bool>,
}

/// Returns the conjunctions of at most two comparisons that hold only for wanted assignments,
/// sorted by length.
fn conjunctions(assignments: &[Inputs], wanted: &[bool]) -> Vec<Candidate> {
    let comparisons: Vec<Candidate> = comparisons(assignments)
        .into_iter()
        .map(|comparison| Candidate {
            holds: assignments
                .iter()
                .map(|inputs| comparison.holds(inputs))
                .collect(),
            conjunction: vec![comparison],
        })
        .collect();
    let is_sound = |holds: &[bool]| {
        holds
            .iter()
            .zip(wanted)
            .all(|(&holds, &is_wanted)| !holds || is_wanted)
    };
    let mut sound = Vec::new();
    if is_sound(&vec![true; assignments.len()]) {
        sound.push(Candidate {
            conjunction: Vec::new(),
            holds: vec![true; assignments.len()],
        });
    }
    let paired = &comparisons[..comparisons.len().min(MOST_COMPARISONS)];
    for (index, one) in paired.iter().enumerate() {
        for other in &paired[index + 1..] {
            let both = one.holds.iter().zip(&other.holds);
            let holds: Vec<bool> = both.map(|(&one, &other)| one && other).collect();
            if is_sound(&holds) {
                let conjunction = [&one.conjunction[..], &other.conjunction[..]].concat();
                sound.push(Candidate { conjunction, holds });
            }
        }
    }
    let single = comparisons
        .into_iter()
        .filter(|comparison| is_sound(&comparison.holds));
    sound.extend(single);
    sound.sort_by_key(|candidate| candidate.conjunction.len());
    sound
}

/// Returns the possible comparisons of one input or of two inputs.
fn comparisons(assignments: &[Inputs]) -> Vec<Comparison> {
    use Relation::{AtLeast, AtMost, Different, Equal, Less};
    let Some(first) = assignments.first() else {
        return Vec::new();
    };
    let names: Vec<&String> = first.keys().collect();
    let mut comparisons = Vec::new();
    for (index, &input) in names.iter().enumerate() {
        for &other in &names[index + 1..] {
            let with = |relation, left: &String, right: &String| Comparison {
                input: left.clone(),
                relation,
                with: Operand::Input(right.clone()),
            };
            comparisons.extend(
                [Equal, Different, Less, AtMost].map(|relation| with(relation, input, other)),
            );
            comparisons.extend([Less, AtMost].map(|relation| with(relation, other, input)));
        }
    }
    for input in names {
        let mut values: Vec<i64> = assignments.iter().map(|inputs| inputs[input]).collect();
        values.sort_unstable();
        values.dedup();
        for value in values {
            comparisons.extend(
                [Equal, AtMost, AtLeast, Different].map(|relation| Comparison {
                    input: input.clone(),
                    relation,
                    with: Operand::Number(value),
                }),
            );
        }
    }
    comparisons
}

/// Returns the conjunction of all values of an assignment, and for which assignments it holds.
fn exactly(assignments: &[Inputs], index: usize) -> (Vec<Comparison>, Vec<bool>) {
    let inputs = &assignments[index];
    let conjunction = inputs.iter().map(|(input, &value)| Comparison {
        input: input.clone(),
        relation: Relation::Equal,
        with: Operand::Number(value),
    });
    let holds = assignments.iter().map(|other| other == inputs).collect();
    (conjunction.collect(), holds)
}

impl Comparison {
    fn holds(&self, inputs: &Inputs) -> bool {
        let right = match &self.with {
            Operand::Number(number) => Some(*number),
            Operand::Input(input) => inputs.get(input).copied(),
        };
        let (Some(left), Some(right)) = (inputs.get(&self.input).copied(), right) else {
            return false;
        };
        match self.relation {
            Relation::Equal => left == right,
            Relation::Different => left != right,
            Relation::Less => left < right,
            Relation::AtMost => left <= right,
            Relation::AtLeast => left >= right,
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.any.iter().any(Vec::is_empty) {
            return f.write_str("always");
        }
        let all = |all: &Vec<Comparison>| {
            let words: Vec<String> = all.iter().map(Comparison::to_string).collect();
            words.join(" && ")
        };
        let any: Vec<String> = self.any.iter().map(all).collect();
        f.write_str(&any.join(" || "))
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let relation = match self.relation {
            Relation::Equal => "==",
            Relation::Different => "!=",
            Relation::Less => "<",
            Relation::AtMost => "<=",
            Relation::AtLeast => ">=",
        };
        match &self.with {
            Operand::Number(number) => write!(f, "{} {relation} {number}", self.input),
            Operand::Input(input) => write!(f, "{} {relation} {input}", self.input),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assignments(names: &[&str], values: i64) -> Vec<Inputs> {
        let mut all = vec![Inputs::new()];
        for name in names {
            let longer = all.iter().flat_map(|shorter| {
                (0..values).map(move |value| {
                    let mut longer = shorter.clone();
                    longer.insert((*name).to_owned(), value);
                    longer
                })
            });
            all = longer.collect();
        }
        all
    }

    #[test]
    fn sets_of_inputs_have_short_descriptions() {
        let two = assignments(&["x", "y"], 4);
        let text =
            |is_wanted: fn(&Inputs) -> bool| Condition::describing(&two, is_wanted).to_string();
        assert_eq!(text(|_| true), "always");
        assert_eq!(text(|inputs| inputs["x"] == inputs["y"]), "x == y");
        assert_eq!(text(|inputs| inputs["x"] != inputs["y"]), "x != y");
        assert_eq!(text(|inputs| inputs["y"] < inputs["x"]), "y < x");
        assert_eq!(text(|inputs| inputs["x"] >= 2), "x >= 2");
        assert_eq!(
            text(|inputs| inputs["x"] == 1 && inputs["y"] > inputs["x"]),
            "x < y && x == 1"
        );
    }

    #[test]
    fn every_set_of_inputs_is_described_exactly() {
        let three = assignments(&["a", "b", "c"], 2);
        for set in 0..256_u32 {
            let is_wanted = |inputs: &Inputs| {
                let index = three.iter().position(|other| other == inputs).unwrap();
                set >> index & 1 == 1
            };
            let condition = Condition::describing(&three, is_wanted);
            for inputs in &three {
                assert_eq!(
                    condition.holds(inputs),
                    is_wanted(inputs),
                    "{set}: {condition} of {inputs:?}"
                );
            }
        }
    }

    #[test]
    fn where_there_is_one_assignment_it_holds_always() {
        let one = assignments(&["x"], 1);
        assert_eq!(Condition::describing(&one, |_| true), Condition::always());
    }

    #[test]
    fn a_condition_on_an_input_that_is_missing_does_not_hold() {
        let one = assignments(&["x"], 3);
        let condition = Condition::describing(&one, |inputs| inputs["x"] == 1);
        assert!(!condition.holds(&Inputs::new()));
        assert!(Condition::always().holds(&Inputs::new()));
    }
}
