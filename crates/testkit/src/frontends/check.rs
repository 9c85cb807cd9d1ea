//! Compiles programs, checks them and runs them.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use testkit::random::Random;

/// The tools and options that compile and check programs.
pub struct Tools<'a> {
    pub mazurka: &'a Path,
    pub compiler: &'a str,
    pub is_cpp: bool,
    pub optimizes: bool,
    pub folder: &'a Path,
    pub executions: u64,
}

/// The executables of a batch.
pub struct Compiled {
    checked: PathBuf,
    real: PathBuf,
}

/// The options of a check.
#[derive(Clone, Default, Debug)]
pub struct Way {
    pub algorithm: Option<&'static str>,
    pub interleaves_plain: bool,
    /// The memory model. All atomic accesses are seq_cst, so it changes no behaviour of programs
    /// without data races.
    pub memory: Option<&'static str>,
    /// The number of times that condition variables wake a thread without a signal.
    pub spurious: u8,
    /// The shortcuts that are switched off.
    pub without: Vec<&'static str>,
}

/// The result of a check.
pub struct Checked {
    pub outcomes: BTreeSet<String>,
    /// Kind and message of each failure.
    pub failures: Vec<(String, String)>,
    pub verdict: String,
    pub limits: Vec<String>,
}

const SHORTCUTS: [&str; 5] = [
    "savepoints",
    "ownership",
    "private-stacks",
    "await-rule",
    "folded-spawns",
];

impl Way {
    /// Returns random options. Plain accesses interleave only if the compiler does not change them.
    pub fn random(random: &mut Random, optimizes: bool) -> Way {
        let algorithms = ["parsimonious", "optimal", "source"];
        let without = SHORTCUTS
            .into_iter()
            .filter(|_| random.below(3) == 0)
            .collect();
        let memory = ["tso", "rc11"].get(random.below(6) as usize).copied();
        let algorithm = algorithms[random.below(3) as usize];
        Way {
            algorithm: memory.is_none().then_some(algorithm),
            interleaves_plain: !optimizes && memory.is_none() && random.below(2) == 0,
            memory,
            without,
            spurious: random.below(2) as u8,
        }
    }

    pub fn is_without(&self, shortcut: &str) -> bool {
        self.without.contains(&shortcut)
    }

    pub fn options(&self) -> String {
        self.arguments().join(" ")
    }

    fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        if let Some(algorithm) = self.algorithm {
            arguments.push(format!("--algorithm={algorithm}"));
        }
        if let Some(memory) = self.memory {
            arguments.push(format!("--memory={memory}"));
        }
        if self.interleaves_plain {
            arguments.push("--plain=sc".to_owned());
        }
        if self.spurious > 0 {
            arguments.push(format!("--spurious={}", self.spurious));
        }
        if !self.without.is_empty() {
            arguments.push(format!("--without={}", self.without.join(",")));
        }
        if self.is_without("await-rule") {
            arguments.push("--max-events=30".to_owned());
        }
        arguments
    }
}

impl Tools<'_> {
    /// Returns the file name extension of sources.
    pub fn extension(&self) -> &'static str {
        if self.is_cpp { "cpp" } else { "c" }
    }

    /// Compiles a source for checks and for real runs.
    pub fn compile(&self, name: &str, source: &str) -> Result<Compiled, String> {
        let file = self.folder.join(format!("{name}.{}", self.extension()));
        fs::write(&file, source).map_err(|error| error.to_string())?;
        let compiled = Compiled {
            checked: self.folder.join(format!("{name}-checked")),
            real: self.folder.join(name),
        };
        let level = if self.optimizes { "-O2" } else { "-O0" };
        let (word, variable, standard) = match self.is_cpp {
            true => ("c++", "MAZURKA_CXX", "-std=gnu++20"),
            false => ("cc", "MAZURKA_CC", "-std=gnu17"),
        };
        let common = [
            level,
            standard,
            "-w",
            "-fno-strict-aliasing",
            "-pthread",
            "-mcx16",
        ];
        let mut command = Command::new(self.mazurka);
        command
            .arg(word)
            .env(variable, self.compiler)
            .args(common)
            .arg("-DCHECKED");
        succeed(
            command
                .arg(&file)
                .arg("-o")
                .arg(&compiled.checked)
                .arg("-latomic"),
        )?;
        let mut command = Command::new(self.compiler);
        command
            .args(common)
            .arg(&file)
            .arg("-o")
            .arg(&compiled.real)
            .arg("-latomic");
        succeed(&mut command)?;
        Ok(compiled)
    }

    /// Checks one program.
    pub fn check(&self, compiled: &Compiled, index: usize, way: &Way) -> Result<Checked, String> {
        let mut command = Command::new("timeout");
        command
            .args(["-s", "KILL", "120"])
            .arg(self.mazurka)
            .args(["check", "--format", "json"]);
        command.args(["--no-output", "--quiet", "--keep-going", "--extra", "0"]);
        command.args(["--timeouts", "8"]);
        command
            .args(["--time-limit", "30s", "--max-executions"])
            .arg(self.executions.to_string());
        let output = command
            .args(way.arguments())
            .arg(&compiled.checked)
            .arg(index.to_string())
            .output();
        let output = output.map_err(|error| error.to_string())?;
        let report: Value = serde_json::from_slice(&output.stdout).map_err(|_| {
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            format!("no report: {} {words}", output.status)
        })?;
        let texts = |list: &str, field: &str| -> Vec<String> {
            let items = report[list].as_array().into_iter().flatten();
            items
                .map(|item| text(if field.is_empty() { item } else { &item[field] }))
                .collect()
        };
        let kinds = texts("errors", "kind");
        Ok(Checked {
            outcomes: texts("goals", "name").into_iter().collect(),
            failures: kinds.into_iter().zip(texts("errors", "message")).collect(),
            verdict: text(&report["verdict"]),
            limits: texts("limits", ""),
        })
    }

    /// Runs each program for real, `runs` times. Returns their outcomes.
    pub fn run(
        &self,
        compiled: &Compiled,
        indices: &[usize],
        runs: u32,
        seed: u64,
    ) -> Result<Vec<BTreeSet<String>>, String> {
        let mut command = Command::new(&compiled.real);
        for index in indices {
            command.args([index.to_string(), runs.to_string(), seed.to_string()]);
        }
        let output = succeed(&mut command)?;
        let mut outcomes: Vec<BTreeSet<String>> = Vec::new();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            match outcomes.last_mut() {
                Some(last) if !line.starts_with("program") => {
                    last.insert(line.to_owned());
                }
                _ => outcomes.push(BTreeSet::new()),
            }
        }
        match outcomes.len() == indices.len() {
            true => Ok(outcomes),
            false => Err(format!(
                "real runs ended after {} of {} programs",
                outcomes.len(),
                indices.len()
            )),
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn succeed(command: &mut Command) -> Result<Output, String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(output),
        false => {
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            Err(format!("{command:?}: {}\n{words}", output.status))
        }
    }
}
