//! The location of the schedule file of a failing test.

use std::path::{Path, PathBuf};

/// Returns a path in cargo's target directory, which contains the test executable, or otherwise a
/// temporary path. Tests of the same name in several executables have different files.
pub(super) fn place_for(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap_or_default();
    target_of(&test)
        .unwrap_or_else(std::env::temp_dir)
        .join(format!("{}.schedule.json", stem_for(name)))
}

/// Returns the name of a file that belongs to the test, without an extension.
pub(super) fn stem_for(name: &str) -> String {
    let test = std::env::current_exe().unwrap_or_default();
    let program = program_of(&test).unwrap_or("model");
    let file = format!("{program}-{name}");
    file.replace(
        |letter: char| !letter.is_alphanumeric() && letter != '_',
        "-",
    )
}

/// Returns `TARGET` for a test executable `TARGET/PROFILE/deps/TEST`, and `None` for other paths.
fn target_of(test: &Path) -> Option<PathBuf> {
    let directory = test.parent()?;
    let is_of_cargo = directory.file_name()? == "deps";
    is_of_cargo.then(|| directory.ancestors().nth(2).map(Path::to_owned))?
}

/// Returns the name of the program without its hash: `counter` for
/// `…/deps/counter-1f2e3d4c5b6a7980`.
fn program_of(test: &Path) -> Option<&str> {
    let name = test.file_stem()?.to_str()?;
    let (program, _) = name.rsplit_once('-').unwrap_or((name, ""));
    Some(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_of_cargo_lies_in_its_target_directory() {
        let target = |path: &str| target_of(Path::new(path));
        assert_eq!(
            target("/a/target/debug/deps/test-1f"),
            Some(PathBuf::from("/a/target"))
        );
        assert_eq!(target("/usr/bin/test"), None);
        assert_eq!(target(""), None);
    }

    #[test]
    fn the_file_is_named_by_the_program_and_the_test() {
        let place = place_for("tests::is_lost");
        let name = place.file_name().unwrap().to_str().unwrap();
        assert_eq!(name, "mazurka-tests--is_lost.schedule.json");
        assert_eq!(program_of(Path::new("/a/deps/plain")), Some("plain"));
    }
}
