//! Shows that the tests of the front-ends catch mistakes. Each mutant of `mutants.txt` has one
//! mistake, and `frontends` must find a difference for this mutant.
//!
//! All mutants are built at once, into a copy of the sources, where an environment variable selects
//! a mutant (mutant schemata, Untch, Offutt and Harrold, ISSTA 1993). The original sources contain
//! no mutants.

#![forbid(unsafe_code)]

use clap::Parser;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;
use testkit::random::Random;

/// Builds mutants of the C front-end and shows that each is caught.
#[derive(Parser)]
struct Arguments {
    /// Only this number of mutants, selected by the seed.
    #[arg(long)]
    some: Option<usize>,
    /// Seed that selects mutants.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only this mutant.
    #[arg(long)]
    only: Vec<String>,
    /// The command `mazurka`.
    #[arg(long, default_value = "target/release/mazurka")]
    mazurka: PathBuf,
    /// The command `frontends`.
    #[arg(long, default_value = "target/release/frontends")]
    frontends: PathBuf,
    /// Leave out programs whose source has one of these words.
    #[arg(long)]
    mask: Option<String>,
    /// Ignore differences that begin with one of these words.
    #[arg(long)]
    ignore: Option<String>,
    /// Folder in which the copy is built.
    #[arg(long, default_value = "target/mutants")]
    folder: PathBuf,
}

/// A mutant with one mistake.
struct Mutant {
    name: String,
    file: String,
    /// A text after which the first occurrence of the original text is replaced.
    anchor: String,
    original: String,
    mutated: String,
    /// Arguments of `frontends` with which the mutant is caught.
    law: Vec<String>,
}

const TABLE: &str = include_str!("../mutants.txt");

/// Code that checks which mutant is selected.
const CHOICE: &str = "
/// The mutant that is chosen.
pub static MUTANT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

/// Whether the mutant with this number is chosen.
#[inline]
pub fn mutant(number: u32) -> bool {
    MUTANT.load(std::sync::atomic::Ordering::Relaxed) == number
}
";

const VARIABLE: &str = "MAZURKA_MUTANT";

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(missed) => {
            println!("{missed} mutants are not caught");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Arguments) -> Result<usize, String> {
    let mutants = mutants(TABLE)?;
    let is_known = |name: &&String| mutants.iter().any(|mutant| mutant.name == **name);
    if let Some(unknown) = options.only.iter().find(|name| !is_known(name)) {
        return Err(format!(
            "there is no mutant {unknown}; mutants.txt lists them"
        ));
    }
    let library = build(&mutants, &options.folder)?;
    let mut chosen: Vec<usize> = (0..mutants.len()).collect();
    if !options.only.is_empty() {
        chosen.retain(|&number| options.only.contains(&mutants[number].name));
    }
    if let Some(some) = options.some {
        Random::new(options.seed).shuffle(&mut chosen);
        chosen.truncate(some);
    }
    let mut missed = 0;
    println!(
        "{} of {} mutants, seed {}",
        chosen.len(),
        mutants.len(),
        options.seed
    );
    for number in chosen {
        let mutant = &mutants[number];
        let start = Instant::now();
        let oracle =
            |arguments: &[String], number: usize| difference(options, &library, arguments, number);
        let law: Vec<String> = [
            mutant.law.clone(),
            ["--seed", "1"].map(str::to_owned).to_vec(),
        ]
        .concat();
        let found = oracle(&law, number + 1)?;
        // A difference that also occurs without the mutant proves nothing.
        let before = match &found {
            Some(found) => oracle(&found.again(mutant)?, 0)?,
            None => None,
        };
        let seconds = start.elapsed().as_secs();
        match (found, before) {
            (Some(Found(found)), None) => {
                println!("{}: caught after {seconds} s: {found:.200}", mutant.name)
            }
            (Some(Found(found)), Some(_)) => {
                missed += 1;
                println!(
                    "{}: not shown, since the same difference occurs without it: {found:.200}",
                    mutant.name
                );
            }
            (None, _) => {
                missed += 1;
                println!("{}: MISSED after {seconds} s", mutant.name);
            }
        }
    }
    Ok(missed)
}

