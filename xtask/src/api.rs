//! The public API of the crates that users depend on, compared with a snapshot.
//!
//! The description comes from rustdoc of the stable toolchain, which writes JSON only if an
//! environment variable is set. While the API stays the same, the snapshot changes only if a new
//! toolchain writes the JSON in another format.

use crate::{Done, root, target};
use std::fs;
use std::process::Command;

/// The packages that users depend on, with the names of their libraries.
const PACKAGES: [(&str, &str); 2] = [("mazurka", "mazurka"), ("mazurka-actors", "actors")];

/// Compares the snapshots with the current API, or replaces them.
pub fn check(saves: bool) -> Done {
    let mut differing = Vec::new();
    for (package, library) in PACKAGES {
        let api = api(package, library)?;
        let file = root().join("docs/api").join(format!("{package}.txt"));
        if saves {
            fs::write(&file, api)?;
        } else if let Some(difference) = difference(&fs::read_to_string(&file)?, &api) {
            differing.push(format!("{package}:\n{difference}"));
        }
    }
    if differing.is_empty() {
        return Ok(());
    }
    let differing = differing.join("\n");
    Err(format!(
        "the public API has changed; if that is intended, run `cargo xtask api --save`\n{differing}"
    )
    .into())
}

/// Returns the items of a library, one per line.
fn api(package: &str, library: &str) -> Result<String, Box<dyn std::error::Error>> {
    let arguments = "--lib -- -Z unstable-options --output-format json";
    let status = Command::new("cargo")
        .args(["rustdoc", "--quiet", "--package", package])
        .args(arguments.split(' '))
        .env("RUSTC_BOOTSTRAP", "1")
        .current_dir(root())
        .status()?;
    if !status.success() {
        return Err(format!("rustdoc of {package}: {status}").into());
    }
    let json = target().join("doc").join(format!("{library}.json"));
    let items = public_api::Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()?;
    Ok(items.to_string() + "\n")
}

/// Returns the lines that were removed (-) or added (+), if any.
fn difference(old: &str, new: &str) -> Option<String> {
    let missing = |from: &str, of: &str, sign: char| -> Vec<String> {
        let has: std::collections::BTreeSet<&str> = of.lines().collect();
        let lines = from.lines().filter(|line| !has.contains(line));
        lines.map(|line| format!("{sign} {line}")).collect()
    };
    let lines = [missing(old, new, '-'), missing(new, old, '+')].concat();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_names_removed_and_added_items() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(difference("a\nb\n", "b\nc\n").as_deref(), Some("- a\n+ c"));
    }
}
