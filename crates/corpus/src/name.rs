//! Names of programs for users: `NAME` or `NAME:SIZE`, with several sizes separated by commas.

use crate::entry::{Entry, Instance, Parameter};
use crate::{all, find};

/// Reads `NAME` or `NAME:SIZE`. Sizes that are left out have their default values.
pub fn parse(text: &str) -> Result<Instance, NameError> {
    let (name, sizes) = match text.split_once(':') {
        Some((name, sizes)) => (name, Some(sizes)),
        None => (text, None),
    };
    let entry = find(name).ok_or_else(|| unknown(name))?;
    let mut instance = entry.with_defaults().sizes().to_vec();
    let given: Vec<&str> = sizes
        .map(|sizes| sizes.split(',').collect())
        .unwrap_or_default();
    if given.len() > entry.parameters.len() {
        return Err(NameError::TooManySizes {
            name: entry.name,
            allowed: allowed(entry),
            given: given.len(),
        });
    }
    for ((size, parameter), text) in instance.iter_mut().zip(entry.parameters).zip(given) {
        *size = read_size(entry, parameter, text)?;
    }
    Ok(entry.with_sizes(&instance).expect("every size was checked"))
}

/// The error for a program that does not exist, or that cannot have this size.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NameError {
    /// No program has this name.
    #[error("there is no program {name:?}{}", suggestion(nearest))]
    UnknownProgram {
        /// The requested name.
        name: String,
        /// Programs with similar names, the most similar first.
        nearest: Vec<&'static str>,
    },
    /// More sizes than the program has.
    #[error("{name} {allowed}; you gave {given}")]
    TooManySizes {
        /// The program.
        name: &'static str,
        /// The sizes that it has.
        allowed: String,
        /// The number of sizes given.
        given: usize,
    },
    /// A size that is not a number or not within its limits.
    #[error("{text:?} is not a size for {name}: {parameter} is a number from {min} to {max}")]
    BadSize {
        /// The program.
        name: &'static str,
        /// The text given.
        text: String,
        /// The parameter for which the text was given.
        parameter: &'static str,
        /// The smallest value of the parameter.
        min: u32,
        /// The greatest value of the parameter.
        max: u32,
    },
}

fn read_size(entry: &Entry, parameter: &Parameter, text: &str) -> Result<u32, NameError> {
    match text.parse() {
        Ok(size) if parameter.allows(size) => Ok(size),
        Ok(_) | Err(_) => Err(NameError::BadSize {
            name: entry.name,
            text: text.to_owned(),
            parameter: parameter.name,
            min: parameter.min,
            max: parameter.max,
        }),
    }
}

fn allowed(entry: &Entry) -> String {
    match entry.parameters {
        [] => "has no sizes".to_owned(),
        [only] => format!("has one size, {}", only.name),
        several => {
            let names: Vec<&str> = several.iter().map(|parameter| parameter.name).collect();
            format!("has {} sizes, {}", several.len(), names.join(" and "))
        }
    }
}

/// Number of similar names that are shown.
const SUGGESTIONS: usize = 3;

fn unknown(name: &str) -> NameError {
    let mut nearest: Vec<(usize, &'static str)> = all()
        .iter()
        .map(|entry| (distance(name, entry.name), entry.name))
        .filter(|(distance, candidate)| *distance <= candidate.len() / 2)
        .collect();
    nearest.sort_unstable();
    nearest.truncate(SUGGESTIONS);
    let nearest = nearest.into_iter().map(|(_, name)| name).collect();
    NameError::UnknownProgram {
        name: name.to_owned(),
        nearest,
    }
}

fn suggestion(nearest: &[&str]) -> String {
    match nearest {
        [] => "; `mazurka list` shows all programs".to_owned(),
        names => format!("; did you mean {}?", names.join(" or ")),
    }
}

/// Returns the Levenshtein distance: the smallest number of insertions, deletions and replacements
/// of letters that turn one text into the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (deleted, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = deleted + 1;
        for (index, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[index + 1];
            row[index + 1] = replaced.min(row[index] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::{NameError, distance, parse};

    #[test]
    fn a_name_alone_has_the_default_sizes() {
        assert_eq!(parse("mutex").unwrap().to_string(), "mutex:2,2");
    }

    #[test]
    fn sizes_that_are_left_out_have_their_defaults() {
        assert_eq!(parse("mutex:3").unwrap().to_string(), "mutex:3,2");
        assert_eq!(parse("mutex:3,4").unwrap().to_string(), "mutex:3,4");
    }

    #[test]
    fn an_unknown_program_is_answered_with_its_neighbours() {
        let error = parse("lastzeros:3").unwrap_err();
        assert!(
            matches!(&error, NameError::UnknownProgram { nearest, .. } if nearest[0] == "lastzero")
        );
        assert!(
            error.to_string().contains("did you mean lastzero"),
            "{error}"
        );
        let error = parse("qqqqqqqqqqqq").unwrap_err();
        assert!(error.to_string().contains("mazurka list"), "{error}");
    }

    #[test]
    fn a_size_that_is_no_number_or_too_large_is_refused() {
        for text in [
            "readers:",
            "readers:x",
            "readers:-1",
            "readers:99999999999",
            "readers:0",
        ] {
            let error = parse(text).unwrap_err();
            assert!(
                matches!(error, NameError::BadSize { .. }),
                "{text}: {error}"
            );
        }
    }

    #[test]
    fn too_many_sizes_are_refused() {
        let error = parse("readers:1,2").unwrap_err();
        assert_eq!(error.to_string(), "readers has one size, N; you gave 2");
    }

    #[test]
    fn the_distance_counts_letters() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("mutex", "mutex"), 0);
    }
}
