//! Programs of several files, built by make or cmake: `corpus/projects/<name>/`.

use crate::expectation::Expected;
use crate::native::ReadError;
use mazurka::FailureKind;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A project with a `Makefile` and a `CMakeLists.txt` that build the same programs.
#[derive(Clone, PartialEq, Debug)]
pub struct Project {
    /// Its name, also that of its directory.
    pub name: String,
    /// Its directory.
    pub directory: PathBuf,
    /// The expected results of its programs, by the name of the executable.
    pub programs: BTreeMap<String, ProjectProgram>,
}

/// The expected results of a program of a project.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectProgram {
    /// The verdict of a search.
    pub verdict: Expected,
    /// The kind of the bug, if the verdict is a bug.
    pub failure: Option<FailureKind>,
}

/// Reads the projects of a corpus, in alphabetical order.
///
/// ```
/// let projects = corpus::projects(corpus::native::directory()).unwrap();
/// assert!(projects[0].programs.contains_key("drain"));
/// ```
pub fn projects(corpus: &Path) -> Result<Vec<Project>, ReadError> {
    let directory = corpus.join("projects");
    let entries =
        fs::read_dir(&directory).map_err(|error| ReadError::unreadable(&directory, error))?;
    let mut projects = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| ReadError::unreadable(&directory, error))?;
        let path = entry.path().join("expect.toml");
        let text =
            fs::read_to_string(&path).map_err(|error| ReadError::unreadable(&path, error))?;
        projects.push(Project {
            name: entry.file_name().to_string_lossy().into_owned(),
            directory: entry.path(),
            programs: toml::from_str(&text).map_err(|error| ReadError::malformed(&path, error))?,
        });
    }
    projects.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(projects)
}
