//! The dependencies in ARCHITECTURE.md: between crates, and of the core on external crates.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Each crate with its permitted dependencies, and the additional ones of its tests.
const ARROWS: [(&str, &[&str], &[&str]); 19] = [
    ("explore", &[], &["testkit"]),
    ("objects", &["explore"], &["testkit"]),
    ("report", &["explore"], &[]),
    (
        "runtime",
        &["enforce", "explore", "objects", "report"],
        &["testkit"],
    ),
    ("macros", &[], &[]),
    (
        "mazurka",
        &["enforce", "explore", "macros", "page", "report", "runtime"],
        &[],
    ),
    (
        "actors",
        &["runtime"],
        &["explore", "mazurka", "report", "testkit"],
    ),
    ("native", &["report"], &[]),
    ("enforce", &["explore", "report"], &[]),
    (
        "intercept",
        &[
            "enforce", "explore", "mazurka", "native", "report", "runtime",
        ],
        &[],
    ),
    ("embed", &[], &[]),
    ("cluster", &[], &[]),
    ("formats", &["report"], &[]),
    ("page", &["report"], &[]),
    ("loom", &["mazurka"], &[]),
    ("corpus", &["actors", "mazurka"], &[]),
    ("testkit", &["explore", "objects"], &[]),
    ("xtask", &[], &[]),
    (
        "cli",
        &[
            "cluster",
            "corpus",
            "embed",
            "enforce",
            "explore",
            "formats",
            "intercept",
            "mazurka",
            "native",
            "page",
            "report",
        ],
        &["testkit"],
    ),
];

/// Permitted external dependencies of pure crates: none reads, prints, waits or draws numbers.
const PURE: [&str; 6] = [
    "postcard",
    "rustc-hash",
    "serde",
    "siphasher",
    "smallvec",
    "thiserror",
];

/// Crates that may contain `unsafe`.
const UNSAFE: [&str; 3] = ["enforce", "intercept", "runtime"];

/// Returns the packages of the workspace.
fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo is there, it runs this test");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    metadata["packages"]
        .as_array()
        .expect("there are packages")
        .clone()
}

/// Returns the name of a crate without its prefix: `mazurka-explore` becomes `explore`.
fn short(name: &str) -> &str {
    name.strip_prefix("mazurka-").unwrap_or(name)
}

fn name(package: &Value) -> &str {
    short(package["name"].as_str().expect("a package has a name"))
}

/// Returns the dependencies, of tests only or all others, within or outside the workspace.
fn dependencies(package: &Value, of_tests: bool, within: bool) -> BTreeSet<&str> {
    let all = package["dependencies"].as_array().expect("there is a list");
    all.iter()
        .filter(|dependency| (dependency["kind"] == "dev") == of_tests)
        .filter(|dependency| dependency["path"].is_string() == within)
        .map(|dependency| {
            short(
                dependency["name"]
                    .as_str()
                    .expect("a dependency has a name"),
            )
        })
        .collect()
}

#[test]
fn crates_depend_on_each_other_as_the_architecture_says() {
    for package in packages() {
        let (_, may, tests_may) = ARROWS
            .iter()
            .find(|(known, ..)| *known == name(&package))
            .unwrap_or_else(|| panic!("{} is no crate of the architecture", name(&package)));
        for dependency in dependencies(&package, false, true) {
            assert!(
                may.contains(&dependency),
                "{} may not depend on {dependency}",
                name(&package)
            );
        }
        for dependency in dependencies(&package, true, true) {
            assert!(
                may.contains(&dependency) || tests_may.contains(&dependency),
                "tests of {} may not depend on {dependency}",
                name(&package)
            );
        }
    }
}

#[test]
fn each_crate_of_the_architecture_is_there() {
    let packages = packages();
    let there: BTreeSet<&str> = packages.iter().map(name).collect();
    let known: BTreeSet<&str> = ARROWS.iter().map(|(name, ..)| *name).collect();
    assert_eq!(there, known);
}

#[test]
fn the_core_brings_along_only_pure_crates() {
    for package in packages() {
        if matches!(name(&package), "explore" | "objects") {
            for dependency in dependencies(&package, false, false) {
                assert!(
                    PURE.contains(&dependency),
                    "{} depends on {dependency}",
                    name(&package)
                );
            }
            let manifest = Path::new(
                package["manifest_path"]
                    .as_str()
                    .expect("it has a manifest"),
            );
            assert!(
                manifest.with_file_name("clippy.toml").is_file(),
                "{}",
                manifest.display()
            );
        }
    }
}

#[test]
fn unsafe_code_is_forbidden_where_none_is_needed() {
    for package in packages() {
        for target in package["targets"].as_array().expect("there are targets") {
            let is_crate = target["kind"] == serde_json::json!(["lib"])
                || target["kind"] == serde_json::json!(["bin"]);
            if !is_crate || UNSAFE.contains(&name(&package)) {
                continue;
            }
            let root = target["src_path"].as_str().expect("a target has a source");
            let source = std::fs::read_to_string(root).expect("the source is there");
            assert!(
                source.contains("#![forbid(unsafe_code)]"),
                "{root} does not forbid unsafe code"
            );
        }
    }
}
