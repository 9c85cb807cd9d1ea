//! Build recipes in schedules from strangers, and planted links.

use crate::command::{Ran, run};
use report::{Conditions, FailureKind, Recipe, SavedStep, ScheduleFile};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

fn schedule(recipe: Recipe) -> ScheduleFile {
    ScheduleFile {
        program: "program.c\u{1b}[2J".to_owned(),
        kind: FailureKind::Panic,
        message: "\u{1b}]0;title\u{7}".to_owned(),
        conditions: Conditions::default(),
        coarse: Vec::new(),
        recipe: Some(recipe),
        by_accesses: true,
        steps: vec![SavedStep {
            thread: "0".to_owned(),
            choices: vec![0],
            reads: Vec::new(),
        }],
    }
}

fn replayed(folder: &Path, recipe: Recipe) -> Ran {
    schedule(recipe)
        .save(&folder.join("stranger.json"))
        .unwrap();
    run(folder, "replay stranger.json")
}

#[test]
fn a_schedule_runs_no_command() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("program.c"), "int main(void) { return 0; }").unwrap();
    fs::write(folder.join("script"), "#!/bin/sh\ntouch owned\n").unwrap();
    fs::set_permissions(folder.join("script"), fs::Permissions::from_mode(0o755)).unwrap();
    let words = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let recipe = |files: &str, flags: &str| Recipe {
        files: words(files),
        flags: words(flags),
        ..Recipe::default()
    };
    let compiler = Recipe {
        compiler: Some("./script".to_owned()),
        ..recipe("program.c", "-O1")
    };
    for recipe in [
        recipe("program.c", "-wrapper sh,-c,touch\u{1b}owned"),
        recipe("program.c", "-B. -fplugin=./script"),
        recipe("program.c @script", "-O1"),
        recipe("/bin/sh", "-O1"),
        recipe("../program.c", "-O1"),
        recipe(
            "program.c",
            "-Dmain=main(void){return/**/system(\"touch\towned\");}int/**/other",
        ),
        recipe("program.c", "-Dputs=system"),
        compiler,
    ] {
        let ran = replayed(folder, recipe.clone());
        assert_eq!(ran.code, 2, "{recipe:?}: {}{}", ran.output, ran.errors);
        assert!(ran.errors.contains("--trust-recipe"), "{}", ran.errors);
        assert_eq!(ran.errors.lines().count(), 1, "{}", ran.errors);
        let is_shown = |letter: char| letter == '\n' || !letter.is_control();
        assert!(ran.errors.chars().all(is_shown), "{:?}", ran.errors);
        assert!(!folder.join("owned").exists(), "{recipe:?}");
    }
    // A program that was built without hooks is not run either.
    let ran = replayed(folder, recipe("script", "-O1"));
    assert_eq!(ran.code, 2, "{}{}", ran.output, ran.errors);
    assert!(!folder.join("owned").exists());
}

#[test]
fn checkpoints_and_schedules_follow_no_links_and_keep_modes() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("victim"), "untouched").unwrap();
    for link in ["state.new", "found.json"] {
        symlink("victim", folder.join(link)).unwrap();
    }
    fs::write(folder.join("state"), "").unwrap();
    fs::set_permissions(folder.join("state"), fs::Permissions::from_mode(0o640)).unwrap();
    let ran = run(
        folder,
        "check lost-update --checkpoint state --output found.json",
    );
    assert_eq!(ran.code, 1, "{}", ran.errors);
    assert_eq!(
        fs::read_to_string(folder.join("victim")).unwrap(),
        "untouched"
    );
    let state = fs::metadata(folder.join("state")).unwrap();
    assert_eq!(state.permissions().mode() & 0o777, 0o640);
    assert!(
        fs::symlink_metadata(folder.join("found.json"))
            .unwrap()
            .is_file()
    );
    assert_eq!(run(folder, "replay found.json").code, 1);
}
