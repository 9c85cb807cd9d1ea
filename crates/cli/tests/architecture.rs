//! Checks the dependencies in ARCHITECTURE.md: between crates, and of the core on external crates.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
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

/// Permitted external dependencies of pure crates. None of them does I/O, waits or generates random
/// numbers.
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

/// Returns the dependencies of a package. `of_tests` selects those of tests, and `within` those in
/// the workspace.
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

/// Returns the Rust files below a directory.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("the directory can be read");
    let paths = entries.map(|entry| entry.expect("the directory can be read").path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => sources(&path),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

/// Returns the names that follow `prefix` in a source, without its unit tests and comments.
fn named(source: &str, prefix: &str) -> BTreeSet<String> {
    let code = source
        .split("#[cfg(test)]\nmod tests")
        .next()
        .unwrap_or(source);
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join(" ");
    let first = |text: &str| {
        let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        text[..end.unwrap_or(text.len())].to_owned()
    };
    let mut names = BTreeSet::new();
    for after in code.split(prefix).skip(1) {
        match after.strip_prefix('{') {
            // The items of a list at its outermost level.
            Some(list) => {
                let (mut depth, mut item) = (0, String::new());
                for letter in list.chars() {
                    match letter {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => {
                            names.insert(first(item.trim()));
                            item.clear();
                        }
                        _ => item.push(letter),
                    }
                }
                names.insert(first(item.trim()));
            }
            None => drop(names.insert(first(after))),
        }
    }
    names
}

/// A module and its submodules: the file that declares them, their directory, and the start of
/// their paths.
struct Parent {
    file: PathBuf,
    directory: PathBuf,
    prefix: &'static str,
}

impl Parent {
    /// Returns the root of a crate.
    fn of_crate(name: &str) -> Parent {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let directory = crates.join(name).join("src");
        Parent {
            file: directory.join("lib.rs"),
            directory,
            prefix: "crate::",
        }
    }

    /// Returns the engine, which is a module of `runtime`.
    fn engine() -> Parent {
        let runtime = Parent::of_crate("runtime").directory;
        Parent {
            file: runtime.join("engine.rs"),
            directory: runtime.join("engine"),
            prefix: "crate::engine::",
        }
    }

    /// Returns the submodules, each with the submodules that it uses. A submodule that uses an item
    /// of its parent depends on the parent, whose name here is "parent".
    fn modules(&self) -> BTreeMap<String, BTreeSet<String>> {
        let root = std::fs::read_to_string(&self.file).expect("a parent has a file");
        // A name that the parent exports belongs to the submodule that defines it.
        let mut exports = BTreeMap::new();
        for export in root
            .replace("pub(crate) use ", "pub use ")
            .split("pub use ")
            .skip(1)
        {
            let (path, _) = export.split_once(';').expect("an item ends");
            let (module, items) = path.split_once("::").expect("an export has a path");
            for item in items.split(|letter: char| !letter.is_alphanumeric() && letter != '_') {
                exports.insert(item.to_owned(), module.to_owned());
            }
        }
        let mut used = named(&root, self.prefix);
        used.extend(exports.values().cloned());
        let mut modules = BTreeMap::from([("parent".to_owned(), used)]);
        for path in sources(&self.directory) {
            let below = path
                .strip_prefix(&self.directory)
                .expect("the file is below");
            let module = below.iter().next().expect("a file has a name");
            let module = module.to_string_lossy().trim_end_matches(".rs").to_owned();
            let source = std::fs::read_to_string(&path).expect("a source can be read");
            if path != self.file && module != "tests" {
                let used = modules.entry(module).or_default();
                used.extend(named(&source, self.prefix));
            }
        }
        let known: BTreeSet<String> = modules.keys().cloned().collect();
        for (module, used) in &mut modules {
            let all = std::mem::take(used).into_iter();
            let all = all.map(|name| match exports.get(&name) {
                _ if known.contains(&name) => name,
                Some(module) => module.clone(),
                None => "parent".to_owned(),
            });
            used.extend(all.filter(|other| other != module));
        }
        modules
    }
}

/// Returns the modules that lie on a cycle or depend on a cycle.
fn cyclic(mut modules: BTreeMap<String, BTreeSet<String>>) -> BTreeMap<String, BTreeSet<String>> {
    loop {
        let known: BTreeSet<String> = modules.keys().cloned().collect();
        let count = modules.len();
        modules.retain(|_, used| used.iter().any(|other| known.contains(other)));
        if modules.len() == count {
            return modules;
        }
    }
}

#[test]
fn the_modules_of_the_core_and_the_engine_have_no_cycle() {
    let parents = ["explore", "objects"].map(Parent::of_crate);
    for parent in parents.into_iter().chain([Parent::engine()]) {
        let modules = parent.modules();
        assert!(modules.len() > 10, "{} has modules", parent.file.display());
        assert_eq!(
            cyclic(modules),
            BTreeMap::new(),
            "{}",
            parent.file.display()
        );
    }
}

/// The folders of `runtime`, each with the folders that it may use. The engine knows its guests
/// only as implementations of its trait.
const FOLDERS: [(&str, &[&str]); 8] = [
    ("config", &["native"]),
    ("engine", &["config", "guests"]),
    (
        "guests",
        &[
            "config", "engine", "memory", "native", "rust", "trace", "watch",
        ],
    ),
    ("memory", &["engine"]),
    ("native", &["config", "engine", "rust", "trace", "watch"]),
    ("rust", &["engine", "memory", "trace", "watch"]),
    ("trace", &["engine", "native", "rust", "watch"]),
    ("watch", &["engine", "memory", "native"]),
];

#[test]
fn the_folders_of_the_runtime_use_only_permitted_folders() {
    let mut modules = Parent::of_crate("runtime").modules();
    modules.remove("parent");
    for used in modules.values_mut() {
        used.remove("parent");
    }
    let permitted = FOLDERS.map(|(folder, used)| {
        let used = used.iter().map(|&other| other.to_owned());
        (folder.to_owned(), used.collect())
    });
    assert_eq!(modules, BTreeMap::from(permitted));
}
