//! `mazurka run`: replaces itself with the program, which keeps to the verified schedules.

use crate::Done;
use crate::arguments::{RunOptions, UnverifiedInputs};
use crate::output_files::{are_distinct, has_directory};
use crate::refusal::Refusal;
use enforce::{ENFORCE, INPUT, Order, Plan};
use native::Binary;
use report::{Input, Inputs, SafeTrace};
use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Replaces this process with the program. Returns only if that fails.
pub fn run(options: &RunOptions) -> Done {
    let (program, arguments) = options
        .program
        .split_first()
        .expect("clap requires a program");
    let path = found(program)?;
    Binary::recognize(&path)?;
    options.record.as_deref().map_or(Ok(()), has_directory)?;
    are_distinct(options.record.as_deref(), [&*options.safe, &*path])?;
    let trace = SafeTrace::load(&options.safe)?;
    is_the_program(&trace, &path, options)?;
    is_enforceable(&path)?;
    let order = match inputs(&trace, arguments, options) {
        Ok(inputs) => Some(order(inputs, &trace, options)?),
        Err(Refusal::UnverifiedInputs(why))
            if options.unverified_inputs == Some(UnverifiedInputs::RunFree) =>
        {
            crate::terminal::complain(&format!("{why}; the program runs without enforcement"));
            None
        }
        Err(refusal) => return Err(refusal),
    };
    let mut command = Command::new(&path);
    command.args(arguments);
    for (name, value) in &options.input {
        command.env(format!("{INPUT}{name}"), value.to_string());
    }
    if let Some(order) = order {
        command.env(ENFORCE, order.written());
    }
    let error = command.exec();
    Err(Refusal::System {
        what: "start the program",
        error,
    })
}

/// Finds the file of the program as a shell does.
fn found(program: &OsString) -> Result<PathBuf, Refusal> {
    let path = Path::new(program);
    if path.components().count() == 1 && !path.is_file() {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let mut places = std::env::split_paths(&folders).map(|folder| folder.join(path));
        if let Some(place) = places.find(|place| place.is_file()) {
            return Ok(place);
        }
    }
    fs::canonicalize(path).map_err(|error| {
        Refusal::Binary(native::BinaryError::Unreadable {
            path: path.to_owned(),
            error,
        })
    })
}

/// Checks that the program has not changed since it was verified.
fn is_the_program(trace: &SafeTrace, path: &Path, options: &RunOptions) -> Result<(), Refusal> {
    let content = fs::read(path).map_err(|error| Refusal::System {
        what: "read the program",
        error,
    })?;
    match SafeTrace::checksum_of(&content) == trace.program_checksum {
        true => Ok(()),
        false => Err(Refusal::OtherProgram {
            path: path.to_owned(),
            trace: options.safe.clone(),
        }),
    }
}

/// Checks that the program calls no function that makes enforcement impossible.
fn is_enforceable(path: &Path) -> Result<(), Refusal> {
    const NOT: [&str; 2] = ["pthread_cancel", "sem_open"];
    match NOT.iter().find(|function| native::imports(path, function)) {
        None => Ok(()),
        Some(function) => Err(Refusal::NotEnforced {
            path: path.to_owned(),
            function,
        }),
    }
}

/// Returns the values of the inputs, from the program's arguments and the user's options.
fn inputs(
    trace: &SafeTrace,
    arguments: &[OsString],
    options: &RunOptions,
) -> Result<Inputs, Refusal> {
    let mut inputs = given_once(&options.input)?;
    are_known(&inputs, trace, &options.safe)?;
    let given: Vec<_> = arguments
        .iter()
        .map(|word| word.to_string_lossy())
        .collect();
    let fits = given.len() == trace.arguments.len()
        && given
            .iter()
            .zip(&trace.arguments)
            .all(|(word, template)| fits(word, template, &mut inputs));
    if !fits {
        let verified = match &trace.arguments[..] {
            [] => "without arguments".to_owned(),
            words => format!("with the arguments {}", words.join(" ")),
        };
        return Err(Refusal::UnverifiedInputs(format!(
            "the program was verified {verified}, not with those given"
        )));
    }
    for input in &trace.inputs {
        if !inputs.contains_key(&input.name)
            && let Some(value) = of_environment(&input.name)?
        {
            inputs.insert(input.name.clone(), value);
        }
        is_verified(input, inputs.get(&input.name))?;
    }
    Ok(inputs)
}