/// The line that reports a difference.
struct Found(String);

impl Found {
    /// Returns arguments that check the same program again. The line that reports the difference
    /// begins with `program 3 of seed 1, gcc -O2, …`.
    fn again(&self, mutant: &Mutant) -> Result<Vec<String>, String> {
        let words: Vec<&str> = self
            .0
            .split([' ', ','])
            .filter(|word| !word.is_empty())
            .collect();
        let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
        let (Some(program), Some(seed)) = (number(1), number(4)) else {
            return Err(format!("{} reports no program: {}", mutant.name, self.0));
        };
        let level = if words.get(6) == Some(&"-O2") {
            "2"
        } else {
            "0"
        };
        let is_cpp = words.get(5).is_some_and(|compiler| compiler.contains("++"));
        let language = if is_cpp { "c++" } else { "c" };
        let mut law = mutant.law.clone();
        if let Some(programs) = law.iter().position(|word| word == "--programs") {
            law.drain(programs..programs + 2);
        }
        let seed = seed.wrapping_add(program).to_string();
        let one = ["--programs", "1", "--level", level, "--seed", &seed];
        let language = ["--language", language].map(str::to_owned);
        Ok([law, one.map(str::to_owned).to_vec(), language.to_vec()].concat())
    }
}

/// Returns the difference found with a mutant, or without a mutant (0).
fn difference(
    options: &Arguments,
    library: &Path,
    arguments: &[String],
    mutant: usize,
) -> Result<Option<Found>, String> {
    let mut oracle = Command::new(&options.frontends);
    oracle.args(["--quick", "--compiler", "gcc", "--runs", "1", "--mazurka"]);
    oracle.arg(&options.mazurka).args(arguments);
    for (option, words) in [("--mask", &options.mask), ("--ignore", &options.ignore)] {
        oracle.args(words.iter().flat_map(|words| [option, words.as_str()]));
    }
    oracle
        .env("MAZURKA_RUNTIME", library)
        .env(VARIABLE, mutant.to_string());
    let output = oracle
        .output()
        .map_err(|error| format!("{}: {error}", options.frontends.display()))?;
    let words = String::from_utf8_lossy(&output.stdout).into_owned();
    let difference = words.lines().find(|line| line.starts_with("program "));
    match (output.status.code(), difference) {
        (Some(0), None) => Ok(None),
        (Some(1), Some(difference)) => Ok(Some(Found(difference.to_owned()))),
        _ => Err(format!("the oracle ends with {}: {words}", output.status)),
    }
}

/// Reads the table of mutants.
fn mutants(table: &str) -> Result<Vec<Mutant>, String> {
    let mut mutants: Vec<Mutant> = Vec::new();
    for line in table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        if let Some(original) = line.strip_prefix("- ").or((line == "-").then_some("")) {
            let last = mutants
                .last_mut()
                .ok_or("the table must begin with a name")?;
            last.original += original;
        } else if let Some(mutated) = line.strip_prefix("+ ").or((line == "+").then_some("")) {
            let last = mutants
                .last_mut()
                .ok_or("the table must begin with a name")?;
            last.mutated += mutated;
        } else {
            let parts: Vec<&str> = line.split('|').map(str::trim).collect();
            let [name, file, anchor, law] = parts[..] else {
                return Err(format!("a line without name, file, anchor and law: {line}"));
            };
            mutants.push(Mutant {
                name: name.to_owned(),
                file: file.to_owned(),
                anchor: anchor.to_owned(),
                original: String::new(),
                mutated: String::new(),
                law: law.split_whitespace().map(str::to_owned).collect(),
            });
        }
    }
    Ok(mutants)
}

