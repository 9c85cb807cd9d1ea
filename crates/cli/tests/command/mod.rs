//! Runs the command like a shell.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// The result of a process.
pub struct Ran {
    /// Its exit code.
    pub code: i32,
    /// Its standard output.
    pub output: String,
    /// Its standard error.
    pub errors: String,
}

impl Ran {
    /// Parses the output as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.output)
            .unwrap_or_else(|error| panic!("{error}: {}{}", self.output, self.errors))
    }
}

/// Returns the command with arguments separated by spaces, in a directory.
pub fn mazurka(directory: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mazurka"));
    command
        .args(arguments.split_whitespace())
        .current_dir(directory)
        .env_remove("GITHUB_ACTIONS")
        .stdin(Stdio::null());
    command
}

/// Runs the command to its end.
pub fn run(directory: &Path, arguments: &str) -> Ran {
    let output = mazurka(directory, arguments).output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        output: String::from_utf8(output.stdout).unwrap(),
        errors: String::from_utf8(output.stderr).unwrap(),
    }
}