/// Returns the values that the user gave, at most one for each input.
fn given_once(given: &[(String, i64)]) -> Result<Inputs, Refusal> {
    let mut inputs = Inputs::new();
    for (name, value) in given {
        if let Some(other) = inputs.insert(name.clone(), *value) {
            return Err(Refusal::InputTwice {
                name: name.clone(),
                values: [other.to_string(), value.to_string()],
            });
        }
    }
    Ok(inputs)
}

/// Checks that the verification covers all inputs that the user names.
fn are_known(inputs: &Inputs, trace: &SafeTrace, file: &Path) -> Result<(), Refusal> {
    let is_known = |name: &String| trace.inputs.iter().any(|input| input.name == *name);
    let Some(name) = inputs.keys().find(|name| !is_known(name)) else {
        return Ok(());
    };
    let known = trace.inputs.iter();
    let known: Vec<String> = known
        .map(|input| format!("{} ({} to {})", input.name, input.lowest, input.highest))
        .collect();
    let known = match &known[..] {
        [] => "it has no inputs".to_owned(),
        known => format!("its inputs are {}", known.join(", ")),
    };
    Err(Refusal::UnverifiedInputs(format!(
        "--input {name}: {} has no input of this name; {known}",
        file.display()
    )))
}

/// Checks that the value was verified.
fn is_verified(input: &Input, value: Option<&i64>) -> Result<(), Refusal> {
    let Input {
        name,
        lowest,
        highest,
    } = input;
    let given = match value {
        Some(value) if (lowest..=highest).contains(&value) => return Ok(()),
        Some(value) => format!("{name} = {value}"),
        None => format!("no value for {name} (--input {name}=VALUE)"),
    };
    Err(Refusal::UnverifiedInputs(format!(
        "{given} was given, but {lowest} to {highest} were verified"
    )))
}

/// Returns the value that the program will find in its environment.
fn of_environment(name: &str) -> Result<Option<i64>, Refusal> {
    let variable = format!("{INPUT}{name}");
    let Some(value) = std::env::var_os(&variable) else {
        return Ok(None);
    };
    let value = value.to_string_lossy().into_owned();
    match value.parse() {
        Ok(value) => Ok(Some(value)),
        Err(_) => Err(Refusal::NoNumber { variable, value }),
    }
}

/// Checks whether a command-line argument matches its template. Adds the input values found in the
/// argument to `inputs`.
fn fits(word: &str, template: &str, inputs: &mut Inputs) -> bool {
    let parts = template
        .split_once('{')
        .and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    let Some((before, (name, rest))) = parts else {
        return word == template;
    };
    let Some(behind) = word.strip_prefix(before) else {
        return false;
    };
    let length = behind
        .bytes()
        .take_while(|byte| byte.is_ascii_digit() || *byte == b'-')
        .count();
    let (value, word) = behind.split_at(length);
    let Ok(value) = value.parse() else {
        return false;
    };
    *inputs.entry(name.to_owned()).or_insert(value) == value && fits(word, rest, inputs)
}

/// Returns the order for the program, if its constraints can be enforced.
fn order(inputs: Inputs, trace: &SafeTrace, options: &RunOptions) -> Result<Order, Refusal> {
    let unusable = |problem: enforce::PlanError| Refusal::UnverifiedInputs(problem.to_string());
    Plan::for_inputs(trace, &inputs).map_err(unusable)?;
    let absolute = |path: &PathBuf| {
        std::path::absolute(path).map_err(|error| Refusal::System {
            what: "find the current directory",
            error,
        })
    };
    Ok(Order {
        trace: absolute(&options.safe)?,
        checksum: Some(trace.program_checksum.clone()),
        inputs,
        record: options.record.as_ref().map(absolute).transpose()?,
        delays: options.delays,
        runs_free: options.free,
        patience: options.patience,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_instances_of_their_templates() {
        let mut inputs = Inputs::new();
        assert!(fits("--size=12", "--size={n}", &mut inputs));
        assert!(fits("-3:12x", "{m}:{n}x", &mut inputs));
        let expected = [("m", -3), ("n", 12)].map(|(name, value)| (name.to_owned(), value));
        assert_eq!(inputs, Inputs::from(expected));
        assert!(!fits("13", "{n}", &mut inputs), "it has another value");
        assert!(!fits("x", "{k}", &mut inputs));
        assert!(fits("plain", "plain", &mut inputs) && !fits("plain", "other", &mut inputs));
    }
}