/// Builds the runtime library with all mutants. Returns its path.
fn build(mutants: &[Mutant], folder: &Path) -> Result<PathBuf, String> {
    let tree = folder.join("tree");
    copy_tree(&tree)?;
    append(&tree.join("crates/explore/src/lib.rs"), CHOICE)?;
    let worker = tree.join("crates/intercept/src/worker.rs");
    let start = "pub(crate) fn work(program: Program) -> i32 {\n";
    let choose = format!(
        "{start}    let chosen = std::env::var(\"{VARIABLE}\").ok().and_then(|number| number.parse().ok());
    explore::MUTANT.store(chosen.unwrap_or(0), std::sync::atomic::Ordering::Relaxed);\n"
    );
    replace(&worker, ("", start), &choose)?;
    for (number, mutant) in mutants.iter().enumerate() {
        let Mutant {
            original, mutated, ..
        } = mutant;
        // The original comes first, so that another mutant of the same text finds it there.
        let choice = format!(
            "if !explore::mutant({}) {{ {original} }} else {{ {mutated} }}",
            number + 1
        );
        let is_statement = original.ends_with(';');
        let choice = if is_statement {
            choice
        } else {
            format!("({choice})")
        };
        let file = tree.join(&mutant.file);
        replace(&file, (&mutant.anchor, original), &choice)
            .map_err(|error| format!("{}: {error}; bring mutants.txt up to date", mutant.name))?;
    }
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--quiet", "-p", "mazurka-intercept"]);
    let build = std::path::absolute(folder.join("build")).map_err(|error| error.to_string())?;
    cargo
        .current_dir(&tree)
        .env("CARGO_TARGET_DIR", &build)
        .env("RUSTFLAGS", "-Awarnings");
    match cargo.status() {
        Ok(status) if status.success() => Ok(build.join("release/libmazurka_intercept.so")),
        Ok(status) => Err(format!("cargo: {status}")),
        Err(error) => Err(format!("cargo: {error}")),
    }
}

/// Copies the sources. Unchanged files keep their time, so they are not built again.
fn copy_tree(tree: &Path) -> Result<(), String> {
    let listed = Command::new("git").args(["ls-files", "-z"]).output();
    let listed = listed.map_err(|error| format!("git: {error}"))?.stdout;
    for name in listed
        .split(|&byte| byte == 0)
        .filter(|name| !name.is_empty())
    {
        let name = String::from_utf8_lossy(name);
        let (from, to) = (Path::new(&*name), tree.join(&*name));
        let parent = to.parent().expect("a file is in a folder");
        fs::create_dir_all(parent).map_err(|error| format!("{}: {error}", parent.display()))?;
        // A file that was removed is still listed.
        if from.is_file() {
            fs::copy(from, &to).map_err(|error| format!("{}: {error}", to.display()))?;
        }
    }
    Ok(())
}

fn append(file: &Path, text: &str) -> Result<(), String> {
    let content =
        fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    fs::write(file, content + text).map_err(|error| format!("{}: {error}", file.display()))
}

/// Replaces the first occurrence of a text after another text.
fn replace(file: &Path, (anchor, original): (&str, &str), text: &str) -> Result<(), String> {
    let content =
        fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let start = content
        .find(anchor)
        .ok_or_else(|| format!("{} has no {anchor:?}", file.display()))?;
    let position = content[start..].find(original);
    let position =
        start + position.ok_or_else(|| format!("{} has no {original:?}", file.display()))?;
    let changed = [
        &content[..position],
        text,
        &content[position + original.len()..],
    ]
    .concat();
    fs::write(file, changed).map_err(|error| format!("{}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_each_mutant_stands_in_its_file() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for mutant in mutants(TABLE).unwrap() {
            let content = fs::read_to_string(root.join(&mutant.file)).unwrap();
            let behind = content.find(&mutant.anchor).map(|start| &content[start..]);
            let is_there = behind.is_some_and(|behind| behind.contains(&mutant.original));
            assert!(is_there, "{}: bring mutants.txt up to date", mutant.name);
            assert_ne!(mutant.original, mutant.mutated, "{}", mutant.name);
        }
    }

    #[test]
    fn mutants_have_names_of_their_own() {
        let mutants = mutants(TABLE).unwrap();
        let mut names: Vec<&str> = mutants.iter().map(|mutant| mutant.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), mutants.len());
        assert!(names.len() >= 30);
    }
}
