//! The test runner, and the command that runs a single test again.

use std::env;
use std::path::Path;

/// The command that ran this test, as far as the process can find out.
pub(super) struct Runner {
    /// Whether the runner is cargo-nextest, which runs each test in its own process.
    is_nextest: bool,
    package: Option<String>,
    is_release: bool,
    /// The value of `RUSTFLAGS`, for example `--cfg mazurka`.
    rustflags: Option<String>,
}

impl Runner {
    /// Detects the runner of this process, for a test of a cargo package.
    pub(super) fn of(package: Option<String>) -> Runner {
        Runner {
            is_nextest: env::var_os("NEXTEST").is_some(),
            package,
            is_release: env::current_exe().is_ok_and(|test| is_release(&test)),
            rustflags: env::var("RUSTFLAGS").ok().filter(|flags| !flags.is_empty()),
        }
    }

    /// Returns the command that runs a test again with an environment variable set.
    pub(super) fn command(&self, variable: &str, value: &str, test: &str) -> String {
        let mut words = Vec::new();
        if let Some(flags) = &self.rustflags {
            words.push(format!("RUSTFLAGS={}", quoted(flags)));
        }
        words.push(format!("{variable}={}", quoted(value)));
        let runner = if self.is_nextest {
            "cargo nextest run"
        } else {
            "cargo test"
        };
        words.push(runner.to_owned());
        if self.is_release {
            words.push("--release".to_owned());
        }
        if let Some(package) = &self.package {
            words.push(format!("-p {package}"));
        }
        words.push(match self.is_nextest {
            true => format!("-E 'test(={test})'"),
            false => format!("{test} -- --exact"),
        });
        words.join(" ")
    }
}

/// Returns the name of the test that the current thread runs, as the runner spells it. Returns
/// `None` if the thread is the main thread or has no name, and the command line does not select a
/// single test.
pub(crate) fn name_of_test() -> Option<String> {
    let thread = std::thread::current();
    let name = thread.name().filter(|name| *name != "main");
    let arguments = env::args_os().map(|argument| argument.to_string_lossy().into_owned());
    name.map(str::to_owned).or_else(|| the_one_of(arguments))
}

/// Returns the name of the test if the command line selects exactly one (`--exact NAME`). The main
/// thread runs such a test.
fn the_one_of(arguments: impl Iterator<Item = String>) -> Option<String> {
    let arguments: Vec<String> = arguments.skip(1).collect();
    let is_exact = arguments.iter().any(|argument| argument == "--exact");
    let mut names = arguments
        .iter()
        .filter(|argument| !argument.starts_with('-'));
    match (names.next(), names.next()) {
        (Some(name), None) if is_exact => Some(name.clone()),
        _ => None,
    }
}

/// Checks whether the path of the test has the form `TARGET/release/deps/TEST`.
fn is_release(test: &Path) -> bool {
    let profile = test.ancestors().nth(2).and_then(Path::file_name);
    profile.is_some_and(|profile| profile == "release")
}

/// Quotes a word for the shell if necessary.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:,=".contains(letter);
    match word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_runs_one_test_of_the_package() {
        let mut runner = Runner {
            is_nextest: false,
            package: Some("counter".to_owned()),
            is_release: false,
            rustflags: None,
        };
        assert_eq!(
            runner.command("REPLAY", "/t/a.json", "tests::lost"),
            "REPLAY=/t/a.json cargo test -p counter tests::lost -- --exact"
        );
        runner.is_nextest = true;
        runner.is_release = true;
        runner.rustflags = Some("--cfg mazurka".to_owned());
        assert_eq!(
            runner.command("REPLAY", "/my t/a.json", "tests::lost"),
            "RUSTFLAGS='--cfg mazurka' REPLAY='/my t/a.json' cargo nextest run --release -p counter -E 'test(=tests::lost)'"
        );
    }

    #[test]
    fn a_lone_test_is_found_among_the_arguments() {
        let name = |arguments: &str| the_one_of(arguments.split(' ').map(str::to_owned));
        assert_eq!(name("t --exact a::b --nocapture"), Some("a::b".to_owned()));
        assert_eq!(name("t a --exact b"), None);
        assert_eq!(name("t a"), None);
        assert_eq!(name("t"), None);
    }

    #[test]
    fn the_profile_is_seen_in_the_path() {
        assert!(is_release(Path::new("/a/target/release/deps/t-1")));
        assert!(!is_release(Path::new("/a/target/debug/deps/t-1")));
        assert!(!is_release(Path::new("t")));
    }
}
