//! Reads lines of the program's source for the page.

use report::{Report, parts};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The number of lines on each side of a reported line.
const AROUND: u32 = 4;

/// The greatest number of lines in all files together.
const MOST: usize = 4000;

/// The greatest size of a source in bytes.
const LARGEST: u64 = 4 << 20;

/// The greatest number of characters of a line.
const WIDTH: usize = 400;

/// Lines of files, by the file names in the report.
#[derive(Clone, Default, Debug)]
pub struct Sources(BTreeMap<String, Vec<(u32, String)>>);

impl Sources {
    /// Returns the lines around the places in the report, from files in the folder. Other files are
    /// not read, because an untrusted program can report places in any file.
    pub fn of(report: &Report, folder: &Path) -> Sources {
        Sources::around(places(report), folder)
    }

    /// Returns the lines around these places, from files in the folder.
    pub fn around<'a>(places: impl Iterator<Item = &'a str>, folder: &Path) -> Sources {
        let mut wanted: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        let mut count = 0;
        for place in places {
            let (file, Some(line), _) = parts(place) else {
                continue;
            };
            let lines = wanted.entry(file).or_default();
            for line in line.saturating_sub(AROUND).max(1)..=line.saturating_add(AROUND) {
                if count < MOST && lines.insert(line) {
                    count += 1;
                }
            }
        }
        let read = |(name, lines): (&str, BTreeSet<u32>)| {
            let text = fs::read_to_string(below(folder, name)?).ok()?;
            let text: Vec<&str> = text.lines().collect();
            let shown = lines.into_iter().filter_map(|line| {
                let content = text.get(line as usize - 1)?;
                Some((line, content.chars().take(WIDTH).collect()))
            });
            Some((name.to_owned(), shown.collect()))
        };
        Sources(wanted.into_iter().filter_map(read).collect())
    }
}

/// Converts the lines to data for the page.
impl From<&Sources> for Value {
    fn from(sources: &Sources) -> Value {
        let files = sources.0.iter();
        let files = files.map(|(name, lines)| {
            (
                name.clone(),
                Value::from_iter(lines.iter().map(|(line, text)| {
                    Value::from_iter([Value::from(*line), Value::from(text.as_str())])
                })),
            )
        });
        Value::Object(files.collect())
    }
}

/// Returns the places of the failures, then those of the events of their executions.
fn places(report: &Report) -> impl Iterator<Item = &str> {
    let failures = report.errors.iter();
    let shown = failures
        .clone()
        .filter_map(|failure| failure.location.as_deref());
    let failing = failures.clone().map(|failure| &failure.interleaving);
    let passing = failures.filter_map(|failure| failure.passing.as_ref());
    let rows = failing.chain(passing).flat_map(|execution| &execution.rows);
    shown.chain(rows.filter_map(|row| row.location.as_deref()))
}

/// Returns the path of the file with this name, if the file is in the folder and not too large.
fn below(folder: &Path, name: &str) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    let file = folder.join(name).canonicalize().ok()?;
    let is_source = file
        .metadata()
        .is_ok_and(|file| file.is_file() && file.len() <= LARGEST);
    (is_source && file.starts_with(&folder)).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_folder_are_read() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("project");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("a.c"), "int a;\n").unwrap();
        fs::write(outer.path().join("secret"), "word\n").unwrap();
        std::os::unix::fs::symlink("../secret", folder.join("link.c")).unwrap();
        assert!(below(&folder, "a.c").is_some());
        for name in ["../secret", "link.c", "/etc/passwd", ".", "missing.c"] {
            assert_eq!(below(&folder, name), None, "{name}");
        }
    }
}
