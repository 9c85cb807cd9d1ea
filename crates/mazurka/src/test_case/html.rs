//! The HTML pages of tests: `MAZURKA_HTML=FOLDER cargo test` writes one for each test.

use super::place::stem_for;
use page::Sources;
use report::Report;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The environment variable with the folder for the pages.
const HTML: &str = "MAZURKA_HTML";

/// Checks whether pages are requested.
pub(super) fn is_wanted() -> bool {
    std::env::var_os(HTML).is_some_and(|folder| !folder.is_empty())
}

/// Writes the page of a test if pages are requested. The test does not fail if writing fails.
pub(super) fn write(name: &str, report: &Report) {
    let Some(folder) = std::env::var_os(HTML).filter(|folder| !folder.is_empty()) else {
        return;
    };
    let folder = PathBuf::from(folder);
    if let Err(error) = write_into(&folder, name, report) {
        eprintln!(
            "{name}: cannot write a page to {HTML}={}: {error}",
            folder.display()
        );
    }
}

fn write_into(folder: &Path, name: &str, report: &Report) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let sources = Sources::of(report, &root()?);
    let path = folder.join(format!("{}.html", stem_for(name)));
    fs::write(path, page::page(report, &sources))
}

/// Returns the folder to which the names of source files are relative: the nearest folder with a
/// `Cargo.lock`, from the current directory upwards, or otherwise the current directory.
fn root() -> io::Result<PathBuf> {
    let here = std::env::current_dir()?;
    let mut outer = here.ancestors();
    let workspace = outer.find(|folder| folder.join("Cargo.lock").is_file());
    Ok(workspace.unwrap_or(&here).to_owned())
}
